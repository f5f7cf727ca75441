"""Steps before a machine as fields, and back.

Most steps are their parameters and their fitted attributes. A few of scikit-learn's keep private state besides: those
are restored through their own ``fit``, on rows made so that the fit cannot but find what was stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import comb
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from sklearn.metrics._scorer import _BaseScorer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    Binarizer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.utils.validation import check_is_fitted

from ..calibration import Calibrated, TunedThreshold
from ..calibration.calibrated import CalibrationMap, IsotonicMap, SigmoidMap, VennAbersMap
from ..checks.parameters import bytes_of, is_number
from ..checks.parameters import choice as check_choice
from ..checks.parameters import number as check_number
from ..checks.schema import (
    Meaning,
    Sizes,
    anything,
    choice,
    flag,
    instance,
    list_of,
    mapping,
    names,
    nothing,
    number,
    numbers,
    optional,
    text,
    tuple_of,
    whole,
    wholes,
)
from ..composition import machine_of
from ..estimators.base import KernelMachine
from ..estimators.classifier import cost_matrix
from ..estimators.model import KernelModel, LinearModel
from ..intervals import Conformal
from ..io.table import DataError
from ..messages import enumeration
from ..preprocess import (
    Clipped,
    Constant,
    CorrelationFilter,
    DateParts,
    Filled,
    Numbers,
    OutlierFilter,
    OutlierReport,
    ReadColumns,
    Standardised,
    Texts,
    WithoutOutliers,
)
from ..preprocess.transformers import TARGET_TRANSFORMS
from .saved_machines import PARAMETERS
from .saved_type import Fields, SavedType, own_fields, plain, plain_state, refuse_layers

__all__ = ["step_types", "wrapper_types"]

#: Products of columns that a step may add. A kernel makes do without them.
_MOST_PRODUCTS = 2**18
_HIGHEST_DEGREE = 100
#: How far on average a key may lie from its place in a table that is at most half full: about ½ where keys are mixed.
_FAR = 16

_SIZE = {"n_features_in_": whole(size="columns"), "feature_names_in_": optional(names("columns"))}
_PER_COLUMN = nothing | numbers("columns", missing=True)
_SCALE = nothing | numbers("columns", low=5e-324, missing=True)
_SEEN = {"n_samples_seen_": number(0) | numbers("columns", low=0) | wholes("columns")}
_NAMES = {"names": optional(nothing | names("columns"))}
_REPORT = {
    "rows": whole(),
    "dropped": whole(),
    "by_class": mapping(anything, tuple_of(whole(), whole())),
    "by_column": mapping(text | whole(), whole()),
}


def _holds_words(value: Any, sizes: Sizes) -> bool:
    return (
        isinstance(value, np.ndarray)
        and value.dtype == object
        and value.ndim == 1
        and all(isinstance(word, str) or word != word for word in value.tolist())
    )


def _holds_categories(value: Any, sizes: Sizes) -> bool:
    plain = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "fiubU"
    return plain or _holds_words(value, sizes)


def _holds_keys(value: Any, sizes: Sizes) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.uint64 and value.ndim == 1


_words = Meaning("words, or missing ones", _holds_words)
_categories = Meaning("words, or missing ones, or numbers", _holds_categories)
_keys = Meaning("numbers of 64 bits, rising", _holds_keys)


def step_types() -> Iterator[SavedType]:
    """Every step, and what steps are made of."""
    spread = {"mean_": _PER_COLUMN, "var_": _PER_COLUMN, "scale_": _SCALE, **_SEEN}
    ends = {"min_": _PER_COLUMN, "scale_": _SCALE, **_SEEN}
    ends |= {"data_min_": _PER_COLUMN, "data_max_": _PER_COLUMN, "data_range_": _PER_COLUMN}
    largest = {"max_abs_": _PER_COLUMN, "scale_": _SCALE, **_SEEN}
    middle = {"center_": _PER_COLUMN, "scale_": _SCALE}
    scalers = ((StandardScaler, spread), (MinMaxScaler, ends), (MaxAbsScaler, largest), (RobustScaler, middle))
    for cls, own in (*scalers, (Normalizer, {}), (Binarizer, {})):
        yield _plain_type(cls, {**_SIZE, **own})
    shares = {"n_quantiles_": whole(1), "references_": numbers("quantiles", low=0, high=1, rising=True)}
    shares |= {"quantiles_": numbers("quantiles", "columns", rising=True)}
    yield _plain_type(QuantileTransformer, {**_SIZE, **shares}, _quantiles)
    powers = {"lambdas": numbers("columns"), "scaler": nothing | instance(StandardScaler)}
    yield _rebuilt_type(PowerTransformer, powers, _powers_state, _powers)
    bins = {"edges": list_of(numbers("", rising=True), "columns")}
    yield _rebuilt_type(KBinsDiscretizer, bins, _bins_state, _bins)
    known = {"words_": mapping(text, _words), "ranges_": optional(mapping(text, tuple_of(number(), number())))}
    yield _plain_type(ReadColumns, {**_SIZE, **known}, _read_columns)
    inside = {"mean_": numbers("columns", missing=True), "scale_": numbers("columns", low=5e-324, missing=True)}
    yield _plain_type(Standardised, {**_SIZE, **inside, "reach_": numbers("columns", low=1)}, _standardised)
    yield _plain_type(Numbers, {"columns_": names("kept") | wholes("kept")})
    kept = {"kept_": wholes("kept", below="columns"), "groups_": mapping(text | whole(), list_of(text | whole()))}
    yield _plain_type(CorrelationFilter, {**_SIZE, **kept}, _correlation_filter)
    yield _plain_type(Constant, _SIZE)
    yield _plain_type(Clipped, _SIZE, _clipped)
    bounds = {"low_": numbers("looked at", infinite=True), "high_": numbers("looked at", infinite=True)}
    looked = {"columns_": list_of(text | whole(), "looked at"), "report_": instance(OutlierReport)}
    yield _plain_type(OutlierFilter, {**_SIZE, **looked, **bounds}, _outlier_filter)
    part = choice("season", "weekday", "hour", "missing")
    dates = {"first_": numbers("columns"), "middle_": numbers("columns"), "parts_": list_of(list_of(part), "columns")}
    dates["last_"] = optional(numbers("columns"))
    yield _plain_type(DateParts, {**_SIZE, **dates}, _date_parts)
    kind = choice("numbers", "dates", "words", "texts")
    filled = {"columns_": list_of(text, "columns"), "kinds_": list_of(kind, "columns")}
    yield _plain_type(Filled, {**filled, "medians_": numbers("columns", missing=True)}, _filled)
    counted = {"keys_": list_of(_keys), "importance_": list_of(numbers("", low=0)), "terms_": list_of(names(""))}
    yield _plain_type(Texts, {**_SIZE, **counted}, _texts)
    yield SavedType("OutlierReport", OutlierReport, own_fields, lambda cls, fields: cls(**fields), _REPORT)
    known = {"statistics": numbers("columns", missing=True) | _words}
    gaps = {"gaps": optional(wholes("gaps", below="columns"))}
    yield _rebuilt_type(SimpleImputer, {**known, **gaps}, _imputer_state, _imputer)
    encoding = {"categories": list_of(_categories, "columns")}
    encoding |= {"rare": optional(nothing | list_of(_categories, "columns"))}
    yield _rebuilt_type(OneHotEncoder, encoding, _encoder_state, _encoder)
    width = {"width": whole(1, size="columns")}
    yield _rebuilt_type(PolynomialFeatures, width, lambda step: {"width": step.n_features_in_}, _expansion)
    steps = {"steps": list_of(tuple_of(text, anything))}
    yield SavedType("Pipeline", Pipeline, lambda it: {"steps": [list(step) for step in it.steps]}, _pipeline, steps)
    parts = {"parts": list_of(tuple_of(text, anything, list_of(text))), "names": names("columns")}
    parts |= {"threshold": number(0, 1), "sparse": optional(flag)}
    yield SavedType("ColumnTransformer", ColumnTransformer, _column_state, _column_transformer, parts)


def _plain_type(cls: Any, meanings: dict[str, Meaning], check: Callable[[Any], None] | None = None) -> SavedType:
    """A step that is its parameters and its fitted attributes, and what else must be true of it."""

    def restore(cls: Any, fields: Fields) -> Any:
        made = plain(cls, fields)
        if check is not None:
            check(made)
        return made

    return SavedType(cls.__name__, cls, plain_state, restore, {"parameters": PARAMETERS, **meanings})


def _rebuilt_type(
    cls: Any, meanings: dict[str, Meaning], state: Callable[[Any], Fields], rebuild: Callable[[Any, Fields], Any]
) -> SavedType:
    """A step that is fitted anew for its private state, by its parameters and what ``state`` keeps of it."""

    def kept(step: Any) -> Fields:
        check_is_fitted(step)
        names_of_columns = getattr(step, "feature_names_in_", None)
        return {"parameters": step.get_params(deep=False), **state(step), "names": names_of_columns}

    def restore(cls: Any, fields: Fields) -> Any:
        made = cls(**fields["parameters"])
        made._validate_params()
        made = rebuild(made, fields)
        if fields.get("names") is not None:
            made.feature_names_in_ = fields["names"]
        return made

    return SavedType(cls.__name__, cls, kept, restore, {"parameters": PARAMETERS, **meanings, **_NAMES})


def _correlation_filter(step: CorrelationFilter) -> None:
    if not (is_number(step.threshold) and 0 < step.threshold <= 1):
        raise ValueError("the threshold of a CorrelationFilter must be between 0 and 1")


def _read_columns(step: ReadColumns) -> None:
    step.check_parameters()


def _standardised(step: Standardised) -> None:
    if not (is_number(step.limit) and step.limit > 1):
        raise ValueError("the limit of a Standardised must be a number above 1")


def _outlier_filter(step: OutlierFilter) -> None:
    step._factor()


def _date_parts(step: DateParts) -> None:
    if any(len(set(parts)) < len(parts) for parts in step.parts_):
        raise ValueError("its dates have a part twice")


def _filled(step: Filled) -> None:
    needed = np.array([kind in ("numbers", "dates") for kind in step.kinds_], dtype=bool)
    if np.isnan(step.medians_[needed]).any() or len(set(step.columns_)) < len(step.columns_):
        raise ValueError("its medians do not fit its columns")


def _quantiles(step: QuantileTransformer) -> None:
    if step.n_quantiles_ != step.references_.size or not step.references_.size:
        raise ValueError("its quantiles are not those of its shares")


def _clipped(step: Clipped) -> None:
    if not (is_number(step.limit) and step.limit > 0):
        raise ValueError("its limit is no number greater than 0")


def _texts(step: Texts) -> None:
    step.check_parameters()
    if not len(step.keys_) == len(step.importance_) == len(step.terms_) == len(step.counted_units):
        raise ValueError("its keys are not those of texts")
    together = zip(step.keys_, step.importance_, step.terms_, strict=True)
    if any(not keys.size == importance.size == terms.size for keys, importance, terms in together):
        raise ValueError("its terms do not fit their weights")
    if any(map(_no_keys, step.keys_)):
        raise ValueError("its keys are not those of texts")


def _no_keys(keys: Any) -> bool:
    """Whether numbers are no keys: those are sorted, and their last bits spread over a table of twice as many places.

    Key i of those in the order of their places pᵢ goes to the first free place from there on, which is
    i + maxⱼ≤ᵢ (pⱼ − j). Numbers that all want the same place would be looked for for ever.
    """
    if not keys.size:
        return False
    size = max(2, 1 << (2 * keys.size).bit_length())
    wanted = np.sort(keys & np.uint64(size - 1)).astype(np.int64)
    order = np.arange(keys.size)
    given = order + np.maximum.accumulate(wanted - order)
    return bool((keys[1:] <= keys[:-1]).any()) or float(np.mean(given - wanted)) > _FAR


# -- steps of scikit-learn whose state is not all public ----------------------------------------------------------


def _powers_state(step: PowerTransformer) -> Fields:
    return {"lambdas": step.lambdas_.astype(np.float64), "scaler": step._scaler if step.standardize else None}


def _powers(made: Any, fields: Fields) -> Any:
    scaler = fields["scaler"]
    made.lambdas_ = fields["lambdas"]
    made.n_features_in_ = made.lambdas_.size
    if (scaler is None) is bool(made.standardize) or (
        scaler is not None and scaler.n_features_in_ != made.lambdas_.size
    ):
        raise ValueError("its scaler does not fit its powers")
    if scaler is not None:
        made._scaler = scaler.set_output(transform="default")
    return made


def _bins_state(step: KBinsDiscretizer) -> Fields:
    if step.dtype is not None:
        raise DataError("a KBinsDiscretizer with dtype cannot be saved; leave it out.")
    return {"edges": [each.astype(np.float64) for each in step.bin_edges_]}


def _bins(made: Any, fields: Fields) -> Any:
    edges = fields["edges"]
    if not edges or any(each.size < 2 for each in edges):
        raise ValueError("its columns have no bins")
    made.n_features_in_ = len(edges)
    made.n_bins_ = np.array([each.size - 1 for each in edges])
    made.bin_edges_ = np.empty(len(edges), dtype=object)
    made.bin_edges_[:] = edges
    if made.encode != "ordinal":
        codes = [np.arange(count) for count in made.n_bins_]
        made._encoder = OneHotEncoder(categories=codes, sparse_output=made.encode == "onehot")
        made._encoder.fit(np.zeros((1, len(edges))))
    return made


def _imputer_state(step: SimpleImputer) -> Fields:
    gaps = step.indicator_.features_ if step.add_indicator else np.empty(0, np.int64)
    return {"statistics": step.statistics_, "gaps": gaps}


def _imputer(made: Any, fields: Fields) -> Any:
    # The mean, median and most frequent value of one row are that row itself, also beside one with gaps.
    whole = np.atleast_2d(fields["statistics"])
    gaps = fields.get("gaps", [])  # files of older versions say nothing of gaps
    rows = np.vstack([whole, whole]) if len(gaps) else whole
    rows[1:, gaps] = np.nan
    made.fit(rows)
    if not all(a == b or (a != a and b != b) for a, b in zip(made.statistics_, whole[0], strict=True)):
        raise ValueError("its statistics are not those of its columns")
    return made


def _encoder_state(step: OneHotEncoder) -> Fields:
    if step.drop is not None or step.max_categories is not None or step.dtype is not np.float64:
        raise DataError("a OneHotEncoder with drop, max_categories or dtype cannot be saved; leave them out.")
    parameters = {"handle_unknown": step.handle_unknown, "sparse_output": step.sparse_output}
    rare = None
    if step.min_frequency is not None:
        parameters["min_frequency"] = step.min_frequency
        rare = [np.empty(0, object) if words is None else words for words in step.infrequent_categories_]
    return {"parameters": parameters, "categories": list(step.categories_), "rare": rare}


def _encoder(made: Any, fields: Fields) -> Any:
    parameters, categories, rare = fields["parameters"], fields["categories"], fields.get("rare")
    if not categories or not all(words.size for words in categories):
        raise ValueError("its encoder has a column without categories")
    first = np.empty((1, len(categories)), dtype=object)
    first[0] = [words[0] for words in categories]
    made.set_params(categories=categories)
    if rare is not None:
        made.set_params(min_frequency=2)
    made.fit(first)
    if rare is not None:
        # Rare words are those counted once where twice is frequent.
        once = [{_plain_word(word) for word in words.tolist()} for words in rare]
        words_of = [[_plain_word(word) for word in words.tolist()] for words in categories]
        counts = [
            np.array([1 if word in few else 2 for word in words]) for words, few in zip(words_of, once, strict=True)
        ]
        made._fit_infrequent_category_mapping(2, counts, {})
        made._set_drop_idx()
        made._n_features_outs = made._compute_n_features_outs()
    return made.set_params(categories="auto", min_frequency=parameters.get("min_frequency"))


def _plain_word(word: Any) -> Any:
    return None if word != word else word


def _expansion(made: Any, fields: Fields) -> Any:
    width = int(fields["width"])
    highest = max(made.degree) if isinstance(made.degree, (tuple, list)) else made.degree
    if highest > _HIGHEST_DEGREE or comb(width + int(highest), int(highest)) > _MOST_PRODUCTS:
        raise ValueError(f"products of its columns would be more than {_MOST_PRODUCTS:,} columns")
    return made.fit(np.zeros((1, width)))


def _pipeline(cls: Any, fields: Fields) -> Any:
    steps = [(name, step) for name, step in fields["steps"]]
    _check_names([name for name, _ in steps])
    if not steps or not all(map(_transforms, [step for _, step in steps[:-1]])):
        raise ValueError("its pipeline has a step that transforms nothing")
    if isinstance(steps[-1][1], str):
        _transforms(steps[-1][1])
    elif not hasattr(steps[-1][1], "predict") and not _transforms(steps[-1][1]):
        raise ValueError("its pipeline ends in a step that neither predicts nor transforms")
    made = cls(steps)
    refuse_layers(made)
    return made


def _check_names(names_of_steps: list[str]) -> None:
    strange = any("__" in name or name in ("steps", "memory", "verbose", "") for name in names_of_steps)
    if strange or len(set(names_of_steps)) < len(names_of_steps):
        raise ValueError("its steps have no names of their own")


def _transforms(step: Any) -> bool:
    if isinstance(step, str):
        return step == "passthrough"
    return isinstance(step, _TRANSFORMERS) and hasattr(step, "transform")


def _column_state(value: ColumnTransformer) -> Fields:
    check_is_fitted(value)
    parts = [[name, step, columns] for name, step, columns in value.transformers_ if name != "remainder"]
    named = all(isinstance(columns, list) and all(isinstance(each, str) for each in columns) for _, _, columns in parts)
    if not named or not hasattr(value, "feature_names_in_"):
        raise DataError("a ColumnTransformer can be saved where each part has a list of names of columns of a frame.")
    if value.remainder != "drop" or value.transformer_weights:
        raise DataError("a ColumnTransformer with a remainder or weights cannot be saved; name all columns in parts.")
    known = {"names": value.feature_names_in_, "threshold": value.sparse_threshold, "sparse": value.sparse_output_}
    return {"parts": parts, **known}


def _column_transformer(cls: Any, fields: Fields) -> ColumnTransformer:
    """Fitted on one made-up row for the sake of its private state; then given the steps that were stored."""
    parts = [(name, step, columns) for name, step, columns in fields["parts"]]
    _check_names([name for name, _, _ in parts])
    known = set(fields["names"].tolist())
    if not parts or not all(_transforms(step) and columns and set(columns) <= known for _, step, columns in parts):
        raise ValueError("its parts do not fit the columns of its rows")
    row: dict[str, list[Any]] = {name: [0.0] for name in fields["names"].tolist()}
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


#: What may stand before a machine.
_TRANSFORMERS = (KernelMachine, *(each.cls for each in step_types() if hasattr(each.cls, "transform")))


# Estimators around a machine as fields, and back: calibration, thresholds, intervals, fits without outliers.


_MAPS = {"sigmoid": SigmoidMap, "isotonic": IsotonicMap, "venn_abers": VennAbersMap}


def wrapper_types() -> Iterator[SavedType]:
    """Every estimator that is fitted around another, and what such are made of."""
    slope = {"slope": number(), "intercept": number()}
    yield SavedType("_SigmoidMap", SigmoidMap, own_fields, _map, slope)
    staircase = {"scores": numbers("known", rising=True), "values": numbers("known", low=0, high=1, rising=True)}
    yield SavedType("_IsotonicMap", IsotonicMap, own_fields, _map, staircase)
    ends = {"scores": numbers("known", rising=True), "values": numbers("", "", low=0, high=1)}
    yield SavedType("_VennAbersMap", VennAbersMap, own_fields, _venn_abers, ends)
    inside = {"estimator": anything, "parameters": PARAMETERS}
    maps = {"maps": list_of(instance(CalibrationMap, words="a map")), "pairs": flag}
    yield SavedType("Calibrated", Calibrated, _calibrated_state, _calibrated, {**inside, **maps})
    found = {"best_threshold": number(), "best_score": number(missing=True)}
    yield SavedType("TunedThreshold", TunedThreshold, _threshold_state, _threshold, {**inside, **found})
    around = {"estimator": anything, "filter": instance(OutlierFilter)}
    yield SavedType("WithoutOutliers", WithoutOutliers, _filtered_state, _without_outliers, around)
    logarithm = {"estimator": anything, "transform": choice(*TARGET_TRANSFORMS)}
    yield SavedType(
        "TransformedTargetRegressor", TransformedTargetRegressor, _transformed_state, _transformed, logarithm
    )
    errors = {"errors": numbers("errors"), "owner": wholes("errors"), "weights": numbers("errors", low=0)}
    rows = {"rows": wholes("rows"), "trained": list_of(wholes("")), "machines": list_of(anything)}
    without = {"without": nothing | instance(LinearModel, KernelModel)}
    yield SavedType("Conformal", Conformal, Conformal.fitted_state, _conformal, {**inside, **rows, **without, **errors})


def _predicting(estimator: Any, classes: bool | None = None) -> Any:
    """A copy of an estimator that predicts, not fitted; of classes or of numbers, where that is said."""
    if isinstance(estimator, str) or not hasattr(estimator, "predict"):
        raise ValueError("it has nothing inside that predicts")
    refuse_layers(estimator)
    if classes is not None and not (is_classifier if classes else is_regressor)(estimator):
        raise ValueError(f"what is inside predicts no {'classes' if classes else 'numbers'}")
    return clone(estimator)


def _pass_through(made: Any) -> None:
    """What a model knows of its rows because the estimator inside does."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(made.estimator_, name):
            setattr(made, name, getattr(made.estimator_, name))


