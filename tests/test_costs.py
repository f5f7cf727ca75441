"""A mistake of one kind dearer than of another."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import SVC, Calibrated, KernelClassifier, KernelSearchCV

X, y = make_classification(900, 6, weights=[0.8], flip_y=0.1, class_sep=0.7, random_state=0)
three, kinds = make_classification(
    1400, 6, n_informative=4, n_classes=3, weights=[0.6, 0.3], class_sep=0.8, random_state=0
)
kinds = np.array(["a", "b", "c"])[kinds]
pair = np.array([[0.0, 1.0], [8.0, 0.0]])
several = np.array([[0.0, 1.0, 1.0], [2.0, 0.0, 1.0], [10.0, 6.0, 0.0]])

MACHINES = {
    "svc": SVC("gaussian(gamma=0.2)"),
    "against the rest": SVC("gaussian(gamma=0.2)", strategy="ovr"),
    "logistic": KernelClassifier("gaussian(gamma=0.2)", lam=1e-2),
    "squared hinge": KernelClassifier("gaussian(gamma=0.2)", "squared_hinge", lam=1e-2),
    "calibrated": Calibrated(SVC("gaussian(gamma=0.2)"), cv=3),
}


def mean_cost(costs, classes, truth, answers):
    return costs[np.searchsorted(classes, truth), np.searchsorted(classes, answers)].mean()


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize(("rows", "labels", "costs"), [(X, y, pair), (three, kinds, several)], ids=["two", "three"])
def test_new_rows_cost_less(name, rows, labels, costs):
    half = len(labels) // 2
    plain, told = (clone(MACHINES[name]).set_params(costs=c).fit(rows[:half], labels[:half]) for c in (None, costs))
    paid = [mean_cost(costs, each.classes_, labels[half:], each.predict(rows[half:])) for each in (told, plain)]
    assert paid[0] < 0.9 * paid[1]


@pytest.mark.parametrize("name", ["svc", "against the rest", "squared hinge"])
def test_costs_of_two_classes_are_weights_of_classes(name):
    told = clone(MACHINES[name]).set_params(costs=pair).fit(X, y)
    weighed = clone(MACHINES[name]).set_params(class_weight={0: 1.0, 1: 8.0}).fit(X, y)
    np.testing.assert_allclose(told.decision_function(X), weighed.decision_function(X), atol=1e-9)


def test_each_pair_has_the_costs_of_its_own():
    told = SVC("gaussian(gamma=0.2)", costs=several, tol=1e-5).fit(three, kinds)
    scores = told.pair_scores(three)
    for column, (first, second) in enumerate([(0, 1), (0, 2), (1, 2)]):
        names = np.array(["a", "b", "c"])[[first, second]]
        rows = np.isin(kinds, names)
        weight = dict(zip(names, (several[first, second], several[second, first]), strict=True))
        alone = SVC("gaussian(gamma=0.2)", class_weight=weight, tol=1e-5).fit(three[rows], kinds[rows])
        np.testing.assert_allclose(scores[:, column], alone.decision_function(three), atol=1e-3)


@pytest.mark.parametrize("name", ["svc", "against the rest", "logistic", "squared hinge", "calibrated"])
@pytest.mark.parametrize(("rows", "labels"), [(X, y), (three, kinds)], ids=["two", "three"])
def test_equal_costs_change_nothing(name, rows, labels):
    k = np.unique(labels).size
    plain, told = (clone(MACHINES[name]).set_params(costs=c).fit(rows, labels) for c in (None, 1 - np.eye(k)))
    np.testing.assert_array_equal(told.predict(rows), plain.predict(rows))


@pytest.mark.parametrize("name", ["logistic", "calibrated"])
def test_probabilities_stay_true_and_the_answer_is_the_cheapest(name):
    plain, told = (clone(MACHINES[name]).set_params(costs=c).fit(three, kinds) for c in (None, several))
    P = told.predict_proba(three)
    np.testing.assert_allclose(P, plain.predict_proba(three))
    expected = [[p @ several[:, answer] for answer in range(3)] for p in P]
    np.testing.assert_array_equal(told.predict(three), told.classes_[np.argmin(expected, axis=1)])
    assert (told.predict(three) != told.classes_[P.argmax(axis=1)]).any()


def test_costs_by_name():
    named = SVC(costs={("c", "a"): 10, ("c", "b"): 6.0, ("b", "a"): np.float64(2)}).fit(three, kinds)
    np.testing.assert_array_equal(
        named.decision_function(three), SVC(costs=several).fit(three, kinds).decision_function(three)
    )
    numbers = KernelClassifier(costs={(np.int64(1), 0): 8}).fit(X, y)
    np.testing.assert_array_equal(numbers.predict(X), KernelClassifier(costs=pair.tolist()).fit(X, y).predict(X))


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["svc", "against the rest", "logistic", "squared hinge"])
def test_cells_of_a_search_are_fits(name):
    pipe = make_pipeline(StandardScaler(), MACHINES[name])
    step = pipe.steps[-1][0]
    grid = {f"{step}__costs": [None, several], f"{step}__kernel__gamma": [0.1, 0.3]}
    ours, theirs = (search(pipe, grid, cv=3).fit(three, kinds) for search in (KernelSearchCV, GridSearchCV))
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=5e-3)
    scores = ours.cv_results_["mean_test_score"]
    assert scores[0] != scores[2]


@pytest.mark.parametrize("costs", [several, {("a", "c"): 4.0}])
@pytest.mark.parametrize("name", ["svc", "logistic"])
def test_files(name, costs, tmp_path):
    model = clone(MACHINES[name]).set_params(costs=costs).fit(three, kinds)
    path = tmp_path / "model.safetensors"
    mercer.save(model, path)
    np.testing.assert_array_equal(mercer.load(path).predict(three), model.predict(three))


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (np.ones((3, 3)) - np.eye(3), r"a row and a column for each of the 2 classes, shape \(2, 2\), got \(3, 3\)"),
        ([1.0, 2.0], r"got \(2,\)"),
        ([[0, -1], [1, 0]], r"finite numbers of at least 0, but costs\[0, 1\] is -1"),
        ([[0, np.nan], [1, 0]], r"costs\[0, 1\] is nan"),
        ([[0, 1], [1, 2]], r"right answers cost nothing, but costs\[1, 1\] is 2; set the diagonal to 0"),
        ([[0, 0], [0, 0]], "costs are all 0"),
        ("dear", "a square table of numbers or a dict"),
        ({("no", 1): 2}, "costs name 'no', which is none of the classes"),
        ({1: 2}, r"pairs \(true, answered\) as keys"),
        ({(0, 1): "much"}, "must be a number"),
    ],
)
def test_refusals(name, costs, message):
    with pytest.raises(ValueError, match=message):
        clone(MACHINES[name]).set_params(costs=costs).fit(X, y)


def test_rows_without_weight_teach_nothing():
    free = several.copy()
    free[0, 2] = 0
    with pytest.raises(ValueError, match="answering 'c' where 'a' is true costs nothing"):
        SVC(costs=free).fit(three, kinds)
    SVC(costs=free, strategy="ovr").fit(three, kinds)
    free[0] = 0
    with pytest.raises(ValueError, match="mistakes on class 'a' cost nothing"):
        SVC(costs=free, strategy="ovr").fit(three, kinds)
    assert "a" not in KernelClassifier(costs=free).fit(three, kinds).predict(three)


def test_weights_and_costs_multiply():
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    told = SVC("gaussian(gamma=0.2)", costs=pair, class_weight={1: 2.0}).fit(X, y, weight)
    by_hand = SVC("gaussian(gamma=0.2)").fit(X, y, weight * np.where(y == 1, 16.0, 1.0))
    np.testing.assert_allclose(told.decision_function(X), by_hand.decision_function(X), atol=5e-3)


def test_a_real_set_of_three_kinds():
    rows, labels = load_iris(return_X_y=True)
    costs = {(2, 1): 50.0}
    told = KernelClassifier("gaussian(gamma=0.3)", costs=costs).fit(rows, labels)
    assert not ((labels == 2) & (told.predict(rows) == 1)).any()
