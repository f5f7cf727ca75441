"""Pictures of boundaries show the classes that meet, and no other; what has no place on a plane gets a sentence."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC
from mercer.displays import DecisionBoundary
from mercer.report import boundary
from mercer.study import boundaries

IRIS, SPECIES = load_iris(return_X_y=True, as_frame=True)


def colours_of(markup):
    """The numbers of the classes whose colours fill something."""
    return {int(number) for number in re.findall(r"fill: var\(--c(\d)\)", markup)}


def page_figure(response, side):
    plane = {"horizontal": side, "vertical": side, "response": response, "points": [], "codes": []}
    one = {"name": "svc", "title": "SVC", "test": {"rate": 0.1}}
    return boundary(one, {"learners": {"svc": plane}}, ["a", "b", "c"])


def test_the_page_shows_no_class_between_two_others_that_is_not_there():
    side = np.linspace(0, 1, 24).tolist()
    touching = [[0 if across < 0.5 else 2 for across in side] for _ in side]
    assert colours_of(page_figure(touching, side)) == {0, 2}
    with_middle = [[1 if up > 0.9 else code for code in row] for up, row in zip(side, touching, strict=True)]
    assert colours_of(page_figure(with_middle, side)) == {0, 1, 2}


def three_in_a_row():
    """Classes 0 and 2 beside each other, class 1 far above both."""
    random = np.random.default_rng(0)
    centres = np.array([[-1.0, 0], [0, 8], [1, 0]])
    codes = np.arange(150) % 3
    return centres[codes] + 0.3 * random.standard_normal((150, 2)), codes


def test_classes_that_touch_have_no_third_at_their_seam():
    from matplotlib import pyplot

    X, codes = three_in_a_row()
    model = SVC("gaussian(gamma=0.5)", C=10).fit(X, codes)
    display = DecisionBoundary.from_estimator(model, X, codes, grid=60)
    low = display.vertical < 1
    assert set(np.unique(display.response[low])) == {0.0, 2.0}
    figure, ax = pyplot.subplots()
    display.plot(ax, legend=False)
    lowest = {}
    for drawn, colour in zip(ax.collections[:3], ("C0", "C1", "C2"), strict=True):
        heights = np.concatenate([path.vertices[:, 1] for path in drawn.get_paths()])
        lowest[colour] = heights.min()
    pyplot.close(figure)
    assert lowest["C1"] > 1  # what is drawn for class 1 stays up there
    assert max(lowest["C0"], lowest["C2"]) < 0


def test_the_facts_of_a_plane_are_whole_numbers_of_classes():
    X, codes = three_in_a_row()
    frame = pd.DataFrame(X, columns=["across", "up"])
    steps = make_pipeline(StandardScaler().set_output(transform="pandas"), SVC("gaussian(gamma=1)"))
    steps.steps = [("prepare", steps.steps[0][1]), ("learner", steps.steps[1][1])]
    facts = boundaries({"svc": steps.fit(frame, codes)}, frame, codes)
    assert facts["axes"] == ["across", "up"]
    seen = {code for row in facts["learners"]["svc"]["response"] for code in row}
    assert seen == {0, 1, 2}
    assert all(isinstance(code, int) for code in seen)


@pytest.mark.filterwarnings("error")
def test_a_pipeline_that_wants_names_gets_them():
    names = list(IRIS.columns)
    model = make_pipeline(make_column_transformer((StandardScaler(), names)), SVC("gaussian(gamma=0.5)"))
    display = DecisionBoundary.from_estimator(model.fit(IRIS, SPECIES), IRIS, SPECIES, grid=12)
    assert display.response.shape == (12, 12)


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        (["red", "blue"] * 75, "column 'more' holds others; draw the boundary in the prepared columns"),
        (pd.Categorical(["red", "blue"] * 75), "column 'more' holds others"),
        (pd.date_range("2020-01-01", periods=150), "column 'more' holds others"),
        ([1.0, np.nan] * 75, "a number in every cell, and column 4 lacks some"),
    ],
)
def test_columns_without_a_place_on_a_plane_get_a_sentence(column, sentence):
    model = SVC("gaussian").fit(IRIS, SPECIES)
    with pytest.raises(ValueError, match=sentence):
        DecisionBoundary.from_estimator(model, IRIS.assign(more=column), SPECIES)


def test_texts_have_no_place_on_a_plane():
    model = SVC("spectrum(p=2)").fit(["abab", "cdcd"], [0, 1])
    with pytest.raises(ValueError, match="rows of numbers"):
        DecisionBoundary.from_estimator(model, ["abab", "cdcd"], [0, 1])
