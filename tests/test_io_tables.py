"""Tables from files: every common dialect reads the same, and labels are the user's own."""

import bz2
import csv
import gzip
import io
import lzma

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

import mercer
from mercer.io import BUILTIN, DataError, read

HEADER = ["size", "colour", "price", "kind"]
ROWS = [["1.5", "red", "10", "apple"], ["2", "green, dark", "?", "lemon"], ["-3e2", "red", "7", "apple"]]


def written(rows, delimiter=",", quotechar='"'):
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, quotechar=quotechar).writerows(rows)
    return out.getvalue().encode()


@pytest.fixture
def save(tmp_path):
    def save(data, name="fruit.csv"):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return save


def assert_fruit(table):
    assert table.numeric_columns == ["size", "price"]
    assert table.category_columns == ["colour"]
    np.testing.assert_array_equal(table.frame["size"], [1.5, 2, -300])
    np.testing.assert_array_equal(table.frame["price"], [10, np.nan, 7])
    assert table.frame["colour"].tolist() == ["red", "green, dark", "red"]
    assert table.y.tolist() == ["apple", "lemon", "apple"]
    assert (table.name, table.target, table.missing) == ("fruit", "kind", {"price": 1})


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_delimiters_and_line_ends(save, delimiter, ending):
    text = written([HEADER, *ROWS], delimiter).replace(b"\r\n", ending.encode())
    assert_fruit(read(save(text)))
    assert_fruit(read(save(b"\xef\xbb\xbf" + text)))
    assert_fruit(read(save(text.replace(b"\n", b"\n\n"))))


