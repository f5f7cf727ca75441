"""Threads and forks: limits hold in every thread, and a fork in the middle of a fit of another thread is survived."""

import os
import subprocess
import sys
import threading

import pytest
from threadpoolctl import ThreadpoolController

from mercer.runtime import one_blas_thread


def blas_threads():
    return [each.num_threads for each in ThreadpoolController().select(user_api="blas").lib_controllers]


def test_products_have_one_thread_wherever_a_fit_runs():
    before, seen = blas_threads(), []

    def look():
        with one_blas_thread():
            seen.append(blas_threads())

    for _ in range(2):
        look()
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
    assert all(set(each) == {1} for each in seen)
    assert blas_threads() == before


def test_the_last_one_out_lifts_the_limit_whichever_thread_it_is():
    before, inside, leave = blas_threads(), threading.Event(), threading.Event()

    def stay():
        with one_blas_thread():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=stay)
    with one_blas_thread():
        thread.start()
        inside.wait(10)
    assert set(blas_threads()) == {1}
    leave.set()
    thread.join()
    assert blas_threads() == before


FORKING = """
import os, threading, time, numpy as np
from mercer import SVC, KernelClassifier
X = np.random.default_rng(0).normal(size=(1500, 5)); y = np.arange(1500) % 2
small = SVC().fit(X[:50], y[:50]).decision_function(X[:50])
over = []
def fit():
    while not over:
        KernelClassifier(lam=1e-4).fit(X, y)
thread = threading.Thread(target=fit)
thread.start()
for _ in range(8):
    time.sleep(0.05)
    child = os.fork()
    if child == 0:
        same = np.array_equal(SVC().fit(X[:50], y[:50]).decision_function(X[:50]), small)
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0
over.append(True)
thread.join()
print("survived")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.thorough
def test_a_fork_in_the_middle_of_a_fit_is_survived_by_both():
    done = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "survived", done.stderr
