"""Estimators of tables as fields, and back: preparation, machine, and what was known of training rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..calibration.sigmoid_map import SigmoidMap
from ..columns.deciding import check_kind
from ..estimators import KernelClassifier, KernelRegressor
from ..tables import TableClassifier, TableRegressor
from ..tables.base import CERTIFICATE
from .meanings import instance, labels, list_of, mapping, names, number, numbers, optional, text, whole
from .saved_machines import PARAMETERS, TRIED
from .saved_type import Fields, SavedType, plain_state

__all__ = ["table_types"]

_COMMON = {
    "parameters": PARAMETERS,
    "preparation_": instance(Pipeline),
    "kinds_": mapping(text, text),
    "ignored_": mapping(text, text),
    "n_features_in_": whole(size="columns"),
    "feature_names_in_": optional(names("columns")),
    "feature_importances_": numbers("columns", low=0),
    "loo_score_": number(),
    "tried_": TRIED,
}
_CLASSES = {
    "machine_": instance(KernelClassifier),
    "classes_": labels("classes"),
    "maps_": list_of(instance(SigmoidMap, words="a map")),
    "loo_predictions_": numbers("rows") | numbers("rows", "classes"),
}
_NUMBERS = {"machine_": instance(KernelRegressor), "loo_predictions_": numbers("rows")}


def table_types() -> Iterator[SavedType]:
    """Every estimator of tables."""
    for cls, own in ((TableClassifier, _CLASSES), (TableRegressor, _NUMBERS)):
        yield SavedType(cls.__name__, cls, _state, _table, {**_COMMON, **own})


def _state(model: Any) -> Fields:
    check_is_fitted(model, "machine_")
    known = {**_COMMON, **(_CLASSES if isinstance(model, TableClassifier) else _NUMBERS)}
    state = plain_state(model)
    return {**state, "attributes": {name: value for name, value in state["attributes"].items() if name in known}}


def _table(cls: Any, fields: Fields) -> Any:
    made = cls(**fields["parameters"])
    vars(made).update(fields["attributes"])
    made.check_parameters()
    machine = made.machine_
    for name in CERTIFICATE:
        setattr(made, name, getattr(machine, name))
    if not all(map(check_kind, made.kinds_.values())):
        raise ValueError("its columns are of an unknown kind")
    if len(made.preparation_.get_feature_names_out()) != machine.n_features_in_:
        raise ValueError("its preparation does not fit its machine")
    if isinstance(made, TableClassifier):
        scores = 1 if made.classes_.size == 2 else made.classes_.size
        if made.classes_.tolist() != machine.classes_.tolist() or len(made.maps_) != scores:
            raise ValueError("its maps do not fit its classes")
    return made
