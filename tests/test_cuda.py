"""The kernel matrix on a graphics card, or in Triton's interpreter where there is none."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import mercer
from mercer import cuda
from mercer.cuda import Face, formula_of, lowered, written
from mercer.grams import Cuda, Lazy, Placement
from mercer.kernels import Gaussian, Laplacian, Linear, Matern, OfStatistic, Polynomial, Untraceable
from mercer.kernels.engine import SQUARED_DISTANCE
from mercer.losses import Logistic, Softmax, Squared
from mercer.problems import Problem, certify
from mercer.solvers import Newton

from .cases import KERNELS

RNG = np.random.default_rng(0)
X, Z, V = RNG.normal(size=(70, 3)), RNG.normal(size=(20, 3)), RNG.normal(size=(70, 3))
y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)

#: Kernels that are no functions of dot products and distances, or of what no card computes.
REFUSED = ("matern(nu=1.0)", "function(<squared_dots>)")
TRACED = [kernel for kernel in KERNELS if str(kernel) not in REFUSED]
COLUMNS = Gaussian(gamma=0.1).on(0) * Linear().on(1, 2) + 2 * Matern(nu=0.5).on(1)


def whether_a_card_computes() -> str:
    """Why nothing can be computed here; nothing where it can."""
    if find_spec("torch") is None or find_spec("triton") is None:
        return "torch and triton are not installed"
    import torch

    if not torch.cuda.is_available():
        os.environ["TRITON_INTERPRET"] = "1"
    try:
        cuda.product(cuda.operands_of(Linear(), X, X), V[:, :1])
    except Exception as error:
        return f"neither a card nor Triton's interpreter works here: {error}"
    return ""


WHY = whether_a_card_computes()
on_card = pytest.mark.skipif(bool(WHY), reason=WHY)
on_real_card = pytest.mark.skipif(not WHY and "TRITON_INTERPRET" in os.environ, reason="there is no graphics card")


def error_of(found, wanted):
    return np.linalg.norm(found - wanted) / np.linalg.norm(wanted)


# -- the formula: no card is needed -------------------------------------------------------------------------------


def test_a_formula_is_what_a_kernel_does():
    assert str(formula_of(Gaussian(gamma=0.5), X, X)) == "exp((-0.5 * SquaredDistance))"
    assert str(formula_of(Matern(nu=1.5, length=np.sqrt(3)), X, X)) == "((1.0 + Distance) * exp((-1.0 * Distance)))"
    assert str(formula_of(3 * Polynomial(2) * Laplacian(1.0), X, X)) == (
        "((3.0 * ((Dot + 1.0) * (Dot + 1.0))) * exp((-1.0 * Manhattan)))"
    )
    items = COLUMNS.items(X)
    assert len(formula_of(COLUMNS, items, items).leaves) == 3


@pytest.mark.parametrize("kernel", [kernel for kernel in KERNELS if str(kernel) in REFUSED], ids=str)
def test_what_no_card_computes_is_refused(kernel):
    with pytest.raises(Untraceable, match="cannot be computed on a graphics card: it"):
        formula_of(kernel, X, X)


def test_strings_are_refused():
    kernel = mercer.kernels.Spectrum(p=2)
    items = kernel.items(["ab", "cd"])
    with pytest.raises(Untraceable, match=r"spectrum\(p=2\) cannot be computed on a graphics card"):
        formula_of(kernel, items, items)


@pytest.mark.thorough
def test_nobody_imports_torch_in_vain():
    code = "import mercer, sys; mercer.SVC().fit([[0.0], [1.0]], [0, 1]); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_missing_package_or_card_is_named(monkeypatch):
    monkeypatch.setattr("mercer.cuda.device.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"needs torch and triton; install mercer\[gpu\], or leave device out"):
        mercer.SVC(device="cuda").fit(X, y)


def test_bad_places_are_refused():
    with pytest.raises(ValueError, match="device must be one of None, 'cuda'; got 'tpu'"):
        mercer.SVC(device="tpu").fit(X, y)
    with pytest.raises(ValueError, match="leave rank or device out"):
        mercer.KernelClassifier(device="cuda", rank=3).fit(X, y)
    with pytest.raises(ValueError, match="is to learn its weights"):
        mercer.SVC("mixture(linear, gaussian)", device="cuda").fit(X, y)


class Powers(OfStatistic, named=False):
    """Powers and logarithms of 1 + d²."""

    statistic = SQUARED_DISTANCE

    def apply(self, values):
        return (1 + values) ** -1.3 + 1 / (1 + np.log1p(values)) + 1 / (1 + np.log(1 + values))


@pytest.mark.parametrize("kernel", [*TRACED, COLUMNS, Powers()], ids=str)
def test_code_is_made_of_known_words_and_whole_numbers(kernel):
    """What is executed has no word of a kernel's text, and no parameter: those may come from a file."""
    items = kernel.items(X)
    what = lowered(formula_of(kernel.resolved(items), items, items))
    widths = [16] * len(what.formula.leaves)
    for face in (Face(), Face(symmetric=True), Face(values=True)):
        tree = ast.parse(written(what, face, cuda.Tiles(), widths, False, True).text)
        kinds = {type(node) for node in ast.walk(tree)}
        assert not kinds & {ast.ImportFrom, ast.Lambda, ast.Global}
        assert {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names} == {
            "triton", "triton.language"
        }  # fmt: skip
        called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        assert {each.id for each in called if isinstance(each, ast.Name)} <= {"range"}
        values = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        texts = {value for value in values if isinstance(value, str)}
        assert texts <= {"ex2.approx.ftz.f32 $0, $1;", "=f,f", "ieee", "tf32"}
        assert {value for value in values if isinstance(value, float)} <= {0.0, 1.0, 2.0}


