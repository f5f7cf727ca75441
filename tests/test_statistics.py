"""Tests with kernels: known values by the definitions, levels by trials, witnesses that tell where a difference is."""

from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats

from mercer import statistics
from mercer.kernels import Function, Gaussian, Laplacian, Linear, Polynomial, Spectrum
from mercer.statistics import drift, hsic, kci, ksd, mmd

from .naive import distance, dot

rng = np.random.default_rng(0)


def gaussian(gamma):
    return lambda x, z: np.exp(-gamma * distance(x, z) ** 2)


def naive_mmd(k, X, Y):
    """The unbiased estimate, pair by pair."""
    n, m = len(X), len(Y)
    same = [sum(k(A[i], A[j]) for i, j in permutations(range(len(A)), 2)) / (len(A) * (len(A) - 1)) for A in (X, Y)]
    return sum(same) - 2 * sum(k(x, y) for x in X for y in Y) / (n * m)


def naive_hsic(k, h, X, Y):
    """The mean, over four different rows, of k(1, 2)·(h(1, 2) + h(3, 4) − 2h(1, 3)): an unbiased estimate of HSIC."""
    fours = list(permutations(range(len(X)), 4))
    terms = (
        k(X[a], X[b]) * (h(Y[a], Y[b]) + h(Y[c], Y[d]) - 2 * h(Y[a], Y[c])) for a, b, c, d in fours
    )  # fmt: skip
    return sum(terms) / len(fours)


def words(count, letters="ab", seed=0):
    random = np.random.default_rng(seed)
    return ["".join(random.choice(list(letters), random.integers(3, 9))) for _ in range(count)]


# -- values ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "m"), [(2, 2), (7, 4), (5, 9)])
@pytest.mark.parametrize("rank", [None, 20])
def test_mmd_is_the_mean_over_pairs(n, m, rank):
    X, Y = rng.normal(size=(n, 3)), rng.normal(size=(m, 3)) + 0.5
    found = mmd(X, Y, kernel=Gaussian(0.3), permutations=20, rank=rank)
    assert found.statistic == pytest.approx(naive_mmd(gaussian(0.3), X, Y), abs=1e-10)
    witness = found.witness
    assert (witness.X.shape, witness.Y.shape) == ((n,), (m,))
    assert witness.X.mean() + witness.Y.mean() == pytest.approx(found.statistic, abs=1e-10)


def test_mmd_of_strings():
    X, Y = words(5), words(4, "ac", 1)

    def k(x, z):
        return sum(x[i : i + 2] == z[j : j + 2] for i in range(len(x) - 1) for j in range(len(z) - 1))

    assert mmd(X, Y, kernel=Spectrum(p=2), permutations=9).statistic == pytest.approx(naive_mmd(k, X, Y))


@pytest.mark.parametrize("rank", [None, 20])
def test_hsic_is_the_mean_over_four_rows(rank):
    X, Y = rng.normal(size=(7, 2)), rng.normal(size=7)
    found = hsic(X, Y, kernel=(Gaussian(0.4), Polynomial(degree=2)), permutations=9, rank=rank)
    naive = naive_hsic(gaussian(0.4), lambda x, z: (1 + x * z) ** 2, X, Y)
    assert found.statistic == pytest.approx(naive, abs=1e-9)


def test_ksd_is_the_mean_over_pairs_of_the_stein_kernel():
    """By differences of the kernel, and a score that is no gradient of anything simple."""
    X, gamma, step = rng.normal(size=(6, 2)), 0.7, 1e-4
    score = np.column_stack([-(X[:, 0] ** 3), np.sin(X[:, 1])])
    k, unit = gaussian(gamma), np.eye(2) * step

    def h(i, j):
        x, z = X[i], X[j]
        by_x = np.array([(k(x + u, z) - k(x - u, z)) / (2 * step) for u in unit])
        by_z = np.array([(k(x, z + u) - k(x, z - u)) / (2 * step) for u in unit])
        both = sum(
            (k(x + u, z + u) - k(x + u, z - u) - k(x - u, z + u) + k(x - u, z - u)) / (4 * step**2) for u in unit
        )
        return score[i] @ score[j] * k(x, z) + score[i] @ by_z + score[j] @ by_x + both

    naive = np.mean([h(i, j) for i, j in permutations(range(6), 2)])
    assert ksd(X, score, kernel=Gaussian(gamma), permutations=9).statistic == pytest.approx(naive, abs=1e-6)


