"""Estimators around a machine as fields, and back: calibration, thresholds, intervals, fits without outliers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import TransformedTargetRegressor
from sklearn.metrics import get_scorer, get_scorer_names, make_scorer
from sklearn.metrics._scorer import _BaseScorer
from sklearn.utils.validation import check_is_fitted

from .._validation.memory import bytes_of
from .._validation.parameters import choice as check_choice
from .._validation.parameters import number as check_number
from .._validation.unwrapped import machine_of
from .._validation.wording import enumeration
from ..calibration import Calibrated, TunedThreshold
from ..calibration.base import CalibrationMap
from ..calibration.isotonic_map import IsotonicMap
from ..calibration.sigmoid_map import SigmoidMap
from ..calibration.venn_abers import VennAbersMap
from ..estimators.cost_matrix import cost_matrix
from ..estimators.model import KernelModel, LinearModel
from ..intervals import Conformal
from ..io.table import DataError
from ..preprocess import OutlierFilter, WithoutOutliers
from ..preprocess.target_transform import TARGET_TRANSFORMS
from .meanings import (
    anything,
    choice,
    flag,
    instance,
    list_of,
    nothing,
    number,
    numbers,
    wholes,
)
from .saved_machines import PARAMETERS
from .saved_type import Fields, SavedType, own_fields, refuse_layers

__all__ = ["wrapper_types"]

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
