"""Columns of the input that are not numbers yet: each is taken for numbers or for words when a step uses it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..checks import is_missing
from ..io import DataError
from .computation import Column, Filled, Level, Node, Numbers, Picked


@dataclass(frozen=True)
class Cell:
    """A column of the input as it is, but for what stands where it is missing, if anything does."""

    name: str
    instead: Any = None


@dataclass(frozen=True)
class Cells:
    """Some columns of the input, in an order."""

    cells: tuple[Cell, ...]
    #: Whether the columns of the input have no names of their own, so that all of them are counted.
    counted: bool = False

    @property
    def names(self) -> list[str]:
        return [cell.name for cell in self.cells]

    def picked(self, places: Sequence[int]) -> Cells:
        """The columns at some places."""
        return Cells(tuple(self.cells[place] for place in places))

    def filled(self, values: Sequence[Any]) -> Cells:
        """The same columns, with a value for each that stands where it is missing; ``None``: nothing does."""
        pairs = zip(self.cells, values, strict=True)
        return Cells(tuple(replace(cell, instead=cell.instead if value is None else value) for cell, value in pairs))


@dataclass
class Inputs:
    """The columns that a model looks at, and whether as numbers or as words."""

    columns: list[Column] = field(default_factory=list)
    _beginning: Cells = Cells(())
    _made: dict[Any, Any] = field(default_factory=dict)

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """The value of ``make()``, made at the first request for ``key``, so that nothing is computed twice."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def begin(self, cells: Cells | None) -> Cells:
        """Remember what the input looks like."""
        if cells is None:
            raise DataError("the first step of the pipeline does not say which columns it takes; fit it to a frame.")
        self._beginning = cells
        return cells

    def in_order(self) -> list[Column]:
        """The columns that were used, as the input has them; where they are counted, those between them too."""
        known = {column.name: column for column in self.columns}
        names = [name for name in self._beginning.names if name in known or self._beginning.counted]
        return [known.get(name, Column(name)) for name in names]

    def _place(self, name: str, words: bool) -> int:
        for place, column in enumerate(self.columns):
            if column.name == name:
                if column.words is not words:
                    raise DataError(f"the model takes column {name!r} for numbers and for words, which no file can.")
                return place
        self.columns.append(Column(name, words))
        return len(self.columns) - 1

    def rows(self, given: Node | Cells) -> Node:
        """Rows of numbers."""
        return given if isinstance(given, Node) else self.once(given, lambda: self._numbers(given))

    def _numbers(self, given: Cells) -> Node:
        node: Node = Numbers(tuple(self._place(name, words=False) for name in given.names))
        values = [np.nan if cell.instead is None else cell.instead for cell in given.cells]
        if any(isinstance(value, str) for value in values):
            raise DataError(
                f"the words that fill missing values of {given.names} are no numbers for the steps behind them."
            )
        return Filled(node, np.array(values, float), np.nan) if not np.isnan(values).all() else node

    def level(self, cell: Cell, levels: Sequence[Any]) -> Level:
        """The number of a column's word, or of its number, among those that are known."""
        plain = [None if is_missing(level) else _plain(level) for level in levels]
        words = {isinstance(level, str) for level in plain if level is not None}
        strange = next((level for level in plain if not isinstance(level, (str, bool, int, float, type(None)))), None)
        if strange is not None or len(words) > 1:
            raise DataError(
                f"column {cell.name!r} holds words and numbers, or neither; an exported model takes one kind."
            )
        instead = None if is_missing(cell.instead) else _plain(cell.instead)
        missing = plain.index(instead) if instead in plain else -1
        if words != {True}:
            plain = [None if level is None else float(level) for level in plain]
        return Level(self._place(cell.name, words == {True}), tuple(plain), missing)

    def text(self, given: Node | Cells) -> int:
        """The place of a column of texts."""
        assert isinstance(given, Cells)
        return self._place(given.names[0], words=True)

    def chosen(self, given: Node | Cells, columns: Sequence[str | int]) -> Node | Cells:
        """Some columns by name, or by position."""
        if isinstance(given, Node):
            return Picked(given, tuple(int(column) for column in columns))
        known = given.names
        return given.picked([known.index(c) if isinstance(c, str) else int(c) for c in columns])


def numbered(count: int) -> Cells:
    """Columns that go by their position: x0, x1, …

    Examples
    --------
    >>> numbered(2).names
    ['x0', 'x1']
    """
    return Cells(tuple(Cell(f"x{place}") for place in range(count)), counted=True)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