# -- products -----------------------------------------------------------------------------------------------------


@on_card
@pytest.mark.parametrize("kernel", [*TRACED, COLUMNS], ids=str)
def test_products_and_values_are_those_of_the_kernel(kernel):
    items, others = kernel.items(X), kernel.items(Z)
    K, between = kernel(X), kernel(Z, X)
    same = cuda.operands_of(kernel, items, items)
    assert error_of(cuda.as_array(cuda.product(same, V[:, :1])), K @ V[:, :1]) < 1e-5
    assert error_of(cuda.as_array(cuda.product(same, V)), K @ V) < 1e-5
    two = cuda.operands_of(kernel, others, items)
    assert error_of(cuda.as_array(cuda.product(two, V[:, :1])), between @ V[:, :1]) < 1e-5
    assert error_of(cuda.as_array(cuda.matrix_values(two)), between) < 1e-5


@on_card
@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.3), Matern(nu=0.5), COLUMNS], ids=str)
@pytest.mark.parametrize(("precision", "error"), [("fast", 1e-3), ("double", 1e-14)])
def test_precisions(kernel, precision, error):
    items = kernel.items(X)
    operands = cuda.operands_of(kernel, items, items, precision)
    assert error_of(cuda.as_array(cuda.product(operands, V[:, :1])), kernel(X) @ V[:, :1]) < error
    some, few = np.array([3, 60, 11]), np.array([5, 2])
    assert (
        error_of(cuda.as_array(cuda.matrix_values(operands.taken(some, few))), kernel(X)[np.ix_(some, few)]) < 3 * error
    )


@on_card
@pytest.mark.parametrize("width", [1, 100])
def test_rows_of_any_length_far_from_the_origin(width):
    rows = 1000 + RNG.normal(size=(300, width))  # two blocks, and rows that are taken in pieces
    kernel = Gaussian(gamma=1 / width)
    operands = cuda.operands_of(kernel, rows, rows)
    first = cuda.product(operands, np.ones((300, 1)))
    assert error_of(cuda.as_array(first)[:, 0], kernel(rows).sum(axis=1)) < 1e-5
    assert bool((cuda.product(operands, np.ones((300, 1))) == first).all())  # to the last digit


@on_card
@pytest.mark.parametrize("tiles", [cuda.Tiles(64, 32), cuda.Tiles(64, 64), cuda.Tiles(64, 128), cuda.Tiles(128, 32)])
def test_every_shape_of_a_tile(tiles):
    rows = RNG.normal(size=(300, 2))
    operands = cuda.operands_of(Gaussian(gamma=0.5), rows, rows)
    wanted = Gaussian(gamma=0.5)(rows) @ rows
    assert error_of(cuda.as_array(cuda.product(operands, rows, tiles)), wanted) < 1e-6


@on_card
def test_little_memory_on_the_card_means_more_launches(monkeypatch):
    rows = RNG.normal(size=(600, 2))
    monkeypatch.setattr("mercer.cuda.products.free_memory", lambda: 1)
    operands = cuda.operands_of(Gaussian(gamma=0.5), rows, rows)
    assert error_of(cuda.as_array(cuda.product(operands, rows)), Gaussian(gamma=0.5)(rows) @ rows) < 1e-6


# -- the Gram and machines ----------------------------------------------------------------------------------------


