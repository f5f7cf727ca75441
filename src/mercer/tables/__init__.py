"""Estimators that take tables as they are: preparation, kernel, weights of columns and λ are theirs to choose."""

from .base import TableMachine
from .table_classifier import TableClassifier
from .table_regressor import TableRegressor

__all__ = ["TableClassifier", "TableMachine", "TableRegressor"]
