"""A Python function of two items, or of two collections, as the kernel of every machine."""

from collections import Counter
from threading import Lock

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score

import mercer
from mercer import KernelPCA, KernelRegressor, KernelSearchCV, OneClassSVM, save
from mercer.diagnostics import check_mercer, diagnose
from mercer.kernels import After, Function, Gaussian, Intersection, Linear, Normalised, Spectrum, functions

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
SIDE = X[:, 0] > 0
SETS = [set(rng.choice(12, rng.integers(2, 7)).tolist()) for _ in range(40)]
FEW = np.array([len(each & {0, 1, 2}) > 1 for each in SETS])


def shared(x, z):
    return len(x & z)


def shared_with_repeats(x, z):
    return sum((Counter(x) & Counter(z)).values())


class Recipe:
    """An object whose content only its own kernel knows."""

    def __init__(self, parts):
        self.parts = parts


ITEMS = {
    "sets": (shared, SETS, Intersection(), SETS),
    "multisets": (shared_with_repeats, [[1, 1, 2], [2, 3], [1, 1, 1], [3, 3]], Intersection(), None),
    "multisets of one size": (shared_with_repeats, [[1, 1], [2, 3], [1, 2], [3, 3]], Intersection(), None),
    "strings": (
        lambda x, z: sum(map(z.count, set(x))) * 0 + shared_with_repeats(x, z),
        ["ab", "abba", "ca"],
        None,
        None,
    ),
    "objects": (lambda x, z: len(x.parts & z.parts), [Recipe(each) for each in SETS], Intersection(), SETS),
    "numbers": (min, [1.0, 2.0, 5.0], None, None),
    "rows": (lambda x, z: x @ z, X, Linear(), None),
    "rows, two collections": (lambda A, B: A @ B.T, X, Linear(), None),
    "rows of scikit-learn": (lambda A, B: rbf_kernel(A, B, gamma=0.3), X, Gaussian(gamma=0.3), None),
    "three columns": (lambda x, z: np.dot(x, z), X[:4], Linear(), None),
    "sparse rows": (lambda A, B: A @ B.T, sparse.csr_array(X), Linear(), None),
    "frames": (lambda x, z: x @ z, pd.DataFrame(X), Linear(), None),
    "lists of numbers": (lambda A, B: A @ B.T, X.tolist(), Linear(), None),
}


@pytest.mark.parametrize("name", ITEMS)
def test_the_matrix_is_that_of_the_definition(name):
    f, items, kernel, same = ITEMS[name]
    if kernel is not None:
        np.testing.assert_allclose(Function(f)(items), kernel(items if same is None else same), rtol=1e-12)
    else:
        np.testing.assert_array_equal(Function(f)(items), [[f(x, z) for z in items] for x in items])
    if not isinstance(items, (pd.DataFrame, sparse.csr_array)):
        np.testing.assert_allclose(Function(f)(items[:2], items), Function(f)(items)[:2], rtol=1e-12)


def test_each_pair_is_asked_for_once():
    asked = Counter()

    def counted(x, z):
        asked[x, z] += 1
        return x * z

    numbers = [float(k) for k in range(1, 31)]
    mercer.SVC(counted).fit(numbers, [k > 15 for k in range(30)])
    later = {pair: count for pair, count in asked.items() if pair[0] < pair[1]}
    assert len(later) == 30 * 29 / 2
    assert sum(asked.values()) < 465 + 16 * 16 + 60  # pairs, a sample both ways, and a few to see what it takes


@pytest.mark.parametrize(
    "machine", [mercer.SVC(), mercer.NuSVC(nu=0.2), mercer.KernelClassifier(), mercer.Perceptron(random_state=0)]
)
def test_classifiers_do_as_with_the_kernel_of_the_library(machine):
    ours, own = (machine.set_params(kernel=kernel).fit(SETS, FEW) for kernel in (Intersection(), shared))
    np.testing.assert_array_equal(own.predict(SETS), ours.predict(SETS))
    assert own.predict([{0, 1, 2}, {8, 9}]).tolist() == [True, False]


