"""How large the house is, how its rooms lean on each other, and what a small fit costs: figures to watch over time.

Usage: ``python tools/house.py``. Nothing is judged here; ``tests/test_rooms.py`` holds the rules.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

os.environ["NUMBA_NUM_THREADS"] = "1"  # work on other threads would not be seen

import mercer

ROOT = Path(mercer.__file__).parent
TESTS = Path(__file__).parent.parent / "tests"
#: Rooms that only use the others: nothing of the core needs them.
DOORS = {"study", "report", "cli", "play", "exports", "cuda", "cluster"}
IMPORTS = ast.Import | ast.ImportFrom


def name_of(path: Path) -> str:
    """mercer.room.file, or mercer.room for its __init__."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PATHS = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in PATHS.items()}


def imported(tree: ast.Module, package: str = "") -> Iterator[tuple[str, str]]:
    """Every name that a file imports from mercer, anywhere in it: the module, and the name (nothing for itself)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*base, *filter(None, [node.module])])
            for alias in node.names:
                inner = f"{origin}.{alias.name}"
                yield (inner, "") if inner in PATHS else (origin, alias.name)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def imports_of(name: str) -> list[tuple[str, str]]:
    package = name if PATHS[name].name == "__init__.py" else name.rpartition(".")[0]
    return [(origin, each) for origin, each in imported(TREES[name], package) if origin in PATHS and origin != name]


def room_of(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


def is_room(origin: str) -> bool:
    """Whether a module is a room, or one inside another, rather than a file of one."""
    return origin.count(".") <= 1 or PATHS[origin].name == "__init__.py"


@cache
def names_of(room: str) -> dict[str, str]:
    """The names that a room lists, each with the file that it is from.

    A room with a stub is not imported: its files may want packages that only an extra brings.
    """
    stub = PATHS[room].with_suffix(".pyi")
    if stub.exists():
        nodes = ast.parse(stub.read_text(encoding="utf-8")).body
        lines = [node for node in nodes if isinstance(node, ast.ImportFrom)]
        return {each.name: ".".join(filter(None, (room, line.module))) for line in lines for each in line.names}
    module = import_module(room)
    homes = {name: getattr(getattr(module, name), "__module__", room) for name in getattr(module, "__all__", ())}
    return {name: home if home in PATHS else room for name, home in homes.items()}


def is_inner(origin: str, name: str) -> bool:
    """Whether a name, or a module as a whole, is not one that a room lists."""
    room, _, own = origin.rpartition(".")
    if not name and own in names_of(room):
        return False
    return not is_room(origin) or bool(name and names_of(origin) and name not in names_of(origin))


def home_of(origin: str, name: str) -> str:
    """The file that a name is from, where a room passes it on."""
    return names_of(origin).get(name, origin) if name and is_room(origin) else origin


def numbers_in(node: ast.expr) -> int:
    """Numbers that a constant of a module is made of; a computed one counts once."""
    if isinstance(node, ast.Tuple):
        return sum(map(numbers_in, node.elts))
    if isinstance(node, ast.UnaryOp | ast.BinOp):
        parts = [node.operand] if isinstance(node, ast.UnaryOp) else [node.left, node.right]
        return min(map(numbers_in, parts))
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def magic_numbers(tree: ast.Module) -> int:
    return sum(
        numbers_in(node.value) for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign) and node.value
    )


def classes_of_one_name() -> list[str]:
    homes = defaultdict(set)
    for room in PATHS.keys() - {"mercer.__main__"}:
        for name, home in names_of(room).items() if is_room(room) else ():
            if any(isinstance(node, ast.ClassDef) and node.name == name for node in TREES[home].body):
                homes[name].add(home)
    return sorted(name for name, several in homes.items() if len(several) > 1)


def traced(work: Callable[[], Any]) -> tuple[int, int, int]:
    """Calls of our own Python functions in a second run, the files they are in, and how often the room changes."""
    work()
    files: list[str] = []

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(f"{ROOT}{os.sep}"):
            files.append(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    rooms = [Path(each).relative_to(ROOT).parts[0] for each in files]
    return len(files), len(set(files)), sum(a != b for a, b in pairwise(rooms))


def show(what: str, *figures: Any) -> None:
    print(f"{what:<62}", " / ".join(f"{each:,}" if isinstance(each, int) else str(each) for each in figures))


def main() -> None:
    lengths = [len(path.read_text(encoding="utf-8").splitlines()) for path in PATHS.values()]
    lines_of_imports = sum(
        node.end_lineno - node.lineno + 1
        for tree in TREES.values()
        for node in ast.walk(tree)
        if isinstance(node, IMPORTS) and node.end_lineno
    )
    show("Python files / lines / median of a file", len(lengths), sum(lengths), round(median(lengths)))
    show("lines that import", f"{lines_of_imports / sum(lengths):.1%}")
    importers = Counter(home for name in PATHS for home in {home_of(*each) for each in imports_of(name)})
    importers += Counter(  # a stub says what its room imports
        home
        for room, path in PATHS.items()
        if path.with_suffix(".pyi").exists()
        for home in set(names_of(room).values()) - {room}
    )
    show("files with exactly one importer", sum(importers[name] == 1 for name in PATHS if not is_room(name)))

    doors = [(name, each) for name in PATHS if room_of(name) in DOORS for each in imports_of(name)]
    across = [each for name, each in doors if room_of(each[0]) not in ("", room_of(name))]
    show("names that doors import of other rooms / inner ones", len(across), sum(is_inner(*each) for each in across))
    of_tests = {
        path: {origin for origin, _ in imported(ast.parse(path.read_text(encoding="utf-8"))) if origin in PATHS}
        for path in sorted(TESTS.glob("*.py"))
    }
    inner = {path: {origin for origin in origins if not is_room(origin)} for path, origins in of_tests.items()}
    show(
        "test files / that import inner modules / how many of these",
        len(inner),
        sum(map(bool, inner.values())),
        len(set().union(*inner.values())),
    )
    show("names of public classes used twice", ", ".join(classes_of_one_name()) or "none")
    show("magic numbers of modules", sum(map(magic_numbers, TREES.values())))
    count = "import sys; from mercer import SVC; print(sum(name.split('.')[0] == 'mercer' for name in sys.modules))"
    found = subprocess.run([sys.executable, "-c", count], capture_output=True, text=True, check=True)
    show("modules of mercer that `from mercer import SVC` imports", int(found.stdout))

    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    machine = mercer.SVC().fit(X, y)
    grid = {"C": [1, 10], "kernel__gamma": [0.1, 1]}
    print("\nCalls of our own / files / changes of room, on iris")
    show("SVC().fit", *traced(lambda: mercer.SVC().fit(X, y)))
    show("SVC().predict", *traced(lambda: machine.predict(X)))
    search = mercer.KernelSearchCV(mercer.SVC("gaussian(gamma=1)"), grid, cv=5)
    show("KernelSearchCV(SVC(), 2 × 2 settings, 5 folds).fit", *traced(lambda: search.fit(X, y)))


if __name__ == "__main__":
    main()
