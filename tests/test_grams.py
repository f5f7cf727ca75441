import numpy as np
import pytest
from scipy import sparse

from mercer import losses, solvers
from mercer.checks import bytes_of
from mercer.grams import Dense, Features, Lazy, Placement
from mercer.kernels import Gaussian, Linear, Polynomial, Precomputed
from mercer.problems import Problem

from .cases import make_grams

X = np.random.RandomState(0).standard_normal((60, 3))
y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
kernel = Polynomial(degree=2)
GRAMS = make_grams(kernel, X)


@pytest.mark.parametrize("gram", GRAMS, ids=lambda gram: type(gram).__name__)
class TestEveryGram:
    def test_is_the_kernel_matrix(self, gram):
        K = kernel(X)
        v = np.random.RandomState(1).standard_normal((60, 2))
        assert len(gram) == 60
        np.testing.assert_allclose(gram.diag(), np.diag(K))
        np.testing.assert_allclose(gram.rows([3, 5]), K[[3, 5]])
        np.testing.assert_allclose(gram.matvec(v[:, 0]), K @ v[:, 0])
        np.testing.assert_allclose(gram.matvec(v), K @ v)
        one_item = np.zeros(60)
        one_item[7] = 2.0
        np.testing.assert_allclose(gram.matvec(one_item), 2 * K[7])

    def test_take_is_a_submatrix(self, gram):
        index = np.array([4, 1, 30, 9])
        K = kernel(X)[np.ix_(index, index)]
        part = gram.take(index)
        np.testing.assert_allclose(part.matvec(np.ones(4)), K.sum(axis=0))
        np.testing.assert_allclose(part.diag(), np.diag(K))
        np.testing.assert_allclose(part.take([2, 0]).rows([0]), K[[2]][:, [2, 0]])

    @pytest.mark.parametrize(
        "solver",
        [
            solvers.MistakeDriven(epochs=7),
            solvers.MistakeDriven(epochs=5, variant="averaged", initial="random"),
            solvers.PegasosSteps(steps=500),
            solvers.PegasosSteps(steps=200, batch=3, project=True, sampling="epoch"),
        ],
        ids=str,
    )
    def test_solvers_cannot_tell_the_difference(self, gram, solver):
        def solve(where):
            if isinstance(solver, solvers.MistakeDriven):
                return solver.solve(Problem(where, y, losses.PerceptronLoss(), intercept="penalised"))
            return solver.solve(Problem(where, y, losses.Hinge(), lam=0.01, intercept="penalised"))

        ours, reference = solve(gram), solve(Dense(kernel(X)))
        np.testing.assert_allclose(ours.z, reference.z, rtol=1e-7, atol=1e-9)
        assert ours.b == pytest.approx(reference.b)


@pytest.mark.parametrize("loss", [losses.Hinge(), losses.Logistic()], ids=str)
@pytest.mark.parametrize("rows", [1, 3, 60])
def test_rows_that_wait_are_added_before_others_take_their_place(loss, rows):
    many, some = Lazy(kernel, X), Lazy(kernel, X, memory=rows * 60 * 8)
    first, second = (
        solvers.PegasosSteps(steps=700, average=True).solve(Problem(gram, y, loss, lam=0.01)) for gram in (many, some)
    )
    np.testing.assert_array_equal(first.z, second.z)


def test_a_model_after_any_number_of_steps_is_the_sum_of_its_items():
    K = kernel(X)
    for steps in range(1, 40):
        walked = solvers.PegasosSteps(steps=steps, average=False, sampling=np.arange(40), lead=1)
        counts = np.zeros(60)
        for t, i in enumerate(range(steps), start=1):
            counts[i] += y[i] / (0.01 * t) * (K[i] @ (counts * y)) < 1
        found = walked.solve(Problem(Dense(K), y, losses.Hinge(), lam=0.01)).z
        np.testing.assert_allclose(found, counts * y / (0.01 * steps), rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_empty_sparse_rows_have_no_length(dtype):
    rows = sparse.csr_array(np.array([[0, 0], [3, 4], [0, 0], [0, 2], [0, 0]], dtype))
    np.testing.assert_array_equal(Features(rows).diag(), [0, 25, 0, 4, 0])
    np.testing.assert_array_equal(Features(rows[:1]).diag(), [0])


def test_a_placement_respects_the_memory_limit():
    room = 2 * 60 * 60 * 8  # the matrix, and coordinates of all items beside it
    small, large = (Placement(room - less).gram(Gaussian(), X) for less in (0, 1))
    assert (type(small).__name__, type(large).__name__) == ("Dense", "Lazy")
    assert large.walk().rows.K.nbytes < room


def test_a_placement_in_single_precision_has_an_exact_twin():
    far = 1e6 + X  # the squares of such numbers do not fit into float32
    place = Placement("40kB", precision=np.float32, centred=True)  # less than the whole matrix would take
    for k in (Gaussian(gamma=0.5), Polynomial(degree=2, gamma=1e-12)):
        gram = place.gram(k, far)
        assert gram.rows([0]).dtype == np.float32
        exact = place.exact(k, far, gram)
        assert exact.rows([0]).dtype == np.float64
        np.testing.assert_allclose(gram.rows(np.arange(60)), k(far), rtol=1e-4)
        np.testing.assert_allclose(exact.rows(np.arange(60)), k(far), rtol=1e-12)
    features = place.gram(Linear(), far)
    assert place.exact(Linear(), far, features) is features
    np.testing.assert_allclose(features.Phi, X - X.mean(axis=0), atol=1e-8)
    assert place.gram(Precomputed(), kernel(X)).K.dtype == np.float64


def test_the_matrix_of_a_few_items_is_computed_once_and_in_double_precision():
    place = Placement(precision=np.float32, centred=True)
    gram = place.gram(kernel, X)
    assert place.exact(kernel, X, gram) is gram
    np.testing.assert_allclose(gram.rows(np.arange(60)), kernel(X), rtol=1e-15)


@pytest.mark.parametrize("size", [1e20, 1e-20])
def test_values_that_single_precision_cannot_hold_stay_in_double(size):
    gram = Placement(precision=np.float32).gram(Polynomial(degree=2, gamma=1.0, coef0=0.0), size * X)
    assert gram.rows([0]).dtype == np.float64


@pytest.mark.parametrize(
    ("text", "size"), [("500MB", 500_000_000), ("1.5 GiB", 1610612736), (1000, 1000), ("7", 7), ("2kb", 2000)]
)
def test_memory_sizes(text, size):
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["much", "", "-1GB", 0, -5, None, float("nan"), "1TBB", True])
def test_bad_memory_sizes(text):
    with pytest.raises(ValueError, match="is not a size"):
        bytes_of(text)
