"""Which substrings, items, columns and training items push a prediction."""

from .explanation import Explanation, FarValue, Push, Supporter, explain, far_values, wrong_rows
from .model_overview import (
    KernelShare,
    KernelShares,
    ModelOverview,
    NamedFeature,
    kernel_shares,
    overview,
    permutation_importance_of,
    some_rows,
)
from .opened_model import feature_words, nearest_support, support_labels, support_lines

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
    "feature_words",
    "kernel_shares",
    "nearest_support",
    "overview",
    "permutation_importance_of",
    "some_rows",
    "support_labels",
    "support_lines",
    "wrong_rows",
]
