"""Machines and their models as fields, and back.

Machines say themselves what they are made of (:class:`mercer.estimators.base.FittedState`); here stands what each
field must be. What a model tells by itself, such as its coefficients, is also an attribute that users read: the file
has it twice, and both must be the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..calibration.calibrated import SigmoidMap
from ..columns.kinds import check_kind
from ..estimators import MACHINES, UNLABELLED, KernelClassifier, KernelRegressor
from ..estimators.model import KernelModel, LinearModel, Voter
from ..estimators.regressor import Regression
from ..kernels import Kernel
from ..kernels.engine.tiles import length
from ..problems import Status
from ..tables import TableClassifier, TableRegressor
from ..tables.base import CERTIFICATE
from .packing import ITEM_KINDS
from .schema import (
    Fields,
    Meaning,
    SavedType,
    anything,
    choice,
    flag,
    instance,
    labels,
    list_of,
    mapping,
    names,
    nothing,
    number,
    numbers,
    optional,
    own_fields,
    plain_state,
    sparse_numbers,
    text,
    tuple_of,
    whole,
    wholes,
)

__all__ = ["PARAMETERS", "machine_types", "table_types"]

#: What the constructor is given.
PARAMETERS = Meaning("parameters by their names, as the constructor takes them and checks them before a fit",
                     mapping(text, anything).holds)  # fmt: skip
#: What was tried by leaving out rows.
TRIED = mapping(text, numbers("tried", missing=True) | wholes("tried") | names("tried"))
#: What is known of the columns of training rows.
_COLUMNS = {
    "n_features_in_": optional(whole(size="columns")),
    "feature_names_in_": optional(names("columns")),
}
_certificate = numbers("", missing=True, infinite=True) | number(missing=True, infinite=True)
_LINEAR = {"coef": numbers("scores", "columns"), "intercept": numbers("scores")}
_KERNEL = {
    "kernel": instance(Kernel),
    "support": wholes("support"),
    "items": nothing
    | numbers("support", "columns")
    | sparse_numbers("support", "columns")
    | instance(*ITEM_KINDS, words="strings, sets, graphs, categories or parts (support)"),
    "coef": numbers("scores", "support"),
    "intercept": numbers("intercepts"),
}
_MACHINE: dict[str, Meaning] = {
    "parameters": PARAMETERS,
    "model": instance(LinearModel, KernelModel),
    **_COLUMNS,
    "intercept_": numbers("scores"),
    "coef_": optional(numbers("scores", "columns")),
    "support_": optional(wholes("support")),
    "dual_coef_": optional(numbers("", "support")),
    "n_support_": optional(wholes("")),
    "n_iter_": optional(wholes("") | whole()),
    "objective_": optional(_certificate),
    "duality_gap_": optional(_certificate),
    "kkt_violation_": optional(_certificate),
    "missing_trace_": optional(number()),
    "status_": optional(choice(*(each.value for each in Status))),
    "converged_": optional(flag),
    "fit_status_": optional(whole()),
    "lam_": optional(number(0)),
    "tried_": optional(TRIED),
    "loo_predictions_": optional(numbers("rows") | numbers("rows", "scores")),
    "loo_score_": optional(number()),
    "shape_fit_": optional(tuple_of(whole(), whole()) | tuple_of(whole())),
}
_CLASSES = {
    "classes_": labels("classes"),
    "multilabel_": optional(flag),
    "class_weight_": optional(numbers("", low=0)),
}
_TARGETS = {"target_shape_": optional(tuple_of() | tuple_of(whole(1, size="targets")))}
#: What some machines have besides.
_OWN: dict[str, dict[str, Meaning]] = {
    "Perceptron": {"mistakes_": optional(list_of(wholes(""))), "voters": optional(list_of(instance(Voter), "scores"))},
    "Pegasos": {
        "rows_seen_": optional(whole()),
        "trace_": optional(numbers("", missing=True, infinite=True) | numbers("", "", missing=True, infinite=True)),
        "progress": optional(tuple_of(numbers("scores", ""), whole(1))),
    },
    "KernelQuantiles": {"quantiles_": numbers("scores", low=0, high=1, rising=True)},
    "NuSVR": {"epsilon_": optional(number(0))},
    "OneClassSVM": {"offset_": number()},
    "SVDD": {"offset_": number(), "radius_": number(0), "centre_square_": number()},
    "KernelPCA": {
        "eigenvalues_": numbers("scores", low=0),
        "eigenvalue_bounds_": numbers("scores", low=0),
        "residuals_": numbers("scores", low=0),
        "angle_bounds_": numbers("scores", low=0, high=1),
        "explained_variance_ratio_": numbers("scores", low=0, high=1),
        "mean_": optional(numbers("columns")),
    },
}
_VOTER = {
    "model": instance(KernelModel),
    "column": wholes("updates"),
    "coefficient": numbers("updates"),
    "bias": numbers("updates"),
    "survival": numbers("updates", low=0),
}


def machine_types() -> Iterator[SavedType]:
    """Every machine, and what machines are made of."""
    cls: Any
    for cls in (*MACHINES, *UNLABELLED):
        kind = _CLASSES if issubclass(cls, ClassifierMixin) else {} if hasattr(cls, "score_samples") else _TARGETS
        meanings = {**_MACHINE, **kind, **_OWN.get(cls.__name__, {})}
        yield SavedType(cls.__name__, cls, _state, _machine, meanings)
    yield SavedType("LinearModel", LinearModel, own_fields, _values, _LINEAR)
    yield SavedType("KernelModel", KernelModel, own_fields, _kernel_model, _KERNEL)
    yield SavedType("_Voter", Voter, own_fields, _voter, _VOTER)


def _state(machine: Any) -> Fields:
    """The state of a machine; attributes that somebody gave it besides are not part of it."""
    state = machine.fitted_state()
    known = {**_MACHINE, **_CLASSES, **_TARGETS, **_OWN.get(type(machine).__name__, {})}
    attributes = {name: value for name, value in state["attributes"].items() if name in known}
    return {**state, "attributes": attributes}


def _values(cls: Any, fields: Fields) -> Any:
    return cls(**fields)


def _kernel_model(cls: Any, fields: Fields) -> KernelModel:
    model: KernelModel = cls(**fields)
    kernel, items = model.kernel, model.items
    if not kernel.is_resolved:
        raise ValueError("its kernel lacks a parameter that the training rows decide")
    if kernel.on_rows != (items is None or isinstance(items, np.ndarray) or hasattr(items, "tocsr")):
        raise ValueError("its support items do not fit its kernel")
    if (items is None) != kernel.precomputed:
        raise ValueError(
            "its support rows are missing" if items is None else "a precomputed matrix has no support rows"
        )
    if items is not None:
        if length(items) != model.support.size:
            raise ValueError("its support items do not fit its coefficients")
        _try_items(model)
    return model


def _try_items(model: KernelModel) -> None:
    """Refuse items that the kernel cannot compare, before a prediction stumbles over them."""
    some = model.items[:1]
    try:
        with np.errstate(all="ignore"):
            found = model.kernel.matrix(model.kernel.items(some), some)
    except (AttributeError, LookupError, TypeError) as error:
        raise ValueError(f"its support items are not what its kernel compares ({type(error).__name__})") from None
    if not np.isfinite(found).all():
        raise ValueError("its kernel has no finite value on its support items")


def _voter(cls: Any, fields: Fields) -> Voter:
    made: Voter = cls(**fields)
    if made.column.size and made.column.max() >= made.model.support.size:
        raise ValueError("its votes do not fit its support rows")
    return made


def _machine(cls: Any, fields: Fields) -> Any:
    model, attributes = fields["model"], fields["attributes"]
    if model.coef.shape[0] != model.intercept.size:
        raise ValueError("its intercepts do not fit its weights")
    _check_rows(model, attributes)
    _check_scores(cls, len(model.intercept), attributes, fields["parameters"].get("strategy", "ovr"))
    for voter in fields.get("voters", []):
        _check_rows(voter.model, attributes)
    if "progress" in fields and fields["progress"][0].shape != (len(model.intercept), attributes["n_features_in_"] + 1):
        raise ValueError("its progress does not fit its weights")
    made = cls.from_fitted_state({**fields, "attributes": {}})
    own = {name: vars(made).get(name) for name in ("intercept_", "coef_", "support_", "dual_coef_")}
    vars(made).update(attributes)
    made.check_parameters()
    _check_attributes(made, {name: value for name, value in own.items() if value is not None})
    return made


def _check_attributes(made: Any, own: Fields) -> None:
    """Refuse attributes that are not those of the model."""
    if votes := getattr(made, "_votes", False):  # as in scikit-learn, a pair speaks for its first class
        own.pop("dual_coef_", None)
    for name, value in own.items():
        told = getattr(made, name)
        if not np.array_equal(told, value) and not (votes and np.array_equal(told, 0.0 - value)):
            raise ValueError(f"its {name} is not that of its model")
    if isinstance(made, ClassifierMixin) and made.costs is not None:
        made._cost_matrix()


def _check_rows(model: Any, attributes: Fields) -> None:
    """Refuse a model that does not fit the columns of the rows that it is asked about."""
    columns = attributes.get("n_features_in_", 0)
    if isinstance(model, LinearModel):
        if model.coef.shape[1] != columns:
            raise ValueError("its weights do not fit its features")
    elif model.items is None:
        if model.support.size and model.support.max() >= columns:
            raise ValueError("its support rows are out of range")
    elif model.kernel.on_rows and model.items.shape[1] != columns:
        raise ValueError("its support rows do not fit its features")


def _check_scores(cls: type, scores: int, attributes: Fields, strategy: str) -> None:
    """Refuse another number of scores than classes, targets or quantiles ask for."""
    if issubclass(cls, Regression):
        quantiles, shape = attributes.get("quantiles_"), attributes.get("target_shape_", ())
        if scores != (math.prod(shape) if quantiles is None else len(quantiles)):
            raise ValueError("its scores do not fit its targets")
    elif issubclass(cls, ClassifierMixin):
        classes = len(attributes["classes_"])
        pairs = classes * (classes - 1) // 2
        expected = 1 if classes == 2 else pairs if strategy == "ovo" else classes
        several = attributes.get("multilabel_") is True
        if classes < (1 if several else 2) or scores != (classes if several else expected):
            raise ValueError("its scores do not fit its classes")
    elif scores != len(attributes.get("eigenvalues_", [0])):
        raise ValueError("its scores do not fit what it predicts")


# Estimators of tables as fields, and back: preparation, machine, and what was known of training rows.


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
    "groups_": optional(wholes("rows")),
}
_TABLE_CLASSES = {
    "machine_": instance(KernelClassifier),
    "classes_": labels("classes"),
    "maps_": list_of(instance(SigmoidMap, words="a map")),
    "loo_predictions_": numbers("rows") | numbers("rows", "classes"),
}
_NUMBERS = {
    "machine_": instance(KernelRegressor),
    "loo_predictions_": numbers("rows"),
    "loo_errors_": optional(numbers("rows")),
    "row_weights_": optional(numbers("rows", low=0)),
}


def table_types() -> Iterator[SavedType]:
    """Every estimator of tables."""
    for cls, own in ((TableClassifier, _TABLE_CLASSES), (TableRegressor, _NUMBERS)):
        yield SavedType(cls.__name__, cls, _table_state, _table, {**_COMMON, **own})


def _table_state(model: Any) -> Fields:
    check_is_fitted(model, "machine_")
    known = {**_COMMON, **(_TABLE_CLASSES if isinstance(model, TableClassifier) else _NUMBERS)}
    state = plain_state(model)
    there = {name: value for name, value in state["attributes"].items() if name in known and value is not None}
    return {**state, "attributes": there}


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
