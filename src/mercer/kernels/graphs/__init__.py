"""Kernels on graphs, and on the nodes of one graph."""

from .diffusion import Diffusion
from .graph_collection import Graphs
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
