"""Bad and odd inputs, each with the answer that is right: a sentence that names what is wrong, or the usual fit.

One table for all estimators. :func:`wrong_answer` gives a case to an estimator and says what is wrong with what comes
back, judged from outside: the sentence by its words, a fit by comparing it with that of the plain rows.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError

try:
    import polars
except ImportError:
    polars = None

N = 24
_rng = np.random.default_rng(5)
#: Rows that every kind of number holds exactly, half precision too.
X = np.round(_rng.standard_normal((N, 3)) * 8) / 8
CLASSES = (X[:, 0] + X[:, 1] > 0).astype(int)
NUMBERS = np.round(X @ [1.0, -2.0, 0.5] * 4) / 4
#: Seconds within which every answer must come; machines that run many tests at once are slow.
PATIENCE = 30.0


@dataclass(frozen=True)
class Case:
    """An input, for which tasks it is meant, and what the answer says; where it says nothing, the fit is the usual."""

    name: str
    says: str | None
    X: Callable[[], Any] = lambda: X.copy()
    y: Callable[[Any], Any] = lambda y: y.copy()
    weight: Callable[[], Any] | None = None
    tasks: tuple[str, ...] = ("classify", "regress", "novelty")

    def __str__(self) -> str:
        return self.name


# -- rows ---------------------------------------------------------------------------------------------------------


def _mapped(values: Any) -> Any:
    with tempfile.NamedTemporaryFile() as file:
        out = np.memmap(file.name, dtype=values.dtype, mode="w+", shape=values.shape)
        out[:] = values
        return out


def _read_only(values: Any) -> Any:
    out = values.copy()
    out.flags.writeable = False
    return out


def _strided(values: Any) -> Any:
    out = np.zeros((2 * len(values), values.shape[1] + 2))
    out[::2, 1:-1] = values
    return out[::2, 1:-1]


def _long_indices(values: Any) -> Any:
    out = sparse.csr_array(values)
    out.indices, out.indptr = out.indices.astype(np.int64), out.indptr.astype(np.int64)
    return out


def _frame(values: Any) -> Any:
    return pd.DataFrame(values, columns=list("abc"))


#: The same numbers in every kind of container that people bring.
CONTAINERS: dict[str, Callable[[Any], Any]] = {
    "list": lambda V: V.tolist(),
    "tuple of tuples": lambda V: tuple(map(tuple, V.tolist())),
    "list of arrays": list,
    "Fortran order": np.asfortranarray,
    "float32": lambda V: V.astype(np.float32),
    "float16": lambda V: V.astype(np.float16),
    "long double": lambda V: V.astype(np.longdouble),
    "big-endian": lambda V: V.astype(">f8"),
    "objects": lambda V: V.astype(object),
    "read-only": _read_only,
    "memmap": _mapped,
    "strided": _strided,
    "reversed twice": lambda V: np.ascontiguousarray(V[::-1])[::-1],
    "matrix rows": lambda V: np.ascontiguousarray(V.T).T,
    "frame": _frame,
    "frame of float32": lambda V: _frame(V).astype("float32"),
    "frame with a repeated index": lambda V: _frame(V).set_index(np.zeros(len(V), int)),
    "frame of nullable numbers": lambda V: _frame(V).astype("Float64"),
    "frame of objects": lambda V: _frame(V).astype(object),
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "bsr": sparse.bsr_array,
    "lil": sparse.lil_array,
    "csr matrix": sparse.csr_matrix,
    "int64 sparse indices": _long_indices,
}
if polars is not None:
    CONTAINERS["polars"] = lambda V: polars.DataFrame({name: V[:, k].tolist() for k, name in enumerate("abc")})


def changed(value: Any, row: int = 4, column: int = 1) -> Any:
    """The rows with one value changed."""
    out = X.astype(object) if value is None or isinstance(value, str) else X.copy()
    out[row, column] = value
    return out


def damaged(how: str, values: Any = X) -> Any:
    """Sparse rows whose arrays contradict each other."""
    out = sparse.csr_array(values)
    if how == "beyond":
        out.indptr = out.indptr.copy()
        out.indptr[-1] = 10**6
    elif how == "decreasing":
        out.indptr = out.indptr.copy()
        out.indptr[5] = 40
    elif how == "begin":
        out.indptr = out.indptr + 3
    elif how == "short":
        out.data = out.data[:-7]
    elif how == "index":
        out.indices = out.indices.copy()
        out.indices[4] = 10**6
    elif how == "negative":
        out.indices = out.indices.copy()
        out.indices[4] = -3
    elif how == "rows":
        out.indptr = out.indptr[:-4]
    elif how == "columns":
        out = sparse.csc_array(values)
        out.indptr = out.indptr.copy()
        out.indptr[-1] = 10**6
    elif how == "pairs":
        out = sparse.coo_array(values)
        out.coords = (out.coords[0], out.coords[1] + 10**6)
    return out


DAMAGES = ["beyond", "decreasing", "begin", "short", "index", "negative", "rows", "columns", "pairs"]


def _rows() -> Iterator[Case]:
    for name, make in CONTAINERS.items():
        yield Case(name, None, X=lambda make=make: make(X))
        for value in (np.nan, np.inf, -np.inf):
            what = "NaN" if np.isnan(value) else "infinity"
            bad = changed(value)
            yield Case(
                f"{what} {value} in {name}",
                rf"{what}.* in row 4, column 1",
                X=lambda make=make, bad=bad: make(bad),
            )
    for name in ("list", "frame", "csr", "Fortran order"):
        make = CONTAINERS[name]
        yield Case(f"values of 1e200 in {name}", "scale the columns", X=lambda make=make: make(X * 1e200))
        yield Case(f"values of 1e-200 in {name}", "squares vanish", X=lambda make=make: make(X * 1e-200))
        yield Case(f"denormal values in {name}", "squares vanish", X=lambda make=make: make(X * 1e-310))
    for how in DAMAGES:
        yield Case(
            f"damaged sparse rows: {how}", "sparse X is damaged.*build the matrix again", X=lambda how=how: damaged(how)
        )
    yield Case("None in objects", "NaN in row 4, column 1", X=lambda: changed(None))
    yield Case("a word in objects", "row 4 holds 'red'", X=lambda: changed("red"))
    yield Case("pd.NA", "NaN in row 4, column 1 \\('b'\\)", X=lambda: _nullable_with_gap())
    yield Case("a whole number of 400 digits", "too large", X=lambda: [[10**400, 1, 2], *X.tolist()[1:]])
    yield Case("no rows", "0 sample", X=lambda: X[:0], y=lambda y: y[:0])
    yield Case("no columns", "0 feature", X=lambda: X[:, :0])
    yield Case("one dimension", "Expected 2D array, got 1D", X=lambda: X[:, 0])
    yield Case("three dimensions", "array with dim 3", X=lambda: X.reshape(N, 3, 1))
    yield Case("a number", "Expected 2D array, got scalar", X=lambda: 3.0)
    yield Case("nothing", "X is None, not rows in an order", X=lambda: None)
    yield Case("a text", "X is a str, not rows in an order", X=lambda: "rows")
    yield Case("a dict", "not rows in an order", X=lambda: {"a": X[:, 0]})
    yield Case("a set", "not rows in an order", X=lambda: set(X[:, 0]))
    yield Case("an iterator", "not rows in an order", X=lambda: iter(X.tolist()))
    yield Case("texts", "kernel for strings", X=lambda: ["a", "b"] * (N // 2))
    yield Case(
        "words in columns", "column 0 of X is not numeric: row 0 holds 'a'", X=lambda: np.array([["a", "b", "c"]] * N)
    )
    yield Case("ragged rows", "inhomogeneous", X=lambda: [[1.0, 2.0], *X.tolist()[1:]])
    yield Case("complex numbers", "X has complex numbers", X=lambda: X * 1j)
    yield Case("complex numbers in a list", "holds a 'complex'", X=lambda: (X * 1j).tolist())
    yield Case("complex sparse", "X has complex numbers", X=lambda: sparse.csr_array(X * 1j))
    yield Case("a masked array", "X is a masked array", X=lambda: np.ma.masked_array(X, X > 0))
    yield Case("dates", "X holds dates", X=lambda: X.astype("datetime64[s]"))
    yield Case("durations", "dates or durations", X=lambda: X.astype("timedelta64[s]"))
    yield Case(
        "a frame with dates", "column 'when'.*datetime", X=lambda: _frame(X).assign(when=pd.Timestamp("2020-01-01"))
    )
    yield Case(
        "a frame with categories",
        "column 'c'.*category; encode",
        X=lambda: _frame(X).assign(c=pd.Categorical(["r", "b"] * (N // 2))),
    )
    yield Case(
        "a frame with words",
        "column 'c'.*not numeric: row 0 holds 'r'",
        X=lambda: _frame(X).assign(c=["r", "b"] * (N // 2)),
    )
    yield Case("a list of sets", "holds a 'set'", X=lambda: [{1, 2}] * N)
    yield Case(
        "other numbers of rows and labels",
        r"inconsistent numbers of samples: \[21, 24\]",
        X=lambda: X[:-3],
        tasks=("classify", "regress"),
    )
    if polars is not None:
        plain = CONTAINERS["polars"]
        yield Case("a lazy frame", "X is a LazyFrame.*collect", X=lambda: plain(X).lazy())
        yield Case(
            "polars words",
            "column 'c' of X is not numeric: row 0",
            X=lambda: plain(X).with_columns(c=polars.Series(["r", "b"] * (N // 2))),
        )
        yield Case(
            "polars categories",
            "column 'c'",
            X=lambda: plain(X).with_columns(c=polars.Series(["r", "b"] * (N // 2), dtype=polars.Categorical)),
        )
        yield Case("polars dates", "column 'c'", X=lambda: plain(X).with_columns(c=polars.date(2020, 1, 1)))


def _nullable_with_gap() -> Any:
    out = _frame(X).astype("Float64")
    out.iloc[4, 1] = pd.NA
    return out


# -- labels, targets, weights -----------------------------------------------------------------------------------------

_TEXTS = np.array(["no", "yes"])


def _labels() -> Iterator[Case]:
    fine: dict[str, Callable[[Any], Any]] = {
        "labels of text": lambda y: _TEXTS[y],
        "labels of emoji": lambda y: np.array(["🙂", "🙃"])[y],
        "true and false": lambda y: y.astype(bool),
        "labels in a list": lambda y: y.tolist(),
        "labels of text in a list": lambda y: _TEXTS[y].tolist(),
        "labels in a tuple": lambda y: tuple(y.tolist()),
        "labels of text as objects": lambda y: _TEXTS[y].astype(object),
        "negative labels": lambda y: 2 * y - 1,
        "labels of 8 bits": lambda y: y.astype(np.int8),
        "labels without a sign": lambda y: y.astype(np.uint64),
        "large labels": lambda y: y + 2**62,
        "labels as whole floats": lambda y: y.astype(float),
        "a series of labels": lambda y: pd.Series(y, index=range(100, 100 + N)),
        "a series of categories": lambda y: pd.Series(pd.Categorical(_TEXTS[y])),
        "a series of nullable labels": lambda y: pd.Series(y, dtype="Int64"),
        "a series of nullable truth": lambda y: pd.Series(y.astype(bool), dtype="boolean"),
        "a series of texts": lambda y: pd.Series(_TEXTS[y], dtype="string"),
        "read-only labels": _read_only,
    }
    for name, make in fine.items():
        yield Case(name, None, y=make, tasks=("classify",))
    if polars is not None:
        yield Case(
            "a polars series of labels", None, y=lambda y: polars.Series(_TEXTS[y].tolist()), tasks=("classify",)
        )

    def with_one(value: Any) -> Callable[[Any], Any]:
        return lambda y: [*_TEXTS[y][:3].tolist(), value, *_TEXTS[y][4:].tolist()]

    bad: dict[str, tuple[str, Callable[[Any], Any]]] = {
        "a missing label": ("missing label in row 3", with_one(None)),
        "a label that is NaN": ("missing label in row 3", with_one(float("nan"))),
        "a label that is pd.NA": ("missing label in row 3", with_one(pd.NA)),
        "a number among texts": ("mixes numbers \\(row 3\\) and text", with_one(7)),
        "NaN among numbers": ("missing label in row 3", lambda y: np.r_[y[:3], np.nan, y[4:]]),
        "a gap in a nullable series": (
            "missing label in row 3",
            lambda y: pd.Series(y, dtype="Int64").mask(np.arange(N) == 3),
        ),
        "one class": ("only one class, 0", lambda y: np.zeros_like(y)),
        "measurements": ("Unknown label type: continuous", lambda y: NUMBERS + 0.1),
        "no labels": ("requires y to be passed", lambda y: None),
        "a text as labels": ("y should be a 1d array|inconsistent numbers of samples", lambda y: "no"),
        "labels of other shape": ("dim 3|Unknown label type", lambda y: np.zeros((N, 2, 2))),
        "words in two columns": ("y has 2 columns|y should be|label type", lambda y: np.stack([_TEXTS[y]] * 2, axis=1)),
        "lists of words": ("MultiLabelBinarizer", lambda y: [["a", "b"]] * N),
        "masked labels": ("masked in row 0", lambda y: np.ma.masked_array(y, np.arange(N) == 0)),
        "infinite labels": ("the label of row 0 is inf", lambda y: np.r_[np.inf, y[1:].astype(float)]),
        "dicts": ("make all labels one kind|Unknown label type", lambda y: [{}] * N),
    }  # fmt: skip
    for name, (says, make) in bad.items():
        yield Case(name, says, y=make, tasks=("classify",))


def _targets() -> Iterator[Case]:
    fine: dict[str, Callable[[Any], Any]] = {
        "targets in a list": lambda y: y.tolist(),
        "targets of float32": lambda y: y.astype(np.float32),
        "targets as fractions": lambda y: [Fraction(value) for value in y],
        "targets as objects": lambda y: y.astype(object),
        "a series of targets": lambda y: pd.Series(y, index=range(100, 100 + N)),
        "nullable targets": lambda y: pd.Series(y, dtype="Float64"),
        "read-only targets": _read_only,
        "big-endian targets": lambda y: y.astype(">f8"),
    }
    for name, make in fine.items():
        yield Case(name, None, y=make, tasks=("regress",))

    def with_one(value: Any) -> Callable[[Any], Any]:
        return lambda y: [*y[:3].tolist(), value, *y[4:].tolist()]

    bad: dict[str, tuple[str, Callable[[Any], Any]]] = {
        "a missing target": ("row 3", with_one(None)),
        "a target that is NaN": ("row 3", with_one(float("nan"))),
        "a target that is infinite": ("row 3", with_one(float("inf"))),
        "a target that is pd.NA": ("row 3", with_one(pd.NA)),
        "a target that is a word": ("row 3 holds 'high'", with_one("high")),
        "a target that is a numeral": ("row 3 holds '1.5'", with_one("1.5")),
        "a complex target": ("the target in row 3 is 1j", with_one(1j)),
        "a target of 400 digits": ("row 3 holds a number of too many digits", with_one(10**400)),
        "NaN in an array": ("row 3", lambda y: np.r_[y[:3], np.nan, y[4:]]),
        "targets of 1e200": ("row 4.*whose squares overflow; write it in other units", lambda y: y * 1e200),
        "no targets": ("requires y to be passed", lambda y: None),
        "masked targets": ("masked in row 0", lambda y: np.ma.masked_array(y, np.arange(N) == 0)),
        "targets that are dates": ("row 0 holds datetime", lambda y: y.astype("datetime64[s]")),
    }  # fmt: skip
    for name, (says, make) in bad.items():
        yield Case(name, says, y=make, tasks=("regress",))


def _weights() -> Iterator[Case]:
    ones = np.ones(N)
    for name, make in {
        "weights of one": lambda: ones.copy(),
        "whole weights": lambda: np.ones(N, int),
        "weights in a list": lambda: ones.tolist(),
        "a series of weights": lambda: pd.Series(ones),
    }.items():
        yield Case(name, None, weight=make)
    for name, says, weight in (
        ("a negative weight", "the weight of row 0 is -1", np.r_[-1.0, ones[1:]]),
        ("a weight that is NaN", "the weight of row 0 is nan", np.r_[np.nan, ones[1:]]),
        ("a weight that is infinite", "the weight of row 0 is inf", np.r_[np.inf, ones[1:]]),
        ("weights of zero", "at least one non-zero number", 0 * ones),
        ("too few weights", r"sample_weight.shape == \(5,\), expected \(24,\)", ones[:5]),
        ("weights in two columns", "Sample weights must be 1D", np.ones((N, 2))),
        ("words as weights", "could not convert string to float: 'heavy'", ["heavy"] * N),
        ("a set of weights", "one number for each row", {1.0}),
        ("weights of 400 digits", "one number for each row", [10**400] * N),
    ):
        yield Case(name, says, weight=lambda weight=weight: weight)
    yield Case(
        "no weight in one class",
        "remove class|only one class|class 0 has 0 row",
        weight=lambda: CLASSES.astype(float),
        tasks=("classify",),
    )


CASES = [*_rows(), *_labels(), *_targets(), *_weights()]


# -- the judge ----------------------------------------------------------------------------------------------------


def task_of(estimator: Any) -> str:
    """What an estimator learns."""
    return "classify" if is_classifier(estimator) else "regress" if is_regressor(estimator) else "novelty"


def _digest(given: Any) -> str:
    """What changes when somebody writes into a caller's data."""
    if isinstance(given, np.ndarray):
        parts = [repr(given.tolist()), str(given.dtype), str(given.shape)]
    elif sparse.issparse(given):
        arrays = [getattr(given, name, None) for name in ("data", "indices", "indptr", "coords")]
        parts = [repr([np.asarray(each).tolist() for each in arrays if each is not None and given.format != "lil"])]
    elif hasattr(given, "to_dict"):
        parts = [repr(given.to_dict())]
    else:
        parts = ["" if isinstance(given, Iterator) else repr(given)]
    return hashlib.sha256("".join(parts).encode()).hexdigest()


