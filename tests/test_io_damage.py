"""Whatever happens to a file on its way, it is read or refused in one sentence: nothing else is raised."""

import gzip
import io
import sqlite3
import zipfile

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.io import DataError, read

ROWS = 12
FRAME = pd.DataFrame(
    {
        "size": np.arange(ROWS) / 8 - 1,
        "colour": ["red", "green, dark", None] * (ROWS // 3),
        "when": pd.date_range("2024-02-27", periods=ROWS, freq="D"),
        "kind": ["p", "q"] * (ROWS // 2),
    }
)
ARFF = """% a comment
@relation 'some fruit'
@attribute 'size in mm' numeric
@attribute colour {red, 'dark green'}
@attribute note string
@attribute day date "yyyy-MM-dd"
@attribute kind {p, q}
@data
1.5, red, 'it\\'s', 2024-02-29, p
{0 7, 1 'dark green', 4 q}
?, red, "a, b", ?, q
"""
KEEL = """@relation fruit
@attribute size real [0.0, 9.0]
@attribute kind {p, q}
@inputs size
@outputs kind
@data
1.5, p
<null>, q
"""


def through(method, **given):
    out = io.BytesIO()
    getattr(FRAME, method)(out, **given)
    return out.getvalue()


def database():
    with sqlite3.connect(":memory:") as connection:
        FRAME.to_sql("fruit", connection, index=False)
        return connection.serialize()


def archive(*names):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name in names:
            file.writestr(name, through("to_csv", index=False))
    return out.getvalue()


def graphs():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("TOY/TOY_A.txt", "1, 2\n2, 1\n")
        file.writestr("TOY/TOY_graph_indicator.txt", "1\n1\n2\n")
        file.writestr("TOY/TOY_graph_labels.txt", "1\n-1\n")
    return out.getvalue()


GOOD = {
    "t.csv": lambda: through("to_csv", index=False, sep=";", decimal=","),
    "t.xlsx": lambda: pytest.importorskip("openpyxl") and through("to_excel", index=False),
    "t.json": lambda: through("to_json", orient="records", date_format="iso"),
    "columns.json": lambda: through("to_json", date_format="iso"),
    "t.jsonl": lambda: through("to_json", orient="records", lines=True, date_format="iso"),
    "t.arff": ARFF.encode,
    "t.dat": KEEL.encode,
    "t.parquet": lambda: pytest.importorskip("pyarrow") and through("to_parquet"),
    "t.feather": lambda: pytest.importorskip("pyarrow") and through("to_feather"),
    "t.db": database,
    "t.zip": lambda: archive("t.csv"),
    "two.zip": lambda: archive("a.csv", "b.csv"),
    "graphs.zip": graphs,
    "t.csv.gz": lambda: gzip.compress(through("to_csv", index=False)),
}


def damaged(data, whole):
    """A file that was cut, or in which some bytes became others, were lost or came in."""
    kind = data.draw(st.sampled_from(["cut", "change", "lose", "insert"]))
    place = data.draw(st.integers(0, len(whole) - 1))
    if kind == "cut":
        return whole[:place]
    junk = data.draw(st.binary(min_size=1, max_size=20))
    if kind == "insert":
        return whole[:place] + junk + whole[place:]
    return whole[:place] + (junk if kind == "change" else b"") + whole[place + len(junk) :]


@pytest.mark.thorough
@pytest.mark.parametrize("name", GOOD)
def test_a_damaged_file_is_read_or_refused_in_a_sentence(tmp_path_factory, name):
    whole, path = GOOD[name](), tmp_path_factory.mktemp("damage") / name
    path.write_bytes(whole)
    assert read(path).n_rows >= 2

    @settings(max_examples=60, deadline=None)
    @given(st.data())
    def check(data):
        path.write_bytes(damaged(data, whole))
        try:
            table = read(path, unlabelled_rows="keep", max_bytes="20MB")
        except DataError as error:
            assert "\n" not in str(error)  # noqa: PT017
            assert len(str(error)) < 600  # noqa: PT017
        else:
            assert table.n_rows > 0

    check()


@pytest.mark.parametrize(
    "start",
    [
        b"[{",
        b'{"a": [',
        b"@relation x\n@attribute",
        b"PAR1",
        b"ARROW1\0\0",
        b"SQLite format 3\0",
        b"PK\x03\x04",
        b"PK\x05\x06",
    ],
)
def test_a_beginning_alone_is_no_file(tmp_path_factory, start):
    path = tmp_path_factory.mktemp("beginning") / "file"

    @settings(max_examples=15, deadline=None)
    @given(st.binary(max_size=200) | st.text(alphabet='{}[]",:1a@% \n\\', max_size=80).map(str.encode))
    def check(rest):
        path.write_bytes(start + rest)
        try:
            read(path, unlabelled_rows="keep")
        except DataError as error:
            assert "\n" not in str(error)  # noqa: PT017

    check()
