"""Kernel matrices on a graphics card: code from the formula that a kernel has already, products that never write K."""

from ..kernels.formulas import Untraceable
from .device import available, refuse_without_card
from .formulas import Formula, Tiles, formula_of
from .products import (
    PRECISIONS,
    Operands,
    as_array,
    as_host,
    copied,
    matrix_values,
    on_card,
    operands_of,
    product,
    scores_on_card,
)

__all__ = [
    "PRECISIONS",
    "Formula",
    "Operands",
    "Tiles",
    "Untraceable",
    "as_array",
    "as_host",
    "available",
    "copied",
    "formula_of",
    "matrix_values",
    "on_card",
    "operands_of",
    "product",
    "refuse_without_card",
    "scores_on_card",
]
