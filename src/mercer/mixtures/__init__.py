"""Weights of a mixture of kernels, learned together with the machines that use it."""

from .components import Components
from .joint_problem import DualPoint, JointProblem, Part
from .learned_weights import LearnedWeights, learn_weights

__all__ = ["Components", "DualPoint", "JointProblem", "LearnedWeights", "Part", "learn_weights"]
