"""Clusters: every partition as an oracle, scikit-learn where it solves the same problem, new items, and refusals."""

from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.cluster import SpectralClustering as TheirClustering
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KernelKMeans, SpectralClustering, load, save
from mercer.grams import Dense, Lazy
from mercer.kernels import Gaussian, as_kernel
from mercer.solvers import kernel_kmeans, least_cost

from .cases import GRAPHS, STRINGS

rng = np.random.default_rng(0)
X, GROUPS = make_blobs(150, centers=4, n_features=3, random_state=1)
X = X / 5
NEW = rng.normal(size=(20, 3))
MOONS = make_moons(300, noise=0.06, random_state=0)
RINGS = make_circles(300, noise=0.05, factor=0.4, random_state=0)


def cost_of(K, labels, weight):
    """Σ wᵢ‖φ(xᵢ) − μ‖², as half of what pairs within clusters are apart, over the weights of the clusters."""
    apart = K.diagonal()[:, None] + K.diagonal() - 2 * K
    parts = [labels == c for c in np.unique(labels)]
    return sum(
        0.5 * weight[part] @ apart[np.ix_(part, part)] @ weight[part] / weight[part].sum()
        for part in parts
        if weight[part].sum()
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_all_partitions_is_found_and_the_bound_is_below_it(seed):
    draws = np.random.default_rng(seed)
    A = draws.normal(size=(8, 1 + seed))
    K = A @ A.T if seed % 2 else Gaussian(gamma=0.3)(A)
    weight = draws.integers(1, 4, 8) * 1.0
    for k in (1, 2, 3):
        best = min(cost_of(K, np.array(labels), weight) for labels in product(range(k), repeat=8))
        found = kernel_kmeans(Dense(K), k, weight, starts=30)
        assert found.cost == pytest.approx(best, abs=1e-9)
        assert found.cost == pytest.approx(cost_of(K, found.labels, weight), abs=1e-9)
        assert least_cost(Dense(K), k, weight) <= best + 1e-9
    assert least_cost(Dense(K), 1, weight) == pytest.approx(cost_of(K, np.zeros(8), weight))


@pytest.mark.parametrize("seed", range(6))
def test_the_bound_by_products_is_that_of_the_whole_matrix(seed):
    draws = np.random.default_rng(seed)
    n, k = 500, int(draws.integers(2, 9))
    A, weight = draws.normal(size=(n, 3)), draws.uniform(0.2, 3.0, n)
    gram = Lazy(Gaussian(gamma=10.0 ** draws.uniform(-2, 1)), A)
    root = np.sqrt(weight)
    C = np.eye(n) - np.outer(root, root) / weight.sum()
    Y = C @ (root[:, None] * gram.rows(np.arange(n)) * root) @ C
    exact = np.trace(Y) - np.linalg.eigvalsh(Y)[::-1][: k - 1].sum()
    assert 0.97 * exact <= least_cost(gram, k, weight) <= exact


@pytest.mark.parametrize("rows", [X, X + 1e6, sparse.csr_array(np.maximum(X, 0))], ids=["near", "far", "sparse"])
def test_a_linear_kernel_is_k_means(rows):
    ours = KernelKMeans(None, 4, n_init=10).fit(rows)
    theirs = KMeans(4, n_init=10, random_state=0).fit(rows)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
    assert ours.cost_ == pytest.approx(theirs.inertia_, rel=1e-5)
    order = theirs.predict(ours.cluster_centers_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_[order], rtol=1e-9, atol=1e-9)
    if rows.max() < 1e3:  # theirs are differences of squares
        np.testing.assert_allclose(ours.transform(rows), theirs.transform(rows)[:, order], atol=1e-5)
    assert ours.cost_ == pytest.approx((ours.transform(rows).min(axis=1) ** 2).sum(), rel=1e-6)
    assert 0 <= ours.cost_bound_ <= ours.cost_


@pytest.mark.parametrize("memory", ["1GB", "60kB"])
@pytest.mark.parametrize("kernel", ["gaussian(gamma=0.5)", "polynomial(degree=2)", "laplacian(gamma=1)"])
def test_new_rows_belong_to_the_nearest_mean(kernel, memory):
    model = KernelKMeans(kernel, 4, memory=memory).fit(X)
    kernel = model.kernel_
    distances = np.empty((len(NEW), 4))
    for c in range(4):
        part = X[model.labels_ == c]
        apart = kernel(NEW).diagonal() - 2 * kernel(NEW, part).mean(axis=1) + kernel(part).mean()
        distances[:, c] = np.sqrt(apart)
    np.testing.assert_allclose(model.transform(NEW), distances, rtol=1e-7)
    np.testing.assert_array_equal(model.predict(NEW), distances.argmin(axis=1))
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.cost_ == pytest.approx((model.transform(X).min(axis=1) ** 2).sum())
    assert (np.diff(np.bincount(model.labels_)) <= 0).all()


@pytest.mark.parametrize("kernel", ["gaussian(gamma=0.5)", None])
def test_weights_of_k_means_are_repeated_rows(kernel):
    weight = rng.integers(0, 4, len(X))
    weighted = KernelKMeans(kernel, 4, n_init=10).fit(X, sample_weight=weight)
    repeated = KernelKMeans(kernel, 4, n_init=10).fit(X.repeat(weight, axis=0))
    assert weighted.cost_ == pytest.approx(repeated.cost_, rel=1e-9)
    assert weighted.cost_bound_ == pytest.approx(repeated.cost_bound_, rel=1e-3)
    np.testing.assert_array_equal(weighted.predict(NEW), repeated.predict(NEW))
    np.testing.assert_array_equal(weighted.predict(X), weighted.labels_)


def test_many_rows_go_by_way_of_some_columns():
    rows, groups = make_blobs(3000, centers=6, n_features=4, cluster_std=0.6, random_state=3)
    model = KernelKMeans("gaussian(gamma=0.05)", 6).fit(rows)
    assert adjusted_rand_score(model.labels_, groups) > 0.99
    weight = np.ones(len(rows))
    assert model.cost_ == pytest.approx(cost_of(Gaussian(gamma=0.05)(rows), model.labels_, weight), rel=1e-9)
    assert model.cost_bound_ <= model.cost_ <= 1.05 * model.cost_bound_
    near = KernelKMeans("gaussian(gamma=0.05)", 6, rank=200).fit(rows)
    assert near.support_.size == 200
    np.testing.assert_array_equal(near.labels_, model.labels_)
    np.testing.assert_allclose(near.transform(rows[:9]), model.transform(rows[:9]), atol=0.02)
    assert near.cost_bound_ <= near.cost_ <= model.cost_


@pytest.mark.parametrize("machine", [KernelKMeans, SpectralClustering])
def test_rows_are_read_piece_by_piece(machine, tmp_path):
    rows, _ = make_blobs(6000, centers=3, n_features=4, cluster_std=0.8, random_state=3)
    np.save(tmp_path / "rows.npy", rows)
    there = np.load(tmp_path / "rows.npy", mmap_mode="r")
    streamed = machine("gaussian(gamma=0.05)", 3, rank=40, memory="2MB").fit(there)
    held = machine("gaussian(gamma=0.05)", 3, rank=40).fit(rows)
    assert adjusted_rand_score(streamed.labels_, held.labels_) > 0.999
    np.testing.assert_array_equal(streamed.predict(there), streamed.predict(rows))
    np.testing.assert_allclose(streamed.set_params(memory="100kB").transform(there), held.transform(rows), atol=0.2)
    if machine is KernelKMeans:
        assert streamed.cost_bound_ <= streamed.cost_
        assert streamed.cost_ == pytest.approx(held.cost_, rel=0.05)


@pytest.mark.parametrize(("kernel", "items"), [("normalised(spectrum(p=2))", STRINGS), ("weisfeilerlehman", GRAPHS)])
def test_strings_and_graphs(kernel, items, tmp_path):
    K = as_kernel(kernel)(items)
    for machine in (KernelKMeans, SpectralClustering):
        model = machine(kernel, 2).fit(items)
        assert set(model.labels_) == {0, 1}
        save(model, tmp_path / "m.safetensors")
        again = load(tmp_path / "m.safetensors")
        np.testing.assert_array_equal(again.predict(items), model.predict(items))
        np.testing.assert_array_equal(again.transform(items), model.transform(items))
        given = machine("precomputed", 2).fit(K)
        np.testing.assert_array_equal(given.labels_, model.labels_)
        np.testing.assert_array_equal(given.predict(K), model.predict(items))
    with pytest.raises(ValueError, match="similarity of new items with themselves"):
        KernelKMeans("precomputed", 2).fit(K).transform(K)


@pytest.mark.parametrize("memory", ["1GB", "60kB"])
def test_eigenvalues_are_those_of_the_normalised_graph(memory):
    model = SpectralClustering("gaussian(gamma=3)", 4, tol=1e-8, memory=memory).fit(MOONS[0])
    K = Gaussian(gamma=3)(MOONS[0])
    np.fill_diagonal(K, 0.0)
    degrees = K.sum(axis=0)
    values = np.linalg.eigvalsh(K / np.sqrt(degrees[:, None] * degrees))[::-1][:4]
    assert (np.abs(model.eigenvalues_ - values) <= model.eigenvalue_bounds_).all()
    assert model.eigenvalue_bounds_.max() < 1e-6


@pytest.mark.parametrize(
    ("rows", "groups", "gamma"), [(*MOONS, 20.0), (*RINGS, 10.0), (X, GROUPS, 1.0)], ids=["moons", "rings", "blobs"]
)
@pytest.mark.parametrize("assign_labels", ["kmeans", "cluster_qr"])
def test_clusters_of_a_graph_are_scikit_learns(rows, groups, gamma, assign_labels):
    k = np.unique(groups).size
    ours = SpectralClustering(Gaussian(gamma=gamma), k, assign_labels=assign_labels).fit(rows)
    theirs = TheirClustering(k, gamma=gamma, assign_labels=assign_labels, random_state=0).fit(rows)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
    assert (ours.predict(rows) == ours.labels_).mean() > 0.99
    places = ours.transform(rows)
    assert places.shape == (len(rows), k)
    given = SpectralClustering("precomputed", k, assign_labels=assign_labels).fit(Gaussian(gamma=gamma)(rows))
    np.testing.assert_array_equal(given.labels_, ours.labels_)


def test_new_rows_of_a_ring_belong_to_it():
    model = SpectralClustering("gaussian(gamma=30)", 2).fit(RINGS[0])
    angle = np.linspace(0, 6.2, 50)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    outer, inner = model.predict(circle), model.predict(0.4 * circle)
    assert np.unique(outer).size == np.unique(inner).size == 1
    assert outer[0] != inner[0]
    near = SpectralClustering("gaussian(gamma=30)", 2, rank=200).fit(RINGS[0])
    np.testing.assert_array_equal(near.predict(circle), outer)
    assert near.missing_trace_ < 1e-3


def test_weights_of_a_graph_are_repeated_rows():
    weight = rng.integers(0, 4, len(X))
    weighted = SpectralClustering("gaussian(gamma=1)", 4, tol=1e-9).fit(X, sample_weight=weight)
    repeated = SpectralClustering("gaussian(gamma=1)", 4, tol=1e-9).fit(X.repeat(weight, axis=0))
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-9)
    np.testing.assert_array_equal(weighted.labels_.repeat(weight), repeated.labels_)
    np.testing.assert_allclose(np.abs(weighted.transform(NEW)), np.abs(repeated.transform(NEW)), atol=1e-8)
    np.testing.assert_array_equal(weighted.labels_, weighted.predict(X))


