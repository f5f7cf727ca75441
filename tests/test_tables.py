"""Estimators of tables: what they choose, what they say of rows they have not seen, odd tables, files."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import Conformal, KernelClassifier, KernelRegressor, TableClassifier, TableRegressor
from mercer.explain import explain, overview
from mercer.exports import deviation
from mercer.intervals import leave_one_out

from .cases import TABLES

#: A row of weight two is left out as a whole, and one of two equal rows alone.
EXPECTED = {"check_sample_weight_equivalence_on_dense_data": "leaving out a row is not leaving out one of its copies"}


@parametrize_with_checks(TABLES, expected_failed_checks=lambda estimator: EXPECTED)
def test_scikit_learn(estimator, check):
    check(estimator)


def people(n=240, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 12, n),
            "job": rng.choice(["cook", "smith", "clerk"], n),
            "height": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "says": [" ".join(rng.choice(["good", "bad", "so", "and", "then", "well"], 6)) for _ in range(n)],
            "always": 1.0,
            "never": np.nan,
        }
    )
    return frame, (frame["age"] / 40) ** 2 + (frame["job"] == "cook")


def test_columns_of_all_kinds_are_learned_from_and_those_that_matter_are_told(tmp_path):
    frame, target = people()
    labels = np.where(target > 1.5, "above", "below")
    for model, y in ((TableClassifier(), labels), (TableRegressor(), target)):
        model.fit(frame, y)
        parts = dict(zip(frame.columns, model.feature_importances_, strict=True))
        assert parts["age"] + parts["job"] > 0.5
        assert parts["always"] == parts["never"] == 0
        assert sum(parts.values()) == pytest.approx(1)
        assert model.loo_score_ > 0.85
        assert model.converged_
        mercer.save(model, tmp_path / "table.mercer")
        back = mercer.load(tmp_path / "table.mercer")
        new = people(seed=1)[0].drop(columns="never").assign(never=np.nan)
        new.loc[3, "job"] = "sailor"
        assert np.array_equal(back.predict(new), model.predict(new))
        assert pd.DataFrame(back.tried_).equals(pd.DataFrame(model.tried_))
        if hasattr(model, "classes_"):
            assert np.array_equal(back.predict_proba(new), model.predict_proba(new))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("model", [*TABLES, TableClassifier(class_weight="balanced")], ids=str)
def test_rows_are_told_what_the_machine_without_them_says(model, weighted):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 4))
    y = np.round(X[:, 0] + 0.5 * rng.normal(size=90)).clip(-1, 1) if hasattr(model, "class_weight") else X[:, 0] ** 2
    y = y.astype(int) if hasattr(model, "class_weight") else y
    weight = rng.uniform(0.1, 3, 90) if weighted else None
    model = clone(model).fit(X, y, sample_weight=weight)
    rows = model.preparation_.transform(pd.DataFrame(X, columns=["x1", "x2", "x3", "x4"]))
    machine = clone(model.machine_)
    if getattr(model, "class_weight", None) is not None:
        machine.set_params(class_weight="balanced")
    np.testing.assert_allclose(model.loo_predictions_, leave_one_out(machine, rows, y, weight), atol=1e-8)


def test_a_column_that_matters_is_found_among_many_that_do_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 30))
    y = np.sin(3 * X[:, 7])
    plain, learned = (TableRegressor(metric).fit(X[:300], y[:300]) for metric in (None, "learned"))
    assert np.argmax(learned.feature_importances_) == 7
    assert learned.feature_importances_[7] > 0.9
    assert learned.score(X[300:], y[300:]) > 0.95 > 0.6 > plain.score(X[300:], y[300:])
    assert set(plain.tried_["round"]) == {0}


def numbered(n=300):
    """Rows with a number each, whose target depends on a zone that has a number too."""
    rng = np.random.default_rng(0)
    zone = rng.integers(0, 12, n)
    frame = pd.DataFrame({"zone": zone, "id": 7 * rng.permutation(n) + 1000, "x": rng.normal(size=n)})
    return frame, rng.normal(size=12)[zone] + 0.1 * frame["x"]


def test_columns_are_of_the_kind_that_is_asked_for(tmp_path):
    frame, y = numbered()
    model = TableRegressor(kinds={"zone": "category"}).fit(frame, y)
    assert model.kinds_ == {"zone": "category", "x": "number"}
    assert model.ignored_ == {"id": "a number for each row"}
    assert model.feature_importances_[1] == 0
    assert TableRegressor(kinds={"id": "keep", "x": "ignore"}).fit(frame, y).kinds_ == {
        "zone": "number",
        "id": "number",
    }
    mercer.save(model, tmp_path / "zones.mercer")
    back = mercer.load(tmp_path / "zones.mercer")
    assert back.kinds == {"zone": "category"}
    assert back.ignored_ == model.ignored_
    new = frame.assign(zone=frame["zone"].where(frame["zone"] > 0, 99))
    assert np.array_equal(back.predict(new), model.predict(new))
    of_array = TableRegressor(kinds={"x1": "category", "x2": "ignore"}).fit(frame.to_numpy(), y)
    np.testing.assert_allclose(of_array.predict(new.to_numpy()), model.predict(new), rtol=1e-6)


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        ({"zon": "category"}, "did you mean 'zone'"),
        ({"zone": "words"}, "must be 'number', 'category'"),
        (["zone"], "must be a dict"),
        ({"zone": "date"}, "no dates"),
        (dict.fromkeys(["zone", "id", "x"], "ignore"), "keep one"),
    ],
)
def test_kinds_that_cannot_be_are_refused(kinds, words):
    frame, y = numbered()
    with pytest.raises(ValueError, match=words):
        TableRegressor(kinds=kinds).fit(frame, y)


def test_probabilities_are_those_of_classes_as_they_come():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = rng.random(1500) < 1 / (1 + np.exp(-2 * X[:, 0]))
    model = TableClassifier().fit(X[:500], y[:500])
    found = model.predict_proba(X[500:])[:, 1]
    for low, high in ((0, 0.3), (0.3, 0.7), (0.7, 1)):
        some = (found >= low) & (found < high)
        assert abs(found[some].mean() - y[500:][some].mean()) < 0.08


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.random.default_rng(0).normal(size=(10, 2)), np.arange(10) % 2),
        (np.ones((30, 3)), np.arange(30) % 2),
        (np.repeat(np.random.default_rng(0).normal(size=(10, 2)), 4, axis=0), np.repeat(np.arange(10) % 2, 4)),
        (np.random.default_rng(0).normal(size=(40, 5000)), np.arange(40) % 2),
        (np.c_[np.full(40, np.nan), np.arange(40.0)], np.arange(40) > 20),
        (np.random.default_rng(0).normal(size=(40, 2)), np.r_[np.zeros(39), 1]),
    ],
    ids=["ten rows", "constant columns", "duplicates", "5000 columns", "an empty column", "one row of a class"],
)
def test_odd_tables_are_learned(X, y):
    for model in (TableClassifier().fit(X, y), TableRegressor().fit(X, y)):
        assert np.isfinite(model.loo_predictions_).all()
        assert model.predict(X).shape == y.shape
        assert model.converged_


@pytest.mark.parametrize(
    ("model", "X", "y", "words"),
    [
        (TableClassifier(), np.eye(5), np.zeros(5), "one class"),
        (TableRegressor(), np.eye(5), [1, 2, 3, 4, np.inf], "infinity"),
        (TableRegressor(), np.full((5, 2), np.nan), np.arange(5), "no column has any values"),
        (TableRegressor(), np.eye(1), [1.0], "one sample"),
        (TableRegressor(memory="10KB"), np.eye(50), np.arange(50), "memory"),
        (TableRegressor("given"), np.eye(5), np.arange(5), "metric"),
        (TableClassifier(kernels=("cubic",)), np.eye(5), np.arange(5), "kernels"),
    ],
)
def test_what_cannot_be_learned_is_said_in_a_sentence(model, X, y, words):
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)


def test_probabilities_of_many_classes_are_those_of_a_softmax_that_cannot_be_improved():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=400), [-1, 0, 1.5])
    model = TableClassifier().fit(X, y)
    told = model.probabilities_of(model.loo_predictions_)
    np.testing.assert_allclose(told.mean(axis=0), np.bincount(y) / 400, atol=1e-4)
    own = np.log(np.take_along_axis(told, y[:, None], axis=1)).mean()
    for factor in (0.9, 1.1):
        scores = factor * np.log(told)
        other = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
        assert np.take_along_axis(other, y[:, None], axis=1).mean() < own + 1e-6


@pytest.mark.parametrize("classes", [2, 3])
def test_where_nothing_can_be_learned_no_row_is_told_the_opposite(classes):
    rng = np.random.default_rng(0)
    y = np.arange(150) % classes
    y[:10] = 0
    model = TableClassifier().fit(rng.normal(size=(150, 2)), y)
    assert model.loo_score_ < 0.65
    assert all(each.slope >= 0 for each in model.maps_)
    labels = np.unique(y)
    assert model.predict_proba(rng.normal(size=(50, 2))).mean(axis=0) == pytest.approx(
        [np.mean(y == label) for label in labels], abs=0.1
    )


FRAME = pd.DataFrame({"a": np.linspace(-1, 1, 60), "b": np.random.default_rng(0).normal(size=60)})
ABOVE = (FRAME["a"] > 0).to_numpy()
ORDER = np.random.default_rng(1).permutation(60)


@pytest.mark.parametrize(
    "frame",
    [
        FRAME.assign(
            whole=pd.array([1, None] * 30, dtype="Int64"), true=pd.array([True, None, False] * 20, dtype="boolean")
        ),
        FRAME.assign(word=pd.array(["x", None] * 30, dtype="string"), kind=pd.Categorical(list("uvw") * 20)),
        FRAME.assign(mixed=[1, "two", 3.5, None] * 15),
        FRAME.assign(day=pd.date_range("2020-01-01", periods=60, tz="UTC")[ORDER], yes=[True, False] * 30),
        FRAME.astype(np.float32),
        FRAME.set_index(np.arange(60)[::-1]),
        FRAME.assign(number=3 * ORDER, one=1.0, none=np.nan).rename(columns={"number": "customer_id"}),
    ],
    ids=["nullable", "words", "mixed", "dates", "float32", "index", "identifier"],
)
def test_columns_of_any_dtype_are_learned_from(frame):
    for model in (TableClassifier().fit(frame, ABOVE), TableRegressor().fit(frame, FRAME["a"])):
        assert model.loo_score_ > 0.9
        assert model.feature_importances_[0] > 0.25
        assert set(model.ignored_) <= {"customer_id", "one", "none"}


def test_frames_of_other_libraries_are_learned_from():
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    plain = TableRegressor().fit(FRAME, FRAME["a"])
    for other in (polars.DataFrame(FRAME.to_dict("list")), pyarrow.table(FRAME.to_dict("list"))):
        np.testing.assert_allclose(TableRegressor().fit(other, FRAME["a"]).predict(other), plain.predict(FRAME))


@pytest.mark.parametrize(
    ("frame", "y", "words"),
    [
        (FRAME.assign(a=np.inf), ABOVE, "not finite"),
        (FRAME.assign(a=[(1, 2)] * 60), ABOVE, "neither a number nor a word"),
        (FRAME * np.nan, ABOVE, "keep one"),
        (FRAME, pd.array([None, *ABOVE[1:]], dtype="boolean"), "row 0"),
        (FRAME * 1e200, ABOVE, "overflow"),
    ],
    ids=["infinite", "tuples", "nothing", "no label", "huge"],
)
def test_frames_that_cannot_be_learned_from_are_refused_in_a_sentence(frame, y, words):
    for model in (TableClassifier(), TableRegressor()):
        with pytest.raises(ValueError, match=words):
            model.fit(frame, y)


def test_a_time_that_is_over_leaves_a_machine_and_says_what_was_not_tried():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    model = TableRegressor(time_limit=0.01)
    model.fit(X, X[:, 0])
    assert any("time" in note for note in model.tried_["note"])


@pytest.mark.parametrize("model", TABLES, ids=str)
def test_a_machine_that_has_no_time_for_all_rows_knows_all_classes(model, monkeypatch):
    monkeypatch.setattr("mercer.tables.base._BESIDE", 1e-3)
    monkeypatch.setattr("mercer.tables.base._FEWEST", 100)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] > 0).astype(int)
    y[17] = 2
    model = clone(model).set_params(time_limit=5).fit(X, y)
    assert len(model.machine_.support_) < 600
    assert any("had time for" in note for note in model.tried_["note"])
    assert model.loo_score_ > 0.8
    assert model.score(X, y) > 0.9
    if hasattr(model, "classes_"):
        assert model.predict_proba(X).shape == (600, 3)


def test_more_rows_than_have_room_are_told_by_machines_that_have_not_seen_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=900)
    model = TableRegressor(memory="6MB").fit(X, y)
    assert any("not tried on all rows" in note for note in model.tried_["note"])
    new = rng.normal(size=(900, 3))
    assert model.loo_score_ == pytest.approx(model.score(new, np.sin(2 * new[:, 0])), abs=0.05)


@pytest.mark.parametrize("to", ["python", "c", "onnx"])
@pytest.mark.parametrize("classes", [2, 3, None])
def test_tables_leave_with_their_preparation(to, classes, tmp_path):
    frame, target = people()
    frame = frame.drop(columns=["since", "says"])
    if classes is None:
        model = TableRegressor().fit(frame, target)
    else:
        labels = np.digitize(target, np.quantile(target, np.arange(1, classes) / classes))
        model = TableClassifier().fit(frame, np.array(["low", "middle", "high"])[labels])
    mercer.export(model, tmp_path / "model", to=to)
    new = people(seed=1)[0][frame.columns]
    new.loc[3, "job"] = "sailor"
    for rows in (new, None):
        found = deviation(model, tmp_path / "model", to, rows)
        assert found.largest < 1e-9
        assert not found.labels
        assert classes is None or found.of_probabilities < 1e-9


def test_tables_without_names_leave_as_well(tmp_path):
    X = np.random.default_rng(0).normal(size=(80, 3))
    X[::9, 1] = np.nan
    model = TableRegressor().fit(X, np.sin(X[:, 0]))
    mercer.export(model, tmp_path / "model.py", to="python")
    assert deviation(model, tmp_path / "model.py", "python").largest < 1e-9


def test_what_a_table_machine_says_of_a_row_is_explained_in_the_users_values():
    frame, target = people()
    model = TableClassifier().fit(frame, np.where(target > 1.5, "above", "below"))
    found = explain(model, frame[7:8], among=frame)
    assert found.predicted == model.predict(frame[7:8])[0]
    assert found.score == pytest.approx(abs(model.decision_function(frame[7:8])[0]))
    shown = [found.named(push) for push in found.columns]
    assert f"age = {frame['age'][7]:.6g}" in shown
    assert f"job = {frame['job'][7]}" in shown
    assert f"since = {frame['since'][7].date()}" in shown
    needed = overview(model, frame, np.where(target > 1.5, "above", "below")).importances
    assert {needed[0]["column"], needed[1]["column"]} == {"age", "job"}


def test_columns_that_nothing_is_learned_from_may_be_missing_from_new_rows():
    frame, target = people()
    frame.insert(0, "id", [f"person {k}" for k in range(len(frame))])
    model = TableRegressor().fit(frame, target)
    assert np.array_equal(model.predict(frame.drop(columns="id")), model.predict(frame))
    with pytest.raises(ValueError, match="yet now missing:\n- age"):
        model.predict(frame.drop(columns="age"))


@pytest.mark.parametrize("kernel", ["laplacian", "gaussian", "laplacian(gamma=0.5)"])
def test_machines_learn_the_metric_and_lam(kernel, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 12))
    y = np.c_[np.sin(3 * X[:, 4]), 5 + 2 * np.cos(2 * X[:, 4])]
    plain, learned = (
        KernelRegressor(kernel, lam="loo", metric=metric).fit(X[:150], y[:150]) for metric in (None, "learned")
    )
    assert np.argmax(learned.kernel_.weights) == 4
    assert learned.score(X[150:], y[150:]) > max(0.7, plain.score(X[150:], y[150:]))
    assert learned.loo_score_ == pytest.approx(learned.score(X[150:], y[150:]), abs=0.1)
    assert learned.converged_
    again = KernelRegressor(learned.kernel_, lam=learned.lam_)
    np.testing.assert_allclose(learned.loo_predictions_, leave_one_out(again, X[:150], y[:150]), atol=1e-8)
    np.testing.assert_allclose(leave_one_out(clone(learned), X[:150], y[:150]), learned.loo_predictions_, atol=1e-8)
    mercer.save(learned, tmp_path / "machine.mercer")
    back = mercer.load(tmp_path / "machine.mercer")
    assert np.array_equal(back.predict(X), learned.predict(X))
    assert back.lam_ == learned.lam_


@pytest.mark.parametrize("loss", ["squared", "logistic", "squared_hinge"])
def test_classifiers_of_any_loss_learn_the_metric(loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    y = np.digitize(np.abs(X[:, 4]), [0.5, 1])
    plain, learned = (
        KernelClassifier("laplacian", loss, metric=metric).fit(X[:200], y[:200]) for metric in (None, "learned")
    )
    assert learned.score(X[200:], y[200:]) > plain.score(X[200:], y[200:]) + 0.1
    found = GridSearchCV(learned, {"lam": [1e-4, 1e-1]}, cv=2).fit(X, y)
    theirs = mercer.KernelSearchCV(learned, {"lam": [1e-4, 1e-1]}, cv=2).fit(X, y)
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_lam_is_chosen_for_kernels_on_any_items():
    words = ["GATTACA", "GATTACC", "CATTAGA", "ACGTACG", "TTTTTTT", "GATTTTA", "CCGATTA", "CCCCGCC"] * 3
    model = KernelClassifier("spectrum(p=2)", "squared", lam="loo").fit(words, [word.count("T") > 2 for word in words])
    assert model.loo_score_ == 1
    assert model.lam_ == pytest.approx(model.tried_["lam"][np.argmin(model.tried_["error"])])


def test_intervals_are_those_of_the_machines_without_a_row(tmp_path):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(60, 3)), rng.uniform(1, 1.2, 60)
    y, new = np.sin(X[:, 0]) + 0.3 * rng.normal(size=60), rng.normal(size=(7, 3))
    for weight in (None, weights):
        model = TableRegressor().fit(X, y, weight)
        machine = KernelRegressor(model.machine_.kernel_, lam=model.machine_.lam)
        other = Conformal(machine, "jackknife+").fit(model._rows(X), y, weight)
        assert model.interval_method_ == "jackknife+"
        tolerance = 1e-9 if weight is None else 1e-3  # one λ for all, where Conformal has one for each weight
        np.testing.assert_allclose(
            model.predict_interval(new, 0.8), other.predict_interval(model._rows(new), 0.8), atol=tolerance
        )
        mercer.save(model, tmp_path / "model")
        loaded = mercer.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict_interval(new), model.predict_interval(new))
        quantiles = model.predict_quantiles(new, [0.1, 0.5, 0.9])
        assert (np.diff(quantiles) > 0).all()
        assert (np.abs(quantiles[:, 1] - model.predict(new)) < 0.2).all()


def test_intervals_contain_as_many_targets_as_asked_for():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2300, 3))
    y = X[:, 0] + np.abs(X[:, 1]) + 0.5 * rng.normal(size=2300)
    model = TableRegressor().fit(X[:300], y[:300])
    low, high = model.predict_interval(X[300:]).T
    assert 0.87 <= np.mean((low <= y[300:]) & (y[300:] <= high)) <= 0.94
    few = TableRegressor(memory=300_000).fit(X[:300], y[:300])
    assert few.interval_method_ == "jackknife"
    np.testing.assert_allclose(few.predict_interval(X[300:]), model.predict_interval(X[300:]), atol=0.1)
    assert model.predict_interval(X[:0]).shape == (0, 2)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda model: model.predict_interval([[0.0]], 1.2), "coverage must lie between 0 and 1, got 1.2"),
        (lambda model: model.predict_quantiles([[0.0]], [0.5, 0.0]), "quantiles must lie between 0 and 1, got 0.0"),
        (lambda model: model.predict_interval([[0.0]], 0.99), "needs the errors of 99 rows or more, there are 12"),
    ],
)
def test_intervals_that_cannot_be_are_refused(ask, words):
    model = TableRegressor().fit(np.arange(12.0)[:, None], np.arange(12.0))
    with pytest.raises(ValueError, match=words):
        ask(model)


def test_classes_are_told_by_the_mean_of_kernels_unless_one_is_clearly_better():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    y = X.sum(axis=1) + 3 * rng.normal(size=200) > 0
    noisy = TableClassifier().fit(X, y)
    np.testing.assert_allclose(noisy.loo_predictions_, leave_one_out(noisy.machine_, noisy._rows(X), y), atol=1e-8)
    assert {"laplacian", "gaussian", "mean of all"} == set(noisy.tried_["family"])
    assert str(noisy.machine_.kernel_).count("gamma") == 4
    clear = TableClassifier().fit(X, np.sin(3 * X[:, 0]) > 0)
    assert "mean of all" in clear.tried_["family"]
    assert str(clear.machine_.kernel_).count("gamma") == 1


@pytest.mark.parametrize("model", [TableRegressor(), TableClassifier()], ids=lambda model: type(model).__name__)
def test_rows_of_a_group_are_told_by_the_machine_without_it(model, tmp_path):
    rng = np.random.default_rng(0)
    groups = rng.choice(["a", "b", "c", "d", "e"], 80)
    X = rng.normal(size=(80, 3))
    y = X[:, 0] + rng.normal(size=80)
    y = y if isinstance(model, TableRegressor) else y > 0
    model = clone(model).fit(X, y, groups=groups)
    rows = model._rows(X)
    for group in "abcde":
        out = groups == group
        # the kernel is as it was; λn is the same for all
        machine = clone(model.machine_).set_params(lam=model.machine_.lam * 79 / (~out).sum())
        other = machine.fit(rows[~out], y[~out])
        told = other.predict(rows[out]) if isinstance(model, TableRegressor) else other.decision_function(rows[out])
        np.testing.assert_allclose(model.loo_predictions_[out], told, atol=1e-6)
    mercer.save(model, tmp_path / "model")
    np.testing.assert_array_equal(mercer.load(tmp_path / "model").groups_, model.groups_)
    if isinstance(model, TableRegressor):
        assert model.interval_method_ == "jackknife"
    with pytest.raises(ValueError, match="there is one group"):
        clone(model).fit(X, y, groups=np.zeros(80))