def test_other_machines_and_searches():
    values = np.array([len(each) for each in SETS], float)
    for machine in (KernelRegressor(lam=0.1), OneClassSVM(), mercer.SVDD(), KernelRegressor(lam=0.1, rank=40)):
        targets = values if isinstance(machine, KernelRegressor) else None
        own, ours = (machine.set_params(kernel=kernel).fit(SETS, targets).predict(SETS[:9]) for kernel in
                     (shared, Intersection()))  # fmt: skip
        np.testing.assert_allclose(own, ours, atol=1e-6)
    own, ours = (KernelPCA(kernel, 3).fit(SETS) for kernel in (shared, Intersection()))
    np.testing.assert_allclose(own.eigenvalues_, ours.eigenvalues_, rtol=1e-9)
    assert own.inverse_transform(own.transform(SETS[:3])) == SETS[:3]
    own, ours = (KernelSearchCV(mercer.SVC(kernel), {"C": [0.01, 1, 10]}, cv=3).fit(SETS, FEW) for kernel in
                 (shared, Intersection()))  # fmt: skip
    np.testing.assert_allclose(own.cv_results_["mean_test_score"], ours.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(*(cross_val_score(mercer.SVC(kernel), SETS, FEW, cv=3) for kernel in
                                    (shared, Intersection())))  # fmt: skip


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_rows_and_columns_of_items(library):
    made = pytest.importorskip(library)
    words = ["kernel", "kern", "margin"]
    for column in (made.Series(words), made.DataFrame({"word": words})):
        np.testing.assert_array_equal(Function(shared_with_repeats)(column), Function(shared_with_repeats)(words))
    table = made.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    np.testing.assert_allclose(Function(lambda x, z: x @ z)(table), X[:, :2] @ X[:, :2].T)
    one = made.DataFrame({"a": [1, 2, 3]})
    np.testing.assert_array_equal(Function(lambda x, z: x[0] * z[0])(one), np.outer([1, 2, 3], [1, 2, 3]))


def test_in_expressions():
    kernel = Normalised(Function(shared)) + 0.5 * Intersection()
    np.testing.assert_allclose(kernel(SETS), (Normalised(Intersection()) + 0.5 * Intersection())(SETS))
    assert mercer.SVC(kernel).fit(SETS, FEW).score(SETS, FEW) == 1
    words = ["kernel", "kern", "margin", "margins"]
    both = Spectrum(p=2) + Function(lambda x, z: float(x[0] == z[0]))
    np.testing.assert_allclose(both(words)[0], Spectrum(p=2)(words)[0] + [1, 1, 0, 0])
    np.testing.assert_allclose(After(lambda A: A + 1, Function(lambda x, z: x @ z))(X), (X + 1) @ (X + 1).T)


MISTAKES = {
    "nothing": (lambda x, z: None, SETS, "returned None for {"),
    "a text": (lambda x, z: "a", SETS, "returned <U1 values, not numbers"),
    "not a number": (lambda x, z: float("nan"), SETS, "returned nan for {"),
    "complex": (lambda x, z: 1j, SETS, "returned complex numbers"),
    "an array": (lambda x, z: np.ones(2), SETS, r"returned shape \(2,\) for two items"),
    "now and then": (lambda x, z: None if len(x) == 3 else len(x & z), SETS, "returned None for"),
    "an array of a row": (lambda x, z: x - z, X, "returned shape"),
    "asymmetric": (lambda x, z: len(x), SETS, r"is not symmetric: k\(\d+, \d+\) = \d but"),
    "negative": (lambda x, z: -len(x & z), SETS, "is not positive semi-definite: on 40 of the items"),
    "a distance": (lambda x, z: len(x ^ z), SETS, "is not positive semi-definite"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_first_mistake_is_told(name):
    f, items, words = MISTAKES[name]
    with pytest.raises(ValueError, match=words):
        mercer.SVC(f).fit(items, FEW)
    with pytest.raises(ValueError, match="is missing"):
        mercer.SVC(shared).fit([None, *SETS[1:]], FEW)


@pytest.mark.parametrize(
    ("f", "kind"),
    [
        (lambda x, z: 1 / 0, ZeroDivisionError),
        (lambda x: 1.0, TypeError),
        (lambda x, z: len(x) / (len(x) - 3), ArithmeticError),
    ],
)
def test_an_error_in_the_function_is_its_own(f, kind):
    """It comes up as it is, with a note of the items."""
    with pytest.raises(kind) as caught:
        mercer.SVC(f).fit(SETS, FEW)
    assert "fails on {" in caught.value.__notes__[0]


@pytest.fixture
def long(monkeypatch):
    """Whatever is called is taken to be long."""
    monkeypatch.setattr(functions, "_FIRST", 0.0)
    monkeypatch.setattr(functions, "_LONG", 0.0)
    monkeypatch.setattr(functions, "thread_count", lambda: 2)


@pytest.mark.thorough
def test_long_work_goes_to_other_processes(long, capfd):
    np.testing.assert_array_equal(Function(shared)(SETS), Intersection()(SETS))
    assert "of 820 pairs" in capfd.readouterr().err
    with pytest.raises(ValueError, match="returned None"):
        Function(lambda x, z: None if len(x) == 3 else 1.0)(SETS)


def test_what_cannot_be_sent_to_other_processes_is_called_here(long):
    lock = Lock()
    here = Function(lambda x, z: len(x & z) + lock.locked())
    np.testing.assert_array_equal(here(SETS), Intersection()(SETS))


def test_checks_and_files(tmp_path):
    assert check_mercer(shared, SETS)
    assert check_mercer(lambda A, B: A @ B.T, X)
    found = check_mercer(lambda x, z: abs(len(x) - len(z)), SETS)
    assert not found
    assert len(found.items) == 2
    assert not check_mercer(lambda x, z: len(x - z), SETS)
    assert "40 items" in str(diagnose(shared, SETS, FEW))
    with pytest.raises(mercer.io.DataError, match="a function as a kernel cannot be saved"):
        save(mercer.SVC(shared).fit(SETS, FEW), tmp_path / "m")
