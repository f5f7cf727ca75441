"""``mercer drift``: its answer, its exit status and its page."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def files(tmp_path):
    """Two tables from one source, and one of which a column has moved."""

    def people(n, seed, shift=0.0):
        random = np.random.default_rng(seed)
        return pd.DataFrame(
            {
                "age": random.normal(40 + shift, 10, n).round(2),
                "town": random.choice(["Ulm", "Bern"], n),
                "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 500, n), unit="D"),
                "income": np.where(random.random(n) < 0.1, np.nan, random.lognormal(8, 0.5, n)),
            }
        )

    people(150, 1).to_csv(tmp_path / "old.csv", index=False)
    people(120, 2).to_csv(tmp_path / "same.csv", index=False)
    people(120, 3, 7.0).to_csv(tmp_path / "moved.csv", index=False)
    return tmp_path


@pytest.mark.usefixtures("files")
def test_the_exit_status_says_whether_tables_differ(mercer):
    assert "No difference" in mercer("drift old.csv same.csv --permutations 199").stdout
    done = mercer("drift old.csv moved.csv --permutations 199", 3)
    assert "Moved: age" in done.stdout
    assert "line " in done.stdout  # of a row that speaks for it


@pytest.mark.usefixtures("files")
def test_json_and_the_page_hold_the_same_facts(mercer):
    facts = json.loads(mercer("drift old.csv moved.csv --permutations 199 --json -o out", 3).stdout)
    assert facts["differ"]
    assert facts["moved"] == ["age"]
    assert facts["columns"][0]["name"] == "age"
    assert {each["kind"] for each in facts["columns"]} == {"number", "category", "date"}
    stored = json.loads(Path("out/report.json").read_text())
    assert stored["pvalue"] == pytest.approx(facts["pvalue"])
    page = Path("out/report.html").read_text()
    assert "They differ" in page
    assert "<script" in page
    assert page.count('id="spread-') >= 4
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org", "")


@pytest.mark.usefixtures("files")
def test_columns_are_put_in_one_order_and_kind(mercer):
    frame = pd.read_csv("same.csv")[["income", "town", "since", "age"]]
    frame["town"] = np.where(frame["town"] == "Ulm", 1, 2)  # numbers, where the old table has words
    frame.to_csv("numbers.csv", index=False)
    done = mercer("drift old.csv numbers.csv --permutations 199", 3)
    assert "Moved: town" in done.stdout
    mercer("drift old.csv numbers.csv --permutations 199 --drop town")


@pytest.mark.usefixtures("files")
def test_refusals(mercer):
    pd.read_csv("same.csv").drop(columns="age").to_csv("less.csv", index=False)
    assert "'age'" in mercer("drift old.csv less.csv", 1).stderr
    assert "--drop" in mercer("drift old.csv same.csv --target age", 2).stderr


def test_built_in_tables_have_their_target_as_a_column(mercer):
    assert "moon" in mercer("drift moons:60 moons:50 --permutations 99").stdout
