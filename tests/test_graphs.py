import re

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer.kernels import (
    Diffusion,
    Graphlet,
    Graphs,
    RandomWalk,
    ShortestPath,
    WeisfeilerLehman,
    WeisfeilerLehmanAssignment,
    scaled,
)

from . import naive_structured as naive

KERNELS = [
    WeisfeilerLehman(2),
    WeisfeilerLehmanAssignment(2),
    ShortestPath(),
    RandomWalk(0.02),
    Graphlet(3),
    Graphlet(4),
    Graphlet(5),
    Graphlet(4, connected=True),
]


@st.composite
def graphs(draw):
    n = draw(st.integers(0, 6))
    pairs = [(u, v) for u in range(n) for v in range(n)]
    edges = draw(st.lists(st.sampled_from(pairs), max_size=12)) if pairs else []
    edges = list({tuple(sorted(edge)): edge for edge in edges}.values())
    nodes = draw(st.lists(st.sampled_from("CO"), min_size=n, max_size=n))
    links = draw(st.lists(st.sampled_from("-="), min_size=len(edges), max_size=len(edges)))
    return n, edges, nodes, links


@pytest.mark.thorough
@given(st.lists(graphs(), min_size=2, max_size=3), st.randoms())
@settings(max_examples=25, deadline=None)
def test_random_graphs(items, random):
    for kernel in KERNELS:
        K = kernel(items)
        expected = [[naive.value(kernel, x, z) for z in items] for x in items]
        np.testing.assert_allclose(K, expected, rtol=1e-9)
        np.testing.assert_allclose(kernel([renamed(item, random) for item in items]), K, rtol=1e-9)
        assert np.linalg.eigvalsh(K).min() >= -1e-9 * max(1.0, K.max())


def renamed(graph, random):
    """The same graph with its nodes in another order."""
    n, edges, nodes, links = graph
    order = random.sample(range(n), n)
    return n, [(order[u], order[v]) for u, v in edges], [nodes[order.index(v)] for v in range(n)], links


def test_all_graphlets_of_size_four():
    assert [len(Graphlet(size).kinds()) for size in (3, 4, 5)] == [4, 11, 34]
    assert [len(Graphlet(size, connected=True).kinds()) for size in (3, 4, 5)] == [2, 6, 21]
    every = [(4, edges) for edges in Graphlet(4).kinds()]
    np.testing.assert_array_equal(Graphlet(4).features(every), np.eye(11))


def test_the_histogram_of_the_course():
    histogram = np.array([[15, 17, 1, 85, 9, 4, 3, 5, 7, 2, 99.0]])
    normalised = [0.06, 0.07, 0.0, 0.34, 0.04, 0.02, 0.01, 0.02, 0.03, 0.01, 0.40]
    np.testing.assert_allclose(scaled(histogram, "frequencies").round(2)[0], normalised)


def test_graphlets_of_a_known_graph():
    # The Petersen graph: 10 nodes of degree 3, no cycle shorter than five, twelve of length five.
    petersen = nx.petersen_graph()
    three = dict(zip(map(len, Graphlet(3).kinds()), Graphlet(3).features([petersen])[0]))
    assert three == {0: 30, 1: 60, 2: 30, 3: 0}
    assert Graphlet(4).features([petersen])[0].sum() == 210
    five = Graphlet(5).features([petersen])[0]
    ring = [
        place for place, edges in enumerate(Graphlet(5).kinds()) if nx.is_isomorphic(nx.Graph(edges), nx.cycle_graph(5))
    ]
    assert five[ring].tolist() == [12]
    assert five.sum() == 252


def test_identical_graphs_are_identical():
    path = nx.path_graph(6)
    for kernel in KERNELS:
        K = kernel([path, path])
        assert K[0, 0] == K[0, 1] == K[1, 1]


