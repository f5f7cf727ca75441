"""Do these rows come from where those came from: two tables compared as a whole, and column by column.

A table is prepared as for a machine, by steps that learn from all rows of both; and compared by MMD, on all columns and
on each alone, all with the same divisions of the rows. The evidence of a column is that of its Gaussians together
(:mod:`.results`). The p-values of columns are corrected for being several by Holm's steps, with the permutations in the
place of his inequality (Westfall and Young, 1993): the column with the most evidence is compared with the largest
evidence of any column in each random division, the next with the largest of all but the first, and so on. Holm's own
factors would ask for m/α permutations of m columns before any could be told from chance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from ..io.frames import is_frame, read_frame
from ..io.table import Options, Table
from ..runtime.arrays import Array
from ..tables.base import sources
from .candidates import candidates, check_permutations, pooled, prepared_rows, same_columns
from .forms import landmark_count
from .results import chances, evidence
from .two_samples import Witness, discrepancies, usual_rank, witness_of

__all__ = ["ColumnDrift", "Drift", "corrected", "drift"]

#: Landmarks of one column alone.
_RANK = 48


@dataclass(frozen=True)
class ColumnDrift:
    """What was found of one column.

    Attributes
    ----------
    name, kind : str
    pvalue : float
        Of this column alone.
    corrected : float
        For being one of several.
    old, new : str
        What is typical of either table, in words.
    shares : dict
        How the values are spread: "edges" of a histogram, or the "names" of categories, and the shares of rows of the
        "old" table and of the "new" one in each.
    """

    name: str
    kind: str
    pvalue: float
    corrected: float
    old: str
    new: str
    shares: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Drift:
    """What :func:`drift` found.

    Attributes
    ----------
    pvalue : float
        Of all columns together and each alone, in one test.
    statistic : float
        The squared MMD of all columns together.
    kernel : Kernel
        Under which.
    columns : list of ColumnDrift
        Those that moved most clearly first.
    witness : Witness
        Which rows of the old table (``X``) and of the new one (``Y``) speak for a difference.
    n_old, n_new, permutations : int
    """

    pvalue: float
    statistic: float
    kernel: Any
    columns: list[ColumnDrift]
    witness: Witness
    n_old: int
    n_new: int
    permutations: int

    def moved(self, alpha: float = 0.05) -> list[str]:
        """The columns that moved; none where the tables as a whole do not differ."""
        return [each.name for each in self.columns if each.corrected <= alpha] if self.pvalue <= alpha else []


def drift(old: Any, new: Any, *, permutations: int = 500, random_state: int = 0, memory: int | str = "1GB") -> Drift:
    """Test whether the rows of a table come from where those of another came from.

    Parameters
    ----------
    old, new : frames or arrays with the same columns
        Of numbers, categories, dates and texts; values may be missing. Or, as one argument each, tables of
        :func:`mercer.read` with their columns alike.
    permutations : int, default=500
        No p-value is less than 1/(1 + permutations).
    random_state : int, default=0
    memory : int or str, default="1GB"

    Returns
    -------
    Drift

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from mercer.statistics import drift
    >>> rng = np.random.default_rng(0)
    >>> old = pd.DataFrame({"age": rng.normal(40, 10, 300), "town": rng.choice(["Ulm", "Bern"], 300)})
    >>> new = pd.DataFrame({"age": rng.normal(44, 10, 200), "town": rng.choice(["Ulm", "Bern"], 200)})
    >>> found = drift(old, new)
    >>> found.pvalue < 0.01, found.moved()
    (True, ['age'])
    """
    check_permutations(permutations)
    if isinstance(old, Table) and isinstance(new, Table):
        table, n = both_tables(old, new), old.n_rows
    else:
        both, n, _ = pooled(old, new)
        table = read_frame(both if is_frame(both) else _as_frame(both), Options(labelled=False))
    m = table.n_rows - n
    if min(n, m) < 2:
        raise ValueError(f"drift compares two tables of at least two rows each; got {n} and {m}.")
    rng = np.random.default_rng(random_state)
    seed = rng.integers(2**63)
    rows, steps = prepared_rows(table)
    kernels, items = candidates(None, rows, rng)
    rank = landmark_count(None, usual_rank(n + m), n + m, 1, memory)
    values, _ = discrepancies(kernels, items, n, permutations, seed, rank, memory)
    as_a_whole = evidence(values)
    of_column = sources(steps, table.columns)
    single = np.zeros((permutations + 1, table.n_columns))
    for place in range(table.n_columns):
        own = rows[:, of_column == place]
        own = own.toarray() if hasattr(own, "toarray") else np.ascontiguousarray(own)
        if own.size and np.ptp(own, axis=0).any():
            lengths, mine = candidates(None, own, rng)
            found = discrepancies(lengths, mine, n, permutations, seed, min(_RANK, n + m), memory)[0]
            single[:, place] = special.logsumexp(evidence(found), axis=1) - np.log(len(lengths))
    whole = special.logsumexp(as_a_whole, axis=1) - np.log(len(kernels))
    columns = special.logsumexp(single, axis=1) - np.log(single.shape[1])
    joint = np.logaddexp(whole, columns)
    best = int(as_a_whole[0].argmax())
    adjusted, alone = corrected(single), chances(single)
    ranked = np.lexsort((-single[0], alone, adjusted))
    return Drift(
        float(chances(joint)), float(values[0, best]), kernels[best],
        [ColumnDrift(table.columns[k], table.kinds[table.columns[k]], float(alone[k]), float(adjusted[k]),
                     *_described(table, table.columns[k], n)) for k in ranked],
        witness_of(kernels[best], items, n, seed, rank), n, m, permutations,
    )  # fmt: skip


def corrected(values: Array) -> Array:
    """p-values of several tests by Westfall and Young's steps; the observed values stand in the first row.

    Examples
    --------
    >>> corrected(np.array([[3.0, 1.0], [0.0, 2.0], [1.0, 0.0], [2.0, 0.0]])).tolist()
    [0.25, 0.5]
    """
    order = np.argsort(values[0], kind="stable")
    largest = np.maximum.accumulate(values[:, order], axis=1)
    alone = chances(np.vstack([values[0, order], largest[1:]]))
    out = np.empty(len(order))
    out[order] = np.maximum.accumulate(alone[::-1])[::-1]
    return out


def _as_frame(rows: Any) -> Any:
    import pandas as pd

    dense = rows.toarray() if hasattr(rows, "toarray") else rows
    return pd.DataFrame(np.asarray(dense), columns=[f"x{k + 1}" for k in range(np.shape(dense)[1])])


def both_tables(old: Table, new: Table) -> Table:
    """The rows of both tables, the old ones first."""
    import pandas as pd

    assert old.frame is not None
    assert new.frame is not None
    same_columns(list(old.columns), list(new.columns))
    columns = {}
    for name in old.columns:
        parts = [old.frame[name], new.frame[name]]
        if old.kinds[name] != new.kinds[name]:
            raise ValueError(
                f"the column {name!r} is of the kind {old.kinds[name]!r} in one table and {new.kinds[name]!r} in the "
                "other; read both with the same kinds."
            )
        if old.kinds[name] == "category":
            words = sorted({str(word) for part in parts for word in part.cat.categories})
            parts = [part.astype(pd.CategoricalDtype(np.array(words, dtype=object))) for part in parts]
        columns[name] = pd.concat(parts, ignore_index=True)
    return replace(old, frame=pd.DataFrame(columns), y=None, lines=None, names=None)


#: Bars of a histogram, categories that are told one by one, and letters of a word.
_BARS, _CATEGORIES, _LETTERS = 20, 12, 24


def _described(table: Table, name: str, n: int) -> tuple[str, str, dict[str, Any]]:
    """What is typical of a column in either table, and how its values are spread there."""
    assert table.frame is not None
    values, kind = table.frame[name], table.kinds[name]
    parts = [values.iloc[:n], values.iloc[n:]]
    missing = [float(part.isna().mean()) for part in parts]
    present = [part.dropna() for part in parts]
    if kind == "category":
        counts = [part.value_counts(normalize=True) for part in present]
        names = list(values.cat.categories)
        shares = np.nan_to_num(np.array([count.reindex(names).to_numpy() for count in counts], dtype=np.float64))
        apart = np.argsort(-np.abs(shares[0] - shares[1]), kind="stable")[:_CATEGORIES]
        words = [f"{str(names[apart[0]])[:_LETTERS]!r} {share[apart[0]]:.0%}" if names else "" for share in shares]
        spread = {
            "names": [names[k] for k in apart],
            "old": shares[0, apart].tolist(),
            "new": shares[1, apart].tolist(),
        }
    else:
        numbers = [_numbers(part, kind) for part in present]
        words = [_typical(each, kind) for each in numbers]
        every = np.concatenate(numbers)
        low, high = (every.min(), every.max()) if every.size else (0.0, 1.0)
        room = max(high - low, 1e-12 * max(abs(low), abs(high)), np.finfo(np.float64).tiny)
        edges = np.linspace(low, low + room, _BARS + 1)
        heights = [np.histogram(each, edges)[0] / max(1, len(each)) for each in numbers]
        spread = {"edges": edges.tolist(), "old": heights[0].tolist(), "new": heights[1].tolist()}
    if any(missing):
        words = [f"{word}, {share:.0%} missing" for word, share in zip(words, missing, strict=True)]
    return words[0], words[1], spread


def _numbers(values: Any, kind: str) -> Array:
    """Numbers as they are, dates in seconds, texts by their lengths."""
    if kind == "text":
        return np.array([float(len(text)) for text in values])
    if kind == "date":
        return values.to_numpy().astype("datetime64[s]").astype(np.float64)
    return values.to_numpy(dtype=np.float64)


def _typical(values: Array, kind: str) -> str:
    if not values.size:
        return "nothing"
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    if kind == "date":
        return f"median {np.datetime64(int(middle), 's').astype('datetime64[D]')}"
    unit = " letters" if kind == "text" else ""
    return f"median {middle:.4g}{unit} ({low:.4g} to {high:.4g})"
