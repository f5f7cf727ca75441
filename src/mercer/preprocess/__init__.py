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

from .clipped import Clipped
from .date_parts import DateParts
from .filled import Filled
from .outliers import OutlierFilter, OutlierReport, WithoutOutliers
from .prepare import pipeline, prepare
from .read_columns import ReadColumns
from .standardised import Standardised
from .target_transform import transformed_target, with_transformed_target
from .texts import Texts
from .transformers import Constant, CorrelationFilter, Numbers

__all__ = [
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
    "pipeline",
    "prepare",
    "transformed_target",
    "with_transformed_target",
]
