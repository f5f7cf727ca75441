"""Probabilities that mean what they say."""

import pickle
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification, make_moons
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_score,
    train_test_split,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import SVC, Calibrated, KernelClassifier, KernelSearchCV, Pegasos, Perceptron
from mercer.calibration import IsotonicMap, SigmoidMap, VennAbersMap, coupled
from mercer.kernels import Spectrum, WeisfeilerLehman
from mercer.preprocess import OutlierFilter, WithoutOutliers

from .structured import LABELS, WORDS

METHODS = ["sigmoid", "isotonic", "venn_abers"]
MAPS = {"sigmoid": SigmoidMap, "isotonic": IsotonicMap, "venn_abers": VennAbersMap}
rng = np.random.default_rng(0)
X, y = make_moons(240, noise=0.3, random_state=0)
iris, species = load_iris(return_X_y=True)
species = np.array(["setosa", "versicolor", "virginica"])[species]
machine = SVC("gaussian(gamma=1)")
trio = SVC("gaussian(gamma=0.3)")


def drawn(n=200, seed=0):
    """Scores, labels that follow them, and weights, some of them zero; some scores come twice."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n).round(1)
    return scores, rng.random(n) < expit(2 * scores - 0.5), rng.integers(0, 4, n).astype(float)


# -- maps of one score --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
def test_the_sigmoid_is_where_nothing_can_be_gained(unit):
    scores, positive, weight = drawn()
    found = SigmoidMap.of(unit * scores, positive, weight)
    n = [weight[side].sum() ** 2 / (weight[side] ** 2).sum() for side in (positive, ~positive)]
    t = np.where(positive, (n[0] + 1) / (n[0] + 2), 1 / (n[1] + 2))

    def cost(x):
        p = expit(x[0] * scores + x[1])
        return -(weight @ (t * np.log(p) + (1 - t) * np.log(1 - p)))

    best = minimize(cost, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000})
    np.testing.assert_allclose([unit * found.slope, found.intercept], best.x, rtol=1e-5)
    assert cost([unit * found.slope, found.intercept]) <= best.fun * (1 + 1e-12)


def test_the_sigmoid_is_that_of_scikit_learn():
    scores, positive, _ = drawn()
    from sklearn.calibration import _SigmoidCalibration

    peer = _SigmoidCalibration().fit(scores, positive.astype(int)).predict(scores)
    np.testing.assert_allclose(SigmoidMap.of(scores, positive, np.ones(200)).probabilities(scores), peer, atol=1e-5)


def test_weights_have_no_unit():
    scores, positive, weight = drawn()
    for make in MAPS.values():
        found, other = (make.of(scores, positive, unit * weight).probabilities(scores) for unit in (1.0, 1e-4))
        np.testing.assert_allclose(found, other, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_rows_without_weight_are_not_there(method):
    scores, positive, weight = drawn()
    there = weight > 0
    found = MAPS[method].of(scores, positive, weight).probabilities(scores)
    np.testing.assert_allclose(
        found, MAPS[method].of(scores[there], positive[there], weight[there]).probabilities(scores)
    )


@pytest.mark.parametrize("method", METHODS)
def test_maps_of_scores_that_separate_or_say_nothing(method):
    positive = np.arange(20) >= 10
    for scores in (np.arange(20.0), np.zeros(20), np.where(positive, 1e8, -1e8)):
        p = MAPS[method].of(scores, positive, np.ones(20)).probabilities(np.array([-1e300, -1e9, 0.0, 1e9]))
        assert ((p > 0) & (p < 1)).all()
        assert (np.diff(p) >= 0).all()
        if not scores.any():
            np.testing.assert_allclose(p[2], 0.5)


def test_isotonic_is_that_of_scikit_learn_within_its_bounds():
    scores, positive, weight = drawn()
    peer = IsotonicRegression(out_of_bounds="clip").fit(scores, positive, weight).predict(scores)
    found = IsotonicMap.of(scores, positive, weight).probabilities(scores)
    bound = 1 / (weight.sum() ** 2 / (weight @ weight) + 2)
    np.testing.assert_allclose(found, np.clip(peer, bound, 1 - bound))


@pytest.mark.parametrize("seed", range(4))
def test_venn_abers_by_a_regression_for_each_new_row_and_label(seed):
    scores, positive, weight = drawn(60, seed)
    weight = np.ones(60) if seed == 0 else weight
    new = np.concatenate([scores[:8], np.random.default_rng(1).normal(size=12), [-9.0, 9.0]])
    own = weight[weight > 0].mean()
    intervals = VennAbersMap.of(scores, positive, weight).intervals(new)
    for s, found in zip(new, intervals, strict=True):
        for label in (0, 1):
            fit = IsotonicRegression().fit(np.append(scores, s), np.append(positive, label), np.append(weight, own))
            assert found[label] == pytest.approx(fit.predict([s])[0], abs=1e-12)
    assert (intervals[:, 0] <= intervals[:, 1]).all()


@pytest.mark.parametrize("classes", [3, 5])
def test_pairs_that_agree_are_coupled_exactly(classes):
    p = np.random.default_rng(0).dirichlet(np.ones(classes), 20)
    pairs = np.stack([p[:, j] / (p[:, i] + p[:, j]) for i, j in combinations(range(classes), 2)], axis=1)
    np.testing.assert_allclose(coupled(pairs, classes), p, atol=1e-12)


def test_pairs_that_disagree_are_coupled_as_well_as_can_be():
    r = np.array([0.9, 0.2, 0.7])
    found = coupled(r[None], 3)[0]

    def cost(p):
        pairs = zip(combinations(range(3), 2), r, strict=True)
        return sum(((1 - second) * p[j] - second * p[i]) ** 2 for (i, j), second in pairs)

    others = np.random.default_rng(0).dirichlet(np.ones(3), 5000)
    assert cost(found) <= min(map(cost, others))
    assert found.sum() == pytest.approx(1)


# -- the classifier -----------------------------------------------------------------------------------------------


@pytest.mark.thorough
@parametrize_with_checks(
    [Calibrated(SVC(C=1.0), cv=2), Calibrated(SVC("linear"), method="isotonic", cv=2)],
    expected_failed_checks=lambda estimator: {
        "check_sample_weight_equivalence_on_dense_data": "rows that come twice fall into other folds",
        "check_sample_weight_equivalence_on_sparse_data": "rows that come twice fall into other folds",
    },
)
def test_what_scikit_learn_asks_of_estimators(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("estimator", "rows", "labels"),
    [
        (machine, X, y),
        (trio, iris, species),
        (clone(trio).set_params(strategy="ovr"), iris, species),
        (KernelClassifier("gaussian(gamma=0.3)"), iris, species),
        (KernelClassifier("gaussian(gamma=1)", "squared_hinge"), X, y),
        (Pegasos("gaussian(gamma=1)", steps=500, random_state=0), X, y),
        (Perceptron("gaussian(gamma=0.3)", random_state=0), iris, species),
        (GaussianNB(), iris, species),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_probabilities_and_labels_never_contradict_each_other(method, estimator, rows, labels):
    model = Calibrated(estimator, method=method, cv=3).fit(rows, labels)
    grid = np.random.default_rng(0).uniform(rows.min(0) - 3, rows.max(0) + 3, (500, rows.shape[1]))
    for new in (rows, grid, rows[: isinstance(estimator, GaussianNB)], rows[:1]):
        P = model.predict_proba(new)
        assert P.shape == (len(new), model.classes_.size)
        np.testing.assert_allclose(P.sum(axis=1), 1)
        assert ((P > 0) & (P < 1)).all()
        np.testing.assert_array_equal(model.predict(new), model.classes_[P.argmax(axis=1)])
        np.testing.assert_allclose(model.predict_log_proba(new), np.log(P))
    assert (model.predict(rows) == labels).mean() > 0.8


def test_the_map_is_learned_from_scores_of_unseen_rows():
    """As scikit-learn's CalibratedClassifierCV does it without an ensemble."""
    tight = clone(machine).set_params(tol=1e-6)
    for method in ("sigmoid", "isotonic"):
        peer = CalibratedClassifierCV(tight, method=method, cv=4, ensemble=False).fit(X, y).predict_proba(X)
        found = Calibrated(tight, method=method, cv=4).fit(X, y).predict_proba(X)
        bound = 1 / (len(y) + 2) if method == "isotonic" else 0
        assert np.abs(found - np.clip(peer, bound, 1 - bound)).mean() < 1e-4


