"""What a learner is: a machine by name, with the values that are worth trying when it is tuned."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from typing import Any

from ..checks.labels import TASKS
from ..losses import ResidualLoss, as_residual_loss
from ..losses.margins import KNOWN
from ..messages import enumeration, nearest

__all__ = [
    "FEW_ROWS",
    "GAMMA",
    "GAUSSIAN",
    "LAM",
    "LEARNERS",
    "SLOW_ROWS",
    "SPARSE_ROWS",
    "TOL",
    "Learner",
    "as_written",
    "linear",
    "named",
    "of_tables",
    "register",
    "rounded",
    "rounded_loss",
    "with_kernel",
]

# Losses as they are printed, with few digits, and read back: what a search prints is what a command takes.


_CALL = re.compile(r"(\w+)\((?:(\w+)=)?([^()=]*)\)")


def as_written(loss: Any) -> Any:
    """The loss of residuals that a text such as "Huber(delta=2)" stands for; all else as it is.

    Examples
    --------
    >>> as_written("Huber(delta=2)"), as_written("hinge")
    (Huber(delta=2.0), 'hinge')
    """
    found = _CALL.fullmatch(loss.replace(" ", "")) if isinstance(loss, str) else None
    if found is None:
        return loss
    name, parameter, value = found.groups()
    known = {kind.__name__: kind for kind in KNOWN.values() if issubclass(kind, ResidualLoss)}
    if name not in known:
        return as_residual_loss(name)
    try:
        number = [float(value)] if value else []
        return known[name](**{parameter: number[0]}) if parameter else known[name](*number)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the loss {loss!r} cannot be read: {error}.") from None


def rounded(value: float) -> float:
    """A number with three digits.

    Examples
    --------
    >>> rounded(0.3 * 77)
    23.1
    """
    return float(f"{value:.3g}")


def rounded_loss(loss: Any) -> Any:
    """A loss with parameters of three digits.

    Examples
    --------
    >>> from mercer.losses import Huber
    >>> rounded_loss(Huber(23.099999999999998))
    Huber(delta=23.1)
    """
    if not is_dataclass(loss) or isinstance(loss, type):
        return loss
    return replace(loss, **{name: rounded(value) for name, value in asdict(loss).items()})


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
    "table": "table-regression",
    "table-regression": "table",
}


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
        best value is rarely the first or the last. Values of ``kernel__gamma`` are multiples of the rate that the rule
        "scale" gives the rows (:meth:`in_scale`).
    fixed : mapping
        Parameters that make it this learner, such as its loss.
    kernelised : str
        The name of the learner that is the same with any kernel: its own name, where it is that one. Of one that
        prepares by itself, what to take instead where a kernel is named.
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
    good_for : str
        What to take it for, in half a line: ``mercer help learners``.
    most_rows : int, optional
        The rows beyond which a fit takes more than about a minute on two cores: a study draws so many.
    prepares : bool
        Whether it takes the columns of a table as they are and prepares them itself.
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
    good_for: str = field(default="", repr=False)
    most_rows: int | None = field(default=None, repr=False)
    prepares: bool = field(default=False, repr=False)

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
        >>> from mercer.learners import LEARNERS
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

    def in_scale(self, rows: Any) -> Learner:
        """The same learner for these prepared rows: multiples of a kernel's rate become rates.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.learners import LEARNERS
        >>> LEARNERS["svc"].in_scale(np.random.default_rng(0).normal(size=(200, 50))).grid["kernel__gamma"][2:4]
        [0.01, 0.0402]
        """
        if "kernel__gamma" not in self.grid:
            return self
        from ..kernels import as_kernel

        kernel = as_kernel(self.fixed["kernel"]).set_params(gamma="scale")
        unit = kernel.resolved(kernel.items(rows)).get_params()["gamma"]
        rates = [float(f"{unit * multiple:.3g}") for multiple in self.grid["kernel__gamma"]]
        return replace(self, grid={**self.grid, "kernel__gamma": rates})

    @property
    def takes_kernel(self) -> bool:
        """Whether it learns with a kernel, of which ``fixed`` names the usual one."""
        return self.fixed.get("kernel") is not None

    @property
    def takes_any_kernel(self) -> bool:
        """Whether it learns with whatever kernel it is given, rather than being known by its own."""
        return self.kernelised == self.name

    @property
    def is_stepwise(self) -> bool:
        """Whether it is one of the textbook's machines that learn row by row, and end where they are told to."""
        return "epochs" in self.grid or "pegasos" in self.name

    @property
    def family(self) -> str:
        """What it learns: "linear" or "kernel" functions, or those of "degree 2" and more."""
        return (
            "kernel"
            if self.takes_kernel or self.prepares
            else "linear"
            if self.degree == 1
            else f"degree {self.degree}"
        )

    @property
    def on_rows(self) -> bool:
        """Whether it learns from rows of numbers, and not from items or columns that its kernel takes as they are."""
        from ..kernels import as_kernel

        return not self.prepares and (not self.takes_kernel or as_kernel(self.fixed["kernel"]).on_rows)

    def with_kernels(self, kernels: list[str]) -> Learner:
        """The same learner with other kernels: the first unless another is asked for, all of them when it is tuned.

        Examples
        --------
        >>> from mercer.learners import LEARNERS
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
        from ..composition import parameter_prefix

        prefix = parameter_prefix(self.build() if model is None else model)
        return {
            prefix + name: list(values)
            for name, values in self.grid.items()
            if kernel is None or name.partition("__")[0] != "kernel"
        }


# Every learner by the name it has on the command line.
#
# Those of classes enter by :mod:`.class_learners`, those of numbers and outlier detectors by :mod:`.number_learners`.


#: The kernel that learners begin with, and its rates for a grid as multiples of the rule "scale": steps of four, as
#: finer ones cost more than they win.
GAUSSIAN = "gaussian(gamma=0.125)"
GAMMA = [2.0**power for power in (-5, -3, -1, 1, 3, 5)]
#: Rows beyond which one fit takes more than about a minute on two cores: of machines that choose few rows and keep
#: these, of those that solve with the whole matrix, of those that go through it row by row or minimise a corner, and of
#: those that factorise it again and again.
SPARSE_ROWS, DENSE_ROWS, SLOW_ROWS, FEW_ROWS = 60_000, 20_000, 10_000, 2_000
#: λ in steps of ten.
LAM = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0]
#: How far Newton's method goes: beyond this the error on new rows does not change.
TOL = 1e-4
_NO_UNITS: Mapping[str, int] = {}
#: Parameters that people take for those of a learner, and a kernel that has them.
_OF_KERNELS = {"gamma": "gaussian", "degree": "polynomial", "coef0": "polynomial"}

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


def _estimator(class_name: str, **params: Any) -> Any:
    import mercer

    from ..estimators.base import remedy_for

    maker = getattr(mercer, class_name)
    known = maker._get_param_names()
    if "random_state" not in known:
        params.pop("random_state", None)
    for name in params:
        if name not in known:
            if name in _OF_KERNELS and "kernel" in known:
                raise ValueError(
                    f"{name} belongs to the kernel; write --kernel '{_OF_KERNELS[name]}({name}=...)', or "
                    f"--set kernel__{name}=... where the kernel of the learner has it."
                )
            if remedy := remedy_for(class_name, [name], known):
                raise ValueError(remedy)
            near = nearest(name, known)
            hint = f"it has {enumeration(known, 50)}." if near is None else f"did you mean {near!r}?"
            raise ValueError(f"{class_name} has no parameter {name!r}; {hint}")
    if "loss" in params:
        params["loss"] = as_written(params["loss"])
    return maker(**params)


def linear(
    name: str,
    title: str,
    class_name: str,
    grid: Mapping[str, list[Any]],
    kernelised: str = "",
    task: str = "classify",
    units: Mapping[str, int] = _NO_UNITS,
    good_for: str = "",
    **fixed: Any,
) -> None:
    """A linear learner, and the same on all products of two columns."""
    make = partial(_estimator, class_name)
    linear = Learner(
        name, title, make, grid, fixed, kernelised or f"kernel-{name}", task=task, units=units, good_for=good_for
    )
    register(linear)
    register(replace(linear, name=f"{name}-2", title=f"{title} of degree 2", short_title=title, degree=2))


def with_kernel(
    name: str,
    title: str,
    class_name: str,
    grid: Mapping[str, list[Any]],
    kernelised: str = "",
    kernel_title: str = "",
    task: str = "classify",
    units: Mapping[str, int] = _NO_UNITS,
    good_for: str = "",
    most_rows: int = DENSE_ROWS,
    **fixed: Any,
) -> None:
    """A learner with a kernel."""
    make = partial(_estimator, class_name)
    said: dict[str, Any] = {"task": task, "units": units, "good_for": good_for, "most_rows": most_rows}
    register(Learner(name, title, make, grid, fixed, kernelised or name, kernel_title, **said))


def of_tables(name: str, class_name: str, task: str) -> None:
    """A learner that prepares the columns of a table and chooses its kernel by itself."""
    register(
        Learner(
            name,
            "Learned-metric kernel",
            partial(_estimator, class_name),
            {},
            kernelised="svc" if task == "classify" else "kernel-ridge",
            task=task,
            good_for="tables: weights of columns, length and λ by exact leave-one-out",
            prepares=True,
        )
    )


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
