"""The answer to ``/api/code``: what is seen as a Python script, and its machine as a line of the command line."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from ..io import MISSING
from .items import ItemScene, graph_scene, word_scene
from .scene import Scene

# A scene for the command line: its points as a CSV file, and the "mercer train" line.


#: Parameters that belong to the page, or have options of their own.
_NOT_SET = ("kernel", "random_state", "time_limit")
_TASK = {"classes": "classify", "numbers": "regress"}


def settings(scene: Scene) -> dict[str, Any]:
    """The parameters of the machine beside its kernel."""
    given = scene.offered.parameters(scene)
    return {name: value for name, value in given.items() if name not in _NOT_SET}


def _columns(scene: Scene) -> list[str]:
    """Names of columns that no shell and no reader stumbles over."""
    return {"classes": ["x1", "x2", "label"], "numbers": ["x", "y"], "novelty": ["x1", "x2"]}[scene.task]


def in_order(names: Sequence[str]) -> list[str]:
    """The names of the classes; numbered where their order, which learners see, would be another one.

    Examples
    --------
    >>> in_order(["ham", "spam"]), in_order(["red", "blue"])
    (['ham', 'spam'], ['1 red', '2 blue'])
    """
    if all(name < after for name, after in pairwise(names)):
        return list(names)
    return [f"{number} {name}" for number, name in enumerate(names, 1)]


def csv_of(scene: Scene) -> str:
    """The points as a CSV file, with every digit."""
    names = in_order(scene.names)
    labels = [[names[label]] for label in scene.labels] if scene.task == "classes" else [[]] * len(scene.points)
    points = zip(scene.points.tolist(), labels, strict=True)
    return _csv_text(_columns(scene), ([repr(x), repr(y), *own] for (x, y), own in points))


def _csv_text(columns: list[str], rows: Iterable[list[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([columns, *rows])
    return out.getvalue()


def command(scene: Scene) -> str:
    """The line that trains the machine on the points."""
    columns = _columns(scene)
    words = ["mercer", "train", scene.offered.command or scene.learner, "points.csv"]
    if scene.task in _TASK:
        words += ["--target", columns[-1], "--task", _TASK[scene.task]]
    numeric = [name for name in columns if name != "label" and (scene.task != "numbers" or name != "y")]
    kinds = {**dict.fromkeys(numeric, "number"), **({"label": "category"} if scene.task == "classes" else {})}
    words += [word for name, kind in kinds.items() for word in ("--as", f"{name}={kind}")]
    words += ["--standardise" if scene.scaled else "--no-standardise", "--kernel", scene.kernel_text]
    given = settings(scene)
    if "loss" in given:
        given["tol"] = None
    if scene.learner == "quantile":
        given["quantiles"] = 0.5
    words += [word for name, value in given.items() for word in ("--set", f"{name}={value}")]
    words += ["--seed", str(scene.seed), "-o", "model.safetensors"]
    return shlex.join(words)


# Words and graphs as a Python script that makes their machine again, and words for the command line.


_ITEMS_HEAD = '''"""Two classes of {many} in mercer play, and their machine, made again."""

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
    >>> from mercer.play.items import word_scene
    >>> scene = word_scene({"words": ["aa", "bb"], "labels": [0, 1]})
    >>> items_python(scene).splitlines()[-3]
    "model = SVC('spectrum(p=2)', C=1.0).fit(words, labels)"
    """
    counts = [scene.labels.count(label) for label in (0, 1)]
    sorted_already = scene.labels == sorted(scene.labels)
    head = _ITEMS_HEAD.format(
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
    names = in_order(scene.names)
    rows = ([word, names[label]] for word, label in zip(scene.items, scene.labels, strict=True))
    return _csv_text(["word", "label"], rows)


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


# A scene as a Python script that makes the machine again and draws it.


_HEAD = '''"""A picture of mercer play, made again."""

import matplotlib.pyplot as plt
import numpy as np
{imports}

points = np.array({points})
{targets}
{machine}
'''

_CLASSES = """
model.fit(points, labels)
print(f"training error {np.mean(model.predict(points) != labels):.4f}")

low, high = points.min(axis=0), points.max(axis=0)
edge = 0.15 * np.where(high > low, high - low, 1.0)
across, up = (np.linspace(low[k] - edge[k], high[k] + edge[k], 200) for k in (0, 1))
places = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
scores = model.decision_function(places)
if scores.ndim == 1:
    plt.contourf(across, up, scores.reshape(200, 200), 20, cmap="RdBu", alpha=0.5)
    plt.contour(across, up, scores.reshape(200, 200), {levels}, colors="black", linestyles={styles})
else:
    plt.contourf(across, up, model.predict(places).reshape(200, 200), np.arange(-0.5, len(names)), alpha=0.4)
for label, name in enumerate(names):
    plt.scatter(*points[labels == label].T, label=name, edgecolors="black")
plt.legend()
"""

_NOVELTY = """
model.fit(points)
print(f"{np.sum(model.predict(points) < 0)} of {len(points)} points are outside")

low, high = points.min(axis=0), points.max(axis=0)
edge = 0.25 * np.where(high > low, high - low, 1.0)
across, up = (np.linspace(low[k] - edge[k], high[k] + edge[k], 200) for k in (0, 1))
places = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
scores = model.decision_function(places).reshape(200, 200)
plt.contourf(across, up, scores, 20, cmap="Blues", alpha=0.6)
plt.contour(across, up, scores, [0], colors="black")
plt.scatter(*points.T, edgecolors="black")
"""

_NUMBERS = """
model.fit(points[:, :1], points[:, 1])
band = Conformal(clone(model), {method!r}, coverage={coverage!r}, random_state={seed!r})
band.fit(points[:, :1], points[:, 1])

low, high = points[:, 0].min(), points[:, 0].max()
across = np.linspace(low, high, 200)
plt.fill_between(across, *band.predict_interval(across[:, None]).T, alpha=0.2, label={name!r})
plt.plot(across, model.predict(across[:, None]))
plt.scatter(*points.T, edgecolors="black")
plt.legend()
"""

_TAIL = """plt.xlabel({across!r})
plt.ylabel({up!r})
plt.show()
"""


def python(scene: Scene) -> str:
    """The whole script. Whatever somebody has typed stands in it as a literal."""
    estimator, given = scene.offered.estimator, settings(scene)
    names = [estimator, *(["Conformal"] if scene.task == "numbers" else [])]
    imports = ["from sklearn.base import clone"] if scene.task == "numbers" else []
    if scene.scaled:
        imports += ["from sklearn.pipeline import make_pipeline", "from sklearn.preprocessing import StandardScaler"]
    imports += [f"from mercer import {', '.join(sorted(names))}"]
    if (loss := given.get("loss")) is not None and not isinstance(loss, str):
        imports.append(f"from mercer.losses import {type(loss).__name__}")
    head = _HEAD.format(
        imports="\n".join(imports), points=_rows(scene), targets=_targets(scene), machine=_machine(scene, given)
    )
    return head + _picture(scene) + _TAIL.format(across=scene.axes[0], up=scene.axes[1])


def _rows(scene: Scene) -> str:
    rows = "".join(f"    [{x!r}, {y!r}],\n" for x, y in scene.points.tolist())
    return f"[\n{rows}]"


def _targets(scene: Scene) -> str:
    if scene.task != "classes":
        return ""
    labels, lines = scene.labels.tolist(), []
    for begin in range(0, len(labels), 35):
        lines.append(f"    {', '.join(map(str, labels[begin : begin + 35]))},\n")
    return f"names = {list(scene.names)!r}\nlabels = np.array([\n{''.join(lines)}])\n"


def _machine(scene: Scene, given: dict[str, Any]) -> str:
    from .. import estimators

    known = getattr(estimators, scene.offered.estimator)._get_param_names()
    seeded = {"random_state": scene.seed} if "random_state" in known else {}
    words = [repr(scene.kernel_text), *(f"{name}={value!r}" for name, value in {**given, **seeded}.items())]
    made = f"{scene.offered.estimator}({', '.join(words)})"
    return f"model = make_pipeline(StandardScaler(), {made})" if scene.scaled else f"model = {made}"


def _picture(scene: Scene) -> str:
    if scene.task == "novelty":
        return _NOVELTY
    if scene.task == "numbers":
        from .plane import band_method

        name = f"{100 * scene.coverage:g} % of new targets"
        return _NUMBERS.format(method=band_method(scene), coverage=scene.coverage, seed=scene.seed, name=name)
    levels, styles = ([-1, 0, 1], ["--", "-", "--"]) if scene.offered.margins else ([0], ["-"])
    return _CLASSES.replace("{levels}", repr(levels)).replace("{styles}", repr(styles))


def code(request: dict[str, Any]) -> dict[str, Any]:
    """What makes the machine of a request again, to the last digit: of its ``scene``, or of its words or graphs.

    Examples
    --------
    >>> scene = {"points": [[0, 0], [1, 1]], "labels": [0, 1], "C": 10}
    >>> answer = code({"scene": scene})
    >>> answer["csv"].splitlines()
    ['x1,x2,label', '0.0,0.0,1 red', '1.0,1.0,2 blue']
    >>> answer["command"].partition(" --kernel ")[2]
    "'gaussian(gamma=1.0)' --set C=10.0 --seed 0 -o model.safetensors"
    """
    if "words" in request:
        words = word_scene(request)
        return {
            "python": items_python(words),
            "command": words_command(words),
            "csv": words_csv(words),
            "file": "words.csv",
            "note": words_note(words),
        }
    if "graphs" in request:
        return {
            "python": items_python(graph_scene(request)),
            "note": "The script needs nothing else. The command line reads graphs from folders in the TU format.",
        }
    scene = Scene.of(request.get("scene"))
    scene.refuse_few()
    scene.parsed  # noqa: B018  a kernel that cannot be read is refused before it is written
    note = "The script needs nothing else; the command reads the points from points.csv."
    if scene.learner == "quantile":
        note += " It learns the median alone: several quantiles at once are for Python."
    return {
        "python": python(scene),
        "command": command(scene),
        "csv": csv_of(scene),
        "file": "points.csv",
        "note": note,
    }
