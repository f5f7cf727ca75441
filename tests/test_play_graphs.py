"""``/api/graphs``: what it says is what the library says of the same graphs."""

import json

import numpy as np
import pytest

from mercer import SVC
from mercer.explain import explain
from mercer.kernels import Normalised, parse
from mercer.play import graphs, node_pushes


def ring(n):
    return {"nodes": ["C"] * n, "edges": [[k, (k + 1) % n] for k in range(n)]}


def chain(labels):
    return {"nodes": list(labels), "edges": [[k, k + 1] for k in range(len(labels) - 1)]}


def plain(graph):
    return len(graph["nodes"]), graph["edges"], graph["nodes"]


GRAPHS = [ring(n) for n in (3, 4, 5, 6)] + [chain("C" * n) for n in (3, 4, 5, 6)]
ASKED = {
    "graphs": GRAPHS,
    "labels": [0] * 4 + [1] * 4,
    "names": ["rings", "chains"],
    "kernel": "weisfeilerlehman(h=2)",
    "C": 1.0,
    "asked": chain("CCO"),
}
KERNELS = [
    "weisfeilerlehman(h=2)",
    "weisfeilerlehmanassignment(h=2)",
    "normalised(shortestpath)",
    "graphlet(size=4, scale='cosine')",
    "normalised(randomwalk(decay=0.05))",
]


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_machine_is_the_library_s(kernel):
    answer = graphs({**ASKED, "kernel": kernel})
    items = [plain(graph) for graph in GRAPHS]
    model = SVC(parse(kernel), C=1.0).fit(items, ASKED["labels"])
    np.testing.assert_allclose(answer["scores"], model.decision_function(items), rtol=1e-9, atol=1e-12)
    alpha = np.zeros(8)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    np.testing.assert_allclose(answer["alpha"], alpha, rtol=1e-9)
    assert answer["wrong"] == (model.predict(items) != ASKED["labels"]).tolist()
    np.testing.assert_allclose(answer["matrix"], Normalised(parse(kernel))(items), atol=1e-4)
    score = model.decision_function([plain(ASKED["asked"])])[0]
    assert answer["asked"]["score"] == pytest.approx(score, abs=1e-9)
    assert answer["asked"]["name"] == ASKED["names"][int(score > 0)]


def test_pushes_are_those_of_explain_and_add_up():
    answer = graphs(ASKED)
    about = answer["asked"]
    model = SVC(parse(ASKED["kernel"]), C=1.0).fit([plain(graph) for graph in GRAPHS], ASKED["labels"])
    told = explain(model, plain(ASKED["asked"]), label=1, top=100)
    assert {each["feature"]: each["push"] for each in about["pushes"]} == pytest.approx(dict(told.features))
    assert answer["intercept"] + sum(each["push"] for each in about["pushes"]) == pytest.approx(about["score"])
    assert answer["intercept"] + sum(about["nodes"]) == pytest.approx(about["score"])
    assert [each["place"] for each in about["nearest"]] == [each.place for each in told.similar[:6]]


def test_features_of_walks_have_no_names_and_those_of_distances_no_nodes():
    walks = graphs({**ASKED, "kernel": "normalised(randomwalk(decay=0.05))"})
    assert walks["features"] == []
    assert "no features that could be listed" in walks["notes"][0]
    distances = graphs({**ASKED, "kernel": "shortestpath"})["asked"]
    assert distances["nodes"] is None
    assert distances["pushes"]


def test_labels_with_brackets_are_labels():
    odd = {"nodes": ["C(", ")", ","], "edges": [[0, 1], [1, 2]]}
    answer = graphs({**ASKED, "graphs": [odd, ring(3)], "labels": [0, 1], "asked": odd})
    assert answer["intercept"] + sum(answer["asked"]["nodes"]) == pytest.approx(answer["asked"]["score"])


def test_nodes_share_the_pushes_of_their_surroundings():
    star = (4, [[0, 1], [0, 2], [0, 3]], ["C"] * 4)
    pushes = [{"feature": "C(C)", "push": 3.0}, {"feature": "C(C,C,C)", "push": -1.0}]
    assert node_pushes(star, pushes, parse("weisfeilerlehman(h=1)")) == [-1.0, 1.0, 1.0, 1.0]
    assert node_pushes(star, pushes, parse("weisfeilerlehman(h=1) + shortestpath")) is None
    assert node_pushes(star, [], parse("weisfeilerlehman(h=1)")) is None


