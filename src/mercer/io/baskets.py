"""Basket files: one set a line, its items with something between them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .allowance import refuse_beyond
from .assemble import origin_of
from .item_table import item_table, labels_from_file
from .sources import Source, as_text
from .table import DataError, Table

if TYPE_CHECKING:
    from .options import Options

__all__ = ["Baskets", "read", "read_baskets"]

#: Which item of a basket is its label, by what a user may call it.
_PLACES = {"first": "first", "0": "first", "last": "last", "-1": "last"}
#: What a basket, an item of one, and a byte of the file take in memory.
_BASKET, _ITEM, _BYTE = 300, 100, 12


def read(source: Source, options: Options) -> Table:
    """Sets, one a line. The label is the first item of a line, or the last (``target="last"``), or in another file."""
    from ..kernels.bag_collection import Bags

    given = "first" if options.target is None and options.labelled and options.labels is None else str(options.target)
    place = None if options.labels is not None else _PLACES.get(given)
    refuse_beyond(_foretold(source.data), source.shown, options)
    found = read_baskets(source.data, place, options.delimiter, source.shown, options.quotes)
    labels: Sequence[Any] | None = found.labels
    if options.labels is not None:
        labels = labels_from_file([str(number) for number in range(1, len(found.baskets) + 1)], options)
    assumed = place is not None and options.target is None
    notes = [f"The label is the {place} item of each line; --target last or --labels FILE say otherwise."]
    remedy = "say which item is the label with target='first' or 'last', or name a file of labels (--labels FILE)"
    origin = origin_of(source, np.arange(1, len(found.baskets) + 1))
    items = Bags.of(found.baskets)
    table = item_table(items, "sets", labels, place or "label", origin, options, remedy, notes if assumed else [])
    return replace(table, found={} if found.delimiter is None else {"delimiter": found.delimiter})


class Baskets(NamedTuple):
    """Lists of items, a label for each (``None`` where the file has none), and what stands between items, if seen."""

    baskets: list[list[str]]
    labels: list[str] | None
    delimiter: str | None = None


def read_baskets(
    data: bytes,
    label: str | None = None,
    delimiter: str | None = None,
    name: str = "the basket file",
    quotes: bool = True,
) -> Baskets:
    """The baskets of a file, one a line. An empty line is an empty basket.

    Parameters
    ----------
    data : bytes
        The file, unpacked.
    label : {"first", "last"}, optional
        Which item of a line is not an item but the label of its basket.
    delimiter : str, optional
        What stands between items. By default a tab, semicolon or comma, whichever occurs, else white space.
    name : str
        What messages call the file.
    quotes : bool, default=True
        Whether ``"`` around an item protects what stands inside; if not, it is an ordinary character.

    Returns
    -------
    Baskets

    Examples
    --------
    >>> read_baskets(b"yes,milk,bread\\nno,egg\\n", label="first")
    Baskets(baskets=[['milk', 'bread'], ['egg']], labels=['yes', 'no'], delimiter=',')
    """
    if label not in (None, "first", "last"):
        raise DataError(f"read_baskets: label must be 'first', 'last' or None; got {label!r}.")
    text = as_text(data, name)
    text = text.replace("\r\n", "\n").rstrip("\n")
    if delimiter is None:
        delimiter = next((mark for mark in "\t;, " if mark in text), None)
    same: dict[str, str] = {}  # one text object for each item, however often it comes
    baskets: list[list[str]] = []
    labels: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        place = f"{name}, line {number}"
        cells = line.split() if delimiter in (None, " ") else _cells(line, delimiter, quotes, place)
        basket = [same.setdefault(item, item) for item in map(str.strip, cells) if item]
        if label is not None:
            if not basket:
                raise DataError(f"{place}: the line is empty, so its basket has no label.")
            labels.append(basket.pop(0 if label == "first" else -1))
        baskets.append(basket)
    return Baskets(baskets, labels if label is not None else None, delimiter)


def _foretold(data: bytes) -> int:
    """What baskets take in memory: by lines, and by the marks that may stand between items."""
    lines = data.count(b"\n") + 1
    items = lines + max(data.count(mark) for mark in (b"\t", b";", b",", b" "))
    return _BYTE * len(data) + _BASKET * lines + _ITEM * items


def _cells(line: str, delimiter: str, quotes: bool, place: str) -> list[str]:
    """The items of one line. A basket is a line: no quote reaches into the next."""
    if not quotes or '"' not in line:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        raise DataError(
            f"{place}: the quotes do not match ({error}); close the quote, or read quotes as ordinary characters with "
            "quotes=False (--no-quotes)."
        ) from None