def test_ksd_with_a_kernel_of_dot_products():
    """k = (1 + xz)²: k_x = 2z(1 + xz), k_xz = 2 + 4xz."""
    X = rng.normal(size=5)
    naive = np.mean([
        x * z * (1 + x * z) ** 2 - x * 2 * x * (1 + x * z) - z * 2 * z * (1 + x * z) + 2 + 4 * x * z
        for x, z in permutations(X, 2)
    ])  # fmt: skip
    found = ksd(X, lambda x: -x, kernel=Polynomial(degree=2), permutations=9)
    assert found.statistic == pytest.approx(naive)


def test_the_p_value_counts_all_divisions_of_few_rows():
    """Three and three rows have twenty divisions; drawn ones give their share."""
    X, Y = np.array([[0.0], [1.0], [2.0]]), np.array([[1.5], [4.0], [6.0]])
    both = np.vstack([X, Y])
    observed = naive_mmd(dot, X, Y)
    every = [
        naive_mmd(dot, both[list(some)], np.delete(both, list(some), axis=0)) for some in combinations(range(6), 3)
    ]
    exact = np.mean(np.array(every) >= observed - 1e-12)
    found = mmd(X, Y, kernel=Linear(), permutations=4000).pvalue
    assert found == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 4000) + 1 / 4000)


def test_results_are_taken_apart_as_those_of_scipy():
    statistic, pvalue = mmd(rng.normal(size=(9, 1)), rng.normal(size=(9, 1)), permutations=19)
    assert isinstance(statistic, float)
    assert (20 * pvalue) == pytest.approx(round(20 * pvalue))
    assert 1 / 20 <= pvalue <= 1


# -- levels ---------------------------------------------------------------------------------------------------------


def null_trials(trial, count):
    """How often p ≤ 0.2 where there is nothing to be found, with what such a number may be."""
    pvalues = np.array([trial(np.random.default_rng([7, seed]), seed).pvalue for seed in range(count)])
    low, high = stats.binom.ppf([1e-4, 1 - 1e-4], count, 0.2)
    return low <= np.count_nonzero(pvalues <= 0.2) <= high


def uneven_rows(random, seed):
    return mmd(random.normal(size=(6, 2)), random.normal(size=(15, 2)), permutations=49, random_state=seed)


def landmarks(random, seed):
    return mmd(random.normal(size=(8, 2)), random.normal(size=(9, 2)), permutations=49, rank=5, random_state=seed)


def strings(random, seed):
    both = words(20, seed=random.integers(2**31))
    return mmd(both[:8], both[8:], permutations=49, random_state=seed)


def ties(random, seed):
    return mmd(random.integers(0, 2, 6), random.integers(0, 2, 9), permutations=49, random_state=seed)


def independent(random, seed):
    return hsic(random.normal(size=12), random.exponential(size=(12, 2)), permutations=49, random_state=seed)


def independent_landmarks(random, seed):
    return hsic(random.normal(size=12), random.exponential(size=12), permutations=49, rank=6, random_state=seed)


def tables(random, seed):
    frame = pd.DataFrame({"a": random.normal(size=40), "b": random.choice(["x", "y"], 40), "c": random.normal(size=40)})
    return drift(frame[:15], frame[15:], permutations=49, random_state=seed)


QUICK = [uneven_rows, strings, independent]


@pytest.mark.parametrize("trial", QUICK)
def test_the_level_holds(trial):
    assert null_trials(trial, 150)


