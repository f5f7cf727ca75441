"""The gallery's scripts: a title, a narrative, declared imports, and one picture each that a page can show.

They run when the guide is built, where a warning is an error.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(EXAMPLES.rglob("*.py"))
PLOTTED = [path for path in SCRIPTS if path.name.startswith("plot_")]
#: Distributions that are imported under another name.
IMPORTED_AS = {"scikit-learn": "sklearn"}

every_script = pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
every_picture = pytest.mark.parametrize("path", PLOTTED, ids=lambda path: path.stem)


def blocks(path: Path) -> list[str]:
    """What stands between two marks: figures are taken, and closed, at the end of each of them."""
    return path.read_text(encoding="utf-8").split("\n# %%\n")


def declared() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [re.match(r"[\w-]+", one)[0] for one in project["dependencies"]]
    return {IMPORTED_AS.get(name, name) for name in names} | {"mercer"} | sys.stdlib_module_names


def test_there_are_enough_and_each_has_a_name_of_its_own():
    assert len(PLOTTED) >= 22
    assert len({path.name for path in SCRIPTS}) == len(SCRIPTS)


def test_every_folder_has_a_heading_and_its_place_in_the_index():
    configuration = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    for folder in {path.parent for path in SCRIPTS}:
        title, line, *_ = (folder / "README.txt").read_text(encoding="utf-8").splitlines()
        assert line == "-" * len(title)
        assert f'"{folder.name}"' in configuration


@every_script
def test_title_and_narrative(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    title, line, gap, *text = ast.get_docstring(tree, clean=False).strip("\n").splitlines()
    assert line == "=" * len(title)
    assert gap == ""
    assert len(" ".join(text)) > 100
    parts = blocks(path)[1:]
    assert len(parts) >= 2
    assert all(part.startswith("# ") for part in parts), "every block begins with words"


@every_script
def test_imports_are_declared(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {name.name for node in imports for name in node.names if isinstance(node, ast.Import)}
    names |= {node.module for node in imports if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= declared()


@every_picture
def test_a_figure_is_shown_in_the_block_that_opens_it(path):
    opens = [re.search(r"plt\.(subplots|figure|subplot_mosaic)\(", block) is not None for block in blocks(path)]
    assert sum(opens) == 1
    assert opens == ["plt.show()" in block for block in blocks(path)]


def test_what_is_not_run_says_so():
    for path in set(SCRIPTS) - set(PLOTTED):
        assert "shown here and not run" in " ".join(blocks(path)[0].split())


def test_nothing_is_left_beside_the_scripts():
    seen = {path.suffix for path in EXAMPLES.rglob("[!.]*.*") if not path.parent.name.startswith((".", "_"))}
    assert seen == {".py", ".txt", ".toml"}