@on_card
def test_the_gram_is_the_kernel_matrix():
    kernel = Polynomial(degree=2)
    gram, K = Cuda(kernel, X, "double"), kernel(X)
    assert isinstance(Placement(device="cuda").gram(kernel, X), Cuda)
    np.testing.assert_allclose(gram.diag(), np.diag(K))
    np.testing.assert_allclose(gram.rows([3, 5]), K[[3, 5]])
    np.testing.assert_allclose(gram.matvec(V), K @ V)
    one = np.zeros(70)
    one[7] = 2.0
    np.testing.assert_allclose(gram.matvec(one), 2 * K[7])
    rows, columns = np.array([1, 60]), np.array([2, 4, 69])
    np.testing.assert_allclose(gram.scores(rows, columns, V[:3, 0]), K[np.ix_(rows, columns)] @ V[:3, 0])
    out = np.empty((4, 5), np.float32)
    gram.block(rows, columns, out[1:3, 1:4])
    np.testing.assert_allclose(out[1:3, 1:4], K[np.ix_(rows, columns)], rtol=1e-6)
    np.testing.assert_allclose(gram.take([4, 1]).matvec(np.ones(2)), K[np.ix_([4, 1], [4, 1])].sum(axis=1))
    np.testing.assert_allclose(gram.take([4, 4]).matvec(np.ones(2)), 2 * K[4, [4, 4]])
    np.testing.assert_allclose(gram.scaled(3.0).rows([0]), 3 * K[[0]])
    np.testing.assert_array_equal(np.asarray(gram.walk().start()), np.zeros(70))


@on_card
@pytest.mark.parametrize("intercept", ["free", "none"])
@pytest.mark.parametrize("loss", [Logistic(), Squared(), Softmax()], ids=str)
def test_newton_cannot_tell_the_difference(loss, intercept):
    targets = np.eye(3)[np.arange(70) % 3] if loss == Softmax() else y
    problems = [
        Problem(gram, targets, loss, 1e-2, None, intercept) for gram in (Lazy(Gaussian(1.0), X), Cuda(Gaussian(1.0), X))
    ]
    first, second = (certify(each, Newton(tol=1e-5).solve(each)) for each in problems)
    assert second.objective == pytest.approx(first.objective, rel=1e-5)
    assert second.gap < 1e-5


@on_card
@pytest.mark.parametrize(
    ("machine", "targets"),
    [
        (mercer.SVC("gaussian(gamma=0.5)", C=3), y),
        (mercer.SVC("gaussian(gamma=0.5)", C=3), np.arange(70) % 3),
        (mercer.KernelClassifier("gaussian(gamma=0.5)", lam=1e-2), y),
        (mercer.KernelRegressor("matern(length=2)", lam=1e-2), X[:, 0] ** 2),
    ],
    ids=["svc", "three classes", "logistic", "regression"],
)
def test_machines_on_the_card_are_those_of_the_processor(machine, targets):
    here, there = clone(machine).fit(X, targets), clone(machine).set_params(device="cuda").fit(X, targets)
    assert there.converged_
    np.testing.assert_allclose(there.objective_, here.objective_, rtol=1e-4)
    assert np.max(there.duality_gap_ / there.objective_) < (1e-3 if isinstance(machine, mercer.SVC) else 1e-6)
    scores = [
        each.decision_function(Z) if hasattr(each, "decision_function") else each.predict(Z) for each in (here, there)
    ]
    np.testing.assert_allclose(scores[1], scores[0], atol=5e-3)
    np.testing.assert_allclose(there.set_params(device=None)._scores(Z), there.set_params(device="cuda")._scores(Z))


@on_card
def test_searches_sparse_rows_and_model_files(tmp_path):
    grid = {"C": [0.1, 10]}
    found = [mercer.KernelSearchCV(mercer.SVC(device=device), grid, cv=2).fit(X, y) for device in ("cuda", None)]
    np.testing.assert_allclose(*(search.cv_results_["mean_test_score"] for search in found))
    model = mercer.SVC(device="cuda").fit(sparse.csr_array(X), y)
    mercer.save(model, tmp_path / "model.safetensors")
    np.testing.assert_array_equal(mercer.load(tmp_path / "model.safetensors").predict(Z), model.predict(Z))


@on_card
def test_tensors_instead_of_arrays():
    import torch

    card = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rows, labels = torch.from_numpy(X).to(card), torch.from_numpy(y).to(card)
    model = mercer.KernelClassifier("gaussian(gamma=0.5)", lam=1e-2).fit(rows, labels, torch.ones(70).to(card))
    plain = mercer.KernelClassifier("gaussian(gamma=0.5)", lam=1e-2).fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(torch.from_numpy(Z).to(card)), plain.decision_function(Z), atol=1e-4
    )
    assert model.score(rows, labels) == plain.score(X, y)


@on_real_card
@on_card
def test_a_hundred_thousand_rows():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(100_000, 20))
    labels = np.where(np.sin(2 * rows[:, 0]) + rows[:, 1] * rows[:, 2] > 0, 1, -1)
    model = mercer.KernelClassifier("gaussian(gamma=0.05)", lam=1e-5, tol=1e-4, device="cuda").fit(rows, labels)
    assert model.converged_
    assert model.duality_gap_[0] < 1e-4 * model.objective_[0]
    margin = mercer.SVC("gaussian(gamma=0.05)", device="cuda", memory="8GB").fit(rows, labels)
    assert margin.converged_
    assert margin.duality_gap_[0] < 1e-3 * margin.objective_[0]
