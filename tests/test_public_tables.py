"""What the measurement on public files rests on: a split that leaves cells as they are, and fair losses."""

import numpy as np
import pytest

from reproductions.public_files import PublicTable, cells, split
from reproductions.public_tables import Study, judge

ROWS = [[f" word {i}", "?" if i % 7 == 0 else str(i), "" if i % 10 == 0 else f"{i}.50"] for i in range(80)]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["word; code ;price", *(";".join(row) for row in ROWS)]))
    return path


def test_the_halves_have_every_row_once_and_its_cells_as_they_were(file, tmp_path):
    halves = split(PublicTable("table", "price", "numbers"), file, tmp_path)
    _, train = cells(halves.train_file)
    names, new = cells(halves.new_file)
    assert names == ["word", " code "]
    assert sorted([row[:2] for row in train] + new) == sorted(row[:2] for row in ROWS)
    assert all(row in ROWS for row in train)


def test_rows_without_a_target_are_learned_from_and_never_held_out(file, tmp_path):
    halves = split(PublicTable("table", "price", "numbers"), file, tmp_path)
    assert halves.held["price"].notna().all()
    assert halves.train["price"].isna().sum() == 8


def _study(task, measure, **score):
    return Study(
        {
            "task": task,
            "scoring": {"name": measure},
            "answer": {"chosen": "svc", "title": "SVM"},
            "learners": [{"name": "svc", "scores": {measure: score}}],
            "data": {"left_out": []},
        },
        1.0,
    )


def test_a_study_of_classes_as_numbers_is_judged_by_its_rounded_answers(tmp_path):
    path = tmp_path / "grades.csv"
    path.write_text("x,grade\n" + "".join(f"{i},{i % 2 + 1}\n" for i in range(40)))
    table = PublicTable("grades", "grade", "classes")
    halves = split(table, path, tmp_path)
    truth = halves.held["grade"].to_numpy()
    study = _study("regress", "neg_root_mean_squared_error", value=-0.2, low=-0.3, high=-0.1)
    row = judge(table, halves, [str(one + 0.25) for one in truth], study, {"forest": [*map(str, truth)]})
    assert row.loss == row.of_peer == 0
    assert row.level
    assert row.in_its_measure == pytest.approx(0.25)
    assert row.kept_its_word


def test_intervals_of_scores_become_intervals_of_losses(file, tmp_path):
    table = PublicTable("table", "price", "numbers")
    halves = split(table, file, tmp_path)
    truth = halves.held["price"].to_numpy()
    study = _study("regress", "neg_root_mean_squared_error", value=-2.0, low=-3.0, high=-1.0)
    row = judge(table, halves, [str(one + 4) for one in truth], study, {"forest": list(truth + np.float64(1))})
    assert row.stated == (2, 1, 3)
    assert not row.kept_its_word
    assert not row.level
