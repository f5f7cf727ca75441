"""The pages of the guide as tests see them: their blocks, and what the blocks of code say when they run."""

import doctest
import re
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).parents[1] / "docs"
_FENCE = re.compile(r"^(?P<mark>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=mark)[ \t]*$", re.MULTILINE | re.DOTALL)
#: As the guide is built.
_FLAGS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


class Block(NamedTuple):
    """A fenced block: what stands after its fence, and inside."""

    kind: str
    body: str


def blocks_of(text: str) -> list[Block]:
    """The fenced blocks of a page, in their order."""
    return [Block(found["info"].strip(), found["body"]) for found in _FENCE.finditer(text)]


def doctests_of(page: Path) -> list[list[doctest.Example]]:
    """The examples of each block that runs when the guide is built, but for those that need what may be missing."""
    parser = doctest.DocTestParser()
    bodies = [block.body for block in blocks_of(page.read_text()) if block.kind == "{doctest}"]
    return [parser.get_examples(body) for body in bodies if ":skipif:" not in body]


def failures_of(page: Path, names: dict | None = None) -> str:
    """Run the examples of a page in one namespace; what does not say what it should."""
    examples = [each for block in doctests_of(page) for each in block]
    test = doctest.DocTest(examples, {"__name__": f"guide_{page.stem}", **(names or {})}, page.name, str(page), 0, None)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=_FLAGS).run(test, out=said.append)
    return "".join(said)
