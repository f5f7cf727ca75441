"""``mercer kernel``: the diagnosis of a kernel on a table."""

import json

import pytest

MIXED = "age,job,sequence,y\n30,cook,abab,a\n31,smith,abba,a\n60,cook,cdcd,b\n45,baker,ccdd,b\n"


@pytest.fixture
def mercer(mercer, tmp_path):
    """Run a command in a folder with a mixed table and one of words."""
    (tmp_path / "mixed.csv").write_text(MIXED)
    (tmp_path / "words.csv").write_text("sequence,y\nabab,a\nabba,a\ncdcd,b\nccdd,b\n")
    return mercer


def test_a_good_kernel_is_found_good(mercer):
    done = mercer("kernel breast_cancer --kernel 'gaussian(gamma=0.03)'")
    assert "verdict: good" in done.stdout
    assert "blocks by class" in done.stdout
    assert "verdict: bad" in mercer("kernel breast_cancer --kernel 'gaussian(gamma=100)'").stdout


def test_json_has_all_facts(mercer):
    facts = json.loads(mercer("kernel moons:200 --kernel 'gaussian(gamma=1)' --sample 150 --json").stdout)
    assert (facts["n"], facts["of"], facts["verdict"]) == (150, 200, "good")
    assert len(facts["eigenvalues"]) == 150
    assert "sha256" in facts


def test_several_kernels_are_ranked(mercer):
    line = "kernel moons:200 --kernel linear --kernel 'gaussian(gamma=1)' --kernel 'gaussian(gamma=1000)'"
    facts = json.loads(mercer(f"{line} --json").stdout)
    values = list(facts["ranking"].values())
    assert values == sorted(values, reverse=True)
    assert facts["name"] == next(iter(facts["ranking"]))
    assert facts["mixture"]["alignment"] >= values[0]
    assert "(best mixture)" in mercer(line).stdout


def test_columns_are_compared_each_in_its_way(mercer):
    kernel = "gaussian(gamma=0.1).on(age) + equal.on(job) + spectrum(p=2).on(sequence)"
    facts = json.loads(mercer(f"kernel mixed.csv --json --kernel '{kernel}'").stdout)
    assert facts["name"] == kernel
    assert facts["within"] > facts["between"]
    assert json.loads(mercer("kernel words.csv --json --kernel 'spectrum(p=2)'").stdout)["within"] > 0
    alone = json.loads(mercer("kernel words.csv --json --kernel 'spectrum(p=2).on(sequence)'").stdout)
    assert alone["within"] == json.loads(mercer("kernel words.csv --json --kernel 'spectrum(p=2)'").stdout)["within"]


def test_the_matrix_is_drawn(mercer, tmp_path):
    mercer("kernel moons:60 --plot matrix.png")
    assert (tmp_path / "matrix.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("kernel mixed.csv --kernel gausian", "there is no kernel 'gausian'"),
        ("kernel mixed.csv --kernel 'linear.on(agee)'", "did you mean 'age'"),
        ("kernel mixed.csv --kernel 'linear.on(job)'", "column 'job' holds str values"),
        ("kernel mixed.csv --kernel 'spectrum(p=2)'", "name the column that counts"),
        ("kernel mixed.csv --kernel linear --kernel 'linear.on(age)'", "rank them apart"),
        ("kernel nowhere.csv", "nowhere.csv"),
    ],
)
def test_mistakes_get_one_line(mercer, line, hint):
    done = mercer(line, 1)
    assert hint in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_without_a_kernel_the_one_that_suits_the_columns_is_looked_at(mercer):
    done = mercer("kernel breast_cancer")
    # 1/30 but for wild values, which are drawn in to eight standard deviations of the others
    assert "gaussian(gamma=0.0321) on 569 items" in done.stdout
    assert "looking at gaussian(gamma=0.0321), which suits the spread of the columns" in done.stderr
    assert "verdict: good" in done.stdout
    given = mercer("kernel breast_cancer --kernel 'gaussian(gamma=1)'")
    assert "gaussian(gamma=1) on 569 items" in given.stdout
    assert "suits" not in given.stderr


def test_advice_suits_the_items(mercer):
    assert "widen the kernel (smaller gamma)" in mercer("kernel breast_cancer --kernel 'gaussian(gamma=100)'").stdout
    words = json.loads(mercer("kernel words.csv --json --kernel 'spectrum(p=4)'").stdout)
    assert not any("gamma" in advice or "columns" in advice for advice in words["advice"])
