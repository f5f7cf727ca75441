"""Words in data that would steer a browser, a spreadsheet or a terminal: how many of them get there.

Each word of ``_hostile_words.py`` is the name of a file and of columns, stands in cells, is a label and the name of a
record. Every command meets it, and whatever can be shown is looked at: what commands print, their JSON, predictions as
CSV, exported sources, tables and kernels as notebooks show them, sentences of errors, and the report of a study.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

from click.testing import CliRunner

from mercer import kernels, read
from mercer.cli import main
from mercer.io import DataError
from reproductions.results import Results

from ._hostile_words import WORDS, hostile_table, in_code, in_html, in_spreadsheet, in_terminal

__all__ = ["reached", "reached_in_report"]

#: What is run on a table, by the place that is looked at; a model of it is in "m".
_COMMANDS = {
    "check": "check DATA", "check as JSON": "check DATA --json", "train": "train svc DATA -o m",
    "run": "run m DATA --keep all", "run as JSON": "run m DATA --keep all --json",
    "explain": "explain m DATA", "inspect": "inspect m", "inspect as JSON": "inspect m --json", "kernel": "kernel DATA",
    "tune": "tune perceptron DATA --folds 2 --repeats 1",
}  # fmt: skip
#: What is refused.
_MISTAKES = {"a wrong target": "check DATA --target none", "a wrong column": "train svc DATA -o n --drop none"}


def show(results: Results, scale: float, seed: int) -> None:
    places, found = 0, []
    names = list(WORDS)[: max(3, round(len(WORDS) * scale))]
    for name in names:
        for place, letters in reached([WORDS[name], "x", f"{WORDS[name]}2"]):
            places += 1
            found += [f"{name} in {place}: {letters[:3]!r}"] if letters else []
    for place, letters in reached_in_report([WORDS[name] for name in names]):
        places += len(names)
        found += [f"{place}: {letters[:3]!r}"] if letters else []
    note = f"of {places}, {len(names)} words; {'; '.join(found[:10])}"
    results.add("hostile words that reached a browser, a spreadsheet or a terminal", len(found), "0", not found, note)


def reached(words: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Every place that words from a table may come to, and what is found there."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        data = _written(words)
        for place, line in _COMMANDS.items():
            yield place, in_terminal(_output(line, data))
        for place, line in _MISTAKES.items():
            yield place, in_terminal(_output(line, data, code=1))
        _output("run m DATA --keep all -o out.csv", data)
        yield "predictions as CSV", in_spreadsheet(_read("out.csv"))
        yield "CSV on the standard output", in_spreadsheet(_output("run m DATA --keep all -o -", data))
        for file in ("m.c", "m.py"):
            to = {"m.c": "c", "m.py": "python"}[file]
            yield f"exporting to {to}", in_terminal(_output(f"export m --to {to} -o {file}", data))
            yield file, in_code(file)
        table, plain = read(data), read(_written([f"w{place}" for place in range(len(words))], "plain"))
        yield "a table in a notebook", in_html(table._repr_html_(), plain._repr_html_())
        named = [kernels.Linear().on(word) for word in (words[0], "plain")]
        yield "a kernel in a notebook", in_html(*(kernel._repr_html_() for kernel in named))
        yield "a table as text", in_terminal(repr(table))
        yield "the sentence of an error", in_terminal(_refusal(data))
        yield "names of records", in_terminal(_records(words[0]))


def reached_in_report(words: list[str]) -> Iterator[tuple[str, list[str]]]:
    """What is found in the report of a study on a table full of words, and in what the command prints."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        study = "compare DATA --learners svc --cv 2 --no-trees --repeats 1 -o "
        plain = [f"w{place}" for place in range(len(words))]
        printed = [_output(study + "plain", _written(plain, "plain")), _output(study + "hostile", _written(words))]
        yield "compare", in_terminal(printed[1])
        yield "report.html", in_html(_read("hostile/report.html"), _read("plain/report.html"))
        yield "report.json", in_terminal(_read("hostile/report.json"))


def _written(words: list[str], name: str | None = None) -> str:
    """A file with a table of words, which is called like the first of them."""
    letters = "".join(letter for letter in name or words[0] if letter not in "/\0")
    path = f".{os.sep}{letters[:100]}.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(hostile_table(words))
    return path


def _output(line: str, data: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, [data if part == "DATA" else part for part in line.split()])
    if done.exit_code != code:
        raise AssertionError(f"mercer {line} ended with {done.exit_code}: {done.output[-500:]!r}")
    return done.stdout if line.endswith("-o -") else done.output


def _read(path: str) -> str:
    return Path(path).read_bytes().decode()


def _refusal(data: str) -> str:
    try:
        read(data, target="none")
    except DataError as error:
        return str(error)
    raise AssertionError("a column that is not there was found")


def _records(word: str) -> str:
    """Strings with names and labels, trained on and predicted."""
    name = "".join(word.split())
    records = "".join(f">{row}{name} label={row % 2}{name}\n{'GATTACA' if row % 2 else 'CCGGA'}\n" for row in range(12))
    Path("records.fasta").write_text(records, encoding="utf-8")
    lines = "check DATA", "train svc DATA -o strings --kernel spectrum(p=2)", "run strings DATA", "explain strings DATA"
    return "".join(_output(line, "records.fasta") for line in lines)
