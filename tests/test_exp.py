"""The exponential that kernels are made of: its error over all arguments, and its ends."""

import numpy as np
import pytest

from mercer.runtime import exp_scaled

#: Below these arguments the result is zero.
LOWEST = {np.float32: -87.0, np.float64: -708.0}
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def ulps(found, exact):
    """Errors in units of the last place of the exact value."""
    return float((np.abs(found - exact) / np.spacing(exact.astype(found.dtype))).max())


@pytest.mark.thorough
def test_single_precision_is_right_to_less_than_one_unit_for_every_exponent():
    """Each 97th float32 between −87 and −0; of all of them, the worst is off by 0.94 units."""
    first, last = (int(np.float32(end).view(np.uint32)) for end in (-0.0, LOWEST[np.float32]))
    x = np.arange(first, last, 97, dtype=np.uint32).view(np.float32)
    assert ulps(exp_scaled(x.copy(), 1.0), np.exp(x.astype(np.float64))) < 0.95


def test_double_precision_is_right_to_less_than_one_unit():
    x = -np.concatenate([np.logspace(-310, np.log10(707.99), 400_000), np.linspace(0, 707.99, 400_000)])
    # Where long numbers are no longer than others, the reference is off by up to one unit too.
    bound = 0.85 if np.finfo(np.longdouble).eps < 1e-18 else 2.0
    assert ulps(exp_scaled(x.copy(), 1.0), np.exp(x.astype(np.longdouble))) < bound


@dtypes
def test_a_scale_costs_the_rounding_of_its_product(dtype):
    """x rounded to x·(1 + ε/2) is worth |x| half units of the result."""
    values = np.linspace(0, 80, 100_001).astype(dtype)
    exact = np.exp(values.astype(np.longdouble) * dtype(-0.3))
    found = exp_scaled(values.copy(), -0.3)
    assert (np.abs(found - exact) <= (1 + 0.3 * values) * np.spacing(found)).all()


@dtypes
def test_it_falls_with_the_distance_but_for_the_last_unit(dtype):
    x = np.linspace(LOWEST[dtype] - 1, 0, 300_001).astype(dtype)
    values = exp_scaled(x.copy(), 1.0)
    assert (np.diff(values) >= -np.spacing(values[1:])).all()
    assert values.max() == 1.0
    assert exp_scaled(np.array([0.0, -0.0], dtype), -3.0).tolist() == [1.0, 1.0]


@dtypes
def test_beyond_the_end_there_is_nothing(dtype):
    tiny = np.finfo(dtype).smallest_subnormal
    end = np.nextafter(dtype(LOWEST[dtype]), dtype(0))
    x = np.array([end, LOWEST[dtype], LOWEST[dtype] - 40, np.finfo(dtype).min, -np.inf, -tiny, tiny], dtype)
    found = exp_scaled(x.copy(), 1.0)
    assert found[0] > np.finfo(dtype).tiny  # the last value is a normal number
    assert found[1:].tolist() == [0.0] * 4 + [1.0] * 2
    with np.errstate(over="ignore"):  # a product that overflows
        assert exp_scaled(np.array([np.finfo(dtype).max], dtype), -2.0).tolist() == [0.0]


@dtypes
def test_what_is_no_number_stays_none(dtype):
    found = exp_scaled(np.array([np.nan, -1.0, np.nan] * 20, dtype), 1.0)
    np.testing.assert_array_equal(np.isnan(found), [True, False, True] * 20)


@dtypes
def test_it_works_in_place_on_any_shape(dtype):
    for shape in ((0,), (1,), (7, 5), (3, 0, 2)):
        values = np.full(shape, 2.0, dtype)
        assert exp_scaled(values, -0.5) is values
        np.testing.assert_allclose(values, np.exp(-1.0), rtol=2e-7)
