"""Kernels as notebooks show them: the expression, and what each kernel in it is."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .._presentation.html import escaped
from .text_form import literal

if TYPE_CHECKING:
    from .base import Kernel


def html(kernel: Kernel) -> str:
    """The text form of a kernel above a table of the kernels it is made of: name, parameters, definition."""
    return table(str(kernel), ("kernel", "parameters", "definition"), map(_described, _leaves(kernel)))


def table(title: str, heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table below a line of code."""
    body = "".join(_row("td", row) for row in rows)
    head = _row("th", heads)
    return f"<div><code>{escaped(title)}</code><table><thead>{head}</thead><tbody>{body}</tbody></table></div>"


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escaped(cell)}</{tag}>' for cell in cells)}</tr>"


def _leaves(kernel: Kernel) -> list[Kernel]:
    """The different kernels that are made of no others, in the order of the expression."""
    parts = [leaf for part in kernel.parts() for leaf in _leaves(part)]
    return list(dict.fromkeys(parts)) or [kernel]


def _described(kernel: Kernel) -> tuple[str, str, str]:
    parameters = ", ".join(f"{name}={literal(value)}" for name, value in kernel.get_params(deep=False).items())
    paragraph = (inspect.getdoc(type(kernel)) or "").split("\n\n")[0]
    return type(kernel).__name__, parameters, " ".join(paragraph.split())
