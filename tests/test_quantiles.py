"""Quantiles: each solved exactly, together, and never crossed; targets of several columns."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics import d2_pinball_score, make_scorer, mean_pinball_loss
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from mercer import KernelClassifier, KernelQuantiles, KernelRegressor, KernelSearchCV, load, save
from mercer.estimators import rearranged
from mercer.explain import explain
from mercer.losses import Huber, Pinball

rng = np.random.default_rng(3)
X = rng.uniform(-2, 2, (150, 2))
y = np.sin(2 * X[:, 0]) + 0.3 * (1.5 + X[:, 1]) * rng.normal(size=150)
BOTH = np.column_stack([y, 100 + 5 * X[:, 1] ** 2, np.full(150, 7.0)])
LEVELS = (0.05, 0.25, 0.5, 0.8, 0.95)
WEIGHT = rng.integers(0, 4, 150).astype(float)


def summed_loss(y, quantiles, levels=LEVELS):
    return sum(mean_pinball_loss(y, column, alpha=tau) for tau, column in zip(levels, quantiles.T, strict=True))


# -- quantiles ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alike", "weighted"])
@pytest.mark.parametrize("kernel", ["gaussian(gamma=1)", None])
def test_each_is_what_a_machine_of_its_own_finds(kernel, weight):
    model = KernelQuantiles(kernel, LEVELS, lam=1e-3).fit(X, y, weight)
    alone = [KernelRegressor(kernel, Pinball(tau), lam=1e-3).fit(X, y, weight) for tau in LEVELS]
    expected = np.sort(np.column_stack([each.predict(X) for each in alone]), axis=1)
    np.testing.assert_allclose(model.predict(X), expected, atol=2e-3)
    np.testing.assert_allclose(model.objective_, [each.objective_ for each in alone], rtol=1e-5)
    assert (model.duality_gap_ <= 1e-4 * model.objective_).all()
    assert (model.kkt_violation_ <= 1e-5 * np.std(y)).all()
    assert model.converged_
    np.testing.assert_array_equal(model.quantiles_, LEVELS)


@pytest.mark.thorough
@settings(deadline=None, max_examples=100)
@given(st.integers(1, 7), st.integers(0, 10**6))
def test_rearranging_never_costs(n, seed):
    """For any predictions, levels and target, of one row."""
    draw = np.random.default_rng(seed)
    levels, crossed = np.sort(draw.uniform(0.01, 0.99, n)), draw.normal(size=(1, n))
    for target in draw.normal(size=(5, 1)) * 2:
        assert summed_loss(target, rearranged(crossed), levels) <= summed_loss(target, crossed, levels) + 1e-12


def test_none_crosses_anywhere():
    """Few rows, little regularisation and rows far away: machines by themselves cross there."""
    levels, few = tuple(np.arange(1, 20) / 20), slice(0, 40)
    model = KernelQuantiles("polynomial(degree=3)", levels, lam=1e-4).fit(X[few], y[few])
    far = rng.uniform(-6, 6, (500, 2))
    assert (np.diff(model._scores(far), axis=1) < 0).any()
    assert (np.diff(model.predict(far), axis=1) >= 0).all()
    np.testing.assert_array_equal(model.predict_interval(far), model.predict(far)[:, [0, -1]])
    assert summed_loss(y[40:], model.predict(X[40:]), levels) <= summed_loss(y[40:], model._scores(X[40:]), levels)


def test_one_number_has_no_columns():
    model = KernelQuantiles(quantiles=0.7).fit(X, y)
    assert model.predict(X).shape == (150,)
    assert isinstance(model.objective_, float)
    np.testing.assert_allclose(KernelQuantiles(quantiles=[0.7]).fit(X, y).predict(X)[:, 0], model.predict(X))
    assert model.score(X, y) == pytest.approx(d2_pinball_score(y, model.predict(X), alpha=0.7))
    with pytest.raises(ValueError, match="an interval needs two quantiles or more"):
        model.predict_interval(X)


def test_score_is_the_mean_over_the_levels():
    model = KernelQuantiles().fit(X, y)
    each = [d2_pinball_score(y, model.predict(X)[:, k], alpha=tau, sample_weight=WEIGHT)
            for k, tau in enumerate((0.05, 0.5, 0.95))]  # fmt: skip
    assert model.score(X, y, WEIGHT) == pytest.approx(np.mean(each))
    assert 0 < cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=3).mean() < 1
    assert cross_val_predict(model, X, y, cv=3).shape == (150, 3)


@pytest.mark.parametrize("scoring", [None, make_scorer(lambda y, q: -summed_loss(y, q, (0.05, 0.5, 0.95)))])
@pytest.mark.parametrize("weight", [None, WEIGHT + 1], ids=["alike", "weighted"])
def test_a_search_shares_and_scores_as_others_do(scoring, weight, monkeypatch):
    grid = {"lam": [1e-4, 1e-2], "kernel__gamma": [0.3, 1.0]}
    plain = GridSearchCV(KernelQuantiles(), grid, cv=3, scoring=scoring, refit=False).fit(X, y, sample_weight=weight)
    monkeypatch.setattr(KernelQuantiles, "fit", lambda *args, **options: pytest.fail("a fit of its own"))
    shared = KernelSearchCV(KernelQuantiles(), grid, cv=3, scoring=scoring, refit=False)
    shared.fit(X, y, sample_weight=weight)
    found, expected = (each.cv_results_["mean_test_score"] for each in (shared, plain))
    np.testing.assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize(
    "bad", [(), 0, 1.0, (0.5, 0.5), (0.9, 0.1), (0.1, 2), "0.5", [[0.1]], (0.1, None), None, {0.1: 1}]
)
def test_levels_that_are_none(bad):
    with pytest.raises(ValueError, match="quantiles must be one or more numbers between 0 and 1, each larger"):
        KernelQuantiles(quantiles=bad).fit(X, y)


def test_odd_but_ordinary_data():
    words = ["ab", "abc", "b", "bb", "ac", "aab"] * 5
    assert KernelQuantiles("spectrum(p=1)", np.array([0.1, 0.9])).fit(words, np.arange(30)).predict(["a"]).shape == (
        1,
        2,
    )
    constant = KernelQuantiles().fit(X, np.full(150, 3.0))
    np.testing.assert_allclose(constant.predict(X), 3.0)
    frame = pd.DataFrame(X, columns=["a", "b"])
    np.testing.assert_allclose(
        KernelQuantiles(quantiles=pd.Series([0.1, 0.9])).fit(frame, pd.Series(y)).predict(frame),
        KernelQuantiles(quantiles=[0.1, 0.9]).fit(X, y).predict(X),
    )
    thin = KernelQuantiles(None).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.predict(X), KernelQuantiles(None).fit(X, y).predict(X), atol=1e-3)
    with pytest.raises(ValueError, match="y should be a 1d array"):
        KernelQuantiles().fit(X, BOTH)
    with pytest.raises(ValueError, match="this model makes 3 for a row; fit one alone"):
        explain(thin, X[0])


def test_three_columns_are_all_that_scikit_learn_minds():
    """It expects a prediction of the shape of y; everything else holds for several quantiles as well."""
    results = check_estimator(KernelQuantiles(), on_fail=None)
    failed = {each["check_name"] for each in results if each["status"] == "failed"}
    of_one_column = {"check_regressors_train", "check_estimator_sparse_array", "check_estimator_sparse_matrix"}
    assert failed <= of_one_column


# -- several targets ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alike", "weighted"])
@pytest.mark.parametrize("loss", ["squared", Huber(3.0), "epsilon_insensitive", "pinball"], ids=str)
@pytest.mark.parametrize("kernel", ["gaussian(gamma=1)", None])
def test_each_column_is_learned_as_it_would_be_alone(kernel, loss, weight):
    model = KernelRegressor(kernel, loss, lam=1e-2).fit(X, BOTH, weight)
    alone = [KernelRegressor(kernel, loss, lam=1e-2).fit(X, column, weight) for column in BOTH.T]
    expected = np.column_stack([each.predict(X) for each in alone])
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.objective_, [each.objective_ for each in alone], rtol=1e-6, atol=1e-12)
    assert model.duality_gap_.shape == (3,)
    assert hasattr(model, "kkt_violation_") == hasattr(alone[0], "kkt_violation_")


@pytest.mark.parametrize("intercept", [True, False])
def test_several_targets_of_a_linear_ridge(intercept):
    model = KernelRegressor(None, lam=0.01, fit_intercept=intercept).fit(X, BOTH)
    reference = Ridge(alpha=0.01 * 150, fit_intercept=intercept).fit(X, BOTH)
    np.testing.assert_allclose(model.predict(X), reference.predict(X), rtol=1e-6)
    np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-6, atol=1e-9)


def test_the_shape_of_targets_is_that_of_predictions():
    """As kernel ridge has it: a column stays one."""
    for targets in (y, y[:, None], BOTH, pd.DataFrame(BOTH), BOTH.tolist()):
        found = KernelRegressor().fit(X, targets).predict(X)
        assert found.shape == KernelRidge().fit(X, targets).predict(X).shape
    assert isinstance(KernelRegressor().fit(X, y).objective_, float)


def test_several_targets_in_a_search_and_in_a_file(tmp_path, monkeypatch):
    grid = {"lam": [1e-4, 1e-2], "kernel__gamma": [0.3, 1.0]}
    for weight in (None, WEIGHT + 1):
        plain = GridSearchCV(KernelRegressor(), grid, cv=3).fit(X, BOTH[:, :2], sample_weight=weight)
        shared = KernelSearchCV(KernelRegressor(), grid, cv=3).fit(X, BOTH[:, :2], sample_weight=weight)
        found, expected = (each.cv_results_["mean_test_score"] for each in (shared, plain))
        np.testing.assert_allclose(found, expected, atol=1e-8)
    for model in (shared.best_estimator_, KernelQuantiles().fit(X, y), KernelQuantiles(None, 0.3).fit(X, y)):
        save(model, tmp_path / "model.safetensors")
        np.testing.assert_array_equal(load(tmp_path / "model.safetensors").predict(X), model.predict(X))


def test_several_classes_of_a_squared_loss_are_factorised_once(monkeypatch):
    labels = np.digitize(y, [-0.5, 0.5])
    calls = []
    from mercer.estimators import risk

    whole = risk.solve_ridge
    monkeypatch.setattr(risk, "solve_ridge", lambda problems: calls.append(len(problems)) or whole(problems))
    model = KernelClassifier("gaussian(gamma=1)", "squared", lam=1e-2).fit(X, labels)
    assert calls == [3]
    assert (model.duality_gap_ <= 1e-9 * model.objective_).all()


@pytest.mark.parametrize(
    ("targets", "sentence"),
    [
        (np.where(np.arange(450).reshape(150, 3) == 16, np.nan, BOTH), "NaN: the target in row 5, column 1 is nan"),
        (pd.DataFrame({"a": y, "b": ["x"] * 150}), "row 0, column 'b' holds 'x'"),
        (sparse.csr_array(BOTH), r"y is a sparse matrix; .* pass y.toarray\(\)"),
        (np.empty((150, 0)), "0 feature|no column"),
        (BOTH[:, :, None], "dim"),
    ],
)
def test_targets_that_are_none(targets, sentence):
    with pytest.raises(ValueError, match=sentence):
        KernelRegressor().fit(X, targets)
