"""From a table to the steps that prepare it: all of them are fitted with the machine, on training rows alone."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, PolynomialFeatures, StandardScaler

from ..checks.tables import LARGEST
from ..columns import are_molecules, text_units
from ..io import Table
from ..io.table import DataError
from ..kernels import as_kernel
from ..kernels.columns import columns_named
from ..messages import enumeration
from .dates import DateParts
from .numbers import Filled, OutlierFilter, Standardised, WithoutOutliers
from .read_columns import ReadColumns
from .transformers import Constant, CorrelationFilter, Numbers, with_transformed_target
from .words import Texts

#: More columns than this, most of them zeros of one-hot codes, are kept as a sparse matrix.
_WIDE = 2000
#: More different words than this in a column, and those of them that stand in fewer rows count as one.
_MANY, _RARE = 50, 3
#: How many columns texts weigh as much as: a share of all others, and at least so many.
_SHARE, _LEAST = 0.25, 4
_IMPUTERS = ("mean", "median", "most_frequent")


def prepare(
    table: Table,
    *,
    standardise: str | bool = "auto",
    impute: str | None = None,
    correlation: float | None = None,
    degree: int = 1,
    constant: bool = False,
) -> Pipeline:
    """The steps that turn rows of a table into rows of numbers, to be put before a machine.

    Parameters
    ----------
    table : Table
        Tells which columns are numbers, which are words, and whether anything is missing.
    standardise : {"auto", "standard", "minmax"} or bool, default="auto"
        Bring each number column to mean 0 and standard deviation 1, with wild values drawn in (:class:`Standardised`),
        or to the range 0 to 1; ``False``: leave it. Rows of a sparse table are left as they are unless asked, and then
        divided only, so that zeros stay zeros.
    impute : {"mean", "median", "most_frequent", "none"}, optional
        What stands for a missing number. By default the median, and each column with gaps has another beside it that
        says where they are. Missing words become a category of their own, missing texts are empty, see
        :class:`DateParts` for dates. "none": missing values are an error.
    correlation : float, optional
        Keep only the first of columns correlated more than this; texts are not looked at.
    degree : int, default=1
        Add the products of up to so many columns; not of texts.
    constant : bool, default=False
        Add a column of ones.

    Returns
    -------
    Pipeline of scikit-learn transformers, not fitted

    Examples
    --------
    >>> from mercer import read
    >>> from mercer.preprocess import prepare
    >>> table = read("xor:100")
    >>> prepare(table, degree=2).fit(table.X).get_feature_names_out().tolist()
    ['x1', 'x2', 'x1^2', 'x1 x2', 'x2^2']
    """
    if degree < 1 or degree != int(degree):
        raise ValueError(f"prepare: degree must be a whole number of at least 1, got {degree!r}.")
    scaler = _scaler(standardise, sparse=table.frame is None)
    others = [name for name, kind in table.kinds.items() if kind != "text"] if table.text_columns else []
    steps: list[tuple[str, Any]] = []
    if table.frame is None:
        steps += [("scale", scaler)] if scaler is not None else []
    else:
        _check_gaps(table, impute)
        steps += _columns(table, scaler, impute) if others or not table.text_columns else []
    if correlation is not None and (steps or table.frame is None):
        if table.frame is None:
            raise DataError("a correlation filter needs dense rows; this table is sparse.")
        steps.append(("correlation", CorrelationFilter(correlation)))
    if degree > 1 and (steps or table.frame is None):
        steps.append(("expand", PolynomialFeatures(degree, include_bias=False)))
    if table.text_columns:
        steps = [("columns", _beside_texts(table, steps, others))]
    if constant:
        steps.append(("constant", Constant()))
    if table.frame is not None:
        steps.insert(0, ("read", _reading(table, [name for name in table.columns if name not in _empty(table)])))
    return Pipeline(steps or [("same", "passthrough")])


def pipeline(
    table: Table,
    estimator: Any,
    *,
    outliers: str | None = None,
    outlier_factor: float | None = None,
    target_transform: str | None = None,
    **options: Any,
) -> Any:
    """A machine with everything that comes before it: preparation, and a fit without outliers.

    Parameters
    ----------
    table : Table
    estimator : classifier
    outliers : {"iqr", "zscore"}, optional
        Leave training rows out of the fit by this rule, see :class:`OutlierFilter`.
    outlier_factor : float, optional
    target_transform : {"log", "none"}, optional
        Learn the logarithms of targets, of 1 + y where some are zero: a scikit-learn ``TransformedTargetRegressor``.
    **options
        As for :func:`prepare`.

    Returns
    -------
    Pipeline with steps "prepare" and "learner", inside a :class:`WithoutOutliers` where outliers are to go. A learner
    whose kernel works on strings, sets, graphs or named columns sees them as they are: there is no "prepare" then, but
    a step "fill" (:class:`Filled`) where a table has gaps or dates, behind one that reads columns of categories.

    Examples
    --------
    >>> from mercer import Pegasos
    >>> from mercer import read
    >>> from mercer.preprocess import pipeline
    >>> table = read("breast_cancer")
    >>> model = pipeline(table, Pegasos(random_state=0))
    >>> model.fit(table.X, table.y).score(table.X, table.y) > 0.97
    True
    """
    if hasattr(estimator, "kinds"):
        _refuse_steps("this learner prepares the columns of a table by itself", steps_asked_for(options))
        estimator = clone(estimator).set_params(kinds={**table.kinds, **table.found.get("kinds", {})})
        model = Pipeline([("learner", estimator)])
    elif _sees_items(estimator):
        why = f"the kernel {estimator.kernel} sees the data as they are, so there is nothing to prepare"
        _refuse_steps(why, steps_asked_for(options, idle=(False, "none")))
        model = Pipeline([*_filling(table, estimator, options.get("impute")), ("learner", estimator)])
    else:
        model = Pipeline([("prepare", prepare(table, **options)), ("learner", estimator)])
    model = with_transformed_target(model, target_transform, table.y)
    if outliers is None:
        return model
    if table.frame is None:
        what = "this table is sparse" if table.kind == "rows" else f"{table.name} holds {table.kind}"
        raise DataError(f"an outlier filter needs dense rows; {what}.")
    return WithoutOutliers(model, OutlierFilter(outliers, outlier_factor))


def _sees_items(estimator: Any) -> bool:
    kernel = getattr(estimator, "kernel", None)
    return kernel is not None and not as_kernel(kernel).on_rows


def _filling(table: Table, estimator: Any, impute: str | None) -> list[tuple[str, Any]]:
    """The steps that read the columns that a kernel names, fill their gaps and turn dates into numbers."""
    named = columns_named(as_kernel(estimator.kernel))
    used = [name for name in table.kinds if name in named] if table.frame is not None else []
    gaps = {name: table.missing[name] for name in used if name in table.missing}
    _refuse_missing(gaps, impute)
    steps: list[tuple[str, Any]] = []
    if gaps or any(table.kinds[name] in ("category", "date") for name in used):
        steps.append(("read", _reading(table, used)))
    if gaps or any(table.kinds[name] == "date" for name in used):
        steps.append(("fill", Filled(tuple(used))))
    return steps


def _reading(table: Table, columns: Sequence[str]) -> ReadColumns:
    """The step that reads new rows as the table was read."""
    kinds = {**table.kinds, **table.found.get("kinds", {})}
    said = {name: table.read_as[name] for name in ("missing", "missing_words", "decimal") if name in table.read_as}
    return ReadColumns({name: kinds[name] for name in columns}, **said)


def steps_asked_for(options: Mapping[str, Any], idle: tuple[Any, ...] = ()) -> list[str]:
    """Options of :func:`prepare` that are neither the usual ones nor ``idle``, as the command line calls them.

    Examples
    --------
    >>> steps_asked_for({"standardise": False, "impute": "none", "constant": True, "degree": 1})
    ['--no-standardise', '--impute', '--constant']
    """
    usual = inspect.signature(prepare).parameters
    asked = {name: value for name, value in options.items() if value != usual[name].default and value not in idle}
    words = {("standardise", False): "--no-standardise", ("standardise", "minmax"): "--min-max"}
    return [words.get((name, value), f"--{name}") for name, value in asked.items()]


def _refuse_steps(why: str, asked: list[str]) -> None:
    """Refuse preparation that was asked for where these steps do not happen."""
    if asked:
        raise DataError(f"{why}; leave out {enumeration(asked)}.")


def _scaler(standardise: str | bool, sparse: bool) -> Any:
    if standardise is False or (standardise == "auto" and sparse):
        return None
    if standardise in (True, "auto", "standard"):
        return StandardScaler(with_mean=False) if sparse else Standardised()
    if standardise == "minmax":
        return MaxAbsScaler() if sparse else MinMaxScaler()
    raise ValueError(f"prepare: standardise must be 'auto', 'standard', 'minmax', True or False; got {standardise!r}.")


def _check_gaps(table: Table, impute: str | None) -> None:
    if impute not in (None, "none", *_IMPUTERS):
        known = enumeration((*_IMPUTERS, "none"), last="or")
        raise ValueError(f"prepare: impute must be one of {known}; got {impute!r}.")
    empty = _empty(table)
    if len(empty) == table.n_columns:
        raise DataError(f"{table.name}: no column has any values.")
    _refuse_missing({name: count for name, count in table.missing.items() if name not in empty}, impute)


def _empty(table: Table) -> set[str]:
    return {name for name, count in table.missing.items() if count == table.n_rows}


def _columns(table: Table, scaler: Any, impute: str | None) -> list[tuple[str, Any]]:
    """Steps from the columns of a frame, but for its texts, to scaled numbers."""
    empty = _empty(table)
    _refuse_overflow(table, [name for name in table.numeric_columns if name not in empty])
    numbers = [name for name in table.numeric_columns if name not in empty and name != table.time]
    steps: list[tuple[str, Any]] = []
    if impute in _IMPUTERS:
        steps.append(("impute", SimpleImputer(strategy=impute, keep_empty_features=True)))
    elif impute != "none" and numbers:  # also where nothing is missing yet: rows to be predicted may have gaps
        gaps = any(name in table.missing for name in numbers)
        steps.append(("impute", SimpleImputer(strategy="median", keep_empty_features=True, add_indicator=gaps)))
    scaling = [("scale", scaler)] if scaler is not None else []
    steps += scaling
    if set(table.columns) - empty == {*numbers, *table.text_columns} - empty:
        return [("columns", Numbers(tuple(sorted(empty)))), *steps]
    parts: list[tuple[str, Any, list[str]]] = []
    if table.time in table.numeric_columns:  # nobody knows how a trend goes on: later rows count as the last ones
        filling = SimpleImputer(strategy="median", keep_empty_features=True)
        parts.append(
            ("time", Pipeline([("impute", filling), ("clip", MinMaxScaler(clip=True)), *scaling]), [table.time])
        )
    if numbers:
        parts.append(("numbers", Pipeline(steps or [("same", "passthrough")]), numbers))
    dates = [name for name in table.date_columns if name not in empty]
    if dates:
        parts.append(("dates", Pipeline([("parts", DateParts()), *scaling]), dates))
    different = {name: int(table.X[name].nunique()) for name in table.category_columns if name not in empty}
    words = [name for name, count in different.items() if count <= _MANY]
    wide = len(numbers) + sum(different.values()) + len(words) > _WIDE
    if words:
        parts.append(("words", OneHotEncoder(handle_unknown="ignore", sparse_output=wide), words))
    for name, count in different.items():
        if count > _MANY:
            encoder = OneHotEncoder(min_frequency=_RARE, handle_unknown="infrequent_if_exist", sparse_output=wide)
            parts.append((f"words of {name}".replace("__", " "), encoder, [name]))
    threshold = 1.0 if wide else 0.0
    return [("columns", ColumnTransformer(parts, sparse_threshold=threshold, verbose_feature_names_out=False))]


def _beside_texts(table: Table, steps: list[tuple[str, Any]], others: list[str]) -> ColumnTransformer:
    """Texts beside the other columns.

    Standardised columns have squared lengths of one each in the mean. Texts together weigh as much as a quarter of all
    other columns, and at least as much as four: most of their thousands of features are noise, which a greater weight
    lets learners fit, and a smaller one hides what they say from a Gaussian kernel.
    """
    texts = [name for name in table.text_columns if table.missing.get(name) != table.n_rows]
    weight = float(np.sqrt(max(_LEAST, _SHARE * len(others)) / max(1, len(texts))))
    parts: list[tuple[str, Any, list[str]]] = [("others", Pipeline(steps), others)] if steps else []
    for name in texts:
        found = [text for text in table.X[name] if isinstance(text, str)]
        texts_of = Texts(text_units(found), weight, case=are_molecules(found))
        parts.append((f"text {name}".replace("__", " "), texts_of, [name]))
    return ColumnTransformer(parts, sparse_threshold=1.0, verbose_feature_names_out=False)


def _refuse_overflow(table: Table, numbers: list[str]) -> None:
    """Values whose squares overflow would become NaN on the way, and be blamed on nobody."""
    for name in numbers:
        largest = float(np.nanmax(np.abs(table.X[name].to_numpy())))
        if largest > LARGEST:
            raise DataError(
                f"column {name!r} has values up to {largest:.3g}, whose squares overflow; write it in other units, or "
                f"leave it out (--drop {name})."
            )


def _refuse_missing(missing: dict[str, int], impute: str | None) -> None:
    if missing and impute == "none":
        where = enumeration((f"{name!r} ({count})" for name, count in missing.items()), 6)
        raise DataError(
            f"values are missing in {where}, and impute='none' (--impute none) refuses them; leave it out, name "
            "another way to fill them (--impute median), or leave those columns out (--drop)."
        )
