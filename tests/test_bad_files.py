"""Bad tables given to the commands: one sentence and an exit status, never a traceback."""

import re

import pytest
from click.testing import CliRunner

from mercer.cli import main

from .bad_files import FILES, table

COMMANDS = {
    "train": (["train", "svc", "{}", "--target", "y", "--kernel", "linear", "-o", "other.model"], "learning"),
    "run": (["run", "good.model", "{}"], "running"),
    "check": (["check", "{}"], "describing"),
}
THOROUGH = {
    "explain": (["explain", "good.model", "{}"], "running"),
    "tune": (["tune", "svc", "{}", "--target", "y", "--kernel", "linear", "--folds", "2"], "learning"),
    "compare": (["compare", "{}", "--target", "y", "--learners", "linear-svc", "-o", "report.html"], "learning"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("tables")
    for name, file in FILES.items():
        (made / f"{name}.csv").write_text(file.text)
    (made / "good.csv").write_text(table())
    return made


def wrong_answers(folder, command, patch):
    """What is wrong with what a command says of each file."""
    words, use = {**COMMANDS, **THOROUGH}[command]
    patch.chdir(folder)
    runner = CliRunner()
    if not (folder / "good.model").exists():
        trained = [word.format("good.csv") for word in COMMANDS["train"][0][:-1]] + ["good.model"]
        assert runner.invoke(main, trained).exit_code == 0
    wrong = {}
    for name, file in FILES.items():
        done = runner.invoke(main, [word.format(f"{name}.csv") for word in words])
        says, lines = getattr(file, use), done.stderr.strip().splitlines() or [""]
        if says is None:
            told = [line for line in lines if "left out" in line]
            expected = [file.left_out] if use == "learning" and file.left_out else []
            fine = done.exit_code == 0 and len(told) == len(expected) and all(map(re.fullmatch, expected, told))
        else:
            fine = done.exit_code == 1 and re.search(f"mercer: .*({says})", lines[-1])
        if not fine or "Traceback" in done.output or not isinstance(done.exception, (SystemExit, type(None))):
            wrong[name] = f"{done.exit_code}: {done.stderr[-300:]}"
    return wrong


@pytest.mark.parametrize("command", COMMANDS)
def test_bad_tables_get_one_sentence(folder, command, monkeypatch):
    assert not wrong_answers(folder, command, monkeypatch)


@pytest.mark.thorough
@pytest.mark.parametrize("command", THOROUGH)
def test_bad_tables_get_one_sentence_from_long_commands(folder, command, monkeypatch):
    assert not wrong_answers(folder, command, monkeypatch)
