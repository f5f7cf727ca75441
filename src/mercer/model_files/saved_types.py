"""Fitted machines and preparation steps as JSON and arrays, and back.

A file names a class only as :data:`SAVED_TYPES` does; each entry says how a fitted object is stored and restored.
Machines say so themselves (:class:`mercer.estimators.state.FittedState`); models are the fields that they are made of.
Most steps are their parameters and their fitted attributes. A few of scikit-learn's keep private state besides: those
are restored through their own ``fit``, on rows made so that the fit cannot but find what was stored.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from sklearn.metrics._scorer import _BaseScorer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.utils.validation import check_is_fitted

from .. import estimators
from .._validation.wording import enumeration
from ..calibration import Calibrated, TunedThreshold
from ..calibration.isotonic_map import IsotonicMap
from ..calibration.sigmoid_map import SigmoidMap
from ..calibration.venn_abers import VennAbersMap
from ..estimators.model import KernelModel, LinearModel
from ..estimators.regression import Regression
from ..estimators.voters import Voter
from ..intervals import Conformal
from ..io.table import DataError
from ..kernels.engine.parts import length
from ..preprocess import (
    Constant,
    CorrelationFilter,
    DateParts,
    Filled,
    Numbers,
    OutlierFilter,
    OutlierReport,
    Texts,
    WithoutOutliers,
)
from .packed_items import ITEM_KINDS
from .packing import Packer, Unpacker

__all__ = ["SAVED_TYPES", "pack_object", "unpack_object"]

Fields = dict[str, Any]


@dataclass(frozen=True)
class _SavedType:
    """The name of a class in files, its state as values, and an object of such values, all of them checked."""

    name: str
    cls: Any
    state: Callable[[Any], Fields]
    restore: Callable[[Any, Fields], Any]


def pack_object(packer: Packer, value: Any) -> dict[str, Any]:
    """The JSON node of a machine or a step."""
    known = next((each for each in SAVED_TYPES.values() if each.cls is type(value)), None)
    if known is None:
        name = f"{type(value).__module__}.{type(value).__name__}"
        if hasattr(value, "best_estimator_"):
            raise DataError(f"a {name} cannot be saved in a model file, but what it found can: its .best_estimator_.")
        these = enumeration((known for known in SAVED_TYPES if known[0] != "_"), len(SAVED_TYPES))
        raise DataError(f"a {name} cannot be saved in a model file; these can: {these}.")
    try:
        state = known.state(value)
    except NotFittedError:
        raise DataError(f"{type(value).__name__} is not fitted yet; only fitted models can be saved.") from None
    return {"object": known.name, "fields": {key: packer.pack(item) for key, item in state.items()}}


def unpack_object(unpacker: Unpacker, node: dict[str, Any]) -> Any:
    """The machine or step of a JSON node."""
    known = SAVED_TYPES.get(node["object"])
    if known is None:
        raise ValueError(f"it holds an unknown kind of step, {node['object'][:40]!r}")
    return known.restore(known.cls, {str(key): unpacker.unpack(item) for key, item in node["fields"].items()})


# -- parameters and fitted attributes -----------------------------------------------------------------------------


def _plain_state(value: Any) -> Fields:
    attributes = {name: item for name, item in vars(value).items() if _is_attribute(name)}
    return {"parameters": value.get_params(deep=False), "attributes": attributes}


def _plain(cls: Any, fields: Fields) -> Any:
    _check_attributes(fields)
    made = cls(**fields["parameters"])
    vars(made).update(fields["attributes"])
    return made


def _is_attribute(name: str) -> bool:
    """Whether this is the name of a fitted attribute that users read."""
    return name.endswith("_") and name.isidentifier() and not name.startswith("_")


def _check_attributes(fields: Fields) -> None:
    strange = next((name for name in fields["attributes"] if not _is_attribute(name)), None)
    if strange is not None:
        raise ValueError(f"it names an attribute {strange[:40]!r}")


# -- machines -----------------------------------------------------------------------------------------------------


def _machine(cls: Any, fields: Fields) -> Any:
    model = fields["model"]
    if not isinstance(model, (LinearModel, KernelModel)):
        raise ValueError("its model is of an unknown kind")
    _check_attributes(fields)
    _check_shapes(cls, model, fields["attributes"], fields["parameters"].get("strategy", "ovr"))
    return cls.from_fitted_state(fields)


def _check_shapes(cls: type, model: Any, attributes: Fields, strategy: str) -> None:
    """Refuse arrays that do not fit together, which a prediction would stumble over or, worse, not."""
    scores, width = model.coef.shape
    if model.intercept.shape != (scores,):
        raise ValueError("its intercepts do not fit its weights")
    if isinstance(model, KernelModel) and not model.kernel.on_rows:
        if model.support.shape != (width,) or not isinstance(model.items, ITEM_KINDS) or length(model.items) != width:
            raise ValueError("its support items do not fit its coefficients")
        _try_items(model)
    else:
        _check_rows(model, width, attributes["n_features_in_"])
    if issubclass(cls, Regression):
        quantiles, shape = attributes.get("quantiles_"), attributes.get("target_shape_", ())
        if scores != (math.prod(shape) if quantiles is None else len(quantiles)):
            raise ValueError("its scores do not fit its targets")
    elif issubclass(cls, ClassifierMixin):
        classes = len(attributes["classes_"])
        pairs = classes * (classes - 1) // 2
        expected = 1 if classes == 2 else pairs if strategy == "ovo" else classes
        if classes < 2 or scores != (classes if attributes.get("multilabel_") is True else expected):
            raise ValueError("its scores do not fit its classes")


def _check_rows(model: Any, width: int, features: int) -> None:
    if isinstance(model, KernelModel):
        items = model.items
        if model.support.shape != (width,):
            raise ValueError("its coefficients do not fit its support rows")
        if items is not None and items.shape != (width, features):
            raise ValueError("its support rows do not fit its coefficients")
        if items is None and not model.kernel.precomputed:
            raise ValueError("its support rows are missing")
        if items is None and width and not 0 <= model.support.min() <= model.support.max() < features:
            raise ValueError("its support rows are out of range")
    elif width != features:
        raise ValueError("its weights do not fit its features")


def _try_items(model: KernelModel) -> None:
    """Refuse items of another kind than the kernel compares, before a prediction stumbles over them."""
    try:
        model.kernel.matrix(model.kernel.items(model.items[:1]), model.items[:1])
    except (AttributeError, LookupError, TypeError) as error:
        raise ValueError(f"its support items are not what its kernel compares ({type(error).__name__})") from None


def _own_fields(model: Any) -> Fields:
    """All that a dataclass is made of, without what it has worked out from that for itself."""
    return {each.name: getattr(model, each.name) for each in dataclasses.fields(model)}


def _values(cls: Any, fields: Fields) -> Any:
    return cls(**fields)


def _voter(cls: Any, fields: Fields) -> Voter:
    made: Voter = cls(**fields)
    if made.column.size and not 0 <= made.column.min() <= made.column.max() < made.model.support.size:
        raise ValueError("its votes do not fit its support rows")
    return made


# -- steps of scikit-learn whose state is not all public ----------------------------------------------------------


def _named(made: Any, fields: Fields) -> Any:
    if fields.get("names") is not None:
        made.feature_names_in_ = fields["names"]
    return made


def _names(value: Any) -> Any:
    return getattr(value, "feature_names_in_", None)


def _imputer_state(step: SimpleImputer) -> Fields:
    gaps = step.indicator_.features_ if step.add_indicator else np.empty(0, np.int64)
    return {
        "parameters": step.get_params(deep=False),
        "statistics": step.statistics_,
        "gaps": gaps,
        "names": _names(step),
    }


def _imputer(cls: Any, fields: Fields) -> Any:
    # The mean, median and most frequent value of one row are that row itself, also beside one with gaps.
    whole = np.atleast_2d(fields["statistics"])
    gaps = fields.get("gaps", [])  # files of older versions say nothing of gaps
    rows = np.vstack([whole, whole]) if len(gaps) else whole
    rows[1:, gaps] = np.nan
    return _named(cls(**fields["parameters"]).fit(rows), fields)


def _encoder_state(step: OneHotEncoder) -> Fields:
    parameters = {"handle_unknown": step.handle_unknown, "sparse_output": step.sparse_output}
    rare = None
    if step.min_frequency is not None:
        parameters["min_frequency"] = step.min_frequency
        rare = [np.empty(0, object) if words is None else words for words in step.infrequent_categories_]
    return {"parameters": parameters, "categories": list(step.categories_), "rare": rare, "names": _names(step)}


def _encoder(cls: Any, fields: Fields) -> Any:
    made: Any = cls(**fields["parameters"])
    categories, rare = fields["categories"], fields.get("rare")
    rows = np.array([[words[0] for words in categories]], dtype=object)
    if rare is not None:
        rows = _rows_of_frequencies(categories[0], rare[0], int(fields["parameters"]["min_frequency"]))
    return _named(made.set_params(categories=categories).fit(rows).set_params(categories="auto"), fields)


def _rows_of_frequencies(words: Any, rare: Any, frequent: int) -> Any:
    """A column in which rare words stand once and all others as often as frequent ones must."""
    few = {None if word != word else word for word in rare}
    times = [1 if (None if word != word else word) in few else frequent for word in words]
    return np.repeat(np.asarray(words, dtype=object), times)[:, None]


def _expansion_state(step: PolynomialFeatures) -> Fields:
    return {"parameters": step.get_params(deep=False), "width": step.n_features_in_, "names": _names(step)}


def _expansion(cls: Any, fields: Fields) -> Any:
    return _named(cls(**fields["parameters"]).fit(np.zeros((1, int(fields["width"])))), fields)


def _pipeline(cls: Any, fields: Fields) -> Any:
    return cls([(str(name), step) for name, step in fields["steps"]])


def _column_state(value: ColumnTransformer) -> Fields:
    parts = [[name, step, list(columns)] for name, step, columns in value.transformers_ if name != "remainder"]
    known = {"names": value.feature_names_in_, "threshold": value.sparse_threshold, "sparse": value.sparse_output_}
    return {"parts": parts, **known}


def _column_transformer(cls: Any, fields: Fields) -> ColumnTransformer:
    """Fitted on one made-up row for the sake of its private state; then given the steps that were stored."""
    import pandas as pd

    parts = [(str(name), step, [str(column) for column in columns]) for name, step, columns in fields["parts"]]
    row: dict[str, list[Any]] = {str(name): [0.0] for name in fields["names"]}
    blank = []
    for name, step, columns in parts:
        unfitted = clone(step)
        if isinstance(step, OneHotEncoder) and step.min_frequency is None:
            unfitted.set_params(categories=step.categories_)
            row.update({column: [words[0]] for column, words in zip(columns, step.categories_, strict=True)})
        blank.append((name, unfitted, columns))
    made = cls(blank, sparse_threshold=fields["threshold"], verbose_feature_names_out=False)
    made.fit(pd.DataFrame(row))
    made.transformers_ = parts
    made.sparse_output_ = bool(fields.get("sparse", made.sparse_output_))  # a row without zeros is no sparse one
    return made.set_params(**{name: clone(step) for name, step, _ in parts})


def _filtered_state(model: WithoutOutliers) -> Fields:
    return {"estimator": model.estimator_, "filter": model.filter_}


def _without_outliers(cls: Any, fields: Fields) -> WithoutOutliers:
    made = cls(clone(fields["estimator"]), clone(fields["filter"]))
    made.estimator_, made.filter_, made.report_ = fields["estimator"], fields["filter"], fields["filter"].report_
    return made


def _calibrated_state(model: Calibrated) -> Fields:
    check_is_fitted(model, "maps_")
    parameters = {name: getattr(model, name) for name in ("method", "costs", "memory")}
    return {"estimator": model.estimator_, "maps": model.maps_, "pairs": model.pairs_, "parameters": parameters}


def _calibrated(cls: Any, fields: Fields) -> Calibrated:
    made = cls(clone(fields["estimator"]), **fields["parameters"])
    made.estimator_, made.maps_, made.pairs_ = fields["estimator"], fields["maps"], bool(fields["pairs"])
    _pass_through(made)
    made.classes_ = made.estimator_.classes_
    k = len(made.classes_)
    if len(made.maps_) != (1 if k == 2 else k * (k - 1) // 2 if made.pairs_ else k):
        raise ValueError("its maps do not fit its classes")
    return made


def _threshold_state(model: TunedThreshold) -> Fields:
    check_is_fitted(model, "estimator_")
    scoring = model.scoring
    if isinstance(scoring, _BaseScorer):  # a measure of one class, such as F1: by its name, and that class
        names = [name for name in get_scorer_names() if get_scorer(name)._score_func is scoring._score_func]
        if set(scoring._kwargs) <= {"pos_label", "zero_division"} and names:
            scoring = {"name": names[0], "positive": scoring._get_pos_label()}
    parameters = {"scoring": scoring, "response_method": model.response_method}
    found = {"best_threshold": model.best_threshold_, "best_score": model.best_score_}
    return {"estimator": model.estimator_, "parameters": parameters, **found}


def _threshold(cls: Any, fields: Fields) -> TunedThreshold:
    parameters = fields["parameters"]
    if isinstance(scoring := parameters["scoring"], dict):
        score = get_scorer(scoring["name"])._score_func
        parameters = {**parameters, "scoring": make_scorer(score, pos_label=scoring["positive"])}
    made = cls(clone(fields["estimator"]), **parameters)
    made.estimator_ = fields["estimator"]
    made.best_threshold_, made.best_score_ = float(fields["best_threshold"]), float(fields["best_score"])
    made._curve_scorer = made._get_curve_scorer()
    _pass_through(made)
    return made


def _pass_through(made: Any) -> None:
    """What a model knows of its rows because the estimator inside does."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(made.estimator_, name):
            setattr(made, name, getattr(made.estimator_, name))


