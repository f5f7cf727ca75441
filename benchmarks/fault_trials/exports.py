"""Exported models beside the models themselves.

Every estimator and every kernel of ``tests/cases.py`` is fitted to small tables of two and of four classes, of numbers,
or without labels, and exported to every target. It is either refused in a sentence or computed in its place, by a C
compiler, onnxruntime, LIBSVM and a Python that has NumPy alone, on rows that it has not seen (of a voted Perceptron
on those without a vote that hangs on rounding). Kernels on strings, sets
and graphs must all be refused.

Counted are the models that were offered and those that agree: C and Python to 1e-12 of the largest score (or of the
largest sum of |coefficient·kernel value|, where scores are small differences of large numbers), ONNX in the labels of
all rows that are 1e-4 or more from a boundary, LIBSVM in labels and decision values (but for rows where classes win as
many pairs, which LIBSVM answers by the first of them), and machines that LIBSVM has trained in what this library makes
of their files.
"""

from __future__ import annotations

import tempfile
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler

import mercer
from mercer.exports import read_libsvm
from mercer.io import DataError
from reproductions.results import Results
from tests import cases
from tests.exported import answers_of_libsvm

from ._places import PythonAlone, by_c, by_onnx

#: Rows that are learned from, and that are computed.
_LEARNED, _COMPUTED = 60, 200
#: Rows nearer to a boundary than this may be answered either way.
_BOUNDARY = 1e-4
_EXACT = 1e-12


def _tables(seed: int) -> tuple[Any, Any, dict[str, Any]]:
    rng = np.random.default_rng(seed)
    X, new = rng.normal(size=(_LEARNED, 3)), rng.normal(size=(_COMPUTED, 3))
    noise = 0.3 * rng.normal(size=_LEARNED)
    two = np.where(X[:, 0] * X[:, 1] + noise > 0, '"; import os', "*/ é")
    three = (X[:, 0] + noise > 0).astype(int) + 2 * (X[:, 1] > 0.3).astype(int)
    return X, new, {"two": two, "three": three, "numbers": np.sin(X[:, 0]) + X[:, 1] + noise}


def _models(seed: int, scale: float) -> Iterator[tuple[str, Any, Any]]:
    """Fitted models with rows to compute, and what they are called."""
    X, new, targets = _tables(seed)
    several = ["two", "three"] if scale >= 0.5 else ["three"]
    for estimator in cases.ESTIMATORS:
        for name in several:
            yield f"{estimator} {name}", clone(estimator).fit(X, targets[name]), new
    for estimator in cases.REGRESSORS:
        yield str(estimator), clone(estimator).fit(X, targets["numbers"]), new
    for estimator in cases.NOVELTY:
        yield str(estimator), clone(estimator).fit(X), new
    for kernel in cases.KERNELS:
        machines = [mercer.SVC(kernel), mercer.SVC(kernel, strategy="ovr"), mercer.KernelClassifier(kernel)]
        machines += [mercer.SVDD(kernel), mercer.SVR(kernel), mercer.Perceptron(kernel, variant="voted")]
        for machine in machines if scale >= 0.5 else machines[:1]:
            y = targets["numbers"] if is_regressor(machine) else targets["three"]
            try:
                fitted = machine.fit(X, y) if not isinstance(machine, mercer.SVDD) else machine.fit(X)
            except ValueError:  # a kernel that is not positive semi-definite on these rows
                continue
            yield f"{machine}", fitted, new
    gram, beside = mercer.kernels.Gaussian(gamma=0.3)(X), mercer.kernels.Gaussian(gamma=0.3)(new, X)
    yield "SVC(precomputed)", mercer.SVC("precomputed").fit(gram, targets["three"]), beside
    for method in ("sigmoid", "isotonic", "venn_abers"):
        for strategy in ("ovo", "ovr"):
            model = mercer.Calibrated(mercer.SVC(strategy=strategy), method=method, cv=3)
            yield f"{model}", model.fit(X, targets["three"]), new
    threshold = mercer.TunedThreshold(mercer.SVC(), scoring="balanced_accuracy")
    yield "TunedThreshold", threshold.fit(X, targets["two"]), new
    steps = make_pipeline(StandardScaler(), PolynomialFeatures(2), MinMaxScaler(), mercer.SVC())
    yield "a pipeline", steps.fit(X, targets["three"]), new
    both = np.column_stack([targets["three"] > 0, targets["three"] > 1]).astype(int)
    yield "many labels", mercer.SVC().fit(X, both), new