@pytest.mark.thorough
@pytest.mark.parametrize("trial", [*QUICK, landmarks, independent_landmarks, tables])
def test_the_level_holds_in_many_trials(trial):
    assert null_trials(trial, 2000 if trial is not tables else 300)


def test_of_equal_values_the_level_is_at_most_what_was_asked_for():
    pvalues = [ties(np.random.default_rng([3, seed]), seed).pvalue for seed in range(150)]
    assert np.mean(np.array(pvalues) <= 0.2) < 0.33


@pytest.mark.thorough
def test_the_levels_of_random_signs_are_close():
    def normal(random, seed):
        return ksd(random.normal(size=150), lambda x: -x, permutations=99, random_state=seed)

    def through_z(random, seed):
        z = random.normal(size=100)
        x, y = np.sin(2 * z) + 0.5 * random.normal(size=100), z**2 + 0.5 * random.normal(size=100)
        return kci(x, y, z, permutations=99, random_state=seed)

    assert null_trials(normal, 500)
    assert null_trials(through_z, 200)


@given(st.lists(st.lists(st.floats(-5, 5), min_size=3, max_size=3), min_size=3, max_size=12))
@settings(max_examples=50, deadline=None)
def test_p_values_do_not_favour_the_observed_row(values):
    """Were another row the observed one, its p-value would be its rank all the same: all rows are treated alike."""
    from mercer.statistics.results import together

    values = np.round(np.array(values), 3)
    pvalues = [together(np.roll(values, -k, axis=0))[0] for k in range(len(values))]
    for level in (0.1, 0.3, 0.5):
        assert np.mean(np.array(pvalues) <= level) <= level + 1e-9


# -- what is found --------------------------------------------------------------------------------------------------


def test_a_shift_is_found_and_its_column_named():
    X, Y = rng.normal(size=(80, 3)), rng.normal(size=(60, 3))
    Y[:, 1] += 1
    found = mmd(X, Y)
    assert found.pvalue < 0.01
    assert found.witness.columns.argmax() == 1
    assert found.witness.columns.sum() == pytest.approx(1)


def test_rows_that_one_sample_alone_has_are_the_witnesses():
    X = np.vstack([rng.normal(size=(60, 2)), rng.normal(size=(8, 2)) * 0.1 + 5])
    found = mmd(X, rng.normal(size=(60, 2)))
    assert found.pvalue < 0.05
    assert set(np.argsort(found.witness.X)[-8:]) == set(range(60, 68))


@pytest.mark.parametrize("kind", ["strings", "sets", pytest.param("graphs", marks=pytest.mark.thorough)])
def test_other_items_are_told_apart_by_kernels_that_suit_them(kind):
    if kind == "strings":
        X, Y = words(30), words(25, "abc", 1)
    elif kind == "sets":
        X = [set(rng.choice(8, 3, replace=False).tolist()) for _ in range(30)]
        Y = [set((2 + rng.choice(8, 3, replace=False)).tolist()) for _ in range(25)]
    else:
        nx = pytest.importorskip("networkx")
        X = [nx.gnp_random_graph(8, 0.3, seed=k) for k in range(20)]
        Y = [nx.gnp_random_graph(8, 0.6, seed=k) for k in range(20)]
    found = mmd(X, Y, permutations=200)
    assert found.pvalue < 0.05
    assert len(found.kernels) > 1
    if kind == "strings":
        assert any("c" in name for name in found.witness.features)


def test_dependence_without_correlation():
    x = rng.normal(size=100)
    assert hsic(x, x**2 + 0.1 * rng.normal(size=100)).pvalue < 0.01
    assert hsic(x, rng.normal(size=100)).pvalue > 0.01


def test_strings_depend_on_numbers():
    length = rng.integers(2, 12, 60)
    assert hsic(["a" * k + "b" for k in length], length.astype(float), kernel=(Spectrum(p=1), None)).pvalue < 0.01


def test_conditional_dependence_is_found():
    z = rng.normal(size=150)
    shared = rng.normal(size=150)
    x, y = z + shared, z - shared + 0.3 * rng.normal(size=150)
    assert kci(x, y, z, permutations=199).pvalue < 0.02