@pytest.mark.parametrize("kernel", ["weisfeilerlehman(h=100)", "weisfeilerlehman(h=8)", "shortestpath**9"])
def test_names_longer_than_memory_are_not_written(kernel):
    full = {"nodes": ["C"] * 30, "edges": [[a, b] for a in range(30) for b in range(a)]}
    answer = graphs({**ASKED, "graphs": [*GRAPHS[:-1], full], "kernel": kernel, "asked": full})
    assert answer["features"] == answer["asked"]["pushes"] == []
    assert "more features than can be listed" in answer["notes"][0]


def test_one_dense_graph_that_is_asked_about_is_answered():
    full = {"nodes": ["C"] * 30, "edges": [[a, b] for a in range(30) for b in range(a)]}
    answer = graphs({**ASKED, "kernel": "weisfeilerlehman(h=6)", "asked": full})
    assert answer["features"]
    assert answer["asked"]["pushes"] == []
    assert answer["asked"]["nearest"]


def test_as_much_as_is_allowed_is_answered():
    rng = np.random.RandomState(0)
    most = [
        {"nodes": list(rng.choice(["C", "N", "O"], 30)), "edges": rng.permutation(30).reshape(-1, 2).tolist()}
        for _ in range(60)
    ]
    for kernel in ("weisfeilerlehman(h=3)", "graphlet(size=5)", "normalised(randomwalk(decay=0.01))"):
        answer = graphs({"graphs": most, "labels": [0, 1] * 30, "kernel": kernel, "asked": most[0]})
        assert len(json.dumps(answer, allow_nan=False)) < 1_000_000


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"graphs": {}}, "the graphs should be a list"),
        ({"graphs": [3]}, "graph 1 should be an object"),
        ({"graphs": [{"nodes": ["C"]}]}, "the edges of graph 1 should be a list"),
        ({"graphs": [{"nodes": [], "edges": []}]}, "graph 1 has no nodes"),
        ({"graphs": [{"nodes": ["C"] * 31, "edges": []}]}, "the nodes of graph 1 are 31; at most 30 are taken"),
        ({"graphs": [{"nodes": [1], "edges": []}]}, "label 1 of graph 1 should be a text"),
        ({"graphs": [{"nodes": ["C" * 13], "edges": []}]}, "label 1 of graph 1 has 13 characters"),
        ({"graphs": [{"nodes": ["C", "C"], "edges": [[0, 2]]}]}, "two different node numbers from 0 to 1, got [0, 2]"),
        ({"graphs": [{"nodes": ["C", "C"], "edges": [[0, 0]]}]}, "two different node numbers"),
        ({"graphs": [{"nodes": ["C", "C"], "edges": [[0, True]]}]}, "two different node numbers"),
        ({"graphs": [{"nodes": ["C", "C"], "edges": [0, 1]}]}, "two different node numbers"),
        ({"graphs": [{"nodes": ["C", "C"], "edges": [[0, 1]] * 901}]}, "the edges of graph 1 are 901"),
        ({"graphs": [ring(3)] * 61}, "the graphs are 61; at most 60 are taken"),
        ({"labels": [0] * 8}, "put some graphs into each"),
        ({"labels": [0, 1]}, "8 graphs but 2 labels"),
        ({"asked": {"nodes": "CC", "edges": []}}, "the nodes of the graph asked about should be a list"),
        ({"kernel": "spectrum(p=2)"}, "compares strings, not graphs; take a kernel such as 'weisfeilerlehman(h=2)'"),
        ({"kernel": "weisfeilerlehman(h=101)"}, "h"),
        ({"kernel": "randomwalk(decay=0.9)"}, "take a smaller decay"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence(change, sentence):
    with pytest.raises(ValueError, match=r"\.$") as refusal:
        graphs({**ASKED, **change})
    said = str(refusal.value)
    assert sentence in said
    assert "\n" not in said
