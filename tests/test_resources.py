"""The same bits for any number of threads, time limits that end long products, and Ctrl-C inside long pieces."""

import gc
import time
import tracemalloc

import numpy as np
import pytest

import mercer
from mercer import kernels
from mercer.checks import bytes_of
from mercer.estimators import BinaryMachine
from mercer.grams import Gram
from mercer.problems import certify
from mercer.runtime import (
    check_interrupt,
    cholesky_solver,
    factorise,
    for_each,
    product,
    turned_product,
    until,
    weighted_squares,
)

rng = np.random.default_rng(0)
A = rng.standard_normal((2311, 701))


def in_threads(work, monkeypatch):
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
        found.append(work())
    return found


@pytest.mark.parametrize("columns", [(), (3,), (40,)])
def test_products_are_right_and_the_same_for_any_number_of_threads(columns, monkeypatch):
    right, left = rng.standard_normal((701, *columns)), rng.standard_normal((2311, *columns))
    h = rng.random(2311)
    for work, truth in (
        (lambda: product(A, right), A @ right),
        (lambda: turned_product(A, left), A.T @ left),
        (lambda: weighted_squares(A, h), (A.T * h) @ A),
        (lambda: weighted_squares(A[:, :60], h), (A[:, :60].T * h) @ A[:, :60]),
    ):
        one, two, three = in_threads(work, monkeypatch)
        np.testing.assert_allclose(one, truth, rtol=1e-9, atol=1e-9)
        assert one.tobytes() == two.tobytes() == three.tobytes()


def test_a_factorisation_in_blocks(monkeypatch):
    K = A.T @ A / 2311 + np.eye(701)

    def work():
        L = K.copy()
        factorise(L)
        return np.tril(L)

    one, two, three = in_threads(work, monkeypatch)
    np.testing.assert_allclose(one @ one.T, K, atol=1e-12)
    assert one.tobytes() == two.tobytes() == three.tobytes()
    np.testing.assert_allclose(cholesky_solver(K, np.ones(701))((K + np.eye(701))[:, :2])[:2], np.eye(2), atol=1e-12)


def test_fits_are_the_same_for_any_number_of_threads(monkeypatch):
    X, y = A[:900, :6], np.sin(A[:900, 0]) + A[:900, 1]
    for machine in (mercer.KernelClassifier(), mercer.KernelClassifier(rank=100), mercer.KernelRegressor(loss="huber")):
        targets = y > 0 if isinstance(machine, mercer.KernelClassifier) else y
        found = in_threads(lambda machine=machine, targets=targets: machine.fit(X, targets).dual_coef_, monkeypatch)
        assert len({each.tobytes() for each in found}) == 1


@pytest.mark.parametrize(
    "machine",
    [
        mercer.KernelClassifier(),
        mercer.KernelClassifier(memory="500kB"),
        mercer.KernelClassifier(rank=40, memory="100kB"),
        mercer.KernelRegressor(),
        mercer.SVC(),
    ],
    ids=str,
)
def test_a_fit_gives_its_matrix_back_at_once(machine):
    """Nothing waits for the collector of circles: a search would have the matrices of many fits at once."""
    gc.disable()
    try:
        before = sum(isinstance(each, Gram) for each in gc.get_objects())
        machine.fit(A[:400, :3], A[:400, 0] > 0)
        assert sum(isinstance(each, Gram) for each in gc.get_objects()) == before
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("make", "n", "memory"),
    [
        (lambda memory: mercer.KernelClassifier(memory=memory), 1400, "18MB"),
        (lambda memory: mercer.KernelRegressor(loss="huber", memory=memory), 1400, "18MB"),
        (lambda memory: mercer.Calibrated(mercer.KernelClassifier(), memory=memory), 1400, "18MB"),
        (lambda memory: mercer.KernelSearchCV(mercer.KernelClassifier(), {"lam": [0.1]}, cv=2, memory=memory), 1400,
         "18MB"),
        (lambda memory: mercer.KernelClassifier(memory=memory), 4000, "150MB"),
        (lambda memory: mercer.SVC(rank=400, memory=memory), 4000, "14MB"),
        (lambda memory: mercer.KernelClassifier(rank=700, memory=memory), 4000, "30MB"),
    ],
    ids=["fit", "numbers", "calibrated", "search", "little room", "weights", "landmarks"],
)  # fmt: skip
def test_memory_is_what_was_allowed(make, n, memory):
    """Matrices in single precision, transforms of landmarks and fits inside searches count as well."""
    X = np.random.default_rng(0).standard_normal((n, 4))
    y = X[:, 0] + X[:, 1] * X[:, 2] > 0
    make(memory).fit(X, y)  # what compiles takes memory as well
    tracemalloc.start()
    try:
        make(memory).fit(X, y)
        assert tracemalloc.get_traced_memory()[1] < bytes_of(memory) + 8_000_000
    finally:
        tracemalloc.stop()


def test_a_search_allows_its_fits_no_more_than_itself():
    X, y = A[:200, :3], A[:200, 0] > 0
    machine = mercer.SVC(rank=100, memory="1GB")
    with pytest.raises(ValueError, match="more than memory='50kB' of the search; raise memory"):
        mercer.KernelSearchCV(machine, {"C": [1]}, memory="50kB").fit(X, y)
    assert bytes_of("1GB") == 10**9
    assert mercer.KernelSearchCV(machine, {"C": [1]}, memory="1MB").fit(X, y).best_estimator_.memory == "1GB"


def test_the_end_of_the_time_ends_work_on_threads_too():
    done = []

    def work(piece):
        for _ in range(1000):
            check_interrupt()
            time.sleep(0.005)
        done.append(piece)

    begin = time.monotonic()
    with until(begin + 0.1):
        for_each(work, range(8), threads=2)
    assert not done
    assert time.monotonic() - begin < 3
    with until(time.monotonic() + 60):  # the deadline of another block is not this one's
        with until(0.0):
            check_interrupt()
        done.append("after")
    assert done == ["after"]


@pytest.mark.parametrize("kernel", [kernels.LocalAlignment(), kernels.Subsequence(k=2)], ids=str)
def test_one_long_pair_of_strings_is_cut_into_moments(kernel):
    """The same value as that of the recursion in one go, and an end in the middle of it."""
    text = "".join(np.random.default_rng(1).choice(list("ACGT"), 12_000))
    begin = time.monotonic()
    with until(begin + 0.05):
        kernel([text])
        pytest.fail("the time was over long before")
    assert time.monotonic() - begin < 3
    long, short = text[:4500], text[:40]
    assert kernel([long], [short])[0, 0] == pytest.approx(kernel([short], [long])[0, 0])
    if isinstance(kernel, kernels.LocalAlignment):
        assert kernel([long])[0, 0] == 2 * len(long)


def test_a_model_of_nothing_has_the_certificate_that_any_model_has():
    X, y = A[:12, :2], np.array([1.0] * 8 + [-1.0] * 4)
    for C in (1.0, np.inf):
        data = mercer.SVC()._training(X, y, None)
        machine = BinaryMachine(C, data, np.arange(12), y)
        machine.leave_out("not converged")
        problem = machine._problem(data.gram, C)
        assert machine.certificate == pytest.approx(certify(problem, machine.solution, np.zeros(12)))


def test_a_time_limit_with_many_classes():
    X, y = A[:600, :4], np.arange(600) % 100
    begin = time.monotonic()
    with pytest.warns(UserWarning, match="machines"):
        model = mercer.SVC(time_limit=0.05).fit(X, y)
    assert model.status_ == "not converged"
    assert time.monotonic() - begin < 20