def test_rows_that_came_from_elsewhere_do_not_fit():
    score = lambda x: -x  # noqa: E731
    assert ksd(rng.normal(size=(200, 2)), score, permutations=199).pvalue > 0.01
    assert ksd(rng.normal(size=(200, 2)) + 0.4, score, permutations=199).pvalue < 0.02


# -- forms of input -------------------------------------------------------------------------------------------------


def test_the_same_rows_in_other_forms_give_the_same():
    X, Y = np.round(rng.normal(size=(20, 2)), 2), np.round(rng.normal(size=(15, 2)), 2)
    expected = mmd(X, Y, permutations=99)
    single = mmd(X.astype(np.float32).astype(np.float64), Y.astype(np.float32), permutations=99)
    assert single.pvalue == mmd(X.astype(np.float32), Y.astype(np.float32), permutations=99).pvalue
    frames = [pd.DataFrame(rows, columns=["a", "b"]) for rows in (X, Y)]
    for other in (
        mmd(X.tolist(), Y.tolist(), permutations=99),
        mmd(sparse.csr_array(X), sparse.csr_array(Y), permutations=99),
        mmd(frames[0], frames[1][["b", "a"]], kernel=expected.kernels, permutations=99),
    ):
        assert other.pvalue == expected.pvalue
        assert other.statistic == pytest.approx(expected.statistic)


def test_a_matrix_that_is_there_already():
    X, Y = rng.normal(size=(12, 2)), rng.normal(size=(9, 2))
    K = Gaussian(0.5)(np.vstack([X, Y]))
    expected = mmd(X, Y, kernel=Gaussian(0.5), permutations=99)
    found = mmd(K[:12], K[12:], kernel="precomputed", permutations=99)
    assert found.pvalue == expected.pvalue
    assert found.statistic == pytest.approx(expected.statistic)
    L = Gaussian(0.5)(X)
    assert (
        hsic(L, L, kernel="precomputed", permutations=99).pvalue
        == hsic(X, X, kernel=Gaussian(0.5), permutations=99).pvalue
    )


def test_functions_are_kernels_too():
    X, Y = rng.normal(size=(12, 2)), rng.normal(size=(9, 2))
    function = Function(lambda A, B: (A @ B.T + 1) ** 2)
    assert mmd(X, Y, kernel=function).pvalue == mmd(X, Y, kernel=Polynomial(degree=2)).pvalue


def test_results_do_not_depend_on_threads(monkeypatch):
    X, Y = rng.normal(size=(400, 2)), rng.normal(size=(300, 2))
    two = mmd(X, Y, permutations=20)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    one = mmd(X, Y, permutations=20)
    np.testing.assert_array_equal(one.statistics, two.statistics)
    assert one.pvalue == two.pvalue


def test_small_memory_makes_no_difference():
    X, Y = rng.normal(size=(30, 2)), rng.normal(size=(20, 2))
    assert mmd(X, Y, permutations=99, memory=8000).pvalue == mmd(X, Y, permutations=99).pvalue


# -- refusals -------------------------------------------------------------------------------------------------------

