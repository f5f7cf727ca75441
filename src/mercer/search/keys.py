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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce
from itertools import takewhile
from pathlib import Path
from typing import Any, Protocol

import joblib
import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import _safe_indexing, get_tags

from ..checks.parameters import is_number
from ..composition import layers_as_made
from ..estimators.base import KernelMachine
from ..estimators.training import Training
from ..grams import Placement
from ..kernels import Kernel
from ..preprocess.numbers import OutlierFilter, WithoutOutliers, without
from ..runtime.compile import Array

__all__ = ["Machine", "Unrecognisable", "content_key", "lasting_key", "setting_key"]

_PLAIN = (str, bytes, bool, int, float, complex, np.generic, type(None), type(...))
_OURS = __name__.partition(".")[0]


class Unrecognisable(ValueError):
    """A value of which another process could not say whether it is the same."""


def setting_key(params: dict[str, Any]) -> str:
    """A text for a setting of parameters: equal for equal ones, and different for different ones."""
    own = [f"{name}={content_key(params[name])}" for name in sorted(params)]
    return ", ".join(own)


def content_key(value: Any) -> str:
    """A text for what a value holds; of what cannot be recognised, for this very object while it is there."""
    return repr(value) if isinstance(value, _PLAIN) else _Keys(lasting=False).of(value)


def lasting_key(value: Any) -> str:
    """The same text where it is the same in every process, or :class:`Unrecognisable`."""
    return repr(value) if isinstance(value, _PLAIN) else _Keys(lasting=True).of(value)


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
    if file is None:
        return False
    # Packages of a user, of a build or of an environment laid over another are installed, too.
    places = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    around = Path(file).resolve().parents
    return not places.isdisjoint(around) or any(each.name in ("site-packages", "dist-packages") for each in around)


def _version_of(module: str) -> str:
    return str(getattr(sys.modules.get(module.partition(".")[0]), "__version__", ""))


# What a machine offers, so that a search can share work between its fits.


class Machine(Protocol):
    """What a search asks of a machine whose fits it computes together: a ``KernelMachine`` that offers this too.

    A search reads the items of all folds once, computes one kernel matrix for all folds, and follows machines that
    differ in one parameter alone along that parameter. In the order in which they are asked for, it needs

    1. :attr:`path`, :attr:`shares_path`: whether and along which parameter there is anything to share;
    2. :meth:`read_kernel`, :meth:`read_items`, :meth:`read_targets`: the user's data, checked as ``fit`` does;
    3. :attr:`placement`, :meth:`beside`: what the kernel matrix may be, and what a fit takes beside it;
    4. :meth:`encoded`: targets and weights of a fold, as ``fit`` makes them of its training items;
    5. :meth:`along`: the scores of all items, for one value of the path after the other; the machine, a copy of the
       user's, may change on the way;
    6. :meth:`decisions_of`, :meth:`predictions_of`, :meth:`probabilities_of`: what scorers ask for, from the scores;
       ``score_of(y, predictions, sample_weight)`` where ``score`` is neither the accuracy nor R².

    What comes out must be what plain fits give, within the tolerance of the solver. A class says so by naming its own
    ``path``; one that inherits it says nothing, and is fitted one by one.
    """

    #: The parameter along which fits go on from each other: "C", "nu", "lam", "epochs", "steps".
    path: str
    #: Whether models become richer as the path falls, as they do with λ and ν.
    path_falls: bool
    #: What rows of numbers may be kept in.
    precisions: tuple[type, ...]
    kernel: Any
    memory: Any

    def beside(self, n: int) -> int:
        """Bytes that a fit of n items has beside their kernel matrix."""
        ...

    @property
    def shares_path(self) -> bool:
        """Whether fits along the path, with the other parameters as they are, are what fits one by one would be."""

    @property
    def placement(self) -> Placement:
        """What the machine allows for its kernel matrix."""

    def read_kernel(self) -> Kernel:
        """The kernel as an object, whose parameters may still be for the training items to decide."""

    def read_items(self, X: Any, kernel: Kernel, *, reset: bool) -> Any:
        """The items, checked, in the form that the kernel works on."""

    def read_targets(self, y: Any) -> Array:
        """The targets, checked."""

    def encoded(self, y: Any, sample_weight: Any, items: Any) -> tuple[Array, Array | None]:
        """Targets and weights to learn from. A classifier takes its ``classes_`` from them."""

    def along(self, data: Training, values: list[Any], scores_of: Callable[[Any], Array]) -> Iterator[Array]:
        """For each value of the path, from the simplest model on: the scores of all items, a column for each score.

        ``scores_of`` gives those of a model; a machine that knows them already need not ask.
        """

    def decisions_of(self, scores: Array, numbers: Array | None = None) -> Array:
        """Decision values from scores, or an error that names a row (by its number) without any."""

    def predictions_of(self, decisions: Array) -> Array:
        """What ``predict`` makes of decision values."""

    def probabilities_of(self, decisions: Array, log: bool = False) -> Array:
        """What ``predict_proba`` makes of decision values, where the machine has it."""


