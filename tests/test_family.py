"""SVR, NuSVC, NuSVR, OneClassSVM and SVDD: the same answers as LIBSVM, and what their parameters promise."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn import svm
from sklearn.datasets import load_diabetes, make_friedman1, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import SVC, SVDD, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.grams import Dense
from mercer.kernels import Function, Gaussian, Spectrum
from mercer.losses import EpsilonInsensitive, Hinge, Shortfall, Squared
from mercer.problems import Iterate, NuProblem, certify
from mercer.search import KernelSearchCV
from mercer.solvers import CannotSolve, Newton, SoftMargin

X, y = make_friedman1(150, noise=1.0, random_state=0)
rows, labels = make_moons(150, noise=0.2, random_state=0)
rng = np.random.default_rng(0)
WEIGHT = rng.uniform(0.2, 2.0, 150)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize(
    ("name", "options"),
    [("SVR", {"C": 3, "epsilon": 0.5}), ("NuSVR", {"C": 3, "nu": 0.31}), ("OneClassSVM", {"nu": 0.23})],
)
def test_libsvm_finds_the_same(name, options, kernel, weight):
    own = Gaussian(gamma=0.3) if kernel == "rbf" else kernel
    their = getattr(svm, name)(kernel=kernel, gamma=0.3, tol=1e-8, **options).fit(X, y, sample_weight=weight)
    our = getattr(mercer, name)(own, tol=1e-8, **options).fit(X, y, sample_weight=weight)
    scale = np.abs(their.dual_coef_).sum() if name == "OneClassSVM" else np.std(y)
    of = (lambda m: m.decision_function(X)) if name == "OneClassSVM" else (lambda m: m.predict(X))
    np.testing.assert_allclose(of(our), of(their), atol=1e-5 * scale)
    assert our.intercept_.shape == (1,)
    assert our.dual_coef_.shape == (1, len(our.support_))
    assert our.n_support_.shape == their.n_support_.shape
    assert our.duality_gap_ <= 1e-6 * abs(our.objective_)
    if kernel == "linear":
        np.testing.assert_allclose(our.coef_, their.coef_, atol=1e-4 * np.abs(their.coef_).max())


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_a_margin_that_is_found_is_libsvms(kernel):
    own = {"rbf": "rbf", "poly": "polynomial(degree=3, gamma=0.5, coef0=1)"}[kernel]
    their = svm.NuSVC(kernel=kernel, nu=0.3, tol=1e-9, gamma=0.5 if kernel == "poly" else "scale", coef0=1.0)
    our = NuSVC(own, nu=0.3, tol=1e-8).fit(rows, labels)
    np.testing.assert_allclose(our.decision_function(rows), their.fit(rows, labels).decision_function(rows), atol=2e-4)
    assert our.classes_.tolist() == [0, 1]
    # scores are in units of the margin: it is the machine of an SVC with some C
    C = np.abs(our.dual_coef_).max()
    np.testing.assert_allclose(
        SVC(own, C=C, tol=1e-8).fit(rows, labels).decision_function(rows), our.decision_function(rows), atol=1e-5
    )


def test_several_classes_are_pairs():
    three = (X[:, 0] * 3).astype(int)
    our, their = NuSVC(nu=0.4, tol=1e-6).fit(X, three), svm.NuSVC(nu=0.4, tol=1e-8).fit(X, three)
    assert our.dual_coef_.shape == their.dual_coef_.shape
    assert (our.predict(X) == their.predict(X)).all()


@pytest.mark.parametrize("kind", ["hinge", "tube", "shortfall"])
@pytest.mark.parametrize("seed", range(10))
def test_solutions_are_those_of_a_general_solver(seed, kind):
    """The primal with the width as a variable, by SciPy, on a smooth approximation from above."""
    draw = np.random.default_rng(seed)
    n = int(draw.integers(6, 14))
    points = draw.normal(size=(n, 2))
    K = rbf_kernel(points) + 1e-8 * np.eye(n)
    target = draw.normal(size=n)
    signs = np.where(np.arange(n) % 2, 1.0, -1.0)
    weight, lam, nu = draw.uniform(0.3, 1.0, n), 0.1, float(draw.uniform(0.1, 0.5))
    loss = {"hinge": Hinge(), "tube": EpsilonInsensitive(0.0), "shortfall": Shortfall()}[kind]
    goal = signs if kind == "hinge" else target
    free = kind != "shortfall"
    problem = NuProblem(Dense(K), goal, loss, lam, weight, "free" if free else "none", nu=nu)
    found = SoftMargin(1e-9).solve(problem)
    share = weight / weight.sum()

    def value(v):
        z, b, width = v[:n], v[n] * free, v[n + 1]
        f = K @ z + b
        if kind == "tube":
            cost = share @ np.maximum(0, np.abs(goal - f) - width) + nu * width
        elif kind == "hinge":
            cost = share @ np.maximum(0, width - goal * f) - nu * width
        else:
            cost = share @ np.maximum(0, goal + width - f) - nu * width
        return lam / 2 * z @ K @ z + cost

    ours = value(np.concatenate([found.z, [found.b, found.width]]))
    certificate = certify(problem, found)
    assert certificate.objective == pytest.approx(ours, abs=1e-10)
    assert certificate.gap <= 1e-7
    for _ in range(3):
        start = np.concatenate([found.z, [found.b, found.width]]) + 0.1 * draw.normal(size=n + 2)
        other = minimize(value, start, method="Nelder-Mead", options={"maxiter": 400})
        assert other.fun >= ours - 1e-9
    # a certificate of any other model claims no more than is true
    bad = Iterate(0.3 * draw.normal(size=n), 0.1 * free, width=0.2)
    assert certify(problem, bad).gap >= certify(problem, bad).objective - ours - 1e-9


def test_nu_bounds_the_share_that_pays():
    for nu in (0.1, 0.3, 0.6):
        model = NuSVR(C=5, nu=nu, tol=1e-6).fit(X, y)
        assert np.mean(np.abs(y - model.predict(X)) > model.epsilon_ * (1 + 1e-4)) <= nu <= len(model.support_) / len(X)
        novelty = OneClassSVM(nu=nu, tol=1e-7).fit(X)
        assert np.mean(novelty.predict(X) < 0) <= nu <= len(novelty.support_) / len(X)
        margin = NuSVC(nu=nu, tol=1e-6).fit(rows, labels)
        signs = np.where(labels == 1, 1, -1)
        assert np.mean(signs * margin.decision_function(rows) < 1 - 1e-4) <= nu <= len(margin.support_) / len(rows)


def test_an_infeasible_nu_is_refused_before_any_kernel_value():
    def value(A, B):
        pytest.fail("a kernel value was asked for")

    never = Function(value, pairwise=False, objects=False)
    uneven = np.repeat(["rare", "common"], [10, 90])
    with pytest.raises(ValueError, match=r"'common' \(90\) against 'rare' \(10\) allows at most nu=0.2"):
        NuSVC(never, nu=0.5).fit(np.arange(100.0)[:, None], uneven)
    with pytest.raises(ValueError, match=r"nu must be a number of at most 1"):
        NuSVR(never, nu=1.5).fit(X, y)
    with pytest.raises(ValueError, match=r"nu must be a number greater than 0"):
        OneClassSVM(never, nu=0).fit(X)
    NuSVC(nu=0.2).fit(rng.normal(size=(100, 2)), uneven)


def test_the_named_nu_is_feasible():
    for rare in (1, 3, 7, 11):
        codes = np.repeat(["a", "b"], [rare, 53])
        with pytest.raises(ValueError, match="at most nu=") as error:
            NuSVC(nu=0.9).fit(np.arange(len(codes))[:, None], codes)
        largest = float(str(error.value).partition("nu=")[2].partition("nu=")[2].partition(";")[0])
        NuSVC(nu=largest).fit(np.arange(len(codes))[:, None], codes)


def test_no_margin_is_said():
    noise = rng.integers(0, 2, 200)
    with pytest.warns(ConvergenceWarning, match="no margin was found"):
        model = NuSVC("linear", nu=0.05).fit(rng.normal(size=(200, 2)), noise)
    assert not model.converged_


def test_the_smallest_ball_around_a_triangle():
    """An equilateral triangle's circumscribed circle; points inside change nothing."""
    corners = np.array([[np.cos(a), np.sin(a)] for a in (0, 2 * np.pi / 3, 4 * np.pi / 3)]) + 5.0
    inside = 5.0 + 0.2 * rng.normal(size=(20, 2))
    model = SVDD("linear", nu=0.01, tol=1e-9).fit(np.vstack([corners, inside]))
    assert model.radius_ == pytest.approx(1.0, abs=1e-6)
    np.testing.assert_allclose(model.dual_coef_ @ model.support_vectors_, [[5.0, 5.0]], atol=1e-5)
    assert sorted(model.support_) == [0, 1, 2]
    assert model.objective_ == pytest.approx(1.0, abs=1e-6)
    assert model.predict([[5.5, 5.5], [6.1, 5.0]]).tolist() == [1, -1]


