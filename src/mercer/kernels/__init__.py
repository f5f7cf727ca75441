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
    alignment,
    base,
    columns,
    graph_counts,
    graphs,
    mixture,
    reading,
    sets,
    strings,
    vectors,
)
from .algebra import *
from .alignment import *
from .base import *
from .base import rate
from .columns import *
from .columns import AGREEMENT, Categories
from .engine.statistics import DISTANCE, DOT, MANHATTAN, SQUARED_DISTANCE
from .formulas import Symbol, Untraceable, formula_of_dots, traced, walked
from .graph_counts import *
from .graph_counts import scaled
from .graphs import *
from .graphs import surroundings
from .mixture import *
from .parameters import Parameters
from .reading import *
from .sets import *
from .slopes import entry_slopes, own_slopes
from .strings import *
from .text_form import Name, full_text, registered
from .vectors import *

__all__ = [
    "DISTANCE",
    "DOT",
    "MANHATTAN",
    "SQUARED_DISTANCE",
    *algebra.__all__,
    *alignment.__all__,
    *base.__all__,
    *columns.__all__,
    *graph_counts.__all__,
    *graphs.__all__,
    *mixture.__all__,
    *reading.__all__,
    *sets.__all__,
    *strings.__all__,
    *vectors.__all__,
    "AGREEMENT",
    "Categories",
    "Name",
    "Parameters",
    "Symbol",
    "Untraceable",
    "entry_slopes",
    "formula_of_dots",
    "full_text",
    "own_slopes",
    "rate",
    "registered",
    "scaled",
    "surroundings",
    "traced",
    "walked",
]
