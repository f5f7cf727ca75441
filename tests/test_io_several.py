"""Several files are one table: lists, folders, patterns, archives; and databases."""

import io
import sqlite3
import tarfile
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from mercer.cli import main
from mercer.io import DataError, read, without_password

A = "size,colour,kind\n1.5,red,p\n2,green,q\n3,red,p\n"
B = "kind,size,colour\nq,4,blue\np,5.5,red\n"


@pytest.fixture
def files(tmp_path):
    def files(**content):
        for name, text in content.items():
            (tmp_path / name.replace("_", ".")).write_text(text)
        return tmp_path

    return files


def zipped(content, path=None):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    if path is None:
        return out.getvalue()
    path.write_bytes(out.getvalue())
    return path


def assert_joined(table):
    assert table.frame["size"].tolist() == [1.5, 2, 3, 4, 5.5]
    assert table.frame["colour"].tolist() == ["red", "green", "red", "blue", "red"]
    assert table.y.tolist() == ["p", "q", "p", "q", "p"]
    assert table.target == "kind"


def test_rows_come_one_after_the_other_whatever_the_order_of_columns(files):
    folder = files(a_csv=A, b_csv=B)
    ways = [[folder / "a.csv", folder / "b.csv"], folder, str(folder / "*.csv"), f"{folder}/"]
    for way in ways:
        table = read(way)
        assert_joined(table)
        assert table.where(4) == "line 3 of 'b.csv'"
        assert table.take([4, 0]).where(0) == "line 3 of 'b.csv'"
        assert "2 files were read one after the other: 'a.csv' (3 rows) and 'b.csv' (2 rows)." in table.notes
    assert read(folder).name == folder.name
    assert read(folder).digest == read(ways[0]).digest != read(folder / "a.csv").digest
    assert_joined(read(zipped({"x/a.csv": A, "x/b.csv": B, "README": "words"}, folder / "both.zip")))
    assert read([folder / "a.csv"]).n_rows == read(f"{folder / 'both.zip'}#a.csv").n_rows == 3
    assert read(folder / "both.zip", sheet="b.csv").n_rows == 2


def test_files_of_several_formats_join(files):
    folder = files(a_csv=A)
    (folder / "b.jsonl").write_text(
        '{"kind": "q", "colour": "blue", "size": 4}\n{"kind": "p", "size": 5.5, "colour": "red"}'
    )
    table = read([folder / "a.csv", folder / "b.jsonl"])
    assert_joined(table)
    assert table.where(3) == "line 1 of 'b.jsonl'"


def test_words_in_one_file_are_words_in_all(files):
    folder = files(a_csv="code,n,y\n1,1,p\n2,2,q\n", b_csv="code,n,y\nA1,,q\nB,4,p\n")
    table = read(folder)
    assert table.frame["code"].tolist() == ["1", "2", "A1", "B"]
    np.testing.assert_array_equal(table.frame["n"], [1, 2, np.nan, 4])
    assert any("'code' are not of one kind in all files" in note for note in table.notes)


def test_a_column_that_is_empty_in_one_file_fits_every_other(files):
    folder = files(a_csv="w,d,y\n,1,p\n,2,q\n", b_csv="w,d,y\nred,,q\nblue,,p\n")
    table = read(folder)
    assert table.frame["w"].tolist()[2:] == ["red", "blue"]
    assert table.missing == {"w": 2, "d": 2}


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (
            "size,kind\n1,p\n",
            r"'b.csv' has other columns than 'a.csv': it lacks 'colour'; files that are read together",
        ),
        ("size,colour,kind,n\n1,red,p,2\n", "it also has 'n';"),
        ("size,colour,sort\n1,red,p\n", "it lacks 'kind' and also has 'sort';"),
    ],
)
def test_files_with_other_columns_do_not_join(files, other, message):
    folder = files(a_csv=A, b_csv=other)
    with pytest.raises(DataError, match=message):
        read(folder)
    assert read(str(folder / "a.*")).n_rows == 3


def test_places_without_tables(files, tmp_path):
    with pytest.raises(DataError, match=r"no file matches '.*nothing\*'"):
        read(str(tmp_path / "nothing*"))
    with pytest.raises(DataError, match="no file is named"):
        read([])
    folder = files(a_csv=A)
    with pytest.raises(DataError, match="there is no file"):
        read([folder / "a.csv", folder / "b.csv"])
    (folder / "x.fasta").write_text(">a label=1\nACGT\n>b label=2\nGGGG\n")
    with pytest.raises(DataError, match=r"'x.fasta' is one of FASTA files, which are read one at a time"):
        read([folder / "a.csv", folder / "x.fasta"])


