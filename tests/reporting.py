"""Tables and facts that the tests of the report share."""

import numpy as np
import pandas as pd

from mercer.io import Table
from mercer.report import compare

#: Names as a hostile file may have them.
HOSTILE = ['<script>alert("x")</script>', "$x_1$ & 'y'", '=HYPERLINK("http://example.org")']


def made_table(rows=160, classes=2, names=("a", "b", "c"), word_column=None, seed=0):
    """Points around one centre for each class, with a column of words where asked for."""
    random = np.random.default_rng(seed)
    codes = np.arange(rows) % classes
    angle = 2 * np.pi * codes / classes
    X = random.standard_normal((rows, len(names)))
    X[:, 0] += 2 * np.cos(angle)
    X[:, 1] += 2 * np.sin(angle)
    frame = pd.DataFrame(X, columns=list(names))
    if word_column:
        frame[word_column] = pd.Categorical(np.where(codes == 0, "<b>zero</b>", "other"))
    labels = np.array([f"class {code} <&>" for code in codes])
    return Table("made <&>", frame, None, labels, "kind", ("the file said <i>hello</i>",), "made.csv", "0" * 64)


def made_facts(table, learners=("perceptron", "pegasos-2", "svc"), **options):
    return compare(table, learners=list(learners), cv=3, command="mercer compare made.csv", **options)