def test_a_half_space_that_does_not_exist_is_said():
    around = np.vstack([X - X.mean(axis=0), X.mean(axis=0) - X])
    with pytest.warns(UserWarning, match="the origin of feature space lies among the rows"):
        OneClassSVM("linear", nu=0.2).fit(around)


def test_a_ball_is_a_half_space_where_all_items_have_the_same_length():
    ball, space = SVDD(nu=0.2, tol=1e-8).fit(rows), OneClassSVM(nu=0.2, tol=1e-8).fit(rows)
    total = space.dual_coef_.sum()
    np.testing.assert_allclose(ball.decision_function(rows), 2 * space.decision_function(rows) / total, atol=1e-6)
    with pytest.raises(ValueError, match="use OneClassSVM"):
        SVDD("precomputed").fit(np.eye(3))


def test_a_tube_without_width():
    """Where a tube of no width costs no more than a share nu, both walls of an item count."""
    grid = np.linspace(0, 1, 12)[:, None]
    model = NuSVR(Gaussian(gamma=1.0), C=1e3, nu=0.9, tol=1e-6).fit(grid, 3 * grid[:, 0] + 1)
    assert model.epsilon_ == pytest.approx(0.0, abs=1e-4)
    assert model.converged_
    assert np.abs(model.predict(grid) - 3 * grid[:, 0] - 1).max() < 1e-3


