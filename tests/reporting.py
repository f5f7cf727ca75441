"""Tables and facts that the tests of the report share."""

import numpy as np
import pandas as pd

from mercer.io import Table
from mercer.study import compare

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
    quick = {"cv": 3, "repeats": 1, "trees": False}
    return compare(table, learners=list(learners), command="mercer compare made.csv", **quick | options)


def with_everything(facts):
    """The facts of a study with all that a page can show, also what other parts of the study find out."""
    random = np.random.default_rng(0)
    labels = [one["label"] for one in facts["data"]["classes"]]
    name = facts["answer"]["chosen"]
    columns = [one["name"] for one in facts["data"]["described"]]
    grid = np.linspace(0, 1, 21)
    learners = []
    for one in facts["learners"]:
        more = {
            "converged": one["name"] == name,
            "kernel": "gaussian(gamma=0.1) + <b>",
            "scores": {"balanced_accuracy": {"value": 0.87654, "low": 0.81, "high": 0.92},
                       "neg_log_loss": {"value": -0.31, "low": -0.4, "high": -0.2}},
            "importances": [{"column": column, "drop": 0.1 / (k + 1) - 0.02, "sd": 0.01}
                            for k, column in enumerate(columns)],
        }  # fmt: skip
        if labels:
            more["by_class"] = [
                {"label": label, "rows": 16, "answered": 20 * (k == 0), "precision": 0.7 if k == 0 else None,
                 "recall": 0.9 * (k == 0), "f1": 0.78 * (k == 0)} for k, label in enumerate(labels)
            ]  # fmt: skip
        if len(labels) == 2:
            more["curves"] = {
                "roc": np.c_[grid, grid**0.2].tolist(),
                "pr": np.c_[grid, 1 - grid**3 / 2].tolist(),
                "calibration": np.c_[grid[::4], grid[::4] ** 1.2, random.integers(1, 30, 6)].tolist(),
            }
        if one["name"] == name:
            label, answer = (labels[0], labels[1]) if labels else (1.5, -2.5)
            more["wrong_rows"] = [
                {"row": f"line {17 + k}", "label": label, "answer": answer, "score": -0.7 + 0.1 * k,
                 "cells": dict.fromkeys(columns, 1.5 * k) | {"remark": "a <i>long</i> text " * 20},
                 "nearest": [{"row": f"line {n}", "label": label, "similarity": 0.91} for n in range(3)]}
                for k in range(10)
            ]  # fmt: skip
        learners.append({**one, **more})
    return {
        **facts,
        "learners": learners,
        "scoring": {"name": "balanced_accuracy", "title": "balanced accuracy", "why": "The classes are <uneven>.",
                    "asked": False},
        "uneven": "95 % of the rows are of one class <&>.",
        "yardstick": {"title": "Boosted trees", "error": 0.01, "low": 0.0, "high": 0.05, "score": 0.99, "better": True,
                      "words": "Trees are better here."},
        "answer": {**facts["answer"],
                   "train_command": f"mercer train {name} 'made <&>.csv' --kernel gaussian -o made.safetensors"},
        "data": {**facts["data"],
                 "warnings": [f"warning {k} <&>" for k in range(6)],
                 "columns_read": [{"name": column, "kind": "number", "why": "numbers"} for column in columns],
                 "left_out": [{"name": "id <&>", "why": "it numbers the rows."}]},
    }  # fmt: skip
