"""Texts for what values hold, by which a search knows settings and estimators again, also in another process.

A function is known by its code, its defaults, and the values that it takes from around it; what comes with an installed
library, by its name and the library's version. Addresses in memory say nothing: one that was freed is used again.
"""

from __future__ import annotations

import functools
import hashlib
import sys
import sysconfig
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.frozen import FrozenEstimator

__all__ = ["Unrecognisable", "content_key", "lasting_key", "setting_key"]

_PLAIN = (str, bytes, bool, int, float, complex, np.generic, type(None), type(...))
_OURS = __name__.partition(".")[0]


class Unrecognisable(ValueError):
    """A value of which another process could not say whether it is the same."""


def setting_key(params: dict[str, Any]) -> str:
    """A text for a setting of parameters: equal for equal ones, and different for different ones."""
    return ", ".join(f"{name}={content_key(params[name])}" for name in sorted(params))


def content_key(value: Any) -> str:
    """A text for what a value holds; of what cannot be recognised, for this very object while it is there."""
    return _Keys(lasting=False).of(value)


def lasting_key(value: Any) -> str:
    """The same text where it is the same in every process, or :class:`Unrecognisable`."""
    return _Keys(lasting=True).of(value)


class _Keys:
    """Writes the text of a value, part by part."""

    def __init__(self, lasting: bool) -> None:
        self._lasting = lasting
        self._inside: list[int] = []

    def of(self, value: Any) -> str:
        if isinstance(value, _PLAIN):
            return repr(value)
        if id(value) in self._inside:
            return f"the same as {len(self._inside) - self._inside.index(id(value))} above"
        with self._within(value):
            return self._written(value)

    @contextmanager
    def _within(self, value: Any) -> Iterator[None]:
        """Values that hold themselves end where they begin again."""
        self._inside.append(id(value))
        try:
            yield
        finally:
            self._inside.pop()

    def _written(self, value: Any) -> str:
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, FrozenEstimator):
            return f"FrozenEstimator({self._instance(value.estimator)})"
        if hasattr(value, "get_params"):
            params = value.get_params(deep=False)
            own = ", ".join(f"{name}={self.of(params[name])}" for name in sorted(params))
            return f"{self._class(type(value))}({own})"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self.of(key)}: {self.of(each)}" for key, each in value.items()) + "}"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(self.of, value)) + "]"
        if isinstance(value, (set, frozenset)):
            return "{" + ", ".join(sorted(map(self.of, value))) + "}"
        if isinstance(value, np.ndarray) and value.dtype.kind == "O":
            return f"array({self.of(value.tolist())})"
        if isinstance(value, np.ndarray) or sparse.issparse(value):
            return self._hashed(value)
        if isinstance(value, types.ModuleType):
            return f"{value.__name__} {_version_of(value.__name__)}"
        if callable(value) and (found := self._callable(value)) is not None:
            return found
        if isinstance(value, types.CodeType):
            return self._code(value)
        return self._hashed(value) if _installed(type(value).__module__) else self._instance(value)

    # -- things with code -----------------------------------------------------------------------------------------

    def _callable(self, value: Any) -> str | None:
        """The text of a function of whichever kind; ``None`` for an object that can be called."""
        if isinstance(value, functools.partial):
            return f"partial({self.of([value.func, value.args, value.keywords])})"
        if isinstance(value, types.MethodType):
            return f"{value.__func__.__qualname__} of {self.of([value.__self__, value.__func__])}"
        if isinstance(value, types.BuiltinFunctionType):
            owner = "" if isinstance(value.__self__, types.ModuleType) else f" of {self.of(value.__self__)}"
            return f"{value.__module__}.{value.__qualname__}{owner}"
        if isinstance(value, np.ufunc):
            return f"ufunc {value.__name__} {value.types}"
        if isinstance(value, types.FunctionType):
            return self._function(value)
        wrapped = getattr(value, "py_func", None)  # what numba compiles
        return self._function(wrapped) if isinstance(wrapped, types.FunctionType) else None

    def _function(self, function: types.FunctionType) -> str:
        name = f"{function.__module__}.{function.__qualname__}"
        if _installed(function.__module__) and "<" not in name:
            return f"{name} {_version_of(function.__module__)}"
        around = {name: function.__globals__[name] for name in _names(function.__code__) & set(function.__globals__)}
        parts = [
            function.__code__, function.__defaults__, function.__kwdefaults__, _closure(function),
            [(name, around[name]) for name in sorted(around)],
        ]  # fmt: skip
        return f"{name}:{_short(self.of(parts))}"

    def _code(self, code: types.CodeType) -> str:
        return f"{code.co_code.hex()} {self.of(code.co_consts)} {code.co_names} {code.co_freevars}"

    def _class(self, kind: type) -> str:
        name = f"{kind.__module__}.{kind.__qualname__}"
        if _installed(kind.__module__) and "<" not in name:
            return f"{name} {_version_of(kind.__module__)}"
        own = {word: each for word, each in vars(kind).items() if not word.startswith("__") or callable(each)}
        functions = [[word, function] for word in sorted(own) for function in _functions_in(own[word])]
        plain = [[word, own[word]] for word in sorted(own) if isinstance(own[word], _PLAIN)]
        return f"{name}:{_short(self.of([functions, plain, [base for base in kind.__bases__ if base is not object]]))}"

    # -- other things ---------------------------------------------------------------------------------------------

    def _instance(self, value: Any) -> str:
        """An object, by its class and its attributes; where it keeps something elsewhere, nobody can tell."""
        if not hasattr(value, "__dict__") or any(vars(kind).get("__slots__") for kind in type(value).__mro__):
            return self._hashed(value)
        return f"{self._class(type(value))}({self.of(dict(sorted(vars(value).items())))})"

    def _hashed(self, value: Any) -> str:
        try:
            return str(joblib.hash(value))
        except Exception:  # whatever pickling makes an object say
            if self._lasting:
                raise Unrecognisable(f"a {type(value).__name__} cannot be recognised again") from None
            return f"{type(value).__name__} at {id(value)}"


def _closure(function: types.FunctionType) -> list[Any]:
    """What a function takes from the functions around it; a cell may still be empty."""
    found = []
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:
            found.append(None)
    return found


def _names(code: types.CodeType) -> set[str]:
    """The names that a function and the functions inside it look up."""
    return set(code.co_names).union(*(_names(each) for each in code.co_consts if isinstance(each, types.CodeType)))


def _functions_in(value: Any) -> list[types.FunctionType]:
    """The functions that an attribute of a class stands for."""
    if isinstance(value, property):
        return [each for each in (value.fget, value.fset) if isinstance(each, types.FunctionType)]
    inner = getattr(value, "__func__", value)
    return [inner] if isinstance(inner, types.FunctionType) else []


def _short(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


@functools.cache
def _installed(module: str | None) -> bool:
    """Whether a module comes with Python or with an installed package, whose version tells its code.

    What a class decorator has written in a notebook may have no module.
    """
    if module is None:
        return False
    top = module.partition(".")[0]
    if top == _OURS or top in sys.builtin_module_names:
        return True
    file = getattr(sys.modules.get(top), "__file__", None)
    places = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return file is not None and not places.isdisjoint(Path(file).resolve().parents)


def _version_of(module: str) -> str:
    return str(getattr(sys.modules.get(module.partition(".")[0]), "__version__", ""))