def _conformal(cls: Any, fields: Fields) -> Conformal:
    made: Conformal = cls.from_fitted_state(fields)
    machines = len(made._machines) if made._without is None else made._without.coef.shape[0]
    owner, sizes = made._owner, {made.errors_.shape, made._owner.shape, made._weights.shape}
    if len(sizes) > 1 or not owner.size or not 0 <= owner.min() <= owner.max() < machines:
        raise ValueError("its errors do not fit its machines")
    return made


def _types() -> Iterator[_SavedType]:
    cls: Any
    for cls in (getattr(estimators, name) for name in estimators.__all__):
        yield _SavedType(cls.__name__, cls, cls.fitted_state, _machine)
    for cls in (LinearModel, KernelModel, OutlierReport):
        yield _SavedType(cls.__name__, cls, _own_fields, _values)
    for cls in (StandardScaler, MinMaxScaler, MaxAbsScaler, Numbers, CorrelationFilter, Constant, OutlierFilter,
                DateParts, Filled, Texts):  # fmt: skip
        yield _SavedType(cls.__name__, cls, _plain_state, _plain)
    for cls in (SigmoidMap, IsotonicMap, VennAbersMap):
        yield _SavedType(f"_{cls.__name__}", cls, _own_fields, _values)
    yield _SavedType("Calibrated", Calibrated, _calibrated_state, _calibrated)
    yield _SavedType("TunedThreshold", TunedThreshold, _threshold_state, _threshold)
    yield _SavedType("_Voter", Voter, _own_fields, _voter)
    yield _SavedType("SimpleImputer", SimpleImputer, _imputer_state, _imputer)
    yield _SavedType("OneHotEncoder", OneHotEncoder, _encoder_state, _encoder)
    yield _SavedType("PolynomialFeatures", PolynomialFeatures, _expansion_state, _expansion)
    yield _SavedType("Pipeline", Pipeline, lambda it: {"steps": [list(step) for step in it.steps]}, _pipeline)
    yield _SavedType("ColumnTransformer", ColumnTransformer, _column_state, _column_transformer)
    yield _SavedType("Conformal", Conformal, Conformal.fitted_state, _conformal)
    yield _SavedType("WithoutOutliers", WithoutOutliers, _filtered_state, _without_outliers)


#: Everything that a model file can hold, by the name it has there.
SAVED_TYPES: dict[str, _SavedType] = {each.name: each for each in _types()}
