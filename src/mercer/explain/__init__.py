"""Which substrings, items, columns and training items push a prediction."""

from .explanation import Explanation, Push, Supporter, explain
from .kernel_shares import KernelShare, KernelShares, kernel_shares

__all__ = ["Explanation", "KernelShare", "KernelShares", "Push", "Supporter", "explain", "kernel_shares"]
