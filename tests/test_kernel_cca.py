"""Kernel canonical correlation: scikit-learn's linear one and explicit features as oracles, and what is refused."""

import numpy as np
import pytest
from scipy import linalg
from sklearn.cross_decomposition import CCA
from sklearn.datasets import load_linnerud
from sklearn.model_selection import GridSearchCV, KFold

from mercer import KernelCCA, load, save
from mercer.kernels import Intersection, Polynomial

rng = np.random.default_rng(0)
HIDDEN = rng.uniform(0, 6.28, 120)
CIRCLE = np.column_stack([np.cos(HIDDEN), np.sin(HIDDEN)]) + 0.05 * rng.normal(size=(120, 2))
WAVE = np.column_stack([np.sin(2 * HIDDEN), rng.normal(size=120)])


def test_linear_kernels_give_canonical_correlation_analysis():
    data = load_linnerud()
    A, B = ((each - each.mean(axis=0)) / each.std(axis=0) for each in (data.data, data.target))
    ours = KernelCCA(None, None, 2, lam=1e-10).fit(A, B)
    u, v = CCA(2, max_iter=5000, tol=1e-14).fit(A, B).transform(A, B)
    exact = [np.corrcoef(u[:, k], v[:, k])[0, 1] for k in range(2)]
    np.testing.assert_allclose(ours.correlations_, exact, rtol=1e-5)
    mine, its = ours.transform(A, B)
    for k in range(2):
        assert abs(np.corrcoef(mine[:, k], u[:, k])[0, 1]) > 1 - 1e-6
        assert np.corrcoef(mine[:, k], its[:, k])[0, 1] == pytest.approx(exact[k], rel=1e-5)
    np.testing.assert_allclose(np.var(mine, axis=0), 1, rtol=1e-6)
    assert ours.score(A, B) == pytest.approx(np.mean(exact), rel=1e-5)


@pytest.mark.parametrize("rank", [None, 30])
def test_of_explicit_features(rank):
    """The generalised eigenproblem of both covariances, written out."""
    kernels, lam = (Polynomial(degree=2), Polynomial(degree=3, gamma=0.5)), 0.05
    weight = rng.integers(1, 4, 120).astype(float)
    model = KernelCCA(*kernels, 3, lam=lam, rank=rank).fit(CIRCLE, WAVE, sample_weight=weight)
    share, Phis = weight / weight.sum(), []
    for kernel, rows in zip(kernels, (CIRCLE, WAVE), strict=True):
        values, vectors = np.linalg.eigh(kernel(rows))
        kept = values > 1e-10 * values[-1]
        Phi = vectors[:, kept] * np.sqrt(values[kept])
        Phis.append(np.sqrt(share)[:, None] * (Phi - share @ Phi))
    p = Phis[0].shape[1]
    both = np.hstack(Phis)
    S = both.T @ both
    D = linalg.block_diag(S[:p, :p], S[p:, p:])
    values = linalg.eigh(S - D, D + lam * np.eye(len(D)), eigvals_only=True)
    np.testing.assert_allclose(model.correlations_, values[::-1][:3], rtol=1e-6)
    assert (model.residuals_ < 1e-9).all()
    together = np.cov(np.hstack(model.transform(CIRCLE, WAVE)).T, aweights=share, bias=True)
    np.testing.assert_allclose(np.diag(together[:3, 3:]), model.correlations_, rtol=1e-6)
    np.testing.assert_allclose(together[:3, 3:], np.diag(np.diag(together[:3, 3:])), atol=1e-6)


def test_what_two_views_have_in_common_is_found_in_new_items():
    model = KernelCCA("gaussian(gamma=1)", "gaussian(gamma=1)", 1, lam=0.01).fit(CIRCLE[:80], WAVE[:80])
    assert model.score(CIRCLE[80:], WAVE[80:]) > 0.8
    assert abs(KernelCCA(n_components=1).fit(CIRCLE[:80], rng.normal(size=(80, 2))).score(CIRCLE[80:], WAVE[80:])) < 0.6


def test_views_of_different_kinds(tmp_path):
    """Rows, and the sets that they say; one number for each item is a column."""
    sets = [{f"a{int(h)}", f"b{int(2 * h)}"} for h in HIDDEN]
    model = KernelCCA("gaussian", Intersection(), 2).fit(CIRCLE, sets)
    assert model.score(CIRCLE, sets) > 0.9
    save(model, tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    for ours, theirs in zip(model.transform(CIRCLE, sets), again.transform(CIRCLE, sets), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    own = KernelCCA("gaussian", lambda x, z: len(x & z), 2).fit(CIRCLE, sets)
    np.testing.assert_allclose(own.correlations_, model.correlations_, rtol=1e-9)
    assert KernelCCA().fit(CIRCLE, HIDDEN).y_view_.n_features_in_ == 1


def test_the_strength_of_regularisation_is_searched_for():
    search = GridSearchCV(KernelCCA(n_components=1), {"lam": [1e-6, 1e-2]}, cv=KFold(3)).fit(CIRCLE, WAVE)
    assert search.best_params_ == {"lam": 1e-2}


def test_views_change_places():
    one, other = KernelCCA().fit(CIRCLE, WAVE), KernelCCA().fit(WAVE, CIRCLE)
    np.testing.assert_allclose(one.correlations_, other.correlations_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(one.transform(CIRCLE)), np.abs(other.y_view_.transform(CIRCLE)), atol=1e-7)


def test_what_cannot_be_learned_from():
    for given, words in (
        ((CIRCLE,), "requires y to be passed.*two views of the same items"),
        ((CIRCLE, WAVE[:-1]), "has 120 items and the second one 119"),
        ((CIRCLE, np.where(np.arange(240).reshape(120, 2) == 7, np.nan, 1.0)), "contains NaN"),
    ):
        with pytest.raises(ValueError, match=words):
            KernelCCA().fit(*given)
    with pytest.warns(UserWarning, match="are the same"), pytest.raises(ValueError, match="no direction of one view"):
        KernelCCA().fit(CIRCLE, np.ones((120, 2)))
    with pytest.warns(UserWarning, match="finds 2 of the 5 components"):
        assert KernelCCA(None, None, 5).fit(CIRCLE, WAVE).transform(CIRCLE).shape == (120, 2)
