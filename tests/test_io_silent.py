"""Files that could be read in two ways: said, refused, or read as the file that a model was trained on."""

import io
import json
import tarfile

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from mercer.io import DataError, read, read_baskets, read_tu

rng = np.random.default_rng(0)


# -- svmlight: where do feature numbers begin? ---------------------------------------------------------------------


@pytest.mark.parametrize("density", [0.05, 0.9])
def test_feature_numbers_begin_where_they_did_in_training(mercer, density):
    X = np.where(rng.random((300, 30)) < density, rng.standard_normal((300, 30)), 0.0)
    y = np.where(X[:, 1] + X[:, 2] - X[:, 3] > 0, 1, -1)
    without = X.copy()
    without[:, 0] = 0.0
    dump_svmlight_file(X, y, "train.svm", zero_based=True)
    dump_svmlight_file(without, y, "new.svm", zero_based=True)
    mercer("train logistic train.svm --set lam=1e-6 -o m --no-standardise")
    first = json.loads(mercer("run m train.svm --json").stdout)["error"]
    again = json.loads(mercer("run m new.svm --json").stdout)["error"]
    assert abs(again - first) < 0.05
    moved = json.loads(mercer("run m new.svm --one-based --json").stdout)["error"]
    assert moved > again + 0.1


def test_the_base_of_feature_numbers_is_said_or_asked_for(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("1 1:2 3:4\n-1 2:1\n")
    table = read(path, dense=False)
    assert table.n_columns == 3
    assert table.found == {"zero_based": False}
    assert any("numbered from 1; --zero-based" in note for note in table.notes)
    table = read(path, dense=False, zero_based=True)
    assert table.n_columns == 4
    assert table.rows[0].toarray().tolist() == [[0, 2, 0, 4]]
    assert not any("numbered from" in note for note in table.notes)
    path.write_text("1 0:2 3:4\n-1 2:1\n")
    assert read(path, dense=False).rows[0].toarray().tolist() == [[2, 0, 0, 4]]
    with pytest.raises(DataError, match="a feature with the number 0"):
        read(path, zero_based=False)


# -- baskets ------------------------------------------------------------------------------------------------------


def test_an_open_quote_ends_with_its_line(tmp_path):
    with pytest.raises(ValueError, match=r"line 2: the quotes do not match .*--no-quotes"):
        read_baskets(b'a,milk\nb,"bread\nc,egg\nd,"salt"\n', "first")
    (tmp_path / "x.basket").write_text('a,milk\nb,"bread\na,egg\nb,salt\n')
    with pytest.raises(DataError, match=r"'x\.basket', line 2: the quotes do not match"):
        read(tmp_path / "x.basket")
    assert read(tmp_path / "x.basket", quotes=False).y.tolist() == ["a", "b", "a", "b"]
    assert read_baskets(b'"a,b",c "d" e\n').baskets == [["a,b", 'c "d" e']]


def test_baskets_are_divided_as_in_training(mercer, tmp_path):
    (tmp_path / "train.basket").write_text("a,whole milk,bread\nb,red wine\n" * 10)
    (tmp_path / "new.basket").write_text("whole milk\nred wine\n")  # no comma in it
    mercer("train svc train.basket --kernel intersection -o m")
    mercer("run m new.basket --target none -o out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert [line.split(",")[2] for line in lines[1:]] == ["a", "b"]
    assert [abs(float(line.split(",")[3])) > 0 for line in lines[1:]] == [True, True]


def test_two_labels_for_one_name_are_refused(tmp_path):
    (tmp_path / "g.fasta").write_text(">one\nAC\n>two\nGT\n")
    (tmp_path / "labels.csv").write_text("one,a\ntwo,b\none,b\n")
    with pytest.raises(DataError, match="two labels for 'one', 'a' and 'b'"):
        read(tmp_path / "g.fasta", labels=tmp_path / "labels.csv")


# -- graphs -------------------------------------------------------------------------------------------------------


def collection(folder, name, label):
    (folder / f"{name}_A.txt").write_text("1, 2\n2, 1\n")
    (folder / f"{name}_graph_indicator.txt").write_text("1\n1\n2\n")
    (folder / f"{name}_graph_labels.txt").write_text(f"{label}\n-1\n")


def test_two_collections_of_graphs_are_not_mixed(tmp_path):
    collection(tmp_path, "AIDS", 1)
    collection(tmp_path, "MUTAG", 7)
    for reading in (read, read_tu):
        with pytest.raises(ValueError, match=r"two collections of graphs, 'AIDS' and 'MUTAG'; name one of them"):
            reading(tmp_path)
    assert read_tu(tmp_path / "MUTAG").labels.tolist() == [7, -1]
    table = read(tmp_path / "AIDS")
    assert (table.name, table.y.tolist()) == ("AIDS", [1, -1])
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(tmp_path, "both")
    with pytest.raises(ValueError, match="'both/AIDS' and 'both/MUTAG'; unpack it"):
        read_tu(packed.getvalue())


# -- tables -------------------------------------------------------------------------------------------------------


def test_a_few_fractions_are_classes(mercer, tmp_path):
    lines = [f"{k},{k % 5},{0.5 if k % 2 else 1.5}" for k in range(40)]
    (tmp_path / "dose.csv").write_text("a,b,dose\n" + "\n".join(lines))
    assert set(read(tmp_path / "dose.csv").y.tolist()) == {"0.5", "1.5"}
    for command in ("train svc dose.csv -o m", "run m dose.csv", "tune logistic dose.csv --folds 2"):
        mercer(command)
    measured = "\n".join(f"{k},{k % 5},{k / 7}" for k in range(40))
    (tmp_path / "measured.csv").write_text("a,b,y\n" + measured)
    assert read(tmp_path / "measured.csv").y.dtype.kind == "f"


@pytest.mark.parametrize("learner", ["logistic", "svc", "pegasos-2"])
def test_columns_that_overflow_are_named(mercer, tmp_path, learner):
    (tmp_path / "big.csv").write_text("a,b,y\n" + "\n".join(f"{k}e300,{k},{'pq'[k % 2]}" for k in range(40)))
    done = mercer(f"train {learner} big.csv -o m", 1)
    assert "column 'a' has values up to 3.9e+301, whose squares overflow" in done.stderr


def test_thousands_are_no_decimals(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y\n" + "\n".join(f'"1,{k:03d}",{k},{"pq"[k % 2]}' for k in range(40)))
    assert read(tmp_path / "t.csv").frame["a"].tolist() == [1000.0 + k for k in range(40)]
