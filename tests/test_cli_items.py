"""Strings, sets, graphs and mixed tables on the command line, from the file to the report."""

import csv
import gzip
import json
import tarfile

import numpy as np
import pytest

from mercer import load
from mercer.io import DataError, read

RANDOM = np.random.default_rng(0)
WORDS = ["".join(RANDOM.choice(list("ACGT"), size)) for size in RANDOM.integers(4, 16, 48)]
LABELS = ["with" if "GA" in word or "TT" in word else "none" for word in WORDS]


def write_all(folder):
    """One small file of every kind."""
    records = [f">s{k} label={label}\n{word}\n" for k, (word, label) in enumerate(zip(WORDS, LABELS, strict=True))]
    (folder / "genes.fasta").write_text("".join(records))
    (folder / "plain.fa").write_text("".join(f">s{k} here\n{word}\n" for k, word in enumerate(WORDS)))
    (folder / "by_name.tsv").write_text("".join(f"s{k}\t{label}\n" for k, label in reversed(list(enumerate(LABELS)))))
    (folder / "in_order.txt").write_text("\n".join(LABELS))
    rows = [f"{label} {' '.join(sorted(set(word)))} {len(word)}" for word, label in zip(WORDS, LABELS, strict=True)]
    (folder / "sets.basket").write_text("\n".join(rows) + "\n")
    cells = [f"{len(word)},{word},{word[0]},{label}" for word, label in zip(WORDS, LABELS, strict=True)]
    (folder / "mixed.csv").write_text("size,sequence,first,label\n" + "\n".join(cells) + "\n")
    write_graphs(folder / "rings")


def write_graphs(folder):
    """Rings and paths of three to eight nodes."""
    folder.mkdir()
    edges, indicator, labels, node = [], [], [], 1
    for number in range(1, 41):
        size = 3 + number % 6
        pairs = [(node + k, node + k + 1) for k in range(size - 1)] + ([(node + size - 1, node)] if number % 2 else [])
        edges += [f"{a}, {b}\n{b}, {a}\n" for a, b in pairs]
        indicator += [f"{number}\n"] * size
        labels.append(f"{1 if number % 2 else -1}\n")
        node += size
    for part, lines in (("A", edges), ("graph_indicator", indicator), ("graph_labels", labels)):
        (folder / f"RINGS_{part}.txt").write_text("".join(lines))


@pytest.fixture
def mercer(mercer, tmp_path):
    """Run a command in a folder with one file of every kind."""
    write_all(tmp_path)
    return mercer


def test_files_become_tables_of_items(mercer):
    genes, sets, rings = read("genes.fasta"), read("sets.basket"), read("rings")
    assert [table.kind for table in (genes, sets, rings)] == ["strings", "sets", "graphs"]
    assert list(genes.X) == WORDS
    assert genes.y.tolist() == LABELS
    assert sets.X[3] == dict.fromkeys([*sorted(set(WORDS[3])), str(len(WORDS[3]))], 1)
    assert rings.extent == "40 graphs"
    assert rings.class_counts == {-1: 20, 1: 20}
    assert rings.X[0] == (4, [[0, 1], [0, 3], [1, 2], [2, 3]])
    part = genes.take([5, 2])
    assert (list(part.X), part.y.tolist(), part.where(1)) == ([WORDS[5], WORDS[2]], [LABELS[5], LABELS[2]], "line 5")


def test_packed_files_and_archives(mercer, tmp_path):
    (tmp_path / "genes.fa.gz").write_bytes(gzip.compress((tmp_path / "genes.fasta").read_bytes()))
    (tmp_path / "unnamed").write_bytes((tmp_path / "genes.fasta").read_bytes())
    for name in ("genes.fa.gz", "unnamed"):
        assert list(read(name).X) == WORDS
    with tarfile.open("rings.tar.xz", "w:xz") as archive:
        archive.add("rings")
    assert list(read("rings.tar.xz").X) == list(read("rings").X)
    assert read("rings.tar.xz").y.tolist() == read("rings").y.tolist()


