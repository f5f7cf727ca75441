"""Gaussian process regression against dense linear algebra, refits and scikit-learn."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, RationalQuadratic, WhiteKernel

import mercer
from mercer import GPRegressor
from mercer.kernels import parse
from mercer.solvers.landmark_evidence import landmark_evidence

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2))
y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=40)
KERNEL = "1.5*scaled(gaussian(gamma=0.5), [1.0, 0.5]) + 0.3*linear"


def fitted(**options):
    return GPRegressor(**{"kernel": KERNEL, "noise": 0.04, "tune": None} | options).fit(X, y)


def dense(kernel, noise, targets):
    """The process as one multivariate normal."""
    K = parse(kernel)(X) if isinstance(kernel, str) else kernel(X)
    return stats.multivariate_normal(np.zeros(len(X)), K + np.diag(np.broadcast_to(noise, len(X)))).logpdf(targets)


@pytest.mark.parametrize("noise", [0.04, np.linspace(0.01, 0.5, 40)], ids=["one", "of each row"])
def test_mean_variance_and_likelihood_are_those_of_a_normal(noise):
    model = fitted(noise=noise)
    kernel, new = parse(KERNEL), rng.normal(size=(7, 2))
    S = kernel(X) + np.diag(np.broadcast_to(noise, 40))
    cross = kernel(new, X)
    mean, cov = model.predict(new, return_cov=True)
    np.testing.assert_allclose(mean, y.mean() + cross @ np.linalg.solve(S, y - y.mean()), rtol=1e-9)
    expected = kernel(new) - cross @ np.linalg.solve(S, cross.T)
    np.testing.assert_allclose(cov, expected, atol=1e-10)
    np.testing.assert_allclose(model.predict(new, return_std=True)[1] ** 2, np.diag(expected), atol=1e-10)
    np.testing.assert_allclose(
        model.predict(new, return_std=True, observed=True)[1] ** 2, np.diag(expected) + np.mean(noise), atol=1e-10
    )
    assert model.log_marginal_likelihood_value_ == pytest.approx(dense(KERNEL, noise, y - y.mean()), rel=1e-10)
    assert model.residual_ < 1e-12


def test_rows_left_out_are_those_of_refits():
    model = fitted(fit_intercept=False)
    total = 0.0
    for i in range(len(X)):
        others = np.delete(np.arange(len(X)), i)
        without = GPRegressor(KERNEL, noise=0.04, tune=None, fit_intercept=False).fit(X[others], y[others])
        mean, std = without.predict(X[[i]], return_std=True, observed=True)
        total += stats.norm(mean[0], std[0]).logpdf(y[i])
    assert model.left_out_density_ == pytest.approx(total, rel=1e-9)


def random_problem(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 60)), int(rng.integers(1, 6))
    rows, targets = rng.normal(size=(n, d)), rng.normal(size=n)
    lengths, scale, noise = np.exp(rng.normal(size=d)), float(np.exp(rng.normal())), float(np.exp(rng.normal() - 2))
    weights = (1 / lengths).tolist()
    kind = seed % 4
    theirs = [RBF(lengths), Matern(lengths, nu=1.5), Matern(lengths, nu=2.5), RationalQuadratic(lengths[0], 0.7)][kind]
    ours = [
        f"scaled(gaussian(gamma=0.5), {weights})",
        f"scaled(matern(nu=1.5), {weights})",
        f"scaled(matern(nu=2.5), {weights})",
        f"rationalquadratic(alpha=0.7, length={lengths[0]})",
    ][kind]
    return rows, targets, ConstantKernel(scale) * theirs + WhiteKernel(noise), f"{scale}*{ours}", kind


def compare_with_scikit_learn(seed):
    rows, targets, theirs, ours, kind = random_problem(seed)
    peer = GaussianProcessRegressor(theirs, alpha=0.0, optimizer=None).fit(rows, targets)
    value, slope = peer.log_marginal_likelihood(peer.kernel_.theta, eval_gradient=True)
    # One step of a descent that may not move tells the slopes at the start.
    model = GPRegressor(ours, tune="likelihood", fit_intercept=False, time_limit=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows, targets)
    # Logarithms of the variance, the lengths (or alpha and length) and the noise; ours of weights, and of more noise.
    signs = np.ones(peer.kernel_.theta.size)
    signs[1:-1] = 1 if kind == 3 else -1
    theta, noise = signs * peer.kernel_.theta, float(np.exp(peer.kernel_.theta[-1]))
    more = noise - 1e-8 * np.mean(np.square(targets))
    theta[-1] = np.log(more)
    found, slopes = model.log_marginal_likelihood(theta, eval_gradient=True)
    slopes[-1] *= noise / more
    assert found == pytest.approx(value, rel=1e-8)
    np.testing.assert_allclose(slopes * signs, slope, rtol=0, atol=1e-8 * np.abs(slope).max())


@pytest.mark.parametrize("seed", range(12))
def test_likelihood_and_slopes_are_those_of_scikit_learn(seed):
    compare_with_scikit_learn(seed)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(12, 300))
def test_likelihood_and_slopes_of_many_problems(seed):
    compare_with_scikit_learn(seed)


@pytest.mark.parametrize("tune", ["likelihood", "leave-one-out"])
@pytest.mark.parametrize("weight", [None, rng.integers(1, 4, 40)], ids=["even", "weighted"])
def test_what_is_found_is_where_slopes_vanish(tune, weight):
    """But for those of the prior, which pulls to the start: a standard deviation of three is a pull of a ninth."""
    model = GPRegressor(tune=tune, prior=None).fit(X, y, weight)
    assert model.converged_
    if tune == "likelihood":
        value, slope = model.log_marginal_likelihood(model.theta_, eval_gradient=True)
        assert value == pytest.approx(model.log_marginal_likelihood_value_, rel=1e-6)
        np.testing.assert_allclose(slope, 0, atol=1e-2)
        for k in range(slope.size):
            moved = model.theta_ + np.eye(slope.size)[k] * 0.05
            assert model.log_marginal_likelihood(moved) < value + 1e-6
    else:
        for factor in (0.9, 1.1):
            other = GPRegressor(model.kernel_, noise=model.noise_ * factor, tune=None).fit(X, y, weight)
            assert other.left_out_density_ <= model.left_out_density_ + 1e-6


def test_a_row_of_weight_two_is_there_twice():
    weight = rng.integers(0, 4, 40)
    twice = np.repeat(np.arange(40), weight)
    one = GPRegressor(KERNEL, fit_intercept=True).fit(X, y, weight)
    other = GPRegressor(KERNEL).fit(X[twice], y[twice])
    assert one.log_marginal_likelihood_value_ == pytest.approx(other.log_marginal_likelihood_value_, rel=1e-6)
    for mine, theirs in zip(one.predict(X, return_std=True), other.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-4)


def test_many_rows_are_begun_on_few():
    rows = np.random.default_rng(3).normal(size=(900, 3))
    targets = np.sin(2 * rows[:, 0]) + 0.5 * rows[:, 1] + 0.1 * np.random.default_rng(4).normal(size=900)
    model = GPRegressor(prior=None).fit(rows, targets)
    assert model.converged_
    value, _ = model.log_marginal_likelihood(model.theta_, eval_gradient=True)
    again = GPRegressor(model.kernel_, prior=None).fit(rows, targets)
    assert again.log_marginal_likelihood_value_ == pytest.approx(value, abs=0.5)
    assert model.lengths_[2] > 5 * model.lengths_[0]
    assert np.sqrt(model.noise_) == pytest.approx(0.1, rel=0.1)


def test_intervals_cover_what_they_say():
    inside = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rows = rng.uniform(-3, 3, (150, 1))
        targets = np.sin(2 * rows[:, 0]) + 0.3 * rng.normal(size=150)
        interval = GPRegressor().fit(rows[:75], targets[:75]).predict_interval(rows[75:])
        inside.append(np.mean((interval[:, 0] <= targets[75:]) & (targets[75:] <= interval[:, 1])))
    assert 0.86 < np.mean(inside) < 0.94


def test_samples_have_the_mean_and_covariance_of_the_posterior():
    model, new = fitted(), rng.normal(size=(4, 2))
    mean, cov = model.predict(new, return_cov=True)
    drawn = model.sample_y(new, 20000, random_state=1)
    assert drawn.shape == (4, 20000)
    np.testing.assert_allclose(drawn.mean(axis=1), mean, atol=0.02)
    np.testing.assert_allclose(np.cov(drawn), cov, atol=0.02)


def test_several_targets_share_a_kernel():
    both = GPRegressor().fit(X, np.c_[y, 2 * y[::-1]])
    mean, std = both.predict(X[:3], return_std=True)
    assert mean.shape == std.shape == (3, 2)
    assert both.predict(X[:3], return_cov=True)[1].shape == (3, 3, 2)
    assert both.sample_y(X[:3], 5).shape == (3, 2, 5)
    assert both.predict_interval(X[:3]).shape == (3, 2, 2)


def test_strings_and_mixtures_learn_their_numbers():
    words = ["ab", "abc", "bca", "aab", "ccc", "cab"]
    model = GPRegressor("normalised(subsequence(k=2))").fit(words, np.arange(6.0))
    assert model.theta_names_.tolist() == ["kernel__decay", "noise"]
    assert model.predict(["abab"], return_std=True)[1].shape == (1,)
    mixed = GPRegressor("mixture(scaled(gaussian(gamma=0.5), [1, 1]), linear)").fit(X, y)
    assert mixed.theta_names_.tolist() == ["weights[0]", "weights[1]", "0__weights[0]", "0__weights[1]", "noise"]
    assert mixed.score(X, y) > 0.9


def test_a_saved_model_says_how_sure_it_is(tmp_path):
    model = GPRegressor().fit(X, y, rng.integers(1, 3, 40))
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    for mine, theirs in zip(model.predict(X, return_std=True), again.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)
    value = again.log_marginal_likelihood(model.theta_, eval_gradient=True)[0]
    assert value == pytest.approx(model.log_marginal_likelihood_value_, rel=1e-6)


TWICE = np.vstack([X, X])


@pytest.mark.parametrize(
    ("rows", "targets", "options"),
    [
        (TWICE, np.r_[y, y + 1], {}),
        (TWICE, np.r_[y, y], {"noise": 0.0}),
        (TWICE, np.r_[y, y + 1], {"noise": 0.0}),
        (X, np.ones(40), {}),
        (X, np.ones(40), {"noise": 0.0}),
        (np.ones((40, 2)), y, {}),
        (X[:3], y[:3], {}),
        (X[:1], y[:1], {}),
        (X, y * 1e100, {}),
        (X, y * 1e-100, {}),
        (X * [1e-90, 1e90], y, {}),
        (X, np.sin(X[:, 0]), {}),
        (X, y, {"kernel": "gaussian(gamma=1e-3)", "noise": 0.0, "tune": None}),
        (X, y, {"prior": None, "tune": "leave-one-out"}),
    ],
)
def test_there_is_always_an_answer(rows, targets, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GPRegressor(**options).fit(rows, targets)
    mean, std = model.predict(rows[:5], return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    assert np.min(model.noise_) >= model.noise_floor_ * (1 - 1e-9) > 0
    assert model.residual_ < (1e-6 if model.noise != 0 else 1e-2)


def test_noise_that_rounding_hides_is_told():
    with pytest.warns(UserWarning, match="the noise of 40 rows is less than what rounding leaves room for"):
        fitted(noise=0.0, kernel="gaussian(gamma=0.01)")


@pytest.mark.parametrize(
    ("options", "targets", "sentence"),
    [
        ({"noise": -1.0}, y, "noise must be a number of at least 0"),
        ({"noise": np.ones(3)}, y, "one for each of the 40 rows"),
        ({"noise": "much"}, y, "noise must be"),
        ({"tune": None}, y, "give noise a number"),
        ({"tune": "luck"}, y, "tune must be"),
        ({"fixed": "gamma"}, y, "a list of names"),
        ({"prior": 0.0}, y, "prior must be"),
        ({"kernel": "sigmoid(gamma=3)"}, y, "not positive semi-definite"),
        ({}, np.r_[np.nan, y[1:]], "contains NaN"),
        ({}, y * 1e300, "overflow"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_a_sentence(options, targets, sentence):
    with pytest.raises(ValueError, match=sentence):
        GPRegressor(**options).fit(X, targets)


def test_matrices_stay_within_memory():
    with pytest.raises(ValueError, match="raise memory"):
        GPRegressor(memory="1MB").fit(np.tile(X, (40, 1)), np.tile(y, 40))


def test_a_precomputed_matrix_has_a_mean_and_no_variance():
    K = parse(KERNEL)(X)
    model = GPRegressor("precomputed", noise=0.04, tune=None).fit(K, y)
    np.testing.assert_allclose(model.predict(K), fitted().predict(X), rtol=1e-7)
    with pytest.raises(ValueError, match="does not say how far new rows are from themselves"):
        model.predict(K, return_std=True)


def many_rows(n=800):
    rng = np.random.default_rng(5)
    rows = rng.uniform(-3, 3, (n, 2))
    return rows, np.sin(2 * rows[:, 0]) + 0.3 * rows[:, 1] + 0.1 * rng.normal(size=n)


def test_landmarks_that_leave_nothing_out_give_the_exact_process():
    rows, targets = many_rows()
    model = GPRegressor(rank=120).fit(rows, targets)
    exact = GPRegressor(model.kernel_, noise=model.noise_, tune=None).fit(rows, targets)
    assert model.converged_
    assert model.missing_trace_ < 1e-8
    assert model.support_.size <= 120
    assert model.log_marginal_likelihood_value_ == pytest.approx(exact.log_marginal_likelihood_value_, rel=1e-5)
    for mine, theirs in zip(model.predict(X, return_std=True), exact.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-4)


@pytest.mark.parametrize("rank", [3, 10, 30])
def test_few_landmarks_bound_the_likelihood_from_below(rank, tmp_path):
    rows, targets = many_rows(200)
    options = {"noise": np.linspace(0.01, 0.1, 200), "tune": None}
    model = GPRegressor("1.5*gaussian(gamma=0.7)", rank=rank, **options).fit(rows, targets)
    exact = GPRegressor("1.5*gaussian(gamma=0.7)", **options).fit(rows, targets)
    assert model.log_marginal_likelihood_value_ < exact.log_marginal_likelihood_value_
    assert 0 < model.missing_trace_ < 1
    cov = model.predict(X, return_cov=True)[1]
    np.testing.assert_allclose(np.sqrt(np.diag(cov)), model.predict(X, return_std=True)[1], rtol=1e-5)
    mercer.save(model, tmp_path / "model.mercer")
    np.testing.assert_allclose(
        mercer.load(tmp_path / "model.mercer").predict(X, return_std=True)[1], np.sqrt(np.diag(cov)), rtol=1e-5
    )
    with pytest.raises(ValueError, match="keeps these alone"):
        model.log_marginal_likelihood(np.zeros(2))


def test_slopes_of_the_bound_are_differences():
    kernel, landmarks = parse("1.3*gaussian(gamma=0.5)"), X[:8]
    start = [kernel(landmarks), kernel(X, landmarks), kernel.diag(X), np.linspace(0.1, 0.5, 40)]
    targets = np.c_[y, y[::-1]]
    found = landmark_evidence(*start[:3], targets, start[3])
    for place, slope in ((0, found.among), (1, found.cross), (2, found.own), (3, found.noise)):
        way = np.random.default_rng(place).normal(size=start[place].shape)
        way = way + way.T if place == 0 else way
        ends = []
        for step in (1e-6, -1e-6):
            moved = list(start)
            moved[place] = moved[place] + step * way
            ends.append(landmark_evidence(*moved[:3], targets, moved[3]).bound)
        assert np.vdot(slope, way) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5)


@pytest.mark.parametrize(
    ("rows", "options", "sentence"),
    [
        (X @ X.T, {"kernel": "precomputed"}, "landmarks are rows"),
        (X, {"tune": "leave-one-out"}, "leave rank out"),
        (np.tile(X, (3000, 1)), {"memory": "1MB"}, "lower rank"),
    ],
)
def test_landmarks_that_cannot_be_are_refused(rows, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        GPRegressor(rank=20, **options).fit(rows, np.resize(y, len(rows)))