def test_a_graph_of_neighbours_has_its_degrees_on_the_diagonal():
    from sklearn.neighbors import kneighbors_graph

    A = kneighbors_graph(MOONS[0], 8).toarray()
    A = 0.5 * (A + A.T)
    with pytest.raises(ValueError, match=r"has the eigenvalue -"):
        SpectralClustering("precomputed", 2).fit(A)
    model = SpectralClustering("precomputed", 2).fit(A + np.diag(A.sum(axis=0)))
    theirs = TheirClustering(2, affinity="precomputed", random_state=0).fit(A)
    assert adjusted_rand_score(model.labels_, theirs.labels_) == 1.0


@pytest.mark.parametrize("machine", [KernelKMeans, SpectralClustering])
def test_float32_pipelines_and_repeats(machine):
    model = machine("gaussian(gamma=1)", 4).fit(X.astype(np.float32))
    np.testing.assert_array_equal(model.labels_, machine("gaussian(gamma=1)", 4).fit(X).labels_)
    steps = make_pipeline(StandardScaler(), machine("gaussian", 4))
    assert adjusted_rand_score(steps.fit_predict(X), GROUPS) > 0.8
    np.testing.assert_array_equal(steps.predict(X), steps.fit(X).predict(X))
    assert machine("gaussian", 3).fit(X).get_feature_names_out().size == 3


