"""Files of every released format are read for ever, and their models answer as they did when they were written."""

import json

import numpy as np
import pytest

from mercer import load
from mercer.model_files import SAVED_TYPES
from tests.golden_models import GOLDEN, HOME, answers, rows_of_json

NAMES = sorted(path.stem for path in HOME.glob("*.safetensors"))


def text_of(name):
    data = (HOME / f"{name}.safetensors").read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return json.loads(header["__metadata__"]["mercer"])


def nodes(node):
    """All objects of a JSON value, the inner ones too."""
    if isinstance(node, dict):
        yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else []:
        yield from nodes(inner)


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_file_answers_as_it_did(name):
    stored = json.loads((HOME / f"{name}.json").read_text())
    found = answers(load(HOME / f"{name}.safetensors"), rows_of_json(name, stored["rows"]))
    assert found.keys() == stored["answers"].keys()
    for question, expected in stored["answers"].items():
        if np.asarray(expected).dtype.kind == "f":
            np.testing.assert_allclose(found[question], expected, rtol=1e-12, atol=1e-12, err_msg=question)
        else:
            assert found[question] == expected, question


def test_every_kind_that_a_file_can_hold_has_a_golden_file():
    texts = [text_of(name) for name in NAMES]
    assert {text["format"] for text in texts} == {1}
    held = [node for text in texts for node in nodes(text["model"])]
    assert {node["object"] for node in held if "object" in node} == set(SAVED_TYPES)
    ways = {"array", "words", "sparse", "number", "tuple", "set", "bytes", "pairs", "kernel", "loss"}
    ways |= {"strings", "sets", "graphs", "categories", "parts"}
    assert {key for node in held for key in node} >= ways


def test_every_golden_model_is_described():
    assert set(NAMES) == set(GOLDEN)
