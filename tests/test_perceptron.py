import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import Perceptron, losses, solvers
from mercer.grams import Dense, Features
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.problems import Problem, Status

from . import naive


def separable(seed, n=40, d=3, margin=0.3):
    rng = np.random.RandomState(seed)
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    X = rng.uniform(-2, 2, (n, d))
    y = np.where(X @ u >= 0, 1.0, -1.0)
    return X + margin * y[:, None] * u, y, u


def noisy(seed, n=60, d=3):
    rng = np.random.RandomState(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)


def solve(X, y, gram=Features, **options):
    intercept = options.pop("intercept", False)
    problem = Problem(gram(X), y, losses.PerceptronLoss(), intercept="penalised" if intercept else "none")
    return solvers.MistakeDriven(**{"order": "file", **options}).solve(problem)


@pytest.mark.parametrize("intercept", [False, True])
def test_is_its_definition(intercept):
    X, y = noisy(0)
    K = Gaussian(gamma=0.5)(X)
    z, b, mistakes = naive.perceptron(K.tolist(), y.tolist(), 6, bias=intercept)
    ours = solve(K, y, Dense, epochs=6, intercept=intercept)
    np.testing.assert_array_equal(ours.z, z)
    assert ours.b == b
    assert ours.trace.tolist() == mistakes


@given(seed=st.integers(0, 10_000), margin=st.floats(0.05, 1.0))
@settings(max_examples=30, deadline=None)
def test_mistakes_on_separable_rows_are_bounded(seed, margin):
    X, y, u = separable(seed, margin=margin)
    ours = solve(X, y, epochs=5000)
    # u/min y⟨u,x⟩ separates with margin 1, so M ≤ ‖u‖²·max‖x‖².
    separator = u / (y * (X @ u)).min()
    assert ours.status is Status.CONVERGED
    assert ours.trace.sum() <= separator @ separator * (X**2).sum(axis=1).max()
    assert (y * (X @ (X.T @ ours.z)) > 0).all()


@given(seed=st.integers(0, 10_000), scale=st.floats(0.0, 3.0))
@settings(max_examples=30, deadline=None)
def test_mistakes_on_any_rows_are_bounded_for_every_u(seed, scale):
    X, y = noisy(seed)
    epochs = 5
    ours = solve(X, y, epochs=epochs)
    u = scale * np.random.RandomState(seed).standard_normal(X.shape[1])
    hinge = len(ours.trace) * np.maximum(0, 1 - y * (X @ u)).sum()
    reach = np.linalg.norm(u) * np.sqrt((X**2).sum(axis=1).max())
    assert ours.trace.sum() <= hinge + reach**2 + reach * np.sqrt(hinge) + 1e-9


def test_linear_and_kernel_models_walk_the_same_path():
    X, y = noisy(1)
    linear, kernel = solve(X, y, epochs=20), solve(Linear()(X), y, Dense, epochs=20)
    np.testing.assert_array_equal(linear.z, kernel.z)


def test_average_is_the_mean_of_all_models():
    X, y = noisy(2, n=15)
    models, z = [], np.zeros(15)
    for _ in range(3):
        for t in range(15):
            if y[t] * (X[t] @ (X.T @ z)) <= 0:
                z[t] += y[t]
            models.append(z.copy())
    ours = solve(X, y, epochs=3, variant="averaged")
    np.testing.assert_allclose(ours.z, np.mean(models, axis=0))


def test_voted_is_the_vote_of_all_models():
    X, y = noisy(3, n=20)
    votes, z, b = np.zeros(20), np.zeros(20), 0.0
    for _ in range(4):
        for t in range(20):
            if y[t] * (X[t] @ (X.T @ z) + b) <= 0:
                z[t] += y[t]
                b += y[t]
            votes += np.where(X @ (X.T @ z) + b >= 0, 1, -1)
    for kernel in (None, "linear", "precomputed"):
        rows = X @ X.T if kernel == "precomputed" else X
        ours = Perceptron(kernel, epochs=4, order="file", variant="voted").fit(rows, y)
        np.testing.assert_allclose(ours.decision_function(rows), votes / 80)


def test_checkpoints_are_shorter_runs():
    X, y = noisy(4)
    run = solve(X, y, epochs=30, checkpoints=(5, 30))
    assert [stage.n_iter for stage in run.stages] == [5, 30]
    np.testing.assert_array_equal(run.stages[0].z, solve(X, y, epochs=5).z)
    np.testing.assert_array_equal(run.stages[1].z, run.z)
    X, y, _ = separable(0)
    early = solve(X, y, epochs=500, checkpoints=(400,))
    assert early.status is Status.CONVERGED
    np.testing.assert_array_equal(early.stages[0].z, early.z)


def test_the_learning_rate_matters_only_with_a_random_start():
    X, y = noisy(5)
    np.testing.assert_allclose(solve(X, y, epochs=5, rate=0.1).z * 10, solve(X, y, epochs=5).z)
    a, b = (solve(X, y, epochs=5, rate=rate, initial="random").z for rate in (1e-3, 1.0))
    assert not np.allclose(a * 1e3, b)


def test_estimator_says_that_it_has_not_converged():
    X, y = noisy(6)
    with pytest.warns(match="still made mistakes in epoch 3"):
        model = Perceptron(epochs=3, random_state=0).fit(X, y)
    assert not model.converged_
    assert model.status_ == "not converged"
    assert [len(m) for m in model.mistakes_] == [3]
    X, y, _ = separable(1)
    assert Perceptron(epochs=1000, random_state=0).fit(X, y).converged_


def test_xor_needs_a_kernel():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]]), [0, 1, 1, 0]
    assert Perceptron(random_state=0).fit(X, y).score(X, y) < 1
    assert Perceptron(Polynomial(degree=2), random_state=0).fit(X, y).score(X, y) == 1


def test_partial_fit_over_the_file_is_one_epoch():
    X, y = noisy(7)
    whole = Perceptron(epochs=1, order="file").fit(X, y)
    pieces = Perceptron()
    for part in np.array_split(np.arange(60), 4):
        pieces.partial_fit(X[part], y[part], classes=[-1, 1])
    np.testing.assert_allclose(pieces.coef_, whole.coef_)
    np.testing.assert_allclose(pieces.intercept_, whole.intercept_)
    assert not hasattr(Perceptron("gaussian"), "partial_fit")
