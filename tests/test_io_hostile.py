"""Files are not trusted: each bad one gets one sentence that says where, why and what to do."""

import gzip
import io
import lzma
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.io import DataError, open_source, read

GOOD = "".join(f"{k},{k % 7},{'pq'[k % 2]}\n" for k in range(100))


def workbook():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("xl/workbook.xml", "<x/>")
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("empty.csv", b"", "'empty.csv' is empty."),
        ("blank.csv", b" \n\n\t\n", "'blank.csv' is empty."),
        ("utf16.csv", "a,y\n1,p\n".encode("utf-16") + b"\x00\xd8,\x00", "the text is damaged"),
        ("control.csv", b"\x1c", "'control.csv' is empty."),
        ("header.csv", b"a,b,y\n", "'header.csv' has a header and no rows."),
        ("short.csv", b"a,b,y\n1,2,p\n3,q\n", "line 3: the row has 2 cells where 3 are expected"),
        ("long.csv", b"a,b,y\n1,2,p\n3,4,q,5\n", "line 3: the row has 4 cells where 3 are expected"),
        ("quote.csv", b'a,b,y\n1,"2,p\n3,4,q\n', "line 2: the quotes do not match"),
        ("nul.csv", b"a,b,y\n1,2,p\n3,\x004,q\n", "line 3: a NUL byte"),
        ("binary.csv", bytes(range(1, 256)) * 20, "binary file|not a text table"),
        ("book.xlsx", workbook(), "a damaged Excel workbook: .*; save it again as .xlsx or CSV"),
        ("model.pkl", b"\x80\x04\x95\x00", "is a pickle, which is never loaded"),
        ("cut.csv.gz", gzip.compress(GOOD.encode())[:-20], "a damaged gzip file: it ends too early"),
        ("cut.csv.xz", lzma.compress(GOOD.encode())[:-20], "a damaged xz file: it ends too early"),
        ("noise.csv.gz", gzip.compress(GOOD.encode())[:30] + b"\xff" * 50, "a damaged gzip file"),
        ("few.csv", GOOD.replace("\n5,", "\nfive,").encode(), "line 6, column 'x1': 'five' is not a number"),
        ("inf.csv", GOOD.replace("\n5,", "\ninf,").encode(), "line 6, column 'x1': the number inf is not finite"),
        ("comma.csv", b"a;b;y\n1,5;1.5;p\n2,5;2.5;q\n", "column 'a': '1,5' seems to have a decimal comma"),
        ("fewlabels.csv", b"a,y\n1,p\n2,\n3,\n", r"2 of 3 rows have no label in column 'y' \(first: line 3\)"),
        ("nolabels.csv", b"a,b,y\n1,1,\n2,2,\n", "the target column 'y' has no values"),
        ("one.csv", b"y\np\nq\n", "only the target column 'y'"),
        ("label.svm", b"1 1:2 3:4\nx 1:2\n", "line 2: the label 'x' is not a number"),
        ("pair.svm", b"1 1:2 3:4\n2 1=2\n", "line 2: '1=2' is not of the form number:value"),
        ("huge.svm", b"1 1:2\n1 2147483646:1\n", "line 2: the feature number 2147483646 is larger"),
        ("order.svm", b"1 3:2 1:1\n", "line 1: the feature numbers must increase, but 1 comes after 3"),
        ("nan.svm", b"1 1:nan\n", "line 1: '1:nan' is not of the form"),
        ("x.parquet", b"PAR1 and nothing more", "damaged Parquet file"),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value[:12] else "",
)
def test_bad_files(tmp_path, name, data, message):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(DataError, match=message) as caught:
        read(path)
    assert "\n" not in str(caught.value)


