"""The dual gradient t − Kz and the rows kept for it: true after whatever came before."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.grams import Dense, Features, Lazy
from mercer.kernels import Gaussian
from mercer.solvers.svm import DualGradient, RowCache

N = 90
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 2))
K = np.exp(-0.4 * ((X[:, None] - X) ** 2).sum(axis=2))
#: Rows of 70 columns are expensive, so that some are kept; others are computed again, or at hand.
wide = np.hstack([X, np.zeros((N, 68))])
GRAMS = {
    "in memory": lambda: Dense(K),
    "computed": lambda: Lazy(Gaussian(gamma=0.4), X),
    "computed and kept": lambda: Lazy(Gaussian(gamma=0.4), wide),
    "features": lambda: Features(np.linalg.cholesky(K + 1e-12 * np.eye(N))),
}
seeds = st.integers(0, 10**6)


@pytest.mark.parametrize("name", GRAMS)
@settings(deadline=None, max_examples=5)
@given(seeds)
def test_it_is_true_after_any_sequence_of_changes(name, seed):
    """Changes of few and many coefficients, while all or some items are looked at; 64 rows of 90 are kept."""
    random = np.random.default_rng(seed)
    targets, z = random.normal(size=N), np.zeros(N)
    gradient = DualGradient(GRAMS[name](), targets, memory=1)
    watched = np.arange(N)
    for _ in range(12):
        move = random.choice(["few", "many", "narrow", "widen"])
        if move == "narrow" and watched.size > 4:  # again and again: fewer and fewer
            watched = np.sort(random.permutation(watched)[: watched.size // 2])
            gradient.narrow(watched)
        elif move == "widen":
            gradient.widen()
            watched = np.arange(N)
        else:
            changed = random.permutation(N)[: 3 if move == "few" else 80]
            z = z.copy()
            z[changed] += random.normal(size=changed.size)
            assert gradient.update(z, free=random.random(N) < 0.5) == changed.size
        np.testing.assert_allclose(gradient.F[watched], (targets - K @ z)[watched], atol=2e-5)
        assert gradient.narrowed == (watched.size < N)
    gradient.widen()
    np.testing.assert_allclose(gradient.F, targets - K @ z, atol=2e-5)


def test_changes_made_elsewhere_are_not_made_twice():
    gradient, z = DualGradient(Dense(K), np.ones(N), memory=0), np.zeros(N)
    z[3] = 2.0
    gradient.F -= 2 * K[3]
    assert gradient.belongs_to(z) == 1
    assert gradient.update(z, free=np.ones(N, bool)) == 0
    np.testing.assert_allclose(gradient.F, 1 - 2 * K[3])


# -- rows that are kept ---------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=10)
@given(seeds)
def test_sums_of_rows_are_right_whoever_is_kept(seed):
    random = np.random.default_rng(seed)
    cache, F, expected = RowCache(Lazy(Gaussian(gamma=0.4), wide), memory=1), np.zeros(N), np.zeros(N)
    for _ in range(8):
        items = random.permutation(N)[: random.integers(0, N)]
        weights = random.normal(size=items.size)
        cache.subtract(F, items, weights, keep=random.random(items.size) < 0.7)
        expected -= weights @ K[items]
        np.testing.assert_allclose(F, expected, atol=3e-5)
    held = np.flatnonzero(cache.ring.place >= 0)
    assert held.size <= cache.capacity == 64
    np.testing.assert_allclose(cache.ring.rows[cache.ring.place[held]], K[held], atol=1e-6)


def test_a_row_that_is_kept_is_not_computed_again(monkeypatch):
    gram = Lazy(Gaussian(gamma=0.4), wide)
    cache, F, every = RowCache(gram, memory=10**6), np.zeros(N), np.arange(N)
    cache.subtract(F, every, np.ones(N), keep=np.ones(N, bool))
    monkeypatch.setattr(gram, "fill", None)
    monkeypatch.setattr(gram, "matvec", None)
    cache.subtract(F, every, np.ones(N), keep=np.ones(N, bool))
    np.testing.assert_allclose(F, -2 * K.sum(axis=0), rtol=1e-5)
    assert not cache.full


def test_rows_at_hand_are_not_kept():
    for cheap in ("in memory", "computed", "features"):
        assert RowCache(GRAMS[cheap](), memory=10**6).capacity == 0


@settings(deadline=None, max_examples=15)
@given(seeds)
def test_blocks_are_completed_from_kept_rows(seed):
    """The matrix of kept and new items, from its upper left corner."""
    random = np.random.default_rng(seed)
    cache = RowCache(Lazy(Gaussian(gamma=0.4), wide), memory=1)
    some = random.permutation(N)[:50]
    cache.subtract(np.zeros(N), some, np.ones(50), keep=random.random(50) < 0.6)
    items = random.permutation(N)[: random.integers(1, 40)]
    kept, new = np.split(items, [random.integers(0, items.size)])
    kept = kept[cache.arrange(kept)]
    out = np.full((items.size, items.size), np.nan, np.float32)
    out[: kept.size, : kept.size] = K[np.ix_(kept, kept)]
    order = cache.extend(out, kept, new)
    assert sorted(order) == sorted(items)
    np.testing.assert_allclose(out, K[np.ix_(order, order)], atol=1e-6)
