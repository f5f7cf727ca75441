"""Every learner by name, with the values that are worth trying, and the kernels that suit what a file holds."""

from . import entries as entries  # enters all learners
from .catalogue import GAUSSIAN, LEARNERS, Learner, named, register
from .suitability import kernels_for, refuse_unfit, spread_of, suited

__all__ = ["GAUSSIAN", "LEARNERS", "Learner", "kernels_for", "named", "refuse_unfit", "register", "spread_of", "suited"]
