"""How a model is made of a table: all that the options of ``mercer train`` say about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..io import Table
    from ..learners.learner import Learner

__all__ = ["Recipe", "recipe_of"]

#: Parameters of a machine that have options of their own, or that belong to the study alone.
_SAID_OTHERWISE = ("kernel", "random_state", "class_weight", "time_limit", "kinds")


@dataclass(frozen=True)
class Recipe:
    """A learner with its kernel, its parameters and what happens before and after it.

    Parameters
    ----------
    learner : Learner
    kernel : str, optional
        Its text; the usual one where there is none.
    degree : int, optional
    params : mapping
        Parameters of the learner.
    class_weight : str, optional
        ``"balanced"``, or nothing.
    calibrate : str, optional
        The method by which scores become probabilities.
    threshold : str, optional
        The score by which the threshold between two classes is chosen.
    positive : str, optional
        The class that this score is of, where it is of one.
    costs : tuple of str
        What mistakes cost, as it is written on the command line.
    max_rows : int, optional
        The most rows that are learned from.
    preparing : mapping
        Arguments of :func:`mercer.preprocess.pipeline`.
    seed : int
    """

    learner: Learner
    kernel: str | None = None
    degree: int | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    class_weight: str | None = None
    calibrate: str | None = None
    threshold: str | None = None
    positive: str | None = None
    costs: tuple[str, ...] = ()
    max_rows: int | None = None
    preparing: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    @property
    def in_words(self) -> str:
        """The learner with its kernel and parameters, in one line.

        Examples
        --------
        >>> from mercer.learners import LEARNERS
        >>> Recipe(LEARNERS["svc"], "gaussian(gamma=0.03)", params={"C": 10.0}).in_words
        'Gaussian SVM with gaussian(gamma=0.03), C = 10'
        >>> Recipe(LEARNERS["logistic"], params={"lam": 0.001}, class_weight="balanced").in_words
        'Logistic regression with lam = 0.001, balanced classes'
        """
        said = [] if self.kernel is None else [self.kernel]
        said += [f"{name} = {_in_few_letters(value)}" for name, value in self.params.items()]
        said += ["balanced classes"] if self.class_weight else []
        said += [f"a threshold for {self.threshold}"] if self.threshold else []
        title = self.learner.kernel_title if self.kernel and not self._own_kernel else ""
        return f"{title or self.learner.title}{' with ' if said else ''}{', '.join(said)}"

    @property
    def _own_kernel(self) -> bool:
        """Whether the kernel is of the kind that the learner is known by."""
        from ..kernels import as_kernel

        return type(as_kernel(self.kernel)) is type(as_kernel(self.learner.fixed["kernel"]))


def _in_few_letters(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def recipe_of(
    learner: Learner, model: Any, table: Table, preparing: Mapping[str, Any], seed: int, max_rows: int | None = None
) -> Recipe:
    """The recipe by which ``mercer train`` makes a model as a study has made it, here of all rows of a table.

    Parameters
    ----------
    learner : Learner
        As the catalogue has it.
    model : estimator
        As the study has fitted it.
    table : Table
    preparing : mapping
    seed : int
    max_rows : int, optional

    Returns
    -------
    Recipe
    """
    from .._validation.unwrapped import layers, learner_of
    from ..calibration import Calibrated, TunedThreshold
    from ..kernels import as_kernel
    from .building import fitting

    given = learner_of(model).get_params(deep=False)
    kernel = str(as_kernel(given["kernel"])) if learner.takes_kernel else None
    plain = fitting(learner, table, kernel, preparing.get("target_transform"))
    usual = learner_of(plain.build(kernel, random_state=seed)).get_params(deep=False)
    chosen = {
        name: value
        for name, value in given.items()
        if name not in _SAID_OTHERWISE and (name in learner.grid or value != usual[name])
    }
    outer = list(layers(model))
    scores = [layer.scoring for layer in outer if isinstance(layer, TunedThreshold)]
    return Recipe(
        learner,
        kernel,
        params=chosen,
        class_weight=given.get("class_weight"),
        calibrate=next((layer.method for layer in outer if isinstance(layer, Calibrated)), None),
        threshold=next((name for name in scores if isinstance(name, str)), None),
        max_rows=max_rows if max_rows is not None and table.n_rows > max_rows else None,
        preparing=preparing,
        seed=seed,
    )
