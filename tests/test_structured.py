"""Every kernel on strings, sets and graphs against the definitions, and what all of them promise."""

import numpy as np
import pytest
from sklearn.base import clone

from mercer import KernelRegressor
from mercer.kernels import Kernel, parse
from mercer.kernels.engine import counts as count_dot
from mercer.losses import EpsilonInsensitive

from . import naive_structured as naive
from .cases import STRUCTURED

names = [f"{kernel}-{place}" for place, (kernel, _) in enumerate(STRUCTURED)]


@pytest.mark.parametrize(("kernel", "items"), STRUCTURED, ids=names)
class TestEveryStructuredKernel:
    def test_is_its_definition(self, kernel, items):
        expected = [[naive.value(kernel, x, z) for z in items] for x in items]
        np.testing.assert_allclose(kernel(items), expected, rtol=1e-9, atol=1e-12)

    def test_contracts(self, kernel, items):
        K = kernel(items)
        collection = kernel.items(items)
        assert np.array_equal(K, K.T)
        assert K.dtype == np.float64
        np.testing.assert_allclose(np.diag(K), kernel.diag(collection), rtol=1e-12, atol=1e-15)
        if kernel.always_psd:
            assert np.linalg.eigvalsh(K).min() >= -1e-10 * np.abs(K).max()
        order = np.random.RandomState(2).permutation(len(items))
        np.testing.assert_allclose(kernel([items[p] for p in order]), K[np.ix_(order, order)], rtol=1e-12)

    def test_does_not_depend_on_the_batch(self, kernel, items):
        K = kernel(items)
        for place, item in enumerate(items):
            np.testing.assert_allclose(kernel([item], items)[0], K[place], rtol=1e-12, atol=1e-15)
            np.testing.assert_allclose(kernel([item])[0, 0], K[place, place], rtol=1e-12, atol=1e-15)

    def test_collections(self, kernel, items):
        collection = kernel.items(items)
        if not kernel.parts():
            assert kernel.items(collection) is collection
        K = kernel(items)
        index = np.array([2, 0, 2])
        np.testing.assert_allclose(kernel(collection[index], collection[1:4]), K[index, 1:4], rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(kernel(list(collection)), K, rtol=1e-12, atol=1e-15)
        assert kernel(collection[:0], collection).shape == (0, len(items))

    def test_is_text_and_a_value(self, kernel, items):
        assert clone(kernel) == kernel
        if "<" not in str(kernel) and "graph=" not in str(kernel):
            assert parse(str(kernel)) == kernel

    def test_products_without_the_matrix(self, kernel, items):
        collection, v = kernel.items(items), np.random.RandomState(4).standard_normal(len(items))
        np.testing.assert_allclose(
            kernel.product(collection, collection, v),
            kernel(items) @ v,
            rtol=1e-9,
            atol=1e-9 * abs(kernel(items)).max(),
        )


@pytest.mark.parametrize(("kernel", "items"), STRUCTURED, ids=names)
def test_several_tiles_agree_with_one(kernel, items):
    many = (items * 50)[:270]
    K = kernel(many)
    assert np.array_equal(K, K.T)
    size = len(items)
    np.testing.assert_allclose(K[:size, :size], kernel(items), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(K[-9:, :9], kernel(many[-9:], many[:9]), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("gain", [0.0, 1e9], ids=["sparse", "dense"])
def test_sparse_and_dense_products_of_counts_agree_exactly(gain, monkeypatch):
    strings = ["".join(row) for row in np.random.RandomState(0).choice(list("ACGT"), (60, 50))]
    kernel = parse("spectrum(p=3)")
    expected = kernel(strings)
    monkeypatch.setattr(count_dot, "_DENSE_GAIN", gain)
    assert np.array_equal(kernel(strings), expected)
    assert np.array_equal(kernel(strings[:7], strings[30:]), expected[:7, 30:])


def test_structured_kernels_say_what_they_compare():
    assert Kernel.kind() == "rows"
    assert {type(kernel).kind() for kernel, _ in STRUCTURED if not kernel.parts()} == {
        "strings",
        "sets",
        "graphs",
        "nodes",
    }


@pytest.mark.parametrize("kernel", ["minmax", "intersection", "subsets", "jaccard"])
def test_a_machine_that_needs_no_item_predicts_the_same_for_all(kernel):
    """All targets lie inside the tube."""
    model = KernelRegressor(kernel, EpsilonInsensitive(5.0)).fit([{"a"}, {"b"}, {"a", "c"}], [1.0, 2.0, 1.5])
    assert model.support_.size == 0
    np.testing.assert_allclose(model.predict([{"a"}, {"z"}, set()]), 1.5)
