"""What machines choose by leaving rows out: λ and C of any loss, metrics of any kernel on rows, groups."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import mercer
from mercer import SVC, KernelClassifier, KernelQuantiles, KernelRegressor, KernelSearchCV
from mercer.kernels import Gaussian, Laplacian, Mixture

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
SIGNAL = np.sin(2 * X[:, 0]) + X[:, 1]
NUMBERS = SIGNAL + 0.2 * RNG.normal(size=60)
CLASSES = np.digitize(SIGNAL + 0.3 * RNG.normal(size=60), [-0.5, 0.6])
WEIGHT = RNG.uniform(0.5, 2, 60)
WEIGHT[5] = 0
GROUPS = np.arange(60) // 3

MACHINES = [
    KernelClassifier(lam="loo"),
    KernelClassifier(loss="squared_hinge", lam="loo", fit_intercept=False),
    KernelClassifier(loss="squared", lam="loo"),
    KernelRegressor(lam="loo"),
    KernelRegressor(loss="huber", lam="loo"),
    KernelRegressor(loss="epsilon_insensitive", lam="loo"),
    KernelQuantiles(lam="loo"),
    SVC(C="loo"),
    SVC(C="loo", strategy="ovr"),
]


def told_without(machine, rows, targets, weight, groups):
    """What machines with the λ or C that was chosen, fitted anew without a group, say of it."""
    again = clone(machine).set_params(kernel=machine.kernel_, **{machine.path: getattr(machine, f"{machine.path}_")})
    out = np.empty(machine.loo_predictions_.shape)
    for group in np.unique(groups):
        own = groups == group
        model = clone(again).fit(rows[~own], targets[~own], None if weight is None else weight[~own])
        out[own] = model.decision_function(rows[own]) if is_classifier(model) else model.predict(rows[own])
    return out


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rows", "groups"])
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["even", "weighted"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_rows_are_told_what_machines_without_them_say(machine, classes, weight, groups):
    if is_classifier(machine):
        targets = np.minimum(CLASSES, classes - 1)
    elif classes == 3:
        pytest.skip("numbers have no classes")
    else:
        targets = NUMBERS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine = clone(machine).fit(X, targets, weight, groups)
        expected = told_without(machine, X, targets, weight, np.arange(60) if groups is None else groups)
    exact = np.setdiff1d(np.arange(60), machine.loo_approximate_)
    errors = np.abs(machine.loo_predictions_ - expected).reshape(60, -1).max(axis=1)
    assert exact.size >= 20
    assert errors[exact].max() <= (1e-6 if machine.path == "lam" and "squared" in str(machine) else 5e-3)
    assert np.median(errors) <= 0.1 * np.std(expected)
    assert 0.3 < machine.loo_score_ < 1


def test_what_was_chosen_is_kept_in_files(tmp_path):
    model = SVC(C="loo", metric="learned").fit(X, CLASSES)
    mercer.save(model, tmp_path / "model")
    again = mercer.load(tmp_path / "model")
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert again.C_ == model.C_
    assert np.array_equal(again.loo_approximate_, model.loo_approximate_)
    assert model.tried_["error"].size == len(again.tried_["note"]) > 3


def test_a_planted_direction_is_found_by_a_matrix(tmp_path):
    rng = np.random.default_rng(0)
    rows, turn = rng.normal(size=(300, 6)), np.linalg.qr(rng.normal(size=(6, 6)))[0]
    targets = np.sin(2 * rows @ turn[:, 0])
    by_columns, by_directions = (
        KernelRegressor(lam="loo", metric=metric).fit(rows[:200], targets[:200])
        for metric in ("learned", "learned-full")
    )
    assert by_directions.score(rows[200:], targets[200:]) > 0.99 > by_columns.score(rows[200:], targets[200:])
    _, _, directions = np.linalg.svd(np.asarray(by_directions.kernel_.weights))
    assert abs(directions[0] @ turn[:, 0]) > 0.999
    mercer.save(by_directions, tmp_path / "model")
    assert np.array_equal(mercer.load(tmp_path / "model").predict(rows), by_directions.predict(rows))


@pytest.mark.parametrize(
    "kernel",
    [
        "matern(nu=1.5, length=scale)",
        "matern(nu=0.5, length=median)",
        Gaussian() + Laplacian(),
        2 * Laplacian(gamma=0.5),
        Mixture([Gaussian(), Laplacian()], weights=[1.0, 0.5]),
        Mixture([Gaussian(), Laplacian()]),
    ],
    ids=str,
)
def test_each_kernel_of_an_expression_learns_its_weights(kernel):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 8))
    labels = np.abs(rows[:, 3]) > 0.7
    plain, learned = (SVC(kernel, C=10, metric=metric).fit(rows[:100], labels[:100]) for metric in (None, "learned"))
    assert learned.score(rows[100:], labels[100:]) > plain.score(rows[100:], labels[100:]) + 0.05
    assert "scaled" in str(learned.kernel_)


def test_a_search_may_have_what_is_chosen_among_its_settings():
    for machine, name in ((KernelRegressor(), "lam"), (SVC(), "C")):
        targets = NUMBERS if name == "lam" else CLASSES
        grid = {name: [0.01, "loo", 1.0]}
        ours, theirs = (kind(machine, grid, cv=3).fit(X, targets) for kind in (KernelSearchCV, GridSearchCV))
        np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        (KernelClassifier(lam="loo", solver="gradient"), "solver='newton'"),
        (KernelRegressor("polynomial", metric="learned"), "'laplacian' and 'matern'"),
        (KernelRegressor(metric="full"), "'learned', 'learned-full'"),
        (KernelRegressor(lam="loo", rank=5), "rank"),
        (SVC(C="loo", memory="1KB"), "raise it"),
        (KernelRegressor(lam="best"), "lam must be"),
        (SVC(C="best"), "C must be"),
        (SVC(Mixture([Gaussian(), Laplacian()]), C="loo"), "learns its weights"),
    ],
    ids=str,
)
def test_what_machines_cannot_choose_is_said(machine, words):
    with pytest.raises(ValueError, match=words):
        machine.fit(X[:20], np.arange(20) % 2)


@pytest.mark.parametrize(
    ("groups", "words"),
    [(np.zeros(60), "one group"), (np.arange(59), "inconsistent"), (np.ones((60, 2)), "1d array")],
)
def test_groups_that_cannot_be_left_out_are_refused(groups, words):
    with pytest.raises(ValueError, match=words):
        SVC(C="loo").fit(X, CLASSES, groups=groups)


def test_groups_where_nothing_is_chosen_are_refused():
    with pytest.raises(ValueError, match="ask for metric='learned' or C='loo'"):
        SVC().fit(X, CLASSES, groups=GROUPS)


@pytest.mark.parametrize("loss", ["huber", "pinball", "epsilon_insensitive"])
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_the_unit_of_targets_decides_nothing_about_lam(loss, unit):
    if loss == "huber":
        loss, scaled = mercer.losses.Huber(0.1), mercer.losses.Huber(0.1 * unit)
    elif loss == "epsilon_insensitive":
        loss, scaled = mercer.losses.EpsilonInsensitive(0.1), mercer.losses.EpsilonInsensitive(0.1 * unit)
    else:
        scaled = loss
    plain, other = (
        KernelRegressor(loss=each, lam="loo").fit(X, size * NUMBERS) for each, size in ((loss, 1), (scaled, unit))
    )
    assert other.loo_score_ == pytest.approx(plain.loo_score_, abs=0.02)
    assert plain.loo_score_ > 0.8


def test_where_every_coefficient_is_at_its_bound_little_is_known_and_nothing_absurd_told():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(60, 3))
    assert max(SVC(C="loo").fit(rows, np.arange(60) % 2).tried_["error"]) < 10
    ordered = np.repeat([0, 1, 2], 20)[np.argsort(np.argsort(rows[:, 0]))]
    assert SVC("gaussian(gamma=0.001)", C="loo").fit(rows, ordered).loo_score_ > 0.8


def test_machines_that_have_not_converged_are_not_called_exact():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(C="loo", max_iter=5).fit(X, CLASSES)
    assert model.loo_approximate_.size == 60


@pytest.mark.parametrize("loss", ["huber", "epsilon_insensitive"])
def test_targets_of_unlike_units_choose_together(loss):
    both = np.column_stack([NUMBERS, 1000 * np.cos(X[:, 0])])
    one, other = (KernelRegressor(loss=loss, lam="loo").fit(X, each) for each in (both, both[:, ::-1]))
    assert one.lam_ == pytest.approx(other.lam_)
    assert one.loo_score_ > 0.6


def test_what_there_was_no_time_for_is_among_what_was_tried():
    rng = np.random.default_rng(0)
    model = KernelClassifier(lam="loo", time_limit=0.03).fit(rng.normal(size=(190, 10)), rng.integers(0, 10, 190))
    assert model.tried_["note"][-1] == "not tried: the time was over"


def test_a_learned_metric_gives_no_jackknife_intervals():
    with pytest.raises(ValueError, match="also from the one that is left out"):
        mercer.Conformal(KernelRegressor(metric="learned"), method="jackknife+").fit(X, NUMBERS)
