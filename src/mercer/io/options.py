"""How a file is to be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .._validation.target_kind import TASKS
from .._validation.wording import enumeration
from ..columns.deciding import KINDS, check_kind
from .formats import FORMATS

__all__ = ["Options"]

_CHOICES = {"unlabelled_rows": (None, "error", "drop", "keep"), "decimal": (None, ".", ",")}


@dataclass(frozen=True)
class Options:
    """How a file is to be read, checked; see :func:`mercer.read`."""

    target: str | int | None = None
    labelled: bool = True
    unlabelled_rows: str | None = None
    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None
    quotes: bool = True
    missing: frozenset[str] = frozenset()
    missing_words: bool = True
    kinds: Mapping[str, str] = field(default_factory=dict)
    drop: frozenset[str] = frozenset()
    columns: frozenset[str] | None = None
    dense: bool | None = None
    features: int | None = None
    zero_based: bool | None = None
    serials: bool = False
    format: str | None = None
    labels: str | Path | None = None
    sheet: str | None = None
    max_bytes: int | str = "1GB"
    task: str | None = None

    def __post_init__(self) -> None:
        choices = {**_CHOICES, "format": (None, *FORMATS), "task": (None, *TASKS)}
        for name, words in choices.items():
            given = getattr(self, name)
            if given not in words:
                known = enumeration(filter(None, words), last="or")
                raise ValueError(f"read: {name} must be one of {known}; got {given!r}.")
        for column, kind in self.kinds.items():
            if not check_kind(kind):
                known = enumeration(map(repr, KINDS), last="or")
                raise ValueError(f"read: the kind of {column!r} must be {known}, got {kind!r}.")
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise ValueError(f"read: delimiter must be one character, got {self.delimiter!r}.")
