"""The learners and the sliders of the page. Learners have the names that they have on the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .scene import Scene

__all__ = ["LEARNERS", "SLIDERS", "TIME_LIMIT", "Offered", "Slider"]

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
