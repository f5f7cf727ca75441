"""Displays keep the numbers they draw, so the numbers are what is tested; then every one of them is drawn."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from mercer import SVC, Pegasos, Perceptron
from mercer.displays import (
    DecisionBoundary,
    KernelHeatmap,
    LearningCurve,
    MarginHistogram,
    SearchCurve,
    WeightTable,
)
from mercer.kernels import Gaussian
from mercer.margins import functional_margins

mpl.use("agg")

X, y = make_moons(120, noise=0.2, random_state=0)
IRIS, SPECIES = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def machine():
    return SVC("gaussian(gamma=2)", C=10).fit(X, y)


def drawn(display, ax=None):
    from matplotlib import pyplot

    same = display.plot(ax)
    assert same is display
    assert display.ax_.figure is display.figure_
    display.figure_.canvas.draw()
    pyplot.close(display.figure_)
    return display.ax_


def test_boundary_of_two_features_is_the_decision_function(machine):
    display = DecisionBoundary.from_estimator(machine, X, y, grid=20)
    corner = [[display.horizontal[3], display.vertical[11]]]
    assert display.response[11, 3] == pytest.approx(machine.decision_function(corner)[0])
    assert display.slice_of == 2
    drawn(display)


def test_boundary_of_many_features_is_a_slice_through_the_mean():
    model = make_pipeline(StandardScaler(), SVC("gaussian(gamma=0.5)")).fit(IRIS, SPECIES)
    display = DecisionBoundary.from_estimator(model, IRIS, SPECIES, grid=21, max_points=50)
    assert display.response.shape == (21, 21)
    assert set(np.unique(display.response)) <= {0.0, 1.0, 2.0}
    assert len(display.points) == len(display.codes) == 50
    at_mean = np.abs(display.horizontal).argmin(), np.abs(display.vertical).argmin()
    assert display.response[at_mean[::-1]] == model.predict(IRIS.mean(axis=0, keepdims=True))[0]
    drawn(display)


def painted(display):
    """The picture inside the axes of a boundary without rows, as colours between 0 and 1."""
    from matplotlib import pyplot

    display.points, display.codes = np.empty((0, 2)), np.empty(0)
    figure, ax = pyplot.subplots(figsize=(3, 3), dpi=100)
    display.plot(ax, legend=False)
    figure.canvas.draw()
    left, bottom, right, top = (int(value) for value in ax.get_window_extent().extents)
    picture = np.asarray(figure.canvas.buffer_rgba())[300 - top + 2 : 300 - bottom - 2, left + 2 : right - 2, :3] / 255
    pyplot.close(figure)
    return picture


def shares(picture, number):
    """The share of the picture that each class's colour covers."""
    light = [0.75 + 0.25 * np.array(mpl.colors.to_rgb(f"C{code}")) for code in range(number)]
    return [float(np.all(np.abs(picture - colour) < 0.01, axis=2).mean()) for colour in light]


def test_no_class_lies_between_two_others_that_is_not_there():
    side = np.linspace(0, 1, 21)
    response = np.where(side < 0.5, 0.0, 2.0) * np.ones((21, 1))
    nobody = {"points": np.empty((0, 2)), "codes": [], "classes": ["a", "b", "c"]}
    left, middle, right = shares(
        painted(DecisionBoundary(horizontal=side, vertical=side, response=response, **nobody)), 3
    )
    assert middle == 0
    assert left == pytest.approx(0.475, abs=0.02)  # the boundary is half way between 0.45 and 0.5
    assert right == pytest.approx(0.525, abs=0.02)


def test_regions_of_several_classes_fill_the_plane():
    model = SVC("gaussian(gamma=0.5)").fit(IRIS[:, :2], SPECIES)
    display = DecisionBoundary.from_estimator(model, IRIS[:, :2], SPECIES, grid=60)
    found = shares(painted(display), 3)
    counted = [float(np.mean(display.response == code)) for code in range(3)]
    np.testing.assert_allclose(found, counted, atol=0.03)  # but for pixels on a boundary, which mix two colours


def test_margins_are_positive_exactly_where_the_prediction_is_right():
    for rows, labels in ((X, y), (IRIS, SPECIES)):
        for strategy in ("ovo", "ovr"):
            model = SVC("gaussian(gamma=1)", strategy=strategy).fit(rows, labels)
            found = functional_margins(rows, labels, model=model).values
            np.testing.assert_array_equal(found > 0, model.predict(rows) == labels)


def test_margin_histogram_counts_every_row_and_splits_at_zero(machine):
    display = MarginHistogram.from_estimator(machine, X[:80], y[:80], X[80:], y[80:])
    assert display.train_counts.sum() == 80
    assert display.test_counts.sum() == 40
    wrong = display.test_counts[display.edges[1:] <= 0].sum()
    assert wrong == np.sum(machine.predict(X[80:]) != y[80:])
    assert display.support_share == len(machine.support_) / 80
    drawn(display)


@pytest.mark.parametrize("learner", [Perceptron(epochs=30, checkpoints=[1, 10, 30], random_state=0),
                                     Pegasos(steps=500, checkpoints=[50, 500], random_state=0)])  # fmt: skip
