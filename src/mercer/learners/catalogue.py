"""Every learner by the name it has on the command line, with the values that are worth trying when it is tuned.

Examples
--------
>>> from mercer.learners import LEARNERS
>>> LEARNERS["kernel-pegasos"].build("gaussian(gamma=0.5)", lam=1e-4)
Pegasos(kernel='gaussian(gamma=0.5)', lam=0.0001, random_state=0)
>>> LEARNERS["pegasos-2"].search_grid()["model__lam"][:2]
[1e-06, 1e-05]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from functools import partial
from typing import Any

from .._validation.target_kind import TASKS
from .._validation.wording import enumeration, nearest
from ..losses import Huber, ResidualLoss
from .loss_text import as_written, rounded, rounded_loss

__all__ = ["LEARNERS", "Learner", "named", "register"]

#: Grids. Steps of four in gamma and of ten in the others: finer ones cost more than they win.
_GAMMA = [2.0**power for power in (-9, -7, -5, -3, -1, 1)]
_POLYNOMIAL: dict[str, list[Any]] = {"kernel__degree": [2, 3], "kernel__gamma": [1 / 64, 1 / 16, 1 / 4]}
_PASSES: dict[str, list[Any]] = {"epochs": [5, 20, 100], "variant": ["last", "averaged"]}
_LAM = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0]
_KERNEL_LAM = [1e-6, 1e-5, 1e-4, 1e-3]
#: Kernel machines with a smooth loss cost most with a small λ, and gain least from it.
_SMOOTH_LAM = [1e-5, 1e-4, 1e-3]
#: Learners of numbers have fewer values of each of more parameters.
_FEW_GAMMA = [2.0**power for power in (-10, -7, -4, -1)]
#: ½·‖w‖² + C·Σ max(0, |r| − ε) is s² times that of residuals, weights and ε divided by s, with C/s in the place of C.
_TUBE_UNITS = {"C": 1, "epsilon": 1}
#: λ/2·‖w‖² + mean τ·|r| is s times that of residuals and weights divided by s, with λ·s in the place of λ.
_QUANTILE_UNITS = {"lam": -1}
_NO_UNITS: Mapping[str, int] = {}
#: Learners that are the same with another loss, for the other task; for all others it is the smooth loss.
_COUNTERPARTS = {
    "svc": "svr",
    "poly-svc": "svr",
    "linear-svc": "linear-svr",
    "linear-svc-2": "linear-svr-2",
    "nu-svc": "nu-svr",
    "svr": "svc",
    "linear-svr": "linear-svc",
    "linear-svr-2": "linear-svc-2",
    "nu-svr": "nu-svc",
}
#: How far Newton's method goes: beyond this the error on new rows does not change.
_TOL = 1e-4


def _estimator(class_name: str, **params: Any) -> Any:
    from .. import estimators

    maker = getattr(estimators, class_name)
    known = maker._get_param_names()
    if "random_state" not in known:
        params.pop("random_state", None)
    for name in params:
        if name not in known:
            raise ValueError(f"{class_name} has no parameter {name!r}; it has {enumeration(known, 50)}.")
    if "loss" in params:
        params["loss"] = as_written(params["loss"])
    return maker(**params)


@dataclass(frozen=True)
class Learner:
    """A learner that can be asked for by name.

    Parameters
    ----------
    name : str
        As on the command line.
    title : str
        As in a table or a figure.
    make : callable
        Makes the estimator from its parameters.
    grid : mapping
        Values to try for each parameter, in the names of the estimator. It covers orders of magnitude, so that the
        best value is rarely the first or the last.
    fixed : mapping
        Parameters that make it this learner, such as its loss.
    kernelised : str
        The name of the learner that is the same with any kernel: its own name, where it is that one.
    kernel_title : str
        Its title with another kernel than its own, where its title tells the kernel.
    degree : int
        The degree to which the columns are expanded before it learns, unless :meth:`build` is told another.
    short_title : str
        Its title beside others of its degree, where the title tells the degree.
    task : {"classify", "regress", "detect"}
        What it learns: classes, numbers, or from rows without labels which ones are usual.
    units : mapping
        Parameters that are given here in units of the target's spread, and the power of it that they grow with. Losses
        say themselves what they are in other units.
    """

    name: str
    title: str
    make: Callable[..., Any]
    grid: Mapping[str, list[Any]] = field(repr=False)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    kernelised: str = ""
    kernel_title: str = ""
    degree: int = 1
    short_title: str = ""
    task: str = "classify"
    units: Mapping[str, int] = field(default_factory=dict, repr=False)

    @property
    def counterpart(self) -> str:
        """The learner of the other task, of classes and numbers, that is most like it."""
        if self.name in _COUNTERPARTS:
            return _COUNTERPARTS[self.name]
        smooth = "ridge" if self.task == "classify" else "logistic"
        return f"kernel-{smooth}" if self.takes_kernel else smooth if self.degree == 1 else f"{smooth}-2"

    def in_units(self, spread: float) -> Learner:
        """The same learner for targets of this spread: what depends on their unit is multiplied by it.

        Examples
        --------
        >>> LEARNERS["svr"].in_units(1000.0).fixed["epsilon"], LEARNERS["huber"].in_units(1000.0).fixed["loss"]
        (100.0, Huber(delta=300.0))
        """

        def scaled(name: str, value: Any) -> Any:
            if isinstance(value, ResidualLoss):
                return rounded_loss(value.in_units(1 / spread))
            return rounded(value * spread ** self.units[name]) if name in self.units else value

        return replace(
            self,
            grid={name: [scaled(name, value) for value in values] for name, values in self.grid.items()},
            fixed={name: scaled(name, value) for name, value in self.fixed.items()},
        )

    @property
    def takes_kernel(self) -> bool:
        """Whether it learns with a kernel, of which ``fixed`` names the usual one."""
        return self.fixed.get("kernel") is not None

    @property
    def takes_any_kernel(self) -> bool:
        """Whether it learns with whatever kernel it is given, rather than being known by its own."""
        return self.kernelised == self.name

    @property
    def family(self) -> str:
        """What it learns: "linear" or "kernel" functions, or those of "degree 2" and more."""
        return "kernel" if self.takes_kernel else "linear" if self.degree == 1 else f"degree {self.degree}"

    @property
    def on_rows(self) -> bool:
        """Whether it learns from rows of numbers, and not from items or columns that its kernel takes as they are."""
        from ..kernels import as_kernel

        return not self.takes_kernel or as_kernel(self.fixed["kernel"]).on_rows

    def with_kernels(self, kernels: list[str]) -> Learner:
        """The same learner with other kernels: the first unless another is asked for, all of them when it is tuned.

        Examples
        --------
        >>> LEARNERS["svc"].with_kernels(["jaccard", "minmax"]).search_grid()["kernel"]
        ['jaccard', 'minmax']
        """
        grid = {name: values for name, values in self.grid.items() if not name.startswith("kernel__")}
        choice = {"kernel": kernels} if len(kernels) > 1 else {}
        return replace(
            self,
            title=self.kernel_title or self.title,
            grid={**choice, **grid},
            fixed={**self.fixed, "kernel": kernels[0]},
        )

    def build(self, kernel: str | None = None, degree: int | None = None, random_state: Any = 0, **params: Any) -> Any:
        """The estimator, not fitted.

        Parameters
        ----------
        kernel : str, optional
            The text of a kernel, for learners that take one.
        degree : int, optional
            Expand the columns to products of up to so many of them. More than one makes a pipeline of an "expand"
            and a "model" step.
        random_state : int, RandomState or None, default=0
            Left out where the learner draws nothing at random.
        **params
            Any other parameter of the estimator, and those of its kernel such as ``kernel__gamma``.

        Returns
        -------
        classifier or regressor
        """
        if kernel is not None:
            if not self.takes_kernel:
                raise ValueError(f"{self.name} has no kernel{f'; use {self.kernelised}' if self.kernelised else ''}.")
            params["kernel"] = kernel
        nested = {name: params.pop(name) for name in list(params) if name.startswith("kernel__")}
        model = self.make(**{**self.fixed, "random_state": random_state, **params})
        model.set_params(**nested)
        degree = self.degree if degree is None else degree
        if degree < 1 or degree != int(degree):
            raise ValueError(f"degree must be a whole number of at least 1, got {degree!r}.")
        if degree == 1:
            return model
        from sklearn.pipeline import Pipeline
        from sklearn.preprocessing import PolynomialFeatures

        return Pipeline([("expand", PolynomialFeatures(degree, include_bias=False)), ("model", model)])

    def search_grid(self, model: Any = None, kernel: str | None = None) -> dict[str, list]:
        """The grid, in the parameters of a model.

        Parameters
        ----------
        model : estimator, optional
            What :meth:`build` made, alone or at the end of a pipeline. By default what it makes without arguments.
        kernel : str, optional
            A kernel that was chosen already: its parameters are not searched.

        Returns
        -------
        dict of lists
        """
        from .._validation.unwrapped import parameter_prefix

        prefix = parameter_prefix(self.build() if model is None else model)
        return {
            prefix + name: list(values)
            for name, values in self.grid.items()
            if kernel is None or name.partition("__")[0] != "kernel"
        }


#: All learners, in the order in which tables list them.
LEARNERS: dict[str, Learner] = {}


def register(learner: Learner) -> Learner:
    """Make a learner known.

    Parameters
    ----------
    learner : Learner

    Returns
    -------
    Learner
        The same.
    """
    if learner.name in LEARNERS:
        raise ValueError(f"there is a learner {learner.name!r} already; choose another name.")
    LEARNERS[learner.name] = learner
    return learner


def _linear(
    name: str,
    title: str,
    class_name: str,
    grid: Mapping[str, list[Any]],
    kernelised: str = "",
    task: str = "classify",
    units: Mapping[str, int] = _NO_UNITS,
    **fixed: Any,
) -> None:
    """A linear learner, and the same on all products of two columns."""
    make = partial(_estimator, class_name)
    linear = Learner(name, title, make, grid, fixed, kernelised or f"kernel-{name}", task=task, units=units)
    register(linear)
    register(replace(linear, name=f"{name}-2", title=f"{title} of degree 2", short_title=title, degree=2))


def _kernel(
    name: str,
    title: str,
    class_name: str,
    grid: Mapping[str, list[Any]],
    kernelised: str = "",
    kernel_title: str = "",
    task: str = "classify",
    units: Mapping[str, int] = _NO_UNITS,
    **fixed: Any,
) -> None:
    """A learner with a kernel."""
    make = partial(_estimator, class_name)
    register(Learner(name, title, make, grid, fixed, kernelised or name, kernel_title, task=task, units=units))


_GAUSSIAN, _CUBIC = "gaussian(gamma=0.125)", "polynomial(degree=3, gamma=0.1)"

_linear("perceptron", "Perceptron", "Perceptron", _PASSES)
_linear("pegasos", "Pegasos SVM", "Pegasos", {"lam": _LAM})
_linear("pegasos-logistic", "Pegasos logistic", "Pegasos", {"lam": _LAM}, loss="logistic")
_linear("logistic", "Logistic regression", "KernelClassifier", {"lam": _LAM}, kernel=None, tol=_TOL)
_linear(
    "squared-hinge",
    "Squared-hinge machine",
    "KernelClassifier",
    {"lam": _LAM},
    kernel=None,
    loss="squared_hinge",
    tol=_TOL,
)
_linear(
    "smooth-hinge",
    "Smooth-hinge machine",
    "KernelClassifier",
    {"lam": _LAM},
    kernel=None,
    loss="smooth_hinge",
    tol=_TOL,
)
_linear("linear-svc", "Linear SVM", "SVC", {"C": [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0]}, "svc", kernel=None)
_kernel(
    "kernel-perceptron",
    "Kernel Perceptron",
    "Perceptron",
    {"kernel__gamma": _GAMMA, "epochs": [5, 20], "variant": ["last", "averaged"]},
    kernel=_GAUSSIAN,
)
_kernel(
    "poly-perceptron",
    "Polynomial Perceptron",
    "Perceptron",
    {**_POLYNOMIAL, "epochs": [5, 20], "variant": ["last", "averaged"]},
    "kernel-perceptron",
    "Kernel Perceptron",
    kernel=_CUBIC,
)
_kernel(
    "kernel-pegasos",
    "Kernel Pegasos",
    "Pegasos",
    {"kernel__gamma": _GAMMA, "lam": _KERNEL_LAM},
    kernel=_GAUSSIAN,
)
_kernel(
    "kernel-pegasos-logistic",
    "Kernel Pegasos logistic",
    "Pegasos",
    {"kernel__gamma": _GAMMA, "lam": _KERNEL_LAM},
    kernel=_GAUSSIAN,
    loss="logistic",
)
_kernel(
    "kernel-logistic",
    "Kernel logistic regression",
    "KernelClassifier",
    {"kernel__gamma": _GAMMA, "lam": _SMOOTH_LAM},
    tol=_TOL,
    kernel=_GAUSSIAN,
)
_kernel(
    "kernel-squared-hinge",
    "Kernel squared-hinge machine",
    "KernelClassifier",
    {"kernel__gamma": _GAMMA, "lam": _SMOOTH_LAM},
    tol=_TOL,
    kernel=_GAUSSIAN,
    loss="squared_hinge",
)
_kernel(
    "kernel-smooth-hinge",
    "Kernel smooth-hinge machine",
    "KernelClassifier",
    {"kernel__gamma": _GAMMA, "lam": _SMOOTH_LAM},
    tol=_TOL,
    kernel=_GAUSSIAN,
    loss="smooth_hinge",
)
_kernel(
    "svc",
    "Gaussian SVM",
    "SVC",
    {"kernel__gamma": _GAMMA, "C": [0.5, 5.0, 50.0, 500.0]},
    kernel_title="Kernel SVM",
    kernel=_GAUSSIAN,
)
_kernel(
    "poly-svc",
    "Polynomial SVM",
    "SVC",
    {**_POLYNOMIAL, "C": [0.1, 1.0, 10.0, 100.0]},
    "svc",
    "Kernel SVM",
    kernel=_CUBIC,
)
_kernel(
    "nu-svc",
    "Gaussian ν-SVM",
    "NuSVC",
    {"kernel__gamma": _GAMMA, "nu": [0.05, 0.15, 0.4]},
    kernel_title="Kernel ν-SVM",
    kernel=_GAUSSIAN,
    nu=0.15,
)

# Learners of numbers. Widths of losses and of the tube are in units of the target's spread, see Learner.in_units.
_regressor_of_rows = partial(_linear, class_name="KernelRegressor", task="regress", kernel=None)
_regressor_with_kernel = partial(_kernel, class_name="KernelRegressor", task="regress", kernel=_GAUSSIAN)

_regressor_of_rows("ridge", "Ridge regression", grid={"lam": _LAM})
_regressor_of_rows(
    "huber",
    "Huber regression",
    grid={"lam": [1e-5, 1e-3, 1e-1, 1.0], "loss": [Huber(0.1), Huber(0.3), Huber(1.0)]},
    loss=Huber(0.3),
    tol=_TOL,
)
_linear(
    "linear-svr",
    "Linear SVR",
    "SVR",
    {"C": [0.01, 0.1, 1.0, 10.0], "epsilon": [0.05, 0.3]},
    "svr",
    task="regress",
    units=_TUBE_UNITS,
    kernel=None,
    C=1.0,
    epsilon=0.1,
)
_linear(
    "linear-quantile",
    "Linear median regression",
    "KernelQuantiles",
    {"lam": [1e-4, 1e-3, 1e-2, 1e-1, 1.0]},
    "quantile",
    task="regress",
    units=_QUANTILE_UNITS,
    kernel=None,
    quantiles=0.5,
    lam=1e-3,
)
_regressor_with_kernel("kernel-ridge", "Kernel ridge", grid={"kernel__gamma": _GAMMA, "lam": [1e-5, 1e-4, 1e-3, 1e-2]})
_regressor_with_kernel(
    "kernel-huber",
    "Kernel Huber regression",
    grid={"kernel__gamma": _FEW_GAMMA, "lam": [1e-5, 3e-4, 1e-2], "loss": [Huber(0.3), Huber(1.0)]},
    loss=Huber(0.3),
    tol=_TOL,
)
_kernel(
    "svr",
    "Support vector regression",
    "SVR",
    {"kernel__gamma": _FEW_GAMMA, "C": [1.0, 10.0, 100.0], "epsilon": [0.05, 0.3]},
    task="regress",
    units=_TUBE_UNITS,
    kernel=_GAUSSIAN,
    C=1.0,
    epsilon=0.1,
)
_kernel(
    "nu-svr",
    "ν-support vector regression",
    "NuSVR",
    {"kernel__gamma": _FEW_GAMMA, "C": [1.0, 10.0, 100.0], "nu": [0.3, 0.7]},
    task="regress",
    units={"C": 1},
    kernel=_GAUSSIAN,
    C=1.0,
    nu=0.5,
)
_kernel(
    "quantile",
    "Kernel median regression",
    "KernelQuantiles",
    {"kernel__gamma": _FEW_GAMMA, "lam": [1e-6, 1e-5, 1e-4, 1e-3, 1e-2]},
    task="regress",
    units=_QUANTILE_UNITS,
    kernel=_GAUSSIAN,
    quantiles=0.5,
    lam=1e-3,
)

# Learners of what is usual, from rows without labels. At most a share nu of them is outside.
for _name, _title, _class_name in (("one-class", "One-class SVM", "OneClassSVM"), ("svdd", "Smallest ball", "SVDD")):
    _kernel(_name, _title, _class_name, {}, task="detect", kernel=_GAUSSIAN, nu=0.05)


def _likeness(name: str, other: str) -> float:
    return SequenceMatcher(a=name, b=other).ratio()


def named(name: str) -> Learner:
    """The learner of that name, or an error with the names there are.

    Examples
    --------
    >>> named("svc").title
    'Gaussian SVM'
    """
    try:
        return LEARNERS[name]
    except KeyError:
        near = [nearest(name, [each.name for each in LEARNERS.values() if each.task == task], 0.4) for task in TASKS]
        best = nearest(name, [each for each in near if each], 0.4)
        # Twins of both tasks, such as svc and svr, are as near as each other.
        both = all(near) and len({_likeness(name, str(each)) for each in near}) == 1
        meant = " or ".join(map(repr, near)) if both else repr(best)
        hint = "the names are" if best is None else f"did you mean {meant}? The names are"
        raise ValueError(f"there is no learner {name!r}; {hint} {enumeration(LEARNERS, 50)}.") from None
