"""A Python function as a kernel: of two items of any kind, or of two collections of rows at once.

A function of two items is called once for each pair of them, k(x, z) and k(z, x) being the same. That takes long where
there are many items: calls then go to several processes, if the function can be sent there, and one can watch them.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from ..checks.parameters import is_number, shown
from ..checks.tables import as_rows
from ..runtime.arrays import Array
from ..runtime.interrupts import check_interrupt, progress
from ..runtime.threads import thread_count
from .base import Kernel
from .engine.counts import Collection, as_objects
from .engine.tiles import Tile, length
from .text_form import Text, function

__all__ = ["Function"]

#: Seconds of calls after which it is estimated how long the others will take, and seconds of these from which on other
#: processes are started, which takes a few.
_FIRST, _LONG = 1.0, 8.0
#: How the names of types of numbers in frames begin.
_NUMBERS = ("int", "uint", "float", "bool")
#: Shares of the calls that each process gets, one after the other.
_SHARES = 8


class Objects(Collection):
    """Any Python objects, as they are given."""

    kind = "objects"

    def __init__(self, values: Array) -> None:
        super().__init__()
        self.values = values

    @classmethod
    def of(cls, items: Any) -> Objects:
        return items if isinstance(items, Objects) else cls(as_objects(items))

    def __len__(self) -> int:
        return self.values.size

    def take(self, index: Array) -> Objects:
        return Objects(self.values[index])

    def item(self, place: int) -> Any:
        return self.values[place]


class Function(Kernel, named=False):
    """Any Python function as a kernel.

    Parameters
    ----------
    f : callable
        ``f(x, z)`` returns the similarity of two items; or ``f(A, B)``, as scikit-learn has it, the matrix of all pairs
        of two collections.
    pairwise : bool, optional
        Whether ``f`` takes two items. By default it is called with a few of them, both ways.
    objects : bool, optional
        Whether items are passed on as they are: sets, strings, or any objects. By default arrays, sparse matrices and
        frames of numbers are rows of numbers, and everything else is not.

    Notes
    -----
    Of items i and j of one collection, ``f`` is asked for i ≤ j alone. It may be called in other processes, where it
    can be sent to these.

    Examples
    --------
    >>> from mercer.kernels import Function
    >>> Function(lambda x, z: len(x & z))([{"egg", "salt"}, {"egg"}])
    array([[2., 1.],
           [1., 1.]])
    >>> Function(lambda A, B: (A @ B.T) ** 2)([[1.0, 2.0]])
    array([[25.]])
    """

    def __init__(self, f: Callable[[Any, Any], Any], pairwise: bool | None = None, objects: bool | None = None) -> None:
        self.f = f
        self.pairwise = pairwise
        self.objects = objects

    def text(self) -> Text:
        return Text(f"function({function(self.f)})")

    @property
    def splits(self) -> bool:
        return False  # nobody promised that the function may run on two threads, or that calls are cheap

    @property
    def trusted(self) -> bool:
        return False

    @property
    def on_rows(self) -> bool:
        return not self.objects

    @property
    def _named(self) -> str:
        return f"the kernel function {getattr(self.f, '__name__', type(self.f).__name__)!r}"

    def check(self) -> None:
        if not callable(self.f):
            raise ValueError(f"Function: f must be callable, got {self.f!r}.")

    def items(self, A: Any) -> Any:
        return Objects.of(A) if self.objects else as_rows(A)

    # -- which items, and how many at a time ------------------------------------------------------------------------

    @property
    def is_resolved(self) -> bool:
        return self.pairwise is not None and self.objects is not None

    def suited(self, X: Any) -> Function:
        if self.is_resolved:
            return self
        made = Function(self.f, self.pairwise, self._takes_objects(X) if self.objects is None else self.objects)
        if made.pairwise is None:
            try:
                some = made.items(_safe_indexing(X, np.unique([0, length(X) // 2, length(X) - 1])))
            except Exception:  # reading them says what is wrong
                return made
            made.pairwise = made._takes_pairs(some)
        return made

    def resolved(self, items: Any, weight: Array | None = None) -> Function:
        if self.is_resolved:
            return self
        made = self.suited(items)
        return made if made.is_resolved else Function(self.f, made._takes_pairs(items), made.objects)

    def refuse_unresolved(self) -> None:
        """What the function takes is seen by any items."""

    def _takes_objects(self, X: Any) -> bool:
        """Whether items are something else than rows of numbers."""
        if isinstance(X, (list, tuple)):
            try:
                table = np.asarray(X)
            except ValueError:
                return True
            return table.ndim != 2 or table.dtype.kind not in "biuf" or self._compares(X[0], X[-1])
        if isinstance(X, np.ndarray):
            return X.ndim != 2 or X.dtype.kind not in "biuf"
        if hasattr(X, "columns"):  # a frame: one column of anything but numbers is a column of items
            return X.shape[1] == 1 and not str(next(iter(X.dtypes))).lower().startswith(_NUMBERS)
        return len(getattr(X, "shape", (0, 0))) != 2

    def _compares(self, x: Any, z: Any) -> bool:
        """Whether the function gives a number for two items as they are."""
        try:
            return self.pairwise is not False and is_number(self.f(x, z))
        except Exception:
            return False

    def _takes_pairs(self, items: Any) -> bool:
        """Whether the function takes two items, or else two collections; or one sentence that says that it does not.

        The collections have two and three items, so that no operation on two rows can take their matrices for them: of
        rows of three numbers, two and four.
        """
        last = length(items) - 1
        if last < 0:
            return True
        four = not self.objects and items.shape[1] == 3
        left, right = items[np.array([0, last])], items[np.array([0, last // 2, last] + [last] * four)]
        x, z = (next(iter(part)) for part in (left, right[::-1]))
        ways: dict[bool, Callable[[], Any]] = {
            False: lambda: self.f(_given(left), _given(right)),
            True: lambda: self.f(x, z),
        }
        wanted = {False: (2, length(right)), True: ()}
        told = {
            False: f"for 2 and {length(right)} items; it must return {wanted[False]}, or one number for two items",
            True: "for two items; it must return one number",
        }
        refused, failed = "", None
        for pairwise in sorted(ways, reverse=bool(self.objects)):
            try:
                shape = _shape(ways[pairwise]())
            except Exception as error:
                failed = error
                continue
            if shape == wanted[pairwise]:
                return pairwise
            refused = refused or f"returned shape {shape} {told[pairwise]}"
        if failed is not None and not refused:
            failed.add_note(self._failure(x, z))
            raise failed
        raise ValueError(f"{self._named} {refused}.")

    def _failure(self, x: Any, z: Any) -> str:
        """What an error of the function has to do with, which is the function's own."""
        return f"{self._named} fails on {shown(x)} and {shown(z)}."

    # -- values -----------------------------------------------------------------------------------------------------

    def evaluate(self, tile: Tile) -> Array:
        pairwise = self._takes_pairs(tile.pairing.B) if self.pairwise is None else self.pairwise
        if not pairwise:
            return self._checked(self.f(_given(tile.left), _given(tile.right)), tile.shape)
        own = tile.pairing.A is tile.pairing.B and isinstance(tile.i, slice) and isinstance(tile.j, slice)
        return self._of_pairs(list(tile.left), list(tile.right), mirrored=own and tile.i == tile.j)

    def diag(self, A: Any) -> Array:
        if self.pairwise:
            return np.array([self._row(x, [x])[0] for x in A])
        each = (A[place : place + 1] for place in range(length(A)))
        return np.array([self._checked(self.f(_given(one), _given(one)), (1, 1))[0, 0] for one in each])

    def _checked(self, out: Any, shape: tuple[int, ...]) -> Array:
        """The matrix that the function returned for two collections."""
        if out is None:
            raise ValueError(f"{self._named} returned None; it must return its values.")
        if np.ma.is_masked(out):
            raise ValueError(
                f"{self._named} returned a masked array, whose mask would be ignored; it must return a value for every "
                "pair."
            )
        try:
            values = np.asarray(out.toarray() if sparse.issparse(out) else out)
        except ValueError:
            raise ValueError(f"{self._named} returned rows of different lengths.") from None
        if values.dtype.kind == "c":
            raise ValueError(f"{self._named} returned complex numbers; a kernel is real.")
        if values.dtype.kind not in "fiub":
            raise ValueError(f"{self._named} returned {values.dtype} values, not numbers.")
        if values.shape != shape:
            n, m = shape
            raise ValueError(
                f"{self._named} returned shape {values.shape} for {n} and {m} items; it must return ({n}, {m})."
            )
        if not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(f"{self._named} returned {values[row, column]} for a pair of items.")
        return values.astype(np.float64 if values.dtype != np.float32 else np.float32)

    def _of_pairs(self, left: list[Any], right: list[Any], mirrored: bool) -> Array:
        """The values of all pairs; where both sides are the same, of each pair once."""
        out = np.empty((len(left), len(right)))
        sizes = len(right) - np.arange(len(left)) * mirrored
        begin, done = time.monotonic(), 0
        for place in range(len(left)):
            check_interrupt()
            self._store(out, place, self._row(left[place], right[place * mirrored :]), mirrored)
            done += int(sizes[place])
            spent, others = time.monotonic() - begin, range(place + 1, len(left))
            if spent > _FIRST and spent * (sizes.sum() - done) > _LONG * done:
                with progress(f"calling {function(self.f)}", float(sizes.sum()), unit="pairs") as watched:
                    watched.reach(done)
                    for row, values in self._rows(left, right, others, mirrored):
                        check_interrupt()
                        self._store(out, row, values, mirrored)
                        watched.advance(values.size)
                break
        return out

    def _rows(
        self, left: list[Any], right: list[Any], places: Sequence[int], mirrored: bool
    ) -> Iterator[tuple[int, Array]]:
        """The values of some of the left items, in any order, from several processes where that can be."""
        workers = min(thread_count(), len(places))
        if workers < 2 or not _can_be_sent((self.f, right)):
            yield from ((place, self._row(left[place], right[place * mirrored :])) for place in places)
            return
        shares = [places[first :: _SHARES * workers] for first in range(min(_SHARES * workers, len(places)))]
        run = joblib.Parallel(workers, return_as="generator_unordered")
        work = joblib.delayed(_values_of)
        sent = (work(self, [left[place] for place in some], right, list(some), mirrored) for some in shares)
        for some in run(sent):
            yield from some

    def _store(self, out: Array, place: int, values: Array, mirrored: bool) -> None:
        out[place, out.shape[1] - values.size :] = values
        if mirrored:
            out[place:, place] = values

    def _row(self, x: Any, others: Sequence[Any]) -> Array:
        """The values of an item with others, or what is wrong with one of them."""
        found = []
        for z in others:
            try:
                found.append(self.f(x, z))
            except Exception as error:
                error.add_note(self._failure(x, z))
                raise
        try:
            values = np.asarray(found)
        except ValueError:  # arrays of several shapes
            values = np.empty(0, object)
        if values.shape == (len(others),) and values.dtype.kind in "fiub" and np.isfinite(values).all():
            return values.astype(np.float64)
        return np.array([self._number(value, x, z) for value, z in zip(found, others, strict=True)])

    def _number(self, value: Any, x: Any, z: Any) -> float:
        """What the function returned for two items as a number, or one sentence that says why it is none."""
        number = None
        if value is None:
            what = "None"
        elif _shape(value) != ():
            what = f"shape {_shape(value)}"
        elif np.ma.is_masked(value):
            what = "a masked array"
        elif np.iscomplexobj(value):
            what = "complex numbers"
        elif not hasattr(value, "__float__"):
            what = f"{np.asarray(value).dtype} values, not numbers,"
        else:
            number = float(value)
            what = f"{number:g}"
        if number is None or not np.isfinite(number):
            raise ValueError(
                f"{self._named} returned {what} for {shown(x)} and {shown(z)}; it must return one finite number."
            )
        return number


def _values_of(
    kernel: Function, left: list[Any], right: list[Any], places: list[int], mirrored: bool
) -> list[tuple[int, Array]]:
    """The values of some of the left items, in a process that is there for them."""
    return [(place, kernel._row(x, right[place * mirrored :])) for place, x in zip(places, left, strict=True)]


def _can_be_sent(values: Any) -> bool:
    try:
        pickle.dumps(joblib.wrap_non_picklable_objects(values))
    except Exception:
        return False
    return True


def _given(items: Any) -> Any:
    """Items as a function of two collections takes them: objects in a list."""
    return list(items) if isinstance(items, Objects) else items


def _shape(value: Any) -> tuple[int, ...] | None:
    """The shape of what a function returned; ``None`` for rows of different lengths."""
    try:
        return tuple(value.shape) if hasattr(value, "shape") else np.shape(value)
    except ValueError:
        return None