@pytest.mark.parametrize("method", METHODS)
def test_log_loss_stays_finite_and_is_better_than_that_of_votes(method):
    digits, labels = load_digits(return_X_y=True)
    rows, new, known, truth = train_test_split(digits[:700] / 16, labels[:700], random_state=0, stratify=labels[:700])
    pairs = SVC("gaussian(gamma=0.1)", C=10)
    model = Calibrated(pairs, method=method, cv=3).fit(rows, known)
    votes = CalibratedClassifierCV(pairs, cv=3, ensemble=False).fit(rows, known)
    found = log_loss(truth, model.predict_proba(new))
    assert np.isfinite(found)
    assert found < log_loss(truth, votes.predict_proba(new))


def test_probabilities_mean_what_they_say():
    """Among new rows with about equal probabilities, about that part is of the class."""
    rows, labels = make_classification(4000, 5, flip_y=0.3, class_sep=0.8, random_state=0)
    for method in METHODS:
        model = Calibrated(SVC("gaussian(gamma=0.2)"), method=method).fit(rows[:1000], labels[:1000])
        p = model.predict_proba(rows[1000:])[:, 1]
        parts = np.digitize(p, [0.2, 0.4, 0.6, 0.8])
        for part in np.unique(parts):
            inside = parts == part
            if inside.sum() > 100:
                assert abs(labels[1000:][inside].mean() - p[inside].mean()) < 0.12


