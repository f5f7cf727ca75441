"""What is good: measures by name, their intervals and paired tests, and studies that follow the one asked for."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn import metrics
from sklearn.datasets import make_classification
from sklearn.metrics import check_scoring

from mercer import SVC, KernelClassifier, KernelRegressor, load
from mercer.cli import main
from mercer.io import Table
from mercer.report import page
from mercer.study import (
    by_class,
    choose,
    class_measures,
    compare,
    compare_scores,
    curves,
    drawn_differences,
    drawn_weights,
    fit_of_scores,
    fit_verdict,
    measure_named,
    number_measures,
    on_all_rows,
    over_draws,
    positive_class,
    predictions_of,
    scored,
)

from .reporting import made_table


def classes(number, rows=240, seed=0):
    weights = [0.7, 0.3] if number == 2 else None
    X, y = make_classification(rows, n_informative=6, n_classes=number, weights=weights, random_state=seed)
    return X, np.array(list("abcd"))[y]


@pytest.mark.parametrize("number", [2, 4])
@pytest.mark.parametrize("name", list(class_measures([0, 1])))
def test_a_measure_is_scikit_learns_with_and_without_weights(number, name):
    X, y = classes(number)
    model = KernelClassifier("gaussian(gamma=0.05)", lam=1e-3).fit(X[:120], y[:120])
    positive = "a" if number == 2 else None  # not the class that scores speak for
    measure = class_measures(np.unique(y).tolist(), positive)[name]
    scorer = check_scoring(model, measure.scorer or measure.scoring)
    found, held = predictions_of(model, X[120:]), y[120:]
    assert measure.score(on_all_rows(measure.weighted, held, found)) == pytest.approx(scorer(model, X[120:], held))
    weights = drawn_weights(120, 7)[:5]
    for drawn, value in zip(weights, measure.score(over_draws(measure.weighted, held, found, weights)), strict=True):
        rows = np.repeat(np.arange(120), drawn)
        assert value == pytest.approx(scorer(model, X[120:][rows], held[rows]))


@pytest.mark.parametrize("name", list(number_measures()))
def test_a_measure_of_numbers_is_scikit_learns(name):
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 3))
    y = X[:, 0] ** 2 + random.normal(size=80)
    model = KernelRegressor("gaussian(gamma=0.3)").fit(X[:40], y[:40])
    measure = number_measures(0.8)[name]
    scorer = check_scoring(model, measure.scorer or measure.scoring)
    found, weights = predictions_of(model, X[40:]), drawn_weights(40, 3)[:4]
    for drawn, value in zip(weights, measure.score(over_draws(measure.weighted, y[40:], found, weights)), strict=True):
        rows = np.repeat(np.arange(40), drawn)
        assert value == pytest.approx(scorer(model, X[40:][rows], y[40:][rows]))


@pytest.mark.parametrize(
    ("said", "task", "scoring"),
    [
        ("AUC", "classify", "roc_auc"),
        ("Balanced accuracy", "classify", "balanced_accuracy"),
        ("MCC", "classify", "matthews_corrcoef"),
        ("neg_log_loss", "classify", "neg_log_loss"),
        ("F1", "classify", "f1"),
        ("R2", "regress", "r2"),
        ("pinball:0.1", "regress", "neg_mean_pinball_loss"),
        ("rmse", "regress", "neg_root_mean_squared_error"),
    ],
)
def test_names_as_people_type_them(said, task, scoring):
    assert measure_named(said, task, ["a", "b"], "b").scoring == scoring


@pytest.mark.parametrize(
    ("said", "task", "message"),
    [
        ("aucc", "classify", "did you mean 'roc_auc'.*names are accuracy"),
        ("mae", "classify", "measures numbers, and classes are to be learned"),
        ("f1", "regress", "measures classes, and numbers are to be learned; use rmse"),
        ("f1(0.9)", "classify", "there is no measure 'f1\\(0.9\\)'"),
    ],
)
def test_a_wrong_name_is_answered_with_the_right_ones(said, task, message):
    with pytest.raises(ValueError, match=message):
        measure_named(said, task, ["a", "b"], "b")


def test_the_positive_class_is_the_rarer_one_or_as_asked():
    y = np.array(["no"] * 3 + ["yes"] * 7)
    assert (positive_class(y), positive_class(y, "yes")) == ("no", "yes")
    assert positive_class(np.array([0, 1, 1, 0]), "1") == 1
    with pytest.raises(ValueError, match="no row is of class 'maybe'"):
        positive_class(y, "maybe")


def test_intervals_of_a_score_hold_it_about_nineteen_times_of_twenty():
    """The AUC of two normal classes one deviation apart is Φ(1/√2) ≈ 0.7602."""
    measure, held = class_measures([0, 1], 1)["roc_auc"], 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        y = np.repeat([0, 1], 60)
        scores = random.normal(size=120) + y
        found = SimpleNamespace(
            predicted=(scores > 0.5).astype(int), scores=scores, classes=np.array([0, 1]), probabilities=None,
            score_for=lambda label, scores=scores: scores,
        )  # fmt: skip
        interval = scored(measure, y, found, drawn_weights(120, seed))
        held += interval["low"] <= 0.7602 <= interval["high"]
    assert held >= 52


def test_paired_draws_find_what_is_there_and_nothing_else():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    measure = class_measures([0, 1], 1)["roc_auc"]

    def learner(noise, seed):
        scores = y + noise * np.random.default_rng(seed).normal(size=300)
        return SimpleNamespace(
            predicted=(scores > 0.5).astype(int), scores=scores, classes=np.array([0, 1]), probabilities=None,
            score_for=lambda label: scores,
        )  # fmt: skip

    found = {"good": learner(0.5, 1), "same": learner(0.5, 1), "bad": learner(3.0, 2)}
    pairs = compare_scores(measure, ["good", "same", "bad"], y, found, "good", drawn_weights(300, 0))
    verdicts = {pair["other"]: (pair["verdict"], pair["p"]) for pair in pairs}
    assert verdicts["same"] == ("tie", 1.0)
    assert verdicts["bad"][0] == "better"
    assert drawn_differences(np.full(500, np.nan)) == 1.0


@pytest.mark.thorough
def test_a_study_follows_the_score_that_was_asked_for():
    facts = compare(
        made_table(150), learners=["perceptron", "logistic", "svc"], cv=3, scoring="auc", repeats=1, trees=False
    )
    assert facts["scoring"]["name"] == "roc_auc"
    assert facts["scoring"]["asked"]
    values = [one["scores"]["roc_auc"]["value"] for one in facts["learners"]]
    assert values == sorted(values, reverse=True)
    validated = {
        one["name"]: one["tuning"]["candidates"][one["tuning"]["best"]]["validation"]["mean"]
        for one in facts["learners"]
        if one["converged"]
    }
    assert validated[facts["answer"]["chosen"]] == min(validated.values())
    assert "AUC" in facts["answer"]["words"][0]
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert "roc_auc" not in page(facts)  # names are for programs
    for one in facts["learners"]:
        for score in one["scores"].values():
            assert score["low"] <= score["value"] <= score["high"]
        assert ("neg_log_loss" in one["scores"]) == (one["name"] == "logistic")


def test_all_scores_are_measured_whatever_is_asked():
    facts = compare(made_table(120, classes=3), learners=["logistic"], cv=2, repeats=1, trees=False)
    assert facts["scoring"]["name"] == "accuracy"
    assert set(facts["learners"][0]["scores"]) == {
        "accuracy", "balanced_accuracy", "roc_auc_ovr_weighted", "average_precision", "f1_macro", "matthews_corrcoef",
        "neg_log_loss",
    }  # fmt: skip


@pytest.mark.thorough
def test_learners_without_probabilities_are_left_out_of_a_log_loss():
    facts = compare(made_table(100), learners=["logistic", "svc"], cv=2, repeats=1, trees=False, scoring="log_loss")
    assert [one["name"] for one in facts["learners"]] == ["logistic"]
    assert "probabilities" in facts["skipped"][0]["why"]
    said = " ".join(facts["answer"]["words"])
    assert "Always answering with the shares of the classes would have a log loss of" in said
    html = page(facts)
    assert "CV log loss" in html
    assert "It was asked for" not in html
    assert "test log loss" in facts._repr_html_()
    assert repr(facts).startswith("<Comparison of 1 learner on 'made <&>': Logistic regression, test error ")
    assert len(repr(facts)) < 200


def test_quantiles_are_learned_where_their_loss_is_asked_for():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, (150, 2))
    table = Table("t", pd.DataFrame(X, columns=["a", "b"]), None, X[:, 0] + random.exponential(size=150), "y")
    facts = compare(table, learners=["ridge", "linear-quantile"], cv=2, repeats=1, trees=False, scoring="pinball(0.9)")
    assert facts["answer"]["chosen"] == "linear-quantile"
    assert "0.9-quantile" in facts["answer"]["title"]
    assert any("would have a pinball loss at 0.9 of" in words for words in facts["answer"]["words"])


def test_each_class_and_every_curve_is_scikit_learns():
    X, y = classes(2)
    model = KernelClassifier("gaussian(gamma=0.05)", lam=1e-3).fit(X[:120], y[:120])
    found, held = predictions_of(model, X[120:]), y[120:]
    told = {one["label"]: one for one in by_class(held, found)}
    assert told["b"]["recall"] == pytest.approx(
        metrics.recall_score(held, model.predict(X[120:]), pos_label="b"), rel=1e-5
    )
    assert told["b"]["answered"] == (model.predict(X[120:]) == "b").sum()
    drawn = curves(held, found, "b")
    area = metrics.auc(*np.array(drawn["roc"]).T)
    assert area == pytest.approx(metrics.roc_auc_score(held == "b", model.decision_function(X[120:])), abs=1e-3)
    assert sum(rows for _, _, rows in drawn["calibration"]) == 120
    assert all(len(drawn[name]) <= 200 for name in ("roc", "pr"))
    assert curves(held, predictions_of(SVC().fit(X[:120], y[:120]), X[120:]), "b")["calibration"] is None


def error(wrong, rows=200):
    from mercer.study import error_rate

    return error_rate(wrong, rows)


def test_a_verdict_does_not_contradict_its_numbers():
    """24 % against 30 % is no proof on 200 rows, and it is not "no better" either."""
    verdict = fit_verdict({"train": error(40), "test": error(48)}, error(48), 0.30)
    assert verdict["kind"] == "unproven"
    assert verdict["words"].startswith("24.00\xa0% on new rows against 30.00\xa0% for always answering the commonest")
    assert "200 test rows do not prove it better" in verdict["words"]
    assert "No better than" in fit_verdict({"train": error(40), "test": error(60)}, error(60), 0.30)["words"]


def test_a_verdict_on_a_score_does_not_contradict_its_numbers():
    measure, baseline = class_measures([0, 1], 1)["roc_auc"], {"title": "guessing", "value": 0.5}

    def kind(train, test, best=0.9):
        around = [{"value": value, "low": value - 0.05, "high": value + 0.05} for value in (train, test, best)]
        return fit_of_scores(measure, *around, baseline, 80)["kind"]

    cases = [(0.92, 0.9), (1.0, 0.8), (0.7, 0.68), (0.78, 0.6), (0.6, 0.53), (0.6, 0.45)]
    assert [kind(*case) for case in cases] == ["good", "overfit", "underfit", "both", "unproven", "useless"]


def tuned(name, mean, sd=0.01, converged=True):
    candidate = {"validation": {"mean": mean, "sd": sd}}
    return {
        "name": name, "title": name.title(), "converged": converged,
        "tuning": {"candidates": [candidate], "best": 0, "folds": 4},
    }  # fmt: skip


def test_a_learner_that_did_not_converge_is_chosen_only_where_it_is_clearly_better():
    from mercer.study import SHARE

    near = choose([tuned("svc", 0.10, converged=False), tuned("logistic", 0.104)])
    assert (near.name, near.passed_over) == ("logistic", ("Svc",))
    assert "did not converge" in near.in_words(SHARE)
    far = choose([tuned("svc", 0.10, converged=False), tuned("logistic", 0.12)])
    assert far.name == "svc"
    assert "did not converge" in far.about_convergence()[0]


def test_ties_in_cross_validation_are_called_ties():
    from mercer.study import SHARE

    choice = choose([tuned("svc", 0.1), tuned("logistic", 0.1), tuned("perceptron", 0.2)])
    assert choice.equals == ("Logistic",)
    assert "so had Logistic" in choice.in_words(SHARE)


def test_a_learner_that_chooses_inside_each_fold_is_passed_over_only_by_clearly_better_ones():
    from mercer.study import SHARE

    near = choose([tuned("svc", 0.10), tuned("table", 0.113), tuned("logistic", 0.12)])
    assert (near.name, near.passed_over) == ("table", ("Svc",))
    assert "had a lower error in cross-validation, by less than two standard errors" in near.in_words(SHARE)
    assert choose([tuned("svc", 0.10), tuned("table", 0.115)]).name == "svc"
    assert choose([tuned("svc", 0.10), tuned("table", 0.10)]).equals == ("Svc",)
    assert choose([tuned("svc", 0.10, sd=0.0), tuned("table", 0.101, sd=0.0)]).name == "svc"


def called(*words):
    return CliRunner().invoke(main, [*map(str, words)])


def test_tuning_by_a_score_and_a_threshold(tmp_path):
    X, y = classes(2)
    path = tmp_path / "rows.csv"
    frame = pd.DataFrame(X[:, :5], columns=list("vwxyz"))
    frame.assign(kind=np.where(y == "b", "ill", "well")).to_csv(path, index=False)
    words = ["tune", "logistic", path, "--folds", 3, "--scoring", "F1", "--threshold", "f1", "-o", tmp_path / "m"]
    result = called(*words, "--json", "--quiet")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["scoring"] == "f1"
    assert found["error"] == pytest.approx(1 - found["score"])
    assert {one["label"] for one in found["by_class"]} == {"ill", "well"}
    model = load(tmp_path / "m")
    assert model.best_threshold_ == pytest.approx(found["threshold"])
    assert set(model.predict(frame)) == {"ill", "well"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["tune", "svc", "moons:60", "--scoring", "acuracy"], "did you mean 'accuracy'"),
        (["tune", "svc", "moons:60", "--scoring", "mae"], "measures numbers"),
        (["tune", "svc", "moons:60", "--scoring", "log_loss"], "is of probabilities, and it has none"),
        (["tune", "svc", "moons:60", "--threshold", "auc"], "the same for every threshold"),
        (["tune", "svc", "moons:60", "--positive", "5"], "no row is of class '5'"),
        (["compare", "moons:60", "--scoring", "nonsense"], "there is no measure 'nonsense'"),
    ],
)
def test_mistakes_are_one_sentence(words, message):
    result = called(*words)
    assert result.exit_code in (1, 2)
    assert message in " ".join(result.stderr.replace("│", "").split())
    assert "Traceback" not in result.output


@pytest.mark.parametrize("name", ["mae", "rmse", "pinball(0.9)", "r2"])
def test_an_interval_begins_with_its_smaller_end(name):
    """Of errors as of scores, in numbers of any length: 9 is less than 10."""
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2))
    y = 90 * X[:, 0] + 10 * random.standard_cauchy(size=60)
    table = Table("tails", pd.DataFrame(X, columns=["a", "b"]), None, y, "y", asked="regress")
    facts = compare(table, learners=["ridge"], cv=2, repeats=1, trees=False, scoring=name)
    said = next(words for words in facts["answer"]["words"] if "expect" in words)
    low, high = re.search(r"expect an? .+ of (\S+) to (\S+): ", said.replace("−", "-")).groups()
    assert float(low) <= float(high)
    score = facts["learners"][0]["scores"][facts["scoring"]["name"]]
    sign = 1 if name == "r2" else -1
    assert [float(low), float(high)] == pytest.approx(sorted(sign * score[end] for end in ("low", "high")), rel=1e-2)