def test_what_was_not_read_is_said(tmp_path):
    for name in ("adult.data", "adult.test", "adult.names"):
        (tmp_path / name).write_text("1,p\n2,q\n")
    table = read(tmp_path)
    assert table.n_rows == 2
    assert f"{tmp_path.name!r} also holds 'adult.test', which was not read." in table.notes
    path = zipped({"a.csv": A, "b.xyz": "?", "README.md": "words"}, tmp_path / "a.zip")
    assert "'a.zip' also holds 'b.xyz', which was not read." in read(path).notes
    assert not any("also holds" in note for note in read(f"{path}#a.csv").notes)
    (tmp_path / "one.csv").write_text(A)
    with pytest.raises(DataError, match=r"'one.csv' is one table and has no part 'Sheet2'; leave that name out"):
        read(f"{tmp_path / 'one.csv'}#Sheet2")


def test_all_files_together_stay_within_the_limit(files):
    folder = files(a_csv=A + "1,red,p\n" * 60, b_csv=A + "1,red,p\n" * 60)
    assert read(folder / "a.csv", max_bytes=600).n_rows == 63
    with pytest.raises(DataError, match=r"more than .* bytes; allow more with max_bytes"):
        read(folder, max_bytes=600)


# -- zip archives --------------------------------------------------------------------------------------------------

TU = {"TOY_A.txt": "1, 2\n2, 1\n", "TOY_graph_indicator.txt": "1\n1\n2\n", "TOY_graph_labels.txt": "1\n-1\n"}


def test_graphs_in_a_zip_archive_are_those_of_a_tar_archive(tmp_path):
    path = zipped(
        {f"TOY/{name}": text for name, text in TU.items()} | {"TOY/README.txt": "words"}, tmp_path / "TOY.zip"
    )
    with tarfile.open(tmp_path / "TOY.tar", "w") as archive:
        for name, text in TU.items():
            member = tarfile.TarInfo(f"TOY/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    zip_table, tar_table = read(path), read(tmp_path / "TOY.tar")
    assert (zip_table.kind, list(zip_table.items)) == ("graphs", list(tar_table.items))
    assert zip_table.y.tolist() == tar_table.y.tolist() == [1, -1]
    with pytest.raises(DataError, match=r"'part.zip': the file TOY_graph_indicator.txt is missing"):
        read(zipped({"TOY_A.txt": TU["TOY_A.txt"]}, tmp_path / "part.zip"))


def test_tables_as_old_collections_publish_them(tmp_path):
    rows = "5.1,3.5,Iris-setosa\n4.9,3.0,Iris-virginica\n"
    path = zipped({"Index": "words", "iris.names": "words", "iris.data": rows}, tmp_path / "iris.zip")
    assert read(path).y.tolist() == ["Iris-setosa", "Iris-virginica"]
    sms = zipped({"SMSSpamCollection": "ham,1\nspam,2\n", "readme": "words"}, tmp_path / "sms.zip")
    assert read(sms, 0).y.tolist() == ["ham", "spam"]
    escaping = zipped({"../../etc/a.csv": A}, tmp_path / "escaping.zip")
    assert read(escaping).n_rows == 3
    assert not list(tmp_path.parent.glob("etc"))


def locked():
    data = bytearray(zipped({"a.csv": A}))
    data[6] |= 1  # in the local header
    data[data.index(b"PK\x01\x02") + 8] |= 1  # and in the directory
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (zipped({"a.csv": A})[:-30], "a damaged zip archive"),
        (zipped({"a.zip": zipped({"a.csv": A})}), "'a.zip' in 'x.zip' is itself an archive; unpack the outer one"),
        (zipped({"a.csv": ""}), "'a.csv' in 'x.zip' is empty"),
        (zipped({}), "is an empty archive"),
        (zipped({"one": "1", "two": "2"}), "'x.zip' holds 'one' and 'two'; name the one that is data after a #"),
        (zipped({"word/document.xml": "<x/>"}), "is a Word document"),
        (zipped({"content.xml": "<x/>", "mimetype": "application/vnd.oasis"}), "OpenDocument file; save the sheet as"),
        (zipped({"a.csv": "1,2\n" * 3_000_000}), "unpacks to more than 10,000,000 bytes; allow more with max_bytes"),
        (locked(), "'a.csv' in 'x.zip' is locked with a password"),
    ],
)
def test_archives_that_cannot_be_read(tmp_path, data, message):
    path = tmp_path / "x.zip"
    path.write_bytes(data)
    with pytest.raises(DataError, match=message):
        read(path, max_bytes="10MB")
    with pytest.raises(DataError):
        read(f"{path}#missing.csv", max_bytes="10MB")