def test_units_of_the_targets_do_not_matter():
    for scale in (1e-9, 1e9):
        small, large = SVR(C=2.0, epsilon=0.3).fit(X, y), SVR(C=2.0 * scale, epsilon=0.3 * scale).fit(X, y * scale)
        np.testing.assert_allclose(large.predict(X), scale * small.predict(X), rtol=1e-6)


@pytest.mark.parametrize("model", [SVR(C=2, tol=1e-8), NuSVR(nu=0.31, tol=1e-8), SVR("linear", tol=1e-8)], ids=str)
def test_searches_share_and_agree(model):
    grid = {"C": [0.3, 3.0, 30.0]}
    ours, theirs = (kind(model, grid, cv=KFold(3)).fit(X, y) for kind in (KernelSearchCV, GridSearchCV))
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-5)
    assert ours.best_params_ == theirs.best_params_


def test_a_search_goes_on_where_a_nu_is_infeasible():
    uneven = np.where(np.arange(150) % 4 == 0, 1, 0)
    search = KernelSearchCV(NuSVC(), {"nu": [0.1, 0.3, 0.9]}, cv=KFold(3))
    with pytest.warns(UserWarning, match="non-finite|fits failed"):
        search.fit(X, uneven)
    assert np.isfinite(search.cv_results_["mean_test_score"]).tolist() == [True, True, False]


