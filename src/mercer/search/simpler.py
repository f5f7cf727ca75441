"""Which of two settings makes the simpler model, as far as their parameters tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._validation.parameters import is_number
from .content_keys import setting_key

__all__ = ["SIMPLER_LARGE", "SIMPLER_SMALL", "is_simpler", "simplest_of"]

Params = dict[str, Any]

#: Parameters of which a smaller value makes a simpler model, and those of which a larger one does.
SIMPLER_SMALL = ("C", "gamma", "degree", "epochs", "steps")
SIMPLER_LARGE = ("lam", "length", "tol", "nu", "epsilon")


def is_simpler(one: Params, other: Params) -> bool:
    """Whether a setting makes a simpler model than another: simpler in some parameter, and richer in none.

    Examples
    --------
    >>> is_simpler({"C": 1, "gamma": 0.5}, {"C": 10, "gamma": 0.5}), is_simpler({"lam": 0.1}, {"lam": 0.01})
    (True, True)
    >>> is_simpler({"degree": 3, "C": 0.1}, {"degree": 2, "C": 1}), is_simpler({"kernel": "rbf"}, {"kernel": "linear"})
    (False, False)
    """
    if one.keys() != other.keys():
        return False
    differing = [name for name in one if setting_key({name: one[name]}) != setting_key({name: other[name]})]
    return bool(differing) and all(_is_simpler_in(name, one[name], other[name]) for name in differing)


def simplest_of(settings: Sequence[Params]) -> Params | None:
    """The setting that is simpler than all others; ``None`` where there is none such.

    Examples
    --------
    >>> simplest_of([{"C": 10}, {"C": 1}, {"C": 100}])
    {'C': 1}
    >>> simplest_of([{"C": 1, "degree": 3}, {"C": 10, "degree": 2}]) is None
    True
    """
    return next((one for one in settings if all(one is other or is_simpler(one, other) for other in settings)), None)


def _is_simpler_in(name: str, value: Any, other: Any) -> bool:
    last = name.rpartition("__")[2]
    if not (is_number(value) and is_number(other)):
        return False
    return (last in SIMPLER_SMALL and value < other) or (last in SIMPLER_LARGE and value > other)
