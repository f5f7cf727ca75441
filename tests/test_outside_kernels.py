"""Kernels of somebody else: nobody takes their word for it, and what cannot be done with them is said."""

import gc

import numpy as np
import pytest

import mercer
from mercer.io import DataError
from mercer.kernels import DISTANCE, SQUARED_DISTANCE, Kernel, OfStatistic, rate

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 3))
y = np.where(X[:, 0] * X[:, 1] > 0, "a", "b")


class Wavy(OfStatistic, named=False):
    """A kernel of points on a line, and none of points in space."""

    statistic = DISTANCE

    def apply(self, values):
        return np.exp(-2 * np.sin(np.pi * values / 1.7) ** 2)


class Clipped(OfStatistic, named=False):
    """What needs the numbers themselves."""

    statistic = SQUARED_DISTANCE

    def apply(self, values):
        return np.exp(-values.clip(0, 1e9))


@pytest.mark.parametrize("kernel", [Wavy(), 2 * Wavy(), Wavy() + Wavy()], ids=str)
@pytest.mark.parametrize("machine", [mercer.SVC, mercer.KernelClassifier, mercer.SVR])
def test_a_function_that_is_no_kernel_is_found_out(machine, kernel):
    labels = X[:, 0] if machine is mercer.SVR else y
    with pytest.raises(ValueError, match="is not positive semi-definite"):
        machine(kernel).fit(X, labels)
    assert machine(kernel).fit(X[:, :1], labels).converged_


@pytest.mark.parametrize("target", ["python", "c"])
def test_a_formula_that_needs_the_numbers_stays_here(target, tmp_path):
    model = mercer.SVC(Clipped()).fit(X, y)
    with pytest.raises(DataError, match="its formula does what no code can be written for"):
        mercer.export(model, tmp_path / "model", to=target)


def test_a_model_of_a_kernel_that_is_not_there_says_so(tmp_path):
    class Fleeting(OfStatistic):
        statistic = SQUARED_DISTANCE

        def apply(self, values):
            return np.exp(-values)

    mercer.save(mercer.SVC(Fleeting()).fit(X, y), tmp_path / "m.safetensors")
    del Fleeting
    gc.collect()
    with pytest.raises(DataError, match=r"'m\.safetensors': .*there is no kernel 'fleeting'; import the module that"):
        mercer.load(tmp_path / "m.safetensors")


def test_self_similarities_that_are_missing_are_asked_for():
    class Bare(Kernel, named=False):
        def evaluate(self, tile):
            return tile.left @ tile.right.T

    with pytest.raises(NotImplementedError, match=r"Bare should say its self-similarities: write a method diag\(A\)"):
        mercer.SVC(Bare()).fit(X, y)


@pytest.mark.parametrize("rule", ["scale", "median"])
def test_a_rate_of_distances_has_the_unit_of_distances(rule):
    """In other units of the rows, rate times distance is the same number."""
    assert rate(rule, 10 * X, DISTANCE) == pytest.approx(rate(rule, X, DISTANCE) / 10)
    assert rate(rule, X, DISTANCE) ** 2 == pytest.approx(rate(rule, X, SQUARED_DISTANCE))


class NoFunction(OfStatistic, named=False):
    statistic = SQUARED_DISTANCE


class NoRates(OfStatistic, named=False):
    statistic = SQUARED_DISTANCE

    def __init__(self, gamma="scale"):
        self.gamma = gamma

    def apply(self, values):
        return np.exp(-self.gamma * values)


class Turned(Kernel, named=False):
    def evaluate(self, tile):
        return tile.right @ tile.left.T

    def diag(self, A):
        return (A * A).sum(axis=1)


@pytest.mark.parametrize(
    ("kernel", "error", "sentence"),
    [
        (NoFunction(), NotImplementedError, r"NoFunction should be a function: write a method apply\(values\)"),
        (NoRates(), ValueError, r"gamma='scale' is for the data to decide; .*rates = \('gamma',\)"),
        (Turned(), ValueError, r"Turned: evaluate should return a row for each left item .* got \(2, 1\)"),
    ],
)
def test_what_a_class_lacks_is_said(kernel, error, sentence):
    rows = np.arange(12.0).reshape(6, 2)
    with pytest.raises(error, match=sentence):
        mercer.SVC(kernel).fit(rows, [0, 1] * 3)


def test_a_function_of_nothing_is_refused_when_it_is_written():
    with pytest.raises(TypeError, match="OfNothing should say what it is a function of: write statistic = "):

        class OfNothing(OfStatistic):
            pass
