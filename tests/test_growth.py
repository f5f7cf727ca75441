"""Costs that grow with powers of sizes, the arrays that fits hold, and what is said about both."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelClassifier, KernelRegressor
from mercer.growth import (
    Footprint,
    Foretold,
    PowerLaw,
    footprint,
    foretell,
    grown,
    held,
    in_bytes,
    in_seconds,
    rank_for,
    recommendation,
    trials,
)


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")


# -- power laws -------------------------------------------------------------------------------------------------------


def test_exponents_are_recovered_from_exact_costs():
    rng = np.random.default_rng(0)
    n, d, m = rng.integers(10, 10_000, (3, 12))
    law = PowerLaw.fitted({"n": n, "d": d, "m": m}, 3e-9 * n**2.0 * d**0.5 * m**1.25)
    assert law.exponents == pytest.approx({"n": 2.0, "d": 0.5, "m": 1.25})
    assert law(n=50_000, d=28, m=1) == pytest.approx(3e-9 * 50_000**2 * 28**0.5)


def test_exponents_of_noisy_costs_are_near():
    rng = np.random.default_rng(1)
    n = np.geomspace(100, 100_000, 30)
    law = PowerLaw.fitted({"n": n}, 1e-6 * n**1.5 * np.exp(0.1 * rng.normal(size=30)))
    assert law.exponents["n"] == pytest.approx(1.5, abs=0.05)


@pytest.mark.parametrize(("sizes", "costs"), [([1.0], [1.0]), ([1.0, 2.0], [1.0, 0.0]), ([1.0, 2.0, 4.0], [1.0, 2.0])])
def test_costs_that_tell_nothing_are_refused(sizes, costs):
    with pytest.raises(ValueError, match=r"need more than|greater than 0"):
        PowerLaw.fitted({"n": sizes}, costs)


def test_an_exponent_stays_within_what_is_known():
    assert grown([2, 4], [8.0, 64.0], 8, 1.0, 2.0) == pytest.approx(64 * 4)
    assert grown([2, 4], [3.0, 9.0], 8, 1.0, 2.0) == pytest.approx(27)
    assert grown([4], [9.0], 16, 1.0, 2.0) == pytest.approx(9 * 4**1.5)


def test_what_does_not_grow_is_a_constant():
    costs = [5 + 1e-3 * n**1.5 for n in (100, 200)]
    assert grown([100, 200], costs, 10_000, 1.5, 2.0) == pytest.approx(5 + 1e-3 * 10_000**1.5)
    assert grown([100, 200], [1.0, 0.9], 10_000, 1.0, 2.0) == pytest.approx(0.9)


# -- arrays -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "machine", [SVC("rbf"), KernelClassifier("rbf"), KernelClassifier("rbf", memory="5MB"), KernelRegressor(rank=50),
                SVC("rbf", rank=50), KernelClassifier("rbf", rank=50, memory="500kB")]
)  # fmt: skip
def test_the_gram_is_the_one_that_a_fit_has(machine):
    X = rows(3000)[0]
    gram = machine.placement.gram(machine.read_kernel().resolved(X), X)
    assert Footprint.of(machine, 3000).gram == type(gram).__name__


def test_figures_are_those_of_real_arrays():
    X = rows(4000)[0]
    dense = KernelClassifier("rbf")
    matrix = dense.placement.gram(dense.read_kernel().resolved(X), X).rows(np.arange(4000)).nbytes
    assert matrix < footprint(dense, X, 4000) < 2 * matrix
    low = KernelClassifier("rbf", rank=200)
    features = low.placement.gram(low.read_kernel().resolved(X), X).features().nbytes
    assert features < footprint(low, X, 4000) < 2 * features + 3e7  # tiles and compiled code
    assert held(X) == X.nbytes


def test_a_memory_limit_holds_however_many_rows_there_are():
    for machine in (SVC("rbf", memory="200MB"), KernelClassifier("rbf", memory="200MB")):
        assert Footprint.of(machine, 50_000).arrays < 2e8 + 5e7
        assert Footprint.of(machine, 50_000).gram == "Lazy"


# -- trials -----------------------------------------------------------------------------------------------------------


def test_trials_grow_and_have_every_class():
    X, y = rows(700)
    y[3] = "odd"
    seen = []

    class Seeing(SVC):
        def fit(self, X, y):
            seen.append((len(y), set(y)))
            return super().fit(X, y)

    found = trials(Seeing("rbf"), X, y, 700, long=np.inf)
    assert [trial.n for trial in found] == [250, 500, 700]
    assert all(classes == {"yes", "no", "odd"} for _, classes in seen)
    assert all(trial.seconds > 0 for trial in found)


def test_a_trial_has_the_gram_of_the_whole():
    placed = []

    class Seeing(KernelClassifier):
        def fit(self, X, y):
            placed.append(Footprint.of(self, len(y)).gram)
            return super().fit(X, y)

    X, y = rows(300)
    trials(Seeing("rbf", lam=1e-2), X, y, 10**6)
    assert set(placed) == {"Lazy"}


def test_more_rows_take_more_and_a_pipeline_is_asked_as_its_machine_is():
    X, y = rows(600)
    model = make_pipeline(StandardScaler(), KernelClassifier("rbf", lam=1e-2, rank=20))
    few, many = (foretell(model, X, y, n) for n in (10_000, 100_000_000))
    assert (few.gram, many.gram) == ("Nystrom", "Streamed")
    assert few.seconds < many.seconds
    assert few.bytes < many.bytes
    assert many.n == 100_000_000
    assert few.trials[-1].n == 600


# -- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def many(tmp_path):
    X, y = rows(3200)
    pd.DataFrame(X, columns=list("abc")).assign(y=y).to_csv(tmp_path / "many.csv", index=False)
    return "many.csv"


@pytest.mark.thorough
def test_check_foretells_fits_of_many_rows(mercer, many):
    facts = json.loads(mercer(f"check {many} --json").stdout)["foretold"]
    assert [(fit["learner"], fit.get("rank")) for fit in facts["fits"]] == [
        ("svc", None), ("kernel-logistic", None), ("kernel-logistic", 200),
    ]  # fmt: skip
    assert facts["rows"] == 3200
    assert all(fit["seconds"] > 0 and fit["bytes"] > 0 for fit in facts["fits"])
    shown = mercer(f"check {many}").stdout
    assert "a fit of 3200 rows will take" in shown
    assert "200 landmarks" in shown
    assert "recommended: " in shown


def test_check_tries_nothing_where_asked_or_where_rows_are_few(mercer, many):
    assert json.loads(mercer(f"check {many} --quick --json").stdout)["foretold"] is None
    assert "recommended" not in mercer("check xor:200").stdout


# -- words ------------------------------------------------------------------------------------------------------------


def told(seconds, size):
    return Foretold(10**5, seconds, size, "Lazy")


@pytest.mark.parametrize(
    ("exact", "card", "words"),
    [
        (told(20, 1e9), False, "^exact: about 20 s and 1.0 GB"),
        (told(20, 9e10), False, r"^landmarks \(--set rank=1000\): an exact fit takes 90 GB"),
        (told(600, 1e9), False, "about 3 s in place of about 10 minutes.$"),
        (told(9000, 1e9), False, "A graphics card .* would make"),
        (told(9000, 1e9), True, "^exact on the graphics card"),
    ],
)
def test_what_is_recommended(exact, card, words):
    assert re.search(words, recommendation(exact, told(3, 1e8), 1000, 8e9, card))


def test_sizes_in_words():
    assert [in_seconds(value) for value in (99, 101, 5399, 5401, 3e5)] == [
        "about 99 s", "about 2 minutes", "about 90 minutes", "about 1.5 hours", "about 3 days",
    ]  # fmt: skip
    assert [in_bytes(value) for value in (2e6, 1.5e8, 2e9, 8e10)] == ["2 MB", "150 MB", "2.0 GB", "80 GB"]
    ranks = [rank_for(n) for n in (1, 10**3, 10**4, 10**5, 10**6)]
    assert ranks == sorted(ranks)


def test_times_that_chance_turns_round_still_grow():
    assert grown([500, 600], [0.012, 0.011], 10**8, 0.8, 1.05) > 10.0