TWO, THREE = np.zeros((5, 2)), np.zeros((5, 3))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: mmd(TWO, THREE), "2 columns"),
        (lambda: mmd(TWO[:1], TWO), "at least two rows"),
        (lambda: mmd(TWO, TWO, permutations=0), "permutations must be"),
        (lambda: mmd(TWO, TWO, rank=0), "rank must be"),
        (lambda: mmd(np.full((4, 1), np.nan), TWO[:, :1]), "NaN"),
        (lambda: mmd(TWO, TWO, kernel=[]), "empty list"),
        (lambda: mmd(TWO, TWO, kernel=lambda A, B: A[:, :1] - B[:, 0] + 1.0 * np.arange(len(A))[:, None]), "symmetric"),
        (lambda: mmd(pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"b": [1, 2]})), "'a'"),
        (lambda: mmd(pd.DataFrame({"a": [1, 2]}), [[1], [2]]), "frame"),
        (lambda: mmd(TWO, TWO, kernel="precomputed"), "precomputed"),
        (lambda: hsic(TWO, TWO[:4]), "5 and 4"),
        (lambda: hsic(TWO[:3], TWO[:3]), "four rows"),
        (lambda: hsic(TWO, TWO, kernel=(Linear(),) * 3), "tuple of two"),
        (lambda: kci(TWO, TWO, TWO[:4]), "one by one"),
        (lambda: kci(TWO, TWO, TWO, kernel=(Linear(), Linear())), "tuple of three"),
        (lambda: ksd(TWO, lambda x: x[:, :1]), "shape (5, 2)"),
        (lambda: ksd(TWO, lambda x: x / 0), "not a finite"),
        (lambda: ksd(rng.normal(size=(5, 1)), lambda x: -x, kernel=Laplacian(1.0)), "smooth formula"),
        (lambda: drift(TWO[:1], TWO), "two rows"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_what_cannot_be_tested_is_refused_in_a_sentence(call, said):
    with pytest.raises((ValueError, TypeError)) as refused:
        call()
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_rows_that_are_all_alike_tell_nothing():
    assert mmd(TWO, TWO).pvalue == 1
    assert hsic(TWO, rng.normal(size=5)).pvalue == 1


# -- tables ---------------------------------------------------------------------------------------------------------


def people(n, seed, **shift):
    random = np.random.default_rng(seed)
    age = random.normal(40, 10, n) + shift.get("age", 0)
    town = random.choice(["Ulm", "Bern", "Graz"], n, p=shift.get("town", [0.4, 0.4, 0.2]))
    joined = pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 700, n), unit="D")
    income = np.where(random.random(n) < shift.get("missing", 0.1), np.nan, random.lognormal(8, 0.5, n))
    return pd.DataFrame({"age": age, "town": town, "joined": joined, "income": income, "noise": random.normal(size=n)})


def test_tables_from_one_source_do_not_drift():
    found = drift(people(150, 1), people(120, 2), permutations=199)
    assert found.pvalue > 0.05
    assert found.moved() == []
    assert {each.name for each in found.columns} == {"age", "town", "joined", "income", "noise"}


@pytest.mark.parametrize(
    ("shift", "column"),
    [({"age": 6}, "age"), ({"town": [0.1, 0.4, 0.5]}, "town"), ({"missing": 0.4}, "income")],
)
def test_the_column_that_moved_is_named(shift, column):
    found = drift(people(200, 1), people(200, 2, **shift), permutations=199)
    assert found.pvalue <= 0.01
    assert found.moved() == [column]
    assert found.columns[0].name == column
    assert found.columns[0].corrected >= found.columns[0].pvalue


def test_columns_that_only_go_together_otherwise():
    a, b = rng.normal(size=(2, 200))
    old, new = np.column_stack([a, a + 0.2 * b]), np.column_stack([a, 1.02 * b])
    found = drift(old, new, permutations=199)
    assert found.pvalue <= 0.02


def test_steps_are_holms_where_columns_do_not_depend_on_each_other():
    """The p-value of the most telling of m independent columns is 1 − (1 − p)^m, and at most Holm's m·p."""
    from mercer.statistics.drift import corrected

    values = np.random.default_rng(1).normal(size=(20_000, 4))
    values[0] = [2.6, 0.0, -1.0, 2.2]
    found = corrected(values)
    alone = stats.norm.sf(values[0])
    assert found[0] == pytest.approx(1 - (1 - alone[0]) ** 4, rel=0.15)
    assert found[3] == pytest.approx(1 - (1 - alone[3]) ** 3, rel=0.15)
    assert (np.diff(found[np.argsort(-values[0])]) >= 0).all()


def test_the_room_is_found_lazily():
    assert set(statistics.__all__) >= {"mmd", "hsic", "kci", "ksd", "drift"}
