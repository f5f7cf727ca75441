"""Is a target a measurement, to be regressed on, or a label? The one rule for it."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["is_measurement", "measured_in_words"]

#: Different values of a target up to this number are labels where they come again.
_FEW = 20


def is_measurement(y: Any) -> bool:
    """Whether a target holds measurements, to be regressed on, rather than labels of classes.

    Labels come again, two rows or more of each on average, or there are but few of them. Numbers with fractions are
    labels only where both are so, as doses are. Words that never come again are names, and no better as classes.

    Parameters
    ----------
    y : array
        The values that are not missing.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_measurement([0.5, 2.0, 0.5, 2.0]), is_measurement([0.5, 2.0, 0.7]), is_measurement(["a", "b", "c"])
    (False, True, False)
    """
    values = np.asarray(y)
    different = np.unique(values.astype(np.str_) if values.dtype == object else values).size
    few, again = different <= _FEW, 2 * different <= values.size
    fractions = values.dtype.kind == "f" and bool((values != np.floor(values)).any())
    return not (few and again) if fractions else not (few or again)


def measured_in_words(target: Any, different: int, rows: int) -> str:
    """What is said about a target of measurements where classes are to be learned."""
    return (
        f"the target {target!r} has {different} different values in {rows} rows, so it looks like a measurement and "
        "not like classes; name another column with --target."
    )