def test_intervals():
    model = Calibrated(machine, method="venn_abers").fit(X, y)
    low, high = model.predict_proba_interval(X).T
    p = model.predict_proba(X)[:, 1]
    assert ((low <= p) & (p <= high)).all()
    few = Calibrated(machine, method="venn_abers").fit(X[:40], y[:40]).predict_proba_interval(X)
    assert np.mean(few[:, 1] - few[:, 0]) > 2 * np.mean(high - low)
    for strategy in ("ovo", "ovr"):
        several = Calibrated(clone(trio).set_params(strategy=strategy), method="venn_abers").fit(iris, species)
        assert several.predict_proba_interval(iris).shape == (150, 3, 2)


def test_intervals_that_are_not_there():
    assert not hasattr(Calibrated(machine).fit(X, y), "predict_proba_interval")
    with pytest.raises(AttributeError, match="no intervals with method='sigmoid'; use method='venn_abers'"):
        Calibrated(machine).predict_proba_interval(X)


def test_the_machine_inside_is_the_fit_on_all_rows():
    model = Calibrated(machine).fit(X, y)
    plain = clone(machine).fit(X, y)
    np.testing.assert_allclose(model.estimator_.decision_function(X), plain.decision_function(X), atol=2e-3)
    assert model.estimator_.duality_gap_[0] >= 0
    assert model.n_features_in_ == 2


def test_weights_reach_machine_and_map():
    weight = rng.integers(0, 3, len(y)).astype(float)
    model = Calibrated(machine, cv=3).fit(X, y, sample_weight=weight)
    plain = clone(machine).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.estimator_.decision_function(X), plain.decision_function(X), atol=2e-3)
    scaled = Calibrated(make_pipeline(StandardScaler(), machine), cv=3).fit(X, y, sample_weight=weight)
    assert scaled.maps_[0].slope != Calibrated(make_pipeline(StandardScaler(), machine), cv=3).fit(X, y).maps_[0].slope
    heavy = Calibrated(machine, cv=3).fit(X, y, sample_weight=np.where(y == 1, 9.0, 1.0))
    assert heavy.predict_proba(X)[:, 1].mean() > 0.65


