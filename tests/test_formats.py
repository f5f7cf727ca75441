"""Formats and learners are registered in one place; everything else follows from there."""

import re

import pytest
from click.testing import CliRunner
from sklearn.dummy import DummyClassifier

import mercer
from mercer.cli import main
from mercer.io import (
    FORMATS,
    DataError,
    Folder,
    Format,
    MissingFileError,
    Source,
    format_of,
    formats_in_words,
    register,
)
from mercer.learners import LEARNERS, Learner, named
from mercer.learners import register as enter_learner


def pairs_of(source, options):
    """One row a line: a word, a colon and a number."""
    words, numbers = zip(*(line.split(":") for line in source.text.splitlines()))
    return {"number": numbers, "word": words}


@pytest.fixture
def pairs(monkeypatch):
    entry = Format(
        "pairs", "files of pairs", (".pairs",), looks_like=lambda s: s.data.startswith(b"%pairs"), columns_of=pairs_of
    )
    monkeypatch.setitem(FORMATS, entry.name, entry)
    return entry


def test_a_format_is_one_entry(pairs, tmp_path):
    (tmp_path / "scores.pairs").write_text("a:1\nb:2.5\n")
    table = mercer.read(tmp_path / "scores.pairs")
    assert table.frame["number"].tolist() == [1.0, 2.5]
    assert table.y.tolist() == ["a", "b"]
    (tmp_path / "scores.txt").write_text("a:1\nb:2.5\n")
    assert mercer.read(tmp_path / "scores.txt", format="pairs").n_rows == 2
    with pytest.raises(ValueError, match=r"format must be one of csv, .* or pairs; got 'pear'"):
        mercer.read(tmp_path / "scores.txt", format="pear")


def test_a_folder_may_be_a_format(monkeypatch, tmp_path):
    (tmp_path / "many").mkdir()
    (tmp_path / "many" / "one.pairs").write_text("a:1\nb:2.5\n")

    def read_folder(path, options):
        (file,) = path.iterdir()
        return FORMATS["pairs"].table(Source(str(file), file.read_bytes(), ""), options)

    folder = Folder("a folder of pairs", lambda path: any(path.glob("*.pairs")), read_folder)
    entry = Format("pairs", "folders of pairs", (".pairs",), columns_of=pairs_of, folder=folder)
    monkeypatch.setitem(FORMATS, "pairs", entry)
    assert mercer.read(tmp_path / "many").y.tolist() == ["a", "b"]
    with pytest.raises(DataError, match=r"is a folder; name a file in it, a folder of graphs .* or a folder of pairs"):
        mercer.read(tmp_path)


def test_help_knows_every_format():
    page = " ".join(CliRunner().invoke(main, ["--help"]).output.split())
    options = CliRunner().invoke(main, ["check", "--help"]).output
    for entry in FORMATS.values():
        assert entry.title in page
        assert entry.name in options
    assert all(title in page for title in re.split("; ", formats_in_words()))


def test_a_signature_counts_more_than_a_suffix_and_a_suffix_more_than_looks():
    assert format_of(Source("a.csv", b"PAR1...", "")).name == "parquet"
    assert format_of(Source("a.csv", b">x label=1\nACGT", "")).name == "csv"
    assert format_of(Source("a", b">x label=1\nACGT", "")).name == "fasta"
    assert format_of(Source("a", b"+1 3:0.5 7:1\n-1 2:1\n", "")).name == "svmlight"
    assert format_of(Source("a", b"nothing known", "")).name == "csv"


def test_names_are_taken_once():
    with pytest.raises(ValueError, match="there is a format 'csv' already"):
        register(FORMATS["csv"])
    with pytest.raises(ValueError, match="there is a learner 'svc' already"):
        enter_learner(LEARNERS["svc"])


def test_a_missing_file_is_an_error_of_its_own():
    with pytest.raises(MissingFileError, match=r"no file 'none\.csv'; the built-in tables are margins, .* and"):
        mercer.read("none.csv")


def test_a_learner_is_one_entry(monkeypatch):
    lazy = Learner("lazy", "The majority", lambda **_: DummyClassifier(), {"strategy": ["prior", "uniform"]})
    monkeypatch.setitem(LEARNERS, lazy.name, lazy)
    assert "lazy" in CliRunner().invoke(main, ["train", "--help"]).output
    assert named("lazy").family == "linear"
    assert lazy.search_grid() == {"strategy": ["prior", "uniform"]}


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_learners_say_which_of_them_is_the_same_with_any_kernel(learner):
    other = LEARNERS[learner.kernelised]
    assert other.takes_any_kernel
    assert other.task == learner.task
    assert other.build("linear").kernel == "linear"
    assert learner.prepares or type(other.build()) is type(learner.build(degree=1))


def test_tables_show_themselves_and_no_markup_of_a_file(tmp_path):
    (tmp_path / "t.csv").write_text("a,<b>,y\n" + "1,<script>alert(1)</script>,p\n2,x,q\n" * 10)
    table = mercer.read(tmp_path / "t.csv")
    assert repr(table) == "<Table 't': 20 rows, 2 columns; target 'y': 'p' (10) and 'q' (10)>"
    page = table._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<tr>") == 5
    assert "no labels" in repr(mercer.read(tmp_path / "t.csv", target="none", labelled=False))


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("t.fa", ">a label=1\nACGT\n>b label=2\nAAA\n", "2 strings; target 'label': 1 (1) and 2 (1)"),
        ("t.basket", "x a b\ny c\n", "2 sets; target 'first': 'x' (1) and 'y' (1)"),
        ("t.svm", "1 1:1 900:2\n2 3:1\n", "2 rows, 900 columns; target 'label': 1 (1) and 2 (1)"),
        (
            "t.csv",
            "a,y\n" + "".join(f"{k},{k / 7}\n" for k in range(30)),
            "30 rows, 1 column; target 'y': measurements",
        ),
    ],
)
def test_every_kind_of_table_shows_itself(tmp_path, name, text, shown):
    (tmp_path / name).write_text(text)
    table = mercer.read(tmp_path / name)
    assert shown in repr(table)
    assert "<table" in table._repr_html_()
