"""The answer to ``/api/data``: a scene from an example, or from the text of a file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

from .. import __version__
from ..io import DataError, Table, read
from ..messages import counted, enumeration
from ..runtime import Array
from .requests import FARTHEST, LEARNERS, SLIDERS, Offered, chosen, list_of, text, whole
from .scene import MOST_POINTS

# Scenes to begin with, made here from a seed.


_POINTS = 120


@dataclass(frozen=True)
class Example:
    """Points in the plane, and labels where the task has them."""

    title: str
    task: str
    make: Callable[[np.random.RandomState], tuple[Array, Array | None]]
    kernel: str = "gaussian(gamma=?)"
    gamma: float = 1.0


def _moons(random: np.random.RandomState) -> tuple[Array, Array]:
    from sklearn.datasets import make_moons

    return make_moons(_POINTS, noise=0.2, random_state=random)


def _circles(random: np.random.RandomState) -> tuple[Array, Array]:
    from sklearn.datasets import make_circles

    return make_circles(_POINTS, noise=0.1, factor=0.5, random_state=random)


def _xor(random: np.random.RandomState) -> tuple[Array, Array]:
    from ..datasets import make_xor

    X, y = make_xor(_POINTS, random_state=random)
    return X, (y == "yes").astype(int)


def _clouds(random: np.random.RandomState) -> tuple[Array, Array]:
    y = np.arange(_POINTS) % 2
    return random.standard_normal((_POINTS, 2)) * 0.5 + np.where(y[:, None] == 1, 1.2, -1.2), y


def _overlap(random: np.random.RandomState) -> tuple[Array, Array]:
    y = np.arange(_POINTS) % 2
    return random.standard_normal((_POINTS, 2)) + np.where(y[:, None] == 1, 0.7, -0.7), y


def _thin(random: np.random.RandomState) -> tuple[Array, Array]:
    """Points on both sides of a line, with a thin street along it that is kept free."""
    normal, offset, half_width = np.array([0.6, 0.8]), 0.3, 0.05
    points = random.uniform(-2, 2, (4 * _POINTS, 2))
    beyond = points @ normal - offset
    points, beyond = points[np.abs(beyond) > half_width][:_POINTS], beyond[np.abs(beyond) > half_width][:_POINTS]
    return points, (beyond > 0).astype(int)


def _three(random: np.random.RandomState) -> tuple[Array, Array]:
    y = np.arange(_POINTS) % 3
    turn = 2 * np.pi * y / 3 + np.pi / 2
    return 1.3 * np.column_stack([np.cos(turn), np.sin(turn)]) + 0.5 * random.standard_normal((_POINTS, 2)), y


def _spirals(random: np.random.RandomState) -> tuple[Array, Array]:
    y = np.arange(_POINTS) % 2
    along = np.sqrt(random.uniform(0.05, 1.0, _POINTS))
    turn = 3 * np.pi * along + np.pi * y
    places = 2 * along[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    return places + 0.06 * random.standard_normal((_POINTS, 2)), y


def _wave(random: np.random.RandomState) -> tuple[Array, None]:
    x = random.uniform(-3, 3, _POINTS)
    return np.column_stack([x, np.sin(2 * x) + 0.3 * x + 0.2 * random.standard_normal(_POINTS)]), None


def _fan(random: np.random.RandomState) -> tuple[Array, None]:
    x = random.uniform(-3, 3, _POINTS)
    return np.column_stack([x, np.sin(x) + 0.15 * (x + 3) * random.standard_normal(_POINTS)]), None


def _outliers(random: np.random.RandomState) -> tuple[Array, None]:
    x = random.uniform(-3, 3, _POINTS)
    noise = np.where(random.random_sample(_POINTS) < 0.08, 2.5, 0.1) * random.standard_normal(_POINTS)
    return np.column_stack([x, np.cos(1.5 * x) + noise]), None


def _blob(random: np.random.RandomState) -> tuple[Array, None]:
    few = random.uniform(-3, 3, (6, 2))
    return np.concatenate([random.standard_normal((_POINTS - 6, 2)) * [1.0, 0.5], few]), None


def _ring(random: np.random.RandomState) -> tuple[Array, None]:
    turn = random.uniform(0, 2 * np.pi, _POINTS)
    return (2 + 0.2 * random.standard_normal(_POINTS))[:, None] * np.column_stack([np.cos(turn), np.sin(turn)]), None


#: Every example by name.
EXAMPLES: dict[str, Example] = {
    "moons": Example("two half moons", "classes", _moons),
    "circles": Example("a circle inside another", "classes", _circles, gamma=2.0),
    "xor": Example("four clouds, two classes", "classes", _xor),
    "clouds": Example("two clouds that a line divides", "classes", _clouds, "linear"),
    "thin": Example("a thin margin along a line", "classes", _thin, "linear"),
    "overlap": Example("two clouds that nothing divides", "classes", _overlap, gamma=0.5),
    "spirals": Example("two spirals", "classes", _spirals, gamma=5.0),
    "three": Example("three clouds, three classes", "classes", _three),
    "wave": Example("a wave with noise", "numbers", _wave),
    "fan": Example("noise that grows", "numbers", _fan),
    "outliers": Example("a wave with outliers", "numbers", _outliers),
    "blob": Example("a cloud and a few outliers", "novelty", _blob, gamma=0.5),
    "ring": Example("a ring", "novelty", _ring),
}

#: Names of the classes: what their colours are called on the page.
_COLOURS = ["blue", "orange", "green", "purple", "ochre", "grey"]


def example_scene(name: str, seed: int) -> dict[str, Any]:
    """The scene of an example.

    Examples
    --------
    >>> scene = example_scene("moons", 0)
    >>> len(scene["points"]), scene["task"]
    (120, 'classes')
    """
    example = EXAMPLES[name]
    points, labels = example.make(np.random.RandomState(seed))
    scene: dict[str, Any] = {
        "task": example.task,
        "points": points.round(4).tolist(),
        "axes": ["x", "y"] if example.task == "numbers" else ["x₁", "x₂"],
        "scaled": False,
        "kernel": example.kernel,
        "gamma": example.gamma,
        "seed": seed,
    }
    if labels is not None:
        scene |= {"labels": labels.tolist(), "names": _COLOURS[: int(labels.max()) + 1]}
    return scene


# A scene from a table: two columns to look at, and the target that they are to tell.


#: Formats of text that the page may send, by suffix.
_FORMATS = {
    ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".txt": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json",
    ".arff": "arff", ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight",
}  # fmt: skip
_MOST_BYTES = 10_000_000
_MOST_CLASSES = 6
_LONGEST_NAME = 60


def scene_of_text(request: dict[str, Any]) -> dict[str, Any]:
    """The scene of a file that the page has read: its name says the format, and nothing else."""
    name = PureWindowsPath(PurePosixPath(text(request.get("file"), "the name of the file", 1000)).name).name
    content = text(request.get("text"), "the text of the file", _MOST_BYTES)
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in _FORMATS:
        raise ValueError(f"{name!r} is not a table of text; its name should end in {enumeration(_FORMATS, 20, 'or')}.")
    columns = request.get("columns")
    if columns is not None:
        columns = [text(column, "the name of a column", 1000) for column in list_of(columns, "the columns", 2)]
    target = request.get("target")
    if target is not None:
        target = text(target, "the name of the target", 1000)
    with tempfile.TemporaryDirectory(prefix="mercer-play-") as folder:
        path = Path(folder) / f"table{suffix}"
        path.write_text(content, encoding="utf-8", newline="")
        try:
            table = read(path, target, format=_FORMATS[suffix], unlabelled_rows="drop", max_bytes=_MOST_BYTES)
        except DataError as error:
            raise ValueError(str(error).replace(str(path), name).replace(path.name, name)) from None
    return scene_of_table(table, columns, name)


def scene_of_table(table: Table, columns: list[str] | None = None, name: str | None = None) -> dict[str, Any]:
    """The scene of a table: the two columns that are asked for, or the two that tell most of the target.

    Examples
    --------
    >>> from mercer import read
    >>> answer = scene_of_table(read("breast_cancer"))
    >>> answer["scene"]["names"], len(answer["scene"]["points"]), answer["scene"]["scaled"]
    (['benign', 'malignant'], 569, True)
    """
    if table.kind != "rows" or table.frame is None:
        raise DataError(f"a table of {table.kind} without columns of numbers has no place in the plane; "
                        "bring one with two columns of numbers.")  # fmt: skip
    if table.y is None:
        raise DataError("the table has no target; name its column.")
    task = "numbers" if table.measured else "classes"
    chosen = _columns(table, columns, 1 if task == "numbers" else 2)
    values = table.frame[chosen].to_numpy(np.float64)
    names, labels = ([], table.y.astype(np.float64)) if table.measured else _classes(table.y)
    rows = np.column_stack([values, labels]) if table.measured else values
    kept = (np.isfinite(rows) & (np.abs(rows) <= FARTHEST)).all(axis=1) & (labels >= 0 if names else True)
    places = np.flatnonzero(kept)
    if places.size > MOST_POINTS:
        places = np.sort(np.random.default_rng(0).permutation(places)[:MOST_POINTS])
    if places.size < 2:
        raise DataError(f"fewer than two rows have numbers in {enumeration(map(repr, chosen))} and a label.")
    scene: dict[str, Any] = {
        "task": task,
        "points": rows[places].tolist(),
        "axes": [str(each)[:_LONGEST_NAME] for each in (*chosen, table.target)][:2],
        "scaled": True,
        "kernel": "gaussian(gamma=?)",
        "gamma": 1.0,
        "seed": 0,
    }
    if names:
        scene |= {"labels": labels[places].tolist(), "names": names}
    return {
        "scene": scene,
        "columns": [{"name": str(each), "kind": kind} for each, kind in table.kinds.items()],
        "target": table.target,
        "note": _note(table, chosen, names, places.size, name or table.name),
    }


def _columns(table: Table, asked: list[str] | None, most: int) -> list[str]:
    """The columns to look at."""
    numeric = table.numeric_columns
    if asked:
        for column in asked:
            if column not in numeric:
                raise DataError(
                    f"there is no column of numbers {column!r}; there are {enumeration(map(repr, numeric))}."
                )
        if len(asked) != len(set(asked)) or len(asked) < most:
            raise DataError(f"name {counted(most, 'different column')} of numbers.")
        return asked[:most]
    if len(numeric) < most:
        raise DataError(f"the table has {counted(len(numeric), 'column')} of numbers beside its target; "
                        f"{most} are needed to draw it.")  # fmt: skip
    told = [_told(table.frame[column].to_numpy(np.float64), table) for column in numeric]  # type: ignore[index]
    best = np.argsort(-np.array(told), kind="stable")[:most]
    return [numeric[place] for place in sorted(best)]


def _told(column: Array, table: Table) -> float:
    """The share of a column's variance that goes with the target: η² for classes, the square of r for numbers."""
    known = np.isfinite(column)
    x = column[known]
    if x.size < 3 or np.ptp(x) == 0:
        return 0.0
    y = np.asarray(table.y)[known]
    if table.measured:
        y = y.astype(np.float64)
        return float(np.corrcoef(x, y)[0, 1] ** 2) if np.ptp(y) > 0 else 0.0
    codes = np.unique(y, return_inverse=True)[1]
    counts = np.bincount(codes)
    means = np.bincount(codes, x) / counts
    return float(counts @ (means - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum())


def _classes(y: Array) -> tuple[list[str], Array]:
    """The names of the classes, the most frequent ones where they are many, and the class of each row or −1."""
    classes, codes, counts = np.unique(y.astype(str), return_inverse=True, return_counts=True)
    kept = np.sort(np.argsort(-counts, kind="stable")[:_MOST_CLASSES])
    if kept.size < 2:
        raise DataError("the target has one class; at least two are needed.")
    place = np.full(classes.size, -1)
    place[kept] = np.arange(kept.size)
    names = [str(name)[:_LONGEST_NAME] for name in classes[kept]]
    if len(set(names)) < len(names):
        names = [f"{number + 1} {name}"[:_LONGEST_NAME] for number, name in enumerate(names)]
    return names, place[codes]


def _note(table: Table, chosen: list[str], names: list[str], rows: int, name: str) -> str:
    shown = enumeration(map(repr, [*chosen, *([table.target] if table.measured else [])]))
    parts = [f"{name}: {counted(table.n_rows, 'row')}; drawn by {shown}, scaled to one unit."]
    if names:
        parts.append(f"The target {table.target!r} has {enumeration(names)}.")
    if rows < table.n_rows:
        why = "with gaps, of rare classes or beyond 2000"
        parts.append(f"{counted(table.n_rows - rows, 'row was', 'rows were')} left out ({why}).")
    return " ".join(parts)


def data(request: dict[str, Any]) -> dict[str, Any]:
    """A scene that is ready to fit, and what was decided to make it.

    Examples
    --------
    >>> data({"name": "moons"})["note"]
    'Two half moons: 120 points.'
    """
    if "file" in request:
        return scene_of_text(request)
    name = chosen(request.get("name"), "name", EXAMPLES)
    scene = example_scene(name, whole(request.get("seed", 0), "seed", 0, 2**31 - 1))
    title = EXAMPLES[name].title
    note = f"{title[0].upper()}{title[1:]}: {len(scene['points'])} points."
    return {"scene": scene, "columns": [], "target": None, "note": note}


# The answer to ``/api/choices``: what there is to choose from on the page.


#: Kernels as the page suggests them: name, text, and what they compare.
KERNELS = [
    ("gaussian", "gaussian(gamma=?)", "Near points are alike: exp(−γ‖x − z‖²)."),
    ("linear", "linear", "A straight line: x·z."),
    ("polynomial 2", "polynomial(degree=2, gamma=?)", "Conic sections: (γ·x·z + 1)²."),
    ("polynomial 3", "polynomial(degree=3, gamma=?)", "Cubic curves: (γ·x·z + 1)³."),
    ("laplacian", "laplacian(gamma=?)", "Near points are alike, with kinks: exp(−γ‖x − z‖₁)."),
    ("matern", "matern(nu=1.5, length=?)", "Smooth once: between the Laplacian and the Gaussian."),
    ("sum", "gaussian(gamma=?) + linear", "A slope, and hills on it: kernels add up."),
    ("product", "gaussian(gamma=?) * polynomial(degree=2)", "Both have to agree: kernels multiply."),
    ("normalised", "normalised(polynomial(degree=3, gamma=?))", "Angles in feature space alone."),
]
WORD_KERNELS = [
    ("letters", "normalised(spectrum(p=1))", "The same letters, in any order."),
    ("pairs", "normalised(spectrum(p=2))", "Common pairs of letters."),
    ("1 to 3 letters", "normalised(spectrum(p=(1, 3)))", "Common substrings of one to three letters."),
    ("with gaps", "normalised(subsequence(k=2, decay=0.5))", "Common letters in the same order, gaps allowed."),
    ("whole words", "normalised(spectrum(p=1, tokens='words'))", "Common words of two phrases."),
    ("place by place", "weighteddegree(k=4)", "Common substrings at the same place, in words of one length."),
    ("alignment", "localalignment", "The parts that align best: not always a kernel, and then refused."),
]
GRAPH_KERNELS = [
    ("surroundings", "weisfeilerlehman(h=2)", "Nodes with the same surroundings, up to two steps wide."),
    ("matched nodes", "weisfeilerlehmanassignment(h=2)", "Nodes paired one to one by their surroundings."),
    ("distances", "normalised(shortestpath)", "Pairs of nodes with the same labels at the same distance."),
    ("small parts", "graphlet(size=4, scale='cosine')", "Parts of four nodes of the same shape; labels do not count."),
    ("walks", "normalised(randomwalk(decay=0.03))", "Walks that both can take."),
]


def choices(request: dict[str, Any]) -> dict[str, Any]:
    """Learners by task, kernels, sliders and data. Nothing in it depends on the request."""
    return {
        "version": __version__,
        "learners": {task: [_learner(each) for each in known.values()] for task, known in LEARNERS.items()},
        "kernels": _kernels(KERNELS),
        "word_kernels": _kernels(WORD_KERNELS),
        "graph_kernels": _kernels(GRAPH_KERNELS),
        "data": [{"name": name, "title": example.title, "task": example.task} for name, example in EXAMPLES.items()],
        "sliders": {name: asdict(slider) for name, slider in SLIDERS.items()},
    }


def _learner(offered: Offered) -> dict[str, Any]:
    return {
        "name": offered.name,
        "title": offered.title,
        "help": offered.help,
        "sliders": list(offered.sliders),
        "kernelised": True,
        "steps": offered.steps,
        "surface": offered.cost is not None,
        "cost": offered.cost,
    }


def _kernels(listed: list[tuple[str, str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "text": text, "help": help_text} for name, text, help_text in listed]
