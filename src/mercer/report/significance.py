"""How sure one can be of an error rate, and of one learner being better than another."""

from __future__ import annotations

from collections.abc import Sequence

from scipy.stats import binomtest

#: Intervals hold with this probability, and a difference counts as real where chance alone makes it this rarely.
CONFIDENCE, ALPHA = 0.95, 0.05


def error_rate(wrong: int, rows: int) -> dict[str, float]:
    """An error rate with its Wilson interval, which stays within 0 and 1 and is not empty where no row is wrong.

    Examples
    --------
    >>> error_rate(0, 10)
    {'wrong': 0, 'rows': 10, 'rate': 0.0, 'low': 0.0, 'high': 0.2775}
    """
    low, high = map(float, binomtest(wrong, rows).proportion_ci(CONFIDENCE, method="wilson"))
    return {"wrong": wrong, "rows": rows, "rate": wrong / rows, "low": round(low, 4), "high": round(high, 4)}


def mcnemar(only_first_right: int, only_second_right: int) -> float:
    """The exact p-value of McNemar's test.

    If two learners err equally often, then each row on which exactly one of them is right falls to either side like a
    fair coin. Rows on which both are right, or both wrong, say nothing.

    Examples
    --------
    >>> mcnemar(5, 0)
    0.0625
    """
    rows = only_first_right + only_second_right
    return 1.0 if rows == 0 else float(binomtest(only_first_right, rows).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for being several, by Holm's steps: the k-th smallest of m times m − k + 1, never falling.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(p_values)
    worst = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda k: p_values[k])):
        worst = max(worst, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = worst
    return corrected
