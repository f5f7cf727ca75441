"""What each kernel of a mixture does in a fitted machine.

With the weights β of a mixture Σ βₘkₘ/scaleₘ, w has a part wₘ in the features of each kernel. What they cost is
‖w‖² = Σ βₘ·zᵀKₘz/scaleₘ, summed over the scores of a machine with several: the share of a kernel in that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._presentation.html import Markup, table_html
from ..estimators.base import KernelMachine
from ..kernels import Kernel, Mixture

__all__ = ["KernelShare", "KernelShares", "kernel_shares"]


class KernelShare(NamedTuple):
    """A kernel, its weight, and its share of ‖w‖²."""

    kernel: Kernel
    weight: float
    share: float


@dataclass(frozen=True)
class KernelShares:
    """The kernels of a mixture, those with the largest share first; printing it gives the table."""

    kernels: list[KernelShare]

    def __str__(self) -> str:
        lines = ["weight   share of ‖w‖²  kernel"]
        return "\n".join(lines + [f"{each.weight:6.4f}  {each.share:14.4f}  {each.kernel}" for each in self.kernels])

    def _repr_html_(self) -> Markup:
        rows = [[each.kernel, f"{each.weight:.4g}", f"{each.share:.4g}"] for each in self.kernels]
        return table_html("mixture of kernels", rows, heads=["kernel", "weight", "share of ‖w‖²"])


def kernel_shares(model: Any) -> KernelShares:
    """Weights and shares of the kernels that a machine has mixed.

    Parameters
    ----------
    model : fitted estimator of mercer
        Its kernel is a :class:`~mercer.kernels.Mixture`.

    Returns
    -------
    KernelShares

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> from mercer.explain import kernel_shares
    >>> from mercer.kernels import Linear, Mixture
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = SVC(Mixture([Linear().on(0), Linear().on(1)], weights=[1.0, 0.0])).fit(X, X[:, 0] > 0)
    >>> print(kernel_shares(model))
    weight   share of ‖w‖²  kernel
    1.0000          1.0000  linear.on(0)
    0.0000          0.0000  linear.on(1)
    """
    if not isinstance(model, KernelMachine):
        raise TypeError(f"kernel_shares takes a fitted machine of mercer, got {type(model).__name__}.")
    check_is_fitted(model, "_model")
    kernel = model.kernel_
    if not isinstance(kernel, Mixture):
        raise ValueError(f"kernel_shares needs a machine with a mixture of kernels; this one has {kernel}.")
    items, z = model._model.items, model._model.coef.T
    costs = np.zeros(len(kernel.kernels))
    for place, (part, form) in enumerate(zip(kernel.kernels, kernel.part_items(items), strict=True)):
        if kernel.factors[place] > 0:
            costs[place] = kernel.factors[place] * np.vdot(z, part.product(form, form, z))
    shares = costs / costs.sum() if costs.any() else costs
    found = [KernelShare(*each) for each in zip(kernel.kernels, kernel.weights_.tolist(), shares.tolist(), strict=True)]
    return KernelShares(sorted(found, key=lambda each: -each.share))
