"""The house keeps its order: no circles between rooms, one meaning for a class name, everything says what it is."""

import ast
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import mercer

ROOT = Path(mercer.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))


def name_of(path):
    """mercer.room.file, or mercer.room for its __init__."""
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


#: Every module, but the one that runs the command line when it is imported.
MODULES = {name_of(path): path for path in FILES if path.name != "__main__.py"}


@cache
def tree_of(name):
    return ast.parse(MODULES[name].read_text(encoding="utf-8"))


def imports_of(name, everywhere=True):
    """The modules of this package that one of them imports, inside functions as well where ``everywhere``.

    What only type checkers see does not count.
    """
    package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
    found, waiting = set(), list(ast.iter_child_nodes(tree_of(name)))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) and not everywhere:
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*base, *filter(None, [node.module])])
            targets = [f"{origin}.{alias.name}" for alias in node.names]
            found |= {target if target in MODULES else origin for target in targets}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {target for target in found if target in MODULES and target != name}


def circle(graph):
    """One circle, as a text; nothing where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " ← ".join(error.args[1])
    return ""


def room_of(module, depth):
    return ".".join(module.split(".")[: depth + 1])


def test_rooms_form_no_circle():
    graph = defaultdict(set)
    for name in MODULES:
        here = room_of(name, 1)
        graph[here] |= {room_of(other, 1) for other in imports_of(name)} - {here, "mercer"}
    graph.pop("mercer", None)  # the face, which knows all rooms
    assert "mercer.kernels" in graph["mercer.grams"]
    assert not circle(graph)
    graph["mercer.kernels"].add("mercer.grams")
    assert circle(graph)


def test_files_form_no_circle():
    """Imports inside functions aside: they are how a base class makes one of its derived classes."""
    assert not circle({name: imports_of(name, everywhere=False) for name in MODULES})


@pytest.mark.parametrize("package", ["mercer.kernels", "mercer.solvers"])
def test_rooms_inside_a_room_form_no_circle(package):
    inner = {name for name, path in MODULES.items() if path.name == "__init__.py" and name.startswith(f"{package}.")}
    graph = defaultdict(set)
    for name in MODULES:
        here = room_of(name, 2)
        if here in inner:
            graph[here] |= ({room_of(other, 2) for other in imports_of(name)} & inner) - {here}
    assert not circle(graph)


def test_the_engine_of_kernels_knows_no_kernel():
    outside = [
        f"{name} imports {other}"
        for name in MODULES
        if name.startswith("mercer.kernels.engine")
        for other in imports_of(name)
        if other.startswith("mercer.kernels") and not other.startswith("mercer.kernels.engine")
    ]
    assert not outside, "; ".join(outside)


def test_a_public_class_name_means_one_thing():
    homes = defaultdict(set)
    for room in ["mercer", *(name for name in MODULES if name.count(".") == 1)]:
        module = import_module(room)
        for name in getattr(module, "__all__", []):
            if isinstance(entry := getattr(module, name), type):
                homes[name].add(f"{entry.__module__}.{entry.__qualname__}")
    assert {name: several for name, several in homes.items() if len(several) > 1} == {}


def test_every_module_says_what_it_is():
    assert [name for name in MODULES if not ast.get_docstring(tree_of(name))] == []


def test_what_a_room_offers_is_what_it_lists():
    """A room offers what it imports from its files, a file what it defines; both list what exists."""
    for name in MODULES:
        if name.count(".") != 1 or name.split(".")[1].startswith("_"):
            continue
        tree, module = tree_of(name), import_module(name)
        offered = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        if MODULES[name].name == "__init__.py":
            relative = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.level == 1]
            modules = {other.rpartition(".")[2] for other in MODULES}
            names = {alias.asname or alias.name for node in relative for alias in node.names}
            offered |= names - {"*"} - modules
        assert {entry for entry in offered if not entry.startswith("_")} <= set(module.__all__), name


def test_lists_of_names_are_true():
    for name in MODULES:
        listed = getattr(import_module(name), "__all__", [])
        assert len(set(listed)) == len(listed), name
        assert [entry for entry in listed if not hasattr(import_module(name), entry)] == [], name


#: Rooms that only use the others: nothing of the core needs them.
DOORS = {"study", "report", "cli", "play", "exports", "cuda"}


def test_doors_import_what_rooms_list():
    """A file of a room may change its inner names without a look at who else uses them."""
    inner = []
    for name in MODULES:
        if name.count(".") < 1 or name.split(".")[1] not in DOORS:
            continue
        package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
        for node in ast.walk(tree_of(name)):
            if not isinstance(node, ast.ImportFrom) or not node.level:
                continue
            base = package.split(".")[: len(package.split(".")) - node.level + 1]
            origin = ".".join([*base, *filter(None, [node.module])])
            if room_of(origin, 1) == room_of(name, 1) or origin == "mercer":
                continue
            listed = getattr(import_module(origin), "__all__", [])
            is_file = origin.count(".") > 1 and MODULES[origin].name != "__init__.py"
            inner += [f"{name}: {origin}.{a.name}" for a in node.names if is_file or a.name not in listed]
    assert inner == []
