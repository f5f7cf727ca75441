"""Small files of every kind, from which fuzzing begins."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
import tarfile
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

import mercer
from mercer.model_files.packing import content_of
from mercer.search.journal import Journal
from mercer.search.keys import Outcome

__all__ = ["JOURNAL_ROWS", "JOURNAL_SEARCH", "model_file", "seeds"]

#: What the journals are about.
JOURNAL_SEARCH, JOURNAL_ROWS = "a search", 4

_CSV = b"size,colour,when,kind\n1,red,2020-01-01,p\n2.5,blue,2020-01-02,q\n?,red,2020-01-03,p\n"
_TU = {"T_A.txt": b"1, 2\n2, 1\n", "T_graph_indicator.txt": b"1\n1\n2\n", "T_graph_labels.txt": b"1\n-1\n"}
_MIXED = b"gaussian(gamma='scale').on('a', 2) * spectrum(p=(1, 3)) + normalised(weisfeiler_lehman(h=2))"
_ARFF = b"@relation r\n@attribute a numeric\n@attribute w {x,'y z'}\n@attribute d date\n@data\n1,x,?\n{0 2, 1 'y z'}\n"
_TEXTS: dict[str, list[bytes]] = {
    "kernel": [
        b"2*gaussian(gamma=0.5) + linear",
        b"mixture(gaussian(gamma=[0.1, 1]), linear, p=2)",
        b"polynomial(degree=3)**2",
        _MIXED,
    ],
    "csv": [
        _CSV,
        _CSV.replace(b",", b";").replace(b".", b","),
        b'a\tb\n"x ""y"""\t1\nz\t2\n',
        _CSV.decode().encode("utf-16"),
    ],
    "json": [
        json.dumps([{"a": 1, "b": "x", "y": 0}, {"a": None, "b": [1], "y": 1}]).encode(),
        b'{"a": 1}\n{"a": {"b": 2}}\n',
        b'{"a": [1, 2], "y": [0, 1]}',
        b'{"columns": ["a", "y"], "data": [[1, 2], [3, 4]]}',
    ],
    "arff": [_ARFF],
    "svmlight": [b"1 1:2 3:4.5 # c\n-1 qid:2 2:1e-3\n"],
    "fasta": [b">one label=a\nGATT\nACA\n>two label=b\nCC\n"],
    "baskets": [b"yes,milk,bread\nno,egg\n", b"a b c\nd e\n"],
}
#: Formats that libraries write, by the names of files.
_WRITTEN = {
    "parquet": "a.parquet",
    "feather": "a.feather",
    "excel": "a.xlsx",
    "sqlite": "a.db",
}


def seeds() -> dict[str, list[bytes]]:
    """Some bytes for each target."""
    found = {name: list(texts) for name, texts in _TEXTS.items()}
    frame = pd.DataFrame({"a": [1.0, 2.0], "w": ["x", "y"], "y": [0, 1]})
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        frame.to_parquet(place / "a.parquet")
        frame.to_feather(place / "a.feather")
        frame.to_excel(place / "a.xlsx", index=False)
        with sqlite3.connect(place / "a.db") as database:
            frame.to_sql("t", database, index=False)
        database.close()
        for target, name in _WRITTEN.items():
            found[target] = [(place / name).read_bytes()]
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, data in _TU.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    found["graphs"] = [packed.getvalue()]
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("a.csv", _CSV)
    found["model"] = [model_file()]
    found["model_text"] = [content_of(model_file(), "'a model'", 10**7).text.encode()]
    found["journal"] = [_journal()]
    found["journal_lines"] = [b"\n".join(line.rpartition(b" ")[0] for line in _journal().splitlines()[-2:])]
    found["file"] = [gzip.compress(_CSV), zipped.getvalue(), *(each[0] for each in found.values())]
    return found


@cache
def model_file() -> bytes:
    """A machine as it is saved."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.safetensors")
        mercer.save(mercer.SVC().fit(np.eye(4), [0, 1, 0, 1]), path)
        return path.read_bytes()


@cache
def _journal() -> bytes:
    """A journal of three cells."""
    outcome = Outcome(np.array([0, 2]), np.array([0.5, -1.0]), 0.5)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "journal")
        journal = Journal(path, JOURNAL_SEARCH, JOURNAL_ROWS)
        journal.write({("C=1", "0"): outcome, ("C=1", "1"): outcome})
        journal.write({("C=2", "0"): Outcome(np.array([1]), np.zeros((1, 2)), 0.5, "no end")})
        journal.close()
        return path.read_bytes()