# -- probabilities ------------------------------------------------------------------------------------------------


def _map(cls: Any, fields: Fields) -> Any:
    if "scores" in fields and not fields["scores"].size:
        raise ValueError("its map has no scores")
    return cls(**fields)


def _venn_abers(cls: Any, fields: Fields) -> VennAbersMap:
    scores, values = fields["scores"], fields["values"]
    if values.shape != (2 * scores.size + 1, 2) or not (values[:, 0] <= values[:, 1] + 1e-9).all():
        raise ValueError("its intervals do not fit its scores")
    return cls(**fields)


def _calibrated_state(model: Calibrated) -> Fields:
    check_is_fitted(model, "maps_")
    parameters = {name: getattr(model, name) for name in ("method", "costs", "memory")}
    return {"estimator": model.estimator_, "maps": model.maps_, "pairs": model.pairs_, "parameters": parameters}


def _calibrated(cls: Any, fields: Fields) -> Calibrated:
    made = cls(_predicting(fields["estimator"], classes=True), **fields["parameters"])
    made.estimator_, made.maps_, made.pairs_ = fields["estimator"], fields["maps"], fields["pairs"]
    _pass_through(made)
    made.classes_ = made.estimator_.classes_
    check_choice(made, "method", tuple(_MAPS))
    bytes_of(made.memory)
    k = len(made.classes_)
    if made.pairs_ and (k == 2 or not hasattr(machine_of(made.estimator_), "pair_scores")):
        raise ValueError("its maps are of pairs of classes, its machine is not")
    count = 1 if k == 2 else k * (k - 1) // 2 if made.pairs_ else k
    if len(made.maps_) != count or not all(type(each) is _MAPS[made.method] for each in made.maps_):
        raise ValueError("its maps do not fit its classes")
    if made.costs is not None:
        cost_matrix(made.costs, made.classes_, "Calibrated")
    return made


