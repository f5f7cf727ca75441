"""Displays keep the numbers they draw, so the numbers are what is tested; then every one of them is drawn."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from mercer import SVC, Pegasos, Perceptron
from mercer.displays import DecisionBoundary, KernelHeatmap, LearningCurve, MarginHistogram, WeightTable
from mercer.displays._fitted import margins
from mercer.kernels import Gaussian

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


def test_margins_are_positive_exactly_where_the_prediction_is_right():
    for rows, labels in ((X, y), (IRIS, SPECIES)):
        for strategy in ("ovo", "ovr"):
            model = SVC("gaussian(gamma=1)", strategy=strategy).fit(rows, labels)
            found = margins(model.decision_function(rows), labels, model.classes_)
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
