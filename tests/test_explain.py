import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler

from mercer import (
    SVC,
    SVDD,
    SVR,
    Calibrated,
    KernelClassifier,
    KernelRegressor,
    KernelSearchCV,
    OneClassSVM,
    Pegasos,
    Perceptron,
    TunedThreshold,
)
from mercer.explain import explain, nearest_support, overview, permutation_importance_of, support_labels, wrong_rows
from mercer.kernels import (
    Equal,
    Gaussian,
    Graphlet,
    Graphs,
    Hamming,
    Intersection,
    Jaccard,
    Linear,
    Mismatch,
    Normalised,
    ShortestPath,
    Spectrum,
    Subsequence,
    WeightedDegree,
    WeisfeilerLehman,
    WeisfeilerLehmanAssignment,
)

from .structured import GRAPHS, LABELS, WORDS

SAME_LENGTH = [(word * 3)[:7] for word in WORDS]
BAGS = [list(word) for word in WORDS]
TABLE = pd.DataFrame({"word": WORDS, "size": np.arange(60) / 60, "job": ["cook", "smith", "cook"] * 20})
MIXED = Spectrum(2).on("word") * Equal().on("job") + 3 * Linear().on("size")

READABLE = {
    "substrings": (Spectrum(p=(1, 3), weights=[1, 0, 0.5]), WORDS),
    "words": (Spectrum(p=1, tokens="words"), [" ".join(word) for word in WORDS]),
    "bytes": (Spectrum(p=2, tokens="bytes"), ["é" + word for word in WORDS]),
    "places": (WeightedDegree(k=3), SAME_LENGTH),
    "multisets": (Intersection(), BAGS),
    "near substrings": (Mismatch(k=3, m=1, alphabet="abcdefg"), WORDS),
    "subsequences": (Subsequence(k=3, decay=0.7), WORDS),
    "subsequences of bytes": (Subsequence(k=2, tokens="bytes"), ["é" + word for word in WORDS]),
    "subsequences of words": (Subsequence(k=2, tokens="words"), [" ".join(word) for word in WORDS]),
    "subtrees": (WeisfeilerLehman(h=2), GRAPHS),
    "paired subtrees": (Normalised(WeisfeilerLehmanAssignment(h=2)), GRAPHS),
    "shortest paths": (ShortestPath(), GRAPHS),
    "graphlets": (Graphlet(size=4, scale="cosine"), GRAPHS),
    "shares of graphlets": (Graphlet(size=3, scale="frequencies"), GRAPHS),
    "normalised": (Normalised(Spectrum(2) + 2 * Spectrum(2)), WORDS),
    "table": (MIXED, TABLE),
    "categories": (Hamming().on("job", "size") + Equal().on("size", "job"), TABLE),
    "numbers": (2 * Linear(), np.random.RandomState(0).standard_normal((60, 3))),
}


@pytest.mark.thorough
@pytest.mark.parametrize("case", READABLE)
def test_named_features_are_features_of_the_kernel(case):
    kernel, items = READABLE[case]
    features = kernel.named_features(kernel.items(items))[:20]
    dots = [[sum(value * b.get(name, 0.0) for name, value in a.items()) for b in features] for a in features]
    np.testing.assert_allclose(dots, kernel(items)[:20, :20], atol=1e-9)


@pytest.mark.parametrize("case", READABLE)
def test_the_parts_of_a_score_add_up(case):
    kernel, items = READABLE[case]
    model = KernelClassifier(kernel, lam=1e-2).fit(items, LABELS)
    for k in range(0, 60, 20):
        one = items.iloc[[k]] if isinstance(items, pd.DataFrame) else items[k]
        found = explain(model, one, label=1, top=10**6)
        alone = one if isinstance(items, pd.DataFrame) else items[k : k + 1]
        assert found.score == pytest.approx(model.decision_function(alone)[0])
        assert found.rest == pytest.approx(0, abs=1e-8)
        assert found.intercept + sum(push.value for push in found.features) == pytest.approx(found.score)
        assert found.intercept + sum(each.value for each in found.deciding) == pytest.approx(found.score)
        assert found.similar[0].similarity == pytest.approx(1)