# -- thresholds ---------------------------------------------------------------------------------------------------


def _threshold_state(model: TunedThreshold) -> Fields:
    check_is_fitted(model, "estimator_")
    scoring = model.scoring
    if isinstance(scoring, _BaseScorer):  # a measure of one class, such as F1: by its name, and that class
        known = [name for name in get_scorer_names() if get_scorer(name)._score_func is scoring._score_func]
        if set(scoring._kwargs) <= {"pos_label", "zero_division"} and known:
            scoring = {"name": known[0], "positive": scoring._get_pos_label()}
    parameters = {"scoring": scoring, "response_method": model.response_method}
    found = {"best_threshold": model.best_threshold_, "best_score": model.best_score_}
    return {"estimator": model.estimator_, "parameters": parameters, **found}


def _threshold(cls: Any, fields: Fields) -> TunedThreshold:
    parameters = fields["parameters"]
    if isinstance(scoring := parameters["scoring"], dict):
        score = get_scorer(str(scoring["name"]))._score_func
        parameters = {**parameters, "scoring": make_scorer(score, pos_label=scoring["positive"])}
    made = cls(_predicting(fields["estimator"], classes=True), **parameters)
    made._validate_params()
    made.estimator_ = fields["estimator"]
    if len(made.estimator_.classes_) != 2:
        raise ValueError("a threshold is between two classes")
    made.best_threshold_, made.best_score_ = float(fields["best_threshold"]), float(fields["best_score"])
    made._curve_scorer = made._get_curve_scorer()
    _pass_through(made)
    return made


