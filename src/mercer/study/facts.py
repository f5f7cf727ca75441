"""What is in a table, before anything is learned from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import chi2
from sklearn.metrics import confusion_matrix

from .. import margins as bounds_of
from ..composition import machine_of, rows_at_machine
from ..describe import ColumnFacts, describe, measurements
from ..displays import MarginHistogram, WeightTable
from ..estimators import SVC
from ..explain import permutation_importance_of, wrong_rows
from ..margins import decision_margins
from ..runtime import Array
from .base import Run, Tested
from .measures import ErrorMeasure
from .predictions import Predictions, error_rate, number, numbers, text

__all__ = ["commonest_words", "telling_words"]

# Which words a column holds, and in rows of which class.


#: Values of a category that are counted, words of a text, and the most different words that are looked at.
_VALUES, _WORDS, _LOOKED_AT = 8, 12, 5000


def commonest_words(column: Any, codes: Array, groups: int) -> list[dict[str, Any]]:
    """The commonest values of a categorical column, each with its rows in every group.

    Examples
    --------
    >>> import pandas as pd
    >>> commonest_words(pd.Series(["a", "b", "a"]), np.array([0, 0, 1]), 2)
    [{'value': 'a', 'rows': 2, 'by_class': [1, 1]}, {'value': 'b', 'rows': 1, 'by_class': [1, 0]}]
    """
    counts = column.value_counts()
    counts = counts[counts > 0].head(_VALUES)
    return [
        {"value": text(value), "rows": int(rows), "by_class": _by_group(column == value, codes, groups)}
        for value, rows in counts.items()
    ]


def telling_words(column: Any, codes: Array, groups: int) -> list[dict[str, Any]]:
    """The words of a column of texts by which the groups differ most (χ²), each with its rows in every group.

    Examples
    --------
    >>> import pandas as pd
    >>> found = telling_words(pd.Series(["win a prize", "see you", "win now", "you there"]), np.array([1, 0, 1, 0]), 2)
    >>> [(one["value"], one["by_class"]) for one in found[:2]]
    [('win', [0, 2]), ('you', [2, 0])]
    """
    counter = CountVectorizer(binary=True, max_features=_LOOKED_AT)
    try:
        found = counter.fit_transform(column.fillna("").astype(str))
    except ValueError:  # no text holds a word of two letters
        return []
    worth = np.nan_to_num(chi2(found, codes)[0]) if np.unique(codes).size > 1 else np.asarray(found.sum(axis=0)).ravel()
    words = counter.get_feature_names_out()
    ranked = np.argsort(-worth, kind="stable")[:_WORDS]
    rows = found.tocsc()
    return [
        {"value": text(words[k]), "rows": int(rows[:, [k]].sum()),
         "by_class": _by_group(rows[:, [k]].toarray().ravel() > 0, codes, groups)}
        for k in ranked
    ]  # fmt: skip


def _by_group(here: Any, codes: Array, groups: int) -> list[int]:
    """In how many rows of each group it is so; of all of them together where they are too many to tell apart."""
    here = np.asarray(here, dtype=bool)
    return np.bincount(codes[here], minlength=groups).tolist() if groups > 1 else [int(here.sum())]


#: Columns that are described one by one, and those that are drawn and correlated; the most telling ones come first.
DESCRIBED, DRAWN = 200, 24
#: Bins of a histogram.
_BINS = 24
#: Classes that histograms tell apart.
_TOLD_APART = 6


def table_facts(table: Any) -> dict[str, Any]:
    """Shape, classes or numbers, missing values, and a description of the most telling columns."""
    classes, codes = _groups(table)
    if table.kind == "rows":
        frame = _most_telling(table, codes)
        found = describe(replace(table, frame=frame, rows=None))
    else:
        frame = measurements(table)
        found = describe(table)
    left_out = max(0, table.n_columns - frame.shape[1])
    groups = 1 if table.measured else classes.size
    described = [_column(column, frame[column.name], codes, groups) for column in found.columns]
    drawn = [column.name for column in found.columns if column.kind == "numbers" and column.distinct > 1][:DRAWN]
    return {
        "name": text(table.name),
        "source": text(table.source),
        "digest": text(table.digest),
        "target": text(table.target),
        "notes": [text(note) for note in found.notes],
        "telling": [text(each) for each in found.telling],
        "warnings": [] if left_out else [text(warning) for warning in found.warnings],
        "kind": table.kind,
        "extent": table.extent,
        "rows": table.n_rows,
        "columns": table.n_columns,
        "numeric_columns": len(table.numeric_columns),
        "category_columns": len(table.category_columns),
        "date_columns": len(table.date_columns),
        "text_columns": len(table.text_columns),
        "columns_read": [
            {"name": text(name), "kind": kind, "why": text(_why(table, name))} for name, kind in table.kinds.items()
        ]
        if table.frame is not None and table.n_columns <= DESCRIBED
        else [],
        "left_out": [{"name": text(name), "why": text(why)} for name, why in table.left_out.items()],
        "missing_cells": sum(table.missing.values()),
        "duplicate_rows": None if left_out else found.duplicates,
        "contradictory_rows": None if left_out else found.contradictions,
        "task": table.task,
        "values": _column(found.values, table.y, codes, 1) if found.values is not None else None,
        "classes": []
        if table.measured
        else [
            {"label": text(label), "rows": int(size), "share": number(size / len(codes))}
            for label, size in zip(classes.tolist(), np.bincount(codes))
        ],
        "described": described,
        "columns_left_out": left_out,
        "correlation": {
            "columns": [text(name) for name in drawn],
            "matrix": _correlations(frame[drawn]),
            "left_out": max(0, len(table.numeric_columns) - len(drawn)),
        },
    }


def _why(table: Any, name: str) -> str:
    """What was said about a column when it was read; nothing where its kind is plain."""
    if table.kinds[name] in ("number", "category"):
        return next((note for note in table.notes if note.startswith("Read as numbers") and repr(name) in note), "")
    return next((note for note in table.notes if repr(name) in note and not note.startswith("Left out")), "")


def _groups(table: Any) -> tuple[Array, Array]:
    """The classes, and of which one each row is; of numbers, fifths of the rows from the smallest to the largest."""
    y = np.asarray(table.y)
    if table.measured:
        y = np.digitize(y.astype(np.float64), np.quantile(y.astype(np.float64), [0.2, 0.4, 0.6, 0.8]))
    return np.unique(y, return_inverse=True)


def _most_telling(table: Any, codes: Array) -> Any:
    """All columns where they are few; else those in which the classes lie farthest apart, then categorical columns."""
    if table.frame is not None and table.n_columns <= DESCRIBED:
        return table.frame
    of_numbers = set(table.numeric_columns)
    numeric = np.flatnonzero([name in of_numbers for name in table.columns])
    rows = table.rows.tocsc()[:, numeric] if table.frame is None else table.frame.iloc[:, numeric].to_numpy()
    spread = _spread_of_classes(rows, codes)
    best = np.sort(np.argsort(-spread, kind="stable")[:DESCRIBED])
    if table.frame is None:
        import pandas as pd

        return pd.DataFrame(rows[:, best].toarray(), columns=[table.columns[k] for k in best])
    others = [place for place, name in enumerate(table.columns) if name not in of_numbers]
    return table.frame.iloc[:, [*numeric[best], *others][:DESCRIBED]]


def _spread_of_classes(rows: Any, codes: Array) -> Array:
    """For each column, the share of its variance that lies between the classes; missing values count as the mean."""
    if not sparse.issparse(rows):
        means = np.nanmean(np.where(np.isfinite(rows), rows, np.nan), axis=0)
        rows = np.where(np.isfinite(rows), rows, np.nan_to_num(means))
    sizes = np.bincount(codes)
    member = sparse.csr_array((1 / sizes[codes], (codes, np.arange(codes.size))))
    by_class = member @ rows
    by_class = by_class.toarray() if sparse.issparse(by_class) else np.asarray(by_class)
    shares = sizes / codes.size
    squares = rows.multiply(rows) if sparse.issparse(rows) else rows * rows
    mean = shares @ by_class
    variance = np.asarray(squares.mean(axis=0)).ravel() - mean**2
    between = shares @ (by_class - mean) ** 2
    return np.divide(between, variance, out=np.zeros_like(between), where=variance > 1e-12 * (1 + mean**2))


def _column(facts: ColumnFacts, column: Any, codes: Array, classes: int) -> dict[str, Any]:
    common = {"name": text(facts.name), "kind": facts.kind, "missing": facts.missing, "distinct": facts.distinct}
    if facts.kind == "dates":
        return {**common, "first": facts.first, "last": facts.last}
    if facts.kind == "words":
        return {**common, "top": commonest_words(column, codes, classes if classes <= _TOLD_APART else 1)}
    if facts.kind == "texts":
        return {**common, "top": telling_words(column, codes, classes if classes <= _TOLD_APART else 1)}
    values = np.asarray(column, dtype=np.float64)
    seen = np.isfinite(values)
    if not seen.any():
        return common
    numeric = {name: number(getattr(facts, name)) for name in ("mean", "std", "skew")}
    return {**common, **numeric, "outliers": facts.outliers, **_spread(values[seen], codes[seen], classes)}


def _spread(values: Array, codes: Array, classes: int) -> dict[str, Any]:
    """What a boxplot and a histogram by class need."""
    quantiles = np.percentile(values, [0, 25, 50, 75, 100])
    reach = 1.5 * (quantiles[3] - quantiles[1])
    inside = values[(values >= quantiles[1] - reach) & (values <= quantiles[3] + reach)]
    edges = np.histogram_bin_edges(values, _BINS)
    apart = 1 < classes <= _TOLD_APART
    groups = [codes == code for code in range(classes)] if apart else [np.ones(codes.size, bool)]
    return {
        "quantiles": numbers(quantiles),
        "whiskers": numbers([inside.min(), inside.max()]),
        "histogram": {
            "edges": numbers(edges, 8),
            "counts": [np.histogram(values[group], edges)[0].tolist() for group in groups],
        },
    }


def _correlations(frame: Any) -> list[list[float | None]]:
    return [numbers(row, 3) for row in frame.astype(np.float64).corr().to_numpy()]


# Everything there is to know about one fitted learner.


#: Weights that are kept, and products of columns among them.
_WEIGHTS, _PRODUCTS = 40, 15


def on_training_rows(model: Any, frame: Any, y: Array, found: Predictions) -> dict[str, Any]:
    """What a fitted model shows without any test row."""
    wrong = int(np.sum(found.predicted != y))
    learner, rows = machine_of(model), rows_at_machine(model, frame)
    return {
        "train": error_rate(wrong, len(y)),
        **of_machine(model, len(y)),
        "bounds": _bounds(learner, rows, y, wrong),
    }


def of_machine(model: Any, rows: int) -> dict[str, Any]:
    """What a fitted machine says of itself, whatever it learned."""
    learner = machine_of(model)
    support = getattr(learner, "support_", None)
    return {
        "support": None if support is None else {"number": len(support), "share": number(len(support) / rows)},
        "status": str(getattr(learner, "status_", "")),
        "weights": _weights(model),
        "certificate": _certificate(learner),
    }


def on_test_rows(found: Predictions, y: Array, trained: Predictions, train_y: Array) -> dict[str, Any]:
    """Mistakes on the test rows, and how clearly they were decided beside those that were learned from."""
    classes: Any = found.classes
    scores: Any = found.scores
    histogram = MarginHistogram.from_predictions(
        decision_margins(np.asarray(trained.scores), np.searchsorted(classes, train_y)),
        decision_margins(scores, np.searchsorted(classes, y)),
    )
    return {
        "test": error_rate(int(np.sum(found.predicted != y)), len(y)),
        "predict_microseconds": number(1e6 * found.seconds / len(y), 3),
        "confusion": confusion_matrix(y, found.predicted, labels=classes).tolist(),
        "margins": {
            "edges": numbers(histogram.edges, 5),
            "train": histogram.train_counts.tolist(),
            "test": None if histogram.test_counts is None else histogram.test_counts.tolist(),
        },
    }


def _weights(model: Any) -> dict[str, Any] | None:
    """The heaviest features of a linear model and, where columns were multiplied, the heaviest products."""
    if not hasattr(machine_of(model), "coef_"):
        return None
    table = WeightTable.from_estimator(model)
    shown, products = table.top(_WEIGHTS), table.interactions().top(_PRODUCTS)
    return {
        "features": [text(name) for name in shown.features],
        "values": numbers(shown.weights[:, 0], 4),
        "left_out": len(table.features) - len(shown.features),
        "signed": len(machine_of(model).coef_) == 1,
        "interactions": [
            {"feature": text(name), "value": number(value, 4)}
            for name, value in zip(products.features, products.weights[:, 0], strict=True)
        ],
    }


def _certificate(learner: Any) -> dict[str, Any] | None:
    """How far at most the model is from the best one of its kind."""
    if not hasattr(learner, "duality_gap_"):
        return None
    gap, objective = np.atleast_1d(learner.duality_gap_), np.atleast_1d(learner.objective_)
    if not np.isfinite(gap).all():
        return None
    worst = int(np.argmax(gap / np.maximum(objective, 1e-300)))
    share = float(gap[worst] / max(objective[worst], 1e-300))
    words = (
        f"Certified: its objective is within {_percent(share)} of the best possible one."
        if share < 0.5
        else "Its certificate is loose: the objective may still be far from the best possible one."
    )
    return {
        "gap": number(gap[worst]),
        "objective": number(objective[worst]),
        "relative": number(share, 3),
        "problems": int(gap.size),
        "words": words,
    }


def _bounds(learner: Any, rows: Any, y: Array, wrong: int) -> list[dict[str, Any]]:
    """What theory promises about new rows from the training rows alone."""
    found = []
    n, two = len(y), len(learner.classes_) == 2
    if hasattr(learner, "coef_") and two and rows.shape[1] < n:
        bound = bounds_of.vc_bound(wrong / n, dimension=rows.shape[1] + 1, rows=n)
        promise = f"with probability 95\u00a0% the error on new rows is below {_percent(float(bound))}"
        found.append(_worded("VC bound", bound, f"From the {rows.shape[1] + 1} weights alone: {promise}"))
    if isinstance(learner, SVC) and two:
        bound = bounds_of.leave_one_out_bound(learner, n)
        promise = (
            f"leaving out one training row at a time, at most {_percent(float(bound))} of them are decided wrongly"
        )
        found.append(_worded("leave-one-out bound", bound, f"From the support vectors: {promise}"))
    if hasattr(learner, "kernel_") and two and wrong == 0:
        radius = float(np.sqrt(np.max(learner.kernel_.diag(learner.kernel_.items(rows)))))
        least = bounds_of.geometric_margins(rows, y, model=learner).of_data_set
        if least > 0:
            bound = bounds_of.margin_bound(radius, least, n)
            promise = f"the error on new rows is of the order of {_percent(float(bound))}, up to constants"
            found.append(
                _worded("margin bound", bound, f"From the margin {least:.3g} in a ball of {radius:.3g}: {promise}")
            )
    return found


def _worded(name: str, bound: Any, words: str) -> dict[str, Any]:
    says_nothing = float(bound) >= 1
    return {
        "name": name,
        "value": number(bound),
        "words": words + (", which says nothing here." if says_nothing else "."),
    }


def _percent(share: float) -> str:
    r"""A share in percent with two digits that matter.

    Examples
    --------
    >>> _percent(0.0231), _percent(1e-7), _percent(3.2)
    ('2.3\xa0%', 'a millionth', '320\xa0%')
    """
    if share < 2e-6:
        return "a millionth"
    return f"{float(f'{100 * share:.2g}'):g}\u00a0%"


# What the chosen learner looks at, and where it goes wrong, on the test rows.


def about_chosen(run: Run, table: Any, tested: Tested, measure: ErrorMeasure, seed: int) -> dict[str, Any]:
    """The columns that the chosen learner needs, by shuffling each, and the rows that it is most wrong about."""
    held_out, y = table.take(tested.test), tested.targets
    scoring = measure.scorer or measure.scoring
    return {
        "importances": permutation_importance_of(run.model, held_out.X, y, scoring=scoring, seed=seed),
        "wrong_rows": wrong_rows(
            run.model,
            held_out.X,
            y,
            lambda row: _called(table, int(tested.test[row])),
            where_trained=lambda row: _called(table, int(run.places[row])),
            trained_labels=tested.y[run.places],
        ),
    }


def _called(table: Any, row: int) -> str:
    """The name of a row, where it has one, and its place in the file."""
    place = table.where(row)
    return place if table.names is None else f"{text(table.names[row])} ({place})"
