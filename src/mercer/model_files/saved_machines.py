"""Machines and their models as fields, and back.

Machines say themselves what they are made of (:class:`mercer.estimators.base.FittedState`), and declare what each field
must be (:attr:`mercer.estimators.KernelMachine.fields`). What a model tells by itself, such as its coefficients, is
also an attribute that users read: the file has it twice, and both must be the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .. import estimators
from ..checks.schema import (
    Meaning,
    anything,
    instance,
    mapping,
    nothing,
    numbers,
    sparse_numbers,
    text,
    wholes,
)
from ..columns.kinds import check_kind
from ..estimators import Classifier
from ..estimators.model import KernelModel, LinearModel, Voter
from ..io.table import DataError
from ..kernels import Kernel
from ..kernels.engine.tiles import length
from ..kernels.text_form import is_ours
from ..messages import guide
from ..tables import TableClassifier, TableRegressor
from ..tables.base import CERTIFICATE
from .packing import ITEM_KINDS
from .saved_type import Fields, SavedType, own_fields, plain_state

__all__ = ["PARAMETERS", "machine_type", "machine_types", "table_types"]

#: What the constructor is given.
PARAMETERS = Meaning("parameters by their names, as the constructor takes them and checks them before a fit",
                     mapping(text, anything).holds)  # fmt: skip
_MODEL = instance(LinearModel, KernelModel)
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
_VOTER = {
    "model": instance(KernelModel),
    "column": wholes("updates"),
    "coefficient": numbers("updates"),
    "bias": numbers("updates"),
    "survival": numbers("updates", low=0),
}


def machine_types() -> Iterator[SavedType]:
    """Every machine of the library, and what machines are made of."""
    for name in dir(estimators):  # a class enters itself when it is imported
        getattr(estimators, name)
    yield from (machine_type(cls) for _, cls in sorted(estimators.KNOWN.items()) if is_ours(cls))
    yield SavedType("LinearModel", LinearModel, own_fields, _values, _LINEAR)
    yield SavedType("KernelModel", KernelModel, own_fields, _kernel_model, _KERNEL)
    yield SavedType("_Voter", Voter, own_fields, _voter, _VOTER)


def machine_type(cls: Any) -> SavedType:
    """How a class of machines is kept, by the fields that it declares."""
    return SavedType(cls.__name__, cls, _state, _machine, {"parameters": PARAMETERS, "model": _MODEL, **cls.fields})


def _state(machine: Any) -> Fields:
    """The state of a machine.

    What somebody notes on one of our machines is not part of it. In a class from outside the library nobody can tell
    such a note from what ``fit`` has found.
    """
    state, cls = machine.fitted_state(), type(machine)
    strange = [name for name in state["attributes"] if name not in cls.fields]
    if strange and not is_ours(cls):
        raise DataError(
            f"{cls.__name__} cannot be saved: it has an attribute {strange[0]}, and its class does not declare what "
            f"that is; write fields = {{{strange[0]!r}: schema.number()}}, or whatever it must be {guide('own parts')}."
        )
    return {**state, "attributes": {name: each for name, each in state["attributes"].items() if name not in strange}}


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
    for voter in fields.get("voters", []):
        _check_rows(voter.model, attributes)
    if "progress" in fields and fields["progress"][0].shape != (len(model.intercept), attributes["n_features_in_"] + 1):
        raise ValueError("its progress does not fit its weights")
    made = cls.from_fitted_state({**fields, "attributes": {}})
    own = {name: vars(made).get(name) for name in ("intercept_", "coef_", "support_", "dual_coef_")}
    vars(made).update(attributes)
    made.check_parameters()
    if made.n_scores() not in (None, len(model.intercept)):
        raise ValueError(f"its scores do not fit its {made.answers}")
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
    if isinstance(made, Classifier) and made.costs is not None:
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


# Estimators of tables as fields, and back: preparation, machine, and what was known of training rows.


def table_types() -> Iterator[SavedType]:
    """Every estimator of tables."""
    for cls in (TableClassifier, TableRegressor):
        yield SavedType(cls.__name__, cls, _table_state, _table, {"parameters": PARAMETERS, **cls.fields})


def _table_state(model: Any) -> Fields:
    check_is_fitted(model, "machine_")
    state = plain_state(model)
    there = {name: value for name, value in state["attributes"].items() if name in model.fields and value is not None}
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