def show(results: Results, scale: float, seed: int) -> None:
    """Export all, compute all, compare."""
    offered: dict[str, int] = defaultdict(int)
    equal: dict[str, int] = defaultdict(int)
    worst: dict[str, float] = defaultdict(float)
    refused: dict[str, int] = defaultdict(int)
    wrong: dict[str, list[str]] = defaultdict(list)
    alone = PythonAlone()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number, (name, model, rows) in enumerate(_models(seed, scale)):
            for target in ("python", "c", "onnx", "libsvm"):
                path = Path(folder) / f"m{number}.{target}"
                path = path.with_suffix(".c") if target == "c" else path
                try:
                    mercer.export(model, path, to=target)
                except DataError:
                    refused[target] += 1
                    continue
                offered[target] += 1
                apart, same = _compared(target, path, model, rows, alone)
                worst[target] = max(worst[target], apart)
                equal[target] += same
                if not same:
                    wrong[target].append(name)
        theirs, read_alike, decided, farthest = _from_libsvm(Path(folder), seed, scale)
    alone.close()
    for target, bar in {
        "python": "1e-12",
        "c": "1e-12",
        "onnx": "labels 1e-4 from a boundary",
        "libsvm": "all",
    }.items():
        note = f"{refused[target]} refused in a sentence; worst deviation {worst[target]:.1e} {wrong[target][:3] or ''}"
        ok = equal[target] == offered[target] > 0
        results.add(f"models exported to {target} that agree", f"{equal[target]} of {offered[target]}", bar, ok, note)
    for target in ("python", "c"):
        results.add(f"worst deviation, {target}", f"{worst[target]:.1e}", _EXACT, worst[target] <= _EXACT, "relative")
    told, asked = _refused_items()
    note = "strings, sets and graphs, each to every target"
    results.add("kernels on items that are refused in a sentence", f"{told} of {asked}", "all", told == asked, note)
    note = f"{decided} rows answered alike where votes do not tie; decision values within {farthest:.1e}"
    results.add("files of LIBSVM read here", f"{read_alike} of {theirs}", "all", read_alike == theirs, note)


def _refused_items() -> tuple[int, int]:
    """How many models on items that are no rows are refused in a sentence, and of how many."""
    told = asked = 0
    for kernel, items in cases.STRUCTURED:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some are not separated, which is not asked here
            model = mercer.Perceptron(kernel, random_state=0).fit(items, np.arange(len(items)) % 2)
        for target in ("python", "c", "onnx", "libsvm"):
            asked += 1
            try:
                mercer.export(model, Path(tempfile.gettempdir()) / "never", to=target)
            except DataError as error:
                told += "\n" not in str(error) and str(error).endswith(".")
    return told, asked


