import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.model_selection import LeaveOneOut, cross_val_score

from mercer import SVC, Perceptron
from mercer import margins as m
from mercer.displays import MarginHistogram

TOY = np.array([[1.0, 1], [2, 2], [2, 0], [0, 0], [1, 0], [0, 1]])
TOY_LABELS = np.array([1, 1, 1, -1, -1, -1])


def test_worked_numbers_of_the_course():
    point = np.array([[1.0, 1.0]])
    assert float(m.functional_margins(point, [1], w=[1, 1], b=-1)) == 1
    assert float(m.geometric_margins(point, [1], w=[1, 1], b=-1)) == pytest.approx(1 / np.sqrt(2))
    assert m.distances(point, w=[1, 2])[0] == pytest.approx(1.34, abs=0.005)
    assert float(m.vc_bound(0.0, 11, 8000)) == pytest.approx(0.1093, abs=5e-5)
    assert float(m.vc_bound(0.0, 45, 7565)) == pytest.approx(0.2028, abs=5e-5)
    assert float(m.margin_bound(2.0, 0.5, 1000)) == pytest.approx(16 / 1000)


def test_width_of_the_toy_in_both_spaces():
    for kernel in (None, "linear", "polynomial(degree=1, coef0=0)"):
        model = SVC(kernel, C=float("inf"), tol=1e-6).fit(TOY, TOY_LABELS)
        assert float(m.width(model=model)) == pytest.approx(0.7071, abs=1e-4)
        margins = m.geometric_margins(TOY, TOY_LABELS, model=model)
        assert margins.of_data_set == pytest.approx(0.7071 / 2, abs=1e-4)
    assert float(m.leave_one_out_bound(model, 6)) == 0.5


def test_exclusive_or_by_two_radial_features():
    corners, labels = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([-1, 1, 1, -1])
    centres = np.array([[1.0, 1], [0, 0]])
    features = np.exp(-((corners[:, None] - centres[None]) ** 2).sum(axis=2))
    model = SVC(None, C=float("inf"), tol=1e-6).fit(features, labels)
    assert model.score(features, labels) == 1
    assert SVC(None, C=1e3).fit(corners, labels).score(corners, labels) < 1


def test_perceptron_keeps_its_bounds():
    model = SVC(None, C=float("inf")).fit(TOY + [[5.0, 5.0]] * 6, TOY_LABELS)
    rows = TOY + [[5.0, 5.0]] * 6
    run = Perceptron(order="file", epochs=100_000).fit(rows, TOY_LABELS)
    assert run.converged_
    bound = m.mistake_bound_separable(rows, TOY_LABELS, model.coef_[0], model.intercept_[0])
    assert run.mistakes_[0].sum() <= float(bound)
    no_bias = Perceptron(order="file", epochs=7, fit_intercept=False).fit(TOY, TOY_LABELS)
    anything = m.mistake_bound(TOY, TOY_LABELS, u=[0.5, -0.2], passes=7)
    assert no_bias.mistakes_[0].sum() <= float(anything)


def test_leave_one_out_error_is_below_its_bound():
    X, y = make_moons(60, noise=0.25, random_state=0)
    model = SVC("gaussian(gamma=1)", C=10)
    error = 1 - cross_val_score(model, X, y, cv=LeaveOneOut()).mean()
    assert error <= float(m.leave_one_out_bound(model.fit(X, y), 60))


def test_margins_of_several_classes_by_their_definition():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = SVC("gaussian(gamma=1)", strategy="ovr").fit(X, names)
    scores = model.decision_function(X)
    by_hand = [row[code] - max(row[k] for k in range(3) if k != code) for row, code in zip(scores, y, strict=True)]
    found = m.functional_margins(X, names, model=model)
    np.testing.assert_allclose(found.values, by_hand)
    assert found.wrong == np.sum(model.predict(X) != names)
    with pytest.raises(ValueError, match="3 classes, and so no single boundary"):
        m.geometric_margins(X, names, model=model)
    with pytest.raises(ValueError, match="knows no class 'rose'"):
        m.functional_margins(X[:1], ["rose"], model=model)


def test_margins_are_drawn_as_the_display_counts_them():
    mpl.use("agg")
    margins = m.functional_margins(TOY, TOY_LABELS, w=[2, 2], b=-3)
    counts, edges, _ = margins.plot().patches[0].get_data()
    display = MarginHistogram.from_predictions(margins.values)
    np.testing.assert_allclose(edges, display.edges)
    np.testing.assert_allclose(counts, 100 * display.train_counts / 6)
    assert len(m.vc_bound(0.0, 11, 8000).plot().patches) == 5


def test_objects_print_themselves():
    margins = m.functional_margins(TOY, TOY_LABELS, w=[2, 2], b=-3)
    assert str(margins).startswith("functional margins of 6 rows: least 1")
    assert "≤ 0.1093" in str(m.vc_bound(0.0, 11, 8000))


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="does not separate"):
        m.mistake_bound_separable(TOY, -TOY_LABELS, w=[2, 2], b=-3)
    with pytest.raises(ValueError, match="either the weights w"):
        m.distances(TOY)
    with pytest.raises(ValueError, match="margin > 0"):
        m.margin_bound(1, 0, 10)


def test_a_model_of_several_classes_has_no_one_norm():
    model = SVC("linear").fit(*load_iris(return_X_y=True))
    with pytest.raises(ValueError, match="fit one pair of classes"):
        m.norm(model=model)


def test_only_bounds_say_at_most():
    assert str(m.width(w=[2.0, 2.0])).startswith("width of the margin = 0.7071")
    assert str(m.margin_bound(radius=2.0, margin=0.5, rows=1000)).startswith("order of the error ~ 0.016")
    assert "≤" in str(m.vc_bound(0.0, dimension=11, rows=8000))


def test_bounds_over_numbers_of_rows():
    rows = np.array([100, 1000, 10_000])
    bound = m.vc_bound(0.1, 11, rows)
    np.testing.assert_allclose(bound, [float(m.vc_bound(0.1, 11, int(P))) for P in rows])
    np.testing.assert_allclose(m.margin_bound(2.0, [0.5, 1.0], 1000).value, [0.016, 0.004])
    assert "rows = 100 … 1e+04" in str(bound)
    np.testing.assert_array_equal(bound.plot().lines[0].get_xdata(), rows)
    with pytest.raises(ValueError, match="one shape"):
        m.vc_bound(0.1, [3, 5], [10, 20, 30])
    with pytest.raises(ValueError, match="rows ≥ 1"):
        m.vc_bound(0.1, 3, [10, 0])
