"""``/api/lift``: planes and heights are those of the library's own machines."""

from base64 import b64decode

import numpy as np
import pytest

from mercer import SVC
from mercer.kernels import parse
from mercer.play import example_scene, lift

CIRCLES = example_scene("circles", 0)
SQUARE = parse("polynomial(degree=2, gamma=1, coef0=0)")


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    """Fits of the page have a time limit, from which code that is compiled takes its part."""
    for way in ("map", "height"):
        for _ in range(3):
            lift({"scene": CIRCLES, "way": way})


def lifted(points):
    x, y = np.array(points).T
    return np.column_stack([x**2, np.sqrt(2) * x * y, y**2])


def test_the_plane_is_that_of_the_machine():
    answer = lift({"scene": {**CIRCLES, "C": 3.0}, "way": "map"})
    points = np.array(CIRCLES["points"])
    np.testing.assert_allclose(answer["points"], lifted(points), rtol=1e-12)
    model = SVC(SQUARE, C=3.0).fit(points, CIRCLES["labels"])
    weights = lifted(model.support_vectors_).T @ model.dual_coef_[0]
    np.testing.assert_allclose(answer["plane"]["normal"], weights, rtol=1e-7, atol=1e-9)
    assert answer["plane"]["offset"] == pytest.approx(model.intercept_[0])
    np.testing.assert_allclose(answer["scores"], model.decision_function(points), rtol=1e-7, atol=1e-9)
    wrong = int((model.predict(points) != CIRCLES["labels"]).sum())
    assert f"{wrong} of 120 points" in answer["note"]


@pytest.mark.parametrize(
    "learner",
    ["nu-svc", "kernel-perceptron", "averaged-perceptron", "kernel-pegasos", "kernel-logistic", "kernel-squared-hinge"],
)
def test_every_learner_has_a_plane(learner):
    answer = lift({"scene": {**CIRCLES, "learner": learner}, "way": "map"})
    flat = lifted(CIRCLES["points"]) @ answer["plane"]["normal"] + answer["plane"]["offset"]
    np.testing.assert_allclose(flat, answer["scores"], rtol=1e-5, atol=1e-5)


def test_scaled_points_are_lifted_as_the_machine_sees_them():
    points = np.array(CIRCLES["points"]) * [100, 1] + [5, -3]
    answer = lift({"scene": {**CIRCLES, "points": points.tolist(), "scaled": True}, "way": "map"})
    seen = (points - points.mean(axis=0)) / points.std(axis=0)
    np.testing.assert_allclose(answer["points"], lifted(seen), atol=1e-9)
    assert answer["plane"] is not None


def test_where_there_is_no_plane_the_note_says_why():
    assert lift({"scene": example_scene("three", 0), "way": "map"})["plane"] is None
    one = {**CIRCLES, "labels": [0] * 120}
    assert "both classes" in lift({"scene": one, "way": "map"})["note"]
    ball = lift({"scene": {**example_scene("ring", 0), "learner": "svdd"}, "way": "map"})
    assert ball["plane"] is None
    assert "bends" in ball["note"]
    assert lift({"scene": example_scene("ring", 0), "way": "map"})["plane"] is not None


def test_heights_are_scores():
    answer = lift({"scene": CIRCLES, "way": "height"})
    x0, x1, y0, y1 = answer["box"]
    width, height = answer["grid"]["width"], answer["grid"]["height"]
    values = np.frombuffer(b64decode(answer["grid"]["values"]), "<f4").reshape(height, width)
    across, up = np.meshgrid(np.linspace(x0, x1, width), np.linspace(y0, y1, height))
    model = SVC("gaussian(gamma=2.0)").fit(CIRCLES["points"], CIRCLES["labels"])
    scores = model.decision_function(np.column_stack([across.ravel(), up.ravel()]))
    np.testing.assert_allclose(values.ravel(), scores, atol=1e-5)
    np.testing.assert_allclose(answer["scores"], model.decision_function(CIRCLES["points"]), atol=1e-9)
    points = np.array(CIRCLES["points"])
    assert (points > [x0, y0]).all()
    assert (points < [x1, y1]).all()
    own = lift({"scene": CIRCLES, "way": "height", "box": [0, 1, 0, 2], "size": [3, 4]})
    assert own["box"] == [0, 1, 0, 2]
    assert own["grid"]["width"] == 3


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ({"scene": CIRCLES, "way": "sideways"}, "way should be 'map' or 'height', got 'sideways'"),
        ({"scene": CIRCLES, "way": ["map"]}, "way should be"),
        ({"scene": 3}, "scene should be an object"),
        ({}, "scene should be an object"),
        ({"scene": example_scene("wave", 0)}, "numbers have no boundary to lift"),
        ({"scene": {"points": [], "labels": []}}, "no points to lift"),
        ({"scene": example_scene("three", 0), "way": "height"}, "more than two classes"),
        ({"scene": {**CIRCLES, "labels": [1] * 120}, "way": "height"}, "add points of two classes"),
        ({"scene": {**CIRCLES, "kernel": "spectrum"}, "way": "height"}, "does not compare points"),
        ({"scene": CIRCLES, "way": "height", "size": [1, 1]}, "a side of the grid"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(request_, sentence):
    with pytest.raises(ValueError, match=r"\.$") as refusal:
        lift(request_)
    assert sentence in str(refusal.value)


def test_one_point_and_equal_points_are_lifted():
    for points in ([[1.0, 2.0]], [[1.0, 2.0]] * 3):
        scene = {"task": "novelty", "points": points}
        assert lift({"scene": scene, "way": "map"})["points"] == lifted(points).tolist()
    flat = {"points": [[1.0, 2.0], [1.0, 2.0]], "labels": [0, 1]}
    assert np.diff(lift({"scene": flat, "way": "height"})["box"]).tolist()[::2] == [2.0, 2.0]
