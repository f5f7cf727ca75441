"""Names and labels of the user's as literals of other languages: nothing in them can end a literal or a comment."""

from __future__ import annotations

from typing import Any

from ..io import DataError

#: What stands in comments as it is.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _.,()=+-'|<>:;")


def refuse_strange_labels(labels: list[Any]) -> None:
    """Labels are texts, numbers or truth values."""
    strange = next((label for label in labels if not isinstance(label, (str, bool, int, float))), None)
    if strange is not None:
        raise DataError(f"labels of the type {type(strange).__name__} cannot be exported; texts and numbers can.")


def python_literal(value: Any) -> str:
    """A text, a number, or a tuple of such, in ASCII.

    Examples
    --------
    >>> print(python_literal('"; import os\\n'), python_literal((None, "é", 1.5)))
    '"; import os\\n' (None, '\\xe9', 1.5)
    """
    if isinstance(value, (tuple, list)):
        inside = ", ".join(map(python_literal, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, float) and not isinstance(value, bool):
        return repr(float(value)) if value - value == 0 else f'float("{value}")'
    return ascii(value)


def c_string(text: str) -> str:
    r"""A text as a literal of C, in ASCII: other bytes of its UTF-8 form, and what could end it, by octal numbers.

    An octal number has three digits always, so that a digit behind it is not taken for one of its own; question marks
    are among them, as two would begin a trigraph.

    Examples
    --------
    >>> print(c_string('a"*/??/\né'))
    "a\042*/\077\077/\012\303\251"
    """
    plain = set(range(32, 127)) - set(b'"\\?')
    coded = text.encode("utf-8", "surrogatepass")
    if b"\0" in coded:
        raise DataError(f"{text!r} holds the character NUL, which ends a text in C; rename it.")
    inside = "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in coded)
    # The standard promises 4095 characters in a literal; neighbours are joined.
    return " ".join(f'"{piece}"' for piece in _pieces(inside)) or '""'


def _pieces(text: str, size: int = 1000) -> list[str]:
    """Pieces of escaped text, cut where no escape is cut."""
    pieces = []
    while len(text) > size:
        end = next(end for end in range(size, size - 4, -1) if "\\" not in text[end - 3 : end])
        pieces.append(text[:end])
        text = text[end:]
    return [*pieces, text]


def c_comment(text: str) -> str:
    """A text for comments: letters that could end one, or that are not in ASCII, become dots.

    Examples
    --------
    >>> c_comment("gaussian(gamma=1).on('a*/ int x;')")
    "gaussian(gamma=1).on('a.. int x;')"
    """
    return "".join(letter if letter in _PLAIN else "." for letter in text)[:200]


def c_number(value: float) -> str:
    """A number as C writes it, to the last bit.

    Examples
    --------
    >>> c_number(0.1), c_number(-2), c_number(float("nan")), c_number(float("-inf"))
    ('0.1', '-2.0', 'NAN', '-INFINITY')
    """
    value = float(value)
    if value != value:
        return "NAN"
    if value - value != 0:
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)
