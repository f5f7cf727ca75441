"""What a fitted machine is, as plain values, and a machine from such values: what model files are made of."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

__all__ = ["FittedState"]

#: Attributes that a model tells by itself.
_OF_THE_MODEL = ("support_vectors_", "kernel_")


class FittedState:
    """Two methods that every machine has: its state as values, and a machine of that state.

    A subclass that keeps more than the model and its public attributes extends both.
    """

    _model: Any

    def fitted_state(self) -> dict[str, Any]:
        """What ``fit`` has found.

        Returns
        -------
        dict
            ``"parameters"`` as the constructor takes them, ``"attributes"`` that users read, the ``"model"`` that
            predicts; other keys are a subclass's own. Values are numbers, words, arrays, kernels, items and models.

        Examples
        --------
        >>> from mercer import Perceptron
        >>> state = Perceptron(random_state=0).fit([[0.0], [1.0]], ["no", "yes"]).fitted_state()
        >>> Perceptron.from_fitted_state(state).predict([[3.0]]).tolist()
        ['yes']
        """
        check_is_fitted(self, "_model")
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        if not isinstance(parameters.get("random_state", 0), (int, np.integer)):
            parameters["random_state"] = None  # a generator has moved on since; a restored machine may draw anew
        if "checkpoints" in parameters:
            parameters["checkpoints"] = None  # they belong to one run of fit, not to its result
        attributes = {
            name: value
            for name, value in vars(self).items()
            if name.endswith("_") and not name.startswith("_") and name not in _OF_THE_MODEL
        }
        return {"parameters": parameters, "attributes": attributes, "model": self._model}

    @classmethod
    def from_fitted_state(cls, state: dict[str, Any]) -> Self:
        """A machine that predicts as the one did whose state this is.

        Parameters
        ----------
        state : dict
            As :meth:`fitted_state` returns it.

        Returns
        -------
        estimator
        """
        made: Any = cls(**state["parameters"])
        made._publish(state["model"])
        vars(made).update(state["attributes"])
        made._stage_models = []
        return made
