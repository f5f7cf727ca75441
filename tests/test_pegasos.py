import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVC

from mercer import Pegasos, losses, solvers
from mercer.datasets import make_margins
from mercer.grams import Dense, Features
from mercer.kernels import Gaussian, Polynomial
from mercer.problems import Problem, certify
from mercer.solvers.online import _Draws

from . import naive

rng = np.random.RandomState(0)
X = rng.standard_normal((80, 4))
y = np.where(X[:, 0] + 0.5 * rng.standard_normal(80) > 0, 1.0, -1.0)
draws = rng.randint(0, 80, 400)


def solve(loss=None, lam=0.05, gram=None, intercept=False, **options):
    problem = Problem(
        gram or Features(X), y, loss or losses.Hinge(), lam, intercept="penalised" if intercept else "none"
    )
    return solvers.PegasosSteps(**{"steps": 400, "sampling": draws, "average": True, **options}).solve(problem)


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("loss", [losses.Hinge(), losses.Logistic(), losses.SmoothHinge()], ids=lambda loss: loss.name)
def test_is_its_update_rule(loss, average):
    expected = naive.pegasos(X, y, 0.05, draws, loss.slope, average)
    np.testing.assert_allclose(X.T @ solve(loss, average=average).z, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("lam", [0.05, 1e-4])
@pytest.mark.parametrize("batch", [1, 5])
def test_projection_and_batches_are_their_rules(lam, batch):
    batches = draws.reshape(-1, batch)
    expected = naive.projected_pegasos(X, y, lam, batches)
    ours = solve(lam=lam, steps=len(batches), batch=batch, project=True, average=False)
    np.testing.assert_allclose(X.T @ ours.z, expected, rtol=1e-6, atol=1e-8)


def test_the_average_survives_many_projections():
    # With a tiny λ every early step is cut by a large factor, and their product leaves the range of numbers.
    lam, total, w = 1e-6, np.zeros(4), np.zeros(4)
    for t, i in enumerate(draws, start=1):
        violated = y[i] * (X[i] @ w) < 1
        w = (1 - 1 / t) * w + violated * y[i] * X[i] / (lam * t)
        norm = np.linalg.norm(w)
        w = w * min(1.0, 1 / (np.sqrt(lam) * norm)) if norm else w
        total += w
    ours = solve(lam=lam, project=True, average=True)
    np.testing.assert_allclose(X.T @ ours.z, total / len(draws), rtol=1e-5)


def test_the_tail_is_the_average_of_the_later_half():
    whole, half = solve(average=True), solve(average=True, steps=200, sampling=draws[:200])
    np.testing.assert_allclose(solve(average="tail").z, 2 * whole.z - half.z, atol=1e-12)


def test_explicit_map_and_kernel_walk_the_same_path():
    # (1 + ⟨x, z⟩)² − 1 is the dot product of the monomials of degree 1 and 2 with the roots of their multiplicities.
    expansion = PolynomialFeatures(2, include_bias=False).fit(X)
    roots = np.sqrt([2.0 if e.sum() == 1 or (e == 1).sum() == 2 else 1.0 for e in expansion.powers_])
    explicit = expansion.transform(X) * roots
    linear = solve(gram=Features(explicit), steps=400)
    kernel = solve(gram=Dense(Polynomial(degree=2)(X) - 1), steps=400)
    np.testing.assert_allclose(linear.z, kernel.z, rtol=1e-9, atol=1e-12)
    # With the constant in both, the intercept of one is the kernel's 1 in the other.
    np.testing.assert_allclose(
        solve(gram=Features(explicit), intercept=True).z, solve(gram=Dense(Polynomial(degree=2)(X))).z, atol=1e-10
    )


def test_both_kernel_scales():
    K = Gaussian(gamma=0.5)(X)
    alpha = {0: np.zeros(80), 1: np.zeros(80)}
    for lead, counts in alpha.items():
        for t, i in enumerate(draws, start=1):
            length = 0.05 * (t - 1 + lead)
            f = (counts * y) @ K[i] / length if length else 0.0
            counts[i] += y[i] * f < 1
        ours = solve(gram=Dense(K), lead=lead, average=False)
        np.testing.assert_allclose(ours.z * 0.05 * 400, counts * y, rtol=1e-12)
    assert not np.array_equal(alpha[0], alpha[1])


def test_the_misprinted_margin_test_is_wrong():
    """The paper's kernelised figure tests y_{i_t}·Σ α_j y_{i_t} K; with y_{i_t} in the place of y_j it cannot learn."""
    rows, labels = make_margins(1500, random_state=0)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    K = Polynomial(degree=2)(rows)
    steps = np.random.RandomState(1).randint(0, 1000, 3000)

    def learn(misprint):
        alpha = np.zeros(1000)
        for t, i in enumerate(steps, start=1):
            sign = labels[i] if misprint else labels[:1000]
            alpha[i] += labels[i] * ((alpha * sign) @ K[i, :1000]) / (0.1 * t) < 1
        return np.mean(np.sign(K[1000:, :1000] @ (alpha * labels[:1000])) != labels[1000:])

    right, wrong = learn(misprint=False), learn(misprint=True)
    assert right < 0.15
    assert wrong > right + 0.1
    problem = Problem(Dense(K).take(np.arange(1000)), labels[:1000].astype(float), losses.Hinge(), 0.1)
    ours = solvers.PegasosSteps(steps=3000, sampling=steps, average=False, lead=1).solve(problem)
    assert np.mean(np.sign(K[1000:, :1000] @ ours.z) != labels[1000:]) == right


def test_reaches_the_exact_minimiser():
    lam = 0.02
    exact = SVC(kernel="precomputed", C=1 / (lam * 80), tol=1e-8).fit(X @ X.T + 1, y)
    # scikit-learn's intercept is free, ours is a weight: compare through the objective of the same problem.
    problem = Problem(Features(X), y, losses.Hinge(), lam, intercept="penalised")
    z = np.zeros(80)
    z[exact.support_] = exact.dual_coef_[0]
    ours = solvers.PegasosSteps(steps=200_000).solve(problem)
    objective, gap = certify(problem, ours)[:2]
    assert gap <= 0.02 * objective
    with_free = np.mean(np.maximum(0, 1 - y * exact.decision_function(X @ X.T + 1))) + lam / 2 * z @ (X @ X.T + 1) @ z
    assert objective >= with_free - 1e-9  # a free intercept can only do better
    assert objective <= with_free * 1.05 + gap


def test_logistic_reaches_the_exact_minimiser():
    lam = 0.02
    exact = LogisticRegression(C=1 / (lam * 80), tol=1e-10, fit_intercept=False).fit(X, y)
    ours = Pegasos(loss="logistic", lam=lam, steps=300_000, fit_intercept=False, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, exact.coef_, atol=0.02)
    assert ours.converged_
    assert ours.duality_gap_[0] <= 0.01 * ours.objective_[0]


def test_the_gap_bounds_the_distance_to_the_optimum():
    best = Pegasos(lam=0.05, steps=500_000, random_state=0).fit(X, y)
    for steps in (50, 500, 5000):
        short = Pegasos(lam=0.05, steps=steps, random_state=1).fit(X, y)
        assert short.objective_[0] - short.duality_gap_[0] <= best.objective_[0] + 1e-12


def test_checkpoints_are_shorter_runs():
    run = solve(checkpoints=(100, 250), project=True)
    assert [stage.n_iter for stage in run.stages] == [100, 250]
    for stage in run.stages:
        alone = solve(steps=stage.n_iter, sampling=draws[: stage.n_iter], project=True)
        np.testing.assert_allclose(stage.z, alone.z, atol=1e-12)
    model = Pegasos(steps=2000, checkpoints=[100, 2000], random_state=0).fit(X, y)
    staged = list(model.staged_predict(X))
    assert len(staged) == 2
    np.testing.assert_array_equal(staged[1], model.predict(X))
    assert model.trace_[:, 0].tolist() == [100, 2000]
    assert model.trace_[1, 1] == pytest.approx(model.objective_[0])


@pytest.mark.parametrize("sampling", ["once", "epoch"])
def test_permutations_visit_every_row_equally(sampling):
    draws = _Draws(solvers.PegasosSteps(sampling=sampling), 80, None, np.ones(80), np.random.default_rng(0))
    drawn = np.concatenate([draws.take(count) for count in (50, 100, 90)])
    assert (np.bincount(drawn.ravel()) == 3).all()
    same = np.array_equal(drawn[:80], drawn[80:160])
    assert same == (sampling == "once")


def test_says_when_it_saw_only_part_of_the_rows():
    with pytest.warns(ConvergenceWarning, match="looked at only .* of 80 rows in 30 steps"):
        model = Pegasos(steps=30, random_state=0).fit(X, y)
    assert model.rows_seen_ <= 30


def test_partial_fit_goes_on_where_it_stopped():
    model = Pegasos(lam=0.05, fit_intercept=False, random_state=0, average=True)
    seen = []
    for part in np.array_split(np.arange(80), 4):
        model.partial_fit(X[part], y[part], classes=[-1, 1])
        seed = np.random.RandomState(0).randint(2**31 - 1)
        seen.append(part[np.random.default_rng(seed).permutation(len(part))])
    order = np.concatenate(seen)
    np.testing.assert_allclose(model.coef_[0], naive.pegasos(X, y, 0.05, order, losses.Hinge().slope, True), rtol=1e-8)
    model.set_params(average=False).partial_fit(X[:0:-1], y[:0:-1])
    assert model.n_iter_ == 80 + 79


def test_partial_fit_goes_on_after_fit():
    model = Pegasos(steps=5000, lam=0.05, random_state=0).fit(X, y)
    before = model.coef_.copy()
    model.partial_fit(X[:2], y[:2])
    assert model.n_iter_ == 5002
    np.testing.assert_allclose(model.coef_, before, rtol=0.01)


@pytest.mark.parametrize("loss", ["squared", "squared_hinge"])
def test_losses_with_growing_slopes_do_not_diverge(loss):
    model = Pegasos(loss=loss, lam=0.01, steps=50_000, random_state=0).fit(10 * X, y)
    assert np.isfinite(model.coef_).all()
    assert model.score(10 * X, y) > 0.8
    assert np.isfinite(model.duality_gap_).all()


def test_more_classes_share_one_gram(monkeypatch):
    calls = []
    real = Gaussian.matrix
    monkeypatch.setattr(Gaussian, "matrix", lambda self, A, B, out=None: calls.append(1) or real(self, A, B, out))
    labels = np.array(["a", "b", "c"])[np.digitize(X[:, 1], [-0.5, 0.5])]
    model = Pegasos(Gaussian(gamma=0.5), steps=5000, random_state=0).fit(X, labels)
    assert len(calls) == 1
    assert model.decision_function(X).shape == (80, 3)
    assert model.score(X, labels) > 0.9
