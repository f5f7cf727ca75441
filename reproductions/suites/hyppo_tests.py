"""hyppo's tests of HSIC and MMD; they run where hyppo is installed."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.kernels import Gaussian
from mercer.statistics import hsic, mmd

NAME = "hyppo"
MODULE = "hyppo.independence.tests.test_hsic hyppo.ksample.tests.test_mmd"
MEANT: dict[str, str] = {}

#: Permutations where hyppo takes an approximation in their place.
_FEW = 99


def _kernel(instance: Any) -> Any:
    return "precomputed" if instance.compute_kernel is None else Gaussian("median")


def _seed(random_state: Any) -> int:
    return int(np.random.randint(2**31 - 1)) if random_state is None else int(random_state)


def _correlation(instance: Any, x: Any, y: Any) -> float:
    """HSIC over the root of those of either variable with itself, as hyppo has it."""
    kernel = _kernel(instance)
    own = [hsic(side, side, kernel=kernel, permutations=1).statistic for side in (x, y)]
    return hsic(x, y, kernel=kernel, permutations=1).statistic / np.sqrt(own[0] * own[1])


def _independence(
    instance: Any,
    x: Any,
    y: Any,
    reps: int = 1000,
    workers: int = 1,
    auto: bool = True,
    perm_blocks: Any = None,
    random_state: Any = None,
) -> tuple[float, float]:
    count = _FEW if auto and len(x) > 20 else reps
    kernel = None if instance.compute_kernel is not None else "precomputed"
    found = hsic(x, y, kernel=kernel, permutations=count, random_state=_seed(random_state))
    return _correlation(instance, x, y), found.pvalue


def _two_samples(
    instance: Any, x: Any, y: Any, reps: int = 1000, workers: int = 1, auto: bool = True, random_state: Any = None
) -> tuple[float, float]:
    found = mmd(x, y, permutations=_FEW if auto and len(x) > 20 else reps, random_state=_seed(random_state))
    return found.statistic, found.pvalue


def patches() -> dict[str, Any]:
    """Methods of hyppo's classes, which it looks up by name in several places."""
    return {
        "hyppo.independence.Hsic.statistic": _correlation,
        "hyppo.independence.Hsic.test": _independence,
        "hyppo.ksample.MMD.test": _two_samples,
    }
