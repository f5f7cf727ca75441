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
import hashlib
import pickle
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import sigutils
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.ccallback import CFunc
from numba.core.registry import CPUDispatcher
from numba.core.typing.templates import builtin_registry
from numba.extending import is_jitted

from .arrays import Array as Array
from .interrupts import without_interrupts
from .shipped_code import checked, read_shipped, sealed

__all__ = ["CheckedCodeFiles"]

# What machine code was made from: a function, and everything that it calls.
#
# Compiled code holds the code of all functions that it calls and the values of all constants that it reads. It is valid
# for as long as these are the same; an edit elsewhere, of a comment or of a docstring does not touch it.


#: Other people's modules: a new version of Numba recompiles everything anyway, and compiled code holds nothing of the
#: others.
_OTHERS = sys.stdlib_module_names | {"numpy", "numba", "llvmlite", "scipy"}
#: Where an object lies is another place in each process.
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
#: How functions are compiled is known from their options.
_COMPILER = f"{__package__}.compile"


def source_stamp(function: Callable, options: Mapping[str, Any]) -> str:
    """A fingerprint of a function, compiled with some options, and of everything that its machine code depends on.

    That is every function of our own (or of a user) that it names, and those in turn: compiled ones, those that are
    replaced when they are compiled (``overload``), those that write machine code (``intrinsic``), methods of classes;
    and the values of all constants.
    """
    seen: dict[int, str] = {0: _options(options)}
    pending = [_plain(function)]
    while pending:
        found = pending.pop()
        if id(found) in seen:
            continue
        read = []
        for name, value in _globals_of(found):
            pending.extend(_functions_behind(value))
            read.append(f"{name}={_options(value.targetoptions) if is_jitted(value) else _text(value)}")
        seen[id(found)] = f"{found.__module__}.{found.__qualname__}{_structure(found.__code__)!r}{';'.join(read)}"
    return hashlib.sha256("\n".join(sorted(seen.values())).encode()).hexdigest()


def _options(options: Mapping[str, Any]) -> str:
    return repr(sorted((name, sorted(value) if isinstance(value, set) else value) for name, value in options.items()))


def _plain(function: Any) -> Any:
    return function.py_func if isinstance(function, CPUDispatcher) else function


def _functions_behind(value: Any) -> Iterator[Any]:
    """The functions whose code runs, or becomes machine code, where compiled code names a value."""
    if isinstance(value, CPUDispatcher):
        yield value.py_func
    elif isinstance(value, type):
        if _is_own(value):
            yield from (each for each in vars(value).values() if isinstance(each, FunctionType))
    elif isinstance(value, FunctionType):
        if _is_own(value):
            yield value
            yield from _replacements().get(value, ())
    elif isinstance(written := getattr(value, "_defn", None), FunctionType) and _is_own(written):  # an intrinsic
        yield written


def _replacements() -> Mapping[Any, list[FunctionType]]:
    """For each function that compiled code replaces, what by."""
    return _replacements_among(len(builtin_registry.globals))


@functools.lru_cache(maxsize=1)
def _replacements_among(count: int) -> Mapping[Any, list[FunctionType]]:
    found: dict[Any, list[FunctionType]] = defaultdict(list)
    for function, kind in builtin_registry.globals[:count]:
        if isinstance(function, FunctionType) and _is_own(function):
            found[function] += [each._overload_func for each in kind.templates if hasattr(each, "_overload_func")]
    return found


def _is_own(value: Any) -> bool:
    """Whether a function or a class is our own, or a user's."""
    module = getattr(value, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] not in _OTHERS and module != _COMPILER


def _structure(code: CodeType) -> tuple[Any, ...]:
    """What a function does, without its docstring, its comments and its place in the file."""
    constants = [_structure(each) if isinstance(each, CodeType) else each for each in code.co_consts]
    if constants and isinstance(constants[0], str) and code.co_name != "<lambda>":
        constants[0] = None
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_argcount
    return code.co_code, [(type(each).__name__, repr(each)) for each in constants], names