def test_learning_curve_ends_at_the_final_error(learner):
    model = make_pipeline(StandardScaler(), learner).fit(X, y)
    display = LearningCurve.from_estimator(model, X, y, X, y)
    assert display.train_errors[-1] == pytest.approx(1 - model.score(X, y))
    assert display.unit == ("epochs" if isinstance(learner, Perceptron) else "steps")
    drawn(display)


def test_kernel_heatmap_is_the_kernel_in_another_order(machine):
    display = KernelHeatmap.from_estimator(machine, X, y)
    np.testing.assert_allclose(display.matrix, Gaussian(gamma=2)(X)[np.ix_(display.index, display.index)])
    assert sorted(display.index) == list(range(len(X)))
    assert (np.diff(y[display.index]) >= 0).all()
    assert display.sizes == [60, 60]
    neighbours = np.diagonal(display.matrix, 1).sum()
    in_file_order = KernelHeatmap.from_kernel("gaussian(gamma=2)", X, y, order="file")
    assert neighbours > np.diagonal(in_file_order.matrix, 1).sum()
    drawn(display)


def test_kernel_heatmap_of_words_of_a_matrix_and_of_targets():
    words, kinds = ["abab", "cdcd", "baba", "dcdc"], ["left", "right", "left", "right"]
    display = KernelHeatmap.from_kernel("spectrum(p=2)", words, kinds, order="file")
    assert (display.index.tolist(), display.classes, display.sizes) == ([0, 2, 1, 3], ["left", "right"], [2, 2])
    plain = KernelHeatmap.from_matrix(np.eye(3), order="file")
    assert (plain.index.tolist(), plain.classes) == ([0, 1, 2], [])
    along = KernelHeatmap.from_matrix(np.diag([1.0, 2.0, 3.0]), [0.5, -1.5, 0.1])
    np.testing.assert_array_equal(along.matrix.diagonal(), [2, 3, 1])
    for each in (display, plain, along):
        drawn(each)


def test_search_curves_with_each_setting_of_the_others():
    results = {
        "params": [{"C": c, "kernel": kernel} for c in (10, 1) for kernel in ("linear", "cosine")],
        "mean_test_score": np.array([0.5, 0.9, 0.75, 0.25]),
        "std_test_score": np.array([0.1, 0.2, 0.3, 0.4]),
    }
    best, other = SearchCurve.from_results(results, "C", others="each").lines
    assert (best.others, best.values, best.validation.tolist()) == ("kernel = cosine", [1, 10], [0.25, 0.9])
    assert (other.others, other.sd.tolist()) == ("kernel = linear", [0.3, 0.1])
    errors = SearchCurve.from_results(results, "C", others="each").as_errors()
    np.testing.assert_allclose(errors.validation, [75, 10])
    np.testing.assert_allclose(errors.sd, [40, 20])
    assert drawn(errors).get_ylabel() == "error, %"
    over_all = SearchCurve.from_results(results, "C")
    assert (over_all.values, over_all.validation.tolist()) == ([1, 10], [0.75, 0.9])
    with pytest.raises(ValueError, match="'best' or 'each'"):
        SearchCurve.from_results(results, "C", others="all")


def test_a_column_with_a_space_in_its_name_is_no_product():
    square = make_pipeline(PolynomialFeatures(2, include_bias=False), Perceptron(random_state=0)).fit(X, y)
    table = WeightTable.from_estimator(square, feature_names=["room size", "age"])
    assert table.interactions().features == ["room size age"]


def test_weights_side_by_side_with_products():
    linear = make_pipeline(StandardScaler(), Perceptron(random_state=0)).fit(X, y)
    square = make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False), Perceptron(random_state=0))
    table = WeightTable.from_estimators({"linear": linear, "square": square.fit(X, y)}, feature_names=["a", "b"])
    assert table.features == ["a", "b", "a^2", "a b", "b^2"]
    np.testing.assert_allclose(np.nansum(table.weights**2, axis=0), 1)  # shares of the length of w
    assert np.isnan(table.weights[2:, 0]).all()
    coef = square[-1].coef_[0]
    np.testing.assert_allclose(table.weights[:, 1] * np.linalg.norm(coef), coef)
    assert table.interactions().features == ["a b"]
    drawn(table)


def test_names_are_shown_letter_by_letter():
    model = Perceptron(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    ax = drawn(WeightTable.from_estimator(model, feature_names=["$cost", r"$\alpha$"]))
    for label, name in zip(ax.get_yticklabels(), ["$cost", r"$\alpha$"], strict=True):
        assert label.get_text() == name
        assert not label.get_parse_math()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda m: LearningCurve.from_estimator(m, X, y), "fitted with checkpoints"),
        (lambda m: WeightTable.from_estimator(m), "has no coef_"),
        (lambda m: DecisionBoundary.from_estimator(m, X[:, :1], y), "two features or more"),
        (lambda m: KernelHeatmap.from_kernel("linear", X, y, order="x"), "'similarity' or 'file'"),
        (lambda m: KernelHeatmap.from_estimator(SVC("precomputed").fit(X @ X.T, y), X, y), "from_kernel"),
    ],
)
def test_what_cannot_be_shown_is_refused(machine, make, message):
    with pytest.raises(ValueError, match=message):
        make(machine)
