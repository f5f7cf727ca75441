"""Preprocessing around a learner, and what it removed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from ..composition import layers
from ..displays import DecisionBoundary
from ..messages import count, enumeration, percent
from ..preprocess import OutlierFilter, pipeline, prepare, steps_asked_for
from ..runtime import Array
from .predictions import number, numbers, text
from .tuning import sample

#: Rows by which the rates of kernels are known well enough.
_RATED = 2000
#: Columns beyond which weights of columns are learned of few rows only.
_WIDE, _SHORT = 1000, 300


class Preparation:
    """What every learner's rows go through.

    The table given says which columns there are and of which kind; all numbers are fitted on training rows later.
    """

    def __init__(
        self,
        table: Any,
        options: dict[str, Any],
        outliers: str | None = None,
        outlier_factor: float | None = None,
        target_transform: str = "none",
    ) -> None:
        self.table, self.outliers, self.outlier_factor, self.options = table, outliers, outlier_factor, options
        self.target_transform = target_transform
        self._rows: Any = None

    def pipeline_to(self, learner: Any) -> Any:
        """The learner behind all steps, not fitted."""
        around: dict[str, Any] = {"outliers": self.outliers, "outlier_factor": self.outlier_factor}
        return pipeline(self.table, learner, target_transform=self.target_transform, **around, **self.options)

    def in_scale(self, learner: Any, learn: Any) -> Any:
        """A learner whose kernel is tried at rates that suit the spread of these rows, as they are prepared."""
        if not learner.takes_kernel or not learner.on_rows:
            return learner
        if self._rows is None:
            some = np.arange(0, learn.n_rows, -(-learn.n_rows // _RATED))
            self._rows = prepare(self.table, **self.options).fit_transform(learn.take(some).X)
        return learner.in_scale(self._rows)

    def reason_to_skip(self, learner: Any, width: int, rows: int) -> str | None:
        """Why a learner that prepares columns by itself is not tried, in one sentence."""
        if not learner.prepares:
            return None
        if self.table.frame is None:
            return f"it learns from the columns of a table, and {self.table.name} has sparse rows."
        if width > _WIDE and rows > _SHORT:
            return f"weights would have to be learned for {width:,} columns, which takes too long with {rows:,} rows."
        if asked := steps_asked_for(self.options):
            return f"it prepares columns by itself, which {asked[0]} asks to do otherwise."
        return None

    def facts(self, learn: Any, y: Array | None) -> dict[str, Any]:
        """What the steps do to the training rows, and which of them they remove, by class where there are classes."""
        rows, said = None, []
        X = learn.X
        if self.outliers is not None:
            found = OutlierFilter(self.outliers, self.outlier_factor).fit(X, y)
            report = found.report_
            rows = {
                "rule": self.outliers,
                "total": report.dropped,
                "classes": [
                    {"label": text(label), "removed": gone, "rows": seen}
                    for label, (gone, seen) in report.by_class.items()
                ],
            }
            said.append(_about_outliers(report))
            X = learn.take(np.flatnonzero(found.keep(X))).X
        steps = prepare(self.table, **self.options).fit(X)
        groups = steps.named_steps["correlation"].groups_ if "correlation" in steps.named_steps else {}
        names = steps.named_steps["columns"].get_feature_names_out() if groups else []
        dropped = [
            {"column": text(_name(names, one)), "because_of": text(_name(names, first))}
            for first, others in groups.items()
            for one in others
        ]
        width = int(steps.transform(X[:2]).shape[1])
        return {
            "features": width,
            "options": {name: value if value is None or isinstance(value, str | bool) else number(value)
                        for name, value in {**self.options, "outliers": self.outliers}.items()},
            "rows": rows,
            "columns": dropped,
            "words": [*said, *self._about_columns(dropped, width)],
        }  # fmt: skip

    def no_facts(self) -> dict[str, Any]:
        """As :meth:`facts`, where the kernels of all learners see the data as they are."""
        what = "columns" if self.table.kind == "rows" else self.table.kind
        said = f"The kernels compare the {what} as they are: there was nothing to prepare."
        return {"features": 0, "options": {}, "rows": None, "columns": [], "words": [said]}

    def _about_columns(self, dropped: list[dict[str, str]], width: int) -> list[str]:
        table, said = self.table, []
        if table.missing:
            said.append(self._about_gaps())
        if table.category_columns:
            columns = count(len(table.category_columns), "categorical column was", "categorical columns were")
            said.append(f"{columns} one-hot encoded.")
        if table.date_columns:
            columns = count(len(table.date_columns), "column of dates", "columns of dates")
            said.append(f"{columns} became days, and times of the year, the week and the day where these vary.")
        if table.text_columns:
            texts = enumeration(map(repr, table.text_columns), 6)
            said.append(
                f"The texts of {texts} became counts of words and substrings, which say less the more texts have them; "
                "their products are a string kernel."
            )
        if table.frame is None:
            said.append("The rows are sparse and were left as they are.")
        elif self.options["standardise"] == "minmax":
            said.append("Numeric columns were scaled to the range 0 to 1.")
        elif self.options["standardise"]:
            said.append(
                "Numeric columns were standardised to mean 0 and standard deviation 1; extreme values are clipped at 8."
            )
        for first in dict.fromkeys(one["because_of"] for one in dropped):
            gone = [one["column"] for one in dropped if one["because_of"] == first]
            said.append(
                f"{enumeration(gone, 6)} left out: correlated with {first} above {self.options['correlation']:g}, so "
                "that they say nearly the same."
            )
        said.append(f"{count(width, 'feature')} reach the learners.")
        return said

    def _about_gaps(self) -> str:
        table, impute = self.table, self.options["impute"]
        how = "median" if impute is None else str(impute).replace("_", " ")
        where = ", and further columns say where" if impute is None else ""
        gaps = [f"numbers were filled in by the {how} of their column{where}"] if _gaps(table, "number") else []
        gaps += ["missing categories became a category of their own"] if _gaps(table, "category") else []
        gaps += ["missing dates were replaced by the median date"] if _gaps(table, "date") else []
        gaps += ["missing texts are empty"] if _gaps(table, "text") else []
        return f"{count(sum(table.missing.values()), 'missing cell')}: {', '.join(gaps)}."


def _gaps(table: Any, kind: str) -> bool:
    return any(table.kinds[name] == kind for name in table.missing)


def fitted_rows(model: Any, table: Any, y: Array) -> tuple[Any, Array]:
    """The rows that a fitted model has learned from: without the outliers that it left out."""
    found = getattr(model, "filter_", None)
    if found is None:
        return table.X, y
    kept = np.flatnonzero(found.keep(table.X))
    return table.take(kept).X, y[kept]


def split_model(model: Any) -> tuple[Any, Any]:
    """The fitted preparation of a model, and the learner behind it."""
    outermost = next(layer for layer in layers(model) if isinstance(layer, Pipeline))
    return outermost.named_steps["prepare"], outermost.named_steps["learner"]


def _about_outliers(report: Any) -> str:
    if not report.dropped:
        return "No training row is an outlier."
    label, (gone, _) = max(report.by_class.items(), key=lambda item: item[1][0], default=("", (0, 0)))
    mostly = f", {percent(gone / report.dropped, 0)} of them of class {label}" if gone > 0.6 * report.dropped else ""
    return f"{count(report.dropped, 'training row')} of {report.rows} left out as outliers{mostly}. No test row was."


def _name(names: Any, column: Any) -> Any:
    return names[column] if isinstance(column, int | np.integer) else column


# The boundaries of all learners, each on a plane.


#: Points along each side of the grid, rows drawn on it, rows that the plane is computed from.
_GRID, _POINTS, _ROWS = 48, 220, 2000
#: Of more features than this, as those of texts, no plane shows anything.
_WIDEST = 500


def boundaries(models: Mapping[str, Any], X: Any, y: Array) -> dict[str, Any] | None:
    """Every learner's plane, some rows on it, and the responses; ``None`` where features are fewer than two, or many.

    Each learner has the plane of its own prepared rows: one that was fitted on fewer rows may know fewer words, and
    so have fewer features.
    """
    kept = sample(y, _ROWS, seed=0)
    if kept is not None:
        X, y = _safe_indexing(X, kept), y[kept]
    shown = {}
    for name, model in models.items():
        prepare, learner = split_model(model)
        rows = prepare.transform(X)
        if not 2 <= rows.shape[1] <= _WIDEST:
            return None
        shown[name] = DecisionBoundary.from_estimator(learner, rows, y, grid=_GRID, max_points=_POINTS)
    first = next(iter(shown.values()))
    names = split_model(next(iter(models.values())))[0].get_feature_names_out()
    return {
        "axes": [text(name) for name in (names if first.slice_of == 2 else first.axis_names)],
        "features": first.slice_of,
        "learners": {name: _plain(one) for name, one in shown.items()},
    }


def _plain(display: DecisionBoundary) -> dict[str, Any]:
    return {
        "horizontal": numbers(display.horizontal, 4),
        "vertical": numbers(display.vertical, 4),
        "points": [numbers(point, 4) for point in display.points],
        "codes": display.codes.tolist(),
        "response": [_row(values) for values in display.response],
    }


def _row(values: Array) -> list[Any]:
    whole = np.rint(values)
    return whole.astype(int).tolist() if np.array_equal(whole, values) else [number(value, 3) for value in values]
