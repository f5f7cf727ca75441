"""What a request about words or graphs holds, checked field by field: one sentence for what is wrong."""

from __future__ import annotations

from typing import Any

from ..kernels import Kernel, parse
from .asked import list_of, number, text
from .on_offer import SLIDERS

__all__ = ["cost", "kernel_for", "labels_of", "leaves", "plain_text", "two_names"]

_LONGEST_NAME, _LONGEST_KERNEL, _MOST_PARTS = 60, 500, 8


def plain_text(given: Any, what: str, longest: int) -> str:
    """A text that can be written to a page.

    Examples
    --------
    >>> plain_text("tree", "word 1", 10)
    'tree'
    """
    value = text(given, what, longest)
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} holds half a character, which no page can show; type it again.") from None
    return value


def labels_of(request: dict, items: str, count: int) -> list[int]:
    """The class of each item, 0 or 1, where both classes have some."""
    labels = request.get("labels")
    if not isinstance(labels, list) or any(type(label) is not int or label not in (0, 1) for label in labels):
        raise ValueError(f"labels should be a list of 0 and 1, one for each of the {items}.")
    if len(labels) != count:
        raise ValueError(f"there are {count} {items} but {len(labels)} labels; give one for each.")
    if len(set(labels)) < 2:
        raise ValueError(f"a machine separates two classes; put some {items} into each of them.")
    return labels


def two_names(request: dict) -> list[str]:
    """What the two classes are called."""
    names = list_of(request.get("names", ["first", "second"]), "the names", 2)
    if len(names) != 2:
        raise ValueError("names should be the names of two classes.")
    return [plain_text(name, f"name {place}", _LONGEST_NAME) for place, name in enumerate(names, 1)]


def cost(request: dict) -> float:
    """C, what an error costs."""
    slider = SLIDERS["C"]
    return number(request.get("C", slider.start), "C", slider.least, slider.most)


def kernel_for(request: dict, kind: str, example: str) -> Kernel:
    """The kernel that a text describes, where it compares items of this kind.

    Examples
    --------
    >>> kernel_for({"kernel": "2*spectrum(p=2)"}, "strings", "spectrum(p=2)")
    2*spectrum(p=2)
    """
    kernel = parse(text(request.get("kernel", example), "the kernel text", _LONGEST_KERNEL))
    parts = leaves(kernel)
    if len(parts) > _MOST_PARTS:
        raise ValueError(f"this kernel is made of {len(parts)} others; at most {_MOST_PARTS} are taken.")
    for leaf in parts:
        if leaf.kind() != kind:
            raise ValueError(f"{leaf} compares {leaf.kind()}, not {kind}; take a kernel such as '{example}'.")
    return kernel


def leaves(kernel: Kernel) -> list[Kernel]:
    """The kernels that an expression is made of in the end."""
    parts = kernel.parts()
    return [leaf for part in parts for leaf in leaves(part)] if parts else [kernel]