# -- outliers and intervals ---------------------------------------------------------------------------------------


def _filtered_state(model: WithoutOutliers) -> Fields:
    check_is_fitted(model)
    return {"estimator": model.estimator_, "filter": model.filter_}


def _without_outliers(cls: Any, fields: Fields) -> WithoutOutliers:
    made = cls(_predicting(fields["estimator"]), clone(fields["filter"]))
    made.estimator_, made.filter_, made.report_ = fields["estimator"], fields["filter"], fields["filter"].report_
    return made


def _transformed_state(model: TransformedTargetRegressor) -> Fields:
    check_is_fitted(model)
    functions = (model.func, model.inverse_func)
    name = next((name for name, pair in TARGET_TRANSFORMS.items() if pair == functions), None)
    if name is None or model.transformer is not None:
        pairs = (f"{there.__name__} and {back.__name__}" for there, back in TARGET_TRANSFORMS.values())
        known = enumeration(pairs, last="or")
        raise DataError(
            f"a TransformedTargetRegressor can be saved where its func and inverse_func are numpy's {known}; a model "
            "file holds no code."
        )
    return {"estimator": model.regressor_, "transform": name}


def _transformed(cls: Any, fields: Fields) -> TransformedTargetRegressor:
    there, back = TARGET_TRANSFORMS[fields["transform"]]
    made = cls(_predicting(fields["estimator"], classes=False), func=there, inverse_func=back, check_inverse=False)
    made._training_dim = 1
    made._fit_transformer(np.ones((2, 1)))
    made.regressor_ = fields["estimator"]
    if hasattr(made.regressor_, "feature_names_in_"):
        made.feature_names_in_ = made.regressor_.feature_names_in_
    return made