# What stands between the rows and the machine of a search: steps of a pipeline, filters of outliers.


@dataclass(frozen=True)
class Columns:
    """Transformers, fitted on training rows and applied to all."""

    steps: Any

    @property
    def key(self) -> str:
        return content_key(self.steps)

    def apply(self, X: Any, y: Any, train: Array) -> tuple[Any, Array]:
        # A pipeline is fitted when its last step says so, which a step that learns nothing need not do.
        own = clone(self.steps)
        steps = Pipeline([*own.steps, ("the rows as they are", FunctionTransformer())], memory=own.memory)
        rows, labels = _safe_indexing(X, train), _safe_indexing(y, train)
        rest = np.setdiff1d(np.arange(len(y)), train)
        if train.size + rest.size > len(y):  # rows that are there twice
            return steps.fit(rows, labels).transform(X), train
        # What a step makes of the rows it was fitted to may differ from what it makes of others.
        inside = steps.fit_transform(rows, labels)
        parts = [inside, steps.transform(_safe_indexing(X, rest))] if rest.size else [inside]
        back = np.argsort(np.concatenate([train, rest]), kind="stable")
        return _safe_indexing(_stacked(parts), back), train


@dataclass(frozen=True)
class Rows:
    """A filter that takes training rows out."""

    filter: Any

    @property
    def key(self) -> str:
        return content_key(self.filter)

    def apply(self, X: Any, y: Any, train: Array) -> tuple[Any, Array]:
        _, kept = without(self.filter, _safe_indexing(X, train), _safe_indexing(y, train))
        return X, train[kept]


Layer = Columns | Rows


def _stacked(parts: list[Any]) -> Any:
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts)
    if hasattr(parts[0], "vstack"):  # a frame of polars
        return reduce(lambda above, below: above.vstack(below), parts)
    return np.concatenate([np.asarray(part) for part in parts])


def peel(estimator: Any) -> tuple[list[Layer], Any]:
    """The layers around the machine of an estimator, outermost first, and the machine itself.

    Classes that are derived from a layer's may do anything, so they count as machines.
    """
    found: list[Layer] = []
    for _, layer in layers_as_made(estimator):
        if type(layer) is Pipeline:
            found += [Columns(layer[:-1])] if len(layer.steps) > 1 else []
        elif type(layer) is WithoutOutliers and type(layer.filter) is OutlierFilter:
            found.append(Rows(layer.filter))
        elif not _transforms_target(layer):
            break
    return found, layer


def _transforms_target(estimator: Any) -> bool:
    """Whether an estimator learns a function of the targets that is the same for all rows, whatever their fold."""
    return (
        type(estimator) is TransformedTargetRegressor
        and estimator.transformer is None
        and estimator.func is not None
        and estimator.inverse_func is not None
    )


def target_functions(estimator: Any) -> list[tuple[Any, Any]]:
    """What is done to targets on their way to the machine, and to its predictions on the way back; outermost first."""
    around = takewhile(lambda each: type(each) in (Pipeline, WithoutOutliers) or _transforms_target(each),
                       (layer for _, layer in layers_as_made(estimator)))  # fmt: skip
    return [(layer.func, layer.inverse_func) for layer in around if _transforms_target(layer)]


