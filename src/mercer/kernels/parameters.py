"""The numbers of an expression that it changes smoothly with: by name, and as one vector without bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..runtime.compile import Array
from .base import Kernel, Range
from .columns import ScaledColumns
from .mixture import Mixture

__all__ = ["Parameters"]

#: The relative step of a difference, at which rounding and curvature do about as much harm.
STEP = 1e-5


@dataclass(frozen=True)
class Parameter:
    """Numbers of an expression that it changes smoothly with."""

    #: As ``get_params`` has it: "left__gamma".
    name: str
    value: Array
    range: Range

    @property
    def free(self) -> Array:
        """Which of the numbers may change: a nothing that cannot change its sign is part of the expression."""
        return self.range.inside(self.value)


def parameters_of(kernel: Kernel) -> list[Parameter]:
    """The parameters of an expression, each of its parts' in turn.

    The rate or length of a kernel whose columns have weights is left out: the weights say as much.
    """
    found = []
    own = kernel.get_params(deep=False)
    for name, numbers in kernel.smooth.items():
        value = own.get(name)
        if value is not None and not isinstance(value, str):
            value = np.asarray(value, dtype=np.float64)
            found.append(Parameter(name, value, Range.REAL if value.ndim == 2 else numbers))
    weighed = isinstance(kernel, ScaledColumns)
    for name, part in _named_parts(kernel):
        for parameter in parameters_of(part):
            if not (weighed and parameter.name in part.rates):
                found.append(Parameter(f"{name}__{parameter.name}", parameter.value, parameter.range))
    return found


def _named_parts(kernel: Kernel) -> list[tuple[str, Kernel]]:
    if isinstance(kernel, Mixture):
        return [(str(place), part) for place, part in enumerate(kernel.kernels)]
    own = kernel.get_params(deep=False)
    return [(name, value) for name, value in own.items() if isinstance(value, Kernel)]


def with_value(kernel: Kernel, parameter: Parameter, place: int, value: float) -> Kernel:
    """The kernel with one of the numbers of a parameter changed."""
    numbers = parameter.value.copy()
    numbers.reshape(-1)[place] = value
    return with_numbers(kernel, {parameter.name: numbers})


def with_numbers(kernel: Kernel, numbers: dict[str, Array]) -> Kernel:
    """The kernel with other numbers."""
    new = clone(kernel)
    new.set_params(**{name: float(value) if value.ndim == 0 else value.tolist() for name, value in numbers.items()})
    return new


def steps_of(parameter: Parameter) -> list[tuple[float, float]]:
    """Below and above each number, within the range."""
    return [parameter.range.around(value, STEP * (abs(value) or 1.0)) for value in parameter.value.ravel().tolist()]


class Parameters:
    """The numbers of an expression as one vector θ without bounds: logarithms, and others where a number has two ends.

    Parameters
    ----------
    kernel : Kernel
        With every parameter a number.
    fixed : sequence of str
        Names of parameters that stay as they are, with or without the names of the parts that they belong to.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> parameters = Parameters(2.0 * Gaussian(gamma=1.0))
    >>> parameters.names, parameters.start.round(4)
    (['scale', 'kernel__gamma'], array([0.6931, 0.    ]))
    >>> parameters.kernel(np.log([2.0, 0.5]))
    2*gaussian(gamma=0.5)
    """

    def __init__(self, kernel: Kernel, fixed: Sequence[str] = ()) -> None:
        self.given = kernel
        self.parameters = [
            each for each in parameters_of(kernel) if each.free.any() and not _is_named(each.name, fixed)
        ]

    @property
    def names(self) -> list[str]:
        """The name of each number; those of a list with their places."""
        return [
            f"{each.name}[{place}]" if each.value.ndim else each.name
            for each in self.parameters
            for place in np.flatnonzero(each.free)
        ]

    @property
    def start(self) -> Array:
        """θ of the kernel that was given."""
        return np.concatenate([np.empty(0), *(each.range.to_line(each.value[each.free]) for each in self.parameters)])

    def _pieces(self, theta: Array) -> Iterator[tuple[Parameter, Array]]:
        begin = 0
        for each in self.parameters:
            count = int(np.count_nonzero(each.free))
            yield each, theta[begin : begin + count]
            begin += count

    def kernel(self, theta: Array) -> Kernel:
        """The kernel of other numbers."""
        numbers = {}
        for each, piece in self._pieces(theta):
            value = each.value.copy()
            value[each.free] = each.range.from_line(piece)
            numbers[each.name] = value
        return with_numbers(self.given, numbers) if numbers else self.given

    def slopes(self, theta: Array, found: dict[str, Any]) -> Array:
        """The slopes by θ, from those by the parameters themselves."""
        out = [np.empty(0)]
        for each, piece in self._pieces(theta):
            own = np.broadcast_to(np.asarray(found[each.name], dtype=np.float64), each.value.shape)
            out.append(own[each.free] * each.range.slope(piece))
        return np.concatenate(out)


def _is_named(name: str, fixed: Sequence[str]) -> bool:
    return any(name == each or name.endswith(f"__{each}") for each in fixed)
