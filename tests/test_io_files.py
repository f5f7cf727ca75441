"""The same table from every kind of file that people have, and from memory."""

import datetime
import gzip
import io
import json
import sqlite3
import zipfile
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import mercer
from mercer.cli import main
from mercer.io import FORMATS, DataError, read

ROWS = 24
FRAME = pd.DataFrame(
    {
        "size": np.where(np.arange(ROWS) == 3, np.nan, np.arange(ROWS) / 8 - 1),
        "colour": ["red", "dark, green", None, "é😀"] * (ROWS // 4),
        "when": pd.date_range("2024-02-27", periods=ROWS, freq="D"),
        "big": np.arange(ROWS) * 10**6,
        "kind": ["p", "q", "q"] * (ROWS // 3),
    }
)


def as_arff(frame):
    lines = ["% a comment", "@RELATION 'some fruit'", "@attribute size NUMERIC", "@ATTRIBUTE colour string"]
    lines += ['@attribute when date "yyyy-MM-dd"', "@attribute big integer [0, 99]", "@attribute kind {p, q}", "@DATA"]
    for row in frame.itertuples():
        colour = "?" if pd.isna(row.colour) else f"'{row.colour}'"
        size = "?" if np.isnan(row.size) else repr(row.size)
        lines.append(f"{size},{colour},{row.when:%Y-%m-%d},{row.big},{row.kind}")
    return "\n".join(lines)


def as_workbook(frame):
    pytest.importorskip("openpyxl")
    out = io.BytesIO()
    frame.to_excel(out, index=False)
    return out.getvalue()


def as_database(frame):
    with sqlite3.connect(":memory:") as connection:
        frame.to_sql("fruit", connection, index=False)
        return connection.serialize()


def through(method, **given):
    def write(frame):
        out = io.BytesIO()
        getattr(frame, method)(out, **given)
        return out.getvalue()

    return write


#: A way to write a frame for each format of rows.
WRITERS = {
    "csv": ("fruit.csv", through("to_csv", index=False)),
    "excel": ("fruit.xlsx", as_workbook),
    "json": ("fruit.json", through("to_json", orient="records", date_format="iso")),
    "arff": ("fruit.arff", as_arff),
    "parquet": ("fruit.parquet", through("to_parquet")),
    "feather": ("fruit.feather", through("to_feather")),
    "sqlite": ("fruit.db", as_database),
}


@pytest.fixture
def save(tmp_path):
    def save(data, name):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return save


def assert_same(table, frame=FRAME):
    assert [*table.columns, table.target] == list(frame.columns)
    np.testing.assert_array_equal(table.frame["size"], frame["size"])
    np.testing.assert_array_equal(table.frame["big"], frame["big"])
    assert [None if pd.isna(word) else word for word in table.frame["colour"]] == [
        None if pd.isna(word) else word for word in frame["colour"]
    ]
    assert pd.to_datetime(pd.Series(list(table.frame["when"]))).tolist() == frame["when"].tolist()
    assert table.y.tolist() == frame["kind"].tolist()
    assert {"size", "colour"} <= set(table.missing)


def test_every_format_of_rows_is_tried_here():
    assert {entry.name for entry in FORMATS.values() if entry.columns_of} == set(WRITERS)


@pytest.mark.parametrize("format", WRITERS)
def test_every_format_holds_the_same_table(save, format):
    name, write = WRITERS[format]
    path = save(write(FRAME), name)
    table = read(path)
    assert table.name == "fruit"
    assert_same(table)
    assert_same(read(save(write(FRAME), "fruit.unknown"), format=format))
    assert "when" not in read(path, drop=["when"]).columns
    assert read(path, "colour", unlabelled_rows="drop").n_rows == FRAME["colour"].notna().sum()
    with pytest.raises(DataError, match="has no column 'colr' to be the target; did you mean 'colour'"):
        read(path, "colr")
    with pytest.raises(DataError, match="max_bytes"):
        read(path, max_bytes=200)


@pytest.mark.parametrize("format", WRITERS)
def test_every_format_may_be_packed(save, format):
    name, write = WRITERS[format]
    assert_same(read(save(gzip.compress(write(FRAME) if format != "arff" else write(FRAME).encode()), name + ".gz")))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"data/{name}", write(FRAME))
        archive.writestr("__MACOSX/._x", "junk")
        archive.writestr("README.md", "# words")
    table = read(save(out.getvalue(), "download.zip"))
    assert table.name == "fruit"
    assert_same(table)


@pytest.mark.parametrize("format", WRITERS)
def test_a_column_of_numbers_may_be_words(save, format):
    name, write = WRITERS[format]
    table = read(save(write(FRAME), name), kinds={"big": "category"})
    assert table.category_columns.count("big") == 1
    assert set(table.frame["big"]) == {str(value) for value in FRAME["big"]}


def test_dates_and_odd_types_of_arrow(tmp_path):
    pa = pytest.importorskip("pyarrow")
    days = pa.array([datetime.date(2020, 1, 31), None, datetime.date(1999, 12, 31)])
    zoned = pa.array([0, 86_400_000_000, None], pa.timestamp("us", tz="Europe/Rome"))
    columns = {
        "day": days,
        "zoned": zoned,
        "price": pa.array([Decimal("1.50"), Decimal("2.25"), None]),
        "flag": pa.array([True, None, False]),
        "empty": pa.nulls(3),
        "code": pa.array([7, 8, 7]).dictionary_encode(),
        "word": pa.array(["b", "a", None]).dictionary_encode(),
        "huge": pa.array([2**63 - 1, 0, 1]),
        "y": pa.array(["p", "q", "p"]),
    }
    pa.feather.write_feather(pa.table(columns), tmp_path / "t.feather")
    pa.parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    for name in ("t.feather", "t.parquet"):
        raw = FORMATS[name[2:]].columns_of(*opened(tmp_path / name)).columns
        assert raw["day"].dtype == raw["zoned"].dtype == "datetime64[ns]"
        assert raw["day"].astype("datetime64[D]").astype(str).tolist() == ["2020-01-31", "NaT", "1999-12-31"]
        assert raw["zoned"].astype("datetime64[D]").astype(str).tolist() == ["1970-01-01", "1970-01-02", "NaT"]
        np.testing.assert_array_equal(raw["price"], [1.5, 2.25, np.nan])
        np.testing.assert_array_equal(raw["flag"], [1, np.nan, 0])
        assert np.isnan(raw["empty"]).all()
        np.testing.assert_array_equal(raw["code"], [7, 8, 7])
        assert list(raw["word"])[:2] == ["b", "a"]
        assert raw["huge"][0] == 2.0**63


def opened(path):
    from mercer.io import Options, open_source

    return open_source(path), Options()


def test_the_index_of_a_frame_is_never_the_target(tmp_path):
    pytest.importorskip("pyarrow")
    FRAME[FRAME["kind"] == "q"].to_parquet(tmp_path / "some.parquet")
    table = read(tmp_path / "some.parquet")
    assert (table.target, table.columns) == ("kind", ["size", "colour", "when", "big"])
    assert "The index of the frame, which has no name, was left out." in table.notes
    FRAME.set_index("colour").to_parquet(tmp_path / "named.parquet")
    table = read(tmp_path / "named.parquet")
    assert (table.target, table.columns) == ("kind", ["colour", "size", "when", "big"])


# -- Excel ---------------------------------------------------------------------------------------------------------


def workbook(*sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets:
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_sheets_are_chosen_by_name(save):
    path = save(workbook(("First", [["a", "y"], [1, "p"]]), ("Second one", [["b", "y"], [2, "q"]])), "book.xlsx")
    table = read(path)
    assert table.columns == ["a"]
    assert "The sheet 'First' was read; the workbook also has 'Second one' (--sheet)." in table.notes
    assert read(f"{path}#Second one").columns == read(path, sheet="Second one").columns == ["b"]
    with pytest.raises(DataError, match=r"'book.xlsx' has no sheet 'Secnd one'; did you mean 'Second one'\?"):
        read(path, sheet="Secnd one")


def test_a_sheet_as_people_lay_it_out(save):
    rows = [
        ["Sales of March"], [], [None, "weight", "n", None, "kind"], [None, 1.5, "1", None, "p"],
        [None, "#DIV/0!", 2, None, "q"], [], [None, "n/a", "3", None, "p"],
    ]  # fmt: skip
    table = read(save(workbook(("S", rows)), "march.xlsx"))
    assert (table.columns, table.target) == (["weight", "n"], "kind")
    np.testing.assert_array_equal(table.frame["weight"], [1.5, np.nan, np.nan])
    assert table.frame["n"].tolist() == [1, 2, 3]
    assert [table.where(row) for row in range(3)] == ["row 4", "row 5", "row 7"]
    assert "The table begins in row 3; what stands above was left out ('Sales of March')." in table.notes
    assert any(
        "1 cell of 'weight' holds an error such as #DIV/0!; it counts as missing." in note for note in table.notes
    )
    with pytest.raises(DataError, match=r"'m.xlsx', sheet 'S', row 3, column 'a': 'x' is not a number"):
        read(save(workbook(("S", [["a", "y"], [1, "p"], ["x", "q"]])), "m.xlsx"), kinds={"a": "number"})
    codes = save(workbook(("S", [["zip", "y"], ["00100", "p"], ["20121", "q"]])), "codes.xlsx")
    assert list(FORMATS["excel"].columns_of(*opened(codes)).columns["zip"]) == ["00100", "20121"]
    with pytest.raises(DataError, match="sheet 'S' is empty"):
        read(save(workbook(("S", [])), "empty.xlsx"))


# -- JSON ----------------------------------------------------------------------------------------------------------

RECORDS = [{"size": 1.5, "kind": "p"}, {"size": None, "kind": "q", "more": {"x": 7, "y": "w"}}, {"kind": "p"}]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(RECORDS),
        json.dumps(RECORDS, indent=2),
        "\n".join(map(json.dumps, RECORDS)),
        json.dumps({"status": "ok", "data": RECORDS}),
    ],
    ids=["list", "pretty", "lines", "inside"],
)
def test_records_may_lack_names_and_hold_objects(save, text):
    table = read(save(text, "r.json"), "kind", kinds={"more.y": "category"})
    assert set(table.columns) == {"size", "more.x", "more.y"}
    np.testing.assert_array_equal(table.frame["size"], [1.5, np.nan, np.nan])
    np.testing.assert_array_equal(table.frame["more.x"], [np.nan, 7, np.nan])
    assert table.y.tolist() == ["p", "q", "p"]
    assert read(save(text, "nameless"), "kind").n_rows == 3


