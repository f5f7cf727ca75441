"""Pairs of classes that share what they compute: each machine is the one that it would be alone, and so is its gap."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as ScikitSVC

from mercer import SVC, Calibrated, KernelSearchCV, NuSVC, keep_best
from mercer.estimators import Pairs, begin_pairs
from mercer.grams import Dense, Lazy
from mercer.kernels import Gaussian, Polynomial
from mercer.kernels.engine import Pairing, matrix_product, segment_products
from mercer.problems import certify
from mercer.runtime import at_most
from mercer.search import out_of_fold
from mercer.solvers.svm import SmallBlock, solve_block, solve_blocks

rng = np.random.default_rng(0)
rows = rng.normal(size=(1700, 4))
noisy = rows + 0.4 * rng.normal(size=rows.shape)
labels = np.array(["a", "b", "c"])[(noisy[:, 0] > 0.3).astype(int) + (noisy[:, 1] > 0.3)]
labels[:60] = "few"  # pairs with few items and pairs with many
weights = rng.integers(0, 4, len(rows)).astype(float)
GAMMA = 0.5


def gaussian(A, B):
    return np.exp(-GAMMA * ((A[:, None] - B) ** 2).sum(axis=2))


def begun(**parameters):
    machine = SVC(Gaussian(gamma=GAMMA), C=5, **parameters)
    data = machine._training(rows, labels, None)
    machines = machine._machines(data)
    solver = machine._solver(data.run, len(machines))
    begin_pairs(machines, data, solver, data.exact_gram())
    return machines, solver


def test_pairs_with_many_items_begin_with_exact_scores_of_a_solution():
    machines, solver = begun()
    many = [machine for machine in machines if machine.begun is not None]
    assert 2 <= len(many) < len(machines)
    for machine in many:
        own = rows[machine.rows]
        scores = gaussian(own, own) @ machine.begun.z
        np.testing.assert_allclose(machine.begun.scores, scores, rtol=0, atol=1e-10)
        problem = machine.problem.on(Lazy(Gaussian(gamma=GAMMA), own))
        certificate = certify(problem, machine.begun, scores)
        assert certificate.violation <= solver.tol
        assert certificate.gap <= 1e-3 * certificate.objective


@pytest.mark.parametrize("limits", [{"max_iter": 20}, {"time_limit": 60.0}, {"memory": "4MB"}])
def test_limits_are_those_of_each_machine(limits):
    assert all(machine.begun is None for machine in begun(**limits)[0])


def test_ctrl_c_leaves_the_pairs_that_are_solved(monkeypatch):
    solved = []

    def interrupted(*arguments):
        if solved:
            raise KeyboardInterrupt
        solved.append(solve_block(*arguments))
        return solved[-1]

    monkeypatch.setattr("mercer.estimators.pairs.solve_block", interrupted)
    machine = SVC(Gaussian(gamma=GAMMA), C=5)
    with at_most(1), keep_best(), pytest.warns(ConvergenceWarning, match="not reached"):
        machine.fit(rows, labels)
    assert machine.status_ == "interrupted"
    assert sum(gap < 1e-3 for gap in machine.duality_gap_) >= 1
    with at_most(1), pytest.raises(KeyboardInterrupt):
        machine.fit(rows, labels)


@pytest.mark.parametrize("sample_weight", [None, weights])
@pytest.mark.parametrize("costs", [None, {("a", "b"): 5.0}])
def test_all_pairs_are_those_of_machines_alone(sample_weight, costs):
    machine = SVC(Gaussian(gamma=GAMMA), C=5, tol=1e-5, costs=costs).fit(rows, labels, sample_weight)
    assert machine.converged_
    assert machine.kkt_violation_.max() <= 1e-5
    scores = machine.pair_scores(rows)
    classes = machine.classes_
    pairs = [(i, j) for i in range(len(classes)) for j in range(i + 1, len(classes))]
    for column, (first, second) in enumerate(pairs):
        own = np.isin(labels, classes[[first, second]])
        weight = np.ones(own.sum()) if sample_weight is None else sample_weight[own]
        if costs and {classes[first], classes[second]} == {"a", "b"}:
            weight = weight * np.where(labels[own] == "a", 5.0, 1.0)
        peer = ScikitSVC(C=5, gamma=GAMMA, tol=1e-6).fit(rows[own], labels[own], weight)
        np.testing.assert_allclose(scores[:, column], peer.decision_function(rows), atol=1e-3)


def test_models_do_not_depend_on_the_number_of_threads():
    alone = SVC(Gaussian(gamma=GAMMA), C=5)
    with at_most(1):
        alone.fit(rows, labels)
    together = SVC(Gaussian(gamma=GAMMA), C=5).fit(rows, labels)
    np.testing.assert_array_equal(alone.dual_coef_, together.dual_coef_)
    np.testing.assert_array_equal(alone.intercept_, together.intercept_)
    np.testing.assert_array_equal(alone.duality_gap_, together.duality_gap_)


def test_a_second_fit_begins_where_the_first_ended():
    machine = SVC(Gaussian(gamma=GAMMA), C=5, warm_start=True).fit(rows, labels)
    steps = machine.n_iter_.sum()
    assert machine.fit(rows, labels).n_iter_.sum() < 0.5 * steps


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_a_block_is_solved_to_its_gap(C):
    own, y = rows[:400], np.where(noisy[:400, 0] > 0, 1.0, -1.0)
    K = gaussian(own, own)
    bound = C * rng.uniform(0.5, 2, y.size)
    found = solve_block(K.astype(np.float32), y, bound, np.zeros(y.size), 1e-3, 1e-5)
    assert str(found.status) == "converged"
    assert (found.z * y >= 0).all()
    assert (np.abs(found.z) <= bound).all()
    assert abs(found.z.sum()) < 1e-9
    scores = K @ found.z
    paid = bound @ np.maximum(0.0, 1.0 - y * (scores + found.b))
    primal, dual = 0.5 * found.z @ scores + paid, found.z @ y - 0.5 * found.z @ scores
    assert primal - dual <= 1e-4 * primal


@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.3), Polynomial(degree=2)])
def test_segments_are_summed_apart(kernel):
    left, right, edges = rows[:700], rows[700:1400], np.array([0, 3, 3, 520, 700])
    z = rng.normal(size=700)
    found = segment_products(Pairing(kernel, left, right), z, edges)
    K = kernel(left, right)
    for column, begin, end in zip(found.T, edges, edges[1:], strict=False):
        np.testing.assert_allclose(column, K[:, begin:end] @ z[begin:end], rtol=0, atol=1e-10 * np.abs(K).max())
    assert segment_products(Pairing(kernel, left, right[:0]), z[:0], np.array([0, 0])).shape == (700, 1)


def test_products_with_columns_that_are_mostly_zeros():
    kernel, V = Gaussian(gamma=GAMMA), np.zeros((1200, 30))
    for place in range(30):
        V[40 * place : 40 * place + 40, place] = rng.normal(size=40)
    found = matrix_product(Pairing(kernel, rows[:500], rows[500:]), None, V)
    np.testing.assert_allclose(found, gaussian(rows[:500], rows[500:]) @ V, rtol=0, atol=1e-11)


# -- many classes with few rows each, whose machines are solved together --------------------------------------------

digits, names = load_digits(return_X_y=True)
digits, names = digits[:400] / 16, np.array([f"digit {k}" for k in names[:400]])
digit_weights = np.random.default_rng(0).integers(0, 4, 400).astype(float)
folds = list(StratifiedKFold(3).split(digits, names))


@pytest.mark.parametrize("C", [0.05, 10.0])
@pytest.mark.parametrize("begun", [False, True])
def test_blocks_are_solved_as_scikit_learn_does(C, begun):
    rng = np.random.default_rng(1)
    K = np.exp(-0.5 * ((digits[:, None] - digits) ** 2).sum(axis=2)).astype(np.float32)
    blocks, peers = [], []
    for first, second in combinations(np.unique(names)[:4], 2):
        places = rng.permutation(np.flatnonzero((names == first) | (names == second)))
        y, bound = np.where(names[places] == second, 1.0, -1.0), C * rng.uniform(0.5, 2, places.size)
        part = K[np.ix_(places, places)].astype(np.float64)
        peer = ScikitSVC(C=1.0, kernel="precomputed", tol=1e-6).fit(part, y, bound)
        peers.append(peer.decision_function(part))
        z = np.zeros(places.size)
        if begun:
            z[np.argmax(y)] = 0.5 * bound.min()
            z[np.argmin(y)] = -0.5 * bound.min()
        blocks.append(SmallBlock(places, y, bound, z))
    for block, found, scores in zip(blocks, solve_blocks(K, blocks, 1e-4), peers, strict=True):
        assert str(found.status) == "converged"
        assert (found.z * block.y >= 0).all()
        assert (np.abs(found.z) <= block.bound).all()
        assert abs(found.z.sum()) < 1e-9
        np.testing.assert_allclose(found.scores + found.b, scores, atol=1e-3)


@pytest.mark.parametrize("sample_weight", [None, digit_weights])
@pytest.mark.parametrize("costs", [None, {("digit 3", "digit 8"): 5.0}])
def test_scores_of_unseen_rows_are_those_of_plain_fits(sample_weight, costs):
    machine = SVC("gaussian(gamma=0.5)", C=5, tol=1e-6, costs=costs)
    found = out_of_fold(machine, digits, names, folds, sample_weight)
    for train, test in folds:
        own = None if sample_weight is None else sample_weight[train]
        plain = SVC(**machine.get_params()).fit(digits[train], names[train], own)
        np.testing.assert_allclose(found.scores[test], plain.pair_scores(digits[test]), atol=1e-4)


@pytest.mark.thorough
def test_a_search_over_many_classes_finds_what_plain_fits_find():
    grid = {"C": [0.1, 1, 10], "kernel__gamma": [0.05, 0.5]}
    shared = KernelSearchCV(SVC("gaussian"), grid, cv=folds).fit(digits, names).cv_results_
    plain = GridSearchCV(SVC("gaussian"), grid, cv=folds).fit(digits, names).cv_results_
    assert shared["params"] == plain["params"]
    np.testing.assert_allclose(shared["mean_test_score"], plain["mean_test_score"], atol=1.01 / len(names))


def _prepared(**parameters):
    machine = SVC("gaussian(gamma=0.5)", **parameters)
    data = machine._training(digits, names, None)
    K = np.exp(-0.5 * ((digits[:, None] - digits) ** 2).sum(axis=2)).astype(np.float32)
    data = replace(data, gram=Dense(K))
    return machine._machines(data), data, machine._solver(data.run, 45)


@pytest.mark.parametrize("limits", [{"max_iter": 20}, {"time_limit": 60.0}, {"C": np.inf}])
def test_machines_with_limits_are_left_to_others(limits):
    assert Pairs.refuses(*_prepared(**limits))
    assert not Pairs.refuses(*_prepared())


def test_single_precision_that_cannot_be_trusted_is_noticed():
    machines, data, solver = _prepared()
    assert Pairs(data, data.exact_gram(), np.random.default_rng(0)).solve(machines, solver) == []
    wrong = replace(data, gram=Dense(data.gram.K * np.float32(1.1)))
    assert Pairs(wrong, data.exact_gram(), np.random.default_rng(0)).solve(machines, solver) == machines


def _counted(monkeypatch):
    calls, solve = [], Pairs.solve

    def counted(pairs, machines, solver):
        calls.append(len(machines))
        return solve(pairs, machines, solver)

    monkeypatch.setattr(Pairs, "solve", counted)
    return calls


@pytest.mark.parametrize("scaled", [False, True])
def test_pairs_are_solved_together_inside_pipelines_too(scaled, monkeypatch):
    calls = _counted(monkeypatch)
    machine = SVC("gaussian(gamma=0.02)")
    Calibrated(make_pipeline(StandardScaler(), machine) if scaled else machine, cv=3).fit(digits, names)
    assert calls == [45] * 3


def test_nu_machines_are_calibrated_by_pairs():
    model = Calibrated(NuSVC("gaussian(gamma=0.5)", nu=0.1), cv=3).fit(digits, names)
    assert model.pairs_
    assert len(model.maps_) == 45
    assert (model.predict(digits) == names).mean() > 0.98
    two = names <= "digit 1"
    model = Calibrated(NuSVC("gaussian(gamma=0.5)", nu=0.1), cv=3).fit(digits[two], names[two])
    assert (model.predict(digits[two]) == names[two]).all()


def test_classes_in_any_order_and_few_rows(monkeypatch):
    monkeypatch.setattr("mercer.estimators.pairs._AT_ONCE", 2)
    order = np.random.default_rng(2).permutation(120)
    X, y = digits[order], names[order]
    machine = SVC("gaussian(gamma=0.5)", tol=1e-6)
    found = out_of_fold(machine, X, y, StratifiedKFold(2).split(X, y)).decisions
    again = out_of_fold(machine, X, y, StratifiedKFold(2).split(X, y)).decisions
    np.testing.assert_array_equal(found, again)
    assert (np.unique(y)[found.argmax(axis=1)] == y).mean() > 0.8
