"""Which substrings, items, columns and training items push a prediction."""

from .explanation import Explanation, Push, Supporter, explain

__all__ = ["Explanation", "Push", "Supporter", "explain"]
