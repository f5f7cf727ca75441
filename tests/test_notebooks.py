"""What a notebook shows: a table, well formed, in which every name from the data is text."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from mercer import SVC, KernelSearchCV
from mercer.diagnostics import align, check_mercer, diagnose
from mercer.explain import explain
from mercer.kernels import Spectrum
from mercer.margins import functional_margins, vc_bound
from mercer.search import nested_cross_validation, train_validate_test

from .reporting import HOSTILE, made_facts, made_table

SCRIPT = '<script>alert("x")</script>'
WORDS, KINDS = [SCRIPT * 2, SCRIPT, "harmless", "harmlessly"] * 4, [SCRIPT, SCRIPT, "good", "good"] * 4
ROWS = np.random.default_rng(0).standard_normal((60, 2))
SIDES = np.where(ROWS[:, 0] + 0.3 * ROWS[:, 1] > 0, SCRIPT, "good")


def search():
    return KernelSearchCV(SVC("gaussian(gamma=1)"), {"C": [1, 10]}, cv=3, return_train_score=True)


def explained_row():
    frame = pd.DataFrame(ROWS, columns=[SCRIPT, "b"])
    return explain(SVC(None).fit(frame, SIDES), frame[:1])


#: What is shown, and words that must be seen in it.
SHOWN = {
    "diagnosis": (lambda: diagnose(Spectrum(p=2), WORDS, KINDS), ["verdict", "eigenvalues"]),
    "diagnosis of a callable": (lambda: diagnose("gaussian", ROWS, SIDES), ["alignment with y"]),
    "no kernel": (lambda: check_mercer(lambda x, z: abs(len(x) - len(z)), WORDS), ["not a kernel", SCRIPT]),
    "kernel": (lambda: check_mercer("spectrum(p=2)", WORDS), ["no counterexample"]),
    "alignment": (lambda: align(["spectrum(p=2)", "spectrum(p=3)"], WORDS, KINDS), ["share of the best mixture"]),
    "explained string": (lambda: explain(SVC(Spectrum(p=2)).fit(WORDS, KINDS), SCRIPT), [SCRIPT, "all else"]),
    "explained row": (explained_row, [SCRIPT, "adds"]),
    "explained without names": (lambda: explain(SVC("gaussian").fit(ROWS, SIDES), ROWS[0]), [SCRIPT, "similarity"]),
    "advice": (lambda: search().fit(ROWS, SIDES).advice_, ["advice"]),
    "nested": (lambda: nested_cross_validation(search(), ROWS, SIDES, cv=3), ["outer folds", "C = "]),
    "protocol": (lambda: train_validate_test(search(), ROWS, SIDES), ["validation"]),
    "margins": (lambda: functional_margins(ROWS, SIDES, w=[1, 1]), ["functional margins of 60 rows"]),
    "bound": (lambda: vc_bound(0.0, 11, 8000), ["VC dimension"]),
    "comparison": (lambda: made_facts(made_table(names=HOSTILE), ["perceptron"]), ["made <&>", "test error"]),
}


class Reader(HTMLParser):
    """Elements are closed in their turn, and none but those of a table are there."""

    def __init__(self):
        super().__init__()
        self.open, self.words = [], []

    def handle_starttag(self, tag, attrs):
        assert tag in {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "ul", "li"}
        assert {name for name, _ in attrs} <= {"scope"}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize("case", SHOWN)
def test_results_show_as_escaped_tables(case):
    make, expected = SHOWN[case]
    reader = Reader()
    reader.feed(make()._repr_html_())
    reader.close()
    assert reader.open == []
    seen = " ".join(reader.words)
    for words in expected:
        assert words in seen


def test_one_advice_is_a_sentence():
    one = search().fit(ROWS, SIDES).advice_[0]
    assert one._repr_html_() == f"<p>{one.message}</p>"
