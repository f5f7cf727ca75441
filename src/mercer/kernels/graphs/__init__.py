"""Kernels on graphs, and on the nodes of one graph."""

from .collection import Graphs
from .diffusion import Diffusion
from .graphlets import Graphlet
from .paths import ShortestPath
from .refinement import WeisfeilerLehman, WeisfeilerLehmanAssignment
from .walks import RandomWalk

__all__ = [
    "Diffusion",
    "Graphlet",
    "Graphs",
    "RandomWalk",
    "ShortestPath",
    "WeisfeilerLehman",
    "WeisfeilerLehmanAssignment",
]
