"""What a machine may leave to exact leave-one-out: the weights of columns (``metric="learned"``), and λ (``"loo"``)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._runtime.compile import Array
from .._validation.memory import bytes_of, size_in_words
from .._validation.parameters import is_number
from ..losses import Squared
from ..metrics import exactly_left_out, learned_metric, left_out, tried_table
from ..metrics.column_weights import RIDGES, Clock, Tried, descended
from ..metrics.families import FAMILIES, family_of
from .time_limits import seconds_left
from .training import Training

if TYPE_CHECKING:
    from .risk import RiskMinimiser

__all__ = ["BY_LEAVE_ONE_OUT", "chosen", "refuse_bad_choices"]

#: What ``lam`` may be in the place of a number.
BY_LEAVE_ONE_OUT = "loo"
#: Matrices of all items that a path of λ has at once.
_MATRICES = 2
#: The part of the time that weights may take.
_LEARNING = 0.4


def refuse_bad_choices(machine: RiskMinimiser) -> None:
    """Refuse what is not to be had by leaving out rows."""
    name = type(machine).__name__
    if machine.metric not in (None, "learned"):
        raise ValueError(f"{name}: metric must be 'learned' or None, got {machine.metric!r}.")
    if machine.lam == BY_LEAVE_ONE_OUT and not squared(machine):
        raise ValueError(
            f"{name}: lam='loo' needs loss='squared', of which the error of each row without it is known from one "
            "factorisation; for other losses search for lam (KernelSearchCV)."
        )
    if machine.lam == BY_LEAVE_ONE_OUT and (machine.rank is not None or machine.device is not None):
        raise ValueError(f"{name}: lam='loo' needs the whole matrix in memory; leave rank and device out.")


def squared(machine: Any) -> bool:
    """Whether the loss is the squared one."""
    return getattr(machine, "loss", None) in ("squared", Squared())


def chosen(machine: RiskMinimiser, data: Training) -> Training:
    """The training items under the learned metric, where one is to be learned; sets ``lam_`` and what was tried."""
    for name in ("lam_", "tried_", "loo_predictions_", "loo_score_"):
        machine.__dict__.pop(name, None)
    tried: list[Tried] = []
    if machine.metric == "learned":
        data, tried = _under_learned_metric(machine, data)
    if machine.lam == BY_LEAVE_ONE_OUT:
        tried = tried + _choose_lam(machine, data)
    if tried:
        machine.tried_ = tried_table(tried)
    return data


def _under_learned_metric(machine: RiskMinimiser, data: Training) -> tuple[Training, list[Tried]]:
    name = type(machine).__name__
    family = family_of(data.kernel)
    if family is None:
        known = " or ".join(map(repr, FAMILIES))
        raise ValueError(f"{name}: metric='learned' is for the kernels {known}, not for {data.kernel}.")
    if not isinstance(data.items, np.ndarray):
        raise ValueError(f"{name}: metric='learned' needs dense rows in memory; pass X.toarray(), or leave metric out.")
    if len(data.targets) < 2:
        raise ValueError(f"{name}: metric='learned' leaves out one row after the other, and there is one sample.")
    found = learned_metric(
        data.items.astype(np.float64, copy=False),
        np.column_stack(machine._squared_targets(data)),
        data.weight,
        families=(family.name,),
        gamma=None if isinstance(machine.read_kernel().get_params()["gamma"], str) else data.kernel.gamma,  # type: ignore[attr-defined]
        lam=float(machine.lam) if squared(machine) and is_number(machine.lam) else None,
        intercept=bool(machine.fit_intercept),
        seconds=_LEARNING * seconds_left(machine),
    )
    kernel = found.best.kernel
    gram = machine.placement.gram(kernel, data.items, data.weight)
    return replace(data, kernel=kernel, gram=gram), found.tried


def _choose_lam(machine: RiskMinimiser, data: Training) -> list[Tried]:
    """Try values of λ, down from one to the next; the best is ``lam_``."""
    n, name = len(data.gram), type(machine).__name__
    weight = None if data.weight is None else data.weight * (n / data.weight.sum())
    if n < 2 or (weight is not None and np.count_nonzero(weight) < 2):
        raise ValueError(
            f"{name}: lam='loo' leaves out one row after the other, and there is one sample (with a weight)."
        )
    if _MATRICES * 8 * n * n > bytes_of(machine.memory):
        raise ValueError(
            f"{name}: lam='loo' needs {size_in_words(_MATRICES * 8 * n * n)} for matrices of all {n} rows, more than "
            f"memory={machine.memory!r}; raise it, or search for lam (KernelSearchCV)."
        )
    own = np.column_stack(machine._squared_targets(data))
    whole = data.gram.rows(np.arange(n))
    unit = float(np.mean(np.einsum("ii->i", whole))) or 1.0
    known: dict[tuple[int, int], float] = {}

    def matrix() -> Array:
        return np.array(whole, dtype=np.float64)

    def error(place: tuple[int, int]) -> float:
        known[place] = left_out(matrix(), own, unit * RIDGES[place[1]], machine.fit_intercept, weight).error(
            own, weight
        )
        return known[place]

    descended(error, (0, len(RIDGES) // 2), (1, len(RIDGES)), Clock(_LEARNING * seconds_left(machine)))
    best = min(known, key=lambda each: known[each])
    machine.lam_ = unit * RIDGES[best[1]] / (n - 1)
    unseen = exactly_left_out(matrix, own, machine.lam_, bool(machine.fit_intercept), weight)
    machine.loo_predictions_ = machine.decisions_of(np.column_stack(machine._in_target_units(data, list(unseen.T))))
    return [
        Tried(str(data.kernel)[:40], 0, 1.0, unit * RIDGES[place[1]] / (n - 1), n, value)
        for place, value in known.items()
    ]
