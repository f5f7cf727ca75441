"""A kernel is its class: everything else that the library knows of it follows."""

import gc
from collections import Counter

import numpy as np
import pytest

from mercer import SVC, KernelSearchCV, kernels
from mercer.explain import explain
from mercer.io import DataError, Table
from mercer.kernels import (
    Cosine,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Name,
    Polynomial,
    Sigmoid,
    Strings,
    parse,
    registered,
)
from mercer.learners import kernels_for, refuse_unfit
from mercer.model_files import load, save

from .structured import LABELS, WORDS


class Vowels(Kernel):
    """How many pairs of equal vowels two strings have: a kernel that the library has never heard of."""

    collection = Strings
    aliases = ("vowel_count",)

    def __init__(self, vowels: str = "aeiou") -> None:
        self.vowels = vowels

    def evaluate(self, tile):
        return self.features(tile.left) @ self.features(tile.right).T

    def diag(self, A):
        return (self.features(A) ** 2).sum(axis=1)

    def features(self, A):
        return np.array([[float(text.count(vowel)) for vowel in self.vowels] for text in A])

    def named_features(self, A):
        counts = [Counter(letter for letter in text if letter in self.vowels) for text in A]
        return [{Name(letter): float(times) for letter, times in each.items()} for each in counts]

    @classmethod
    def suggestions(cls, items):
        return [(9, "vowels")]


def test_a_new_kernel_is_known_by_its_class(tmp_path):
    assert parse("2*vowels(vowels='ae') + vowel_count") == 2 * Vowels("ae") + Vowels()
    model = SVC("vowels").fit(WORDS, LABELS)
    path = tmp_path / "model.safetensors"
    save(model, path)
    assert load(path).kernel_ == Vowels()
    np.testing.assert_array_equal(load(path).decision_function(WORDS), model.decision_function(WORDS))
    search = KernelSearchCV(SVC("vowels"), {"C": [0.1, 1], "kernel__vowels": ["a", "aeiou"]}, cv=3).fit(WORDS, LABELS)
    assert set(search.best_params_) == {"C", "kernel__vowels"}
    named = explain(model, "aabbe")
    assert {push.name for push in named.features} <= {"a", "e"}
    assert named.intercept + sum(push.value for push in named.features) == pytest.approx(named.score)


def test_a_new_kernel_is_suggested_and_listed():
    table = Table("words", None, items=Strings.of(WORDS), kind="strings")
    assert kernels_for(table)[0] == "normalised(spectrum(p=3))"
    assert kernels_for(table)[-1] == "vowels"
    with pytest.raises(DataError, match=r"kernels on strings are .*spectrum.*vowels"):
        refuse_unfit(Linear(), table)


def test_a_class_that_is_gone_is_forgotten():
    class Passing(Linear):
        pass

    assert parse("passing") == Passing()
    del Passing
    gc.collect()
    with pytest.raises(ValueError, match="there is no kernel 'passing'"):
        parse("passing")


def test_names_of_the_library_keep_their_meaning():
    with pytest.raises(TypeError, match=r"'gaussian' belongs to mercer\.kernels\.vectors\.Gaussian; give .* another"):
        type("Gaussian", (Linear,), {"__module__": "elsewhere"})
    with pytest.raises(TypeError, match="'rbf' belongs to"):
        type("Mine", (Linear,), {"__module__": "elsewhere", "aliases": ("rbf",)})
    assert parse("gaussian") == Gaussian()


def test_every_kernel_with_a_name_is_exported():
    ours = {kernel for kernel in registered() if kernel.__module__.startswith("mercer.")}
    assert ours <= {getattr(kernels, name) for name in kernels.__all__}
    assert len(ours) > 20


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("rbf", Gaussian()),
        ("RBF(gamma=2)", Gaussian(2)),
        ("rbf_kernel(0.5)", Gaussian(0.5)),
        ("poly", Polynomial()),
        ("polynomial_kernel(degree=3)", Polynomial(3)),
        ("laplacian_kernel", Laplacian()),
        ("linear_kernel", Linear()),
        ("cosine_similarity", Cosine()),
        ("sigmoid_kernel", Sigmoid()),
    ],
)
def test_names_that_scikit_learn_gives(text, kernel):
    assert parse(text) == kernel


@pytest.mark.parametrize(("name", "near"), [("gausian", "gaussian"), ("RFB", "rbf"), ("polinomial", "polynomial")])
def test_a_misspelt_name_suggests_the_nearest(name, near):
    with pytest.raises(ValueError, match=f"there is no kernel '{name}'; the nearest name is '{near}'"):
        parse(name)


def test_notebooks_show_what_a_kernel_is():
    shown = (Gaussian(gamma=0.5) + 2 * Vowels("<a>"))._repr_html_()
    assert "<code>gaussian(gamma=0.5) + 2*vowels(vowels=&#x27;&lt;a&gt;&#x27;)</code>" in shown
    assert '<th scope="row">Gaussian</th><td>gamma=0.5</td><td>exp(−gamma·‖x − z‖²).</td>' in shown
    assert "<a>" not in shown