@pytest.mark.parametrize("orient", ["columns", "records", "split", "index", "values", "list"])
def test_every_layout_of_json_that_pandas_writes(save, orient):
    frame = pd.DataFrame({"a": [1.5, 2.5, 4], "b": [3, 4, 5], "y": ["p", "q", "p"]})
    text = json.dumps(frame.to_dict("list")) if orient == "list" else frame.to_json(orient=orient)
    table = read(save(text, "t.json"))
    np.testing.assert_array_equal(table.frame, frame[["a", "b"]])
    assert table.y.tolist() == ["p", "q", "p"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"a": 1, "y": "p"}\n, {"a": [1, 2], "y": "q"}]', r"line 2, column 'a': \[1, 2\] is neither a number nor"),
        ('{"a": 1}\n{"a": 2', "line 2: this is no JSON"),
        ('[{"a": 1, "y": 2}, ', "ends too early"),
        ('[{"a": 1, "a": 2}]', "a record has the name 'a' twice"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": [1, 2], "b": [1]}', "different lengths: 'a' 2 and 'b' 1"),
        ("[1, 2, 3]", "'1' is no record; write each row as an object"),
        ("[[1, 2], [3]]", "the row has 1 values where 2 are expected"),
        ("[]", "has no records"),
        ('[{"a": 1e999, "y": "p"}]', "record 1|line 1, column 'a': the number inf is not finite"),
        ('[{"a": "\\ud800", "y": "p"}]', "holds half a character"),
        ('[{"a": 1, "d": [1, 2]}]', "column 'd': .* is neither a number nor a word"),
        ('"text"', "no JSON|no table|no record"),
    ],
)
def test_json_that_is_no_table(save, text, message):
    with pytest.raises(DataError, match=message) as caught:
        read(save(text, "t.json"))
    assert len(str(caught.value)) < 300


