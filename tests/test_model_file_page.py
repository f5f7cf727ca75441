"""The page that specifies model files says what the code does."""

import numpy as np
import pytest

from mercer.model_files import FORMAT, objects_in_words
from tests.golden_models import HOME

from .guide_pages import DOCS, doctests_of, failures_of

PAGE = DOCS / "model-files.md"


def test_the_list_of_objects_is_that_of_the_code():
    told = PAGE.read_text().partition("prints this list.\n\n")[2]
    assert told.strip() == objects_in_words().strip(), "python -m mercer.model_files.models prints it"
    assert f'"format": {FORMAT}' in PAGE.read_text()


def test_the_reader_on_the_page_reads_every_golden_file(tmp_path):
    code = "".join(example.source for example in doctests_of(PAGE)[0])
    assert len(code.strip().splitlines()) <= 16
    names: dict = {}
    exec(code, names)
    for path in HOME.glob("*.safetensors"):
        content, arrays = names["read"](path)
        assert content["format"] == 1
        assert all(isinstance(array, np.ndarray) for array in arrays.values())
    damaged = bytearray((HOME / "svc.safetensors").read_bytes())
    damaged[-1] ^= 1
    (tmp_path / "m").write_bytes(damaged)
    with pytest.raises(ValueError, match="damaged"):
        names["read"](tmp_path / "m")


def test_the_code_of_the_page_runs():
    assert failures_of(PAGE) == ""
