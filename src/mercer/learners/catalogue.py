"""Every learner by the name it has on the command line.

Those of classes enter by :mod:`.class_learners`, those of numbers and of what is usual by :mod:`.number_learners`.

Examples
--------
>>> from mercer.learners import LEARNERS
>>> LEARNERS["kernel-pegasos"].build("gaussian(gamma=0.5)", lam=1e-4)
Pegasos(kernel='gaussian(gamma=0.5)', lam=0.0001, random_state=0)
>>> LEARNERS["pegasos-2"].search_grid()["model__lam"][:2]
[1e-06, 1e-05]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from functools import partial
from typing import Any

from .._validation.target_kind import TASKS
from .._validation.wording import enumeration, nearest
from .learner import Learner
from .loss_text import as_written

__all__ = [
    "GAMMA",
    "GAUSSIAN",
    "LAM",
    "LEARNERS",
    "SLOW_ROWS",
    "SPARSE_ROWS",
    "TOL",
    "linear",
    "named",
    "of_tables",
    "register",
    "with_kernel",
]

#: The kernel that learners begin with, and its rates for a grid as multiples of the rule "scale": steps of four, as
#: finer ones cost more than they win.
GAUSSIAN = "gaussian(gamma=0.125)"
GAMMA = [2.0**power for power in (-5, -3, -1, 1, 3, 5)]
#: Rows beyond which one fit takes more than about a minute on two cores: of machines that choose few rows and keep
#: these, of those that solve with the whole matrix, and of those that go through it row by row or minimise a corner.
SPARSE_ROWS, DENSE_ROWS, SLOW_ROWS = 60_000, 20_000, 10_000
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

    maker = getattr(mercer, class_name)
    known = maker._get_param_names()
    if "random_state" not in known:
        params.pop("random_state", None)
    for name in params:
        if name not in known:
            if name in _OF_KERNELS and "kernel" in known:
                raise ValueError(f"{name} belongs to the kernel; write --kernel '{_OF_KERNELS[name]}({name}=...)'.")
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