# -- ARFF and KEEL -------------------------------------------------------------------------------------------------

KEEL = """@relation  iris
@attribute SepalLength real [4.3, 7.9]
@attribute Colour {red, dark-green}
@attribute Class {Iris-setosa, Iris-virginica}
@attribute Count integer[0,9]
@inputs SepalLength, Colour, Count
@outputs Class
@data
5.1, red, Iris-setosa, 3
<null>, dark-green, Iris-virginica, 4
"""


def test_keel_files_say_their_target(save):
    table = read(save(KEEL, "iris.dat"))
    assert (table.target, table.columns) == ("Class", ["SepalLength", "Colour", "Count"])
    assert table.y.tolist() == ["Iris-setosa", "Iris-virginica"]
    np.testing.assert_array_equal(table.frame["SepalLength"], [5.1, np.nan])
    assert "The target is what the file calls its output, 'Class'." in table.notes
    assert table.where(1) == "line 10"
    assert read(save(KEEL, "iris.dat"), "Colour").target == "Colour"


def test_arff_agrees_with_scipy(save):
    from scipy.io import arff

    rng = np.random.default_rng(0)
    lines = ["@relation r", "@attribute a real", "@attribute b {x, y, z}", "@attribute c numeric", "@data"]
    lines += [f"{rng.normal():.6f}, {rng.choice(list('xyz'))}, {rng.integers(9)}" for _ in range(50)]
    path = save("\n".join(lines), "r.arff")
    expected, _ = arff.loadarff(path)
    table = read(path, "b")
    np.testing.assert_array_equal(table.frame["a"], expected["a"])
    np.testing.assert_array_equal(table.frame["c"], expected["c"])
    assert table.y.tolist() == [word.decode() for word in expected["b"]]


