"""Costs that grow with powers of sizes, from what they were at some sizes.

A cost c·n^a·d^b has the logarithm  log c + a·log n + b·log d: the exponents are the coefficients of a least-squares fit
of logarithms to logarithms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["PowerLaw"]


@dataclass(frozen=True)
class PowerLaw:
    """A cost of coefficient · Π size^exponent.

    Examples
    --------
    >>> law = PowerLaw.fitted({"n": [100, 200, 400]}, [1.0, 4.0, 16.0])
    >>> round(law.exponents["n"], 6), round(law(n=800), 6)
    (2.0, 64.0)
    """

    coefficient: float
    exponents: Mapping[str, float]

    @classmethod
    def fitted(cls, sizes: Mapping[str, Sequence[float]], costs: Sequence[float]) -> PowerLaw:
        """The law that is nearest to some costs, in logarithms; one list of sizes for each name, as long as costs."""
        values = np.asarray(costs, dtype=np.float64)
        table = np.array([np.asarray(size, dtype=np.float64) for size in sizes.values()]).reshape(len(sizes), -1)
        if table.shape[1] != values.size or values.size <= len(sizes):
            raise ValueError(f"{len(sizes)} exponents need more than {len(sizes)} costs, with all sizes of each.")
        if not (np.all(values > 0) and np.all(table > 0)):
            raise ValueError("sizes and costs of a power law must be greater than 0.")
        columns = np.vstack([np.ones(values.size), np.log(table)]).T
        found = np.linalg.lstsq(columns, np.log(values), rcond=None)[0]
        return cls(float(np.exp(found[0])), dict(zip(sizes, map(float, found[1:]), strict=True)))

    def __call__(self, **sizes: float) -> float:
        """The cost at other sizes."""
        factors = [float(sizes[name]) ** exponent for name, exponent in self.exponents.items()]
        return self.coefficient * float(np.prod(factors))

    def __str__(self) -> str:
        return " · ".join([f"{self.coefficient:.3g}", *(f"{name}^{e:.2f}" for name, e in self.exponents.items())])
