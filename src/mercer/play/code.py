"""The answer to ``/api/code``: what is seen as a Python script, and its machine as a line of the command line."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..io import MISSING
from .items import ItemScene, graph_scene, word_scene
from .requests import ends_of_box, list_of, whole
from .scene import Scene, frame_around

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
wrong = model.predict(points) != labels
print(f"training error {np.mean(wrong):.4f}")

across, up = np.linspace({left}, {right}, 200), np.linspace({bottom}, {top}, 200)
places = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
scores = model.decision_function(places)
colours, marks = {colours}, {marks}
if scores.ndim == 1:
    scores = scores.reshape(200, 200)
    tints = LinearSegmentedColormap.from_list("tints", [colours[0], "white", colours[1]])
    reach = {reach}
    plt.contourf(across, up, np.clip(scores, -reach, reach), np.linspace(-reach, reach, 25), cmap=tints, alpha=0.4)
    plt.contour(across, up, scores, {levels}, colors="black", linestyles={styles})
else:
    winners = model.predict(places).reshape(200, 200)
    plt.contourf(across, up, winners, np.arange(-0.5, len(names)), colors=colours, alpha=0.3)
for label, name in enumerate(names):
    own = points[labels == label]
    plt.scatter(*own.T, label=name, color=colours[label], marker=marks[label], edgecolors="white", zorder=2)
plt.scatter(*points[wrong].T, color="black", marker="x", zorder=3)
plt.legend()
"""

_NOVELTY = """
model.fit(points)
wrong = model.predict(points) < 0
print(f"{np.sum(wrong)} of {len(points)} points are outside")

across, up = np.linspace({left}, {right}, 200), np.linspace({bottom}, {top}, 200)
places = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
scores = model.decision_function(places).reshape(200, 200)
tints = LinearSegmentedColormap.from_list("tints", ["white", {colours}[0]])
plt.contourf(across, up, np.maximum(scores, 0), 20, cmap=tints, alpha=0.4)
plt.contour(across, up, scores, [0], colors="black")
plt.scatter(*points.T, color={colours}[0], edgecolors="white", zorder=2)
plt.scatter(*points[wrong].T, color="black", marker="x", zorder=3)
"""

_RINGS = """
machine = {machine}
if hasattr(machine, "support_"):
    plt.scatter(*points[machine.support_].T, s=90, facecolors="none", edgecolors="black", zorder=1)
"""

#: Colours and marks of the classes, as the light page has them.
_COLOURS = ("#0f6cb0", "#cf5a17", "#12805c", "#a1498c", "#8f6a00", "#3d4a57")
_MARKS = ("o", "s", "^", "D", "v", "*")

_NUMBERS = """
model.fit(points[:, :1], points[:, 1])
band = Conformal(clone(model), {method!r}, coverage={coverage!r}, random_state={seed!r})
band.fit(points[:, :1], points[:, 1])

across = np.linspace({left}, {right}, 200)
shown = dict(color={colour!r}, alpha=0.2, linewidth=0, label={name!r})
plt.fill_between(across, *band.predict_interval(across[:, None]).T, **shown)
plt.plot(across, model.predict(across[:, None]), color="black")
plt.scatter(*points.T, color={colour!r}, edgecolors="white", zorder=2)
plt.ylim({bottom}, {top})
plt.legend()
"""

_TAIL = """{equal}plt.xlabel({across!r})
plt.ylabel({up!r})
plt.show()
"""


@dataclass(frozen=True)
class Look:
    """How a scene is seen on the page: the ends of its axes, and the number of the colour of each class."""

    box: tuple[float, float, float, float]
    classes: tuple[int, ...]

    @classmethod
    def of(cls, request: dict[str, Any], scene: Scene) -> Look:
        """As a request says; where it does not, around the points, with the first colours."""
        count = len(scene.names) if scene.task == "classes" else 1
        classes = list_of(request.get("classes", list(range(count))), "the colours", len(_COLOURS))
        colours = tuple(whole(each, "a colour", 0, len(_COLOURS) - 1) for each in classes)
        if len(colours) != count:
            raise ValueError(f"there are {count} classes and {len(colours)} colours; each class has one.")
        box = ends_of_box(request.get("box", frame_around(scene.points)))
        return cls(tuple(box.tolist()), colours)

    def words(self) -> dict[str, Any]:
        """What templates are filled with."""
        left, right, bottom, top = (f"{end:.6g}" for end in self.box)
        colours = [_COLOURS[place] for place in self.classes]
        marks = [_MARKS[place] for place in self.classes]
        return {"left": left, "right": right, "bottom": bottom, "top": top, "colours": colours, "marks": marks}


def python(scene: Scene, look: Look) -> str:
    """The whole script. Whatever somebody has typed stands in it as a literal."""
    estimator, given = scene.offered.estimator, settings(scene)
    names = [estimator, *(["Conformal"] if scene.task == "numbers" else [])]
    imports = ["from matplotlib.colors import LinearSegmentedColormap"] if scene.task != "numbers" else []
    imports += ["from sklearn.base import clone"] if scene.task == "numbers" else []
    if scene.scaled:
        imports += ["from sklearn.pipeline import make_pipeline", "from sklearn.preprocessing import StandardScaler"]
    imports += [f"from mercer import {', '.join(sorted(names))}"]
    if (loss := given.get("loss")) is not None and not isinstance(loss, str):
        imports.append(f"from mercer.losses import {type(loss).__name__}")
    head = _HEAD.format(
        imports="\n".join(imports), points=_rows(scene), targets=_targets(scene), machine=_machine(scene, given)
    )
    equal = "" if scene.scaled or scene.task == "numbers" else 'plt.gca().set_aspect("equal")\n'
    return head + _picture(scene, look) + _TAIL.format(across=scene.axes[0], up=scene.axes[1], equal=equal)


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


def _picture(scene: Scene, look: Look) -> str:
    rings = _RINGS.format(machine="model[-1]" if scene.scaled else "model")
    if scene.task == "novelty":
        return _filled(_NOVELTY, look.words()) + rings
    if scene.task == "numbers":
        from .plane import band_method

        name = f"{100 * scene.coverage:g} % of new targets"
        colour = _COLOURS[look.classes[0]]
        band = {"method": band_method(scene), "coverage": scene.coverage, "seed": scene.seed, "name": name}
        return _NUMBERS.format(**look.words(), **band, colour=colour)
    levels, styles = ([-1, 0, 1], ["--", "-", "--"]) if scene.offered.margins else ([0], ["-"])
    reach = "3.0  # three times the margin" if scene.offered.margins else "max(np.abs(scores).max(), 1e-9)"
    return _filled(_CLASSES, {**look.words(), "levels": levels, "styles": styles, "reach": reach}) + rings


def _filled(template: str, words: dict[str, Any]) -> str:
    """A template whose other braces are Python's own."""
    for name, value in words.items():
        template = template.replace(f"{{{name}}}", str(value))
    return template


def code(request: dict[str, Any]) -> dict[str, Any]:
    """What makes the machine of a request again, to the last digit: of its ``scene``, or of its words or graphs.

    Examples
    --------
    >>> scene = {"points": [[0, 0], [1, 1]], "labels": [0, 1], "C": 10}
    >>> answer = code({"scene": scene})
    >>> answer["csv"].splitlines()
    ['x1,x2,label', '0.0,0.0,blue', '1.0,1.0,orange']
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
        "python": python(scene, Look.of(request, scene)),
        "command": command(scene),
        "csv": csv_of(scene),
        "file": "points.csv",
        "note": note,
    }