def test_labels_may_stand_in_a_file_of_their_own(mercer):
    for labels in ("by_name.tsv", "in_order.txt"):
        assert read("plain.fa", labels=labels).y.tolist() == LABELS
    assert read("sets.basket", labels="in_order.txt").X[0] == dict.fromkeys(read("sets.basket").X[0], 1) | {
        LABELS[0]: 1
    }
    assert read("plain.fa", labelled=False).y is None
    assert read("genes.fasta", format="fasta").y.tolist() == LABELS
    with pytest.raises(DataError, match="is a table, whose labels are one of its columns"):
        read("mixed.csv", labels="in_order.txt")


@pytest.mark.parametrize(
    ("data", "kernel"),
    [
        ("genes.fasta", "spectrum(p=2)"),
        ("genes.fasta", None),
        ("sets.basket", "minmax"),
        ("rings", "weisfeiler_lehman(h=2)"),
        ("rings", None),
        ("mixed.csv", "gaussian(gamma=.1).on('size')*spectrum(2).on('sequence')+equal().on('first')"),
    ],
)
def test_train_run_inspect(mercer, data, kernel):
    named = f'--kernel "{kernel}"' if kernel else ""
    told = json.loads(mercer(f"train svc {data} {named} --set C=10 -o m --json -q").stdout)
    done = mercer(f"run m {data} -o p.csv --json")
    assert json.loads(done.stdout)["error"] == pytest.approx(told["errors"]["train"])
    table = read(data)
    with open("p.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["prediction"] for row in rows] == [str(label) for label in load("m").predict(table.X).tolist()]
    about = json.loads(mercer("inspect m --json").stdout)
    assert about["kind"] == table.kind
    assert about["training_rows_inside"] == told["support"]
    assert "share it as you would share the data" in mercer("inspect m").output


def test_items_without_labels_are_predicted(mercer):
    mercer("train svc genes.fasta -o m -q")
    assert json.loads(mercer("run m plain.fa --json").stdout)["labelled"] == 0
    assert json.loads(mercer("run m plain.fa --labels by_name.tsv --json").stdout)["labelled"] == 48
    mercer("train svc sets.basket -o m -q")
    with open("new.basket", "w") as file:
        file.write("A C 5\nG\n")
    assert "say so with --target none" in mercer("run m new.basket", 1).output
    assert json.loads(mercer("run m new.basket --target none --json").stdout)["rows"] == 2


def test_tune_tries_kernels_that_suit_unless_one_is_named(mercer):
    found = json.loads(mercer("tune svc sets.basket --folds 2 --json -q -o m").stdout)
    assert {cell["parameters"]["kernel"] for cell in found["cells"]} == {
        "minmax", "normalised(intersection)", "subsets(normalised=True)",
    }  # fmt: skip
    assert json.loads(mercer("run m sets.basket --json -q").stdout)["rows"] == 48
    found = json.loads(mercer("tune svc mixed.csv --kernel 'spectrum(p=2).on(sequence)' --folds 2 --json -q").stdout)
    assert set(found["best"]) == {"C"}


@pytest.mark.thorough
def test_kernel_ranks_those_that_suit(mercer):
    found = json.loads(mercer("kernel rings --json").stdout)
    assert set(found["ranking"]) >= {"normalised(shortestpath)", "graphlet(scale='cosine')"}
    assert "verdict" in mercer("kernel genes.fasta --kernel 'spectrum(p=2)'").output


def test_check_says_what_items_are_made_of(mercer):
    facts = json.loads(mercer("check genes.fasta --json").stdout)
    assert {column["name"]: column["max"] for column in facts["columns"]} == {
        "length": max(map(len, WORDS)), "different letters": 4,
    }  # fmt: skip
    assert any(note.startswith("4 different letters") for note in facts["notes"])
    assert "48 strings, no labels" in mercer("check plain.fa").output
    said = mercer("check rings").output
    assert "40 graphs" in said
    assert "Nodes have no labels" in said
    assert "different items; the commonest are" in mercer("check sets.basket").output


@pytest.mark.parametrize("data", ["genes.fasta", "rings"])
def test_compare_writes_a_page_without_what_makes_no_sense(mercer, data):
    done = mercer(f"compare {data} --learners svc,kernel-logistic --cv 2 --repeats 1 --no-trees -o report")
    assert "Kernel SVM" in done.output
    with open("report/report.json", encoding="utf-8") as file:
        facts = json.load(file)
    assert facts["boundary"] is None
    assert facts["data"]["kind"] == read(data).kind
    assert all("kernel" in one["params"] for one in facts["learners"])
    with open("report/report.html", encoding="utf-8") as file:
        page = file.read()
    assert "What can be counted" in page
    assert "What they decide" not in page
    assert "as they are: there was nothing to prepare" in page


def test_compare_with_a_kernel_on_columns(mercer):
    mercer(
        "compare mixed.csv --kernel 'spectrum(p=2).on(sequence)' --learners logistic,svc "
        "--cv 2 --repeats 1 --no-trees -o report"
    )
    with open("report/report.json", encoding="utf-8") as file:
        facts = json.load(file)
    by_name = {one["name"]: one for one in facts["learners"]}
    assert by_name["svc"]["test"]["rate"] <= by_name["logistic"]["test"]["rate"]
    assert set(facts["boundary"]["learners"]) == {"logistic"}


@pytest.mark.parametrize(
    ("files", "line", "hint"),
    [
        ({"e.fa": ""}, "check e.fa", "is empty"),
        ({"e.fa": "ACGT"}, "check e.fa", "starts with a line '>name'"),
        ({"e.fa": ">a label=1\nA\n>b\nC\n"}, "train svc e.fa -o m", "1 of 2 strings has no label (first: line 3)"),
        ({"e.fa": ">a\nA\n>b\nC\n"}, "train svc e.fa -o m", "write label=... into each header"),
        ({"e.basket": "x a\nx b\n"}, "train svc e.basket -o m", "nothing to learn"),
        ({"e.basket": "x a\nx b\n"}, "compare e.basket", "nothing to tell apart"),
        ({"g/T_A.txt": "1, 2\n", "g/T_graph_labels.txt": "1\n"}, "check g", "T_graph_indicator.txt is missing"),
        ({"g/T_A.txt": "1, 7\n", "g/T_graph_indicator.txt": "1\n1\n"}, "check g", "names a node that does not exist"),
        ({"g/T_A.txt": "1, 2\n", "g/T_graph_indicator.txt": "1\n1\n"}, "kernel g", "add the file T_graph_labels.txt"),
        ({"g/a.txt": "1\n"}, "check g", "is a folder; name a file in it or a folder of graphs"),
        ({"l": "a\nb\n"}, "check plain.fa --labels l", "has 2 labels for 48 items"),
        ({"l": "x,1\ny,2\n"}, "check plain.fa --labels l", "no line begins with a name such as 's0'"),
        ({}, "train svc genes.fasta --kernel gaussian -o m", "compares rows of numbers, and genes holds strings"),
        ({}, "compare genes.fasta --kernel minmax", "kernels on strings are spectrum"),
        ({}, "kernel rings --kernel spectrum", "kernels on graphs are weisfeilerlehman"),
        ({}, "tune svc sets.basket --kernel 'linear.on(a)'", "kernels on sets are minmax"),
        ({}, "train perceptron genes.fasta -o m", "use kernel-perceptron"),
        ({}, "compare rings --learners linear-svc", "use svc"),
        ({}, "train svc genes.fasta --impute mean -o m", "leave out --impute"),
        ({}, "train svc genes.fasta --outliers iqr -o m", "an outlier filter needs dense rows; genes holds strings"),
        ({}, "train svc genes.fasta --degree 2 -o m", "--degree multiplies columns"),
        ({}, "train svc genes.fasta --drop x -o m", "no columns to leave out"),
        ({}, "train svc mixed.csv --kernel 'spectrum(p=2).on(seqence)' -o m", "did you mean 'sequence'"),
    ],
)
def test_one_sentence_with_the_remedy(mercer, tmp_path, files, line, hint):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    done = mercer(line, code=1)
    assert hint in done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith("mercer: ")


def test_a_model_of_strings_does_not_read_sets(mercer):
    mercer("train svc genes.fasta -o m -q")
    assert "trained on strings, but sets holds sets" in mercer("run m sets.basket", 1).output
    assert mercer("train svc genes.fasta --format bam -o m", 2)
