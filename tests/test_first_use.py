"""What people who know scikit-learn do first: it works, or one sentence says what to do instead."""

import io
import pickle
import warnings
from contextlib import suppress

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
from sklearn.feature_selection import RFE, SelectFromModel, SequentialFeatureSelector
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    RandomizedSearchCV,
    TimeSeriesSplit,
    cross_val_score,
    learning_curve,
    validation_curve,
)
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from mercer import SVC, KernelClassifier, KernelRegressor, KernelSearchCV, Pegasos, Perceptron
from mercer.kernels import Gaussian, Polynomial

polars = pytest.importorskip("polars")

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
y = (X[:, 0] + 0.3 * rng.normal(size=80) > 0).astype(int)
three = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.7])
target = X[:, 0] + 0.1 * rng.normal(size=80)
words = np.array(["no", "yes"])[y]
frame = pd.DataFrame(X, columns=["a", "b", "c"])
mixed = frame.assign(colour=np.array(["red", "blue", "green"])[three])

CLASSIFIERS = {
    "svc": SVC(),
    "linear svc": SVC(kernel=None),
    "logistic": KernelClassifier(),
    "linear logistic": KernelClassifier(kernel=None),
    "pegasos": Pegasos(random_state=0),
    "perceptron": Perceptron(random_state=0),
}
REGRESSORS = {
    "ridge": KernelRegressor(),
    "linear huber": KernelRegressor(kernel=None, loss="huber"),
    "tube": KernelRegressor(loss="epsilon_insensitive"),
}
ALL = CLASSIFIERS | REGRESSORS
LINEAR = ["linear svc", "linear logistic", "pegasos", "perceptron", "linear huber"]
classifiers = pytest.mark.parametrize("name", CLASSIFIERS)
regressors = pytest.mark.parametrize("name", REGRESSORS)
every = pytest.mark.parametrize("name", ALL)


