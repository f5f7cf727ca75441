"""Rates that the data decide: gamma="scale", "auto" and "median"."""

from itertools import combinations
from statistics import median

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score

from mercer import SVC, KernelRegressor, KernelSearchCV
from mercer.diagnostics import align, diagnose
from mercer.kernels import (
    After,
    Equal,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Normalised,
    Polynomial,
    Sigmoid,
    Spectrum,
    parse,
)

RATES = [Gaussian(), Laplacian(), Matern(length="scale"), Polynomial(gamma="scale"), Sigmoid(gamma="scale")]
X = np.random.RandomState(0).standard_normal((40, 3)) * [1, 5, 20] + [0, 3, -7]


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine, load_digits])
def test_machines_are_as_good_as_scikit_learns_on_columns_as_they_come(load):
    rows, labels = load(return_X_y=True)
    rows, labels = rows[:600], labels[:600]
    theirs = svm.SVC().fit(rows, labels)
    for kernel in ("rbf", Gaussian(), "gaussian(gamma=scale)"):
        assert SVC(kernel).fit(rows, labels).kernel_.gamma == pytest.approx(theirs._gamma, rel=1e-12)
    mine, wanted = (cross_val_score(model, rows, labels, cv=3).mean() for model in (SVC(), svm.SVC()))
    assert mine == pytest.approx(wanted, abs=0.005)


def test_scale_counts_the_zeros_of_sparse_rows():
    gappy = sparse.random_array((50, 20), density=0.1, rng=0, format="csr")
    expected = svm.SVC().fit(gappy, np.arange(50) % 2)._gamma
    assert Gaussian().resolved(gappy).gamma == pytest.approx(expected, rel=1e-12)
    assert Gaussian().resolved(gappy.toarray()).gamma == pytest.approx(expected, rel=1e-12)


def test_auto_is_one_over_the_number_of_columns():
    assert Sigmoid(gamma="auto").resolved(X).gamma == pytest.approx(1 / 3)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_median_is_over_pairs_of_rows_that_differ(convert):
    rows = np.concatenate([X, X[:15]])
    pairs = [(a, b) for a, b in combinations(rows.tolist(), 2) if a != b]
    squared = median(sum((p - q) ** 2 for p, q in zip(*pair)) for pair in pairs)
    manhattan = median(sum(abs(p - q) for p, q in zip(*pair)) for pair in pairs)
    assert Gaussian("median").resolved(convert(rows)).gamma == pytest.approx(1 / squared, rel=1e-9)
    assert Laplacian("median").resolved(convert(rows)).gamma == pytest.approx(1 / manhattan, rel=1e-9)
    assert Polynomial(gamma="median").resolved(convert(rows)).gamma == pytest.approx(1 / squared, rel=1e-9)


def test_of_many_rows_a_thousand_say_the_median():
    many = np.random.RandomState(1).standard_normal((5000, 4))
    found = Gaussian("median").resolved(many)
    assert found == Gaussian("median").resolved(many)
    assert found.gamma == pytest.approx(Gaussian("median").resolved(many[:1000]).gamma, rel=0.05)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("rule", ["scale", "median"])
def test_a_weight_counts_as_repeated_rows(rule, convert):
    weight = np.random.RandomState(1).randint(0, 4, len(X))
    gappy = np.where(np.abs(X) < 3, 0.0, X)
    for kernel in (Gaussian(rule), Laplacian(rule) + Linear()):
        weighted = kernel.resolved(convert(gappy), weight.astype(float)).get_params()
        repeated = kernel.resolved(convert(gappy.repeat(weight, axis=0))).get_params()
        name = "gamma" if "gamma" in weighted else "left__gamma"
        assert weighted[name] == pytest.approx(repeated[name], rel=1e-12)


@pytest.mark.parametrize("rule", ["scale", "median"])
@pytest.mark.parametrize("kernel", RATES[:3], ids=str)
def test_units_make_no_difference(kernel, rule):
    name = next(iter(kernel.rates))
    kernel = kernel.set_params(**{name: rule})
    np.testing.assert_allclose(kernel(1000 * X), kernel(X), rtol=1e-9)


def test_a_matern_of_a_rule_is_as_wide_as_the_gaussian():
    for rule in ("scale", "auto", "median"):
        gamma = Gaussian(rule).resolved(X).gamma
        assert Gaussian.from_sigma(Matern(length=rule).resolved(X).length).gamma == pytest.approx(gamma)


