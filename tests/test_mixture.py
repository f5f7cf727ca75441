"""Mixtures of kernels: weights against independent oracles, and everything that a kernel and a machine are used for."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, optimize, sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as TheirSVC

import mercer
from mercer import SVC, KernelClassifier, KernelRegressor, KernelSearchCV, Pegasos, Perceptron
from mercer.explain import explain, kernel_shares
from mercer.kernels import (
    Equal,
    Function,
    Gaussian,
    Linear,
    Mixture,
    Polynomial,
    Precomputed,
    ShortestPath,
    Spectrum,
    WeightedDegree,
    WeisfeilerLehman,
    as_kernel,
)

from .cases import GRAPHS

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4))
SCORE = X[:, 0] + np.sin(3 * X[:, 1])
Y = np.where(SCORE + 0.3 * rng.normal(size=120) > 0, "yes", "no")
NUMBERS = SCORE + 0.1 * rng.normal(size=120)
SIGNS = np.where(Y == "yes", 1.0, -1.0)
CLASSES = np.digitize(SCORE, [-0.7, 0.7])
PAIR = [Gaussian(gamma=2.0).on(0), Gaussian(gamma=0.5).on(1)]
FEW = [Gaussian(gamma=1.0).on(column) for column in range(4)]


def relative_gap(model):
    return float(np.max(model.duality_gap_ / model.objective_))


# -- oracles ------------------------------------------------------------------------------------------------------


def matrices(kernels, items):
    """Kernel matrices of unit variance, from the definition."""
    out = []
    for kernel in kernels:
        K = kernel(items)
        out.append(K / (np.trace(K) / len(K) - K.mean()))
    return out


def least_hinge(K, lam):
    C = 1 / (lam * len(K))
    model = TheirSVC(kernel="precomputed", C=C, tol=1e-8).fit(K, SIGNS)
    z = np.zeros(len(K))
    z[model.support_] = model.dual_coef_[0]
    f = K @ z + model.intercept_[0]
    return lam / 2 * z @ K @ z + np.mean(np.maximum(0, 1 - SIGNS * f))


def least_logistic(K, lam):
    Phi = np.linalg.cholesky(K + 1e-10 * np.eye(len(K)))
    model = LogisticRegression(C=1 / (lam * len(K)), tol=1e-10, max_iter=1000, solver="newton-cholesky")
    model.fit(Phi, SIGNS)
    f = model.decision_function(Phi)
    return lam / 2 * np.sum(model.coef_**2) + np.mean(np.logaddexp(0, -SIGNS * f))


def least_squared(K, lam):
    n = len(K)
    system = np.block([[K + lam * n * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solved = linalg.solve(system, np.append(NUMBERS, 0.0))
    z, b = solved[:n], solved[n]
    return lam / 2 * z @ K @ z + np.mean((NUMBERS - K @ z - b) ** 2) / 2


ORACLES = {
    "hinge": (least_hinge, lambda kernel, lam: SVC(kernel, C=1 / (lam * len(X))).fit(X, Y)),
    "logistic": (least_logistic, lambda kernel, lam: KernelClassifier(kernel, lam=lam).fit(X, Y)),
    "squared": (least_squared, lambda kernel, lam: KernelRegressor(kernel, lam=lam).fit(X, NUMBERS)),
}


@pytest.mark.parametrize("loss", ORACLES)
@pytest.mark.parametrize("p", [1, 1.5, 3])
def test_weights_of_two_kernels_are_the_best_on_a_line(loss, p):
    least, fit = ORACLES[loss]
    one, other = matrices(PAIR, X)
    lam = 0.02

    def at(share):  # |β|ₚ = 1
        return least(share * one + (1 - share**p) ** (1 / p) * other, lam)

    best = optimize.minimize_scalar(at, bounds=(1e-6, 1 - 1e-6), method="bounded", options={"xatol": 1e-7})
    model = fit(Mixture(PAIR, p=p), lam)
    assert float(np.max(model.objective_)) == pytest.approx(best.fun, rel=1e-4)
    assert float(np.max(model.objective_)) - best.fun <= float(np.max(model.duality_gap_)) + 1e-7 * best.fun
    assert relative_gap(model) <= 1e-4
    assert model.kernel_.weights_[0] == pytest.approx(best.x, abs=0.02)
    assert np.linalg.norm(model.kernel_.weights_, p) == pytest.approx(1)


@pytest.mark.parametrize("p", [1, 2])
def test_weights_of_four_kernels_against_a_general_solver(p):
    stack = np.array(matrices(FEW, X))

    def objective(weights):
        return least_squared(np.tensordot(weights, stack, axes=1), 0.02)

    ball = {"type": "ineq", "fun": lambda weights: 1 - np.sum(np.abs(weights) ** p)}
    start = np.full(4, 4 ** (-1 / p))
    found = optimize.minimize(objective, start, bounds=[(0, 1)] * 4, constraints=[ball], method="SLSQP", tol=1e-10)
    model = KernelRegressor(Mixture(FEW, p=p), lam=0.02).fit(X, NUMBERS)
    assert model.objective_ == pytest.approx(found.fun, rel=1e-4)
    assert model.duality_gap_ <= 1e-4 * model.objective_


def test_the_sparse_mixture_is_a_norm_of_groups():
    """min over β of Σ ‖wₘ‖²/βₘ is (Σ ‖wₘ‖)²: linear kernels on columns are the lasso, squared."""
    columns = X - X.mean(axis=0)
    columns = columns / np.sqrt((columns**2).mean(axis=0))
    y = NUMBERS - NUMBERS.mean()

    def objective(pairs):  # w = positive − negative part
        w = pairs[:4] - pairs[4:]
        return 0.5 * 0.1 * pairs.sum() ** 2 + np.mean((y - columns @ w) ** 2) / 2

    found = optimize.minimize(objective, np.full(8, 0.1), bounds=[(0, None)] * 8, tol=1e-14, options={"maxiter": 5000})
    kernel = Mixture([Linear().on(k) for k in range(4)])
    model = KernelRegressor(kernel, lam=0.1).fit(columns, y)
    assert model.objective_ == pytest.approx(found.fun, rel=1e-4)
    w = found.x[:4] - found.x[4:]
    np.testing.assert_allclose(model.kernel_.weights_, np.abs(w) / np.abs(w).sum(), atol=0.02)


MACHINES = {
    "SVC": (SVC(), Y),
    "pairs of classes": (SVC(), CLASSES),
    "class against the rest": (SVC(strategy="ovr"), CLASSES),
    "logistic": (KernelClassifier(lam=0.01), Y),
    "softmax": (KernelClassifier(lam=0.01), CLASSES),
    "squared hinge": (KernelClassifier(loss="squared_hinge", lam=0.01), CLASSES),
    "smooth hinge": (KernelClassifier(loss="smooth_hinge", lam=0.01), Y),
    "squared": (KernelRegressor(lam=0.01), NUMBERS),
    "Huber": (KernelRegressor(loss="huber", lam=0.01), NUMBERS),
    "tube": (KernelRegressor(loss="epsilon_insensitive", lam=0.01), NUMBERS),
    "no intercept": (KernelRegressor(lam=0.01, fit_intercept=False), NUMBERS),
}


@pytest.mark.parametrize("p", [1, 1.2, 2])
@pytest.mark.parametrize("name", MACHINES)
def test_every_machine_is_certified_and_beats_all_alike(name, p):
    machine, y = MACHINES[name]
    model = clone(machine).set_params(kernel=Mixture(FEW, p=p)).fit(X, y)
    assert model.converged_
    assert relative_gap(model) <= 1e-4
    # Given weights are not learned, and are no better: not all the same, not those of one kernel.
    for weights in (np.full(4, 4 ** (-1 / p)), np.eye(4)[0], np.eye(4)[1]):
        given = clone(machine).set_params(kernel=Mixture(FEW, p=p, weights=weights.tolist())).fit(X, y)
        np.testing.assert_array_equal(given.kernel_.weights_, weights)
        shares = np.ones(np.size(given.objective_))
        if name == "pairs of classes":
            shares = np.array([np.isin(CLASSES, pair).sum() for pair in ((0, 1), (0, 2), (1, 2))])
        assert float(np.max(model.objective_)) <= np.average(np.atleast_1d(given.objective_), weights=shares) * 1.0001
    learned = model.kernel_.weights_
    assert learned[:2].min() > learned[2:].max()
    if p == 1:
        assert learned[2:].max() < 0.1


# -- weights and scales -------------------------------------------------------------------------------------------


def test_units_of_kernels_do_not_matter():
    plain = SVC(Mixture(PAIR)).fit(X, Y)
    scaled = SVC(Mixture([1000 * PAIR[0], 0.01 * PAIR[1]])).fit(X, Y)
    np.testing.assert_allclose(scaled.kernel_.weights_, plain.kernel_.weights_, atol=0.01)
    np.testing.assert_allclose(scaled.kernel_.scales_, plain.kernel_.scales_ * [1000, 0.01])
    np.testing.assert_allclose(scaled.decision_function(X), plain.decision_function(X), atol=0.02)


def test_scales_are_variances_of_features():
    K = Mixture([Linear()], weights=[1.0])(X)
    assert np.trace(K) / len(K) - K.mean() == pytest.approx(1)
    assert Mixture([Linear()]).resolved(X).scales_[0] == pytest.approx(X.var(axis=0).sum())
    weight = rng.integers(0, 3, len(X))
    repeated = np.repeat(X, weight, axis=0)
    kernel = Mixture([Linear(), Gaussian(gamma=1.0)])
    np.testing.assert_allclose(kernel.resolved(X, weight).scales_, kernel.resolved(repeated).scales_)


def test_without_a_machine_all_weights_are_the_same():
    np.testing.assert_allclose(Mixture(FEW).weights_, 0.25)
    np.testing.assert_allclose(Mixture(FEW, p=2).weights_, 0.5)
    np.testing.assert_allclose(Mixture(PAIR)(X), sum(matrices(PAIR, X)) / 2)
    with pytest.raises(AttributeError, match=r"not known yet; call \.resolved"):
        Mixture(FEW).scales_  # noqa: B018
    with pytest.raises(ValueError, match="takes a parameter from the data"):
        Mixture(FEW)(X, X[:5])


def test_a_kernel_alone_is_that_kernel():
    mixed = SVC(Mixture([Gaussian(gamma=1.0)])).fit(X, Y)
    assert mixed.kernel_.weights_.tolist() == [1.0]
    alone = SVC((1 / mixed.kernel_.scales_[0]) * Gaussian(gamma=1.0)).fit(X, Y)
    np.testing.assert_allclose(mixed.decision_function(X), alone.decision_function(X), atol=1e-6)
    assert mixed.objective_[0] == pytest.approx(alone.objective_[0])


def test_the_same_kernel_twice_is_that_kernel():
    once, twice = (KernelRegressor(Mixture([Gaussian(gamma=1.0)] * times)).fit(X, NUMBERS) for times in (1, 2))
    assert once.objective_ == pytest.approx(twice.objective_, rel=1e-4)
    np.testing.assert_allclose(once.predict(X), twice.predict(X), atol=1e-3)


@pytest.mark.parametrize("p", [1, 2])
def test_a_kernel_that_sees_no_difference_has_no_weight(p):
    table = np.column_stack([X, np.full(len(X), 7.0)])
    kernel = Mixture([Gaussian().on(4), Gaussian().on(0), Linear().on(4), Linear().on(1)], p=p)
    model = SVC(kernel).fit(table, Y)
    assert model.kernel_.weights_[[0, 2]].tolist() == [0, 0]
    assert model.kernel_.scales_[[0, 2]].tolist() == [0, 0]
    assert relative_gap(model) <= 1e-4
    with pytest.warns(UserWarning, match="nothing can be learned"):
        none = SVC(Mixture([Gaussian().on(4), Linear().on(4)])).fit(table, Y)
    assert len(set(none.predict(table))) == 1


def test_a_large_p_makes_all_weights_the_same():
    weights = SVC(Mixture(FEW, p=1000)).fit(X, Y).kernel_.weights_
    np.testing.assert_allclose(weights, 1, atol=0.01)


@pytest.mark.parametrize("p", [1, 2])
def test_thirty_kernels(p):
    kernels = [Gaussian(gamma=float(gamma)) for gamma in np.logspace(-3, 3, 30)]
    for machine, y in ((SVC(), Y), (KernelClassifier(), Y), (KernelRegressor(), NUMBERS)):
        model = machine.set_params(kernel=Mixture(kernels, p=p)).fit(X, y)
        assert model.converged_
        assert relative_gap(model) <= 1e-4
        assert (np.count_nonzero(model.kernel_.weights_) < 10) == (p == 1)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("n", [4, 20])
def test_few_rows(n, p):
    y = np.where(np.arange(n) % 2, "a", "b")
    model = SVC(Mixture([Gaussian(), Linear(), Polynomial(degree=3)], p=p)).fit(X[:n], y)
    assert relative_gap(model) <= 1e-4


@pytest.mark.parametrize("C", [1e-4, 1e4])
@pytest.mark.parametrize("p", [1, 2])
def test_soft_and_hard_machines(C, p):
    assert relative_gap(SVC(Mixture(FEW, p=p), C=C).fit(X, Y)) <= 1e-4


def test_a_constant_target():
    model = KernelRegressor(Mixture(FEW)).fit(X, np.full(len(X), 3.0))
    np.testing.assert_allclose(model.predict(X), 3)


def test_weights_of_items_are_repeated_items():
    weight = rng.integers(0, 3, len(X)).astype(float)
    every = np.repeat(np.arange(len(X)), weight.astype(int))
    for machine, y in ((SVC(), Y), (KernelRegressor(), NUMBERS)):
        weighted = clone(machine).set_params(kernel=Mixture(FEW)).fit(X, y, sample_weight=weight)
        repeated = clone(machine).set_params(kernel=Mixture(FEW)).fit(X[every], y[every])
        np.testing.assert_allclose(weighted.kernel_.weights_, repeated.kernel_.weights_, atol=0.02)
        assert np.max(weighted.objective_) == pytest.approx(np.max(repeated.objective_), rel=1e-4)


@pytest.mark.parametrize("machine", [SVC(), KernelClassifier()], ids=["SVC", "logistic"])
@pytest.mark.parametrize("memory", ["500KB", "250KB", "30KB"])
def test_less_memory_changes_nothing(machine, memory):
    large = clone(machine).set_params(kernel=Mixture(FEW)).fit(X, Y)
    small = clone(machine).set_params(kernel=Mixture(FEW), memory=memory).fit(X, Y)
    np.testing.assert_allclose(small.kernel_.weights_, large.kernel_.weights_, atol=0.02)
    assert small.objective_[0] == pytest.approx(large.objective_[0], rel=1e-4)
    assert relative_gap(small) <= 1e-4


def test_the_same_state_gives_the_same_weights():
    one, other = (SVC(Mixture(FEW), random_state=3).fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(one.kernel_.weights_, other.kernel_.weights_)
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


# -- predictions --------------------------------------------------------------------------------------------------


def test_a_kernel_without_weight_costs_nothing_in_predictions():
    calls = []

    def noise(A, B):
        calls.append(len(A))
        return np.exp(-((A[:, 3][:, None] - B[:, 3]) ** 2))

    kernel = Mixture([Gaussian(gamma=1.0), Function(noise)], weights=[1.0, 0.0], scales=[1.0, 1.0])
    model = SVC(kernel).fit(X, Y)
    calls.clear()
    np.testing.assert_allclose(model.decision_function(X), SVC(Gaussian(gamma=1.0)).fit(X, Y).decision_function(X))
    assert calls == []


def test_predictions_are_those_of_the_sum():
    model = SVC(Mixture(PAIR, p=2)).fit(X, Y)
    factors = model.kernel_.weights_ / model.kernel_.scales_
    total = float(factors[0]) * PAIR[0] + float(factors[1]) * PAIR[1]
    scores = total(X, X[model.support_]) @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), scores)
    plain = SVC(total, tol=1e-6).fit(X, Y)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), atol=5e-3)


WORDS = ["".join(rng.choice(list("ACGT"), 12)) for _ in range(60)]
PEOPLE = pd.DataFrame(
    {
        "age": rng.integers(20, 70, 90),
        "job": rng.choice(["cook", "smith", "priest"], 90),
        "name": ["".join(rng.choice(list("abcd"), 5)) for _ in range(90)],
    }
)
STRUCTURED = {
    "strings": (Mixture([Spectrum(p=2), Spectrum(p=3), WeightedDegree(k=3)]), WORDS, ["GA" in w for w in WORDS]),
    "graphs": (Mixture([WeisfeilerLehman(h=2), ShortestPath()], p=2), GRAPHS * 3, [0, 1, 0, 1, 0, 1, 0] * 3),
    "table": (
        Mixture([Gaussian().on("age"), Equal().on("job"), Spectrum(p=2).on("name")]),
        PEOPLE,
        np.where((PEOPLE.age > 45) | (PEOPLE.job == "cook"), "old", "young"),
    ),
    "rows": (Mixture([Gaussian(), Linear()]), X, Y),
}


@pytest.mark.parametrize("name", STRUCTURED)
def test_models_are_kept(name, tmp_path):
    kernel, items, y = STRUCTURED[name]
    model = SVC(kernel, C=10).fit(items, y)
    assert relative_gap(model) <= 1e-4
    scores = model.decision_function(items)
    mercer.save(model, tmp_path / "model.safetensors")
    loaded = mercer.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(loaded.decision_function(items), scores)
    assert loaded.kernel_ == model.kernel_
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(items), scores)
    one = explain(model, items[:1] if name in ("table", "rows") else items[0])
    assert abs(one.score) == pytest.approx(abs(scores[0]))


def test_a_mixture_finds_the_columns_that_matter():
    kernel, items, y = STRUCTURED["table"]
    weights = SVC(kernel, C=0.3).fit(items, y).kernel_.weights_
    assert weights[:2].min() > 0.2
    assert weights[2] < 0.05


def test_sparse_rows_and_single_precision():
    kernel = Mixture([Gaussian(gamma=0.5), Linear()], p=2)
    dense = SVC(kernel).fit(X, Y)
    for rows in (sparse.csr_array(X), X.astype(np.float32)):
        other = SVC(kernel).fit(rows, Y)
        np.testing.assert_allclose(other.kernel_.weights_, dense.kernel_.weights_, atol=0.01)


@pytest.mark.parametrize("y", [Y, CLASSES], ids=["two classes", "three"])
def test_shares_of_kernels(y):
    """At the best weights a kernel's share of ‖w‖² is its weight for p = 1, and βᵖ for p > 1."""
    for p in (1, 2):
        model = SVC(Mixture(FEW, p=p), strategy="ovr", tol=1e-5).fit(X, y)
        found = {str(each.kernel): each for each in kernel_shares(model).kernels}
        for kernel, weight in zip(model.kernel_.kernels, model.kernel_.weights_, strict=True):
            assert found[str(kernel)].weight == weight
            assert found[str(kernel)].share == pytest.approx(weight**p, abs=0.02)
    assert "share" in str(kernel_shares(model))
    assert "<table" in kernel_shares(model)._repr_html_()
    with pytest.raises(ValueError, match="this one has gaussian"):
        kernel_shares(SVC(Gaussian(gamma=1.0)).fit(X, y))