def test_inputs_of_every_kind():
    graph = nx.gnp_random_graph(8, 0.4, seed=1)
    plain = (8, list(graph.edges))
    for kernel in KERNELS:
        expected = kernel([plain])
        adjacency = nx.to_numpy_array(graph)
        named = nx.relabel_nodes(graph, {v: f"node {v}" for v in graph})
        for given_as in (graph, named, adjacency, sparse.csr_matrix(adjacency), (8, np.array(graph.edges)), plain):
            np.testing.assert_allclose(kernel([given_as]), expected, rtol=1e-12)
        np.testing.assert_allclose(kernel(Graphs.of([plain])), expected)


def test_labels_of_networkx_graphs():
    molecule = nx.Graph()
    molecule.add_node(0, label="C", element=6)
    molecule.add_node(1, label="O", element=8)
    molecule.add_edge(0, 1, label="=", order=2)
    written = (2, [(0, 1)], ["C", "O"], ["="])
    assert list(Graphs.of([molecule])) == list(Graphs.of([written])) == [(2, [[0, 1]], ["C", "O"], ["="])]
    assert list(Graphs.from_networkx([molecule], "element", "order")) == [(2, [[0, 1]], [6, 8], [2])]
    assert list(Graphs.from_networkx([molecule], None, None)) == [(2, [[0, 1]])]


@pytest.mark.parametrize(
    ("items", "hint"),
    [
        (nx.path_graph(3), "put a single graph into a list"),
        ([nx.DiGraph([(0, 1)])], "graph 0 is directed"),
        ([np.array([[0, 1], [0, 0]])], "graph 0 is directed"),
        ([np.zeros((2, 3))], "an adjacency matrix is square"),
        ([np.array([[0, np.nan], [np.nan, 0]])], "not finite"),
        ([(2, [[0, 2]])], "graph 0 has 2 nodes, but an edge names node 2"),
        ([(2, [[0, 1, 1]])], "edges must be pairs"),
        ([(2, [[0.5, 1]])], "edges must be pairs"),
        ([(-1, [])], "number of nodes must be a whole number"),
        ([(2, [[0, 1]], ["C"])], "graph 0 has 1 node labels for 2 nodes"),
        ([(1, [], ["C"]), (1, [])], "some of these graphs have node labels and some have none"),
        (["graph"], "graph 0 is 'graph' (str)"),
        ([None], "graph 0 is None"),
    ],
)
def test_what_is_no_collection_of_graphs_is_refused(items, hint):
    with pytest.raises(ValueError, match=re.escape(hint)):
        WeisfeilerLehman()(items)


def test_only_some_nodes_with_a_label():
    graph = nx.path_graph(3)
    graph.nodes[1]["label"] = "C"
    with pytest.raises(ValueError, match="only 1 of 3 nodes have the attribute 'label'"):
        ShortestPath()([graph])


@pytest.mark.parametrize(
    ("kernel", "hint"),
    [
        (Graphlet(size=6), "size must be one of 3, 4, 5"),
        (Graphlet(connected=1), "connected must be True or False"),
        (Graphlet(scale="log"), "scale must be one of 'counts', 'frequencies', 'cosine'"),
        (WeisfeilerLehman(h=-1), "h must be a whole number of at least 0"),
        (RandomWalk(decay=0), "decay must be a number greater than 0"),
        (RandomWalk(decay=0.5), "the sum over the common walks of graph 0 with others is infinite"),
        (Diffusion((2, [[0, 1]]), beta=-1), "beta must be a number greater than 0"),
    ],
)
def test_impossible_parameters_are_refused(kernel, hint):
    with pytest.raises(ValueError, match=re.escape(hint)):
        kernel([nx.complete_graph(5)])