@pytest.mark.parametrize("kernel", RATES, ids=str)
def test_rows_that_are_all_the_same_have_the_rate_one(kernel):
    name = next(iter(kernel.rates))
    same = np.full((5, 2), 3.7)
    for rule in ("scale", "median"):
        found = getattr(kernel.set_params(**{name: rule}).resolved(same), name)
        assert found == pytest.approx(np.sqrt(0.5) if isinstance(kernel, Matern) else 1.0)


def halves(rows):
    return rows * 0.5


def test_every_part_of_an_expression_is_resolved_on_what_it_sees():
    gamma = Gaussian().resolved(X).gamma
    expression = 2 * Gaussian() + Normalised(Polynomial(gamma="scale")) ** 2 * Gaussian(0.1) + After(halves, Gaussian())
    assert not expression.is_resolved
    found = expression.resolved(X)
    assert found.is_resolved
    assert found.resolved(X[:3]) is found
    parameters = found.get_params()
    assert parameters["left__left__kernel__gamma"] == gamma
    assert parameters["left__right__left__kernel__kernel__gamma"] == gamma
    assert parameters["left__right__right__gamma"] == 0.1
    assert parameters["right__kernel__gamma"] == pytest.approx(4 * gamma)
    np.testing.assert_allclose(expression(X), found(X, X.copy()), rtol=1e-9, atol=1e-9)


def test_columns_count_for_themselves():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "word": ["ab", "ba"] * 20})
    kernel = Gaussian().on("a") + Gaussian().on("b") * Spectrum(1).on("word") + Equal().on("word")
    found = kernel.resolved(table).get_params()
    assert found["left__left__kernel__gamma"] == pytest.approx(1 / X[:, 0].var())
    assert found["left__right__left__kernel__gamma"] == pytest.approx(1 / X[:, 1].var())


def test_one_collection_resolves_and_two_are_refused():
    kernel = Gaussian() + Linear()
    np.testing.assert_array_equal(kernel(X), kernel.resolved(X)(X))
    np.testing.assert_array_equal(kernel(X, X), kernel(X))
    np.testing.assert_array_equal(kernel.diag(X), np.diag(kernel(X)))
    with pytest.raises(ValueError, match=r"call \.resolved\(X\) with the training items first, or give a number"):
        kernel(X, X[:5])
    with pytest.raises(ValueError, match="or give a number"):
        Polynomial(gamma="scale").features(X)


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("gaussian", Gaussian()),
        ("gaussian(gamma=scale)", Gaussian("scale")),
        ("gaussian(median) + poly(gamma='auto')", Gaussian("median") + Polynomial(gamma="auto")),
        ("matern(length=median)", Matern(length="median")),
    ],
)
def test_rules_in_texts(text, kernel):
    assert parse(text) == kernel
    assert parse(str(kernel)) == kernel


def test_a_model_keeps_the_number_and_folds_have_their_own():
    y = np.arange(40) % 2
    model = SVC(Gaussian("median") + Linear()).fit(X, y)
    assert model.kernel_ == (Gaussian("median") + Linear()).resolved(X)
    assert model.get_params()["kernel"].left.gamma == "median"
    grid = {"C": [0.1, 1], "kernel__gamma": ["scale", 0.1, "median"]}
    mine, theirs = (search(SVC("gaussian"), grid, cv=4).fit(X, y) for search in (KernelSearchCV, GridSearchCV))
    for fold in range(4):
        name = f"split{fold}_test_score"
        np.testing.assert_array_equal(mine.cv_results_[name], theirs.cv_results_[name])
    assert KernelRegressor().fit(X, X[:, 0]).kernel_ == Gaussian().resolved(X)


def test_diagnostics_name_the_number():
    gamma = Gaussian().resolved(X).gamma
    assert str(diagnose("gaussian", X)).startswith(f"gaussian(gamma={gamma!r}) on 40 items")
    assert align(["gaussian", "linear"], X, X[:, 2] > 0).kernels[0].is_resolved


@pytest.mark.parametrize("word", ["scael", "nan", "inf"])
def test_a_misspelt_rule_in_a_text_names_the_rules(word):
    with pytest.raises(ValueError, match="is neither a finite number nor 'scale', 'auto' or 'median'"):
        parse(f"gaussian(gamma={word})")