def test_the_letters_that_decide_are_named():
    model = SVC(Spectrum(p=1)).fit(["aab", "abc", "ccd", "dcb"], ["A", "A", "D", "D"])
    found = explain(model, "aad")
    assert (found.predicted, found.label) == ("A", "A")
    assert found.features[0].name == "'a'"
    assert {push.name: push.value > 0 for push in found.features} == {"'a'": True, "'d'": False}
    text = str(found)
    assert "predicted 'A'" in text
    assert text.index("pushes up") < text.index("'a'") < text.index("pushes down") < text.index("'d'")
    assert "training row 2: 'abc'" in text
    against = explain(model, "aad", label="D")
    assert against.score == pytest.approx(-found.score)
    assert len(explain(model, "aad", top=1).features) == 1
    assert json.loads(json.dumps(found.facts()))["deciding"][0]["item"] in ("aab", "dcb", "abc", "ccd")


def named(kernel, item):
    return {name.text: value for name, value in kernel.named_features(kernel.items([item]))[0].items()}


def test_features_are_called_what_they_are():
    assert named(Mismatch(k=2, m=1, alphabet="AB"), "ABB") == {"'AA'": 1, "'AB'": 2, "'BB'": 2, "'BA'": 1}
    assert named(Subsequence(k=2, decay=0.5), "aab") == {"'a' … 'a'": 0.25, "'a' … 'b'": 0.375}
    water = (3, [[0, 1], [0, 2]], ["O", "H", "H"], ["-", "-"])
    assert named(ShortestPath(), water) == {"H–O, 1 apart": 2, "H–H, 2 apart": 1}
    assert named(WeisfeilerLehman(h=1), water) == {"O": 1, "H": 2, "O(-H,-H)": 1, "H(-O)": 2}
    assert named(Graphlet(size=3), water) == {"a path of three nodes": 1}
    kinds = [named(Graphlet(size=4), (4, edges)) for edges in Graphlet(size=4).kinds()]
    assert len({text for kind in kinds for text in kind}) == 11
    assert len({text for kind in kinds for text in kind if "nodes with edges" in text}) == 0
    twice = WeisfeilerLehmanAssignment(h=0).named_features(Graphs.of([water]))[0]
    assert sorted(name.text for name in twice) == ["H", "H", "O"]
    assert set(twice.values()) == {1.0}


def test_the_path_that_decides_is_named():
    chain, ring = (4, [[0, 1], [1, 2], [2, 3]]), (4, [[0, 1], [1, 2], [2, 3], [3, 0]])
    found = explain(SVC(ShortestPath(), C=10).fit([chain, ring], ["chain", "ring"]), chain)
    assert found.predicted == "chain"
    # φ counts the pairs that are 1, 2 and 3 apart, and w is c·(φ(chain) − φ(ring)) = c·(3 − 4, 2 − 2, 1 − 0).
    pushes = {push.name: push.value for push in found.features}
    assert list(pushes) == ["*–*, 1 apart", "*–*, 3 apart"]
    assert pushes["*–*, 1 apart"] == pytest.approx(-3 * pushes["*–*, 3 apart"])
    assert pushes["*–*, 3 apart"] > 0


@pytest.mark.parametrize("model", [SVC(), SVC(strategy="ovr"), Pegasos(steps=2000, random_state=0), KernelClassifier()])
def test_several_classes(model):
    labels = np.array(["x", "y", "z"])[np.arange(60) % 3]
    model.set_params(kernel=Spectrum(1)).fit(WORDS, labels)
    raw = model._model.scores(model.kernel_.items(WORDS[:1]), "1GB")[0]
    scores = {label: explain(model, WORDS[0], label=label).score for label in "xyz"}
    if isinstance(model, SVC) and model.strategy == "ovo":  # machines x-y, x-z and y-z, each positive for its second
        assert scores["y"] == pytest.approx(raw[0] - raw[2])
    else:
        assert list(scores.values()) == pytest.approx(raw.tolist())
    assert explain(model, WORDS[0]).label == model.predict(WORDS[:1])[0]


def test_kernels_without_names_show_training_items():
    for kernel, items in ((Gaussian(), np.arange(60.0)[:, None]), (Jaccard(), BAGS)):
        found = explain(SVC(kernel).fit(items, LABELS), items[0])
        assert found.features == []
        assert found.similar[0].similarity == pytest.approx(1)
    K = Gaussian()(np.arange(60.0)[:, None])
    found = explain(SVC("precomputed").fit(K, LABELS), K[0])
    assert found.similar[0].place == 0


