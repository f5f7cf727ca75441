"""Files that are written to do harm, each with the number of rows that it rightly has (``None``: to be refused)."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import numpy as np

__all__ = ["write_hostile_files"]

_GOOD = b"a,b,y\n" + b"".join(b"%d,%d,%s\n" % (k, k % 7, b"pq"[k % 2 : k % 2 + 1]) for k in range(100))
_MANY = 6_000_000


def _zipped(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def _tarred(parts: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in parts.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def _texts() -> dict[str, tuple[bytes, int | None]]:
    """Text files: the bytes, and the rows."""
    half = _MANY // 2
    return {
        "empty.csv": (b"", None),
        "spaces.csv": (b" \n\n", None),
        "nul.csv": (_GOOD + b"1,\0,p\n", None),
        "bom.csv": (b"\xef\xbb\xbf" + _GOOD, 100),
        "utf16.csv": (_GOOD.decode().encode("utf-16"), 100),
        "utf16_cut.csv": (_GOOD.decode().encode("utf-16") + b"\x00\xd8,\0", None),
        "latin.csv": (_GOOD.replace(b",p", b",\xe9"), 100),
        "quote.csv": (b'a,y\n1,"p\n' + b"2,q\n" * 100, None),
        "huge_cell.csv": (b"a,y\n" + b"x" * 5_000_000 + b",p\n2,q\n", None),
        "wide.csv": (b",".join(b"c%d" % k for k in range(300_000)) + b"\n" + b",".join([b"1"] * 300_000) + b"\n", None),
        "short_cells.csv": (b"a,b,c,y\n" + b"1,2,3,0\n" * (half // 8), None),
        "two_columns.csv": (b"a,y\n" + b"1,0\n" * (_MANY // 4), None),
        "words.csv": (b"a,y\n" + b"".join(b"%x,p\n" % k for k in range(_MANY // 8)), None),
        "blank_lines.csv": (_GOOD + b"\n" * 1_000_000, 100),
        "carriage_returns.csv": (_GOOD.replace(b"\n", b"\r"), 100),
        "ragged.csv": (_GOOD + b"1,2\n", None),
        "infinite.csv": (_GOOD + b"inf,2,p\n", None),
        "formula.csv": (b'a,y\n1,"=HYPERLINK(""http://x"",""y"")"\n2,+cmd\n', 2),
        "binary.csv": (bytes(range(1, 256)) * 400, None),
        "pickle.pkl": (b"\x80\x04\x95\0\0\0\0", None),
        "index.svm": (b"1 1:1\n0 2147483647:1\n", None),
        "index_49m.svm": (b"1 1:1\n0 49999999:1\n", None),
        "negative.svm": (b"1 -1:1\n0 1:1\n", None),
        "order.svm": (b"1 3:1 1:1\n0 1:1\n", None),
        "nan.svm": (b"1 1:nan\n0 1:1\n", None),
        "infinite.svm": (b"1 1:inf\n0 1:1\n", None),
        "label.svm": (b"nan 1:1\n0 1:1\n", None),
        "digits.svm": (b"1 99999999999999999999999:1\n0 1:1\n", None),
        "short.svm": (b"1 1:1\n0 1:2\n" * (_MANY // 12), None),
        "labels_only.svm": (b"1\n0\n" * (_MANY // 4) + b"1 1:1\n", None),
        "deep.json": (b"[" * 100_000 + b"]" * 100_000, None),
        "deep_objects.json": (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, None),
        "empty_lists.json": (b'[{"a":[' + b"[]," * (_MANY // 3) + b'[]],"y":0}]', None),
        "empty_objects.json": (b'{"a":[' + b"{}," * (_MANY // 3) + b"{}]}", None),
        "lists.json": (b'{"a":[' + b"1," * half + b'1],"y":[' + b"1," * half + b"1]}", None),
        "twice.json": (b'[{"a":1,"a":2}]', None),
        "half_letter.json": (b'[{"a":"\\ud800","y":1},{"a":"b","y":0}]', None),
        "digits.json": (b'[{"a":1' + b"0" * 5000 + b',"y":1},{"a":1,"y":0}]', None),
        "unclosed.json": (b'[{"a":1,"y":0}', None),
        "nul.fasta": (b">a label=1\nA\0C\n", None),
        "same_names.fasta": (b">a label=1\nAC\n>a label=2\nGT\n", 2),
        "records.fasta": (b">a label=1\nA\n" * (_MANY // 13), None),
        "no_letters.fasta": (b">a label=1\n>b label=2\n", None),
        "lines.basket": (b"a\n" * (_MANY // 2), None),
        "items.basket": (b"y " + b"a " * (_MANY // 2) + b"\nn b\n", None),
        "undeclared.arff": (b"@relation r\n@attribute a {x}\n@attribute y {p,q}\n@data\nz,p\n", None),
        "rows.arff": (b"@relation r\n@attribute a numeric\n@attribute y {0,1}\n@data\n" + b"1,0\n" * half, None),
        "sparse.arff": (
            b"@relation r\n" + b"".join(b"@attribute a%d numeric\n" % k for k in range(2000))
            + b"@attribute y {0,1}\n@data\n" + b"{0 1}\n" * 20_000, None),
    }  # fmt: skip


def _packed() -> dict[str, tuple[bytes, int | None]]:
    """Archives and bombs."""
    zeros, graph = b"1,2\n" * 20_000_000, b"1\n1\n2\n"
    parts = {"T_A.txt": b"1,2\n", "T_graph_indicator.txt": graph, "T_graph_labels.txt": b"1\n2\n"}
    return {
        "bomb.csv.gz": (gzip.compress(zeros, 9), None),
        "bomb.csv.bz2": (bz2.compress(zeros), None),
        "bomb.csv.xz": (lzma.compress(zeros), None),
        "bomb.zip": (_zipped({"a.csv": zeros}), None),
        "slip.zip": (_zipped({"../../a.csv": _GOOD}), 100),
        "nested.zip": (_zipped({"a.zip": _zipped({"a.csv": _GOOD})}), None),
        "cut.csv.gz": (gzip.compress(_GOOD)[:-9], None),
        "slip.tar": (_tarred({f"../../{name}": data for name, data in parts.items()}), 2),
        "nodes.tar": (_tarred({**parts, "T_graph_indicator.txt": b"1\n" * 2_000_000 + b"2\n"}), None),
        "edge.tar": (_tarred({**parts, "T_A.txt": b"1,99\n"}), None),
        "graphs.tar": (_tarred({**parts, "T_graph_indicator.txt": b"1\n1\n999999999999\n"}), None),
        "bomb.xlsx": (_zipped({"xl/workbook.xml": b"<x/>", "xl/sharedStrings.xml": b"<a>" * 30_000_000}), None),
        "entities.xlsx": (_zipped({"xl/workbook.xml": b'<!DOCTYPE a [<!ENTITY b "c">]><x/>'}), None),
    }


def _columns() -> dict[str, tuple[bytes, int | None]]:
    """Files that libraries write, of repeated values and damaged."""
    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as parquet

    made: dict[str, tuple[bytes, int | None]] = {}
    same = pa.table({"a": np.zeros(20_000_000), "y": np.ones(20_000_000, np.int8)})
    out = io.BytesIO()
    parquet.write_table(same, out)
    made["same.parquet"] = (out.getvalue(), None)
    out = io.BytesIO()
    long = pa.array(["x" * 1000]).take(pa.array(np.zeros(1_000_000, int)))
    parquet.write_table(pa.table({"a": long, "y": np.ones(1_000_000)}), out)
    made["words.parquet"] = (out.getvalue(), None)
    made["cut.parquet"] = (out.getvalue()[:-30], None)
    out = io.BytesIO()
    feather.write_feather(same, out, compression="zstd")
    made["same.feather"] = (out.getvalue(), None)
    return made


def write_hostile_files(folder: Path) -> dict[str, int | None]:
    """Write them all, and tell how many rows each has."""
    expected: dict[str, int | None] = {}
    for name, (data, rows) in {**_texts(), **_packed(), **_columns()}.items():
        (folder / name).write_bytes(data)
        expected[str(folder / name)] = rows
    with sqlite3.connect(folder / "whole.db") as database:
        database.execute("CREATE TABLE t (a, y)")
        database.executemany("INSERT INTO t VALUES (?, ?)", [(k, k % 2) for k in range(50)])
    database.close()
    expected[str(folder / "whole.db")] = 50
    damaged = bytearray((folder / "whole.db").read_bytes())
    damaged[100:2000] = b"\xff" * 1900
    (folder / "damaged.db").write_bytes(damaged)
    os.mkfifo(folder / "pipe.csv")
    (folder / "loop.csv").symlink_to(folder / "loop.csv")
    (folder / "folder.csv").mkdir()
    for name in ("damaged.db", "pipe.csv", "loop.csv", "folder.csv"):
        expected[str(folder / name)] = None
    return {**expected, "/dev/zero": None, "/dev/null": None}
