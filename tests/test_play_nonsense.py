"""Requests to ``mercer play`` that make no sense are refused in a sentence; whatever is sent, there is an answer."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mercer.play import SLIDERS

from .asking import BOX, answering, refused, scene_of

client = pytest.fixture(scope="module")(answering)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"points": [], "labels": []}, "points of 0 classes"),
        ({"points": [[0, 0]], "labels": [1]}, "points of 1 class"),
        ({"points": [[0, 0]] * 2001, "labels": [0] * 2001}, "at most 2000"),
        ({"points": [[0, 0], [1, 1e7]], "labels": [0, 1]}, "of a size up to 1e+06"),
        ({"points": [[0, 0], [1]], "labels": [0, 1]}, "should be 2 numbers"),
        ({"points": [["0", "0"], ["1", "1"]], "labels": [0, 1]}, "should be 2 numbers"),
        ({"points": [[0, None], [1, 1]], "labels": [0, 1]}, "should be 2 numbers"),
        ({"points": "many"}, "should be a list"),
        ({"labels": [0]}, "each point has one label"),
        ({"labels": [0.5] * 120}, "whole numbers from 0"),
        ({"labels": [7] * 120}, "whole numbers from 0"),
        ({"names": ["a"]}, "2 to 6 different names"),
        ({"names": ["a", "a"]}, "2 to 6 different names"),
        ({"learner": "forest"}, "learner should be"),
        ({"learner": ["svc"]}, "learner should be"),
        ({"task": "magic"}, "task should be"),
        ({"C": 0}, "C should be a number from"),
        ({"C": True}, "C should be a number from"),
        ({"C": 10**400}, "C should be a number from"),
        ({"gamma": "wide"}, "gamma should be a number"),
        ({"epochs": 2.5}, "whole number"),
        ({"kernel": 7}, "should be a text"),
        ({"kernel": "gausian"}, "nearest name is 'gaussian'"),
        ({"kernel": "spectrum(p=2)"}, "does not compare points of the plane"),
        ({"kernel": "precomputed"}, "does not compare points of the plane"),
        ({"kernel": "gaussian(gamma=?).on(age)"}, "does not compare points of the plane"),
        ({"kernel": "__import__('os').system('true')"}, "cannot be read"),
        ({"kernel": "polynomial(degree=1000000000)"}, "degree"),
        ({"kernel": "linear**100000"}, "exponent"),
        ({"kernel": "(" * 400 + "linear" + ")" * 400}, "at most 500"),
        ({"kernel": "-" * 499}, "cannot be read"),
        ({"kernel": "linear*" * 60 + "linear"}, "overflows"),
        ({"kernel": "mixture(linear, gaussian)", "learner": "nu-svc"}, "does not learn the weights"),
        ({"scaled": 1}, "true or false"),
        ({"axes": ["x"]}, "two names"),
        ({"seed": -1}, "seed should be"),
    ],
)
def test_a_scene_that_makes_no_sense_is_refused_in_a_sentence(client, change, why):
    scene = scene_of("moons", **change)
    if "linear*" in str(change.get("kernel")):
        scene["points"] = (1e5 * np.array(scene["points"])).tolist()
    said = refused(client, "fit", {"scene": scene, **BOX})
    assert why in said, said
    assert said.rstrip().endswith(".") or said.endswith("…")
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "more",
    [{"box": [1, 0, 0, 1]}, {"box": [0, 1]}, {"box": 3}, {"size": [1000, 2]}, {"size": [2]}, {"size": "big"},
     {"size": [2.5, 3]}, {"box": [0, 1e300, 0, 1]}],
)  # fmt: skip
def test_a_grid_that_makes_no_sense(client, more):
    refused(client, "fit", {"scene": scene_of(), **BOX, **more})


@pytest.mark.parametrize(
    "kernel",
    ["polynomial(degree=50)", "polynomial(degree=9)**9", "sigmoid(gamma=?)", "cosine", "gaussian",
     "gaussian(gamma='median')", "normalised(linear)", "1e300*linear", "1e-300*gaussian(gamma=?)",
     "laplacian(gamma=1e9)", "quadratic([[1,0],[0,2]])", "mixture(gaussian(gamma=0.1), gaussian(gamma=10))"],
)  # fmt: skip
@pytest.mark.parametrize("learner", ["svc", "kernel-perceptron", "kernel-pegasos", "kernel-logistic"])
def test_odd_kernels_are_answered_or_refused(client, kernel, learner):
    for more in ({}, {"C": 1e9, "lam": 1e-12, "gamma": 1e-9}):
        answer = client.post("/api/fit", json={"scene": scene_of(kernel=kernel, learner=learner, **more), **BOX})
        assert answer.status_code in (200, 422), answer.text
        assert kernel != "polynomial(degree=50)" or "numbers became too large" not in answer.text


@pytest.mark.parametrize("algorithm", ["perceptron", "pegasos", "smo"])
def test_steps_on_numbers_of_any_size(client, algorithm):
    far = scene_of("moons")
    for size, kernel in ((1e6, "linear"), (1e5, "polynomial(degree=3)"), (1e-8, "gaussian(gamma=1e9)"), (0, "linear")):
        points = np.clip(size * np.array(far["points"]), -1e6, 1e6).tolist()
        for C in (1e-6, 1e9):
            scene = {**far, "points": points, "kernel": kernel, "C": C}
            answer = client.post("/api/steps", json={"scene": scene, "algorithm": algorithm})
            assert answer.status_code in (200, 422)
            assert answer.status_code == 200 or "unpack" not in answer.text
            if answer.status_code == 200:
                assert answer.json()["converged"] in (True, False)
                assert "solution" not in answer.json()["steps"][-1]["why"] or answer.json()["converged"]


def test_steps_and_scores_that_make_no_sense(client):
    assert "of learners of classes" in refused(client, "steps", {"scene": scene_of("wave")})
    assert "of two" in refused(client, "steps", {"scene": scene_of("three")})
    assert "most should be" in refused(client, "steps", {"scene": scene_of(), "most": 10**9})
    assert "each point has one" in refused(client, "boundary", {"scene": scene_of(), "coef": [1.0], **BOX})
    assert "scene should be an object" in refused(client, "code", {})
    assert "name should be" in refused(client, "data", {"name": "../../etc/passwd"})


@pytest.mark.thorough
def test_the_slowest_scene_is_answered_in_time(client):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((2000, 2))
    scene = {"points": points.tolist(), "labels": rng.integers(0, 2, 2000).tolist(), "C": 1e9}
    kernel = "+".join(["matern(nu=2.5, length=0.1)"] * 18)
    asked = {"scene": {**scene, "kernel": kernel}, "box": [-1, 1, -1, 1], "size": [200, 200]}
    answer = client.post("/api/fit", json=asked)
    assert answer.status_code in (200, 422)
    assert answer.elapsed.total_seconds() < 30


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = ["task", "points", "labels", "names", "axes", "scaled", "learner", "kernel", "seed", *SLIDERS]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(["fit", "steps", "boundary", "data", "code", "surface"]),
    change=st.dictionaries(st.sampled_from(KEYS), ANYTHING, min_size=1, max_size=3),
    more=st.dictionaries(st.sampled_from(["box", "size", "coef", "file", "text", "most", "C", "gamma"]), ANYTHING),
)
def test_whatever_is_sent_there_is_an_answer(client, name, change, more):
    few = scene_of("moons")
    few = {**few, "points": few["points"][:12], "labels": few["labels"][:12]}
    answer = client.post(f"/api/{name}", json={"scene": {**few, **change}, **more})
    assert answer.status_code == 200 or 400 <= answer.status_code < 500
    if answer.status_code != 200:
        assert answer.json()["error"]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=st.binary(max_size=200))
def test_bodies_that_are_no_json(client, body):
    answer = client.post("/api/choices", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (200, 422)


@pytest.mark.parametrize(
    "body",
    [b"", b"[" * 400_000, b'{"a":' * 100_000, b"NaN", b'{"scene": {"C": Infinity}}', b'{"scene": {"C": 1e999}}',
     b"\xff\xfe", b'{"scene": {"points": ' + b"9" * 5000 + b"}}", b"[]", b"7", b"null"],
)  # fmt: skip
def test_json_that_is_meant_badly(client, body):
    answer = client.post("/api/fit", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["error"]


def test_a_number_of_thousands_of_digits_is_refused_in_a_sentence(client):
    body = '{"scene": {"C": ' + "9" * 5001 + "}}"
    answer = client.post("/api/fit", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("a number of 5,001 digits is longer than any that can be read")