# -- what people put around it, and into it -----------------------------------------------------------------------


def test_frames_pipelines_and_searches():
    frame = pd.DataFrame(X, columns=["a", "b"])
    around = Calibrated(make_pipeline(StandardScaler(), machine)).fit(frame, pd.Series(y))
    assert around.feature_names_in_.tolist() == ["a", "b"]
    inside = make_pipeline(StandardScaler(), Calibrated(machine)).fit(frame, y)
    assert inside.predict_proba(frame).shape == around.predict_proba(frame).shape == (240, 2)
    grid = GridSearchCV(Calibrated(machine, cv=3), {"estimator__C": [0.1, 10], "method": METHODS[:2]}, cv=3,
                        scoring="neg_log_loss").fit(X, y)  # fmt: skip
    search = KernelSearchCV(Calibrated(machine, cv=3), {"estimator__C": [0.1, 10], "method": METHODS[:2]}, cv=3,
                            scoring="neg_log_loss").fit(X, y)  # fmt: skip
    assert grid.best_params_ == search.best_params_
    tuned = Calibrated(KernelSearchCV(machine, {"C": [0.1, 10]}, cv=3), cv=3).fit(X, y)
    assert tuned.estimator_.best_params_["C"] in (0.1, 10)
    assert cross_val_score(Calibrated(machine, cv=3), X, y, cv=3, scoring="neg_brier_score").max() < 0


def test_strings_and_graphs_and_matrices():
    names = Calibrated(SVC(Spectrum(p=2)), cv=2).fit(WORDS, LABELS)
    assert set(names.predict(WORDS)) <= set(LABELS)
    graphs = [(3, [[0, 1], [1, 2]]), (3, [[0, 1], [1, 2], [2, 0]])] * 6
    shapes = Calibrated(SVC(WeisfeilerLehman(h=2)), cv=3).fit(graphs, ["path", "ring"] * 6)
    assert shapes.predict(graphs[:2]).tolist() == ["path", "ring"]
    K = X @ X.T + 1.0
    matrix = Calibrated(SVC("precomputed")).fit(K, y)
    np.testing.assert_allclose(matrix.predict_proba(K), Calibrated(SVC("linear")).fit(X, y).predict_proba(X), atol=0.02)


def test_sparse_rows_and_outliers():
    rows = sparse.csr_array(np.where(X > 0, X, 0))
    assert Calibrated(machine).fit(rows, y).predict_proba(rows).shape == (240, 2)
    assert Calibrated(WithoutOutliers(machine, OutlierFilter())).fit(X, y).predict_proba(X).shape == (240, 2)


@pytest.mark.parametrize("cv", [KFold(4, shuffle=True, random_state=0), StratifiedKFold(3), 2])
def test_folds_of_every_kind(cv):
    model = Calibrated(machine, cv=cv).fit(X, y)
    given = list(cv.split(X, y)) if not isinstance(cv, int) else list(StratifiedKFold(cv).split(X, y))
    np.testing.assert_array_equal(model.predict_proba(X), Calibrated(machine, cv=given).fit(X, y).predict_proba(X))


