"""The scores of an item are the same, bit for bit, alone or among others, in any order and on any number of threads."""

import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import mercer
from mercer.estimators import KernelModel, LinearModel
from mercer.kernels import (
    Cosine,
    Equal,
    Function,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Quadratic,
    Spectrum,
    Subsequence,
)
from mercer.kernels.engine import Strips

from . import cases

rng = np.random.default_rng(5)

#: More support rows than fit into a tile or a strip, and numbers of rows and features that nothing divides.
SUPPORT, ROWS = 613, 149


def rows_like(n, width, kind, dtype):
    out = rng.standard_normal((n, width)) + (3.0 if kind == "far" else 0.0)
    if kind in ("thin", "sparse"):
        out *= rng.random((n, width)) < 0.1
    out = out.astype(dtype)
    return sparse.csr_array(out) if kind == "sparse" else out


def model_of(kernel, items, scores):
    n = items.shape[0] if hasattr(items, "shape") else len(items)
    return KernelModel(kernel, np.arange(n), items, rng.standard_normal((scores, n)), rng.standard_normal(scores))


def assert_alone_as_among_others(score, X):
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    together = score(X)
    every = np.arange(n)
    alone = [every[k : k + 1] for k in range(0, n, 1 + n // 25)]
    for pieces in (alone, np.array_split(every, 7), [rng.permutation(n)], [every[::-3]]):
        for piece in pieces:
            np.testing.assert_array_equal(score(X[piece]), together[piece])


WIDE = [
    Linear(),
    Gaussian(gamma=0.01),
    Polynomial(degree=3, gamma=0.01),
    Laplacian(gamma=0.01),
    Matern(nu=1.5, length=5.0),
    Matern(nu=0.7, length=5.0),
    Cosine(),
    2 * Gaussian(gamma=0.02) + Linear() * Cosine(),
]


@pytest.mark.parametrize("kernel", WIDE, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["dense", "far", "thin", "sparse"])
@pytest.mark.parametrize("scores", [1, 3, 6])
def test_kernels_on_wide_rows(kernel, dtype, kind, scores):
    model = model_of(kernel, rows_like(SUPPORT, 67, kind, dtype), scores)
    assert_alone_as_among_others(lambda X: model.scores(X, "1GB"), rows_like(ROWS, 67, kind, dtype))


@pytest.mark.parametrize("kernel", [k for k in cases.KERNELS if not isinstance(k, Function)], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_kernels_on_narrow_rows(kernel, dtype, kind):
    model = model_of(kernel, rows_like(SUPPORT, 3, kind, dtype), 2)
    assert_alone_as_among_others(lambda X: model.scores(X, "1GB"), rows_like(ROWS, 3, kind, dtype))


@pytest.mark.parametrize("left", ["dense", "sparse"])
@pytest.mark.parametrize("right", ["dense", "sparse"])
@pytest.mark.parametrize("dtypes", [(np.float32, np.float64), (np.float64, np.float32)])
def test_rows_of_another_form_than_the_support(left, right, dtypes):
    model = model_of(Gaussian(gamma=0.05) + Matern(), rows_like(SUPPORT, 40, right, dtypes[0]), 2)
    assert_alone_as_among_others(lambda X: model.scores(X, "1GB"), rows_like(ROWS, 40, left, dtypes[1]))


def test_a_batch_of_full_rows_among_thin_ones():
    """Which product is used is for the support to say: a batch that looks different is scored in the same way."""
    model = model_of(Gaussian(gamma=0.05), rows_like(SUPPORT, 67, "thin", np.float64), 1)
    X = np.vstack([rows_like(10, 67, "dense", np.float64), rows_like(90, 67, "thin", np.float64)])
    assert_alone_as_among_others(lambda X: model.scores(X, "1GB"), X)


def test_a_dense_quadratic_form():
    C = rng.standard_normal((31, 31))
    model = model_of(Quadratic(C @ C.T), rows_like(SUPPORT, 31, "dense", np.float64), 2)
    assert_alone_as_among_others(lambda X: model.scores(X, "1GB"), rows_like(ROWS, 31, "dense", np.float64))


@pytest.mark.parametrize(("kernel", "items"), cases.STRUCTURED, ids=[str(kernel) for kernel, _ in cases.STRUCTURED])
@pytest.mark.parametrize("times", [1, 30])
def test_structured_items(kernel, items, times):
    """With many support items features are listed, with few the items are compared in pairs."""
    collection = kernel.items(list(items) * times)
    model = model_of(kernel, collection, 2)
    assert_alone_as_among_others(lambda X: model.scores(X, "1GB"), kernel.items(list(items)))


def test_whether_features_are_listed_is_decided_item_by_item():
    kernel = Subsequence(k=3, tokens="words") * Spectrum(p=1)
    words = ["a b " * 20, "b a a " * 9] * 90
    model = model_of(kernel, kernel.items(words), 1)
    varied = [" ".join(map(str, range(40))), "b a " * 12, " ".join(map(str, range(60))), "a b b a", ""]
    listed = kernel.cheaper_in_primal(kernel.items(varied), model.items)
    assert listed.any()
    assert not listed.all()
    assert_alone_as_among_others(lambda X: model.scores(X, "1GB"), kernel.items(varied))
    by_pairs = kernel.matrix(kernel.items(varied), model.items) @ model.coef.T + model.intercept
    np.testing.assert_allclose(model.scores(kernel.items(varied), "1GB"), by_pairs, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("scores", [1, 2, 5])
@pytest.mark.parametrize("width", [1, 30, 1001])
def test_linear_models(dtype, kind, scores, width):
    model = LinearModel(rng.standard_normal((scores, width)), rng.standard_normal(scores))
    X = rows_like(ROWS, width, kind, dtype)
    assert_alone_as_among_others(lambda X: model.scores(X, "1GB"), X)
    np.testing.assert_allclose(model.scores(X, "1GB"), X @ model.coef.T + model.intercept, rtol=1e-10, atol=1e-10)


def test_precomputed_matrices_and_small_memory():
    model = KernelModel(cases.Precomputed(), np.arange(0, SUPPORT, 2), None, rng.standard_normal((3, 307)), np.zeros(3))
    K = rng.standard_normal((ROWS, SUPPORT))
    for memory in ("1GB", "20kB"):
        assert_alone_as_among_others(lambda X, memory=memory: model.scores(X, memory), K)


# -- estimators ---------------------------------------------------------------------------------------------------

X = rng.standard_normal((170, 3))
TWO = np.where(X[:, 0] * X[:, 1] > 0.1 * X[:, 2], "yes", "no")
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + X[:, 1] ** 2, [0.2, 1.2])]
VOTED = [mercer.Perceptron(variant="voted", epochs=5), mercer.Perceptron("gaussian", variant="voted", epochs=5)]
MODELS = [(model, labels) for model in cases.ESTIMATORS + VOTED for labels in (TWO, THREE)]
MODELS += [(model, X[:, 2] * X[:, 0]) for model in cases.REGRESSORS]
IDS = [f"{model!r:.60}-{len(set(labels.tolist()))}" for model, labels in MODELS]


def fitted(model, labels, rows=X):
    model = clone(model)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows, labels)


def answers_of(model):
    return [
        getattr(model, name)
        for name in ("predict", "decision_function", "predict_proba", "predict_log_proba")
        if hasattr(model, name)
    ]


@pytest.mark.parametrize(("model", "labels"), MODELS, ids=IDS)
@pytest.mark.parametrize(
    "form", [np.asarray, *(pytest.param(form, marks=pytest.mark.thorough) for form in (sparse.csr_array, np.float32))]
)
def test_estimators(model, labels, form):
    model = fitted(model, labels, form(X))
    for answer in answers_of(model):
        assert_alone_as_among_others(answer, form(X))


_SCORE = """
import pickle, sys
cases = pickle.load(open(sys.argv[1], "rb"))
answers = [
    next(getattr(model, name) for name in ("decision_function", "predict", "scores") if hasattr(model, name))(*given)
    for model, given in cases
]
pickle.dump(answers, open(sys.argv[2], "wb"))
"""


@pytest.mark.thorough
def test_threads(tmp_path):
    """In processes of their own: how many threads there are is settled when the libraries are loaded."""
    models = []
    for dtype in (np.float64, np.float32):
        for kind in ("dense", "thin", "sparse"):
            rows = rows_like(200, 100, kind, dtype)
            dense = rows.toarray() if kind == "sparse" else rows
            for labels in (dense[:, 0] > 0, np.digitize(dense[:, :2].sum(axis=1), [-0.3, 0.3])):
                for model in (
                    mercer.SVC("gaussian(gamma=0.01)"),
                    mercer.SVC(None),
                    mercer.KernelClassifier("matern(length=10)"),
                    mercer.Perceptron("polynomial(degree=2)", epochs=2, variant="voted"),
                ):
                    models.append((fitted(model, labels, rows), (rows_like(300, 100, kind, dtype),)))
            for kernel in WIDE:  # large enough for a matrix product to be shared out among threads
                for scores in (1, 3):
                    given = (rows_like(490, 100, kind, dtype), "1GB")
                    models.append((model_of(kernel, rows_like(1500, 100, kind, dtype), scores), given))
    words = ["".join(rng.choice(list("ACGT"), 12)) for _ in range(120)]
    for kernel in (Spectrum(p=3), Subsequence(k=2), Equal() + Spectrum(p=2)):
        models.append((fitted(mercer.SVC(kernel), np.arange(120) % 3, words), (words,)))
    (tmp_path / "script.py").write_text(_SCORE)
    with open(tmp_path / "models", "wb") as file:
        pickle.dump(models, file)
    found = []
    for mine, theirs in (("1", "1"), ("2", "2")):
        environment = {**os.environ, "NUMBA_NUM_THREADS": mine}
        environment |= {f"{name}_NUM_THREADS": theirs for name in ("OPENBLAS", "OMP", "MKL", "VECLIB")}
        out = tmp_path / f"out{mine}"
        command = [sys.executable, str(tmp_path / "script.py"), str(tmp_path / "models"), str(out)]
        subprocess.run(command, env=environment, check=True, timeout=600)
        with open(out, "rb") as file:
            found.append(pickle.load(file))
    for (model, _), one, other in zip(models, *found, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=repr(model))


# -- the product behind it ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (3, 255, 4), (5, 257, 7), (513, 600, 33), (4, 0, 3), (0, 5, 2), (2, 3, 0)]
)
def test_products_in_strips(dtype, shape):
    n, m, width = shape
    A, B = (rng.standard_normal((k, width)).astype(dtype) for k in (n, m))
    strips = Strips(B)
    expected = A.astype(float) @ B.T.astype(float)
    tolerance = 1e-4 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(strips.product(A, slice(0, m)), expected, atol=tolerance)
    np.testing.assert_allclose(strips.squared_norms, (B.astype(float) ** 2).sum(axis=1), rtol=1e-6)
    chosen = rng.integers(0, m, 300) if m else np.empty(0, int)
    np.testing.assert_allclose(strips.product(A, chosen), expected[:, chosen], atol=tolerance)
    np.testing.assert_array_equal(strips[chosen], B[chosen])
    if m > 10:
        np.testing.assert_allclose(strips.product(A, slice(7, m - 1)), expected[:, 7 : m - 1], atol=tolerance)
