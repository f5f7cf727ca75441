"""Which substrings, items, columns and training items push a prediction."""

from .explanation import Explanation, Push, Supporter, explain
from .kernel_shares import KernelShare, KernelShares, kernel_shares
from .model_overview import ModelOverview, NamedFeature, overview
from .permuted_columns import permutation_importance_of
from .support_items import nearest_support, support_labels, support_lines
from .training_ranges import FarValue, far_values
from .wrong_rows import wrong_rows

__all__ = [
    "Explanation",
    "FarValue",
    "KernelShare",
    "KernelShares",
    "ModelOverview",
    "NamedFeature",
    "Push",
    "Supporter",
    "explain",
    "far_values",
    "kernel_shares",
    "nearest_support",
    "overview",
    "permutation_importance_of",
    "support_labels",
    "support_lines",
    "wrong_rows",
]