@pytest.mark.parametrize(("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_packed_files_are_known_by_their_first_bytes(save, suffix, pack):
    data = pack(written([HEADER, *ROWS]))
    assert_fruit(read(save(data, f"fruit.csv.{suffix}")))
    assert_fruit(read(save(data, "fruit")))


def test_utf16_spaces_trailing_delimiters_and_blank_cells_of_the_header(save):
    assert_fruit(read(save("\n".join(",".join(row) for row in [HEADER, *[[*r[:1], "red", *r[2:]] for r in ROWS]])
                           .replace("red,?", '"green, dark",?').encode("utf-16"))))  # fmt: skip
    spaced = read(save("a   b  c\n1 2 x\n 3  4   y \n", "spaced.txt"))
    np.testing.assert_array_equal(spaced.frame, [[1, 2], [3, 4]])
    trailing = read(save("a;b;\n1;x;\n2;y;\n"))
    assert (trailing.columns, trailing.y.tolist()) == (["a"], ["x", "y"])
    blank = read(save(",a,b\n0,1,x\n1,2,y\n"))
    assert blank.columns == ["column 1", "a"]
    assert "no name for 'column 1'" in " ".join(blank.notes)


def test_files_without_a_header(save):
    table = read(save("39, State-gov, <=50K\n50, ?, >50K\n38, Private, <=50K\n\n"))
    assert table.columns == ["x1", "x2"]
    assert table.y.tolist() == ["<=50K", ">50K", "<=50K"]
    assert table.missing == {"x2": 1}
    assert "No header was found; the columns are called x1 to x3." in table.notes
    letters = read(save("a,t,n\ng,a,y\na,t,n\nc,c,y\n"))
    assert letters.n_rows == 4
    assert read(save("a,t,n\ng,a,y\na,t,n\n"), header=True).columns == ["a", "t"]
    # sodium, and no missing value
    assert read(save("Mg,Na,kind\n1.5,2.5,a\n1.6,2.4,b\n"), labelled=False).columns == ["Mg", "Na", "kind"]
    assert read(save("b,NA,x\na,1.5,x\nb,2.5,y\n"), labelled=False).columns == ["x1", "x2", "x3"]
    assert read(save("0,1,2\n5,6,7\n8,9,7\n")).columns == ["0", "1"]
    assert read(save("a,b\n1,x\n"), header=False, kinds={"x1": "category"}).n_rows == 2


@pytest.mark.parametrize(
    ("target", "name"), [(None, "kind"), ("colour", "colour"), (0, "size"), (-2, "price"), ("-3", "colour")]
)
def test_the_target_by_name_and_position(save, target, name):
    table = read(save(written([HEADER, *ROWS])), target, unlabelled_rows="keep")
    assert table.target == name
    assert name not in table.columns
    assert ("The target is the last column, 'kind'." in table.notes) == (target is None)


def test_labels_keep_their_kind(save):
    assert read(save("a,y\n1,1\n2,-1\n")).y.tolist() == [1, -1]
    assert read(save("a,y\n1,0.5\n2,1\n")).y.tolist() == [0.5, 1.0]
    assert read(save("a,y\n1,01\n2,x\n")).y.tolist() == ["01", "x"]
    assert read(save("a,y\n1,01\n2,02\n"), kinds={"y": "category"}).y.tolist() == ["01", "02"]
    assert read(save("a,y\n1,😀\n2,é\n")).y.tolist() == ["😀", "é"]


def test_rows_without_a_label(save):
    path = save("a,y\n1,p\n2,\n3,q\n")
    for dropped in (read(path), read(path, unlabelled_rows="drop")):
        assert dropped.y.tolist() == ["p", "q"]
        assert dropped.lines.tolist() == [2, 4]
        assert "1 row without a label was left out (first: line 3)." in dropped.notes
    with pytest.raises(DataError, match=r"1 of 3 rows has no label in column 'y' \(first: line 3\)"):
        read(path, unlabelled_rows="error")
    kept = read(path, unlabelled_rows="keep")
    assert kept.labelled.tolist() == [True, False, True]
    assert kept.class_counts == {"p": 1, "q": 1}
    assert read(save("a,b\n1,2\n"), "y", labelled=False).y is None


def test_words_for_missing_kinds_and_columns_left_out(save):
    path = save("id,a,code,y\n1,1,01,p\n2,none,02,q\n3,3,.,p\n")
    table = read(path, missing=["None", "."], kinds={"code": "category"}, drop=["id"])
    assert table.numeric_columns == ["a"]
    assert table.missing == {"a": 1, "code": 1}
    assert table.frame["code"].tolist()[:2] == ["01", "02"]


def test_decimal_commas_and_latin_1(save):
    path = save("a;y\n1,5;p\n2,25;q\n")
    np.testing.assert_array_equal(read(path, decimal=",").frame["a"], [1.5, 2.25])
    table = read(save("naïve,y\n1,é\n2,è\n".encode("latin-1")))
    assert table.columns == ["naïve"]
    assert "Line 1 holds a byte (0xef) that is not UTF-8; the file was read as Latin-1." in table.notes


def test_quotes_can_be_ordinary_characters(save):
    path = save('ham\t"so" he said\nspam\t5" off\n', "sms.tsv")
    assert read(path, 0, quotes=False, header=False).frame["x2"].tolist() == ['"so" he said', '5" off']


def test_ten_thousand_columns_and_one_row(save):
    names = ",".join(f"c{k}" for k in range(10_000))
    table = read(save(names + "\n" + ",".join(["1"] * 10_000) + "\n"))
    assert (table.n_rows, table.n_columns) == (1, 9_999)


cells = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]), min_size=1, max_size=8)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), cells, st.sampled_from("pq")), min_size=1),
    st.sampled_from(",;\t|"),
)
def test_what_was_written_is_read(tmp_path_factory, rows, delimiter):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_bytes(written([["number", "word", "label"], *[[repr(a), b, c] for a, b, c in rows]], delimiter))
    table = read(path, delimiter=delimiter, header=True, kinds={"word": "category"})
    assert table.frame["number"].tolist() == [row[0] for row in rows]
    missing = {"?", "na", "n/a", "#n/a", "nan", "-nan", "<na>", "null"}
    assert [w for w in table.frame["word"] if isinstance(w, str)] == [r[1] for r in rows if r[1].lower() not in missing]
    assert table.y.tolist() == [row[2] for row in rows]


def test_svmlight_is_known_by_its_lines(save):
    X = sparse.random(40, 30, density=0.1, random_state=0, format="csr")
    y = np.arange(40) % 3
    out = io.BytesIO()
    dump_svmlight_file(X, y, out, zero_based=False)
    table = read(save(bz2.compress(out.getvalue()), "letters.bz2"))
    assert table.frame is None
    np.testing.assert_allclose(table.rows.toarray(), X.toarray()[:, : table.n_columns])
    assert table.y.tolist() == y.tolist()
    dense = read(save(out.getvalue(), "letters.svm"), dense=True)
    np.testing.assert_array_equal(dense.frame.to_numpy(), table.rows.toarray())
    assert table.take([2, 0]).rows.shape[0] == 2


