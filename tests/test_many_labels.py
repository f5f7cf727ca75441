"""Many labels: each is learned as if it were alone, and scikit-learn's conventions hold for all of them together."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MultiLabelBinarizer, StandardScaler

import mercer
from mercer import SVC, KernelClassifier, KernelSearchCV, Pegasos, Perceptron
from mercer.kernels import Spectrum

X, Y = make_multilabel_classification(120, 6, n_classes=4, random_state=0)
MACHINES = [
    SVC(),
    SVC(None, C=0.5),
    SVC("polynomial(degree=2, gamma=0.02)", strategy="ovr", C=0.1),
    KernelClassifier(lam=0.01),
    KernelClassifier(None, "squared_hinge", lam=0.1),
    KernelClassifier("gaussian(gamma=0.01)", "squared", lam=0.1),
]
every_machine = pytest.mark.parametrize("machine", MACHINES, ids=repr)


@every_machine
@pytest.mark.parametrize("weighted", [False, True])
def test_each_label_is_learned_as_if_alone(machine, weighted):
    weight = np.random.default_rng(0).integers(0, 3, len(Y)).astype(float) if weighted else None
    together = clone(machine).fit(X, Y, weight)
    for label, column in enumerate(Y.T):
        alone = clone(machine).fit(X, column, weight)
        np.testing.assert_allclose(
            together.decision_function(X)[:, label], alone.decision_function(X), rtol=1e-9, atol=1e-9
        )
        assert together.objective_[label] == pytest.approx(alone.objective_[0])


@every_machine
@pytest.mark.parametrize(
    "form",
    [sparse.csr_matrix, sparse.csc_array, np.ndarray.tolist, list, lambda Y: Y.astype(bool), lambda Y: Y.astype(float),
     lambda Y: pd.DataFrame(Y, columns=list("abcd"))],
    ids=["csr", "csc", "lists", "arrays", "bool", "float", "frame"],
)  # fmt: skip
def test_every_form_of_the_same_labels(machine, form):
    expected = clone(machine).fit(X, Y)
    found = clone(machine).fit(X, form(Y))
    assert found.multilabel_
    assert found.classes_.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    np.testing.assert_array_equal(found.predict(X), (found.decision_function(X) >= 0).astype(int))
    assert found.score(X, Y) == accuracy_score(Y, found.predict(X))


def test_probabilities_of_labels_do_not_sum_to_one():
    model = KernelClassifier(lam=0.01).fit(X, Y)
    expected = 1 / (1 + np.exp(-model.decision_function(X)))
    np.testing.assert_allclose(model.predict_proba(X), expected)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), expected)


@pytest.mark.parametrize("machine", [SVC(), SVC(None), KernelClassifier(), KernelClassifier(None)], ids=repr)
def test_a_label_without_variety_is_answered_so(machine):
    table = Y.copy()
    table[:, 1], table[:, 2] = 0, 1
    with pytest.warns(UserWarning, match="in all rows") as caught:
        model = clone(machine).fit(X, table)
    told = [str(each.message) for each in caught]
    assert any("label 1 is 0 in all rows" in each for each in told)
    assert any("label 2 is 1 in all rows" in each for each in told)
    assert all(each.filename == __file__ for each in caught)
    assert (model.predict(X)[:, 1:3] == [0, 1]).all()
    assert model.converged_
    alone = clone(machine).fit(X, Y[:, 3])
    np.testing.assert_allclose(model.decision_function(X)[:, 3], alone.decision_function(X), atol=1e-9)
    if isinstance(machine, KernelClassifier):
        np.testing.assert_allclose(model.predict_proba(X)[:, 1:3], [[0.0, 1.0]] * len(X), atol=1e-15)


@pytest.mark.thorough
@every_machine
def test_a_search_gives_what_plain_fits_give(machine):
    grid = {"C": [0.1, 1.0]} if isinstance(machine, SVC) else {"lam": [0.1, 0.01]}
    for scoring in (None, "f1_micro"):
        ours = KernelSearchCV(clone(machine), grid, cv=3, scoring=scoring).fit(X, Y)
        theirs = GridSearchCV(clone(machine), grid, cv=3, scoring=scoring).fit(X, Y)
        np.testing.assert_allclose(
            ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=0.01
        )
        assert ours.predict(X).shape == Y.shape


@every_machine
def test_model_files_and_pickles(machine, tmp_path):
    model = clone(machine).fit(X, Y)
    mercer.save(model, tmp_path / "model.safetensors")
    for again in (mercer.load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_two_labels_are_not_two_classes(tmp_path):
    model = SVC().fit(X, Y[:, :2])
    assert model.predict(X).shape == (len(X), 2)
    mercer.save(model, tmp_path / "model.safetensors")
    assert mercer.load(tmp_path / "model.safetensors").predict(X).shape == (len(X), 2)
    assert SVC().fit(X, Y[:, 0]).predict(X).shape == (len(X),)
    assert model.fit(X, Y[:, 0]).predict(X).shape == (len(X),)  # a fit forgets the last one


def test_strings_share_one_matrix():
    rng = np.random.default_rng(0)
    strings = ["".join(rng.choice(list("acgt"), 20)) for _ in range(80)]
    labels = np.array([["ga" in string, "tt" in string, "c" in string[:2]] for string in strings])
    for machine in (SVC(Spectrum(p=2)), KernelClassifier(Spectrum(p=2), lam=0.01)):
        model = clone(machine).fit(strings, labels)
        for label in range(3):
            alone = clone(machine).fit(strings, labels[:, label])
            np.testing.assert_allclose(
                model.decision_function(strings)[:, label], alone.decision_function(strings), atol=2e-3
            )


def test_pipelines_and_scores():
    machine = make_pipeline(StandardScaler(), SVC())
    assert cross_val_score(machine, X, Y, cv=3).shape == (3,)
    machine.fit(X, Y)
    assert f1_score(Y, machine.predict(X), average="macro") > 0.5
    assert SVC().__sklearn_tags__().classifier_tags.multi_label
    assert not Perceptron().__sklearn_tags__().classifier_tags.multi_label


def test_warm_start_keeps_the_labels_apart():
    machine = SVC(warm_start=True, C=1.0).fit(X, Y)
    machine.set_params(C=2.0).fit(X, Y)
    np.testing.assert_allclose(machine.decision_function(X), SVC(C=2.0).fit(X, Y).decision_function(X), atol=5e-3)


@pytest.mark.parametrize("machine", [Pegasos(steps=10), Perceptron()], ids=repr)
def test_others_say_who_takes_many_labels(machine):
    with pytest.raises(ValueError, match="SVC and KernelClassifier learn many labels"):
        machine.fit(X, Y)


@pytest.mark.parametrize("sets", [[("a", "b"), ("c",)] * 60, [{"a"}, {"b"}] * 60, [[1, 2], [3]] * 60])
def test_lists_of_labels_are_sent_to_the_binarizer(sets):
    with pytest.raises(ValueError, match="MultiLabelBinarizer"):
        SVC().fit(X, sets)
    assert SVC().fit(X, MultiLabelBinarizer().fit_transform(sets)).multilabel_


def test_what_cannot_be_learned_is_said():
    with pytest.raises(ValueError, match="0 and 1"):
        SVC().fit(X, 2 * Y)
    with pytest.raises(ValueError, match="the same in all rows"):
        KernelClassifier().fit(X, np.ones_like(Y))
    with pytest.raises(ValueError, match="sample_weight"):
        SVC(class_weight="balanced").fit(X, Y)
    missing = Y.astype(float)
    missing[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        SVC().fit(X, missing)