def _compared(target: str, path: Path, model: Any, rows: Any, alone: PythonAlone) -> tuple[float, bool]:
    """How far an exported model is from the model, and whether that is near enough."""
    by_probabilities = not is_regressor(model) and not hasattr(model, "decision_function")
    if target == "libsvm":
        return _by_libsvm(path, model, rows)
    rows = rows[_clear_votes(model, rows)]
    if is_regressor(model):
        wanted = model.predict(rows)
    else:
        wanted = model.predict_proba(rows) if by_probabilities else model.decision_function(rows)
    size = max(_size(model, rows), float(np.abs(wanted).max()))
    if target == "python":
        found, answers = alone(path, rows, by_probabilities)
        apart = float(np.abs(found.reshape(wanted.shape) - wanted).max()) / size
        exact = is_regressor(model) or np.array_equal(np.array(answers), model.predict(rows))
        return apart, apart <= _EXACT and exact
    if target == "c":
        width = 1 if wanted.ndim == 1 else wanted.shape[1]
        found = by_c(path, rows, width, by_probabilities)
        apart = float(np.abs(found.reshape(wanted.shape) - wanted).max()) / size
        return apart, apart <= _EXACT
    results = by_onnx(path, rows)
    named = "variable" if is_regressor(model) else "probabilities" if by_probabilities else "scores"
    apart = float(np.abs(results[named].reshape(wanted.shape) - wanted).max()) / size
    if is_regressor(model):
        return apart, apart <= _BOUNDARY
    clear = _far_from_boundary(model, wanted)
    return apart, bool(np.all((results["label"] == model.predict(rows))[clear]))


def _size(model: Any, rows: Any) -> float:
    """The largest Σ|coefficient·kernel value|: what rounding errors of a sum are measured against."""
    inside = getattr(model, "_model", None)
    if inside is None or getattr(inside, "items", None) is None:
        return 1.0
    matrix = np.abs(inside.kernel.matrix(inside.kernel.items(rows), inside.items))
    return max(1.0, float((matrix @ np.abs(inside.coef.T)).max()))


def _clear_votes(model: Any, rows: Any) -> Any:
    """Rows of which no model along a path has a score of nothing but rounding, which counts as ±1 in a vote."""
    clear = np.ones(len(rows), bool)
    for voter in getattr(model, "_voters", None) or []:
        similar = voter.model.kernel.matrix(voter.model.kernel.items(rows), voter.model.items)[:, voter.column]
        along = np.cumsum(similar * voter.coefficient, axis=1) + voter.bias
        clear &= (np.abs(along) > 1e-9 * np.abs(similar).max()).all(axis=1)
    return clear


def _far_from_boundary(model: Any, wanted: Any) -> Any:
    """Rows whose answer does not hang on the fourth digit."""
    if wanted.ndim == 1:
        return np.abs(wanted - getattr(model, "best_threshold_", 0.0)) > _BOUNDARY
    if getattr(model, "multilabel_", False):
        return (np.abs(wanted) > _BOUNDARY).all(axis=1)
    first, second = np.sort(wanted, axis=1)[:, [-1, -2]].T
    return first - second > _BOUNDARY


def _by_libsvm(path: Path, model: Any, rows: Any) -> tuple[float, bool]:
    from libsvm.svmutil import svm_load_model

    piped = isinstance(model, Pipeline)
    machine = model[-1] if piped else getattr(model, "estimator_", model)
    rows = model[:-1].transform(rows) if piped else rows
    loaded = svm_load_model(str(path))
    labels, values = answers_of_libsvm(loaded, rows, machine.kernel_.precomputed)
    if is_regressor(machine):
        apart = float(np.abs(labels - machine.predict(rows)).max())
        return apart, apart < 1e-9
    if not is_classifier(machine):
        apart = float(np.abs(values[:, 0] - machine.decision_function(rows)).max())
        return apart, apart < 1e-9 and bool(np.all((labels == machine.predict(rows)) | (np.abs(values[:, 0]) < 1e-9)))
    pairs = machine.pair_scores(rows) if len(machine.classes_) > 2 else machine.decision_function(rows)[:, None]
    apart = float(np.abs(values + pairs).max() / max(1.0, np.abs(pairs).max()))
    numbers = machine.classes_ if machine.classes_.dtype.kind in "iu" else np.arange(len(machine.classes_))
    answered = numbers[np.searchsorted(machine.classes_, machine.predict(rows))]
    clear = ~_tied(pairs, len(machine.classes_)) & (np.abs(pairs) > 1e-9).all(axis=1)
    return apart, apart < 1e-9 and bool(np.all((labels == answered)[clear]))