def test_groups_and_held_out_rows():
    assert Calibrated(machine, cv=GroupKFold(4)).fit(X, y, groups=np.arange(240) // 4).maps_
    fitted = clone(machine).fit(X[:120], y[:120])
    held = Calibrated(FrozenEstimator(fitted)).fit(X[120:], y[120:])
    expected = SigmoidMap.of(fitted.decision_function(X[120:]), y[120:] == 1, np.ones(120))
    assert held.maps_[0].slope == pytest.approx(expected.slope)


def test_displays_of_scikit_learn():
    display = CalibrationDisplay.from_estimator(Calibrated(machine).fit(X, y), X, y, n_bins=5)
    assert display.prob_true.size


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("costs", [None, {("setosa", "virginica"): 5.0}])
def test_files_and_pickles(method, costs, tmp_path):
    model = Calibrated(make_pipeline(StandardScaler(), trio), method=method, cv=3, costs=costs).fit(iris, species)
    path = tmp_path / "model.safetensors"
    mercer.save(model, path)
    for back in (mercer.load(path), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(back.predict_proba(iris), model.predict_proba(iris))
        np.testing.assert_array_equal(back.predict(iris), model.predict(iris))
        assert back.n_features_in_ == 4
    assert mercer.load(path).method == method


def test_same_again():
    first, second = (Calibrated(machine).fit(X, y).predict_proba(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)


# -- what cannot be ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "labels", "message"),
    [
        ({"method": "platt"}, y, "method must be one of 'sigmoid', 'isotonic', 'venn_abers'"),
        ({"cv": 200}, y, "200 folds are more than any class has rows; use 1[0-9][0-9] folds or fewer"),
        ({}, np.where(np.arange(240) < 1, "b", "a"), "class 'b' has 1 row; .* takes two of each"),
        ({}, np.ones(240), "needs two classes or more"),
        ({"cv": ShuffleSplit(3)}, y, "folds that divide the rows"),
        ({"costs": np.ones((3, 3))}, y, "a row and a column for each of the 2 classes"),
    ],
)
def test_refusals_come_before_any_work(parameters, labels, message, monkeypatch):
    if "cv" not in parameters:
        monkeypatch.setattr(SVC, "fit", lambda *a, **k: pytest.fail("work"))
    with pytest.raises(ValueError, match=message):
        Calibrated(machine, **parameters).fit(X, labels)


def test_a_class_whose_rows_have_no_weight():
    weight = np.where(y == 1, 0.0, 1.0)
    weight[np.flatnonzero(y == 1)[:2]] = 1.0
    with pytest.raises(ValueError, match="class 1 has 2 rows that weigh anything, fewer than the cv=5 folds"):
        Calibrated(machine).fit(X, y, sample_weight=weight)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        Calibrated(machine).predict_proba(X)


def test_better_than_scikit_learn_on_real_rows():
    rows, labels = load_breast_cancer(return_X_y=True)
    rows = StandardScaler().fit_transform(rows)
    some, new, known, truth = train_test_split(rows, labels, test_size=0.5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sklearn.svm import SVC as Peer

        peer = CalibratedClassifierCV(Peer(gamma=0.02), cv=5).fit(some, known).predict_proba(new)
    mine = Calibrated(SVC("gaussian(gamma=0.02)")).fit(some, known).predict_proba(new)
    assert log_loss(truth, mine) <= log_loss(truth, peer)
    assert brier_score_loss(truth, mine[:, 1]) <= brier_score_loss(truth, peer[:, 1])


@pytest.mark.parametrize("machine", [mercer.SVR(), mercer.OneClassSVM()], ids=str)
def test_only_classifiers_have_probabilities(machine):
    with pytest.raises(ValueError, match="is no classifier"):
        Calibrated(machine).fit([[0.0], [1.0]] * 10, [0, 1] * 10)


def test_ensembles_of_machines_are_calibrated_as_a_whole():
    rows, labels = load_iris(return_X_y=True)
    model = Calibrated(BaggingClassifier(SVC(), n_estimators=3, random_state=0), cv=3).fit(rows, labels)
    assert model.score(rows, labels) > 0.9


def test_probabilities_of_several_classes_lie_in_their_intervals():
    model = Calibrated(SVC(), method="venn_abers").fit(iris[::2], species[::2])
    low, high = np.moveaxis(model.predict_proba_interval(iris), 2, 0)
    found = model.predict_proba(iris)
    assert ((low <= found + 1e-12) & (found <= high + 1e-12)).all()
