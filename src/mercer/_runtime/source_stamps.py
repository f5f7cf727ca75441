"""What machine code was made from: a function, and everything that it calls.

Compiled code holds the code of all functions that it calls and the values of all constants that it reads. It is valid
for as long as these are the same; an edit elsewhere, of a comment or of a docstring does not touch it.
"""

from __future__ import annotations

import functools
import hashlib
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core.registry import CPUDispatcher
from numba.core.typing.templates import builtin_registry
from numba.extending import is_jitted

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