def test_sparse_rows_quotes_and_the_order_of_words(save):
    head = "@relation r\n@attribute 'a b' numeric\n@attribute \"c\" {'low one', high}\n@attribute y {n, p}\n@data\n"
    table = read(save(head + "{0 7.5, 2 p}\n{}\n2,'low one',p\n{1 high}\n", "s.arff"))
    assert table.frame["a b"].tolist() == [7.5, 0, 2, 0]
    assert table.frame["c"].tolist() == ["low one", "low one", "low one", "high"]
    assert list(table.frame["c"].cat.categories) == ["low one", "high"]
    assert table.y.tolist() == ["p", "n", "p", "n"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1,red\n", "line 6: the row has 2 cells where 3 are declared"),
        ("x,red,p\n", "line 6, column 'a': 'x' is not a number, which the header declares"),
        ("1,blue,p\n", "line 6, column 'b': 'blue' is none of the words that the header declares"),
        ("{9 1}\n", "line 6: '9 1' should be the number of an attribute, from 0 to 2"),
        ("", "has a header and no rows"),
    ],
)
def test_arff_that_does_not_keep_its_word(save, rows, message):
    head = "@relation r\n@attribute a numeric\n@attribute b {red, green}\n@attribute y {p, q}\n@data\n"
    with pytest.raises(DataError, match=message):
        read(save(head + rows, "r.arff"))
    with pytest.raises(DataError, match="relational"):
        read(save(head.replace("numeric", "relational"), "r.arff"))
    with pytest.raises(DataError, match="no line @data"):
        read(save(head.replace("@data", ""), "r.arff"))


# -- frames --------------------------------------------------------------------------------------------------------


def test_a_frame_is_a_table_too():
    table = mercer.read(FRAME, target="kind")
    assert_same(table)
    assert table.digest == mercer.read(FRAME.copy(), target="kind").digest
    assert table.digest != mercer.read(FRAME.assign(big=0), target="kind").digest
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    assert_same(mercer.read(polars.from_pandas(FRAME), "kind"))
    odd = pd.DataFrame(
        {
            0: pd.array([1, None, 3], "Int64"),
            "b": pd.array([True, False, None], "boolean"),
            "c": pd.Categorical(["low", "high", "low"], ["low", "high"], ordered=True),
            "d": [datetime.date(2020, 1, 1), None, datetime.date(2021, 1, 1)],
            "y": [True, False, True],
        }
    )
    table = mercer.read(odd)
    np.testing.assert_array_equal(table.frame["0"], [1, np.nan, 3])
    np.testing.assert_array_equal(table.frame["b"], [1, 0, np.nan])
    assert list(table.frame["c"].cat.categories) == ["low", "high"]
    assert table.frame["d"].dtype.kind == "M"
    with pytest.raises(DataError, match=r"the frame, row 1, column 'a': .* is neither a number nor a word"):
        mercer.read(pd.DataFrame({"a": [{1}, {2}], "y": [0, 1]}))
    with pytest.raises(DataError, match="has no rows"):
        mercer.read(FRAME[:0])