def test_linear_models_and_regressions():
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
    found = explain(Perceptron(random_state=0).fit(frame, [0, 0, 1, 1]), frame.iloc[[3]])
    assert [push.name for push in found.features] == ["a"]
    model = KernelRegressor("linear", lam=1e-6).fit(frame, [1.0, 2.0, 3.0, 4.0])
    found = explain(model, frame.iloc[[3]])
    assert found.label is None
    assert found.score == pytest.approx(model.predict(frame.iloc[[3]])[0])


def test_bad_requests_get_one_sentence():
    model = SVC(Spectrum(1)).fit(WORDS, LABELS)
    with pytest.raises(ValueError, match="no class 7; its classes are 0, 1"):
        explain(model, WORDS[0], label=7)
    with pytest.raises(TypeError, match="machine of mercer"):
        explain("model", WORDS[0])
    with pytest.raises(NotFittedError):
        explain(SVC(Spectrum(1)), WORDS[0])
    with pytest.raises(ValueError, match="one item"):
        explain(SVC().fit([[0.0], [1.0]], [0, 1]), [[1.0], [2.0]])
    with pytest.raises(ValueError, match="has 60 rows"):
        explain(SVC(MIXED).fit(TABLE, LABELS), TABLE)
    with pytest.raises(ValueError, match="no single score"):
        explain(Perceptron(Spectrum(1), variant="voted", random_state=0).fit(WORDS, LABELS), WORDS[0])


# -- labels and names of any kind -----------------------------------------------------------------------------------

CANCER, TUMOUR = load_breast_cancer(return_X_y=True, as_frame=True)
CANCER, TUMOUR = CANCER.iloc[::4, :6], TUMOUR.iloc[::4]
KIND = TUMOUR.map({0: "malignant", 1: "benign"})


@pytest.mark.parametrize(
    "labels",
    [
        KIND,
        KIND.astype("string"),
        KIND.astype("category"),
        KIND.to_numpy(object),
        KIND.tolist(),
        TUMOUR.astype(bool),
        TUMOUR.astype(np.int8),
    ],
    ids=["object", "string", "category", "array", "list", "bool", "int"],
)
def test_labels_of_any_kind(labels):
    model = make_pipeline(StandardScaler(), SVC("linear")).fit(CANCER, labels)
    found = explain(model, CANCER.iloc[[3]])
    assert found.predicted == model.predict(CANCER.iloc[[3]])[0]
    assert type(found.predicted) in (str, bool, int)
    assert found.label == found.predicted
    assert json.loads(json.dumps(found.facts()))["predicted"] == found.predicted


def test_columns_keep_their_names_in_sums_of_kernels():
    model = SVC(2 * Linear() + Gaussian(gamma=1e-6)).fit(CANCER, KIND)
    found = explain(model, CANCER.iloc[[3]])
    assert {push.name for push in found.features} == set(CANCER.columns)
    assert found.score == pytest.approx(abs(model.decision_function(CANCER.iloc[[3]])[0]))
    product = SVC(Linear() * Linear() + Linear()).fit(CANCER.iloc[:, :2], KIND)
    first, second = CANCER.columns[:2]
    assert f"{first} and {second}" in {push.name for push in explain(product, CANCER.iloc[[3], :2]).features}


PEOPLE = pd.DataFrame(
    {
        "age": np.linspace(20, 70, 60),
        "job": ["cook", "smith", "clerk"] * 20,
        "pay": np.tile([10.0, 20, 30, 40], 15),
    }
)
RICH = np.where(PEOPLE["age"] + 5 * (PEOPLE["job"] == "cook") > 45, "yes", "no")
ENCODED = make_column_transformer(
    (StandardScaler(), ["age", "pay"]), (OneHotEncoder(), ["job"]), verbose_feature_names_out=False
)


WRAPPED = {
    "pipeline": lambda machine: make_pipeline(ENCODED, machine),
    "search": lambda machine: KernelSearchCV(make_pipeline(ENCODED, machine), {"svc__C": [1.0]}, cv=2),
    "grid": lambda machine: GridSearchCV(make_pipeline(ENCODED, machine), {"svc__C": [1.0]}, cv=2),
    "calibrated": lambda machine: Calibrated(make_pipeline(ENCODED, machine), cv=2),
    "threshold": lambda machine: TunedThreshold(make_pipeline(ENCODED, machine), scoring="f1_macro", cv=2),
}


