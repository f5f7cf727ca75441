import os
import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer.kernels import Bags, Intersection, Jaccard, MinMax, Subsets, Tanimoto

from . import naive_structured as naive

KERNELS = [Subsets(), Subsets(normalised=True), Intersection(), Jaccard(), MinMax(), Tanimoto()]
bags = st.lists(st.lists(st.sampled_from(["a", "b", 1, 2.5, ("a", 1), "🙂"]), max_size=6), min_size=2, max_size=5)


def test_the_course_example():
    assert Subsets()([set("ABCD")], [set("BCDE")])[0, 0] == 8


@given(bags)
@settings(max_examples=40, deadline=None)
def test_random_multisets(items):
    for kernel in KERNELS:
        expected = [[naive.value(kernel, x, z) for z in items] for x in items]
        K = kernel(items)
        np.testing.assert_allclose(K, expected, rtol=1e-12)
        np.testing.assert_array_equal(kernel([list(reversed(bag)) for bag in items]), K)
        assert np.linalg.eigvalsh(K).min() >= -1e-10 * max(1.0, K.max())


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_inputs_of_every_kind(kernel):
    rows = np.array([[1, 0, 2], [0, 0, 0], [3, 1, 1]])
    lists = [[0, 2, 2], [], [0, 0, 0, 1, 2]]
    expected = kernel(lists)
    pandas = pytest.importorskip("pandas")
    counters = [Counter(own) for own in lists]
    for given_as in (
        rows,
        rows.astype(np.float32),
        sparse.csr_array(rows),
        sparse.coo_matrix(rows),
        pandas.DataFrame(rows),
        counters,
        [counters[0], lists[1], lists[2]],
        [{0: 1, 2: 2, 5: 0}, {}, {0.0: 3, True: 1, 2: 1}],
        tuple(lists),
        pandas.Series(lists),
        [np.array(own, dtype=int) for own in lists],
        Bags.of(lists),
    ):
        np.testing.assert_allclose(kernel(given_as), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(rows > 0), kernel([set(own) for own in lists]), rtol=1e-12)


def test_rows_are_not_changed():
    rows = sparse.csr_array(np.eye(3))
    rows.data[1] = 0.0
    assert Intersection()(rows).tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert rows.nnz == 3


@pytest.mark.parametrize(
    ("items", "hint"),
    [
        (["milk bread"], "item 0 is the text 'milk bread', not a set; split it"),
        ([{"a"}, None], "set 1 is missing"),
        ([{"a"}, 3], "item 1 is not a set, list or Counter but 3"),
        ([Counter(a=-1)], "set 0 has 'a' -1 times"),
        ([{"a": 1.5}], "counts are whole numbers"),
        (np.array([[0.5, 1.0]]), "row 0, column 0 is 0.5, which is no count"),
        (np.array([[1.0, -1.0]]), "row 0, column 1 is -1"),
        ([[["a"], ["b"]]], "some items are lists"),
        ([{float("nan")}], "nan is not an item"),
        ([{object}], "an item must be text, a number"),
        ({"a", "b"}, "expected a list, array or column of sets, got set"),
    ],
)
def test_what_is_no_collection_of_sets_is_refused(items, hint):
    with pytest.raises(ValueError, match=re.escape(hint)):
        Jaccard()(items)


def test_large_sets_overflow_only_where_they_must():
    large = [set(range(1500)), set(range(1, 1501))]
    with pytest.raises(ValueError, match=r"2\^1500 is larger than any number; take Subsets\(normalised=True\)"):
        Subsets()(large)
    np.testing.assert_allclose(Subsets(normalised=True)(large), [[1, 0.5], [0.5, 1]])
    assert Subsets()([set(range(1000))])[0, 0] == 2.0**1000


def test_ten_thousand_items_and_huge_counts():
    assert Intersection()([range_set := set(range(10_000))], [range_set | {"x"}])[0, 0] == 10_000
    assert Tanimoto()([{"a": 10**9}], [{"a": 10**9}])[0, 0] == 1
    with pytest.raises(ValueError, match="divide them by a common unit"):
        MinMax()([{"a": 10**12}])


IN_ANOTHER_PROCESS = """
import numpy as np
from mercer import Pegasos
from mercer.kernels import Bags, Intersection, Tanimoto
rng = np.random.default_rng(0)
sets = [{f"item {k}" for k in rng.choice(40, size=12)} for _ in range(60)]
y = rng.integers(2, size=60)
for kernel in (Intersection(), Tanimoto()):
    machine = Pegasos(kernel, random_state=0).fit(sets, y)
    print(Bags.of(sets).counts.keys.tolist(), machine.decision_function(sets).tolist())
"""


def test_the_order_in_which_python_lists_a_set_changes_nothing():
    def answers(seed):
        command = [sys.executable, "-c", IN_ANOTHER_PROCESS]
        return subprocess.run(
            command, env=os.environ | {"PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout

    assert answers("1") == answers("2") != b""
