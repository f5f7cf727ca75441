"""What every estimator owes to items that are not rows of numbers. scikit-learn's own checks only know arrays."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from mercer import SVC, KernelClassifier, KernelRegressor, Pegasos, Perceptron
from mercer.estimators import fingerprints

from .structured import CASES, LABELS, WORDS, Letters

ESTIMATORS = [
    Perceptron(random_state=0),
    Perceptron(variant="voted", random_state=0),
    Pegasos(steps=3000, lam=1e-2, random_state=0),
    SVC(),
    SVC(strategy="ovr", C=5.0),
    KernelClassifier(lam=1e-2),
    KernelRegressor(lam=1e-2),
    KernelRegressor(lam=1e-2, loss="huber"),
]

every = pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
everywhere = pytest.mark.parametrize("case", CASES)


def scores(model, items):
    return model.predict(items) if is_regressor(model) else model.decision_function(items)


def pick(items, index):
    if isinstance(items, list):
        return [items[k] for k in index]
    return items.iloc[list(index)] if isinstance(items, pd.DataFrame) else items[index]


def assert_close(ours, theirs, estimator):
    """Equal up to rounding, or up to the tolerance of a solver that stops early."""
    loose = isinstance(estimator, SVC)
    np.testing.assert_allclose(ours, theirs, rtol=2e-2 if loose else 1e-6, atol=1e-2 if loose else 1e-7)


@every
@everywhere
def test_fit_and_predict(estimator, case):
    kernel, items, labels = CASES[case]
    model = clone(estimator).set_params(kernel=kernel)
    assert model.fit(items, labels) is model
    assert model.kernel == kernel
    predicted = model.predict(items)
    assert predicted.shape == (len(items),)
    assert model.score(items, labels) > 0.5
    assert not hasattr(model, "n_features_in_")
    kept = model.support_vectors_
    assert type(kept) is type(items)
    assert fingerprints(kept).tolist() == fingerprints(pick(items, model.support_)).tolist()
    np.testing.assert_array_equal(scores(model, items), scores(clone(model).fit(items, labels), items))


@every
@everywhere
def test_a_prediction_does_not_depend_on_its_batch(estimator, case):
    kernel, items, labels = CASES[case]
    model = clone(estimator).set_params(kernel=kernel).fit(items, labels)
    alone = [scores(model, pick(items, [k]))[0] for k in range(5)]
    np.testing.assert_allclose(alone, scores(model, items)[:5], rtol=1e-10, atol=1e-12)
    assert model.predict(pick(items, [])).shape == (0,)


@every
@everywhere
def test_the_order_of_the_items_does_not_matter(estimator, case):
    kernel, items, labels = CASES[case]
    order = np.random.RandomState(1).permutation(len(items))
    one = clone(estimator).set_params(kernel=kernel).fit(items, labels)
    other = clone(one).fit(pick(items, order), labels[order])
    assert_close(scores(one, items), scores(other, items), estimator)


@every
@everywhere
def test_weights_are_repeated_items(estimator, case):
    kernel, items, labels = CASES[case]
    weight = np.random.RandomState(2).randint(0, 4, len(items))
    model = clone(estimator).set_params(kernel=kernel)
    repeated = pick(items, np.repeat(np.arange(len(items)), weight))
    one = clone(model).fit(repeated, labels.repeat(weight))
    other = clone(model).fit(items, labels, sample_weight=weight)
    assert_close(scores(one, items), scores(other, items), estimator)


@every
def test_labels_of_any_kind(estimator):
    if is_regressor(estimator):
        pytest.skip("labels are for classifiers")
    model = clone(estimator).set_params(kernel=Letters())
    numbered = model.fit(WORDS, LABELS).predict(WORDS)
    for names in (["no", "yes"], [False, True], ["🐈", "🐕"]):
        assert clone(model).fit(WORDS, np.array(names)[LABELS]).predict(WORDS).tolist() == [names[k] for k in numbered]
    three = np.array(["x", "y", "z"])[np.arange(len(WORDS)) % 3]
    model = clone(model).fit(WORDS, three)
    assert set(model.predict(WORDS)) <= set("xyz")
    assert model.decision_function(WORDS).shape == (len(WORDS), 3)


@every
def test_models_go_through_scikit_learn(estimator):
    model = clone(estimator).set_params(kernel=Letters(), kernel__power=0.5)
    assert model.kernel.power == 0.5
    assert cross_val_score(model, WORDS, LABELS, cv=3, error_score="raise").mean() > 0.2
    search = GridSearchCV(model, {"kernel__power": [0.5, 1.0]}, cv=3, error_score="raise")
    assert search.fit(np.array(WORDS, dtype=object), LABELS).predict(WORDS).shape == (len(WORDS),)
    lower = make_pipeline(FunctionTransformer(lambda words: [word.lower() for word in words]), clone(model))
    assert lower.fit(WORDS, LABELS).predict([WORDS[0].upper()]) == lower.predict(WORDS[:1])


@every
def test_bad_items_get_one_sentence(estimator):
    model = clone(estimator).set_params(kernel=Letters())
    with pytest.raises(NotFittedError):
        model.predict(WORDS)
    for items, labels, hint in (
        (WORDS[:10], LABELS, "inconsistent numbers of samples"),
        ([*WORDS[:9], None], LABELS[:10], "item 9 is None"),
        ([*WORDS[:9], float("nan")], LABELS[:10], "item 9 is nan"),
        ([], [], "cannot learn from no items"),
        (WORDS, None, "requires y to be passed"),
        ("word", LABELS[:4], "put it into a list"),
    ):
        with pytest.raises(ValueError, match=hint):
            clone(model).fit(items, labels)
    with pytest.raises(ValueError, match="shape"):
        clone(model).fit(WORDS, LABELS, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="item 0 is 3, not a word"):
        model.fit(WORDS, LABELS).predict([3])


def test_a_refit_on_words_forgets_the_features():
    model = SVC("linear").fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    assert model.n_features_in_ == 2
    model.set_params(kernel=Letters()).fit(WORDS, LABELS)
    assert not hasattr(model, "n_features_in_")
    assert not hasattr(model, "coef_")


def test_stages_and_partial_fits():
    model = Perceptron(Letters(), checkpoints=[1, 3], epochs=3, random_state=0).fit(WORDS, LABELS)
    stages = list(model.staged_predict(WORDS))
    assert len(stages) == 2
    np.testing.assert_array_equal(stages[-1], model.predict(WORDS))
    with pytest.raises(AttributeError, match="partial_fit"):
        model.partial_fit(WORDS, LABELS)


def test_little_memory_changes_nothing():
    for learner in (Perceptron(random_state=0), Pegasos(steps=2000, random_state=0), SVC(), KernelClassifier()):
        model = clone(learner).set_params(kernel=Letters())
        expected = clone(model).fit(WORDS, LABELS).decision_function(WORDS)
        lean = model.set_params(memory=60 * 8 * 4).fit(WORDS, LABELS)
        assert_close(lean.decision_function(WORDS), expected, learner)


def test_fingerprints_tell_content():
    import networkx as nx
    from scipy import sparse

    one, two = nx.Graph([(0, 1), (1, 2)]), nx.Graph([(2, 1), (1, 0)])
    same = [
        ("ab", np.str_("ab")),
        ({1, 2}, frozenset([2, 1])),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (one, two),
        (sparse.csr_array([[0, 1.0]]), sparse.csc_array([[0, 1.0]])),
        (("a", 3), ["a", np.int64(3)]),
    ]
    for a, b in same:
        assert (fingerprints([a]) == fingerprints([b])).all()
    apart = ["ab", b"ab", {"ab"}, ["ab"], ["a", "b"], 1, 1.5, one, nx.DiGraph(one), nx.path_graph(2), np.arange(3.0)]
    marks = fingerprints(apart)
    assert len(np.unique(marks, axis=0)) == len(apart)
    assert fingerprints([object()]) is None
