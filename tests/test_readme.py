"""What README.md says is so: its Python runs, its commands parse, its links lead somewhere."""

import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest

from mercer.cli import COMMANDS, main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
PYTHON = [text for kind, text in BLOCKS if kind == "python"]
LINES = [line.partition("  #")[0].strip() for kind, text in BLOCKS if not kind for line in text.splitlines()]
QUOTED = [text for text in re.findall(r"`(mercer [^`]+)`", README) if "$(" not in text]


def test_it_begins_with_two_commands_and_is_short():
    lines = README.splitlines()
    assert lines[0] == "# mercer"
    assert [line.split("  ")[0] for line in lines[3:5]] == ["make demo", "make test"]
    assert len(lines) <= 200


def test_python_runs_as_it_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(PYTHON) == 2
    for text in PYTHON:
        exec(compile(text, "README.md", "exec"), {})


@pytest.mark.parametrize("line", [each for each in (*LINES, *QUOTED) if each.startswith("mercer ")])
def test_commands_have_the_options_that_are_shown(line):
    name, *words = shlex.split(line)[1:]
    command = main.get_command(click.Context(main), name)
    assert command is not None, f"{name} is none of {', '.join(COMMANDS)}"
    context = click.Context(command, info_name=name)
    given, _, _ = command.make_parser(context).parse_args(words)
    for parameter in command.params:
        if isinstance(parameter.type, click.Choice) and given.get(parameter.name) is not None:
            parameter.type_cast_value(context, given[parameter.name])


def test_make_has_the_targets():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {line.split()[1] for line in LINES if line.startswith("make ")} | set(
        re.findall(r"`make ([\w-]+)`", README)
    )
    assert named <= targets


def test_extras_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    named = {name for found in re.findall(r"\[([a-z,]+)\]", "\n".join(LINES)) for name in found.split(",")}
    assert {"play", "gpu", "parquet"} <= named <= set(extras)


def test_links_and_pictures_lead_somewhere():
    places = re.findall(r"\]\(([^)#]+)", README)
    assert len(places) > 10
    assert [place for place in places if not (ROOT / place).exists()] == []
    assert [place for place in places if "://" in place] == []


def test_pictures_are_small():
    for place in re.findall(r"!\[[^]]*\]\(([^)]+)\)", README):
        assert (ROOT / place).stat().st_size <= 200_000


def test_badges_are_true():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["license"] == "BSD-3-Clause"
    assert "BSD 3-clause" in (ROOT / "docs/_static/licence.svg").read_text("utf-8")
    tested = re.search(r"^PYTHONS \?= (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)[1].split()
    assert ", ".join(each.removeprefix("python") for each in tested) in (ROOT / "docs/_static/python.svg").read_text(
        "utf-8"
    )
