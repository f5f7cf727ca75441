"""The measures that a study can be judged by, under the names that people give them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, f1_score, log_loss, make_scorer, mean_pinball_loss, roc_auc_score

from ..checks import plain_label
from ..composition import machine_of
from ..learners import Learner
from ..messages import enumeration, guide, in_digits, nearest, percent
from ..runtime import Array
from . import measures as weighted
from .measures import NUMBERS, SHARE, ErrorMeasure, Weighted

__all__ = [
    "asked_quantile",
    "class_measures",
    "measure_named",
    "number_measures",
    "positive_class",
    "tuning_measure_of",
]

_RANKED = ("decision_function", "predict_proba")


def _lacking(loss: float) -> str:
    """What a score lacks to 1, as the score."""
    return f"{1 - loss:.3f}".replace("-", "−")


def _score(scoring: str, title: str, score: Weighted, needs: str = "labels", scorer: Any = None) -> ErrorMeasure:
    """A score of classes or numbers that is 1 at best."""
    task = "regress" if scoring == "r2" else "classify"
    return ErrorMeasure(
        task, title, "", scoring, 1.0, 1.0, f"1 − {title}", _lacking, score, title, needs=needs, scorer=scorer
    )


def _loss(task: str, scoring: str, title: str, axis: str, loss: Weighted, **more: Any) -> ErrorMeasure:
    """An error that is 0 at best."""
    return ErrorMeasure(task, title, "", scoring, 0.0, 1.0, axis, in_digits, loss, title, **more)


def class_measures(classes: Sequence[Any], positive: Any = None) -> dict[str, ErrorMeasure]:
    """The measures of classes by their usual names; ``positive`` is the class that F1 and average precision are of.

    Examples
    --------
    >>> list(class_measures(["ham", "spam"], "spam"))
    ['accuracy', 'balanced_accuracy', 'roc_auc', 'average_precision', 'f1', 'mcc', 'log_loss']
    """
    two = len(classes) == 2
    one = positive if two else None
    of = f" of {plain_label(positive)!r}" if two else ""
    if two:
        ranks: Any = None
        precision = make_scorer(average_precision_score, response_method=_RANKED, pos_label=positive)
        f1 = make_scorer(f1_score, pos_label=positive, zero_division=0.0)
    else:
        ranks = make_scorer(partial(_one_against_rest, roc_auc_score, True, classes), response_method=_RANKED)
        precision = make_scorer(
            partial(_one_against_rest, average_precision_score, False, classes), response_method=_RANKED
        )
        f1 = None
    mean = "" if two else "macro-averaged "
    # A fold may hold no row of a rare class, of which there are probabilities all the same.
    surprise = make_scorer(partial(_log_loss, classes), greater_is_better=False, response_method="predict_proba")
    precision_title, f1_title = f"{mean}average precision{of}", f"{mean}F1{of}"
    return {
        "accuracy": SHARE,
        "balanced_accuracy": _score("balanced_accuracy", "balanced accuracy", weighted.balanced_accuracy),
        "roc_auc": _score("roc_auc" if two else "roc_auc_ovr_weighted", "AUC", weighted.roc_auc, "scores", ranks),
        "average_precision": _score(
            "average_precision", precision_title, weighted.average_precision_of(one), "scores", precision
        ),
        "f1": _score("f1" if two else "f1_macro", f1_title, weighted.f1_of(one), scorer=f1),
        "mcc": _score("matthews_corrcoef", "Matthews correlation", weighted.matthews),
        "log_loss": _loss(
            "classify", "neg_log_loss", "log loss", "log loss", weighted.log_loss, needs="probabilities",
            scorer=None if two else surprise,
        ),
    }  # fmt: skip


def number_measures(quantile: float = 0.5) -> dict[str, ErrorMeasure]:
    """The measures of numbers by their usual names; the pinball loss is that of a quantile.

    Examples
    --------
    >>> list(number_measures())
    ['rmse', 'mae', 'r2', 'pinball']
    """
    unit = "in the unit of the target"
    pinball = make_scorer(mean_pinball_loss, greater_is_better=False, alpha=quantile)
    title = f"pinball loss at {quantile:g}"
    return {
        "rmse": NUMBERS,
        "mae": _loss(
            "regress", "neg_mean_absolute_error", "MAE", f"MAE, {unit}", weighted.weighted_mean_absolute_error
        ),
        "r2": replace(_score("r2", "R²", weighted.r2), axis="1 − R²"),
        "pinball": _loss(
            "regress",
            "neg_mean_pinball_loss",
            title,
            f"{title}, {unit}",
            weighted.pinball_of(quantile),
            scorer=pinball,
        ),
    }


def _log_loss(classes: Sequence[Any], y: Any, probabilities: Any) -> float:
    return float(log_loss(y, probabilities, labels=classes))


def _one_against_rest(metric: Callable[..., float], by_share: bool, classes: Any, y: Any, scores: Any) -> float:
    """The mean of a metric of two classes, each class against the others, over those that occur."""
    y = np.asarray(y)
    if len(classes) != np.shape(scores)[1]:
        raise ValueError("a fold has no training row of some class; use fewer folds, or leave the class out.")
    there = [k for k, label in enumerate(classes) if 0 < np.sum(y == label) < len(y)]
    each = [metric(y == classes[k], scores[:, k]) for k in there]
    shares = [float(np.sum(y == classes[k])) if by_share else 1.0 for k in there]
    return float(np.average(each, weights=shares)) if each else float("nan")


#: Other names for the measures.
_OTHER_NAMES = {
    "acc": "accuracy",
    "error": "accuracy",
    "balanced": "balanced_accuracy",
    "bacc": "balanced_accuracy",
    "auc": "roc_auc",
    "auroc": "roc_auc",
    "rocauc": "roc_auc",
    "roc_auc_ovr": "roc_auc",
    "roc_auc_ovr_weighted": "roc_auc",
    "ap": "average_precision",
    "pr_auc": "average_precision",
    "prauc": "average_precision",
    "auprc": "average_precision",
    "f1_macro": "f1",
    "f1_score": "f1",
    "matthews": "mcc",
    "matthews_corrcoef": "mcc",
    "logloss": "log_loss",
    "neg_log_loss": "log_loss",
    "cross_entropy": "log_loss",
    "neg_root_mean_squared_error": "rmse",
    "root_mean_squared_error": "rmse",
    "neg_mean_absolute_error": "mae",
    "mean_absolute_error": "mae",
    "r²": "r2",
    "r2_score": "r2",
    "quantile": "pinball",
    "pinball_loss": "pinball",
    "neg_mean_pinball_loss": "pinball",
}
_QUANTILE = re.compile(r"(?P<name>[a-z_]+?)[ (:=_@]*(?P<quantile>0?\.\d+)\)?$")


def measure_named(name: str, task: str, classes: Sequence[Any] = (), positive: Any = None) -> ErrorMeasure:
    """The measure that somebody asked for, as people type it, or an error with the names there are.

    Examples
    --------
    >>> measure_named("AUC", "classify", ["ham", "spam"]).title, measure_named("pinball(0.9)", "regress").title
    ('AUC', 'pinball loss at 0.9')
    """
    wanted = _plain(name)
    if found := _QUANTILE.match(wanted):
        wanted = found["name"]
    wanted = _OTHER_NAMES.get(wanted, wanted)
    # A name alone is right or wrong whatever the classes are.
    of_classes = class_measures(classes if len(classes) > 1 else [0, 1], positive)
    of_numbers = number_measures(asked_quantile(name))
    own, other = (of_classes, of_numbers) if task == "classify" else (of_numbers, of_classes)
    if wanted in own and (wanted == "pinball" or not found):
        return own[wanted]
    if wanted in other:
        judged, learned = ("numbers", "classes") if task == "classify" else ("classes", "numbers")
        raise ValueError(
            f"{name!r} measures {judged}, and {learned} are to be learned; use {enumeration(own, last='or')}."
        )
    near = nearest(wanted, [*own, *_OTHER_NAMES])
    hint = "" if near is None else f"did you mean {_OTHER_NAMES.get(near, near)!r}? "
    raise ValueError(f"there is no measure {name!r}; {hint}The names are {enumeration(own)}.".replace("; The", "; the"))


def asked_quantile(name: str | None) -> float:
    """The quantile that the name of a pinball loss says, the median where it says none.

    Examples
    --------
    >>> asked_quantile("pinball(0.9)"), asked_quantile("pinball:.05"), asked_quantile("pinball")
    (0.9, 0.05, 0.5)
    """
    found = _QUANTILE.match(_plain(name or ""))
    return float(found["quantile"]) if found else 0.5


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def positive_class(y: Array, asked: Any = None) -> Any:
    """Of two classes the one that F1 and average precision are of: as asked, else the rarer one.

    Examples
    --------
    >>> positive_class(np.array(["ham", "ham", "spam"]))
    'spam'
    """
    labels, counts = np.unique(y, return_counts=True)
    if asked is not None:
        named = [label for label in labels if str(plain_label(label)) == str(asked)]
        if not named:
            known = enumeration(repr(plain_label(label)) for label in labels)
            raise ValueError(f"no row is of class {str(asked)!r}; the classes are {known}.")
        if len(labels) > 2:
            raise ValueError(f"a positive class is one of two, and there are {len(labels)} classes here.")
        return plain_label(named[0])
    return plain_label(labels[1] if counts[1] <= counts[0] else labels[0])


def tuning_measure_of(facts: Mapping[str, Any]) -> ErrorMeasure:
    """What errors in cross-validation are counted in: the measure that decided, for showing them."""
    scoring = facts.get("scoring") or {}
    labels = [one["label"] for one in facts.get("data", {}).get("classes", ())]
    known = number_measures() if facts.get("task") == "regress" else class_measures(labels or [0, 1])
    usual = next(iter(known.values()))
    found = next((each for each in known.values() if each.scoring == scoring.get("name")), usual)
    return found if found.is_usual else replace(found, name=scoring["title"], title=scoring["title"])


# Classes of which one is rare: what to say of them, and what learners may try against it.


#: A class is rare below this share of two classes, and below this part of an even share of several; classes are uneven
#: where the commonest has more than this share of the rows.
_OF_TWO, _OF_EVEN, _MOST = 0.2, 0.2, 0.8


def is_uneven(y: Array) -> bool:
    """Whether a learner that always answers the commonest class is right on so many rows that accuracy says little.

    Of several classes a rare one does not decide how all the others are judged; of a single class nothing is said.

    Examples
    --------
    >>> is_uneven(np.repeat(["ham", "spam"], [9, 1])), is_uneven(np.repeat([1, 2, 3], [90, 7, 3]))
    (True, True)
    >>> is_uneven(np.repeat([3, 4, 5, 6, 7, 8], [10, 53, 681, 638, 199, 18]))
    False
    """
    counts = np.unique(y, return_counts=True)[1]
    return counts.size > 1 and bool(counts.max() > _MOST * counts.sum())


def has_rare(y: Array) -> bool:
    """Whether some class is rare, whatever all are judged by.

    Examples
    --------
    >>> has_rare(np.repeat(["a", "b", "c"], [60, 38, 2])), has_rare(np.repeat(["a", "b"], [60, 40]))
    (True, False)
    """
    return bool(_rare(np.unique(y, return_counts=True)[1]).size)


def _rare(counts: Array) -> Array:
    """The sizes of the rare classes."""
    return counts[counts / counts.sum() < (_OF_TWO if len(counts) == 2 else _OF_EVEN / len(counts))]


def usual_measure(y: Array) -> str:
    """The measure that classes are judged by where nobody asks for another.

    Of several classes F1 counts the rare ones as well, without giving the commonest up for them.

    Examples
    --------
    >>> usual_measure(np.repeat(["ham", "spam"], [9, 1])), usual_measure(np.repeat([1, 2, 3], [5, 3, 2]))
    ('balanced_accuracy', 'accuracy')
    """
    if not is_uneven(y):
        return "accuracy"
    return "balanced_accuracy" if np.unique(y).size == 2 else "f1"


def about_uneven(y: Array, measure: ErrorMeasure, asked: bool) -> str | None:
    """One or two sentences about uneven classes; nothing where they are even."""
    labels, counts = np.unique(y, return_counts=True)
    if not is_uneven(y):
        if asked or not has_rare(y):
            return None
        few = _rare(counts)
        one = f"Class {plain_label(labels[counts.argmin()])!r} has"
        return (
            f"{one if few.size == 1 else f'{few.size} rare classes together have'} only {few.sum():,} of {len(y):,} "
            f"rows: learners are judged by {measure.title}, which hardly sees such classes; with --scoring f1 every "
            f"class counts the same {guide('class weights')}."
        )
    rare, common = labels[counts.argmin()], labels[counts.argmax()]
    said = (
        f"The classes are uneven: {plain_label(rare)!r} has only {counts.min():,} of {len(y):,} rows "
        f"({percent(counts.min() / len(y), 1)}), and always answering {plain_label(common)!r} would be right on "
        f"{percent(counts.max() / len(y), 1)}."
    )
    if asked:
        return said
    return (
        f"{said} So learners are judged by {measure.title}, in which every class counts the same "
        f"{guide('class weights')}."
    )


def with_class_weights(learner: Learner, always: bool) -> Learner:
    """The learner that counts rare classes as much as common ones: always, or where that is better when it is tuned."""
    if "class_weight" not in machine_of(learner.build()).get_params(deep=False):
        return learner
    choices: list[Any] = ["balanced"] if always else [None, "balanced"]
    return replace(learner, grid={**learner.grid, "class_weight": choices})