@pytest.mark.parametrize("wrapped", WRAPPED)
@pytest.mark.parametrize("kernel", ["linear", "gaussian(gamma=0.1)"])
def test_what_is_around_a_machine_leaves_its_score_as_it_is(wrapped, kernel):
    model = WRAPPED[wrapped](SVC(kernel)).fit(PEOPLE, RICH)
    alone = make_pipeline(ENCODED, SVC(kernel)).fit(PEOPLE, RICH)
    found = explain(model, PEOPLE.iloc[[7]], label="yes", among=PEOPLE)
    assert found.score == pytest.approx(alone.decision_function(PEOPLE.iloc[[7]])[0])
    assert found.columns[0].name == "age"
    assert found.columns[0].value < 0  # it is young
    if kernel == "linear":
        assert {push.name for push in found.features} <= {"age", "pay", "job = cook", "job = smith", "job = clerk"}
        assert "standard deviations" in found.notes[0]
        assert found.intercept + sum(push.value for push in found.features) == pytest.approx(found.score)
    else:
        assert found.similar[0].similarity > 0.9
        assert json.loads(json.dumps(found.facts()))["similar"][0]["label"] in ("yes", "no")


def test_names_of_products_and_of_rows_given_in_other_ways():
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False), SVC("linear"))
    model.fit(PEOPLE[["age", "pay"]], RICH)
    given = [
        PEOPLE.loc[[7], ["age", "pay"]],
        PEOPLE.loc[7, ["age", "pay"]],
        PEOPLE.loc[7, ["age", "pay"]].to_dict(),
    ]
    scores = [explain(model, row).score for row in given]
    assert scores == pytest.approx(scores[:1] * 3)
    assert {push.name for push in explain(model, given[0]).features} == {"age", "pay", "age^2", "age pay", "pay^2"}


def test_a_column_is_compared_with_the_values_of_other_rows():
    """Of a linear score, f(x) less its mean over other values of a column is w·(x − mean)."""
    frame = PEOPLE[["age", "pay"]]
    model = SVC("linear").fit(frame, RICH)
    found = explain(model, frame.iloc[[7]], label="yes", among=frame.iloc[:40])
    expected = model.coef_[0] * (frame.iloc[7] - frame.iloc[:40].mean())
    assert {push.name: push.value for push in found.columns} == pytest.approx(expected.to_dict(), abs=1e-8)


@pytest.mark.parametrize("machine", [OneClassSVM("gaussian(gamma=0.1)"), SVDD("linear"), SVDD("gaussian(gamma=0.1)")])
def test_what_is_usual(machine):
    model = make_pipeline(ENCODED, machine).fit(PEOPLE)
    found = explain(model, PEOPLE.iloc[[7]], among=PEOPLE)
    assert found.label is None
    assert found.score == pytest.approx(model.decision_function(PEOPLE.iloc[[7]])[0])
    assert {each["column"] for each in permutation_importance_of(model, PEOPLE)} == set(PEOPLE.columns)


def test_what_no_machine_of_mercer_is_inside_gets_a_sentence():
    with pytest.raises(
        TypeError, match="machine of mercer, or a pipeline or search around one; got LogisticRegression"
    ):
        explain(make_pipeline(ENCODED, LogisticRegression()).fit(PEOPLE, RICH), PEOPLE.iloc[[0]])
    with pytest.raises(NotFittedError):
        explain(GridSearchCV(SVC(), {"C": [1.0]}), PEOPLE.iloc[[0]])
    with pytest.raises(ValueError, match="gives it many"):
        explain(SVC().fit([[0.0], [1.0], [2.0]], [[0, 1], [1, 1], [1, 0]]), [1.0])


# -- support items --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "machine",
    [
        SVC("gaussian(gamma=0.5)"),
        SVC("gaussian(gamma=0.5)", strategy="ovr"),
        KernelClassifier("gaussian(gamma=0.5)"),
        Perceptron("gaussian(gamma=0.5)", random_state=0),
        Pegasos("gaussian(gamma=0.5)", random_state=0, steps=3000),
    ],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_signs_of_coefficients_tell_the_classes_of_support_items(machine, classes):
    X, y = load_iris(return_X_y=True)
    kept = y < classes
    names = np.array(["setosa", "versicolor", "virginica"])[y[kept]]
    model = machine.fit(X[kept], names)
    told = support_labels(model)
    truth = names[model.support_].tolist()
    assert all(label in (None, true) for label, true in zip(told, truth, strict=True))
    assert told.count(None) <= (0 if isinstance(model, (SVC, KernelClassifier)) else 2)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_squared_loss_has_scores_beyond_its_targets_and_tells_classes_all_the_same(classes, class_weight):
    rng = np.random.default_rng(0)
    y = rng.choice(classes, 300, p=[0.8, 0.2] if classes == 2 else [0.6, 0.3, 0.1])
    X = rng.normal(size=(300, 2)) + 1.5 * y[:, None]
    model = KernelClassifier("gaussian(gamma=0.2)", loss="squared", lam=1e-3, class_weight=class_weight).fit(X, y)
    assert (np.abs(model.decision_function(X)) > 1).any()
    assert support_labels(model) == y[model.support_].tolist()


