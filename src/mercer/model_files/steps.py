"""Fitted machines and preparation steps as JSON and arrays, and back.

A file names a class only by its key in :data:`KINDS`; each kind says how a fitted object is stored and restored. Most
objects are their parameters and their fitted attributes. A few of scikit-learn's keep private state besides: those are
restored through their own ``fit``, on rows made so that the fit cannot but find what was stored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, PolynomialFeatures, StandardScaler

from ..estimators import SVC, KernelClassifier, KernelRegressor, Pegasos, Perceptron
from ..estimators.model import KernelModel, LinearModel
from ..estimators.perceptron import _Voter
from ..io.table import DataError
from ..kernels.engine.parts import length
from ..preprocess import Constant, CorrelationFilter, Numbers, OutlierFilter, OutlierReport, WithoutOutliers
from .packed_items import ITEM_KINDS
from .packing import Packer, Unpacker

__all__ = ["KINDS", "pack_object", "unpack_object"]

Fields = dict[str, Any]


@dataclass(frozen=True)
class _Kind:
    cls: type
    fields: Callable[[Any], Fields]
    restore: Callable[[type, Fields], Any]


def pack_object(packer: Packer, value: Any) -> dict[str, Any]:
    """The JSON node of a machine or a step."""
    name = type(value).__name__
    kind = KINDS.get(name)
    if kind is None or kind.cls is not type(value):
        known = ", ".join(key for key, kind in KINDS.items() if key[0] != "_")
        raise DataError(f"a {type(value).__module__}.{name} cannot be saved in a model file; these can: {known}.")
    return {"object": name, "fields": {key: packer.pack(item) for key, item in kind.fields(value).items()}}


def unpack_object(unpacker: Unpacker, node: dict[str, Any]) -> Any:
    """The machine or step of a JSON node."""
    kind = KINDS.get(node["object"])
    if kind is None:
        raise ValueError(f"it holds an unknown kind of step, {node['object'][:40]!r}")
    return kind.restore(kind.cls, {str(key): unpacker.unpack(item) for key, item in node["fields"].items()})


# -- parameters and fitted attributes -----------------------------------------------------------------------------


def _parameters(value: Any) -> Fields:
    found = value.get_params(deep=False)
    if not isinstance(found.get("random_state", 0), (int, np.integer)):
        found["random_state"] = None  # a generator has moved on since; a restored machine may draw anew
    return found


def _attributes(value: Any) -> Fields:
    return {
        name: item
        for name, item in vars(value).items()
        if name.endswith("_") and not name.startswith("_") and name not in ("support_vectors_", "kernel_")
    }


def _plain_fields(value: Any) -> Fields:
    return {"parameters": _parameters(value), "attributes": _attributes(value)}


def _plain(cls: type, fields: Fields) -> Any:
    return _with_attributes(cls(**fields["parameters"]), fields)


def _with_attributes(made: Any, fields: Fields) -> Any:
    for name, item in fields["attributes"].items():
        if not (name.endswith("_") and name.isidentifier() and not name.startswith("_")):
            raise ValueError(f"it names an attribute {name[:40]!r}")
        setattr(made, name, item)
    return made


# -- machines -----------------------------------------------------------------------------------------------------


def _machine_fields(value: Any) -> Fields:
    if not hasattr(value, "_model"):
        raise DataError(f"{type(value).__name__} is not fitted yet; only fitted models can be saved.")
    fields = {**_plain_fields(value), "model": value._model}
    if getattr(value, "_voters", None):
        fields["voters"] = value._voters
    if hasattr(value, "_sums"):
        fields["progress"] = [value._sums, value._steps]
    # Checkpoints and row numbers belong to one run of fit, not to its result.
    if "checkpoints" in fields["parameters"]:
        fields["parameters"]["checkpoints"] = None
    if not isinstance(fields["parameters"].get("sampling", ""), str):
        fields["parameters"]["sampling"] = "replace"
    return fields


def _machine(cls: type, fields: Fields) -> Any:
    model = fields["model"]
    if not isinstance(model, (LinearModel, KernelModel)):
        raise ValueError("its model is of an unknown kind")
    _check_shapes(cls, model, fields["attributes"], fields["parameters"].get("strategy", "ovr"))
    made: Any = cls(**fields["parameters"])
    made._publish(model)
    _with_attributes(made, fields)
    made._stage_models = []
    if isinstance(made, Perceptron):
        made._voters = fields.get("voters", [])
    if "progress" in fields:
        made._sums, made._steps = fields["progress"]
    return made


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
    if cls is not KernelRegressor:
        classes = len(attributes["classes_"])
        pairs = classes * (classes - 1) // 2
        if classes < 2 or scores != (1 if classes == 2 else pairs if strategy == "ovo" else classes):
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


def _model_fields(model: Any) -> Fields:
    """All that the model is made of, without what it has worked out from that for itself."""
    return {name: value for name, value in vars(model).items() if not name.startswith("_")}


def _values(cls: type, fields: Fields) -> Any:
    return cls(**fields)


def _voter(cls: type, fields: Fields) -> _Voter:
    made = _Voter.__new__(_Voter)
    made.model, made.column = fields["model"], fields["column"]
    made.coefficient, made.bias, made.survival = fields["coefficient"], fields["bias"], fields["survival"]
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


def _imputer(cls: type, fields: Fields) -> Any:
    # The mean, median and most frequent value of one row are that row itself.
    return _named(cls(**fields["parameters"]).fit(np.atleast_2d(fields["statistics"])), fields)


def _encoder(cls: type, fields: Fields) -> Any:
    made: Any = cls(**fields["parameters"])
    categories = fields["categories"]
    row = np.array([[words[0] for words in categories]], dtype=object)
    return _named(made.set_params(categories=categories).fit(row).set_params(categories="auto"), fields)


def _expansion(cls: type, fields: Fields) -> Any:
    return _named(cls(**fields["parameters"]).fit(np.zeros((1, int(fields["width"])))), fields)


def _pipeline(cls: type, fields: Fields) -> Any:
    return cls([(str(name), step) for name, step in fields["steps"]])


def _column_fields(value: ColumnTransformer) -> Fields:
    parts = [[name, step, list(columns)] for name, step, columns in value.transformers_ if name != "remainder"]
    return {"parts": parts, "names": value.feature_names_in_, "threshold": value.sparse_threshold}


def _column_transformer(cls: type, fields: Fields) -> ColumnTransformer:
    """Fitted on one made-up row for the sake of its private state; then given the steps that were stored."""
    import pandas as pd

    parts = [(str(name), step, [str(column) for column in columns]) for name, step, columns in fields["parts"]]
    row: dict[str, list[Any]] = {str(name): [0.0] for name in fields["names"]}
    blank = []
    for name, step, columns in parts:
        unfitted = clone(step)
        if isinstance(step, OneHotEncoder):
            unfitted.set_params(categories=step.categories_)
            row.update({column: [words[0]] for column, words in zip(columns, step.categories_, strict=True)})
        blank.append((name, unfitted, columns))
    made = cls(blank, sparse_threshold=fields["threshold"], verbose_feature_names_out=False)
    made.fit(pd.DataFrame(row))
    made.transformers_ = parts
    return made.set_params(**{name: clone(step) for name, step, _ in parts})


def _without_outliers(cls: type, fields: Fields) -> WithoutOutliers:
    made = cls(clone(fields["estimator"]), clone(fields["filter"]))
    made.estimator_, made.filter_, made.report_ = fields["estimator"], fields["filter"], fields["filter"].report_
    return made


#: Everything that a model file can hold, by the name it has there.
KINDS: dict[str, _Kind] = {
    **{
        cls.__name__: _Kind(cls, _machine_fields, _machine)
        for cls in (SVC, KernelClassifier, KernelRegressor, Pegasos, Perceptron)
    },
    **{cls.__name__: _Kind(cls, _model_fields, _values) for cls in (LinearModel, KernelModel, OutlierReport)},
    **{
        cls.__name__: _Kind(cls, _plain_fields, _plain)
        for cls in (StandardScaler, MinMaxScaler, MaxAbsScaler, Numbers, CorrelationFilter, Constant, OutlierFilter)
    },
    "_Voter": _Kind(_Voter, _model_fields, _voter),
    "SimpleImputer": _Kind(
        SimpleImputer,
        lambda it: {"parameters": _parameters(it), "statistics": it.statistics_, "names": _names(it)},
        _imputer,
    ),
    "OneHotEncoder": _Kind(
        OneHotEncoder,
        lambda it: {
            "parameters": {"handle_unknown": it.handle_unknown, "sparse_output": it.sparse_output},
            "categories": list(it.categories_),
            "names": _names(it),
        },
        _encoder,
    ),
    "PolynomialFeatures": _Kind(
        PolynomialFeatures,
        lambda it: {"parameters": _parameters(it), "width": it.n_features_in_, "names": _names(it)},
        _expansion,
    ),
    "Pipeline": _Kind(Pipeline, lambda it: {"steps": [list(step) for step in it.steps]}, _pipeline),
    "ColumnTransformer": _Kind(ColumnTransformer, _column_fields, _column_transformer),
    "WithoutOutliers": _Kind(
        WithoutOutliers, lambda it: {"estimator": it.estimator_, "filter": it.filter_}, _without_outliers
    ),
}  # fmt: skip
