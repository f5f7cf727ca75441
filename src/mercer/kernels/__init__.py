"""What "similar" means: kernels and their algebra.

Examples
--------
>>> from mercer.kernels import Gaussian, Linear, parse
>>> parse("2*gaussian(gamma=0.5) + linear") == 2 * Gaussian(gamma=0.5) + Linear()
True
"""

# ruff: noqa: F403
from . import (
    algebra,
    bag_collection,
    base,
    categories,
    given,
    graphs,
    mapped,
    mixture,
    on_columns,
    scaled_columns,
    sets,
    strings,
    text_parser,
    vectors,
)
from .algebra import *
from .bag_collection import *
from .base import *
from .categories import *
from .engine.statistics import DISTANCE, DOT, MANHATTAN, SQUARED_DISTANCE
from .given import *
from .graphs import *
from .mapped import *
from .mixture import *
from .on_columns import *
from .scaled_columns import *
from .sets import *
from .strings import *
from .text_parser import *
from .vectors import *

__all__ = [
    "DISTANCE",
    "DOT",
    "MANHATTAN",
    "SQUARED_DISTANCE",
    *algebra.__all__,
    *bag_collection.__all__,
    *base.__all__,
    *categories.__all__,
    *given.__all__,
    *graphs.__all__,
    *(name for name in mapped.__all__ if name != "Conformal"),  # with a star it would hide the intervals of that name
    *mixture.__all__,
    *on_columns.__all__,
    *scaled_columns.__all__,
    *sets.__all__,
    *strings.__all__,
    *text_parser.__all__,
    *vectors.__all__,
]