def _tied(pairs: Any, classes: int) -> Any:
    """Rows where two classes win as many pairs as no other."""
    won = np.zeros((len(pairs), classes))
    column = 0
    for first in range(classes):
        for second in range(first + 1, classes):
            won[np.arange(len(pairs)), np.where(pairs[:, column] >= 0, second, first)] += 1
            column += 1
    return (won == won.max(axis=1, keepdims=True)).sum(axis=1) > 1


def _from_libsvm(folder: Path, seed: int, scale: float) -> tuple[int, int, int, float]:
    """Machines that LIBSVM trains, read here: how many, how many alike, on how many rows, and how near."""
    from libsvm.svmutil import svm_load_model, svm_save_model, svm_train

    X, new, targets = _tables(seed)
    gram, beside = mercer.kernels.Gaussian(gamma=0.3)(X), mercer.kernels.Gaussian(gamma=0.3)(new, X)
    count = alike = decided = 0
    farthest = 0.0
    for svm in range(5):
        for kernel in range(5 if scale >= 0.5 else 3):
            targets_of = [targets["numbers"]] if svm > 1 else [np.where(X[:, 0] > 0, -1, 1), 9 - 2 * targets["three"]]
            for y in targets_of:
                rows, asked = (gram, beside) if kernel == 4 else (X, new)
                numbered = [{**({0: place} if kernel == 4 else {}), **dict(enumerate(row.tolist(), 1))}
                            for place, row in enumerate(rows, 1)]  # fmt: skip
                path = folder / "theirs.model"
                options = f"-s {svm} -t {kernel} -n 0.3 -g 0.3 -r 0.5 -q"
                svm_save_model(str(path), svm_train(y.tolist(), numbered, options))
                loaded = svm_load_model(str(path))
                labels, values = answers_of_libsvm(loaded, asked, kernel == 4)
                machine = read_libsvm(path, n_features=rows.shape[1])
                found = _decisions(machine, asked, values)
                size = max(1.0, float(np.abs(values).max()))
                apart = float(np.abs(found - values).max() / size)
                clear = np.ones(len(asked), bool)
                if svm < 2:
                    sorted_pairs = machine.pair_scores(asked) if values.shape[1] > 1 else -values
                    clear = ~_tied(sorted_pairs, len(machine.classes_)) & (np.abs(values) > 1e-9).all(axis=1)
                elif svm == 2:
                    clear = np.abs(values[:, 0]) > 1e-9
                answers = machine.predict(asked)
                same = np.abs(answers - labels) < 1e-9 if svm > 2 else answers == labels
                count += 1
                decided += int(clear.sum())
                alike += bool(apart < 1e-9 and same[clear].all())
                farthest = max(farthest, apart)
    return count, alike, decided, farthest


def _decisions(machine: Any, rows: Any, values: Any) -> Any:
    """What a machine says, in the order and with the signs that LIBSVM's decision values have."""
    if is_regressor(machine):
        return machine.predict(rows)[:, None]
    if not is_classifier(machine):
        return machine.decision_function(rows)[:, None]
    if values.shape[1] > 1:  # LIBSVM has an order of labels of its own, so sizes are compared, rank by rank
        return _matched(np.abs(machine.pair_scores(rows)), values)
    one = machine.decision_function(rows)[:, None]
    return one if np.abs(one - values).max() < np.abs(one + values).max() else -one


def _matched(sizes: Any, values: Any) -> Any:
    """Sizes of decision values with the signs and in the order of others, row by row by rank."""
    order = np.argsort(np.abs(values), axis=1)
    out = np.empty_like(values)
    np.put_along_axis(out, order, np.sort(sizes, axis=1), 1)
    return out * np.where(values < 0, -1.0, 1.0)
