"""Words and graphs as a Python script that makes their machine again, and words for the command line."""

from __future__ import annotations

import csv
import io
import shlex

from ..io.cells import MISSING
from .item_scene import ItemScene
from .written_command import in_order

__all__ = ["items_python", "words_command", "words_csv", "words_note"]

_HEAD = '''"""Two classes of {many} in mercer play, and their machine, made again."""

from mercer import SVC
{imports}
names = {names!r}
{many} = [
{items}]
labels = {labels}

model = SVC({kernel!r}, C={C!r}).fit({many}, labels)
wrong = model.predict({many}) != labels
print(f"{{wrong.sum()}} of {{len({many})}} are on the wrong side; duality gap {{model.duality_gap_[0]:.2g}}")
'''

_ASKED = """
asked = {asked!r}
label = model.predict([asked])[0]
print(names[label], model.decision_function([asked])[0])
print(explain(model, asked))
"""


def items_python(scene: ItemScene) -> str:
    """The whole script. Whatever somebody has typed stands in it as a literal.

    Examples
    --------
    >>> from mercer.play.item_scene import word_scene
    >>> scene = word_scene({"words": ["aa", "bb"], "labels": [0, 1]})
    >>> items_python(scene).splitlines()[-3]
    "model = SVC('spectrum(p=2)', C=1.0).fit(words, labels)"
    """
    counts = [scene.labels.count(label) for label in (0, 1)]
    sorted_already = scene.labels == sorted(scene.labels)
    head = _HEAD.format(
        many=scene.many,
        imports="" if scene.asked is None else "from mercer.explain import explain\n",
        names=scene.names,
        items="".join(f"    {item!r},\n" for item in scene.items),
        labels="[0] * {} + [1] * {}".format(*counts) if sorted_already else repr(scene.labels),
        kernel=str(scene.kernel),
        C=scene.C,
    )
    return head if scene.asked is None else head + _ASKED.format(asked=scene.asked)


def words_csv(scene: ItemScene) -> str:
    """The words and their classes as a CSV file."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["word", "label"])
    names = in_order(scene.names)
    writer.writerows([word, names[label]] for word, label in zip(scene.items, scene.labels, strict=True))
    return out.getvalue()


def words_command(scene: ItemScene) -> str:
    """The line that trains the machine on the words."""
    words = ["mercer", "train", "svc", "words.csv", "--target", "label", "--task", "classify"]
    words += ["--as", "word=text", "--as", "label=category", "--kernel", f"({scene.kernel}).on(word)"]
    words += ["--set", f"C={scene.C!r}", "-o", "model.safetensors"]
    return shlex.join(words)


def words_note(scene: ItemScene) -> str:
    """What there is to say of both."""
    note = "The script needs nothing else; the command reads the words from words.csv."
    gaps = [word for word in scene.items if word.strip().lower() in MISSING]
    if gaps:
        note += f" In a table {gaps[0]!r} stands for a value that is missing: rename it for the command."
    return note
