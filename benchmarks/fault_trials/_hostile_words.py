"""Words that would steer a browser, a spreadsheet or a terminal, tables full of them, and whether they got there."""

from __future__ import annotations

import ast
import csv
import io
import re
import unicodedata
from html.parser import HTMLParser
from pathlib import Path
from string import whitespace

__all__ = ["WORDS", "elements", "hostile_table", "in_code", "in_html", "in_spreadsheet", "in_terminal"]

#: Words by what they would do.
WORDS = {
    "image": "<img src=x onerror=alert(1)>",
    "script": "</script><script>alert(1)</script>",
    "drawing": "\"><svg onload='alert(1)'>",
    "attribute": "' onmouseover='alert(1)' x=\"",
    "comment": "--><iframe src=javascript:alert(1)></iframe><!-- ]]>",
    "entity": "&lt;b&gt;&#60;i&#62;",
    "hyperlink": '=HYPERLINK("http://x","y")',
    "plus": "+cmd|' /C calc'!A0",
    "minus": "-1+1",
    "at": "@SUM(1)",
    "tab": "\t=1+1",
    "carriage": "\r=1+1",
    "newline": "\n=1+1",
    "carriage inside": "a\r=1+1",
    "zero width before": "\ufeff=1+1",
    "space": "  =1+1",
    "not quite a number": "-1_0",
    "clear": "\x1b[2J\x1b[31mred",
    "link": "\x1b]8;;http://x\x1b\\y\x1b]8;;\x1b\\",
    "title": "\x1b]0;title\x07",
    "bell": "b\x07\x08\x7fl",
    "one byte control": "\x9b31mred\x9d0;t\x9c",
    "right to left": "abc\u202egnp.exe",
    "isolate": "\u2066abc\u2069",
    "zero width": "ad\u200bmin\ufeff\u2060",
    "line separator": "a\u2028b\u2029c\x85d",
    "markup": "[red]r[/red][/] [link=http://x]y[/link]",
    "broken markup": "[/nothing] [bold",
    "formula of TeX": "$\\frac{$ \\input{x}",
    "backslashes": 'a\\"; \\n %s {0} {x} \\',
    "end of comment": '*/ int x; /* ??/ """ # ',
    "long": "l0ng " * 1990,
}


def hostile_table(words: list[str], rows: int = 40) -> str:
    """A table as CSV: words as names of columns, in cells and as labels."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)
    first, last = words[0], words[-1]
    writer.writerow([*words, f"{first} kind", f"{last} label"])
    for row in range(rows):
        numbers = [(row * (place + 3)) % 11 + row % 2 * 4 for place in range(len(words))]
        kind = words[row % min(4, len(words))] if row % 3 else "plain"
        writer.writerow([*numbers, kind, f"{first} yes" if row % 2 else f"{last} no"])
    return out.getvalue()


def in_terminal(text: str) -> list[str]:
    """Letters that steer terminals or hide what is said."""
    return sorted({letter for letter in text if letter != "\n" and unicodedata.category(letter) in _STEERING})


#: Control and format characters, separators of lines, and what is no character at all.
_STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")


def in_spreadsheet(text: str) -> list[str]:
    """Cells that a spreadsheet would compute."""
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    return [cell for cell in cells if cell.strip("\ufeff\u200b" + whitespace)[:1] in _SIGNS and not _is_number(cell)]


_SIGNS = tuple("=+-@")


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[+-][0-9.]+(e[+-]?[0-9]+)?", cell) is not None


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[tuple[str, ...]] = set()

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.add((name,))
        self.found |= {(name, key) for key, _ in attributes}
        self.found |= {(name, key, str(value)) for key, value in attributes if key in ("href", "src", "action")}

    def handle_comment(self, data: str) -> None:
        self.found.add(("comment", data))

    def unknown_decl(self, data: str) -> None:
        self.found.add(("declaration", data))


def elements(page: str) -> set[tuple[str, ...]]:
    """Elements of a page, their attributes, and the values of those that lead elsewhere."""
    parser = _Elements()
    parser.feed(page)
    parser.close()
    return {each for each in parser.found if not (len(each) == 3 and each[2].startswith("#"))}


def in_html(page: str, harmless: str) -> list[str]:
    """What a page has more than one of the same kind with plain words, and what steers or hides in it."""
    more = [" ".join(each) for each in sorted(elements(page) - elements(harmless))]
    return more + in_terminal(page)


def in_code(path: str | Path) -> list[str]:
    """What a source file holds beyond plain letters, or imports beyond its own."""
    text = Path(path).read_text(encoding="utf-8")
    found = in_terminal(text) + [letter for letter in text if not letter.isascii()]
    if str(path).endswith(".py"):
        tree = ast.walk(ast.parse(text))
        imported = {alias.name for node in tree if isinstance(node, ast.Import) for alias in node.names}
        found += sorted(imported - {"base64", "csv", "io", "math", "numpy", "os", "sys"})
    return found