def test_places_that_are_no_files(tmp_path):
    with pytest.raises(DataError, match=r"there is no file 'x.csv'; the built-in tables are margins"):
        read("x.csv")
    with pytest.raises(DataError, match="is a folder"):
        read(tmp_path)
    with pytest.raises(DataError, match="no ordinary file"):
        read("/dev/null")
    with pytest.raises(DataError, match="cannot be read"):
        read("a\0b")
    with pytest.raises(DataError, match="'margins:0': after the colon comes a number of rows"):
        read("margins:0")
    with pytest.raises(DataError, match="fixed number of rows"):
        read("digits:50")


def test_a_small_file_that_unpacks_to_a_large_one_is_refused_early(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"1,2\n" * 2_000_000))
    assert path.stat().st_size < 30_000
    with pytest.raises(DataError, match=r"unpacks to more than 1,000,000 bytes; allow more with max_bytes"):
        read(path, max_bytes="1MB")


def test_a_file_whose_beginning_alone_is_packed_well_is_read(tmp_path):
    path = tmp_path / "uneven.csv.gz"
    noise = np.random.default_rng(0).integers(0, 10, 3_000_000, dtype=np.uint8) + ord("0")
    data = b"1,2,3,a\n" * 3_000_000 + noise.tobytes()
    path.write_bytes(gzip.compress(data))
    assert open_source(path, "30MB").data == data


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("cells.csv", b"a,y\n" + b"1,0\n" * 100_000),
        ("words.csv", b"a,y\n" + b"".join(b"%x,p\n" % k for k in range(20_000))),
        ("wide.csv", b",".join([b"1"] * 5000) + b"\n" + b",".join([b"2"] * 5000) + b"\n"),
        ("wide.svm", b"1 1:1\n0 49999999:1\n"),
        ("rows.svm", b"1 1:1\n0 1:2\n" * 20_000),
        ("records.fasta", b">a label=1\nA\n" * 20_000),
        ("lines.basket", b"a b\n" * 20_000),
        ("objects.json", b'{"a":[' + b"{}," * 100_000 + b"{}]}"),
        ("rows.arff", b"@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n" + b"1,0\n" * 50_000),
    ],
)
def test_what_reading_would_take_in_memory_is_foretold(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    assert len(data) < 2_000_000
    with pytest.raises(DataError, match=r"would take about .* in memory, .* allow more with max_bytes"):
        read(tmp_path / name, max_bytes="2MB")


def test_what_is_no_archive_of_graphs_is_said_in_one_line(tmp_path):
    (tmp_path / "a.tar").write_bytes(b"no archive")
    with pytest.raises(DataError, match=r"no readable tar archive: .*\.$") as caught:
        read(tmp_path / "a.tar")
    assert "\n" not in str(caught.value)


def test_options_that_do_not_fit(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("size,kind\n1,p\n2,q\n")
    with pytest.raises(DataError, match=r"no column 'kin' to be the target; did you mean 'kind'\?"):
        read(path, "kin")
    with pytest.raises(DataError, match="has 2 columns, so the target cannot be in position 5"):
        read(path, 5)
    with pytest.raises(DataError, match="no column 'z' to leave out"):
        read(path, drop=["z"])
    (tmp_path / "few.csv").write_text(GOOD.replace("\n5,", "\nfive,"))
    assert read(tmp_path / "few.csv", drop=["x1"]).columns == ["x2"]
    with pytest.raises(DataError, match="no column left"):
        read(path, drop=["size", "kind"])
    with pytest.raises(ValueError, match="unlabelled_rows must be one of"):
        read(path, unlabelled_rows="maybe")
    with pytest.raises(ValueError, match="delimiter must be one character"):
        read(path, delimiter="ab")


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300) | st.text(alphabet='a1,;"\n\t .?:-', max_size=120).map(str.encode), st.booleans())
def test_no_bytes_whatever_raise_anything_else(tmp_path_factory, data, packed):
    path = tmp_path_factory.getbasetemp() / "fuzz"
    path.write_bytes(gzip.compress(data) if packed else data)
    try:
        table = read(path, unlabelled_rows="keep")
    except DataError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert table.n_rows > 0
        assert table.y is None or len(table.y) == table.n_rows  # sequences may have no labels at all
