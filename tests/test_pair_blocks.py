"""Pairs of classes that share what they compute: each machine is the one that it would be alone, and so is its gap."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC as ScikitSVC

from mercer import SVC, keep_best
from mercer.estimators import begin_pairs
from mercer.estimators import pairs as pair_blocks
from mercer.grams import Lazy
from mercer.kernels import Gaussian, Polynomial
from mercer.kernels.engine import Pairing, matrix_product, segment_products
from mercer.problems import certify
from mercer.runtime import at_most
from mercer.solvers.svm import solve_block

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
    solve, solved = pair_blocks.solve_block, []

    def interrupted(*arguments):
        if solved:
            raise KeyboardInterrupt
        solved.append(solve(*arguments))
        return solved[-1]

    monkeypatch.setattr(pair_blocks, "solve_block", interrupted)
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
