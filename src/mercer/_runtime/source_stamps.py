"""What machine code was made from: a function, and everything that it calls.

Compiled code holds the code of all functions that it calls and the values of all constants that it reads. It is valid
for as long as these are the same; an edit elsewhere, of a comment or of a docstring does not touch it.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from numba.core.registry import CPUDispatcher

__all__ = ["source_stamp"]

#: Other people's modules: a new version of Numba recompiles everything anyway, and compiled code holds nothing of the
#: others.
_OTHERS = sys.stdlib_module_names | {"numpy", "numba", "llvmlite", "scipy"}
#: How functions are compiled is known from their options.
_COMPILER = f"{__package__}.compile"


def source_stamp(function: Callable, options: Mapping[str, Any]) -> str:
    """A fingerprint of a function, compiled with some options, and of everything that its machine code depends on.

    Functions that are compiled with it are followed one by one. What else it names of our own, such as functions that
    are replaced when they are compiled (``overload``, ``intrinsic``) or the types of its arguments, counts with the
    whole of its module.
    """
    seen: dict[Any, str] = {"": _options(options)}
    pending: list[Any] = [function]
    while pending:
        found = pending.pop()
        key = found if isinstance(found, str) else id(found)
        if key in seen:
            continue
        if isinstance(found, str):
            seen[key] = found + _syntax(found)
            pending.extend(_named_in_module(sys.modules[found]))
        else:
            seen[key] = f"{found.__module__}.{found.__qualname__}" + repr(_structure(found.__code__))
            for name, value in _globals_of(found):
                if isinstance(value, CPUDispatcher):
                    seen[id(value)] = name + _options(value.targetoptions)
                    pending.append(value.py_func)
                elif (module := _own_module(value)) is not None:
                    pending.append(module)
                else:
                    seen[key] += f"{name}={_text(value)};"
    return hashlib.sha256("\n".join(sorted(seen.values())).encode()).hexdigest()


def _options(options: Mapping[str, Any]) -> str:
    return repr(sorted((name, sorted(value) if isinstance(value, set) else value) for name, value in options.items()))


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
            if name in function.__globals__:
                yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        yield name, cell.cell_contents


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _nested(each)


def _own_module(value: Any) -> str | None:
    """The module that a function, a class or a module of our own (or of a user) is from."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    if not isinstance(name, str) or name.partition(".")[0] in _OTHERS or name == _COMPILER:
        return None
    return name if name in sys.modules else None


def _named_in_module(module: ModuleType) -> Iterator[Any]:
    """What the functions of a module may call: compiled functions, and the modules of all else that it imports."""
    for value in vars(module).values():
        if isinstance(value, CPUDispatcher):
            yield value.py_func
        elif isinstance(value, ModuleType | type) or callable(value):
            name = _own_module(value)
            if name is not None:
                yield name


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, ModuleType) or callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__name__', type(value).__name__)}"
    return f"{type(value).__name__}:{value!r}"


@functools.cache
def _syntax(module: str) -> str:
    """A fingerprint of the text of a module without comments and docstrings."""
    path = getattr(sys.modules[module], "__file__", None)
    if path is None or not path.endswith(".py") or not Path(path).is_file():
        return ""
    tree = ast.parse(Path(path).read_bytes())
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            body[0] = ast.Pass()
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()
