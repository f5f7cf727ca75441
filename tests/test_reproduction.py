"""The protocol of the published tables, where the data set is at hand; ``reproductions/unimi.py`` checks every cell."""

import numpy as np
import pytest

from reproductions import published, unimi
from reproductions.data import data_path

path = data_path("unimi/unimi.csv")
pytestmark = pytest.mark.skipif(path is None, reason="the unimi data set is not here (MERCER_DATA)")


@pytest.fixture(scope="module")
def data():
    return unimi.prepare(path)


def test_preprocessing_removes_what_the_report_says(data):
    assert len(data.y) == 7565
    assert data.removed == 435
    assert data.removed_by_class == {-1: 97, 1: 338}  # mostly one class
    assert data.names == ["x1", "x2", "x3", "x4", "x5", "x7", "x8", "x9"]


def test_tables_two_and_five(data):
    for degree, theirs in ((1, published.PERCEPTRON), (2, published.PERCEPTRON_DEGREE_2)):
        ours = unimi.perceptron_table(unimi.Space(data, degree=degree), [50, 100])
        assert {(e,): round(v, 4) for e, v in ours.items()} == {key: theirs[key] for key in [(50,), (100,)]}


def test_a_cell_of_table_three_and_the_stream_after_it(data):
    space, folds = unimi.Space(data), unimi.Folds(len(data.y))
    keys = list(published.PEGASOS)[:2]
    values = unimi.pegasos_cells(space, folds, unimi.Hinge(), keys)
    np.testing.assert_allclose(np.round(values, 4), [published.PEGASOS[key] for key in keys])
