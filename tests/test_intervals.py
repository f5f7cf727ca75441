"""Error bars: leave-one-out predictions against refits, intervals against their definitions and their coverage."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, RepeatedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVC, Conformal, KernelClassifier, KernelQuantiles, KernelRegressor, KernelSearchCV, load, save
from mercer.intervals import leave_one_out, upper_rank
from mercer.kernels import Gaussian

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
X[7] = X[6]
y = np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=60)
WEIGHT = np.where(np.arange(60) % 7 == 0, 0.0, rng.uniform(0.1, 3.0, 60))
WORDS = ["".join(rng.choice(list("ACGT"), 6)) for _ in range(40)]


def refitted(machine, X, y, weight=None):
    """Each row by a machine that is fitted without it."""
    found = []
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        own = clone(machine).fit(X[others], y[others], None if weight is None else weight[others])
        found.append((own.predict if isinstance(own, KernelRegressor) else own.decision_function)(X[i : i + 1])[0])
    return np.array(found)


# -- leave-one-out ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alike", "weighted"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kernel", ["gaussian(gamma=0.3)", "polynomial(degree=2)", None])
def test_leave_one_out_is_what_refits_predict(kernel, intercept, weight):
    machine = KernelRegressor(kernel, lam=0.01, fit_intercept=intercept, tol=1e-14)
    found = leave_one_out(machine, X, y, weight)
    np.testing.assert_allclose(found, refitted(machine, X, y, weight), atol=1e-9)


@settings(deadline=None, max_examples=25)
@given(st.integers(2, 14), st.booleans(), st.booleans(), st.integers(0, 10**6))
def test_leave_one_out_of_any_few_rows(n, intercept, weighted, seed):
    """Duplicates and constant targets among them, against the linear system without the row."""
    draw = np.random.default_rng(seed)
    rows, targets = draw.integers(0, 3, (n, 2)).astype(float), draw.integers(0, 3, n).astype(float)
    weight = draw.integers(1, 4, n).astype(float) if weighted else None
    lam = 10.0 ** draw.uniform(-3, 1)
    found = leave_one_out(KernelRegressor(Gaussian(0.5), fit_intercept=intercept), rows, targets, weight, lam=lam)
    K = Gaussian(0.5)(rows)
    for i in range(n):
        k = np.flatnonzero(np.arange(n) != i)
        s = np.ones(n - 1) if weight is None else weight[k]
        system = np.zeros((n, n))
        system[:-1, :-1] = K[np.ix_(k, k)] + np.diag(lam * s.sum() / s)
        system[:-1, -1] = system[-1, :-1] = 1.0 if intercept else 0.0
        system[-1, -1] = 0.0 if intercept else 1.0
        *z, b = np.linalg.solve(system, np.append(targets[k], 0.0))
        assert found[i] == pytest.approx(K[i, k] @ z + b, abs=1e-8)


def test_leave_one_out_along_lambda_and_of_several_targets():
    both, lams = np.column_stack([y, 100 * X[:, 2]]), [1e-3, 0.1, 10.0]
    found = leave_one_out(KernelRegressor("gaussian(gamma=0.3)"), X, both, lam=lams)
    assert found.shape == (3, 60, 2)
    for row, lam in enumerate(lams):
        for column in range(2):
            alone = leave_one_out(KernelRegressor("gaussian(gamma=0.3)", lam=lam), X, both[:, column])
            np.testing.assert_allclose(found[row, :, column], alone, rtol=1e-9, atol=1e-9)


def test_leave_one_out_of_a_classifier():
    labels = np.array(["no", "yes", "maybe"])[np.digitize(y, [0.5, 1.5])]
    machine = KernelClassifier("gaussian(gamma=0.3)", "squared", lam=0.01, tol=1e-14)
    np.testing.assert_allclose(leave_one_out(machine, X, labels), refitted(machine, X, labels), atol=1e-9)
    two = labels == "yes"
    np.testing.assert_allclose(leave_one_out(machine, X, two), refitted(machine, X, two), atol=1e-9)


def test_leave_one_out_of_other_items():
    target = np.array([word.count("A") for word in WORDS], dtype=float)
    machine = KernelRegressor("spectrum(p=2)", lam=0.01, tol=1e-14)
    expected = cross_val_predict(machine, np.array(WORDS, dtype=object), target, cv=LeaveOneOut())
    np.testing.assert_allclose(leave_one_out(machine, WORDS, target), expected, atol=1e-9)
    K = Gaussian(0.3)(X)
    found = leave_one_out(KernelRegressor("precomputed"), K, y)
    np.testing.assert_allclose(found, leave_one_out(KernelRegressor("gaussian(gamma=0.3)"), X, y), atol=1e-12)


@pytest.mark.parametrize(
    ("machine", "options", "sentence"),
    [
        (KernelRegressor(loss="huber"), {}, "loss='squared' alone"),
        (KernelClassifier(), {}, "loss='squared' alone"),
        (SVC(), {}, "not for SVC"),
        (make_pipeline(StandardScaler(), KernelRegressor()), {}, "not for Pipeline"),
        (KernelRegressor(), {"lam": [1.0, 0.0]}, "each lam must be a number greater than 0, got 0.0"),
        (KernelRegressor(), {"lam": "small"}, "each lam must be a number greater than 0, got 'small'"),
        (KernelRegressor(memory="10kB"), {}, "need 8.6e-05 GB .* raise it"),
        (KernelRegressor(), {"sample_weight": np.eye(60)[3]}, "two rows or more with a weight"),
    ],
)
def test_leave_one_out_is_refused_in_a_sentence(machine, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        leave_one_out(machine, X, y, **options)


# -- intervals ----------------------------------------------------------------------------------------------------

POINTS, QUANTILES = KernelRegressor("gaussian(gamma=0.3)", lam=0.01), KernelQuantiles(lam=0.01)
NEW = rng.normal(size=(25, 3))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 9), min_size=4, max_size=30), st.floats(0.05, 0.75))
def test_ranks_by_counting(values, coverage):
    """The least value that as many as asked for are not above; whole weights are rows that are there so often."""
    values = np.array(sorted(values), dtype=float)
    n = values.size
    found = upper_rank(values[:, None], np.ones(n), coverage)[0]
    assert (values <= found).sum() >= (n + 1) * coverage - 1e-6
    assert (values < found).sum() < (n + 1) * coverage


def test_weights_of_errors_count():
    values = np.array([[1.0], [2.0], [3.0], [4.0]])
    assert upper_rank(values, np.array([1.0, 1, 1, 5]), 0.75) == 4.0
    assert upper_rank(values, np.array([5.0, 1, 1, 1]), 0.5) == 1.0
    assert upper_rank(values, np.array([2.0, 2, 2, 2]), 0.5) == upper_rank(values, np.ones(4), 0.5)


def test_split_by_its_definition():
    model = Conformal(POINTS, coverage=0.8, random_state=3).fit(X, y)
    errors = np.sort(model.errors_)
    assert errors.size == 15
    half = errors[int(np.ceil(0.8 * 16)) - 1]
    middle = model.predict(NEW)
    np.testing.assert_allclose(model.predict_interval(NEW), np.column_stack([middle - half, middle + half]))


@pytest.mark.parametrize("machine", [POINTS, QUANTILES], ids=["points", "quantiles"])
def test_cross_by_its_definition(machine):
    folds = KFold(4, shuffle=True, random_state=1)
    model = Conformal(machine, "cross", coverage=0.8, cv=folds).fit(X, y)
    low, high = np.empty((60, 25)), np.empty((60, 25))
    for train, test in folds.split(X):
        own = clone(machine).fit(X[train], y[train])
        of_test, of_new = (np.reshape(own.predict(rows), (len(rows), -1))[:, [0, -1]] for rows in (X[test], NEW))
        error = np.maximum(of_test[:, 0] - y[test], y[test] - of_test[:, 1])
        low[test] = of_new[:, 0] - error[:, None]
        high[test] = of_new[:, 1] + error[:, None]
    expected = [np.sort(low, axis=0)[int(np.floor(0.2 * 61)) - 1], np.sort(high, axis=0)[int(np.ceil(0.8 * 61)) - 1]]
    np.testing.assert_allclose(model.predict_interval(NEW), np.column_stack(expected), atol=1e-9)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["alike", "weighted"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kernel", ["gaussian(gamma=0.3)", None])
def test_jackknife_is_cross_with_a_fold_for_each_row(kernel, intercept, weight):
    machine = KernelRegressor(kernel, lam=0.01, fit_intercept=intercept, tol=1e-14)
    quick = Conformal(machine, "jackknife+", 0.8).fit(X, y, weight)
    slow = Conformal(machine, "cross", 0.8, cv=LeaveOneOut()).fit(X, y, weight)
    np.testing.assert_allclose(quick.errors_, slow.errors_, atol=1e-9)
    np.testing.assert_allclose(quick.predict_interval(NEW), slow.predict_interval(NEW), atol=1e-8)
    np.testing.assert_allclose(quick.predict(NEW), slow.predict(NEW), atol=1e-9)


@pytest.mark.parametrize("method", ["split", "cross", "jackknife+"])
def test_coverage_is_what_was_asked_for(method):
    """Over many draws, in a wide margin; ``reproductions.coverage`` measures it closely."""
    draw, inside = np.random.default_rng(1), []
    for _ in range(40):
        rows = draw.uniform(-2, 2, (140, 1))
        target = np.sin(2 * rows[:, 0]) + 0.3 * draw.normal(size=140)
        model = Conformal(KernelRegressor("gaussian(gamma=1)", lam=0.01), method, 0.8).fit(rows[:80], target[:80])
        low, high = model.predict_interval(rows[80:]).T
        inside.append(np.mean((low <= target[80:]) & (target[80:] <= high)))
    assert 0.76 < np.mean(inside) < 0.86


def test_intervals_of_quantiles_follow_the_scatter():
    draw = np.random.default_rng(2)
    rows = draw.uniform(0, 1, (600, 1))
    target = rows[:, 0] * draw.normal(size=600)
    model = Conformal(KernelQuantiles(quantiles=(0.1, 0.5, 0.9)), coverage=0.8).fit(rows, target)
    widths = np.diff(model.predict_interval([[0.1], [0.9]]), axis=1).ravel()
    assert widths[1] > 3 * widths[0]
    assert model.predict([[0.5]]) == pytest.approx(model.estimator_.predict([[0.5]])[0, 1])
    narrow = model.predict_interval(rows, coverage=0.02)
    assert (narrow[:, 0] <= narrow[:, 1]).all()


@pytest.mark.parametrize(
    "machine",
    [
        make_pipeline(StandardScaler(), KernelRegressor()),
        make_pipeline(StandardScaler(), KernelQuantiles()),
        TransformedTargetRegressor(KernelRegressor(), func=np.arcsinh, inverse_func=np.sinh),
        KernelSearchCV(KernelRegressor(), {"lam": [1e-3, 1e-1]}, cv=3),
        LinearRegression(),
    ],
    ids=lambda machine: type(machine).__name__,
)
def test_around_what_people_put_around_machines(machine):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for method in ("split", "cross"):
        model = Conformal(machine, method, 0.8).fit(frame, pd.Series(y))
        ends = model.predict_interval(frame)
        assert ends.shape == (60, 2)
        assert (ends[:, 0] < ends[:, 1]).all()
        assert model.predict(frame).shape == (60,)
        assert list(model.feature_names_in_) == ["a", "b", "c"]
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_interval(frame), ends)
    assert 0 < GridSearchCV(model, {"coverage": [0.5, 0.8]}, cv=3).fit(frame, y).best_score_ <= 1


@pytest.mark.parametrize("method", ["split", "cross", "jackknife+"])
def test_other_items_and_square_matrices(method):
    target = np.array([word.count("A") for word in WORDS], dtype=float)
    words = Conformal(KernelRegressor("spectrum(p=2)"), method, 0.8).fit(WORDS, target)
    assert words.predict_interval(["AAAAAA", "CCCCCC"]).shape == (2, 2)
    rows = Conformal(POINTS, method, 0.8).fit(X, y)
    matrix = Conformal(KernelRegressor("precomputed", lam=0.01), method, 0.8).fit(Gaussian(0.3)(X), y)
    across = Gaussian(0.3)(NEW, X)
    np.testing.assert_allclose(matrix.predict_interval(across), rows.predict_interval(NEW), atol=1e-9)
    np.testing.assert_allclose(matrix.predict(across), rows.predict(NEW), atol=1e-9)


@pytest.mark.parametrize("method", ["split", "cross", "jackknife+"])
@pytest.mark.parametrize("machine", [POINTS, QUANTILES, make_pipeline(StandardScaler(), KernelRegressor(None))],
                         ids=["points", "quantiles", "linear"])  # fmt: skip
def test_model_files(machine, method, tmp_path):
    if method == "jackknife+" and machine is QUANTILES:
        return
    model = Conformal(machine, method, 0.8, cv=KFold(3)).fit(X, y)
    save(model, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict_interval(NEW), model.predict_interval(NEW))
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (Conformal(POINTS, "bootstrap"), "method must be one of 'split', 'cross', 'jackknife\\+'; got 'bootstrap'"),
        (Conformal(POINTS, coverage=90), "coverage must be a number between 0 and 1, got 90"),
        (Conformal(POINTS, coverage=0.99), "coverage 0.99 needs the errors of 99 rows or more, there are 15"),
        (Conformal(POINTS, held_out=1.5), "held_out must be a number between 0 and 1"),
        (Conformal(POINTS, "cross", cv=1), "cv must be a whole number of at least 2"),
        (Conformal(POINTS, "cross", cv=RepeatedKFold(n_splits=3, n_repeats=2)), "row 0 is a test row 2 times"),
        (Conformal(QUANTILES, "jackknife+"), "not for KernelQuantiles; use method='cross'"),
        (Conformal(KernelRegressor(loss="huber"), "jackknife+"), "loss='squared' alone; use method='cross'"),
        (Conformal(SVC()), "SVC is a classifier"),
        (Conformal(KernelQuantiles(quantiles=[0.5])), "one prediction a row, or two quantiles or more"),
        (
            Conformal(make_pipeline(SelectKBest(f_regression, k=2), KernelRegressor()), "jackknife+"),
            "SelectKBest cannot be fitted without targets, .* use method='cross'",
        ),
    ],
)
def test_intervals_are_refused_in_a_sentence(model, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.fit(X, y)


def test_predictions_that_are_no_numbers():
    unheard = TransformedTargetRegressor(
        POINTS, func=np.exp, inverse_func=lambda y: np.log(y - 10), check_inverse=False
    )
    with (
        pytest.raises(ValueError, match="predictions of the estimator are not finite numbers"),
        np.errstate(all="ignore"),
    ):
        Conformal(unheard, "cross").fit(X, y)


def test_a_coverage_for_which_there_are_too_few_rows_later():
    model = Conformal(POINTS, "cross").fit(X, y)
    with pytest.raises(ValueError, match="needs the errors of 199 rows or more, there are 60"):
        model.predict_interval(X, coverage=0.995)
    with pytest.raises(ValueError, match=r"y should be a 1d array"):
        model.fit(X, np.column_stack([y, y]))


def rows_that_count_twice(model):
    """Which rows are held out is drawn at random, and another draw with repeated rows."""
    names = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
    return dict.fromkeys(names, "held-out rows are drawn at random") if model.method == "split" else {}


@pytest.mark.thorough
@parametrize_with_checks(
    [Conformal(KernelRegressor(), coverage=0.5), Conformal(KernelRegressor(), "jackknife+", 0.5)],
    expected_failed_checks=rows_that_count_twice,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("levels", [(0.05, 0.95), (0.1, 0.9), (0.025, 0.975), (0.1, 0.4, 0.9)], ids=str)
def test_the_prediction_of_quantiles_lies_in_their_middle(levels):
    draw = np.random.default_rng(0)
    rows = draw.uniform(-1, 1, size=(150, 1))
    targets = 10 + rows[:, 0] + draw.normal(size=150)
    model = Conformal(KernelQuantiles(quantiles=levels), coverage=0.8).fit(rows, targets)
    low, high = model.predict_interval(rows).T
    middle = model.predict(rows)
    assert np.mean((low <= middle) & (middle <= high)) == 1
    assert abs(np.mean(targets < middle) - 0.5) < 0.2