def test_novelty_is_searched_with_labels_for_scorers_only():
    odd = np.vstack([rows, rng.uniform(-4, 4, size=(30, 2))])
    truth = np.repeat([1, -1], [150, 30])
    grid, folds = {"nu": [0.05, 0.2, 0.5]}, KFold(3, shuffle=True, random_state=0)
    ours, theirs = (
        kind(OneClassSVM(), grid, cv=folds, scoring="balanced_accuracy").fit(odd, truth)
        for kind in (KernelSearchCV, GridSearchCV)
    )
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=0.02)


@pytest.mark.parametrize("model", [SVR(), NuSVR(), OneClassSVM(nu=0.1), SVDD(nu=0.1), NuSVC(nu=0.2)], ids=str)
def test_files_and_pipelines_keep_what_was_learned(model, tmp_path):
    target = labels if isinstance(model, NuSVC) else rows[:, 0]
    whole = make_pipeline(StandardScaler(), model).fit(rows, target)
    mercer.save(whole, tmp_path / "model.safetensors")
    again = mercer.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(rows), whole.predict(rows))
    assert again[-1].duality_gap_ == pytest.approx(whole[-1].duality_gap_)


def test_strings_are_items_too():
    words = ["GATTACA", "GATTACC", "GATTAGA", "GATAACA", "TTTTTTT"]
    usual = OneClassSVM(Spectrum(p=2), nu=0.3).fit(words)
    assert usual.decision_function(["GATTACA"]) > usual.decision_function(["CCCCCCC"])
    lengths = [float(word.count("A")) for word in words]
    assert SVR(Spectrum(p=1), C=100, epsilon=0.01).fit(words, lengths).predict(["AAAAAAA"])[0] > 3


def test_other_solvers_find_no_width():
    problem = NuProblem(Dense(np.eye(4)), np.array([1.0, 1, -1, -1]), Hinge(), 1.0, None, "free", 0.5)
    with pytest.raises(CannotSolve, match="use SoftMargin"):
        Newton().solve(problem)
    with pytest.raises(ValueError, match="a width is found for"):
        NuProblem(Dense(np.eye(4)), np.zeros(4), Squared(), 1.0, None, "free", 0.5)
    with pytest.raises(ValueError, match="at most 1"):
        NuProblem(Dense(np.eye(4)), np.array([1.0, 1, -1, -1]), Hinge(), 1.0, None, "free", 1.5)


def test_a_fit_cut_short_is_not_a_margin_that_is_missing():
    with pytest.warns(ConvergenceWarning, match="stopped before"):
        model = NuSVC(nu=0.3, max_iter=5).fit(rows, labels)
    assert model.status_ == "not converged"


@pytest.mark.thorough
def test_tiny_margins_of_unscaled_columns_are_found_and_searched():
    raw, progress = load_diabetes(return_X_y=True, scaled=False)
    ill = progress > 150
    model = NuSVC(nu=0.2).fit(raw, ill)
    assert model.converged_
    assert model.score(raw, ill) > 0.95
    assert (model.shape_fit_, model.fit_status_) == ((442, 10), 0)
    ours, theirs = (
        kind(NuSVC(), {"nu": [0.1, 0.2]}, cv=KFold(3)).fit(raw, ill).cv_results_["mean_test_score"]
        for kind in (KernelSearchCV, GridSearchCV)
    )
    np.testing.assert_allclose(ours, theirs, atol=0.005)


def test_weights_and_coefficients_are_the_same_function_where_walls_of_a_tube_cancel():
    """Two rows need tiny coefficients, and nu asks for large ones on both walls."""
    X, y = 1e5 * (3 + np.random.default_rng(0).normal(size=(2, 29))), [0.7, -0.6]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = NuSVR("linear", C=0.0844, nu=0.877, tol=1e-6).fit(X, y)
    weights = model.dual_coef_[0].astype(np.longdouble) @ X[model.support_]
    np.testing.assert_allclose(model.coef_[0], weights.astype(float), rtol=0, atol=1e-9 * np.abs(weights).max())