def test_landmarks_are_of_no_class():
    X, y = load_iris(return_X_y=True)
    model = KernelClassifier("gaussian(gamma=0.5)", rank=10).fit(X, y)
    assert set(support_labels(model)) == {None}


def test_the_nearest_support_item_of_a_support_item_is_itself():
    model = make_pipeline(ENCODED, SVC("gaussian(gamma=0.1)")).fit(PEOPLE, RICH)
    place = int(model[-1].support_[0])
    near = nearest_support(model, PEOPLE.iloc[[place]], where=lambda k: f"line {k + 2}", top=2)
    assert near[0]["row"] == f"line {place + 2}"
    assert near[0]["label"] == RICH[place]
    assert near[0]["similarity"] == pytest.approx(1)
    assert nearest_support(Perceptron(random_state=0).fit([[0.0], [1.0]], [0, 1]), [1.0]) == []


# -- whole models ---------------------------------------------------------------------------------------------------


def test_importances_are_those_of_scikit_learn_and_words_stay_together():
    model = make_pipeline(ENCODED, SVC("gaussian(gamma=0.1)")).fit(PEOPLE, RICH)
    mine = permutation_importance_of(model, PEOPLE, RICH, "balanced_accuracy", seed=3)
    theirs = permutation_importance(model, PEOPLE, RICH, scoring="balanced_accuracy", n_repeats=5, random_state=3)
    assert {each["column"]: each["drop"] for each in mine} == pytest.approx(
        dict(zip(PEOPLE.columns, theirs.importances_mean, strict=True))
    )
    assert mine[0]["column"] == "age"
    assert mine == permutation_importance_of(model, PEOPLE, RICH, "balanced_accuracy", seed=3)


def test_importances_of_texts_numbers_and_arrays():
    texts = TABLE.assign(noise=0.0)
    model = SVC(Normalised(Spectrum(2)).on("word") + Linear().on("noise"), C=10).fit(texts, LABELS)
    found = permutation_importance_of(model, texts, LABELS)
    assert found[0]["column"] == "word"
    assert {each["column"]: each["drop"] for each in found}["noise"] == 0
    X, y = load_diabetes(return_X_y=True)
    found = permutation_importance_of(SVR("gaussian(gamma=5)", C=1000).fit(X[:200], y[:200]), X[200:], y[200:])
    assert {each["column"] for each in found[:2]} == {"x2", "x8"}  # bmi and s5
    assert permutation_importance_of(SVC(Spectrum(1)).fit(WORDS, LABELS), WORDS, LABELS) == []


def test_many_rows_are_drawn_from_each_class():
    from mercer.explain import some_rows

    y = np.repeat(["often", "rare"], [1950, 50])
    rows, labels = some_rows(np.arange(2000)[:, None], y, 400, seed=0, even=True)
    assert len(rows) == 400
    assert np.sum(labels == "rare") == 10
    assert (np.diff(rows[:, 0]) > 0).all()


def test_an_overview_names_what_the_model_looks_at():
    model = SVC(Spectrum(p=1)).fit(["aab", "abc", "ccd", "dcb"], ["A", "A", "D", "D"])
    found = overview(model, ["aab", "abc", "ccd", "dcb"], top=2)
    assert {(each.name, each.label) for each in found.features} == {("'a'", "A"), ("'d'", "D")}
    assert found.features[0].rows == 2
    assert {each.label for each in found.supporters} <= {"A", "D"}
    assert "features that count most" in str(found)
    assert json.loads(json.dumps(found.facts()))["features"][0]["label"] in "AD"
    several = overview(SVC(Spectrum(1)).fit(WORDS, np.arange(60) % 3), WORDS, top=5)
    assert {each.label for each in several.features} == {0, 1, 2}
    assert all(each.value > 0 for each in several.features)


