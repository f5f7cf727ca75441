"""Every learner by name, with the values that are worth trying, and the kernels that suit what a file holds."""

from . import class_learners as class_learners  # enters its learners, and so does the next
from . import number_learners as number_learners
from .catalogue import LEARNERS, named
from .learner import Learner
from .suited import kernels_for, refuse_unfit, suited
from .target_units import spread_of

__all__ = ["LEARNERS", "Learner", "kernels_for", "named", "refuse_unfit", "spread_of", "suited"]
