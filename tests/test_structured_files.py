import io
import tarfile

import pytest

from mercer.io import read_baskets, read_fasta, read_tu
from reproductions.data import data_path


def test_fasta():
    records = read_fasta(b"\xef\xbb\xbf> a label=1\r\nGAT\r\nTA CA\r\n\r\n>b, label=-1\r\n")
    assert records.headers == ["a label=1", "b, label=-1"]
    assert records.sequences == ["GATTACA", ""]
    assert records.labels == ["1", "-1"]
    assert read_fasta(b">a\nA\n>a\nC\n").labels is None
    assert read_fasta(b">a label=1\nA\n>b\nC").labels == ["1", None]
    assert read_fasta(b">a class=x;label=1\nA", label="class").labels == ["x"]


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (b"", "no records"),
        (b"GATTACA\n>a\nA", "text before the first record"),
        (b">a\nA\0C", "line 2: there is a NUL byte"),
        (b">a\n\xff", "line 2: this is no text in UTF-8"),
    ],
)
def test_bad_fasta_is_refused(data, hint):
    with pytest.raises(ValueError, match=hint):
        read_fasta(data)


def test_baskets():
    assert read_baskets(b"1 2  3\n\n2\n").baskets == [["1", "2", "3"], [], ["2"]]
    assert read_baskets(b'"brown, sliced bread",milk\nmilk\n').baskets == [["brown, sliced bread", "milk"], ["milk"]]
    assert read_baskets(b"a;b;+\nc;-", label="last") == ([["a", "b"], ["c"]], ["+", "-"], ";")
    with pytest.raises(ValueError, match="line 2: the line is empty"):
        read_baskets(b"a b\n\nc d", label="first")


TOY = {
    "A": "1, 2\n2, 1\n3, 5\n5, 3\n",
    "graph_indicator": "1\n1\n2\n1\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "0\n1\n2\n3\n4\n",
    "edge_labels": "7\n7\n8\n8\n",
}


def archive(parts, name="TOY"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for part, text in parts.items():
            member = tarfile.TarInfo(f"{name}/{name}_{part}.txt")
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return out.getvalue()


def test_tu_archives_and_folders(tmp_path):
    for part, text in TOY.items():
        (tmp_path / f"TOY_{part}.txt").write_text(text)
    for source in (archive(TOY), tmp_path):
        toy = read_tu(source)
        assert (toy.name, toy.labels.tolist()) == ("TOY", [1, -1])
        assert list(toy.graphs) == [(3, [[0, 1]], [0, 1, 3], [7]), (2, [[0, 1]], [2, 4], [8])]


@pytest.mark.parametrize(
    ("changed", "hint"),
    [
        ({"A": "1, 9\n"}, r"TOY_A\.txt, line 1: the edge 1 to 9 names a node that does not exist"),
        ({"A": "1, 3\n", "edge_labels": "1\n"}, "line 1: the edge joins nodes of two different graphs"),
        ({"A": "1, 2, 1\n"}, "no pairs of nodes"),
        ({"A": "1, x\n"}, "something else than whole numbers"),
        ({"graph_indicator": "1\n1\n3\n1\n2\n"}, "names graph 3, but there are 2"),
        ({"node_labels": "1\n"}, "1 lines for 5 nodes"),
    ],
)
def test_bad_tu_files_are_refused(changed, hint):
    with pytest.raises(ValueError, match=hint):
        read_tu(archive({**TOY, **changed}))


def test_archives_that_are_none_lack_a_file_or_are_too_large():
    with pytest.raises(ValueError, match="no readable tar archive"):
        read_tu(b"no archive")
    with pytest.raises(ValueError, match=r"TOY_A\.txt is missing"):
        read_tu(archive({"graph_labels": "1\n"}))
    with pytest.raises(ValueError, match="max_bytes"):
        read_tu(archive(TOY), max_bytes=10)


def test_mutag():
    path = data_path("tu_MUTAG/MUTAG.tar.xz")
    if path is None:
        pytest.skip("MUTAG is not at hand")
    mutag = read_tu(path)
    assert len(mutag.graphs) == 188
    assert mutag.graphs.sizes.sum() == 3371
    assert mutag.graphs.neighbours.size == 7442