def test_an_overview_of_a_line_says_which_way_a_column_pushes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = make_pipeline(StandardScaler(), KernelRegressor("linear", lam=1e-3)).fit(X, y)
    found = overview(model, X, y, top=10)
    signs = dict(zip(X.columns, np.sign(model[-1].coef_[0]), strict=True))
    assert {each.name: np.sign(each.value) for each in found.features} == signs
    assert "standard deviations" in found.notes[0]
    assert overview(LogisticRegression().fit(PEOPLE[["age"]], RICH), PEOPLE[["age"]], RICH).importances[0]["drop"] > 0.3


# -- rows that are wrong --------------------------------------------------------------------------------------------


def test_wrong_rows_are_wrong_and_the_most_wrong_come_first():
    X, y = load_iris(return_X_y=True, as_frame=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = make_pipeline(StandardScaler(), SVC("gaussian(gamma=0.3)")).fit(X, names)
    found = wrong_rows(model, X, names, lambda row: f"line {row + 2}", top=3)
    wrong = np.flatnonzero(model.predict(X) != names)
    assert 1 <= len(found) <= 3
    assert {int(each["row"].removeprefix("line ")) - 2 for each in found} <= set(wrong.tolist())
    assert all(each["label"] != each["answer"] for each in found)
    assert [each["score"] for each in found] == sorted(each["score"] for each in found)
    assert found[0]["score"] < 0
    assert list(found[0]["cells"]) == list(X.columns)
    assert found[0]["nearest"][0]["row"].startswith("training row ")
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_wrong_rows_of_numbers_strings_and_other_models():
    X, y = load_diabetes(return_X_y=True)
    model = SVR("gaussian(gamma=5)", C=1000).fit(X, y)
    found = wrong_rows(model, X, y, top=4)
    errors = np.abs(y - model.predict(X))
    assert [abs(each["score"]) for each in found] == pytest.approx(np.sort(errors)[::-1][:4], rel=1e-4)
    flipped = 1 - np.asarray(LABELS)
    strings = SVC(Spectrum(2), C=100).fit(WORDS, LABELS)
    found = wrong_rows(strings, WORDS, flipped, top=2)
    assert found[0]["cells"]["item"] in WORDS
    assert found[0]["nearest"]
    other = wrong_rows(LogisticRegression().fit(PEOPLE[["age"]], RICH), PEOPLE[["age"]], RICH[::-1])
    assert other[0]["nearest"] == []
    assert wrong_rows(strings, WORDS, strings.predict(WORDS)) == []


def test_training_rows_are_shown_only_where_they_are_recognised():
    people = pd.DataFrame({"age": [20.123456, 30, 60, 70], "shoes": [40.0, 44, 44, 40]})
    ages = ["young", "young", "old", "old"]
    bare = SVC("gaussian(gamma=0.1)").fit(people, ages)
    prepared = make_pipeline(StandardScaler(), SVC("gaussian")).fit(people, ages)
    row = people.iloc[[0]]
    assert "training row 1: age=20.12, shoes=40\n" in str(explain(bare, row))
    assert re.search(r"training row \d$", str(explain(prepared, row)))
    assert "training row 1: [20.12, 40]\n" in str(explain(clone(bare).fit(people.to_numpy(), ages), [20.123456, 40]))
    assert "age=" in str(overview(bare, people, ages))
    heads, _ = overview(prepared, people, ages).tables()["training items that count most"]
    assert heads == ["", "class", "moves a score by"]
    assert explain(prepared, row).similar[0].facts()["prepared"]
    assert not explain(bare, row).similar[0].facts()["prepared"]


def test_a_predicted_number_has_few_digits():
    X = np.linspace(0, 1, 9)[:, None]
    assert "predicted 0.333333;" in str(explain(SVR("linear", C=100, epsilon=0).fit(X, X.ravel() / 3), [1.0]))


def test_where_no_feature_has_a_name_other_rows_are_asked_for():
    X = np.linspace(0, 1, 9)[:, None]
    model = SVR("gaussian").fit(X, X.ravel())
    assert any("among=X" in note for note in explain(model, [0.5]).notes)
    assert not explain(model, [0.5], among=X).notes
    assert not explain(SVR("linear").fit(X, X.ravel()), [0.5]).notes
