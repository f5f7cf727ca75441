"""How good a machine is, in numbers and in a sentence, as its own certificate says."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["certificate_of"]


def certificate_of(machine: Any) -> dict[str, Any] | None:
    """The certificate of a machine; of several problems, that of all of them together.

    Each gap says how far at most an objective lies above the least possible one, so that their sum says it of the sum.
    """
    if not hasattr(machine, "duality_gap_"):
        return None
    objective, gap = float(np.sum(machine.objective_)), float(np.sum(machine.duality_gap_))
    violation = getattr(machine, "kkt_violation_", None)
    relative = gap / abs(objective) if objective else 0.0
    return {
        "objective": objective,
        "gap": gap,
        "relative_gap": relative,
        "violation": None if violation is None else float(np.max(violation)),
        "converged": bool(machine.converged_),
        "sentence": _sentence(objective, gap, relative, bool(machine.converged_)),
    }


def _sentence(objective: float, gap: float, relative: float, converged: bool) -> str:
    start = "Solved" if converged else "Not solved to its tolerance"
    above = f"at most {gap:.2g} ({100 * relative:.2g} %) above the least possible"
    return f"{start}: the objective {objective:.6g} is {above}."