def _answer(estimator: Any, rows: Any, y: Any, weight: Any) -> Any:
    more = {} if weight is None else {"sample_weight": weight}
    model = clone(estimator)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    fitted = model.fit(rows, **more) if task_of(estimator) == "novelty" else model.fit(rows, y, **more)
    return fitted.decision_function(X) if task_of(estimator) == "novelty" else fitted.predict(X)


_PLAIN: dict[tuple[str, bool], Any] = {}


def _plain(estimator: Any, weight: Any) -> Any:
    """The predictions after a fit on plain rows, with weights of one or with none."""
    key = repr(estimator), weight is None
    if key not in _PLAIN:
        y = NUMBERS if task_of(estimator) == "regress" else CLASSES
        _PLAIN[key] = _answer(estimator, X, y, None if weight is None else np.ones(N))
    return _PLAIN[key]


def wrong_answer(case: Case, estimator: Any) -> str:
    """What is wrong with what an estimator does about a case; nothing where it is right."""
    rows = case.X()
    y = case.y((NUMBERS if task_of(estimator) == "regress" else CLASSES).copy())
    weight = None if case.weight is None else case.weight()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _plain(estimator, None)  # what is compiled at the first call is compiled now
    before, began = [_digest(each) for each in (rows, y, weight)], time.perf_counter()
    found, wrong = None, ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = _answer(estimator, rows, y, weight)
        except NotFittedError as error:
            wrong = f"not fitted: {error}"
        except (ValueError, TypeError) as error:
            said = str(error)
            if case.says is None:
                wrong = f"should fit, and says: {said[:160]}"
            elif re.search(case.says, said) is None:
                wrong = f"says something else: {type(error).__name__}: {said[:160]}"
            elif "\n" in said.strip() and not _of_scikit_learn(said):
                wrong = f"says more than one line: {said[:160]!r}"
        except Exception as error:
            wrong = f"{type(error).__name__}: {str(error)[:160]}"
        else:
            if case.says is not None:
                wrong = "fits, and should say what is wrong"
            elif not _alike(found, _plain(estimator, weight), y, estimator):
                wrong = "fits, and predicts something else than on plain rows"
    if time.perf_counter() - began > PATIENCE:
        wrong = wrong or f"took {time.perf_counter() - began:.0f} s"
    if [_digest(each) for each in (rows, y, weight)] != before:
        wrong = f"the caller's data was changed; {wrong}"
    return wrong


def _of_scikit_learn(said: str) -> bool:
    """Longer words of its own: on rows of one dimension, and on a search none of whose fits succeeded."""
    return any(words in said for words in ("Expected 2D array", "fits failed"))


def _alike(found: Any, plain: Any, y: Any, estimator: Any) -> bool:
    if task_of(estimator) == "classify":  # whatever the labels are called
        names = dict(zip(np.asarray(list(y)).tolist(), CLASSES.tolist(), strict=True))
        return [names[label] for label in np.asarray(found).tolist()] == np.asarray(plain).tolist()
    near = 1e-5 * np.abs(plain).max() + 1e-9
    return bool(np.allclose(np.asarray(found, dtype=float), plain, rtol=0, atol=near))
