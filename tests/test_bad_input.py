"""Every mistake gets one sentence that names the cause, before any work is done."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from mercer import SVC, SVR, KernelClassifier, KernelRegressor, NuSVC, NuSVR, OneClassSVM, Pegasos, Perceptron

X = np.random.RandomState(0).standard_normal((12, 2))
y = np.arange(12) % 2

both = pytest.mark.parametrize("learner", [Perceptron, Pegasos])


def changed(row, column, value):
    out = X.copy()
    out[row, column] = value
    return out


def damaged():
    out = sparse.csr_array(X)
    out.indices[3] = 99
    return out


@both
@pytest.mark.parametrize("kernel", [None, "gaussian(gamma=0.5)"])
@pytest.mark.parametrize(
    ("rows", "labels", "hint"),
    [
        (changed(4, 1, np.nan), y, "NaN in row 4, column 1"),
        (changed(2, 0, np.inf), y, r"infinity \(inf\) in row 2, column 0"),
        (sparse.csr_array(changed(4, 1, np.nan)), y, "NaN in row 4, column 1"),
        (X * 1e200, y, "scale the columns first"),
        (X * 1e-200, y, "squares vanish"),
        (X, np.zeros(12), "only one class"),
        (X[:0], y[:0], "0 sample"),
        (X[:1], y[:1], "only one class"),
        (X[:, :0], y, "0 feature"),
        (X, y[:5], "inconsistent numbers of samples"),
        (X[0], y, "2D array"),
        (X, [1, "a"] * 6, r"y mixes numbers \(row 0\) and text \(row 1\)"),
        (X, [None, *y[1:]], "missing label in row 0"),
        (X, [*y[:-1], float("nan")], "missing label in row 11"),
        (X, np.random.RandomState(0).standard_normal(12), "Unknown label type: continuous"),
        (X * 1j, y, "Complex data not supported"),
        (np.ma.masked_array(X, X > 0), y, "masked array"),
        (X.astype("datetime64[s]"), y, "dates"),
        (damaged(), y, "column index outside"),
        (np.array([["a", "b"]] * 12), y, "could not convert|numeric"),
        ([[1.0, "b"]] * 12, y, "column 1 of X is not numeric: row 0 holds 'b'; encode it first"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_bad_rows_and_labels(learner, kernel, rows, labels, hint):
    with pytest.raises(ValueError, match=hint):
        learner(kernel, random_state=0).fit(rows, labels)


@both
def test_bad_frames(learner):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = pandas.DataFrame({"size": X[:, 0], "colour": pandas.Categorical(["red", "blue"] * 6)})
    with pytest.raises(ValueError, match="column 'colour' of X is of type category; encode"):
        learner().fit(table, y)
    with pytest.raises(ValueError, match="row 3, column 1 \\('b'\\)"):
        learner().fit(pandas.DataFrame(changed(3, 1, np.nan), columns=["a", "b"]), y)
    with pytest.raises(TypeError, match="collect"):
        learner().fit(polars.LazyFrame({"a": X[:, 0]}), y)
    with pytest.raises(ValueError, match="missing label in row 2"):
        learner().fit(X, pandas.Series([0, 1, None, 1, 0, 1, 0, 1, 0, 1, 0, 1], dtype="Int64"))


@both
@pytest.mark.parametrize(
    ("weight", "hint"),
    [
        (np.r_[-1.0, np.ones(11)], "[Nn]egative"),
        (np.r_[np.nan, np.ones(11)], "NaN"),
        (y.astype(float), "remove class"),
        (np.zeros(12), "zero"),
        (np.ones(5), "shape"),
    ],
)
def test_bad_weights(learner, weight, hint):
    with pytest.raises(ValueError, match=hint):
        learner().fit(X, y, sample_weight=weight)


@both
def test_bad_class_weights(learner):
    with pytest.raises(ValueError, match="class_weight of 1 is nan"):
        learner(class_weight={0: 1.0, 1: float("nan")}).fit(X, y)


@pytest.mark.parametrize(
    ("model", "hint"),
    [
        (Pegasos(lam=0), "lam must be a number greater than 0, got 0"),
        (Pegasos(lam=-1), "lam must be"),
        (Pegasos(lam=float("nan")), "lam must be"),
        (Pegasos(lam="small"), "lam must be"),
        (Pegasos(steps=0), "steps must be a whole number of at least 1"),
        (Pegasos(steps=2.5), "whole number"),
        (Pegasos(batch=0), "batch must be"),
        (Pegasos(loss="hindge"), "use one of"),
        (Pegasos(sampling="all"), "sampling must be one of"),
        (Pegasos(sampling=[1, 2], steps=5), "names 2 rows, but 5 steps"),
        (Pegasos(sampling=[1, 99], steps=2), "from 0 to 11"),
        (Pegasos(kernel_scale="t+1"), "kernel_scale must be one of"),
        (Pegasos(checkpoints=[5000], steps=100), "between 1 and 100"),
        (Pegasos(memory="plenty"), "is not a size"),
        (Perceptron(epochs=0), "epochs must be"),
        (Perceptron(rate=0), "rate must be"),
        (Perceptron(order="sorted"), "order must be one of"),
        (Perceptron(variant="best"), "variant must be one of"),
        (Perceptron(variant="voted", start="random"), "needs start='zero'"),
        (Perceptron(kernel="gausian"), "there is no kernel"),
        (Perceptron(kernel=lambda A, B: A), "returned shape"),
        (Perceptron(kernel=lambda A, B: np.outer(A[:, 0], B[:, 1])), "is not symmetric"),
        (Perceptron(kernel="precomputed"), "square matrix"),
        (Perceptron("polynomial(degree=90, gamma=1e8)"), "overflows on these rows"),
        (Pegasos(checkpoints=[2.5]), "whole numbers between"),
        (Pegasos(steps=10**400), "steps must be"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_bad_parameters(model, hint):
    with pytest.raises(ValueError, match=hint):
        model.fit(X, y)


def test_bad_precomputed_matrices():
    with pytest.raises(ValueError, match=r"not symmetric: k\(0, 11\)"):
        Perceptron(kernel="precomputed").fit(np.arange(144.0).reshape(12, 12), y)
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        Perceptron(kernel="precomputed").fit(sparse.csr_array(np.eye(12)), y)
    model = Perceptron(kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="features"):
        model.predict(np.ones((2, 5)))


@both
def test_new_labels_in_partial_fit(learner):
    model = learner().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match=r"label .*7.* in row 0 is not among"):
        model.partial_fit(X, y + 7)
    with pytest.raises(ValueError, match="differ from those of the first call"):
        learner().partial_fit(X, y, classes=[0, 1]).partial_fit(X, y, classes=[0, 2])
    with pytest.raises(ValueError, match="classes must be passed"):
        learner().partial_fit(X, y)


@both
def test_a_failed_fit_leaves_no_warning_of_work(learner):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="NaN"):
            learner().fit(changed(0, 0, np.nan), y)


@both
def test_contradictory_duplicates_are_learned(learner):
    rows = np.vstack([X, X])
    model = learner("gaussian(gamma=1)", random_state=0).fit(rows, np.r_[y, 1 - y])
    assert model.predict(rows).shape == (24,)


def test_messages_show_labels_as_they_were_written():
    rows = [[0.0], [1.0], [2.0]]
    with pytest.raises(ValueError, match=r"only one class, 'p'\."):
        SVC("gaussian").fit(rows, ["p", "p", "p"])
    with pytest.raises(ValueError, match="the weights remove class 'q'"):
        SVC("gaussian").fit(rows, ["p", "q", "p"], sample_weight=[1.0, 0.0, 1.0])


@pytest.mark.parametrize("scale", [5e-324, 1e-320, 1e306])
@pytest.mark.parametrize(
    "machine", [SVC(), NuSVC(nu=0.3), NuSVR(), OneClassSVM(), KernelClassifier(), KernelRegressor()]
)
def test_weights_beyond_the_range_of_numbers(machine, scale):
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40) % 2
    with pytest.raises(ValueError, match="leave the range of numbers"):
        machine.fit(X, y, sample_weight=np.full(40, scale))


@pytest.mark.parametrize("machine", [NuSVC(nu=0.3), KernelClassifier(loss="squared_hinge"), KernelRegressor()])
def test_weights_that_are_no_digit_of_others_are_zero(machine):
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(40, 2)), np.arange(40) % 2, np.where(rng.random(40) < 0.5, 1e-320, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tiny = machine.fit(X, y, sample_weight=weight).predict(X)
        none = machine.fit(X, y, sample_weight=np.where(weight < 1, 0.0, 1.0)).predict(X)
    np.testing.assert_array_equal(tiny, none)


@pytest.mark.parametrize("scale", [1e149, 1e139, 1e-139, 1e-149])
@pytest.mark.parametrize("machine", [SVC(), SVR(), OneClassSVM(), KernelClassifier(), KernelRegressor(), SVC(rank=10)])
def test_rows_at_the_ends_of_the_range_of_numbers(machine, scale):
    """Refused, or learned as those of any other unit."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    if 1e-140 < scale < 1e140:
        plain = machine.fit(X, y).predict(X)
        np.testing.assert_allclose(machine.fit(scale * X, y).predict(scale * X), plain, atol=1e-2)
    else:
        with pytest.raises(ValueError, match=r"scale the columns"):
            machine.fit(scale * X, y)
