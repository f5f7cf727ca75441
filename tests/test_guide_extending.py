"""What the guide says about parts of your own: the code runs, works with everything else, and is short."""

import warnings

import numpy as np
import pytest

from mercer.grams import Dense, Gram, Lazy
from mercer.io import FORMATS, DataError, Format, formats_in_words, read
from mercer.kernels import Gaussian
from mercer.losses import Hinge, Logistic, PerceptronLoss
from mercer.problems import Problem, certify
from mercer.solvers import MistakeDriven, Newton, PegasosSteps, SoftMargin

from .guide_pages import DOCS, doctests_of, failures_of

PAGES = ["estimator", "file_format", "gram", "kernel", "loss", "solver"]
#: Lines that a part of one's own may take.
SHORT = 30


@pytest.mark.parametrize("name", PAGES)
def test_the_code_of_the_page_runs(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    known = dict(FORMATS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert failures_of(DOCS / "extending" / f"{name}.md") == ""
    finally:
        FORMATS.clear()
        FORMATS.update(known)


@pytest.mark.parametrize("name", PAGES)
def test_a_part_of_ones_own_is_short(name):
    for block in doctests_of(DOCS / "extending" / f"{name}.md")[:1]:
        lines = [line for example in block for line in example.source.splitlines() if line.strip()]
        assert 5 < len(lines) < SHORT


# -- a Gram of four methods -----------------------------------------------------------------------------------------

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 2))
signs = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=80) > 0, 1.0, -1.0)
KERNEL = Gaussian(gamma=0.5)


class Plain(Gram):
    """The least that a Gram has to say."""

    def __init__(self, K):
        self.K = K

    def __len__(self):
        return len(self.K)

    def diag(self):
        return self.K.diagonal()

    def matvec(self, z):
        return self.K @ z

    def rows(self, index):
        return self.K[index]


@pytest.mark.parametrize(
    ("solver", "loss", "intercept"),
    [
        (Newton(), Logistic(), "free"),
        (SoftMargin(tol=1e-6), Hinge(), "free"),
        (PegasosSteps(steps=500), Hinge(), "penalised"),
        (MistakeDriven(epochs=5), PerceptronLoss(), "none"),
    ],
    ids=["newton", "soft margin", "pegasos", "mistake-driven"],
)
def test_every_solver_runs_on_a_gram_of_four_methods(solver, loss, intercept):
    lam = 0.0 if isinstance(loss, PerceptronLoss) else 0.01
    grams = Plain(KERNEL(X)), Lazy(KERNEL, X)
    ours, theirs = (Problem(gram, signs, loss, lam, intercept=intercept) for gram in grams)
    found, known = solver.solve(ours), solver.solve(theirs)
    np.testing.assert_allclose(ours.gram.matvec(found.z) + found.b, theirs.gram.matvec(known.z) + known.b, atol=1e-4)
    if lam:
        assert certify(ours, found).objective == pytest.approx(certify(theirs, known).objective, rel=1e-6)


def test_what_follows_from_rows_and_products_is_what_it_should_be():
    K = KERNEL(X)
    gram, index = Plain(K), np.array([3, 1, 3, 70])
    part, z = gram.take(index), rng.normal(size=4)
    np.testing.assert_allclose(part.matvec(z), K[np.ix_(index, index)] @ z)
    np.testing.assert_allclose(part.take([1, 0]).rows([0]), K[[1]][:, [1, 3]])
    tripled = gram.scaled(3.0)
    np.testing.assert_allclose(tripled.rows([5]), 3 * K[[5]])
    np.testing.assert_allclose(tripled.diag(), 3 * K.diagonal())
    np.testing.assert_allclose(tripled.take(index).matvec(z), 3 * K[np.ix_(index, index)] @ z)
    out = np.empty((2, 3), np.float32)
    gram.block(np.array([4, 2]), np.array([0, 9, 4]), out)
    np.testing.assert_allclose(out, K[np.ix_([4, 2], [0, 9, 4])], rtol=1e-6)
    np.testing.assert_allclose(gram.model(signs), K @ signs)


def test_rows_that_have_no_room_are_made_again():
    """A walk keeps as many rows as its workspace holds, and the result does not depend on that."""
    gram = Plain(KERNEL(X))
    gram.workspace = 8 * 80 * 3
    assert gram.capacity == 3
    of = [Problem(each, signs, Hinge(), 0.01) for each in (gram, Dense(KERNEL(X)))]
    few, all_of_them = (PegasosSteps(steps=300).solve(each).z for each in of)
    np.testing.assert_allclose(few, all_of_them)


# -- formats ----------------------------------------------------------------------------------------------------------


def test_columns_that_do_not_fit_are_refused(tmp_path, monkeypatch):
    columns: dict = {}
    entry = Format("odd", "odd files", (".odd",), columns_of=lambda source, options: columns)
    monkeypatch.setitem(FORMATS, "odd", entry)
    (tmp_path / "a.odd").write_text("x")
    with pytest.raises(DataError, match=r"'a\.odd' has no rows"):
        read(tmp_path / "a.odd")
    columns.update(a=[1, 2], b=["x"])
    with pytest.raises(DataError, match=r"'a\.odd' has columns of different lengths"):
        read(tmp_path / "a.odd")
    columns.update(b=["x", "y"], a=[1, [2]])
    with pytest.raises(DataError, match=r"'a\.odd', record 2, column 'a': .* neither a number nor a word"):
        read(tmp_path / "a.odd")
    columns.update(a=np.array([1, 2]))
    assert read(tmp_path / "a.odd").frame["a"].tolist() == [1.0, 2.0]


def test_a_format_that_cannot_be_read_is_refused():
    with pytest.raises(ValueError, match="the format 'odd' cannot be read: give it columns_of or read"):
        Format("odd", "odd files", (".odd",))


def test_formats_of_one_kind_are_named_together(monkeypatch):
    monkeypatch.setitem(FORMATS, "odd", Format("odd", "odd files", (".odd",), columns_of=dict))
    assert formats_in_words().count("rows from") == 1