def learned_targets(estimator: Any, y: Any) -> Any:
    """Targets as the machine inside an estimator learns them."""
    with np.errstate(all="ignore"):  # what is no number then is refused by the machine
        for there, _ in target_functions(estimator):
            y = there(np.asarray(y, dtype=np.float64))
    return y


def shareable(estimator: Any) -> bool:
    """Whether the cells of an estimator can be computed together: is it a machine of ours, with layers around it?

    A class that names its path says that fits along it are what plain fits are; a class derived from it says nothing.
    A square matrix belongs to a pair of rows: layers would see the columns of rows that they must not know.
    """
    layers, machine = peel(estimator)
    if not isinstance(machine, KernelMachine) or "path" not in vars(type(machine)):
        return False
    return not layers or not (get_tags(machine).input_tags.pairwise or get_tags(estimator).input_tags.pairwise)


def prepared(layers: list[Layer], X: Any, y: Any, train: Array) -> tuple[Any, Array]:
    """All rows as the machine sees them with layers fitted on training rows, and the training rows that stay."""
    for layer in layers:
        X, train = layer.apply(X, y, train)
    return X, train


def weight_name(estimator: Any) -> str:
    """The name under which ``fit`` of an estimator takes the weights of its machine."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__{weight_name(last)}"
    if isinstance(estimator, TransformedTargetRegressor):
        return weight_name(estimator.regressor)
    return "sample_weight"


# Settings of a search, sorted into lines along which machines share their solutions.


@dataclass
class Line:
    """Machines that differ in their path parameter alone."""

    machine: Machine
    kernel: Kernel
    values: list[Any] = field(default_factory=list)
    #: For each value the key of its setting.
    keys: list[str] = field(default_factory=list)

    def ordered(self) -> list[Any]:
        """The values, from the simplest model on."""
        return sorted(set(self.values), reverse=self.machine.path_falls)

    @property
    def matrix_key(self) -> Any:
        """Lines with the same key learn from the same kernel matrix."""
        placement = self.machine.placement
        exact = placement.rank is None and placement.device is None
        return content_key(self.kernel), placement.precision, exact, self.machine.precisions


@dataclass
class Space:
    """Lines on items that are prepared in one way."""

    layers: list[Layer]
    lines: list[Line]

    def by_matrix(self) -> list[list[Line]]:
        """Lines that learn from the same kernel matrix, together."""
        groups: dict[Any, list[Line]] = {}
        for line in self.lines:
            groups.setdefault(line.matrix_key, []).append(line)
        return list(groups.values())


def spaces_of(estimator: Any, settings: list[dict[str, Any]]) -> list[Space]:
    """All settings that can share work, in lines, grouped by what is done to the items before the machine sees them."""
    spaces: dict[str, tuple[list[Layer], dict[str, Line]]] = {}
    for params in settings:
        made = clone(estimator).set_params(**clone(params, safe=False))
        layers, machine = peel(made)
        if not shareable(made) or not machine.shares_path or not is_number(getattr(machine, machine.path)):
            continue
        own = machine.get_params(deep=False)
        value = own.pop(machine.path)
        try:
            line = Line(machine, machine.read_kernel())
            key = f"{type(machine).__name__}{setting_key(own)}{line.matrix_key[1:]}"
        except Exception:  # a plain fit says what is wrong
            continue
        space = spaces.setdefault("; ".join(layer.key for layer in layers), (layers, {}))
        line = space[1].setdefault(key, line)
        line.values.append(value)
        line.keys.append(setting_key(params))
    return [Space(layers, list(lines.values())) for layers, lines in spaces.values()]


# What is known of one cell of a search: one setting of the parameters, trained on one fold.


@dataclass(frozen=True)
class Outcome:
    """The decision values of some rows, or why there are none."""

    rows: Array
    decision: Array
    seconds: float
    error: str | None = None

    def of(self, rows: Array) -> Array:
        """The decision values of these rows, in their order."""
        return self.decision[np.searchsorted(self.rows, rows)]


def fold_key(train: Array) -> str:
    """A text for the training rows of a fold."""
    return hashlib.sha256(np.ascontiguousarray(train, dtype=np.int64).tobytes()).hexdigest()[:24]