@pytest.fixture(autouse=True)
def quietly():
    """No warning but those that a test asks for."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def goal(name):
    return target if name in REGRESSORS else y


def answers(model, rows):
    return model.predict(rows) if isinstance(model, KernelRegressor) else model.decision_function(rows)


# -- the first line -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("machine", "same"),
    [
        (SVC(kernel="rbf", C=10), SVC("gaussian", C=10)),
        (SVC(kernel="poly"), SVC("polynomial")),
        (SVC(kernel="rbf(gamma=0.5)"), SVC(Gaussian(gamma=0.5))),
        (SVC(kernel="polynomial(degree=2)"), SVC(Polynomial(degree=2))),
        (SVC(kernel="linear"), SVC(None)),
        (SVC(kernel=lambda A, B: A @ B.T), SVC(None)),
    ],
    ids=["rbf", "poly", "a rate", "a degree", "linear", "a function"],
)
def test_kernels_by_the_names_that_people_know(machine, same):
    np.testing.assert_allclose(machine.fit(X, y).decision_function(X), same.fit(X, y).decision_function(X), atol=2e-3)


def test_a_precomputed_matrix_is_the_kernel():
    K = Gaussian(gamma=0.5)(X)
    given = SVC("precomputed", tol=1e-6).fit(K, y)
    direct = SVC(Gaussian(gamma=0.5), tol=1e-6).fit(X, y)
    np.testing.assert_allclose(given.decision_function(K), direct.decision_function(X), atol=1e-4)


@pytest.mark.parametrize(
    ("first", "sentence"),
    [
        (lambda: SVC(kernel="gausian").fit(X, y), "nearest name is 'gaussian'"),
        (lambda: SVC(10).fit(X, y), "kernel=10 is not a kernel; give one of mercer.kernels"),
        (lambda: SVC(C=0).fit(X, y), "C must be a number greater than 0"),
        (lambda: SVC(C="1").fit(X, y), "C must be a number greater than 0"),
        (lambda: SVC().set_params(gamma=3), "gamma is a parameter of the kernel of SVC; set kernel__gamma"),
        (lambda: SVC("polynomial").set_params(degree=3), "degree is a parameter of the kernel"),
        (lambda: GridSearchCV(SVC(), {"gamma": [1, 2]}).fit(X, y), "set kernel__gamma"),
        (lambda: SVC().set_params(colour=3), "Invalid parameter 'colour'"),
        (lambda: SVC().fit(X, y).predict_proba(X), "no probabilities: .*CalibratedClassifierCV"),
        (lambda: SVC().predict(X), "not fitted yet"),
        (lambda: SVC().fit(X, None), "requires y to be passed"),
        (lambda: SVC().fit(X[:, 0], y), "Expected 2D array"),
        (lambda: SVC().fit(X, y).predict(X[0]), r"Reshape your data .*array.reshape\(1, -1\)"),
        (lambda: SVC().fit(X, y).predict(X[:, :2]), "X has 2 features, but SVC is expecting 3"),
        (lambda: SVC().fit(X, y[:-1]), "inconsistent numbers of samples"),
        (lambda: SVC().fit(X, target), "Unknown label type: continuous"),
        (lambda: KernelRegressor().fit(X, words), "row 0 holds 'no'|row 0 holds 'yes'"),
        (lambda: SVC().fit(frame, y).predict(frame[["b", "a", "c"]]), "same order"),
        (lambda: SVC().fit(mixed, y), "column 'colour' of X is not numeric: row 0 holds .*OneHotEncoder"),
        (lambda: SVC().fit(polars.DataFrame(mixed.to_dict("list")), y), "column 'colour' of X is not numeric"),
        (lambda: SVC().fit(mixed.to_numpy(), y), "column 3 of X is not numeric"),
        (lambda: SVC().fit(words, y), "X holds texts such as '(no|yes)', not rows .*Spectrum"),
        (lambda: SVC().fit(X, np.ma.masked_array(y, np.arange(80) == 7)), "y is masked in row 7"),
        (lambda: KernelRegressor().fit(X, np.ma.masked_array(target, np.arange(80) == 7)), "y is masked in row 7"),
        (lambda: SVC().fit(X, y, np.ma.masked_array(y, y == 1)), "sample_weight is masked"),
    ],
)
def test_a_first_mistake_gets_a_sentence(first, sentence):
    with pytest.raises((ValueError, TypeError, AttributeError, NotFittedError), match=f"(?s){sentence}"):
        first()


# -- tools of scikit-learn ------------------------------------------------------------------------------------------


@every
def test_in_pipelines(name):
    assert make_pipeline(StandardScaler(), ALL[name]).fit(X, goal(name)).score(X, goal(name)) > 0.75
    columns = make_column_transformer((StandardScaler(), ["a", "b"]), (OneHotEncoder(sparse_output=False), ["colour"]))
    for form in ("default", "pandas", "polars"):
        steps = make_pipeline(clone(columns), clone(ALL[name])).set_output(transform=form)
        assert steps.fit(mixed, goal(name)).score(mixed, goal(name)) > 0.75
        if form != "default":
            assert steps[-1].feature_names_in_[0] == "standardscaler__a"


@every
def test_in_searches_and_splits(name):
    model, labels = ALL[name], goal(name)
    grid = {"memory": ["1GB", "2GB"]}  # a parameter that all have, and that changes nothing
    assert np.ptp(GridSearchCV(model, grid, cv=2).fit(X, labels).cv_results_["mean_test_score"]) == 0
    assert RandomizedSearchCV(model, grid, n_iter=1, cv=2, random_state=0).fit(X, labels).best_score_ > 0
    for cv, groups in ((TimeSeriesSplit(3), None), (GroupKFold(3), np.arange(80) % 5)):
        assert np.isfinite(cross_val_score(model, X, labels, cv=cv, groups=groups)).all()
    assert learning_curve(model, X, labels, cv=2, train_sizes=[0.5, 1.0])[2].shape == (2, 2)
    assert validation_curve(model, X, labels, cv=2, param_name="memory", param_range=["1GB"])[1].shape == (1, 2)


@pytest.mark.thorough
def test_in_two_processes():
    scores = [cross_val_score(SVC(), X, words, cv=3, n_jobs=jobs) for jobs in (1, 2)]
    assert (scores[0] == scores[1]).all()


@pytest.mark.parametrize("name", LINEAR)
def test_weights_choose_columns(name):
    for chosen in (
        RFE(ALL[name], n_features_to_select=1).fit(X, goal(name)).support_,
        SelectFromModel(ALL[name], max_features=1, threshold=-np.inf).fit(X, goal(name)).get_support(),
    ):
        assert chosen.tolist() == [True, False, False]


@pytest.mark.parametrize("name", ["svc", "ridge"])
def test_scores_choose_columns(name):
    picked = SequentialFeatureSelector(ALL[name], n_features_to_select=1, cv=3).fit(frame, goal(name))
    assert picked.get_feature_names_out().tolist() == ["a"]


@regressors
def test_targets_that_are_transformed(name):
    inside = TransformedTargetRegressor(REGRESSORS[name], transformer=StandardScaler()).fit(X, 1000 + 5 * target)
    assert inside.score(X, 1000 + 5 * target) > 0.9
    assert TransformedTargetRegressor(REGRESSORS[name]).fit(X, target).score(X, target) > 0.9
    both = MultiOutputRegressor(REGRESSORS[name]).fit(X, np.c_[target, -target]).predict(X)
    np.testing.assert_allclose(both[:, 0], -both[:, 1], atol=1e-3)


@every
def test_kept_and_copied(name):
    model = clone(ALL[name]).fit(X, goal(name))
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(file)):
        assert (answers(copy, X) == answers(model, X)).all()
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    assert type(model).__name__ in model._repr_html_()


# -- rows and labels of every make ----------------------------------------------------------------------------------


def read_only(array):
    array = array.copy()
    array.setflags(write=False)
    return array


def long_indices(rows):
    out = sparse.csr_array(rows)
    out.indices, out.indptr = read_only(out.indices.astype(np.int64)), read_only(out.indptr.astype(np.int64))
    return out


ROWS = {
    "list": X.tolist(),
    "fortran": np.asfortranarray(X),
    "every second": np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "read-only": read_only(X),
    "other bytes": X.astype(">f8"),
    "long": X.astype(np.longdouble),
    "objects": X.astype(object),
    "numerals": X.astype(str),
    "sparse": long_indices(X),
    "coordinates": sparse.coo_matrix(X),
    "pandas": frame,
    "pandas, other index": frame.set_index(np.arange(80)[::-1]),
    "pandas, nullable": frame.astype("Float64"),
    "pandas, objects": frame.astype(object),
    "polars": polars.DataFrame(frame.to_dict("list")),
}


@pytest.mark.parametrize("form", ROWS)
@pytest.mark.parametrize("name", ["svc", "linear svc", "logistic", "pegasos", "ridge"])
def test_rows_of_every_make_are_the_same_rows(name, form):
    expected = answers(clone(ALL[name]).fit(X, goal(name)), X)
    model = clone(ALL[name]).fit(ROWS[form], goal(name))
    np.testing.assert_allclose(answers(model, ROWS[form]), expected, atol=1e-7)


@every
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.uint64, bool])
def test_numbers_of_every_size(name, dtype):
    rows = np.maximum(4 * X, 0).astype(dtype)
    wide = answers(clone(ALL[name]).fit(rows.astype(np.float64), goal(name)), rows.astype(np.float64))
    narrow = answers(clone(ALL[name]).fit(rows, goal(name)), rows)
    np.testing.assert_allclose(narrow, wide, atol=1e-2 * np.abs(wide).max())


LABELS = {
    "words": words,
    "objects": words.astype(object),
    "truth values": y.astype(bool),
    "int8": y.astype(np.int8),
    "signs": 2 * y - 1,
    "large": y * 2**62,
    "floats": y.astype(float),
    "float16": y.astype(np.float16),
    "list": y.tolist(),
    "tuple": tuple(words),
    "read-only": read_only(y),
    "every second": np.repeat(y, 2)[::2],
    "series": pd.Series(words, index=np.arange(80)[::-1]),
    "strings": pd.Series(words, dtype="string"),
    "categories": pd.Series(pd.Categorical(words)),
    "a categorical": pd.Categorical(words),
    "nullable": pd.Series(y, dtype="Int64"),
    "nullable truth": pd.Series(y.astype(bool), dtype="boolean"),
    "polars": polars.Series(words),
    "polars categories": polars.Series(words, dtype=polars.Categorical),
    "dates": np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]")[y],
}


@pytest.mark.parametrize("form", LABELS)
@pytest.mark.parametrize("name", ["svc", "logistic", "perceptron"])
def test_labels_of_every_make_come_back(name, form):
    labels = LABELS[form]
    model = clone(CLASSIFIERS[name]).fit(X, labels)
    numbered = clone(CLASSIFIERS[name]).fit(X, y)
    assert (model.decision_function(X) == numbered.decision_function(X)).all()
    assert (model.predict(X) == model.classes_[numbered.predict(X)]).all()
    assert set(model.predict(X)) <= set(labels)
    assert model.score(X, labels) == numbered.score(X, y)


@classifiers
@pytest.mark.parametrize("column", [np.asarray, pd.DataFrame], ids=["array", "frame"])
def test_a_column_of_labels_is_taken_with_a_warning(name, column):
    with pytest.warns(DataConversionWarning):
        model = clone(ALL[name]).fit(X, column(goal(name)[:, None]))
    assert (answers(model, X) == answers(clone(ALL[name]).fit(X, goal(name)), X)).all()


@regressors
@pytest.mark.parametrize("column", [np.asarray, pd.DataFrame], ids=["array", "frame"])
def test_a_column_of_targets_stays_one(name, column):
    model = clone(ALL[name]).fit(X, column(target[:, None]))
    assert (answers(model, X)[:, 0] == answers(clone(ALL[name]).fit(X, target), X)).all()


@regressors
@pytest.mark.parametrize(
    "make", [list, pd.Series, polars.Series, lambda t: t.astype(object), lambda t: pd.Series(t, dtype="Float64")]
)
def test_targets_of_every_make(name, make):
    expected = clone(REGRESSORS[name]).fit(X, target).predict(X)
    np.testing.assert_allclose(clone(REGRESSORS[name]).fit(X, make(target)).predict(X), expected, atol=1e-12)


@every
def test_no_row_one_row_and_few_rows(name):
    model = clone(ALL[name]).fit(frame, goal(name))
    assert model.predict(frame[:0]).shape == (0,)
    assert model.predict(frame[:1]) == model.predict(frame)[:1]
    assert model.predict(frame[3:5]).tolist() == model.predict(frame)[3:5].tolist()
    few = clone(ALL[name]).fit([[0.0], [1.0]], [0, 1])
    assert few.score([[0.0], [1.0]], [0, 1]) > 0.5


@classifiers
def test_three_classes(name):
    model = clone(CLASSIFIERS[name]).fit(X, three)
    assert model.decision_function(X).shape == (80, 3)
    assert model.decision_function(X[:0]).shape == (0, 3)
    with suppress(AttributeError):  # where the loss has none
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert (model.decision_function(X).argmax(axis=1) == model.predict(X)).all()


def test_a_value_that_is_no_number_is_not_predicted():
    model = KernelRegressor("polynomial(degree=3)").fit(X, X[:, 0])
    with pytest.raises(ValueError, match="the score of row 0 is not a finite number"):
        model.predict(np.full((1, X.shape[1]), 1e140))


def test_a_kernel_and_its_parameters_are_set_together():
    machine = SVC("linear").set_params(kernel="rbf", kernel__gamma=0.1)
    assert machine.kernel == Gaussian(gamma=0.1)
    grid = [{"kernel": ["linear"]}, {"kernel": ["rbf"], "kernel__gamma": ["scale", 0.1]}]
    plain, ours = (search(SVC(), grid, cv=3).fit(X, y) for search in (GridSearchCV, KernelSearchCV))
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    with pytest.raises(ValueError, match="Perceptron has no kernel whose parameters could be set"):
        Perceptron().set_params(kernel__gamma=1)