def _conformal(cls: Any, fields: Fields) -> Conformal:
    _predicting(fields["estimator"], classes=False)
    for machine in fields["machines"]:
        _predicting(machine, classes=False)
    made: Conformal = cls.from_fitted_state(fields)
    check_choice(made, "method", ("split", "cross", "jackknife+"))
    check_number(made, "coverage", 0, 1)
    machines = len(made._machines) if made._without is None else made._without.coef.shape[0]
    if not made._owner.size or made._owner.max() >= machines or not made._weights.any():
        raise ValueError("its errors do not fit its machines")
    if made._without is None and len(made._trained) != len(made._machines):
        raise ValueError("its machines do not fit their rows")
    if made._without is not None:
        _check_left_out(made._without, machine_of(made.estimator_))
    return made


def _check_left_out(without: Any, machine: Any) -> None:
    """Refuse models of single rows left out that are asked about other rows than the machine is."""
    own = machine._model
    same = type(without) is type(own) and str(without.kernel) == str(own.kernel)
    same = same and without.coef.shape[0] == without.intercept.size
    if isinstance(without, LinearModel):
        same = same and without.coef.shape[1] == own.coef.shape[1]
    elif same and without.items is None:
        same = not without.support.size or without.support.max() < machine.n_features_in_
    elif same and without.kernel.on_rows:
        same = without.items.shape[1] == machine.n_features_in_
    if not same:
        raise ValueError("its models do not fit its machine")
