"""What happens to rows before a machine sees them, fitted on training rows alone.

Examples
--------
>>> from mercer import SVC
>>> from mercer import read
>>> from mercer.preprocess import pipeline
>>> table = read("margins:300")
>>> model = pipeline(table, SVC("gaussian(gamma=0.1)"), correlation=0.95, outliers="iqr").fit(table.X, table.y)
>>> model.report_.dropped
14
"""

from .numbers import Clipped, Filled, OutlierFilter, OutlierReport, Standardised, WithoutOutliers
from .pipelines import pipeline, prepare, steps_asked_for
from .read_columns import ReadColumns
from .transformers import (
    TARGET_TRANSFORMS,
    Constant,
    CorrelationFilter,
    Numbers,
    correlated_groups,
    transformed_target,
    with_transformed_target,
)
from .words import SIZES, DateParts, Texts

__all__ = [
    "SIZES",
    "TARGET_TRANSFORMS",
    "Clipped",
    "Constant",
    "CorrelationFilter",
    "DateParts",
    "Filled",
    "Numbers",
    "OutlierFilter",
    "OutlierReport",
    "ReadColumns",
    "Standardised",
    "Texts",
    "WithoutOutliers",
    "correlated_groups",
    "pipeline",
    "prepare",
    "steps_asked_for",
    "transformed_target",
    "with_transformed_target",
]
