"""Kernel principal components: scikit-learn and LAPACK as oracles, new items, ways back, and what is refused."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as TheirPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import SVC, KernelPCA, KernelSearchCV, load, save
from mercer.kernels import Gaussian, Spectrum

from .cases import GRAPHS, STRINGS

X = np.random.default_rng(0).normal(size=(120, 3)) * [2.0, 1.0, 0.5] + [0.0, 5.0, 0.0]
NEW = np.random.default_rng(1).normal(size=(9, 3))


@pytest.mark.parametrize("memory", ["1GB", "50kB"])
def test_components_are_scikit_learns(memory):
    ours = KernelPCA("gaussian(gamma=0.2)", 5, memory=memory).fit(X)
    theirs = TheirPCA(5, kernel="rbf", gamma=0.2, eigen_solver="dense").fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(ours.transform(NEW), theirs.transform(NEW), atol=1e-9)
    np.testing.assert_allclose(KernelPCA("gaussian(gamma=0.2)", 5).fit_transform(X), ours.transform(X), atol=1e-9)


def test_a_linear_kernel_gives_principal_components():
    theirs = PCA(2).fit(X)
    for rows in (X, X + 1e6):
        ours = KernelPCA(None, 2).fit(rows)
        np.testing.assert_allclose(np.abs(ours.coef_), np.abs(theirs.components_), atol=1e-6)
        np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-6)
        back = ours.inverse_transform(ours.transform(rows))
        np.testing.assert_allclose(back, theirs.inverse_transform(theirs.transform(X)) + (rows - X)[0], atol=1e-5)


@pytest.mark.parametrize(("kernel", "items"), [(Spectrum(p=2), STRINGS), ("weisfeilerlehman", GRAPHS)])
def test_strings_and_graphs(kernel, items, tmp_path):
    model = KernelPCA(kernel, 2).fit(items)
    K = mercer.kernels.as_kernel(kernel)(items)
    C = np.eye(len(K)) - 1 / len(K)
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(C @ K @ C)[::-1][:2], rtol=1e-9)
    components = model.transform(items)
    back = model.inverse_transform(components)
    np.testing.assert_allclose(model.transform(back), components, atol=1e-8)  # alike to the kernel, or the same
    save(model, tmp_path / "m.safetensors")
    np.testing.assert_array_equal(load(tmp_path / "m.safetensors").transform(items), components)


def test_centring_is_exact_for_new_rows():
    """Components of a far row are the definition's: ⟨w, φ(x) − mean φ⟩, summed over the centred matrix."""
    far = np.array([[50.0, 0.0, 0.0], [2.0, 4.0, 0.1]])
    model = KernelPCA("polynomial(degree=2)", 3).fit(X)
    kernel, n = model.kernel_, len(X)
    K, k = kernel(X), kernel(far, X)
    C = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(C @ K @ C)
    wanted = (k - K.mean(axis=0)) @ C @ vectors[:, ::-1][:, :3] / np.sqrt(values[::-1][:3])
    np.testing.assert_allclose(np.abs(model.transform(far)), np.abs(wanted), rtol=1e-7)


def test_a_named_rule_and_its_number_give_the_same_way_back():
    """The rate that the data decide, written as a number, changes nothing."""
    ruled = KernelPCA("gaussian", 3).fit(X)
    told = KernelPCA(Gaussian(gamma=ruled.kernel_.gamma), 3).fit(X)
    Z = ruled.transform(X[:10])
    np.testing.assert_allclose(told.inverse_transform(Z), ruled.inverse_transform(Z), rtol=1e-9)


def test_landmarks_stand_for_all_items(tmp_path):
    exact, near = KernelPCA("gaussian(gamma=0.1)", 3).fit(X), KernelPCA("gaussian(gamma=0.1)", 3, rank=60).fit(X)
    assert near.support_.size == 60
    assert near.missing_trace_ < 1e-4
    np.testing.assert_allclose(near.eigenvalues_, exact.eigenvalues_, rtol=1e-3)
    np.testing.assert_allclose(near.transform(NEW), exact.transform(NEW), atol=1e-2)
    assert near.inverse_transform(near.transform(NEW)).shape == NEW.shape
    save(near, tmp_path / "m.safetensors")
    np.testing.assert_array_equal(load(tmp_path / "m.safetensors").transform(NEW), near.transform(NEW))


def test_a_precomputed_matrix():
    kernel = Gaussian(gamma=0.2)
    given, direct = KernelPCA("precomputed", 3).fit(kernel(X)), KernelPCA(kernel, 3).fit(X)
    np.testing.assert_allclose(given.transform(kernel(NEW, X)), direct.transform(NEW), atol=1e-9)
    with pytest.raises(ValueError, match="give KernelPCA the kernel and the rows"):
        given.inverse_transform(np.zeros((1, 3)))


def test_all_components_and_more_than_there_are():
    every = KernelPCA(None, None).fit(X)
    assert every.eigenvalues_.size == 3
    assert every.explained_variance_ratio_.sum() == pytest.approx(1.0)
    with pytest.warns(UserWarning, match="finds 3 of the 7 components"):
        assert KernelPCA("linear", 7).fit(X).transform(NEW).shape == (9, 3)
    assert KernelPCA("gaussian(gamma=20)", None).fit(X).eigenvalues_.size == len(X) - 1


