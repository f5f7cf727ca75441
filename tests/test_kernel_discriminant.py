"""Kernel discriminant analysis: scikit-learn's linear one and explicit features as oracles, and what is refused."""

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import SVC, KernelDiscriminant, KernelSearchCV, load, save
from mercer.kernels import Gaussian, Polynomial, Spectrum

from .cases import STRINGS

X, y = load_iris(return_X_y=True)
WORDS = load_iris().target_names[y]
NEW = X[::7] + 0.1


def far_from(a, b):
    """How far columns are from each other, each up to its sign."""
    return np.minimum(np.abs(a - b).max(axis=0), np.abs(a + b).max(axis=0)).max()


@pytest.mark.parametrize("wide", [False, True])
def test_a_linear_kernel_is_linear_discriminant_analysis(wide):
    """Also where columns are more than rows, and the way is another one."""
    more = np.zeros((len(X), 200)) if wide else np.zeros((len(X), 0))
    ours = KernelDiscriminant(None, lam=1e-8).fit(np.hstack([X, more]), WORDS)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, WORDS)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-5)
    np.testing.assert_array_equal(ours.predict(np.hstack([X, more])), theirs.predict(X))
    components = theirs.transform(X) - theirs.transform(X).mean(axis=0)
    assert far_from(ours.transform(np.hstack([X, more])), components) < 1e-4


@pytest.mark.parametrize("rank", [None, 40])
def test_of_explicit_features(rank):
    """The generalised eigenproblem of the two scatters, written out; landmarks of a kernel of rank 15 are all."""
    kernel, lam = Polynomial(degree=2, gamma=0.1), 0.01
    weight = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    model = KernelDiscriminant(kernel, lam=lam, rank=rank).fit(X, y, sample_weight=weight)
    values, vectors = np.linalg.eigh(kernel(X))
    Phi = vectors[:, -15:] * np.sqrt(values[-15:])
    share = weight / weight.sum()
    centred = Phi - share @ Phi
    total = centred.T @ (share[:, None] * centred)
    means = np.array([np.average(centred[y == c], axis=0, weights=share[y == c]) for c in range(3)])
    priors = np.bincount(y, share)
    between = means.T @ (priors[:, None] * means)
    ratios, w = linalg.eigh(between, total - between + lam * np.eye(15))
    np.testing.assert_allclose(model.eigenvalues_, ratios[::-1][:2], rtol=1e-6)
    assert far_from(model.transform(X), centred @ w[:, ::-1][:, :2]) < 1e-4
    np.testing.assert_allclose(model.priors_, priors)
    assert (model.residuals_ < 1e-8).all()


def test_components_have_the_spread_one_within_classes():
    model = KernelDiscriminant("gaussian(gamma=0.3)", lam=1e-9).fit(X[::2], y[::2])
    Z = model.transform(X[::2])
    np.testing.assert_allclose([Z[y[::2] == c].mean(axis=0) for c in range(3)], model.means_, atol=1e-6)
    small = KernelDiscriminant("linear", lam=1e-12).fit(X, y)
    within = np.mean([np.cov(small.transform(X)[y == c].T, bias=True) for c in range(3)], axis=0)
    np.testing.assert_allclose(within, np.eye(2), atol=1e-8)


def test_two_classes_of_rings_and_of_strings(tmp_path):
    angle = np.linspace(0, 6.2, 60)
    rows = np.vstack([r * np.column_stack([np.cos(angle), np.sin(angle)]) for r in (1, 2)])
    side = np.repeat(["in", "out"], 60)
    model = KernelDiscriminant("gaussian(gamma=1)").fit(rows, side)
    assert model.score(rows, side) == 1
    labels = ["gene" if "GAT" in text else "none" for text in STRINGS]
    strings = KernelDiscriminant(Spectrum(p=3)).fit(STRINGS, labels)
    assert strings.score(STRINGS, labels) == 1
    save(strings, tmp_path / "m.safetensors")
    np.testing.assert_array_equal(load(tmp_path / "m.safetensors").predict(STRINGS), labels)


def test_weights_rows_in_single_precision_and_sparse_rows():
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    repeated = KernelDiscriminant("gaussian(gamma=0.3)").fit(X.repeat(weight, axis=0), y.repeat(weight))
    weighted = KernelDiscriminant("gaussian(gamma=0.3)").fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(weighted.transform(NEW), repeated.transform(NEW), atol=1e-7)
    single = KernelDiscriminant().fit(X.astype(np.float32), y)
    double = KernelDiscriminant().fit(X.astype(np.float32).astype(float), y)
    np.testing.assert_array_equal(single.eigenvalues_, double.eigenvalues_)
    thin = KernelDiscriminant("gaussian(gamma=0.3)").fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.transform(NEW), KernelDiscriminant("gaussian(gamma=0.3)").fit(X, y).transform(NEW),
                               atol=1e-7)  # fmt: skip


def test_in_pipelines_and_searches():
    pipe = make_pipeline(StandardScaler(), KernelDiscriminant(), SVC("linear"))
    found = KernelSearchCV(pipe, {"kerneldiscriminant__lam": [1e-4, 1e-2]}, cv=3).fit(X, WORDS)
    assert found.best_score_ > 0.9
    assert list(pipe.fit(X, WORDS)[:-1].get_feature_names_out()) == ["kerneldiscriminant0", "kerneldiscriminant1"]
    alone = KernelSearchCV(KernelDiscriminant(), {"lam": [1e-4, 1.0], "kernel__gamma": [0.1, 1.0]}, cv=3).fit(X, WORDS)
    assert alone.best_score_ > 0.9
    given = KernelDiscriminant("precomputed").fit(Gaussian(gamma=0.3)(X), y)
    direct = KernelDiscriminant(Gaussian(gamma=0.3)).fit(X, y)
    np.testing.assert_allclose(given.transform(Gaussian(gamma=0.3)(NEW, X)), direct.transform(NEW), atol=1e-8)


def test_what_cannot_be_learned_from():
    with pytest.warns(UserWarning, match="finds 2 of the 5 components asked for: there are no more between"):
        assert KernelDiscriminant(n_components=5).fit(X, y).transform(NEW).shape == (len(NEW), 2)
    assert KernelDiscriminant(n_components=1).fit(X, y).transform(NEW).shape == (len(NEW), 1)
    for rows, labels, words in (
        (X[:50], y[:50], "holds only one class"),
        (np.array([[-1.0], [1.0], [-1.0], [1.0]]), [0, 0, 1, 1], "means of all classes are the same"),
        (X, np.eye(3)[y], "y should be a 1d array"),
    ):
        with pytest.raises(ValueError, match=words):
            KernelDiscriminant("linear").fit(rows, labels)
    with pytest.raises(ValueError, match="lam must be a number greater than 0"):
        KernelDiscriminant(lam=0).fit(X, y)
    with pytest.raises(ValueError, match="say rank=1000"):
        KernelDiscriminant(memory="1MB").fit(np.random.default_rng(0).normal(size=(6000, 2)), np.arange(6000) % 2)
    with pytest.raises(TypeError, match="no parameter 'gamma'"):
        mercer.KernelDiscriminant(gamma=2)
