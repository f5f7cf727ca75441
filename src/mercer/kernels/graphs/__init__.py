"""Kernels on graphs, and on the nodes of one graph."""

# ruff: noqa: F403
from . import diffusion, graph_collection, graphlets, paths, refinement, walks
from .diffusion import *
from .graph_collection import *
from .graphlets import *
from .paths import *
from .refinement import *
from .walks import *

__all__ = [
    *diffusion.__all__,
    *graph_collection.__all__,
    *graphlets.__all__,
    *paths.__all__,
    *refinement.__all__,
    *walks.__all__,
]