@pytest.mark.filterwarnings("ignore:.*all 4 rows are the same")
@pytest.mark.parametrize("machine", [KernelKMeans, SpectralClustering])
def test_equal_rows(machine):
    with pytest.warns(ConvergenceWarning, match="finds 1 of the 2 clusters"):
        assert machine("gaussian(gamma=1)", 2).fit([[1.0, 2.0]] * 4).labels_.tolist() == [0] * 4
    twice = machine("gaussian(gamma=1)", 2).fit([[0.0], [0.0], [0.0], [5.0], [5.0]])
    assert twice.labels_.tolist() == [0, 0, 0, 1, 1]
    with pytest.warns(ConvergenceWarning, match="finds 2 of the 3 clusters"):
        assert machine("gaussian(gamma=1)", 3).fit([[0.0], [0.0], [0.0], [5.0], [5.0]]).labels_[-1] == 1


@pytest.mark.parametrize("machine", [KernelKMeans, SpectralClustering])
def test_what_cannot_be_clustered(machine):
    for rows, words in (
        ([[1.0, 2.0]], "cannot make 2 clusters of n_samples=1"),
        ([[1.0], [np.nan]], "contains NaN in row 1"),
    ):
        with pytest.raises(ValueError, match=words):
            machine(n_clusters=2).fit(rows)
    assert machine(n_clusters=1).fit([[1.0, 2.0]]).labels_.tolist() == [0]
    with pytest.raises(ValueError, match=r"has the eigenvalue -"):
        machine("sigmoid(gamma=2, coef0=-3)", 2).fit(X)
    with pytest.raises(ValueError, match="n_clusters"):
        machine(n_clusters=0).fit(X)
    with pytest.raises(ValueError, match="ask for fewer clusters"):
        machine(n_clusters=150, memory="100kB").fit(X)


def test_what_is_no_graph():
    with pytest.raises(ValueError, match="linear is negative: the similarities of item"):
        SpectralClustering("linear", 2).fit(X - X.mean(axis=0))
    with pytest.warns(UserWarning, match="1 of 151 items are similar to no other"):
        SpectralClustering("gaussian(gamma=1)", 2).fit(np.vstack([X, [[1e4] * 3]]))


def test_too_little_time_is_said():
    rows = rng.normal(size=(500, 3))
    with pytest.warns(ConvergenceWarning, match="clusters that still change"):
        model = KernelKMeans("gaussian(gamma=1)", 20, n_init=1, max_iter=1).fit(rows)
    assert not model.converged_
    assert model.cost_bound_ < model.cost_
    with pytest.warns(ConvergenceWarning, match="largest residual of an eigenvector"):
        SpectralClustering("gaussian(gamma=5)", 20, tol=1e-9, max_passes=1).fit(rows)
