"""The catalogue of learners: every one can be made, fitted, and searched over its grid."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from mercer.kernels import Gaussian
from mercer.learners import LEARNERS, named, spread_of
from mercer.losses import EpsilonInsensitive, Huber, Squared

X = np.random.RandomState(0).standard_normal((60, 3))
y = np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")
numbers = 300 * X[:, 0] * X[:, 1]


@pytest.mark.parametrize("name", LEARNERS)
def test_every_cell_of_every_grid_is_an_estimator_that_can_be_fitted(name):
    learner = LEARNERS[name]
    assert learner.name == name
    cells = list(ParameterGrid(learner.search_grid()))
    assert cells == [{}] if learner.task == "detect" or learner.prepares else 4 <= len(cells) <= 24
    for cell in cells:
        clone(learner.build()).set_params(**cell)
    targets = y if learner.task == "classify" else numbers
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(learner.build()).set_params(**cells[len(cells) // 2]).fit(X, targets)
    if learner.task == "classify":
        assert set(model.predict(X)) <= {"yes", "no"}
    else:
        assert np.isfinite(model.predict(X)).all()


def test_products_of_columns_and_kernels_see_what_lines_cannot():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = {name: LEARNERS[name].build().fit(X, y).score(X, y) for name in ("logistic", "logistic-2", "svc")}
    assert scores["logistic"] < 0.8 < scores["logistic-2"]
    assert scores["svc"] > scores["logistic"] + 0.1


def test_options_reach_the_estimator():
    assert named("svc").build("linear", C=7.0).get_params()["kernel"] == "linear"
    assert named("pegasos").build(degree=3, random_state=5, lam=0.5).named_steps["model"].get_params()["lam"] == 0.5
    assert "kernel__gamma" not in named("svc").search_grid(kernel="linear")
    squared = named("logistic").build(degree=2)
    assert list(named("logistic").search_grid(squared)) == ["model__lam"]
    assert list(named("logistic").search_grid(Pipeline([("learner", squared)]))) == ["learner__model__lam"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: named("svm"), "did you mean 'svc' or 'svr'"),
        (lambda: named("rigde"), "did you mean 'ridge'"),
        (lambda: named("huber").build(loss="Huber(delta=oh)"), "cannot be read"),
        (lambda: named("pegasos").build("linear"), "pegasos has no kernel; use kernel-pegasos"),
        (lambda: named("linear-svc").build("linear"), "linear-svc has no kernel; use svc"),
        (lambda: named("svc").build(lam=1), "SVC has no parameter 'lam'; it has C"),
        (lambda: named("svc").build(degree=0), "degree must be a whole number"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_a_search_chooses_can_be_built():
    assert named("svc").build(C=5.0, kernel__gamma=0.25).kernel == Gaussian(gamma=0.25)


def test_every_learner_has_a_counterpart_of_the_other_task_and_the_same_kind():
    for learner in (each for each in LEARNERS.values() if each.task != "detect"):
        other = named(learner.counterpart)
        assert other.task != learner.task
        assert other.takes_kernel == learner.takes_kernel
        assert other.degree == learner.degree


@pytest.mark.parametrize("name", [name for name, learner in LEARNERS.items() if learner.task == "regress"])
def test_learners_of_numbers_do_the_same_in_every_unit(name):
    """Metres or micrometres: with the grid in the target's unit each setting predicts the same, in that unit."""
    for cell in (0, -1):
        predicted = []
        for unit in (1.0, 1e-3, 1e6):
            learner = LEARNERS[name].in_units(spread_of(unit * numbers))
            setting = list(ParameterGrid(learner.search_grid()))[cell]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                predicted.append(learner.build().set_params(**setting).fit(X, unit * numbers).predict(X) / unit)
        for other in predicted[1:]:
            assert np.abs(other - predicted[0]).max() < 0.01 * np.std(numbers)


def test_what_is_printed_of_a_loss_is_read_again():
    for loss in (Huber(0.25), EpsilonInsensitive(3.0), Squared()):
        assert named("huber").build(loss=str(loss)).loss == loss


def test_the_spread_of_a_target_is_not_that_of_its_outliers():
    y = np.random.default_rng(0).normal(50, 7, 1000)
    assert abs(spread_of(y) - 7) < 0.7
    assert spread_of(np.append(y, 1e12)) == spread_of(y)
    assert spread_of([5.0, 5.0, 5.0]) == 1.0
    assert spread_of([0.0] * 9 + [1.0]) == pytest.approx(0.3)
