"""Machines of pairs that are solved together: each is the one that it would be alone."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as ScikitSVC

from mercer import SVC, Calibrated, KernelSearchCV, NuSVC
from mercer.estimators import pairs as pair_machines
from mercer.estimators import solve_pairs
from mercer.grams import Dense
from mercer.search import out_of_fold
from mercer.solvers.svm import SmallBlock, solve_blocks

digits, names = load_digits(return_X_y=True)
digits, names = digits[:400] / 16, np.array([f"digit {k}" for k in names[:400]])
weights = np.random.default_rng(0).integers(0, 4, 400).astype(float)
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


@pytest.mark.parametrize("sample_weight", [None, weights])
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
    machines, data, solver = _prepared(**limits)
    assert solve_pairs(machines, data, solver, data.exact_gram(), np.random.default_rng(0)) == machines


def test_single_precision_that_cannot_be_trusted_is_noticed():
    machines, data, solver = _prepared()
    assert solve_pairs(machines, data, solver, data.exact_gram(), np.random.default_rng(0)) == []
    wrong = replace(data, gram=Dense(data.gram.K * np.float32(1.1)))
    assert solve_pairs(machines, wrong, solver, data.exact_gram(), np.random.default_rng(0)) == machines


def _counted(monkeypatch):
    calls = []

    def counted(machines, *rest):
        calls.append(len(machines))
        return solve_pairs(machines, *rest)

    monkeypatch.setattr("mercer.estimators.margin_classifier.solve_pairs", counted)
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
    monkeypatch.setattr(pair_machines, "_AT_ONCE", 2)
    order = np.random.default_rng(2).permutation(120)
    X, y = digits[order], names[order]
    machine = SVC("gaussian(gamma=0.5)", tol=1e-6)
    found = out_of_fold(machine, X, y, StratifiedKFold(2).split(X, y)).decisions
    again = out_of_fold(machine, X, y, StratifiedKFold(2).split(X, y)).decisions
    np.testing.assert_array_equal(found, again)
    assert (np.unique(y)[found.argmax(axis=1)] == y).mean() > 0.8
