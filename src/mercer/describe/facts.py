"""What is in a table, as plain facts: the numbers of each column, and everything that a learner may stumble over."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._runtime.compile import Array
from ..preprocess.outliers import OutlierFilter, OutlierReport
from ..preprocess.transformers import correlated_groups

if TYPE_CHECKING:
    from ..io import Table

__all__ = ["ColumnFacts", "Description", "describe"]

#: Tables with more columns than this are not searched for correlated ones.
MOST_CORRELATED = 2000
CORRELATED = 0.95


@dataclass(frozen=True)
class ColumnFacts:
    """One column, of "numbers", "words", "dates" or "texts".

    The numbers are ``None`` where a column has none; ``common`` is the most frequent word or text, ``first`` and
    ``last`` are dates.
    """

    name: str
    kind: str
    missing: int
    distinct: int
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    std: float | None = None
    skew: float | None = None
    outliers: int | None = None
    common: str | None = None
    common_count: int | None = None
    first: str | None = None
    last: str | None = None


@dataclass(frozen=True)
class Description:
    """A table in facts; :meth:`facts` is the same as plain lists and dictionaries.

    Of strings, sets and graphs the columns are what can be counted: lengths, sizes, nodes and edges. ``duplicates``
    counts rows whose features all stand in an earlier row as well, ``contradictions`` rows whose
    features stand in another row with another label. A target of numbers has ``values`` instead of ``classes``.
    """

    name: str
    rows: int
    columns: list[ColumnFacts]
    target: str | None
    classes: dict[Any, int]
    unlabelled: int
    duplicates: int
    contradictions: int
    outliers: dict[str, OutlierReport]
    correlated: dict[str, list[str]]
    sparse: bool
    filled: float
    notes: list[str]
    warnings: list[str] = field(default_factory=list)
    telling: list[str] = field(default_factory=list)
    kind: str = "rows"
    task: str = "classify"
    values: ColumnFacts | None = None
    left_out: dict[str, str] = field(default_factory=dict)

    def facts(self) -> dict[str, Any]:
        """Everything as JSON can say it."""
        out = asdict(self)
        out["classes"] = [{"label": label, "rows": count} for label, count in self.classes.items()]
        for report in out["outliers"].values():
            report["by_class"] = [
                {"label": label, "outliers": gone, "rows": count} for label, (gone, count) in report["by_class"].items()
            ]
        return out


def describe(table: Table) -> Description:
    """Look at a table.

    Parameters
    ----------
    table : Table

    Returns
    -------
    Description

    Examples
    --------
    >>> from mercer.describe import describe
    >>> from mercer import read
    >>> found = describe(read("margins:500"))
    >>> found.rows, found.duplicates, found.correlated
    (500, 0, {'x3': ['x6', 'x10']})
    """
    from .caveats import caveats
    from .telling_columns import telling_columns

    duplicates, contradictions = _repeated(table)
    seen = table if table.kind == "rows" else measured(table)
    classes = table.y is not None and not table.measured
    labels = np.array([str(label) for label in table.y]) if table.y is not None and classes else None
    found = Description(
        name=table.name,
        rows=table.n_rows,
        columns=[] if seen.frame is None else [_column(seen, name) for name in seen.columns],
        target=table.target,
        classes=table.class_counts if classes else {},
        unlabelled=0 if table.y is None else int((~table.labelled).sum()),
        duplicates=duplicates,
        contradictions=contradictions,
        outliers={}
        if not table.numeric_columns or table.frame is None
        else {rule: OutlierFilter(rule).fit(table.frame, labels).report_ for rule in ("iqr", "zscore")},
        correlated=_correlated(table),
        sparse=table.rows is not None,
        filled=_filled(table),
        notes=list(seen.notes),
        kind=table.kind,
        task=table.task,
        values=_target_values(table) if table.measured else None,
        left_out=dict(table.left_out),
    )
    found.telling.extend(telling_columns(table))
    found.warnings.extend(caveats(found, table))
    return found


def measured(table: Table) -> Table:
    """Strings, sets or graphs as a table of what can be counted of them, with notes on what they are made of."""
    from .measurements import in_words, measurements

    notes = (*table.notes, *in_words(table))
    return replace(table, frame=measurements(table), items=None, kind="rows", notes=notes)


def _filled(table: Table) -> float:
    if table.rows is not None:
        return table.rows.nnz / max(1, table.n_rows * table.n_columns)
    return 1 - sum(table.missing.values()) / max(1, table.n_rows * table.n_columns)


def _column(table: Table, name: str) -> ColumnFacts:
    assert table.frame is not None
    column = table.frame[name]
    missing = table.missing.get(name, 0)
    kind = table.kinds[name]
    if kind in ("category", "text"):
        counts = column.value_counts()
        top = (str(counts.index[0]), int(counts.iloc[0])) if len(counts) and counts.iloc[0] else (None, None)
        own = "words" if kind == "category" else "texts"
        return ColumnFacts(name, own, missing, int((counts > 0).sum()), common=top[0], common_count=top[1])
    if kind == "date":
        return _of_dates(name, column.dropna(), missing)
    return _of_numbers(name, column.to_numpy(dtype=np.float64), missing)


def _of_dates(name: str, dates: Any, missing: int) -> ColumnFacts:
    if dates.empty:
        return ColumnFacts(name, "dates", missing, 0)
    return ColumnFacts(
        name, "dates", missing, int(dates.nunique()), first=_written(dates.min()), last=_written(dates.max())
    )


def _written(date: Any) -> str:
    """A date as the standard writes it, with the time of day where it has one."""
    return str(date.date()) if date == date.normalize() else date.isoformat(" ", "minutes")


def _target_values(table: Table) -> ColumnFacts:
    """A target of numbers, as a column."""
    assert table.y is not None
    known = table.labelled
    return _of_numbers(str(table.target), table.y[known].astype(np.float64), int((~known).sum()))


def _of_numbers(name: str, values: Array, missing: int) -> ColumnFacts:
    values = values[~np.isnan(values)]
    if not values.size:
        return ColumnFacts(name, "numbers", missing, 0)
    # Sums are taken of values brought to a scale of one, so that their powers do not overflow.
    scale = float(np.abs(values).max()) or 1.0
    small = values / scale
    centre = float(small.mean())
    spread = float(np.sqrt(np.mean((small - centre) ** 2)))
    skew = float(np.mean(((small - centre) / spread) ** 3)) if spread > 1e-12 else 0.0
    return ColumnFacts(
        name,
        "numbers",
        missing,
        int(np.unique(values).size),
        min=float(values.min()),
        max=float(values.max()),
        mean=centre * scale,
        std=float(small.std(ddof=1)) * scale if values.size > 1 else 0.0,
        skew=skew,
        outliers=OutlierFilter().fit(values[:, None]).report_.dropped,
    )


def _repeated(table: Table) -> tuple[int, int]:
    """Rows that stood before, and rows whose features also stand beside another label."""
    import pandas as pd

    groups = pd.factorize(_row_hashes(table))[0]
    duplicates = int(groups.size - (groups.max(initial=-1) + 1))
    if table.y is None or not duplicates:
        return duplicates, 0
    known = table.labelled
    labels = pd.factorize(np.array([str(label) for label in table.y[known]]))[0]
    kinds = pd.Series(labels).groupby(groups[known]).transform("nunique")
    return duplicates, int((kinds > 1).sum())


def _row_hashes(table: Table) -> Array:
    import pandas as pd

    if table.items is not None:
        from ..estimators.content import fingerprints

        marks = fingerprints(table.items)
        assert marks is not None  # strings, sets and graphs show their content
        return np.array([row.tobytes() for row in marks], dtype=object)
    if table.frame is not None:
        return pd.util.hash_pandas_object(table.frame, index=False).to_numpy()
    rows = table.rows.tocsr()
    return np.array(
        [
            hash((rows.indices[begin:end].tobytes(), rows.data[begin:end].tobytes()))
            for begin, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        ],
        dtype=np.int64,
    )


def _correlated(table: Table) -> dict[str, list[str]]:
    names = table.numeric_columns
    if table.frame is None or not 1 < len(names) <= MOST_CORRELATED or table.n_rows < 3:
        return {}
    values = table.frame[names].to_numpy(dtype=np.float64)
    counts = np.maximum(1, (~np.isnan(values)).sum(axis=0))
    values = np.where(np.isnan(values), np.nansum(values, axis=0) / counts, values)
    groups = correlated_groups(values, CORRELATED)
    return {names[first]: [names[other] for other in others] for first, others in groups.items()}