def _globals_of(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Global names and variables of enclosing functions that a function reads, with their values."""
    for code in _nested(function.__code__):
        for name in code.co_names:
            value = function.__globals__.get(name)
            if isinstance(value, ModuleType):
                yield from ((each, getattr(value, each)) for each in code.co_names if hasattr(value, each))
            elif name in function.__globals__:
                yield name, value
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        yield name, cell.cell_contents


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _nested(each)


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, type):  # a tuple with names is its fields
        return f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', '')}"
    if isinstance(value, ModuleType) or callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__name__', type(value).__name__)}"
    return f"{type(value).__name__}:{_ADDRESS.sub('', repr(value))}"


# Files of machine code that are looked at before they are run.
#
# Numba keeps compiled functions in files that say nothing of themselves. A flipped bit in one would be run; and a
# process that is killed after the list of files was renewed, but before a file was, leaves the old code under the new
# name. Here a file begins with a checksum, and says of which function, types and source text it is. Any other counts as
# not there.
#
# The checksum tells damage, not forgery: these files are code, beside the package itself or in the user's own folder
# for caches (or ``NUMBA_CACHE_DIR``), and whoever may write there may change the program anyway. No data or model file
# gets there.


class CheckedCodeFiles(IndexDataCacheFile):
    """Numba's files of one function, checked."""

    def save(self, key: Any, data: Any) -> None:
        super().save(key, (self._identity(key), data))

    def load(self, key: Any) -> Any:
        found = super().load(key)
        return found[1] if found is not None and found[0] == self._identity(key) else None

    def _identity(self, key: Any) -> tuple[Any, ...]:
        return self._source_stamp, self._index_name, key

    def _save_data(self, name: str, data: Any) -> None:
        with self._open_for_write(self._data_path(name)) as file:
            file.write(sealed(self._dump(data)))

    def _load_data(self, name: str) -> Any:
        with open(self._data_path(name), "rb") as file:
            content = checked(file.read())
        return None if content is None else pickle.loads(content)


#: Multiply-adds may be fused, which is faster and rounds once instead of twice.
FUSE = {"contract"}
#: Sums may also be reordered, so that they vectorise; NaN and infinities keep their meaning.
REORDER = {"reassoc", "nsz", "contract"}
#: NaN may be assumed absent as well, so that maxima vectorise; for arrays that are known to be finite.
EXTREMES = {"reassoc", "nsz", "contract", "nnan"}
#: Nobody calls a loop by its address.
_UNCALLED: dict[str, Any] = {"no_cfunc_wrapper": True}


class SourceCache(FunctionCache):
    """Numba's cache, valid for what the code was made from, and never in the way.

    Before it is asked, code that comes with the package is looked for.
    """

    def __init__(self, function: Callable, options: Mapping[str, Any]) -> None:
        super().__init__(function)
        self._options = options
        del self._cache_file

    @functools.cached_property
    def _cache_file(self) -> CheckedCodeFiles:  # only now is everything there that the function calls
        moving = f"-{self._impl.locator.get_disambiguator()}."  # the number of its line
        name = self._impl.filename_base.replace(moving, ".")
        return CheckedCodeFiles(self._cache_path, name, self._stamp)

    @functools.cached_property
    def _stamp(self) -> str:
        return source_stamp(self._py_func, self._options)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            shipped = read_shipped(self._stamp, sig)
            if shipped is not None:
                target_context.refresh()
                return self._impl.rebuild(target_context, shipped)
            found = super().load_overload(sig, target_context)
        except Exception:  # a truncated or foreign file: compile as if it were not there
            found = None
        if found is None:
            _compiling.begins()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception:  # a damaged index or a full disk: start the index anew, or do without
            try:
                self.flush()
                super().save_overload(sig, data)
            except Exception:
                self.disable()


#: Seconds of compiling after which somebody who watches is told why nothing else happens.
_LONG = 1.0


class _Compiling:
    """How long this process has compiled, of which whoever watches is told once."""

    seconds = 0.0
    told = False

    def begins(self) -> None:
        """Something is not there and has to be compiled."""
        if self.seconds < _LONG or self.told:
            return
        self.told = True
        if "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty()):
            print(
                "mercer compiles what is needed for the first time, which takes some seconds and is kept; "
                "mercer warmup does it ahead.",
                file=sys.stderr,
                flush=True,
            )


_compiling = _Compiling()


class Loop(CPUDispatcher):
    """A compiled function. Ctrl-C waits until it is left, and until it has been compiled."""

    def __call__(self, *arguments: Any) -> Any:
        return without_interrupts(super().__call__, *arguments)

    def compile(self, sig: Any) -> Any:
        begin, known = time.perf_counter(), sum(self.stats.cache_misses.values())
        try:
            return super().compile(sig)
        finally:
            if sum(self.stats.cache_misses.values()) > known:
                _compiling.seconds += time.perf_counter() - begin  # with what it calls, which counts again


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
        **_UNCALLED,
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
        without_interrupts(compiled.compile)
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
