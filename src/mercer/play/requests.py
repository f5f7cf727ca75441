"""What a request holds, checked: every value of it may be anything at all."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import shown
from ..kernels import Kernel, parse
from ..messages import enumeration
from ..runtime import Array

if TYPE_CHECKING:
    from .scene import Scene

#: Cells of a grid along one side.
_MOST_CELLS = 200
#: The largest coordinate.
FARTHEST = 1e6


def mapping(given: Any, what: str) -> dict[str, Any]:
    """A JSON object."""
    if not isinstance(given, dict):
        raise ValueError(f"{what} should be an object with named values, got {shown(given)}.")
    return given


def number(given: Any, what: str, low: float, high: float) -> float:
    """A finite number from ``low`` to ``high``.

    Examples
    --------
    >>> number(2, "C", 0, 10)
    2.0
    """
    real = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not real or not (low <= given <= high):  # which NaN and infinities are not
        raise ValueError(f"{what} should be a number from {low:g} to {high:g}, got {shown(given)}.")
    return float(given)


def whole(given: Any, what: str, low: int, high: int) -> int:
    """A whole number from ``low`` to ``high``."""
    value = number(given, what, low, high)
    if value != math.floor(value):
        raise ValueError(f"{what} should be a whole number, got {shown(given)}.")
    return int(value)


def truth(given: Any, what: str) -> bool:
    """True or false."""
    if not isinstance(given, bool):
        raise ValueError(f"{what} should be true or false, got {shown(given)}.")
    return given


def text(given: Any, what: str, longest: int) -> str:
    """A text that is not too long."""
    if not isinstance(given, str):
        raise ValueError(f"{what} should be a text, got {shown(given)}.")
    if len(given) > longest:
        raise ValueError(f"{what} has {len(given)} characters; at most {longest} are read.")
    return given


def chosen(given: Any, what: str, among: Any) -> str:
    """One of some words."""
    if not isinstance(given, str) or given not in among:
        raise ValueError(f"{what} should be {enumeration(map(repr, among), 50, 'or')}, got {shown(given)}.")
    return given


def list_of(given: Any, what: str, most: int) -> list[Any]:
    """A list that is not too long."""
    if not isinstance(given, list):
        raise ValueError(f"{what} should be a list, got {shown(given)}.")
    if len(given) > most:
        raise ValueError(f"{what} are {len(given)}; at most {most} are taken.")
    return given


def numbers(given: Any, what: str, most: int, width: int | None = None, farthest: float = FARTHEST) -> Array:
    """An array of finite numbers, with so many in a row where that is said."""
    values = list_of(given, what, most)
    shape = (len(values),) if width is None else (len(values), width)
    each = "a number" if width is None else f"{width} numbers"
    if not values:
        return np.empty(shape)
    try:
        array = np.array(values)
    except (ValueError, OverflowError):  # rows of different lengths
        array = np.empty(0, object)
    if array.dtype.kind not in "iuf" or array.shape != shape:
        raise ValueError(f"each of {what} should be {each}.")
    if not (np.abs(array) <= farthest).all():
        raise ValueError(f"{what} should be numbers of a size up to {farthest:g}.")
    return array.astype(np.float64)


def ends_of_box(given: Any) -> Array:
    """What is seen of the plane: [x0, x1, y0, y1]."""
    box = numbers(given, "the ends of the box", 4, farthest=4 * FARTHEST)
    if box.size != 4 or not (box[0] < box[1] and box[2] < box[3]):
        raise ValueError("box should be [x0, x1, y0, y1] with x0 < x1 and y0 < y1.")
    return box


def grid_asked(request: dict[str, Any]) -> tuple[Array, Array]:
    """The places along both sides of the grid that a request asks for: ``box`` and ``size``, edges included."""
    box = ends_of_box(request.get("box", [-1, 1, -1, 1]))
    size = list_of(request.get("size", [80, 80]), "the sides of the grid", 2)
    if len(size) != 2:
        raise ValueError("size should be [width, height].")
    width, height = (whole(side, "a side of the grid", 2, _MOST_CELLS) for side in size)
    return np.linspace(box[0], box[1], width), np.linspace(box[2], box[3], height)


# The learners and the sliders of the page. Learners have the names that they have on the command line.


#: Seconds after which a fit shows what it has.
TIME_LIMIT = 2.0


@dataclass(frozen=True)
class Slider:
    """A parameter that is slid from ``low`` to ``high``, and typed from ``least`` to ``most``."""

    title: str
    low: float
    high: float
    start: float
    least: float
    most: float
    log: bool = True


SLIDERS = {
    "C": Slider("C: what an error costs", 1e-3, 1e4, 1.0, 1e-9, 1e9),
    "lam": Slider("λ: what a large w costs", 1e-6, 1.0, 1e-2, 1e-12, 1e6),
    "gamma": Slider("γ: how near is near", 1e-3, 1e3, 1.0, 1e-9, 1e9),
    "nu": Slider("ν: the share that may be outside", 0.01, 0.9, 0.2, 1e-6, 1.0, log=False),
    "epsilon": Slider("ε: half the width of the tube", 1e-3, 10.0, 0.1, 0.0, 1e6),
    "epochs": Slider("epochs: passes over the points", 1, 100, 10, 1, 1000),
    "coverage": Slider("coverage: the share of new targets in the band", 0.5, 0.99, 0.9, 0.01, 0.999, log=False),
}


@dataclass(frozen=True)
class Offered:
    """A learner of the page: the estimator that a scene makes of it, and what there is to see of it.

    ``cost`` is the slider that a cross-validation goes over beside γ, ``steps`` the algorithm that can be watched,
    ``margins`` says that scores of ±1 mean something, and ``command`` is its name for "mercer train" if it is another.
    """

    name: str
    title: str
    help: str
    sliders: tuple[str, ...]
    estimator: str
    parameters: Callable[[Scene], dict[str, Any]]
    cost: str | None = None
    steps: str | None = None
    margins: bool = False
    command: str = ""

    def build(self, scene: Scene, **changed: Any) -> Any:
        """The estimator of a scene."""
        from .. import estimators

        return getattr(estimators, self.estimator)(**{**self.parameters(scene), **changed})


def _kernel(scene: Scene) -> dict[str, Any]:
    return {"kernel": scene.parsed}


def _margin(scene: Scene) -> dict[str, Any]:
    return {**_kernel(scene), "C": scene.C, "time_limit": TIME_LIMIT, "random_state": scene.seed}


def _tube(scene: Scene) -> dict[str, Any]:
    return {**_margin(scene), "epsilon": scene.epsilon}


def _smooth(loss: Any) -> Callable[[Scene], dict[str, Any]]:
    return lambda scene: {**_kernel(scene), "loss": loss, "lam": scene.lam, "time_limit": TIME_LIMIT}


def _perceptron(variant: str) -> Callable[[Scene], dict[str, Any]]:
    return lambda scene: {**_kernel(scene), "epochs": scene.epochs, "variant": variant, "random_state": scene.seed}


def _pegasos(scene: Scene) -> dict[str, Any]:
    steps = scene.epochs * max(1, len(scene.points))
    return {**_kernel(scene), "lam": scene.lam, "steps": steps, "random_state": scene.seed}


def _share(scene: Scene) -> dict[str, Any]:
    return {**_kernel(scene), "nu": scene.nu, "time_limit": TIME_LIMIT, "random_state": scene.seed}


def _quantiles(scene: Scene) -> dict[str, Any]:
    outside = round((1 - scene.coverage) / 2, 9)
    levels = (outside, 0.5, round(1 - outside, 9))
    return {**_kernel(scene), "quantiles": levels, "lam": scene.lam, "time_limit": TIME_LIMIT}


def _huber(scene: Scene) -> dict[str, Any]:
    from ..losses import Huber

    return _smooth(Huber(max(scene.epsilon, 1e-6)))(scene)


def _by_name(*learners: Offered) -> dict[str, Offered]:
    return {learner.name: learner for learner in learners}


#: Every learner by task and name.
LEARNERS: dict[str, dict[str, Offered]] = {
    "classes": _by_name(
        Offered("svc", "Support vector machine", "The widest margin; C says what each violation of it costs.",
                ("C", "gamma"), "SVC", _margin, "C", "smo", margins=True),
        Offered("nu-svc", "ν-support vector machine", "The widest margin that a share ν of the points may violate.",
                ("nu", "gamma"), "NuSVC", _share, "nu", margins=True),
        Offered("kernel-perceptron", "Perceptron", "Adds a point to the model whenever the model errs on it.",
                ("epochs", "gamma"), "Perceptron", _perceptron("last"), None, "perceptron"),
        Offered("averaged-perceptron", "Averaged Perceptron", "The mean of all models that a Perceptron goes through.",
                ("epochs", "gamma"), "Perceptron", _perceptron("averaged"), command="kernel-perceptron"),
        Offered("kernel-pegasos", "Pegasos", "The soft margin by random steps, each as short as 1/(λt).",
                ("lam", "epochs", "gamma"), "Pegasos", _pegasos, "lam", "pegasos", margins=True),
        Offered("kernel-logistic", "Kernel logistic regression", "A smooth loss whose scores are odds.",
                ("lam", "gamma"), "KernelClassifier", _smooth("logistic"), "lam"),
        Offered("kernel-squared-hinge", "Squared-hinge machine", "A margin whose violations cost their squares.",
                ("lam", "gamma"), "KernelClassifier", _smooth("squared_hinge"), "lam", margins=True),
    ),
    "numbers": _by_name(
        Offered("kernel-ridge", "Kernel ridge", "Squared errors, and λ times the length of w.",
                ("lam", "gamma", "coverage"), "KernelRegressor", _smooth("squared"), "lam"),
        Offered("svr", "Support vector regression", "Errors within a tube of half width ε cost nothing.",
                ("C", "epsilon", "gamma", "coverage"), "SVR", _tube, "C"),
        Offered("nu-svr", "ν-support vector regression", "A tube that at most a share ν of the points lies outside of.",
                ("C", "nu", "gamma", "coverage"), "NuSVR", lambda scene: {**_margin(scene), "nu": scene.nu}, "C"),
        Offered("kernel-huber", "Kernel Huber regression", "Squares up to ε, lines beyond: outliers count less.",
                ("lam", "epsilon", "gamma", "coverage"), "KernelRegressor", _huber, "lam"),
        Offered("quantile", "Quantiles", "Curves that given shares of the targets lie below.",
                ("lam", "gamma", "coverage"), "KernelQuantiles", _quantiles, "lam"),
    ),
    "novelty": _by_name(
        Offered("one-class", "One-class SVM", "The half space that holds all but a share ν of the points.",
                ("nu", "gamma"), "OneClassSVM", _share),
        Offered("svdd", "Smallest ball", "The smallest ball in feature space around all but a share ν of the points.",
                ("nu", "gamma"), "SVDD", _share),
    ),
}  # fmt: skip


# What a request about words or graphs holds, checked field by field: one sentence for what is wrong.


_LONGEST_NAME, _LONGEST_KERNEL, _MOST_PARTS = 60, 500, 8


def plain_text(given: Any, what: str, longest: int) -> str:
    """A text that can be written to a page.

    Examples
    --------
    >>> plain_text("tree", "word 1", 10)
    'tree'
    """
    value = text(given, what, longest)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} holds half a character, which no page can show; type it again.") from None
    return value


def labels_of(request: dict, items: str, count: int) -> list[int]:
    """The class of each item, 0 or 1, where both classes have some."""
    labels = request.get("labels")
    if not isinstance(labels, list) or any(type(label) is not int or label not in (0, 1) for label in labels):
        raise ValueError(f"labels should be a list of 0 and 1, one for each of the {items}.")
    if len(labels) != count:
        raise ValueError(f"there are {count} {items} but {len(labels)} labels; give one for each.")
    if len(set(labels)) < 2:
        raise ValueError(f"a machine separates two classes; put some {items} into each of them.")
    return labels


def two_names(request: dict) -> list[str]:
    """What the two classes are called."""
    names = list_of(request.get("names", ["first", "second"]), "the names", 2)
    if len(names) != 2:
        raise ValueError("names should be the names of two classes.")
    return [plain_text(name, f"name {place}", _LONGEST_NAME) for place, name in enumerate(names, 1)]


def cost(request: dict) -> float:
    """C, what an error costs."""
    slider = SLIDERS["C"]
    return number(request.get("C", slider.start), "C", slider.least, slider.most)


def kernel_for(request: dict, kind: str, example: str) -> Kernel:
    """The kernel that a text describes, where it compares items of this kind.

    Examples
    --------
    >>> kernel_for({"kernel": "2*spectrum(p=2)"}, "strings", "spectrum(p=2)")
    2*spectrum(p=2)
    """
    kernel = parse(text(request.get("kernel", example), "the kernel text", _LONGEST_KERNEL))
    parts = leaves(kernel)
    if len(parts) > _MOST_PARTS:
        raise ValueError(f"this kernel is made of {len(parts)} others; at most {_MOST_PARTS} are taken.")
    for leaf in parts:
        if leaf.kind() != kind:
            raise ValueError(f"{leaf} compares {leaf.kind()}, not {kind}; take a kernel such as '{example}'.")
    return kernel


def leaves(kernel: Kernel) -> list[Kernel]:
    """The kernels that an expression is made of in the end."""
    parts = kernel.parts()
    return [leaf for part in parts for leaf in leaves(part)] if parts else [kernel]
