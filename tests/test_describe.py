"""Facts about tables, against hand-made ones whose answers are known."""

import numpy as np
import pytest

from mercer.describe import describe
from mercer.io import read


@pytest.fixture
def described(tmp_path):
    def described(text, name="t.csv", **options):
        path = tmp_path / name
        path.write_text(text)
        return describe(read(path, unlabelled_rows="keep", **options))

    return described


def test_the_numbers_of_columns(described):
    found = described("a,w,y\n1,red,p\n2,red,q\n3,blue,p\n10,?,q\n,red,p\n")
    a, w = found.columns
    assert (a.min, a.max, a.mean, a.missing, a.distinct) == (1, 10, 4, 1, 4)
    assert a.std == pytest.approx(np.sqrt((9 + 4 + 1 + 36) / 3))
    assert a.skew == pytest.approx(((-27 - 8 - 1 + 216) / 4) / (50 / 4) ** 1.5)
    assert (w.kind, w.distinct, w.common, w.common_count, w.missing) == ("words", 2, "red", 3, 1)
    assert found.classes == {"p": 3, "q": 2}


def test_repeated_and_contradictory_rows(described):
    found = described("a,w,y\n1,x,p\n1,x,p\n1,x,q\n2,x,p\n2,x,p\n3,x,q\n")
    assert (found.duplicates, found.contradictions) == (3, 3)
    assert "3 rows have an equal row with another label" in " ".join(found.warnings)
    sparse = described("1 1:2 900:1\n0 1:2 900:1\n1 5:1\n1 5:1\n", "t.svm")
    assert sparse.sparse
    assert (sparse.duplicates, sparse.contradictions) == (2, 2)


def test_outliers_and_correlated_columns():
    found = describe(read("margins:800"))
    assert found.correlated == {"x3": ["x6", "x10"]}
    assert found.outliers["iqr"].rows == 800
    by_class = found.outliers["zscore"].by_class.values()
    assert sum(gone for gone, _ in by_class) == found.outliers["zscore"].dropped


def rows(*columns):
    return "\n".join(",".join(map(str, row)) for row in zip(*columns, strict=True))


N = range(60)


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        ("a,y\n" + rows(N, ["p"] * 60), "All rows have the same label, 'p'"),
        (
            "a,y\n" + rows([k * k for k in N], N),
            "The target 'y' numbers the rows: is it an identifier?",
        ),
        ("a,y\n" + rows([k * k for k in N], ["p"] * 55 + ["q"] * 5), "always answering 'p' is right in 91.7 %"),
        ("a,y\n" + rows([k * k for k in N], ["p"] * 55 + ["q"] * 5), "Class 'q' has only 5 rows"),
        ("a,y\n1,p\n2,q\n", "There are only 2 rows"),
        ("id,y\n" + rows(N, "pq" * 30), "'id' numbers the rows"),
        ("a,b,y\n" + rows(N, ["7"] * 60, "pq" * 30), "'b' has only one value and is left out"),
        ("a,b,y\n" + rows(N, [""] * 40 + [*"12345"] * 4, "pq" * 30), "'b' has no value in 67 % of the rows"),
        ("a,b,y\n" + rows(N, [""] * 60, "pq" * 30), "'b' has no values and is left out"),
        ("a,y\n" + rows([0] * 30 + [1] * 30, ["p"] * 30 + ["q"] * 30), "'a' alone tells the class"),
        ("a,y\n" + rows([1] * 59 + [1000], "pq" * 30), "'a' is very skewed to the right"),
        ("a,b,y\n" + rows([k % 7 for k in N], [1e4 * (k % 11) for k in N], "pq" * 30), "very different scales"),
        ("a,b,c,d,y\n1,2,3,4,p\n5,6,7,9,q\n", "more columns (4) than rows (2)"),
    ],
)
def test_warnings(described, text, warning):
    assert warning in " ".join(described(text).warnings)


def test_facts_are_plain(described):
    import json

    json.dumps(described("a,y\n1,p\n2,\n").facts(), allow_nan=False)
    assert described("a,y\n1,p\n2,\n").unlabelled == 1
