"""What is in a table, as plain facts and plain warnings.

Examples
--------
>>> from mercer.describe import describe
>>> from mercer import read
>>> print(describe(read("margins:500")).warnings[-1])
'x6' and 'x10' say almost the same as 'x3'; --correlation 0.95 keeps only the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from .checks.labels import is_measurement, looks_in_words
from .io import Table
from .messages import counted, enumeration, guide
from .preprocess.numbers import OutlierFilter, OutlierReport
from .preprocess.transformers import correlated_groups
from .runtime.arrays import Array

__all__ = [
    "ColumnFacts",
    "Description",
    "about_numbers",
    "caveats",
    "describe",
    "in_words",
    "measured",
    "measurements",
    "telling_columns",
]

# What is in a table, as plain facts: the numbers of each column, and everything that a learner may stumble over.


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
    groups = pd.factorize(_row_hashes(table))[0]
    duplicates = int(groups.size - (groups.max(initial=-1) + 1))
    if table.y is None or not duplicates:
        return duplicates, 0
    known = table.labelled
    labels = pd.factorize(np.array([str(label) for label in table.y[known]]))[0]
    kinds = pd.Series(labels).groupby(groups[known]).transform("nunique")
    return duplicates, int((kinds > 1).sum())


def _row_hashes(table: Table) -> Array:
    if table.items is not None:
        from .estimators.contents import fingerprints

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


# Strings, sets and graphs in numbers: how long, how large, made of what.


#: Letters, items or labels that are named.
_NAMED = 8


def measurements(table: Table) -> Any:
    """A frame with what can be counted of each item.

    Examples
    --------
    >>> from mercer.io.table import Table
    >>> from mercer.kernels import Graphs
    >>> triangle = Table("toy", None, items=Graphs.of([(3, [[0, 1], [1, 2], [2, 0]])]), kind="graphs")
    >>> measurements(triangle).to_dict("records")
    [{'nodes': 3.0, 'edges': 3.0, 'neighbours of a node': 2.0, 'node labels': 1.0}]
    """
    return pd.DataFrame(_MEASURES[table.kind](table.items), dtype=np.float64)


def _of_strings(strings: Any) -> dict[str, Array]:
    return {"length": np.diff(strings.starts), "different letters": _distinct(strings.codes, strings.starts)}


def _of_sets(bags: Any) -> dict[str, Array]:
    found = {"different items": np.diff(bags.counts.starts)}
    if (bags.counts.values != 1).any():
        found["items with repeats"] = bags.counts.totals()
    return found


def _of_graphs(graphs: Any) -> dict[str, Array]:
    ends = graphs.starts[graphs.node_starts]
    edges = np.diff(ends) / 2
    return {
        "nodes": graphs.sizes,
        "edges": edges,
        "neighbours of a node": 2 * edges / np.maximum(1, graphs.sizes),
        "node labels": _distinct(graphs.node_labels, graphs.node_starts),
    }


def _distinct(values: Array, starts: Array) -> Array:
    """How many different values each piece has."""
    return np.array([np.unique(values[begin:end]).size for begin, end in pairwise(starts)])


def in_words(table: Table) -> list[str]:
    """What the items are made of, and what is odd about them."""
    return [sentence for sentence in _WORDS[table.kind](table.items) if sentence]


def _about_strings(strings: Any) -> list[str]:
    codes, counts = np.unique(strings.codes, return_counts=True)
    shares = dict(zip(map(chr, codes.tolist()), (counts / max(1, counts.sum())).tolist(), strict=True))
    sizes = np.diff(strings.starts)
    aligned = sizes.size and sizes.min() == sizes.max()
    return [
        f"{codes.size} different letters; the commonest are {_listed(shares)}.",
        f"All strings have the length {sizes[0]}, so kernels may compare them place by place." if aligned else "",
        _empty(int((sizes == 0).sum()), "strings"),
    ]


def _about_sets(bags: Any) -> list[str]:
    held = Counter({bags.names[key]: number for key, number in zip(*_counted(bags.counts.keys), strict=True)})
    shares = {str(name): number / max(1, len(bags)) for name, number in held.most_common(_NAMED)}
    return [
        f"{len(held)} different items; the commonest are {_listed(shares)} of the sets.",
        _empty(int((np.diff(bags.counts.starts) == 0).sum()), "sets"),
    ]


def _about_graphs(graphs: Any) -> list[str]:
    found = []
    for what, keys in (("Nodes", graphs.node_labels), ("Edges", graphs.edge_labels)):
        known, counts = _counted(keys)
        if known and known[0] in graphs.names:
            order = sorted(zip(counts, known, strict=True), reverse=True)[:_NAMED]
            shares = {str(graphs.names[key]): number / keys.size for number, key in order}
            found.append(f"{what} have {len(known)} different labels; the commonest are {_listed(shares)}.")
        else:
            found.append(f"{what} have no labels.")
    return [*found, _empty(int((graphs.sizes == 0).sum()), "graphs")]


def _counted(keys: Array) -> tuple[list[int], list[int]]:
    found, counts = np.unique(keys, return_counts=True)
    return found.tolist(), counts.tolist()


def _listed(shares: dict[str, float]) -> str:
    most = sorted(shares.items(), key=lambda pair: -pair[1])[:_NAMED]
    return ", ".join(f"{name!r} ({'<1' if share < 0.01 else f'{100 * share:.0f}'} %)" for name, share in most)


def _empty(number: int, kind: str) -> str:
    return f"{number} of the {kind} are empty." if number else ""


_MEASURES = {"strings": _of_strings, "sets": _of_sets, "graphs": _of_graphs}
_WORDS = {"strings": _about_strings, "sets": _about_sets, "graphs": _about_graphs}


# What a learner of numbers may stumble over in its target, each in a plain sentence.


#: A target is skewed beyond this, and far from the others beyond so many widths of its middle half.
_SKEWED, _FAR = 1.0, 20.0
#: The share of rows with one value that is worth a word, and correlations that are no chance.
_REPEATED, _WITH_ROWS = 0.2, 0.95
#: Rows from which on an order of the target means something.
_ENOUGH = 20


def about_numbers(found: Description, table: Table) -> Iterator[str]:
    """Warnings about a target of numbers."""
    assert table.y is not None
    facts, y = found.values, table.y[table.labelled].astype(np.float64)
    if facts is None or facts.distinct == 0:
        return
    name = f"The target {found.target!r}"
    if facts.distinct == 1:
        yield f"{name} has the same value in every row, {y[0]:g}: there is nothing to learn."
        return
    if y.size >= _ENOUGH and np.array_equal(np.diff(y), np.ones(y.size - 1)):
        yield f"{name} numbers the rows: is it an identifier? Name another column with --target."
        return
    if y.size >= _ENOUGH and abs(_rank_correlation(np.arange(y.size), y)) > _WITH_ROWS:
        yield (
            f"{name} goes up or down with the row numbers: rows in the order of the target, or of time? Rows are drawn "
            "at random for the test, so values after the last ones may be predicted worse."
        )
    yield from _about_tails(name, facts, y)
    common, count = _commonest(y)
    if facts.distinct > 2 and count > _REPEATED * y.size:
        yield f"{name} is {common:g} in {100 * count / y.size:.0f} % of the rows: is that a value, or a word for none?"


def _about_tails(name: str, facts: ColumnFacts, y: Array) -> Iterator[str]:
    lower, middle, upper = np.quantile(y, [0.25, 0.5, 0.75])
    far = float(np.abs(y - middle).max())
    if facts.skew is not None and facts.skew > _SKEWED and y.min() > 0:
        yield (
            f"{name} is positive and skewed (skew {facts.skew:.1f}): a few large values decide; consider learning "
            "its logarithm."
        )
    elif upper > lower and far > _FAR * (upper - lower):
        yield (
            f"{name} has values up to {far / (upper - lower):.0f} widths of its middle half away from the median: look "
            "at them, or use a loss that they pull less (huber, svr)."
        )


def _rank_correlation(a: Array, b: Array) -> float:
    return float(spearmanr(a, b).statistic) if np.ptp(b) > 0 else 0.0


def _commonest(y: Array) -> tuple[float, int]:
    values, counts = np.unique(y, return_counts=True)
    place = int(counts.argmax())
    return float(values[place]), int(counts[place])


# What a learner may stumble over in a table, each in a plain sentence.


def caveats(found: Description, table: Table) -> list[str]:
    """Warnings about a described table, the gravest first."""
    about_columns = _about_columns(found, table) if found.kind == "rows" else ()
    about_target = about_numbers(found, table) if table.measured else _about_labels(found, table)
    return [*found.telling, *about_target, *_about_rows(found), *about_columns]


def _about_labels(found: Description, table: Table) -> Iterator[str]:
    labelled = sum(found.classes.values())
    if not labelled:
        return
    largest, count = max(found.classes.items(), key=lambda pair: pair[1])
    smallest, few = min(found.classes.items(), key=lambda pair: pair[1])
    if len(found.classes) == 1:
        yield f"All rows have the same label, {largest!r}: there is nothing to learn."
    elif table.y is not None and is_measurement(table.y[table.labelled]):
        yield f"Learners would refuse this: {looks_in_words(found.target, table.y[table.labelled])}."
    else:
        if count >= 0.8 * labelled:
            yield (
                f"The classes are unequal: always answering {largest!r} is right in {100 * count / labelled:.1f} % of "
                "the rows, so judge a learner against that."
            )
        if few < 10:
            there = counted(few, found.kind.removesuffix("s"))
            yield f"Class {smallest!r} has only {there}: too few to learn from, or to test on."


def _about_rows(found: Description) -> Iterator[str]:
    features = len(found.columns)
    one, many = found.kind.removesuffix("s"), found.kind
    if found.rows < 50:
        there = counted(found.rows, one)
        yield f"There {'is' if found.rows == 1 else 'are'} only {there}: errors measured on so few say little."
    if found.kind == "rows" and features > found.rows:
        yield f"There are more columns ({features}) than rows ({found.rows}): almost any learner will fit them exactly."
    if found.contradictions:
        contradictory = counted(found.contradictions, f"{one} has", f"{many} have")
        other, right = ("label", "right") if found.task == "classify" else ("value of the target", "exact")
        yield f"{contradictory} an equal {one} with another {other}: no learner can be {right} on all."
    if found.duplicates:
        yield (
            f"{counted(found.duplicates, f'{one} repeats', f'{many} repeat')} an earlier one: if copies fall into both "
            f"training and test {many}, the test error is too good {guide('leakage')}."
        )
    for rule, report in found.outliers.items():
        if rule != "iqr" or report.dropped < 20 or len(report.by_class) < 2:
            continue
        label, (gone, count) = max(report.by_class.items(), key=lambda pair: pair[1][0])
        if gone / report.dropped > count / report.rows + 0.15:
            yield (
                f"Of {report.dropped} outliers {gone} are of class {label}: an outlier filter would remove mostly that "
                "class."
            )


def _about_columns(found: Description, table: Table) -> Iterator[str]:
    incomplete = [column.name for column in found.columns if column.missing and column.distinct]
    if incomplete:
        yield (
            f"{enumeration(map(repr, incomplete), 5)} {'has' if len(incomplete) == 1 else 'have'} missing values: "
            "numbers are filled with their median and a column says where, a missing category is one more category; "
            "--impute none refuses them, --drop leaves columns out."
        )
    nothing = {name: why for name, why in found.left_out.items() if why in ("only one value", "no values")}
    for name, why in nothing.items():
        yield f"Column {name!r} has {why} and is left out."
    for column in found.columns:
        yield from _about_column(column, found.rows, table)
    for first, others in found.correlated.items():
        same = enumeration(map(repr, others), 5)
        say = "says" if len(others) == 1 else "say"
        yield f"{same} {say} almost the same as {first!r}; --correlation 0.95 keeps only the first."
    spreads = [column.std for column in found.columns if column.std]
    if len(spreads) > 1 and max(spreads) > 100 * min(spreads):
        yield (
            "The columns have very different scales: standardise them, as 'mercer train' does by default "
            f"{guide('scaling columns')}."
        )


def _about_column(column: ColumnFacts, rows: int, table: Table) -> Iterator[str]:
    name = f"Column {column.name!r}"
    here = rows - column.missing
    if column.distinct == 0:
        yield f"{name} is empty and will be left out."
    elif column.distinct == 1 and not column.missing:
        yield f"{name} has the same value in every row and tells nothing."
    elif column.missing > 0.5 * rows:
        yield f"{name} has no value in {100 * column.missing / rows:.0f} % of the rows."
    elif column.kind == "words" and column.distinct > max(20, 0.5 * here):
        yield (
            f"{name} has a different word in most rows: an identifier or free text? Leave it out with --drop, or "
            f'compare its texts with --kernel "spectrum(p=3).on({column.name!r})".'
        )
    elif column.kind == "words" and column.distinct > 100:
        yield f"{name} has {column.distinct} different words, each of which becomes a column."
    elif column.kind == "numbers" and rows > 20 and _counts_up(column, table):
        yield f"{name} numbers the rows: leave it out with --drop."
    elif column.skew is not None and abs(column.skew) > 5:
        side = "right" if column.skew > 0 else "left"
        yield f"{name} is very skewed to the {side} (skew {column.skew:.1f}): a logarithm may help."


def _counts_up(column: ColumnFacts, table: Table) -> bool:
    if table.frame is None or column.distinct != table.n_rows:
        return False
    return bool((np.diff(table.frame[column.name].to_numpy()) == 1).all())


# Columns that give the target away: they follow from it, or it follows from them, and new rows may not have them.


#: Rows that are looked at, at least and at most, and numeric columns that are looked at together.
_FEWEST, _MOST, _TOGETHER = 20, 5000, 100
#: Rows of a value on average, from which on it is no name of a row, and rows of other classes than the commonest.
_AGAIN, _OTHERS = 5, 5
#: What is left where a target is given away: of its variance and of its deviation, and of rows and of guessed mistakes.
_VARIANCE, _DEVIATION, _ROWS, _MISTAKES = 1e-3, 1e-4, 0.005, 0.05
#: Columns that are named as the parts of a target, and what a sum of them may leave of its variance.
_PARTS, _NEARLY = 4, 0.01


def telling_columns(table: Table) -> list[str]:
    """A sentence about each column, and each few columns together, that all but say what the target is.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from mercer.io import Table
    >>> k = np.arange(60)
    >>> frame = pd.DataFrame({"day": k % 7, "children": k * 17 % 11, "adults": k * 23 % 13})
    >>> visits = Table("visits", frame, None, frame["children"] + frame["adults"], "visitors", asked="regress")
    >>> telling_columns(visits)[0].partition(":")[0]
    "'children' and 'adults' together give the target exactly, as a sum or difference"
    """
    if table.frame is None or table.y is None:
        return []
    rows = np.flatnonzero(table.labelled)
    if rows.size > _MOST:
        rows = np.sort(np.random.default_rng(0).choice(rows, _MOST, replace=False))
    if rows.size < _FEWEST:
        return []
    frame, y = table.frame.iloc[rows], np.asarray(table.y)[rows]
    looked = [*table.numeric_columns, *table.category_columns]
    if table.measured:
        y = y.astype(np.float64)
        if np.ptp(y) == 0:
            return []
        alone = [name for name in looked if _tells_number(frame[name], y, name in table.numeric_columns)]
        numbers = frame[[name for name in table.numeric_columns if name not in alone]]
        return [*(_one(name, "") for name in alone), *_parts(numbers, y)]
    codes, counts = np.unique(y, return_inverse=True, return_counts=True)[1:]
    guessed = 1 - counts.max() / codes.size
    if guessed * codes.size < _OTHERS:
        return []
    found = []
    for name in looked:
        missed = _missed(frame[name], codes, name in table.numeric_columns)
        if missed <= min(_ROWS, _MISTAKES * guessed):
            found.append(_one(name, " of every row" if missed == 0 else f" of {100 * (1 - missed):.1f} % of the rows"))
    return found


def _one(name: str, which: str) -> str:
    what = f"the class{which}" if which else "the target"
    return (
        f"Column {name!r} alone tells {what}: was it made from it, or known only with it? Then leave it out, with "
        f"--drop {guide('leakage')}."
    )


def _groups(column: Any) -> Array | None:
    """Which rows have the same value; ``None`` where values hardly come again."""
    codes = pd.factorize(column, use_na_sentinel=False)[0]
    return codes if codes.max() + 1 <= codes.size / _AGAIN else None


def _missed(column: Any, codes: Array, numeric: bool) -> float:
    """The share of rows whose class a column does not tell, by its values or by thresholds on them."""
    groups, missed = _groups(column), 1.0
    if groups is not None:
        both = np.zeros((groups.max() + 1, codes.max() + 1))
        np.add.at(both, (groups, codes), 1)
        again = both.sum(axis=1) > 1
        missed = 1 - both[again].max(axis=1).sum() / codes.size
    if not numeric or column.isna().any():
        return float(missed)
    order = np.lexsort((codes, column.to_numpy()))
    values, sorted_codes = column.to_numpy()[order], codes[order]
    ends = np.flatnonzero(np.diff(sorted_codes))
    apart = ends.size == codes.max() and (values[ends] < values[ends + 1]).all()
    return 0.0 if apart and np.bincount(codes).min() >= _AGAIN else float(missed)


def _tells_number(column: Any, y: Array, numeric: bool) -> bool:
    groups = _groups(column)
    if groups is not None:
        sizes = np.bincount(groups)
        inside = y - (np.bincount(groups, weights=y) / sizes)[groups]
        if sizes.min() > 1 and np.mean(inside**2) <= _VARIANCE * y.var() / 10:
            return True
    if not numeric:
        return False
    known = column.notna().to_numpy()
    values, own = column.to_numpy(dtype=np.float64)[known], y[known]
    if values.size < _FEWEST or np.ptp(values) == 0 or np.ptp(own) == 0:
        return False
    return bool(abs(np.corrcoef(values / np.abs(values).max(), own / np.abs(own).max())[0, 1]) > 1 - _VARIANCE)


def _parts(numbers: Any, y: Array) -> Iterator[str]:
    """Few columns whose sum or difference, or else whose product or quotient, is the target."""
    rows = numbers.to_numpy(dtype=np.float64)
    whole = np.isfinite(rows).all(axis=1)
    rows, y, width = rows[whole], y[whole], rows.shape[1]
    if not 1 < width <= _TOGETHER or len(rows) < max(_FEWEST, _AGAIN * width) or np.ptp(y) == 0:
        return
    names = np.array(numbers.columns, dtype=object)
    parts = _involved(rows, y)
    if 1 < parts.size <= _PARTS:
        yield _together(names[parts], "exactly, as a sum or difference")
        return
    positive = np.flatnonzero((rows > 0).all(axis=0))
    if positive.size > 1 and (y > 0).all():
        parts = positive[_involved(np.log(rows[:, positive]), np.log(y))]
        if 1 < parts.size <= _PARTS:
            yield _together(names[parts], "exactly, as a product or quotient")
            return
    nearly, told = _nearly_involved(rows, y)
    if nearly:
        yield _together(names[nearly], f"as a sum or difference, but for {100 * (1 - told):.1g} % of its variance")


def _together(names: Array, how: str) -> str:
    return (
        f"{enumeration(map(repr, names))} together give the target {how}: if new rows have them there is "
        f"{'nothing' if how.startswith('exactly') else 'little'} to learn, and if not leave one out, with --drop "
        f"{guide('leakage')}."
    )


def _standard(rows: Array, y: Array) -> tuple[Array, Array, Array]:
    """The columns that vary, and these and the target with mean 0 and deviation 1."""
    varying = np.flatnonzero(np.ptp(rows, axis=0) > 0)
    centred = (rows[:, varying] - rows[:, varying].mean(axis=0)) / rows[:, varying].std(axis=0)
    return varying, centred, (y - y.mean()) / y.std() if y.std() else y - y.mean()


def _nearly_involved(rows: Array, y: Array) -> tuple[list[int], float]:
    """Few columns, chosen one by one, of which a weighted sum is nearly the target; and the part of it that they tell.

    Columns of one and the same thing measured, such as a distance and a fare, hardly ever tell so much of it.
    """
    varying, columns, left = _standard(rows, y)
    chosen: list[int] = []
    while len(chosen) < min(_PARTS, varying.size):
        sizes = np.square(columns).sum(axis=0)
        gains = np.divide(np.square(left @ columns), sizes, out=np.zeros_like(sizes), where=sizes > 1e-9 * len(left))
        best = int(gains.argmax())
        direction = columns[:, best] / np.sqrt(max(sizes[best], 1e-300))
        left = left - direction * (direction @ left)
        columns = columns - np.outer(direction, direction @ columns)
        chosen.append(int(varying[best]))
        if left.var() <= _NEARLY:
            break
    return (chosen, 1 - float(left.var())) if left.var() <= _NEARLY and len(chosen) > 1 else ([], 0.0)


def _involved(rows: Array, y: Array) -> Array:
    """The columns of which the target is a weighted sum; none where it is not."""
    varying, centred, target = _standard(rows, y)
    weights = np.linalg.lstsq(centred, target, rcond=1e-10)[0]
    if np.std(target - centred @ weights) > _DEVIATION:
        return varying[:0]
    return varying[np.abs(weights) > 10 * _DEVIATION]
