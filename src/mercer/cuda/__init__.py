"""Kernel matrices on a graphics card: code from the formula that a kernel has already, products that never write K."""

from ..kernels.symbols import Untraceable
from .device import available, refuse_without_card
from .formula import Formula, formula_of
from .fused import as_array, copied, matrix_values, product, scores_on_card
from .operands import PRECISIONS, Operands, operands_of
from .tensors import as_host, on_card
from .triton_text import Tiles

__all__ = [
    "PRECISIONS", "Formula", "Operands", "Tiles", "Untraceable", "as_array", "as_host", "available", "copied",
    "formula_of", "matrix_values", "on_card", "operands_of", "product", "refuse_without_card", "scores_on_card",
]  # fmt: skip
