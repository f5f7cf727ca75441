"""The catalogue of learners: every one can be made, fitted, and searched over its grid."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from mercer.kernels import Gaussian
from mercer.learners import LEARNERS, named

X = np.random.RandomState(0).standard_normal((60, 3))
y = np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")


@pytest.mark.parametrize("name", LEARNERS)
def test_every_cell_of_every_grid_is_an_estimator_that_can_be_fitted(name):
    learner = LEARNERS[name]
    assert learner.name == name
    cells = list(ParameterGrid(learner.search_grid()))
    assert 4 <= len(cells) <= 24
    for cell in cells:
        clone(learner.build()).set_params(**cell)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(learner.build()).set_params(**cells[len(cells) // 2]).fit(X, y)
    assert set(model.predict(X)) <= {"yes", "no"}


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
        (lambda: named("svm"), "did you mean 'svc'"),
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
