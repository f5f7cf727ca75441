"""``mercer cluster`` and ``mercer map``: clusters and components of a table, and what is told of them."""

import json
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs, make_circles
from sklearn.decomposition import KernelPCA
from sklearn.metrics import adjusted_rand_score

rng = np.random.default_rng(0)
FASTA = "".join(f">{k}\n{word}\n" for k, word in enumerate(["GATTACA", "GATTACC", "GATACCA", "CCGGCCG", "CCGCCGG"] * 3))


@pytest.fixture
def mercer(mercer, tmp_path):
    """Run a command in a folder with three groups of people, and two rings."""
    rows, groups = make_blobs(150, centers=3, n_features=4, cluster_std=0.5, random_state=2)
    people = pd.DataFrame(rows, columns=["age", "pay", "height", "rooms"])
    people["noise"] = rng.normal(size=150)
    people["job"] = np.array(["cook", "poet", "smith"])[groups]
    people["group"] = np.array(["A", "B", "C"])[groups]
    people.to_csv(tmp_path / "people.csv", index=False)
    circles, ring = make_circles(200, noise=0.03, factor=0.4, random_state=0)
    pd.DataFrame(circles, columns=["a", "b"]).assign(ring=ring).to_csv(tmp_path / "rings.csv", index=False)
    pd.DataFrame(rng.normal(size=(150, 4)), columns=list("abcd")).to_csv(tmp_path / "noise.csv", index=False)
    (tmp_path / "genes.fasta").write_text(FASTA)
    return mercer


def test_clusters_are_found_counted_and_described(mercer, tmp_path):
    done = mercer("cluster people.csv --target group --most 5 -o out.csv --plot out.svg --model m.safetensors --json")
    facts = json.loads(done.stdout)
    assert len(facts["clusters"]) == 3
    assert facts["numbers"]["clusters"] == [2, 3, 4, 5]
    assert facts["target"] == {"name": "group", "adjusted_rand": 1.0}
    assert facts["stability"]["least"] > 0.9
    assert facts["silhouette"] > facts["shuffled_silhouette"]
    assert 0 <= facts["at_most_above"] < 0.2
    shares = {name: one["share"] for name, one in facts["columns"].items()}
    assert shares["job"] == 1.0
    assert shares["noise"] < 0.1 < 0.5 < shares["age"]
    written, given = pd.read_csv("out.csv"), pd.read_csv("people.csv")
    pd.testing.assert_frame_equal(written[given.columns], given)
    assert adjusted_rand_score(written["cluster"], given["group"]) == 1.0
    assert sorted(set(facts["columns"]["job"]["by_cluster"])) == ["cook", "poet", "smith"]
    assert ElementTree.parse("out.svg").getroot().tag.endswith("svg")
    again = json.loads(mercer("run m.safetensors people.csv --json").stdout)
    assert [one["cluster"] for one in again["predictions"]] == written["cluster"].tolist()
    assert again["clusters"] == [one["rows"] for one in facts["clusters"]]
    assert "none: it finds clusters ('group' was left out)" in mercer("inspect m.safetensors").stdout


def test_the_report_answers_in_words(mercer):
    said = mercer("cluster people.csv --target group -k 3").stdout
    for words in ("the clusters come again", "the clusters stand out", "above the best possible", "cluster 2", "job"):
        assert words in said
    assert "how many clusters" not in said
    said = mercer("cluster noise.csv -k 6").stdout
    assert "hardly stand out" in said
    assert "the clusters come again (" not in said


def test_rings_are_parts_of_a_graph(mercer):
    facts = json.loads(mercer("cluster rings.csv --target ring --method spectral --json").stdout)
    assert facts["target"]["adjusted_rand"] == 1.0
    assert np.argmax(facts["numbers"]["eigengap"]) == 0
    assert facts["eigenvalues"][0] == pytest.approx(1.0)


def test_strings_have_clusters_and_a_map(mercer):
    facts = json.loads(mercer("cluster genes.fasta -k 2 --kernel 'normalised(spectrum(p=2))' --json").stdout)
    labels = [one["cluster"] for one in facts["predictions"]]
    assert labels == [0, 0, 0, 1, 1] * 3
    assert "columns" not in facts
    written = mercer("map genes.fasta -o - -q")
    assert len(written.stdout.splitlines()) == 16
    assert "component 2" in written.stdout.splitlines()[0]


def test_a_map_has_the_principal_components(mercer):
    done = mercer("map rings.csv --target ring --kernel 'gaussian(gamma=1)' --no-standardise --components 3 "
                  "-o map.csv --plot map.png --json")  # fmt: skip
    facts, written = json.loads(done.stdout), pd.read_csv("map.csv")
    theirs = KernelPCA(3, kernel="rbf", gamma=1.0).fit(written[["a", "b"]].to_numpy())
    np.testing.assert_allclose(facts["eigenvalues"], theirs.eigenvalues_, rtol=1e-8)
    places = written[["component 1", "component 2", "component 3"]].to_numpy()
    expected = theirs.transform(written[["a", "b"]].to_numpy())
    np.testing.assert_allclose(np.abs(places), np.abs(expected), atol=1e-6)
    assert len(facts["found_again"]) == 3
    assert "of the variance" in mercer("map people.csv --target group").stdout


def test_what_is_refused(mercer):
    assert "--outliers leaves rows out" in mercer("cluster people.csv --outliers iqr", 1).stderr
    assert "needs no target" in mercer("map people.csv --task classify", 1).stderr
    assert "cannot be drawn" in mercer("cluster people.csv --plot out.xyz", 1).stderr
    assert "cannot make 900 clusters" in mercer("cluster people.csv -k 900", 1).stderr
    assert "would be lost" in mercer("cluster people.csv -o people.csv", 1).stderr