def test_reconstruction_errors(tmp_path):
    """All training items together lack what their variance has beyond the components; linear ones are PCA's."""
    for kernel, rank in (("gaussian(gamma=0.2)", None), ("polynomial(degree=2)", 30), ("linear", None)):
        model = KernelPCA(kernel, 2, rank=rank).fit(X)
        errors = model.reconstruction_error(X)
        lacking = model.eigenvalues_.sum() * (1 / model.explained_variance_ratio_.sum() - 1)
        assert errors.sum() == pytest.approx(lacking, rel=1e-6)
    plain = PCA(2).fit(X)
    np.testing.assert_allclose(
        model.reconstruction_error(NEW),
        np.square(NEW - plain.inverse_transform(plain.transform(NEW))).sum(axis=1),
        rtol=1e-8,
    )
    strings = KernelPCA(Spectrum(p=2), 2).fit(STRINGS)
    save(strings, tmp_path / "m.safetensors")
    np.testing.assert_array_equal(load(tmp_path / "m.safetensors").reconstruction_error(STRINGS),
                                  strings.reconstruction_error(STRINGS))  # fmt: skip
    with pytest.raises(ValueError, match="give KernelPCA the kernel and the items"):
        KernelPCA("precomputed", 2).fit(Gaussian(gamma=0.2)(X)).reconstruction_error(Gaussian(gamma=0.2)(X))


@pytest.mark.filterwarnings("ignore:KernelPCA. all 4 rows")
def test_what_cannot_be_learned_from():
    for rows, words in (
        ([[1.0, 2.0]], "cannot learn from 1 sample"),
        ([[1.0, 2.0]] * 4, "no direction in which they differ"),
        ([[1.0], [np.nan]], "contains NaN in row 1"),
    ):
        with pytest.raises(ValueError, match=words):
            KernelPCA().fit(rows)
    with pytest.raises(ValueError, match=r"has the eigenvalue -"):
        KernelPCA("sigmoid(gamma=2, coef0=-3)").fit(X)
    with pytest.raises(ValueError, match="n_components"):
        KernelPCA(n_components=0).fit(X)
    with pytest.raises(ValueError, match="rows of 2 components"):
        KernelPCA().fit(X).inverse_transform([[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="ask for fewer components"):
        KernelPCA(n_components=None, memory="1MB").fit(np.random.default_rng(0).normal(size=(5000, 2)))


def test_too_few_passes_are_said():
    rows = np.random.default_rng(0).normal(size=(500, 3))
    with pytest.warns(ConvergenceWarning, match="eigenvalue_bounds_ are true all the same"):
        model = KernelPCA("gaussian(gamma=5)", 20, tol=1e-9, max_passes=1).fit(rows)
    assert not model.converged_
    exact = TheirPCA(20, kernel="rbf", gamma=5, eigen_solver="dense").fit(rows)
    assert (np.abs(model.eigenvalues_ - exact.eigenvalues_) <= model.eigenvalue_bounds_).all()


def test_rows_in_single_precision_give_the_same():
    exact, single = (
        KernelPCA(n_components=3).fit(X.astype(np.float32)),
        KernelPCA(n_components=3).fit(X.astype(np.float32).astype(np.float64)),
    )
    np.testing.assert_array_equal(exact.eigenvalues_, single.eigenvalues_)


def test_a_search_over_a_pipeline():
    y = (np.hypot(X[:, 0], X[:, 1] - 5) > 1.5).astype(int)
    pipe = make_pipeline(StandardScaler(), KernelPCA("gaussian"), SVC("linear"))
    found = KernelSearchCV(pipe, {"kernelpca__n_components": [1, 8], "kernelpca__kernel__gamma": [0.1, 1.0]}, cv=3)
    assert found.fit(X, y).best_score_ > 0.75
    assert list(pipe.fit(X, y)[:-1].get_feature_names_out()) == ["kernelpca0", "kernelpca1"]


def test_settings_of_what_comes_after_share_the_components(monkeypatch):
    """A search finds components once for each fold and setting of theirs, and once more for the best."""
    fits, learn = [], KernelPCA.learn
    monkeypatch.setattr(KernelPCA, "learn", lambda self, data: (fits.append(1), learn(self, data))[1])
    pipe = make_pipeline(KernelPCA("gaussian(gamma=0.2)"), SVC())
    grid = {"kernelpca__n_components": [1, 4], "svc__C": [0.1, 1, 10], "svc__kernel__gamma": [0.1, 1]}
    KernelSearchCV(pipe, grid, cv=3).fit(X, X[:, 0] > 0)
    assert len(fits) == 2 * 3 + 1


def test_weights_are_repeated_rows():
    weight = np.random.default_rng(0).integers(0, 4, len(X))
    for kernel in ("gaussian(gamma=0.2)", "linear"):
        repeated = KernelPCA(kernel, 3).fit(X.repeat(weight, axis=0))
        weighted = KernelPCA(kernel, 3).fit(X, sample_weight=weight)
        np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(np.abs(weighted.transform(NEW)), np.abs(repeated.transform(NEW)), atol=1e-8)