def test_a_workbook_may_not_grow_without_measure(tmp_path):
    pytest.importorskip("openpyxl")
    book = io.BytesIO()
    pd.DataFrame({"a": [1], "y": ["p"]}).to_excel(book, index=False)
    with zipfile.ZipFile(book) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"]
    start = sheet.index(b"<sheetData>")
    bombs = {
        "entities": b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]>' + sheet[sheet.index(b"<worksheet") :],
        "far": sheet[:start]
        + b"<sheetData>"
        + b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (k, k) for k in range(1, 20_000))
        + b"</sheetData></worksheet>",
        "large": sheet.replace(b"<sheetData>", b"<sheetData>" + b" " * 20_000_000),
    }
    for name, bomb in bombs.items():
        path = zipped({**parts, "xl/worksheets/sheet1.xml": bomb}, tmp_path / f"{name}.xlsx")
        with pytest.raises(DataError, match=r"max_bytes|XML document type"):
            read(path, max_bytes="10MB")


# -- databases -----------------------------------------------------------------------------------------------------


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        pd.read_csv(io.StringIO(A)).to_sql("people", connection, index=False)
        pd.DataFrame({"b": [1, 2], "y": [0, 1]}).to_sql("other things", connection, index=False)
        connection.execute("CREATE VIEW red AS SELECT * FROM people WHERE colour = 'red'")
    connection.close()
    return path


def test_a_table_or_a_query_of_a_database(database):
    pytest.importorskip("sqlalchemy")
    address = f"sqlite:///{database}"
    expected = read(database, sheet="people")
    for table in (
        read(f"{address}?table=people"),
        read(address, sheet="people"),
        read(f"{address}?query=SELECT * FROM people"),
        read(f"{database}#people"),
    ):
        assert table.frame["size"].tolist() == expected.frame["size"].tolist() == [1.5, 2, 3]
        assert table.y.tolist() == ["p", "q", "p"]
    assert read(f"{address}?table=red").n_rows == 2
    assert read(f"{address}?table=other things").n_rows == 2
    assert read(f"{address}?query=SELECT size, kind FROM people WHERE size > 1.6", drop=()).columns == ["size"]
    assert read(f"{address}?query=SELECT size, size, kind FROM people").columns == ["size", "size.2"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "has 3 tables, 'other things', 'people' and 'red'; name one after the address"),
        ("?table=peple", r"has no table 'peple'; did you mean 'people'\?"),
        ("?table=zzz", "has no table 'zzz'; the tables are 'other things', 'people' and 'red'"),
        ("?query=DROP TABLE people", "a query begins with SELECT or WITH"),
        ("?query=SELECT nix FROM people", "cannot be read: no such column: nix"),
        ("?query=SELECT * FROM people WHERE size > 99", "has no rows"),
        ("?table=people&query=SELECT 1", "names a table and a query"),
    ],
)
def test_databases_say_what_is_wrong(database, query, message):
    pytest.importorskip("sqlalchemy")
    with pytest.raises(DataError, match=message):
        read(f"sqlite:///{database}{query}")
    assert read(database, sheet="people").n_rows == 3


def test_a_database_that_is_not_there_is_not_made(tmp_path):
    pytest.importorskip("sqlalchemy")
    with pytest.raises(DataError, match="there is no database"):
        read(f"sqlite:///{tmp_path / 'none.db'}?table=people")
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(DataError, match="fetch the file first"):
        read("https://example.org/a.csv")


def test_endless_queries_are_cut_at_the_limit(database):
    pytest.importorskip("sqlalchemy")
    endless = "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT a, a AS y FROM n"
    with pytest.raises(DataError, match="allow more with max_bytes"):
        read(f"sqlite:///{database}?query={endless}", max_bytes="2MB")


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:h%40sh@host/shop?table=x",
        "mysql+nodriver://ann:hush@host:1/shop",
        "oracle://a:hush@h/?token=hush",
    ],
)
def test_passwords_are_never_shown(address, tmp_path):
    pytest.importorskip("sqlalchemy")
    for source in (address, [address, "a.csv"]):
        with pytest.raises(DataError) as caught:
            read(source)
        assert "hush" not in str(caught.value)
        assert "h%40sh" not in str(caught.value)
        assert "***" in str(caught.value)
    done = CliRunner().invoke(main, ["check", address])
    assert "hush" not in done.output
    assert "h@sh" not in done.output


def test_a_password_of_a_database_that_can_be_read_is_not_kept(database):
    pytest.importorskip("sqlalchemy")
    address = f"sqlite:///{database}?table=people&password=hush"
    assert without_password(address).endswith("?table=people&password=***")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SQLite knows of no password, as newer versions of SQLAlchemy say
        table = read(address)
    assert "hush" not in table.source