# -- the decimal comma ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_a_decimal_comma_is_noticed(save, delimiter):
    text = "".join(delimiter.join([f"{k / 7:.2f}", str(k), "pq"[k % 2]]) + "\n" for k in range(30)).replace(".", ",")
    with_header = read(save(delimiter.join("aby") + "\n" + text, "de.csv"))
    without = read(save(text, "bare.csv"))
    for table in (with_header, without):
        np.testing.assert_allclose(table.frame.iloc[:, 0], np.arange(30) / 7, atol=0.005)
        assert table.found["decimal"] == ","
        assert sum("decimal comma" in note for note in table.notes) == 1
    assert without.columns == ["x1", "x2"]
    with pytest.raises(DataError, match="seems to have a decimal comma"):
        read(save(text, "de.csv"), decimal=".")


def test_with_a_decimal_comma_points_set_thousands_apart(save):
    rows = "".join(f"{1 + k}.{234 + k},5;{k}.000;{k},25;{'pq'[k % 2]}\n" for k in range(1, 30))
    table = read(save("a;b;c;y\n" + rows, "de.csv"))
    assert table.frame["a"].tolist() == [1000.0 * (1 + k) + 234.5 + k for k in range(1, 30)]
    assert table.frame["b"].tolist() == [1000.0 * k for k in range(1, 30)]
    target = read(save("a;b;c;y\n" + rows, "de.csv"), "a")
    assert target.task == "regress"
    assert target.y[0] == 2235.5


def test_a_target_may_have_a_decimal_comma(save):
    text = "a;y\n" + "".join(f"{k};{k / 7:.3f}\n" for k in range(40)).replace(".", ",")
    table = read(save(text, "numbers.csv"))
    assert table.task == "regress"
    np.testing.assert_allclose(table.y, np.arange(40) / 7, atol=5e-4)


@pytest.mark.parametrize(
    "text",
    [
        "a;y\n" + "1,234;p\n5,678;q\n" * 20,  # thousands, perhaps
        "a;b;y\n" + "1,5;2.5;p\n" * 20,  # a point in another column
        "a;y\n" + "red, green;p\nblue;q\n" * 20,
    ],
)
def test_a_comma_in_a_cell_is_not_always_a_decimal_sign(save, text):
    path = save(text, "t.csv")
    try:
        table = read(path)
    except DataError as error:
        assert "decimal comma" in str(error)  # noqa: PT017
    else:
        assert "decimal" not in table.found


def test_a_model_remembers_the_decimal_comma(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{k / 9:.3f};{(k % 5) / 3:.3f};{'ab'[k > 30]}\n" for k in range(60)).replace(".", ",")
    (tmp_path / "train.csv").write_text("u;v;y\n" + rows)
    (tmp_path / "new.csv").write_text("u;v\n0,111;1\n6,012;0\n")
    ran = CliRunner()
    assert ran.invoke(main, ["train", "svc", "train.csv", "-o", "m.safetensors"]).exit_code == 0
    done = ran.invoke(main, ["run", "m.safetensors", "new.csv", "-o", "out.csv"])
    assert done.exit_code == 0, done.output
    assert pd.read_csv("out.csv")["prediction"].tolist() == ["a", "b"]


def test_the_target_of_records_is_the_last_name_of_the_first(save):
    records = [{"a": 1, "kind": "x"}, {"a": 2, "kind": "y", "more": 3}]
    table = read(save(json.dumps(records), "r.json"))
    assert table.target == "kind"
    assert "The target is the last name in the first record, 'kind'." in table.notes
    assert read(save(json.dumps(records[:1] * 2), "s.json")).target == "kind"
    assert read(save(json.dumps(records), "r.json"), drop=["kind"]).target == "a"
    assert read(save(json.dumps(records), "r.json"), 0).target == "a"


def test_lists_in_records_are_texts_or_left_out(save):
    record = {"tags": ["big", "red"], "place": [1, 2], "in": {"deep": {"x": 1}}}
    records = [{**record, "a": k % 5, "y": "pq"[k % 2]} for k in range(30)]
    table = read(save(json.dumps(records), "r.json"), kinds={"tags": "text"})
    assert table.columns == ["tags", "a"]
    assert set(table.frame["tags"]) == {"big red"}
    assert table.left_out == {"place": "lists", "in.deep": "lists"}
    assert sum("is left out" in note for note in table.notes) == 2