# -- searches and texts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("machine", "grid", "y"),
    [
        (SVC(Mixture([Gaussian(), Linear()])), {"C": [0.1, 1, 10], "kernel__p": [1, 2]}, Y),
        (SVC(Mixture([Gaussian(), Linear()])), {"C": [1, 10]}, CLASSES),
        (KernelClassifier(Mixture([Gaussian(), Linear()])), {"lam": [0.1, 1e-3], "kernel__0__gamma": [0.1, 1.0]}, Y),
        (KernelRegressor(Mixture([Gaussian(), Linear()])), {"lam": [0.1, 1e-3]}, NUMBERS),
    ],
    ids=["SVC", "pairs", "logistic", "squared"],
)
def test_a_search_finds_what_plain_fits_do(machine, grid, y):
    ours, theirs = (search(machine, grid, cv=3).fit(X, y) for search in (KernelSearchCV, GridSearchCV))
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-4)
    assert ours.best_params_ == theirs.best_params_
    assert relative_gap(ours.best_estimator_) <= 1e-4


def test_in_a_pipeline():
    model = make_pipeline(StandardScaler(), SVC("mixture(gaussian, linear, p=2)")).fit(X, Y)
    assert model.score(X, Y) > 0.8


@pytest.mark.parametrize(
    "kernel",
    [
        Mixture([Gaussian(gamma=1), Linear()], p=2),
        Mixture([Gaussian().on("age"), Spectrum(p=3).on("name")]),
        Mixture([Gaussian(gamma=0.5) + Linear(), 2 * Linear()], p=1.5, weights=[0.1, 0.9], scales=[1.0, 0.3]),
    ],
    ids=str,
)
def test_texts(kernel):
    assert as_kernel(str(kernel)) == kernel
    assert clone(kernel) == kernel


