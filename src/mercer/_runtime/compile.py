"""How mercer compiles its loops.

Numba's own on-disk cache has traps: a loop that calls a function of another file keeps running the old machine code
after that file is edited, a damaged cache file makes every later run fail or is run as it is, and a folder that cannot
be written to raises at import. :func:`jit` keeps the cache and removes the traps: an entry is valid only for the
exact source of the function and of all that it calls (:mod:`.source_stamps`), and with the right checksum; anything
that goes wrong with the cache costs a compilation, never an error.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import sigutils
from numba.core.caching import FunctionCache
from numba.core.ccallback import CFunc
from numba.core.registry import CPUDispatcher

from .code_files import CheckedCodeFiles
from .held_back import held_back
from .source_stamps import source_stamp

Array = np.ndarray

#: Multiply-adds may be fused, which is faster and rounds once instead of twice.
FUSE = {"contract"}
#: Sums may also be reordered, so that they vectorise; NaN and infinities keep their meaning.
REORDER = {"reassoc", "nsz", "contract"}
#: NaN may be assumed absent as well, so that maxima vectorise; for arrays that are known to be finite.
EXTREMES = {"reassoc", "nsz", "contract", "nnan"}


class SourceCache(FunctionCache):
    """Numba's cache, valid for what the code was made from, and never in the way."""

    def __init__(self, function: Callable, options: Mapping[str, Any]) -> None:
        super().__init__(function)
        self._options = options
        del self._cache_file

    @functools.cached_property
    def _cache_file(self) -> CheckedCodeFiles:  # only now is everything there that the function calls
        moving = f"-{self._impl.locator.get_disambiguator()}."  # the number of its line
        name = self._impl.filename_base.replace(moving, ".")
        return CheckedCodeFiles(self._cache_path, name, source_stamp(self._py_func, self._options))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a truncated or foreign file: compile as if it were not there
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception:  # a damaged index or a full disk: start the index anew, or do without
            try:
                self.flush()
                super().save_overload(sig, data)
            except Exception:
                self.disable()


class Loop(CPUDispatcher):
    """A compiled function. Ctrl-C waits until it is left, and until it has been compiled."""

    def __call__(self, *arguments: Any) -> Any:
        with held_back():
            return super().__call__(*arguments)


def jit(
    function: Callable | None = None, *, reorder: bool = False, extremes: bool = False, inline: bool = False
) -> Any:
    """Compile a function, releasing the interpreter lock while it runs.

    Parameters
    ----------
    function : callable
        A function in Numba's subset of Python.
    reorder : bool, default=False
        Allow sums to be computed in another order, so that they vectorise. The order is fixed when the function is
        compiled, so results still repeat exactly.
    extremes : bool, default=False
        Also assume that no value is NaN, so that maxima and minima vectorise.
    inline : bool, default=False
        Make the function a part of every loop that calls it. A process that has compiled a loop may else call a copy
        of the function that was made by itself, and one that reads the loop from its file the copy in there: the
        order of sums may be another in each.
    """
    if function is None:
        return functools.partial(jit, reorder=reorder, extremes=extremes, inline=inline)
    compiled: Any = numba.njit(
        nogil=True,
        error_model="numpy",
        fastmath=EXTREMES if extremes else REORDER if reorder else FUSE,
        forceinline=inline,
    )(function)
    with contextlib.suppress(RuntimeError, OSError):  # no folder for the cache
        compiled._cache = SourceCache(function, compiled.targetoptions)
    compiled.__class__ = Loop
    return compiled


_SCALAR = types.float64(types.float64)


@jit
def _apply(pointer: Any, source: Array, out: Array) -> None:
    for i in range(source.size):
        out[i] = pointer(source[i])


class Scalar:
    """A function of one real number: called on arrays from Python, by pointer from compiled loops.

    Written as a decorator inside a class body. All such functions share one machine type, so that a loop which takes
    one is compiled once and serves them all.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    @functools.cached_property
    def pointer(self) -> Any:
        """The compiled function as a typed pointer; compiled when first asked for."""
        compiled: Any = CFunc(self.function, sigutils.normalize_signature(_SCALAR), locals={}, options={})
        with contextlib.suppress(RuntimeError, OSError):  # no folder for the cache
            compiled._cache = SourceCache(self.function, {})
        with held_back():
            compiled.compile()
        return compiled

    def __call__(self, values: Any) -> Any:
        source = np.asarray(values, dtype=np.float64)
        out = np.empty_like(source, order="C")
        self._loop(self.pointer, np.ascontiguousarray(source).reshape(-1), out.reshape(-1))
        return out if out.ndim else float(out)

    @functools.cached_property
    def _loop(self) -> Callable[..., None]:
        """The machine code of :func:`_apply`: all calls have the same types, which Numba takes long to find out."""
        _apply(self.pointer, np.empty(0), np.empty(0))
        return next(iter(_apply.overloads.values())).entry_point
