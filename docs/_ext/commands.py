"""Shell commands in the guide, run when it is built, with what they print below them.

    ```{commands}
    mercer check iris.csv
    ```

The commands of a page share a folder of their own. A command that fails is a warning, and so an error of the build,
unless the block says ``:fails:``. ``:lines: 12`` shows the first lines of what is printed.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective
from sphinx.util.logging import getLogger

#: The longest that a command of the guide may take, in seconds: it may have to compile, on a busy machine.
_PATIENCE = 600


class Commands(SphinxDirective):
    """One command a line; lines that end with a backslash go on."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "fails": directives.flag,
        "hidden": directives.flag,
        "lines": directives.positive_int,
    }

    def run(self) -> list[nodes.Node]:
        """The commands and their output as one block; nothing, where they are ``:hidden:``."""
        shown = [self._one(command) for command in re.split(r"(?<!\\)\n", "\n".join(self.content))]
        if "hidden" in self.options:
            return []
        text = "\n".join(shown)
        return [nodes.literal_block(text, text, language="console")]

    def _one(self, command: str) -> str:
        done = subprocess.run(
            command,
            shell=True,
            cwd=self._folder(),
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
        printed = done.stdout.rstrip().split("\n")
        if (done.returncode != 0) != ("fails" in self.options):
            getLogger(__name__).warning(
                "%r ended with status %d: %s", command, done.returncode, done.stdout, location=self.get_location()
            )
        most = self.options.get("lines", len(printed))
        ending = ["…"] if len(printed) > most else []
        return "\n".join([f"$ {command}", *printed[:most], *ending]).rstrip()

    def _folder(self) -> Path:
        folder = Path(self.env.app.outdir).parent / "commands" / self.env.docname
        folder.mkdir(parents=True, exist_ok=True)
        return folder


def _environment() -> dict[str, str]:
    """As a person would see it in a window of a hundred letters, with this Python's own ``mercer``.

    ``$DOCS`` is the folder of the guide's sources.
    """
    there, docs = str(Path(sys.executable).parent), str(Path(__file__).parents[1])
    path = f"{there}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {"PATH": path, "DOCS": docs, "COLUMNS": "100", "NO_COLOR": "1"}


def setup(app: Any) -> dict[str, Any]:
    """Make the directive known."""
    app.add_directive("commands", Commands)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
