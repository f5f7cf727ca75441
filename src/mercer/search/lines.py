"""Settings of a search, sorted into lines along which machines share their solutions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sklearn.base import clone

from .._validation.parameters import is_number
from ..kernels import Kernel
from .content_keys import content_key, setting_key
from .contract import Machine
from .layers import Layer, peel, shareable


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