def test_the_largest_decay_of_labelled_graphs():
    # With all labels different the product of a cycle with itself is the cycle: walks converge up to 1/2, not 1/4.
    cycle = (4, [[0, 1], [1, 2], [2, 3], [3, 0]], [1, 2, 3, 4])
    assert RandomWalk(0.45)([cycle])[0, 0] == pytest.approx(4 / (1 - 2 * 0.45))
    with pytest.raises(ValueError, match="infinite"):
        RandomWalk(0.51)([cycle])


def test_no_nodes_self_loops_isolated_and_repeated():
    nothing, alone, loop = (0, []), (1, []), (1, [[0, 0]])
    for kernel in KERNELS:
        assert np.isfinite(kernel([nothing, alone, loop])).all()
        assert kernel([alone], [loop])[0, 0] == kernel([alone])[0, 0]
        assert kernel([nothing])[0, 0] == 0
        np.testing.assert_array_equal(kernel([(3, [[0, 1], [1, 0], [0, 1]])]), kernel([(3, [[0, 1]])]))


def test_ten_thousand_labels():
    n = 10_000
    path = (n, np.column_stack([np.arange(n - 1), np.arange(1, n)]), list(range(n)))
    assert WeisfeilerLehman(h=2)([path])[0, 0] == 3 * n


def test_one_giant_graph():
    side = 150
    number = np.arange(side * side).reshape(side, side)
    edges = np.concatenate(
        [np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()]),
         np.column_stack([number[:-1].ravel(), number[1:].ravel()])]
    )  # fmt: skip
    grid = (side * side, edges)
    counts = Graphlet(4).features([grid])[0]
    squares = [
        place for place, own in enumerate(Graphlet(4).kinds()) if nx.is_isomorphic(nx.Graph(own), nx.cycle_graph(4))
    ]
    assert counts[squares].tolist() == [(side - 1) ** 2]
    n = side * side
    assert counts.sum() == pytest.approx(n * (n - 1) * (n - 2) * (n - 3) / 24, rel=1e-15)
    assert np.isfinite(WeisfeilerLehman(5)([grid])).all()
    with pytest.raises(ValueError, match="too many to solve for"):
        RandomWalk(0.01)([grid])
    heat = Diffusion(grid, beta=2.0)([0, 1, side * side - 1])
    assert heat[0, 0] > heat[0, 1] > heat[0, 2] >= -1e-15


def test_a_hub_with_too_many_parts_is_refused():
    star = (20_001, [(0, leaf) for leaf in range(1, 20_001)])
    with pytest.raises(ValueError, match=r"graph 1 has a node with 20000 neighbours, .* too many to count"):
        Graphlet(4)([(1, []), star])
    np.testing.assert_array_equal(Graphlet(3, connected=True).features([(201, star[1][:200])]), [[19900, 0]])


def test_diffusion_is_the_matrix_exponential():
    from scipy.linalg import expm

    graph = nx.barbell_graph(4, 2)
    for beta in (1e-3, 0.5, 30.0, 1e4):
        expected = expm(-beta * nx.laplacian_matrix(graph).toarray().astype(float))
        np.testing.assert_allclose(Diffusion(graph, beta)(list(graph)), expected, atol=1e-13)


def test_nodes_of_two_graphs_are_not_mixed_up():
    one, other = nx.Graph([("a", "b"), ("b", "c")]), nx.Graph([("c", "b"), ("b", "a"), ("c", "d")])
    both = Diffusion(one)(list("abc")) + Diffusion(other)(list("abc"))
    np.testing.assert_allclose((Diffusion(one) + Diffusion(other))(list("abc")), both)


def test_diffusion_takes_the_names_of_nodes():
    graph = nx.Graph([("a", "b"), ("b", "c")])
    kernel = Diffusion(graph)
    assert list(kernel.items(["c", "a"])) == ["c", "a"]
    with pytest.raises(ValueError, match="item 1 is 'd', which is not a node of the graph of 3 nodes"):
        kernel(["a", "d"])
    assert kernel != Diffusion(graph, beta=2.0)
    assert str(kernel) == "diffusion(graph=<Graph>)"