def test_parquet(tmp_path):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"a": [1, 2, None], "flag": [True, False, True], "w": ["x", None, "y"], "y": [0, 1, 0]})
    frame.to_parquet(tmp_path / "t.parquet")
    table = read(tmp_path / "t.parquet")
    assert (table.numeric_columns, table.category_columns, table.y.tolist()) == (["a", "flag"], ["w"], [0, 1, 0])
    assert table.missing == {"a": 1, "w": 1}
    assert table.frame["w"].tolist()[::2] == ["x", "y"]
    assert read(tmp_path / "t.parquet", "w", unlabelled_rows="drop").y.tolist() == ["x", "y"]
    pandas.DataFrame({"w": ["long" * 50] * 90_000, "y": 1}).to_parquet(tmp_path / "same.parquet")
    with pytest.raises(DataError, match=r"would take about .* in memory, .*; allow more with max_bytes"):
        read(tmp_path / "same.parquet", max_bytes=50_000)
    frame.assign(a=[[1], [2], [3]]).to_parquet(tmp_path / "d.parquet")
    with pytest.raises(DataError, match=r"column 'a': values of type list.* are neither numbers, words nor dates"):
        read(tmp_path / "d.parquet")
    assert read(tmp_path / "d.parquet", drop=["a"]).columns == ["flag", "w"]


@pytest.mark.parametrize("name", BUILTIN)
def test_built_in_tables(name):
    table = read(name)
    assert table.n_rows == len(table.y)
    assert len(table.class_counts) >= 2
    assert read(name).digest == table.digest
    assert not table.missing


def test_columns_of_one_name_are_told_apart(save):
    table = read(save("a,b,a,a.2,a,y\n1,2,3,4,5,p\n6,7,8,9,10,q\n"))
    assert table.frame.loc[0].to_dict() == {"a": 1, "b": 2, "a.3": 3, "a.2": 4, "a.4": 5}
    assert any(
        "2 columns have the name of an earlier one and are called 'a.3' and 'a.4'" in said for said in table.notes
    )


def test_classes_that_are_one_word_in_two_ways_are_said(save):
    said = read(save("a,y\n1,Yes\n2,yes\n3,no\n4,no\n5,not  sure\n6,Not sure\n")).notes
    assert any("'Yes' and 'yes'; 'not  sure' and 'Not sure' differ only in capitals or spaces" in note for note in said)
    assert not any("differ only" in note for note in read(save("a,y\n1,yes\n2,no\n")).notes)


def test_a_target_that_numbers_the_rows_is_said(save):
    rows = "".join(f"{k % 7},{k % 3},{1000 + 3 * k}\n" for k in range(40))
    assert any("named like an identifier" in note for note in read(save(f"a,b,order_id\n{rows}")).notes)
    assert not any("identifier" in note for note in read(save(f"a,b,price\n{rows}")).notes)


@pytest.mark.parametrize(("name", "each", "said"), [("patient", 4, True), ("user_id", 4, True), ("colour", 4, False),
                                                    ("patient", 20, False), ("patient", 1, False)])  # fmt: skip
def test_people_in_several_rows_are_said(save, name, each, said):
    rows = "".join(f"{k},w{k // each}q,{'pq'[k % 2]}\n" for k in range(60))
    path = save(f"a,{name},y\n{rows}")
    assert any(f"--group {name}" in note for note in read(path).notes) == said
    assert not any("--group" in note for note in read(path, kinds={name: "category"}).notes)


def test_a_svmlight_file_in_pieces_is_the_same_table(save):
    """Files of more than four megabytes are read in pieces."""
    line = " ".join(f"{column}:0.{column:04}1" for column in range(10, 510))
    table = read(
        save("# a comment\n" + "".join(f"{k % 2} {k % 7 + 1}:{k / 8} {line}\n" for k in range(800)), "rows.svm")
    )
    X = table.X.to_numpy()
    assert X.shape == (800, 509)
    np.testing.assert_array_equal(X[np.arange(800), np.arange(800) % 7], np.arange(800) / 8)
    assert np.count_nonzero(X[:, :9]) == 799
    assert (X[:, 9:] == X[0, 9:]).all()
    assert list(table.y) == [0, 1] * 400


def test_columns_that_are_numbered_beside_named_ones_are_a_header(tmp_path):
    path = tmp_path / "genes.csv"
    lines = ["id,kind," + ",".join(map(str, range(1, 13)))]
    lines += [f"s{k},{'ab'[k % 2]}," + ",".join(str(0.5 * k + j) for j in range(12)) for k in range(30)]
    path.write_text("\n".join(lines))
    table = mercer.read(path, target="kind")
    assert len(table.y) == 30
    assert list(table.X)[-1] == "12"
    path.write_text("\n".join(f"{'ab'[k % 2]},1,2,{k}" for k in range(30)))
    assert len(mercer.read(path, target="x1").y) == 30


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "int32", "float32"])
def test_equal_frames_are_told_from_others_whatever_their_dtype(dtype):
    values = [1, 2, 3] if dtype.islower() else [1, None, 3]
    digest, again, other = (
        mercer.read(pd.DataFrame({"x": pd.array(each, dtype), "y": pd.array(each, dtype)})).digest
        for each in (values, values, [*values[:2], 4])
    )
    assert digest == again != other