def test_parameters_of_the_kernels_go_by_position():
    kernel = Mixture([Gaussian(gamma=1.0), Linear()])
    assert kernel.get_params()["0__gamma"] == 1.0
    changed = clone(kernel).set_params(**{"0__gamma": 2.0})
    assert (changed.kernels[0], kernel.kernels[0]) == (Gaussian(gamma=2.0), Gaussian(gamma=1.0))
    assert clone(kernel).set_params(**{"1": Polynomial()}).kernels == [Gaussian(gamma=1.0), Polynomial()]


def test_notebooks_show_the_weights():
    shown = Mixture([Linear(), Gaussian(gamma=1.0)], weights=[0.25, 0.75])._repr_html_()
    assert '<th scope="row">gaussian(gamma=1.0)</th><td>0.75</td>' in shown


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Mixture([]), "must be a list of kernels"),
        (Mixture(Linear()), "must be a list of kernels"),
        (Mixture(["linear"]), "'linear' is not a kernel; give kernels, or the whole as text"),
        (Mixture([Linear()], p=0.5), "p must be a number of at least 1"),
        (Mixture([Linear(), Mixture([Gaussian()])]), "only as the whole kernel of a machine"),
        (2 * Mixture([Linear()]), "only as the whole kernel of a machine"),
        (Mixture([Linear(), Precomputed()]), "precomputed matrix cannot be part"),
        (Mixture([Linear()], weights=[1.0, 2.0]), "weights must be 1 numbers of at least 0"),
        (Mixture([Linear()], scales=[-1.0]), "scales must be 1 numbers of at least 0"),
    ],
)
def test_what_is_no_mixture(kernel, message):
    with pytest.raises(ValueError, match=message):
        SVC(kernel).fit(X, Y)


@pytest.mark.parametrize("machine", [Perceptron(), Pegasos()], ids=["Perceptron", "Pegasos"])
def test_machines_that_learn_no_weights_say_so(machine):
    with pytest.raises(ValueError, match="does not learn the weights of mixture"):
        machine.set_params(kernel=Mixture(FEW)).fit(X, Y)
    machine.set_params(kernel=Mixture([Linear(), Gaussian()], weights=[0.5, 0.5])).fit(X, Y)


def test_a_hard_margin_learns_no_weights():
    with pytest.raises(ValueError, match="with a finite C"):
        SVC(Mixture(FEW), C=np.inf).fit(X, Y)


def test_a_time_limit_leaves_a_model():
    with pytest.warns(ConvergenceWarning, match="SVC stopped before"):
        model = SVC(Mixture(FEW), time_limit=1e-6).fit(X, Y)
    assert not model.converged_
    with pytest.warns(ConvergenceWarning, match="KernelRegressor stopped after"):
        assert not KernelRegressor(Mixture(FEW), time_limit=1e-6).fit(X, NUMBERS).converged_
