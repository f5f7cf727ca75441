"""Models that leave: what they compute elsewhere is what they compute here, and nothing in them becomes code."""

import functools
import json
import runpy
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import mercer
from mercer import (
    SVC,
    SVDD,
    Calibrated,
    KernelCCA,
    KernelClassifier,
    KernelDiscriminant,
    KernelKMeans,
    KernelPCA,
    KernelQuantiles,
    KernelRegressor,
    Perceptron,
    SpectralClustering,
    TunedThreshold,
)
from mercer.cli.export import _TARGETS
from mercer.cli.run import _scores
from mercer.exports import TARGETS, Inputs, deviation, likely_rows, numbered, similarity, with_gaps_and_new_words
from mercer.exports.computed import computed
from mercer.io import DataError
from mercer.kernels import Equal, Gaussian, Hamming, Linear, OfStatistic
from mercer.kernels.engine import DOT, SQUARED_DISTANCE
from mercer.preprocess import DateParts, Standardised, pipeline

from . import cases
from .exported import by_onnx, compiled, scores_of_c

rng = np.random.default_rng(0)
X, NEW = rng.normal(size=(40, 3)), rng.normal(size=(30, 3))
TWO = np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")
FOUR = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0)
NUMBERS = np.sin(X[:, 0]) + X[:, 1]

#: Each kind of node is in one of these.
UNFITTED = {
    "votes": (SVC("rbf"), X, FOUR),
    "linear": (SVC(None), X, TWO),
    "one support row": (Perceptron("polynomial(degree=3, gamma=0.7)", epochs=1, random_state=0), X[:2], [0, 1]),
    "sums": (SVC("normalised(polynomial(degree=2)) + 0.5*laplacian(gamma=0.3)*matern(nu=1.5)"), X, TWO),
    "path": (Perceptron("rbf", variant="voted", random_state=0), X, FOUR),
    "path of weights": (Perceptron(None, variant="voted", random_state=0), X, FOUR),
    "ball": (SVDD("polynomial(degree=2)", nu=0.1), X),
    "learned": (KernelRegressor("laplacian", lam="loo", metric="learned"), X, X[:, 0] ** 2),
    "softmax": (KernelClassifier("quadratic(B=[[1, 0, 0], [0, 2, 0], [0, 0, 1]])"), X, FOUR),
    "costs": (KernelClassifier("rbf", costs={("no", "yes"): 5}), X, TWO),
    "quantiles": (KernelQuantiles("rbf"), X, NUMBERS),
    "two numbers": (KernelRegressor("rbf"), X, np.column_stack([NUMBERS, NUMBERS**2])),
    "many labels": (KernelClassifier("rbf"), X, np.column_stack([FOUR > 0, FOUR > 1]).astype(int)),
    "pairs": (Calibrated(SVC("rbf"), cv=2), X, FOUR),
    "isotonic": (Calibrated(SVC("rbf", strategy="ovr"), method="isotonic", cv=2), X, FOUR),
    "staircase": (Calibrated(SVC("rbf"), method="venn_abers", cv=2), X, TWO),
    "threshold": (TunedThreshold(SVC("rbf"), cv=2), X, TWO),
    "robust": (make_pipeline(RobustScaler(quantile_range=(10, 80), unit_variance=True), SVC("rbf")), X, TWO),
    "steps": (make_pipeline(StandardScaler(), PolynomialFeatures(2), MinMaxScaler(clip=True), SVC("rbf")), X, TWO),
    "drawn in": (make_pipeline(Standardised(limit=1.5), SVC("rbf")), X, TWO),
    "components": (make_pipeline(StandardScaler(), KernelPCA("rbf", 3)), X),
    "of components": (make_pipeline(KernelPCA("rbf", 3), SVC("rbf")), X, TWO),
    "clusters": (make_pipeline(StandardScaler(), KernelKMeans("rbf", 2)), X),
    "one cluster": (KernelKMeans(None, 1), X),
    "clusters of a graph": (SpectralClustering("rbf", 3), X),
    "of discriminants": (make_pipeline(KernelDiscriminant("rbf"), SVC("rbf")), X, FOUR),
    "one of two views": (KernelCCA("rbf"), X, X[:, :2] ** 2),
}


@functools.cache
def fitted(name):
    estimator, *data = UNFITTED[name]
    return clone(estimator).fit(*data)


#: What answers numbers, rather than labels.
OF_NUMBERS = ("predict", "transform")


def wanted(model, rows):
    for method in ("decision_function", "predict_proba", "predict", "transform"):
        if hasattr(model, method):
            return getattr(model, method)(rows), method
    raise AssertionError


@pytest.mark.parametrize("name", UNFITTED)
def test_python_and_onnx_compute_what_the_model_does(name, tmp_path):
    model = fitted(name)
    numbers, method = wanted(model, NEW)
    mercer.export(model, tmp_path / "m.py", to="python")
    alone = runpy.run_path(str(tmp_path / "m.py"))
    function = "probabilities" if method == "predict_proba" else "scores"
    np.testing.assert_allclose(alone[function](NEW).reshape(numbers.shape), numbers, rtol=1e-12, atol=1e-12)
    if method in OF_NUMBERS:
        np.testing.assert_allclose(alone["predict"](NEW), numbers, rtol=1e-12, atol=1e-12)
    else:
        np.testing.assert_array_equal(alone["predict"](NEW), model.predict(NEW))
    mercer.export(model, tmp_path / "m.onnx", to="onnx")
    found = by_onnx(tmp_path / "m.onnx", {"X": NEW})
    named = {"predict_proba": "probabilities", "decision_function": "scores"}.get(method, "variable")
    np.testing.assert_allclose(found[named].reshape(numbers.shape), numbers, rtol=1e-10, atol=1e-10)
    if method not in OF_NUMBERS:
        np.testing.assert_array_equal(found["label"], model.predict(NEW))
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(NEW), atol=1e-10)
    assert len(by_onnx(tmp_path / "m.onnx", {"X": NEW[:0]})[named]) == 0
    for bad, said in ((np.nan, "no finite number"), (np.inf, "infinite in row 0")):
        row = np.array([[0.0, bad, 0.0]])
        refused = by_onnx(tmp_path / "m.onnx", {"X": row})
        assert np.isnan(np.hstack([values for result, values in refused.items() if result != "label"])).all()
        assert not np.isin(refused.get("label", [None]), [*computed(model).classes, 1]).any()
        with pytest.raises(ValueError, match=said):
            alone["predict"](row)
    assert len(alone["predict"](NEW[:0])) == 0


RESHAPED = list(UNFITTED)[list(UNFITTED).index("robust") : list(UNFITTED).index("steps")]


@pytest.mark.parametrize(
    "name",
    [
        "votes",
        "sums",
        "path",
        "components",
        "clusters",
        "one cluster",
        "clusters of a graph",
        "pairs",
        "isotonic",
        "staircase",
        "steps",
        "drawn in",
        "quantiles",
        *RESHAPED,
    ],
)
def test_c_computes_what_the_model_does(name, tmp_path):
    model = fitted(name)
    numbers, method = wanted(model, NEW)
    mercer.export(model, tmp_path / "m.c", to="c")
    library = compiled(tmp_path / "m.c")
    function = "mercer_probabilities" if method == "predict_proba" else "mercer_scores"
    found = scores_of_c(library, NEW, numbers[0].size, function=function)
    np.testing.assert_allclose(found.reshape(numbers.shape), numbers, rtol=1e-12, atol=1e-12)
    if method not in OF_NUMBERS:
        rows = [(np.ctypeslib.ctypes.c_double * 3)(*row) for row in NEW]
        answers = [library.mercer_predict(row) for row in rows]
        np.testing.assert_array_equal(np.array(computed(model).classes)[answers], model.predict(NEW))
        assert library.mercer_predict((np.ctypeslib.ctypes.c_double * 3)(0, np.nan, 0)) == -1
        assert library.mercer_predict((np.ctypeslib.ctypes.c_double * 3)(0, np.inf, 0)) == -1


class RationalQuadratic(OfStatistic, named=False):
    """(1 + d²/alpha)^(−alpha)."""

    statistic = SQUARED_DISTANCE

    def __init__(self, alpha=1.5):
        self.alpha = alpha

    def apply(self, values):
        return (1 + values / self.alpha) ** -self.alpha


class Logarithmic(RationalQuadratic, named=False):
    """1/(1 + log(1 + d²)) + 1/(2 + log(alpha + d²))."""

    def apply(self, values):
        return 1 / (1 + np.log1p(values)) + 1 / (2 + np.log(self.alpha + values))


class Beyond(RationalQuadratic, named=False):
    """What no code can be written for: a kernel, for all coefficients of the series of cosh are positive."""

    statistic = DOT

    def apply(self, values):
        return np.cosh(values)


@pytest.mark.parametrize("kernel", [RationalQuadratic(), RationalQuadratic(2.0), RationalQuadratic(0.3), Logarithmic()])
def test_a_new_kernel_of_one_statistic_leaves_by_itself(kernel, tmp_path):
    model = Perceptron(kernel, epochs=1, random_state=0).fit(X, FOUR > 1)
    rows = np.vstack([NEW, X])  # in which distances are 0 too
    wanted = model.decision_function(rows)
    for name in ("m.py", "m.c", "m.onnx"):
        mercer.export(model, tmp_path / name, to={"py": "python"}.get(name[2:], name[2:]))
    found = runpy.run_path(str(tmp_path / "m.py"))["scores"](rows)
    np.testing.assert_allclose(np.ravel(found), wanted, rtol=1e-12, atol=1e-12)
    found = scores_of_c(compiled(tmp_path / "m.c"), rows, 1)
    np.testing.assert_allclose(np.ravel(found), wanted, rtol=1e-12, atol=1e-12)
    found = by_onnx(tmp_path / "m.onnx", {"X": rows})["scores"]
    np.testing.assert_allclose(np.ravel(found), wanted, rtol=1e-10, atol=1e-10)


def test_why_a_formula_stays_is_said():
    model = Perceptron(Beyond(), epochs=1).fit(X, FOUR > 1)
    with pytest.raises(DataError, match="cannot be exported: its formula uses cosh, which no code can be written for;"):
        TARGETS["python"].files(model)


REFUSED = ("matern(nu=1.0)", "rank_one", "function", "after", "periodic")


@pytest.mark.parametrize("kernel", [kernel for kernel in cases.KERNELS if kernel.always_psd], ids=str)
def test_every_kernel_on_rows_is_exported_or_refused_in_a_sentence(kernel):
    machine = Perceptron(kernel, epochs=1, random_state=0).fit(X, FOUR > 1)
    for name in ("python", "c", "onnx"):
        if str(kernel).startswith(REFUSED):
            with pytest.raises(DataError, match=r"cannot be exported: .*\.$"):
                TARGETS[name].files(machine)
        else:
            assert TARGETS[name].files(machine)[0][""]


@pytest.mark.parametrize("kernel", [kernel for kernel, _ in cases.STRUCTURED], ids=str)
def test_kernels_on_strings_sets_and_graphs_are_refused_in_a_sentence(kernel):
    with pytest.raises(DataError, match=r"cannot be exported: .* can, .*keep this model as a model file"):
        similarity(kernel, numbered(1), None, Inputs())


# -- tables of numbers and words ----------------------------------------------------------------------------------

HOSTILE = ["red", 'b"l*/ue \\', "gr??/een\n'''", "é\u202e\ud83d\ude42"[:2]]


def people():
    frame = pd.DataFrame({"a": X[:, 0], "b": 5 + 2 * X[:, 1], '*/ x"; import os\n': rng.choice(HOSTILE, 40),
                          "label": rng.choice(["p", "q"], 40)})  # fmt: skip
    gaps = frame.copy()
    gaps.loc[::7, "a"] = np.nan
    gaps.loc[::9, gaps.columns[2]] = None
    return frame, gaps


def of_words(frame, columns):
    pairs = zip(*(frame[name] for name in columns), strict=True)
    return [[None if word is None or word != word else word for word in row] for row in pairs]


@pytest.mark.parametrize("kind", ["steps", "kernel"])
def test_tables_of_numbers_and_words(kind, tmp_path):
    frame, gaps = people()
    word = frame.columns[2]
    labels = np.where((frame["a"] > 0) ^ (frame[word] == "red"), '"; import os; os.abort() #', "*/ int x; /*")
    if kind == "steps":
        numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
        words = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5)
        steps = ColumnTransformer([("n", numbers, ["b", "a"]), ("w", words, [word, "label"])])
        table, model = gaps, make_pipeline(steps, SVC("rbf")).fit(gaps, labels)
    else:
        kernel = Gaussian(gamma=0.1).on("a", "b") * Equal().on(word) + Hamming().on(word, "label") + Linear().on("b")
        table, model = frame, SVC(kernel).fit(frame, labels)
    table = pd.concat([table, table.head(1).assign(**{word: "never seen"})])
    scores, answers = model.decision_function(table), model.predict(table)
    mercer.export(model, tmp_path / "m.py", to="python")
    alone = runpy.run_path(str(tmp_path / "m.py"))
    np.testing.assert_allclose(alone["scores"](table), scores, atol=1e-12)
    np.testing.assert_array_equal(alone["predict"](table), answers)
    mercer.export(model, tmp_path / "m.c", to="c")
    library = compiled(tmp_path / "m.c")
    columns = computed(model).columns
    words = [column.name for column in columns if column.words]
    numbers = table[[column.name for column in columns if not column.words]]
    found = scores_of_c(library, numbers, 1, of_words(table, words))
    np.testing.assert_allclose(found[:, 0], scores, atol=1e-12)
    labels_of_c = (np.ctypeslib.ctypes.c_char_p * 2).in_dll(library, "mercer_labels")
    assert [label.decode() for label in labels_of_c] == model.classes_.tolist()
    mercer.export(model, tmp_path / "m.onnx", to="onnx")
    feed = {column.name: np.array([["" if each[0] is None else each[0]] for each in of_words(table, [column.name])],
                                  dtype=object) if column.words else table[[column.name]].to_numpy(float)
            for column in columns}  # fmt: skip
    feed = {"input label" if name == "label" else name: values for name, values in feed.items()}
    results = by_onnx(tmp_path / "m.onnx", feed)
    np.testing.assert_allclose(results["scores"][:, 0], scores, atol=1e-10)
    np.testing.assert_array_equal(results["label"], answers)


def test_onnx_has_no_answer_where_the_model_has_none(tmp_path):
    model = make_pipeline(OneHotEncoder(), SVC("rbf")).fit([["a"], ["b"]] * 3, ["p", "q"] * 3)
    mercer.export(model, tmp_path / "m.onnx", to="onnx")
    found = by_onnx(tmp_path / "m.onnx", {"x0": np.array([["a"], ["new"], [""]], dtype=object)})
    assert found["label"].tolist() == ["p", "", ""]
    assert np.isnan(found["scores"][:, 0]).tolist() == [False, True, True]


def test_what_files_cannot_tell_apart_is_refused(tmp_path):
    words = np.array([["a"], [""], [None]] * 3, dtype=object)
    model = make_pipeline(OneHotEncoder(), SVC("rbf")).fit(words, [0, 1, 0] * 3)
    with pytest.raises(DataError, match="ONNX cannot tell from a missing word"):
        mercer.export(model, tmp_path / "m.onnx", to="onnx")
    marked = SimpleImputer(missing_values="?", strategy="most_frequent")
    model = make_pipeline(marked, OneHotEncoder(), SVC("rbf")).fit([["a"], ["b"], ["?"]] * 3, [0, 1, 0] * 3)
    with pytest.raises(DataError, match=r"missing_values='\?' cannot be exported; replace that word by None"):
        mercer.export(model, tmp_path / "m.py", to="python")


def test_a_python_file_needs_nothing_but_numpy(tmp_path):
    frame, _ = people()
    model = SVC(Gaussian(gamma=0.1).on("a", "b") * Equal().on("label")).fit(frame, TWO)
    mercer.export(model, tmp_path / "model.py", to="python")
    (tmp_path / "rows.json").write_text(json.dumps(frame.to_dict("list")))
    program = (
        "import json, sys, runpy; alone = runpy.run_path('model.py'); "
        "print(json.dumps(alone['predict'](json.load(open('rows.json'))).tolist())); "
        "sys.exit(len({'mercer', 'sklearn', 'scipy', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == model.predict(frame).tolist()


def test_a_python_file_says_what_is_wrong_with_rows(tmp_path):
    mercer.export(fitted("votes"), tmp_path / "m.py", to="python")
    alone = runpy.run_path(str(tmp_path / "m.py"))
    with pytest.raises(ValueError, match="rows must have 3 columns"):
        alone["predict"]([[1.0, 2.0]])
    with pytest.raises(ValueError, match="score of row 1 is no finite number"):
        alone["predict"]([[1.0, 2.0, 3.0], [1.0, np.nan, 3.0]])
    with pytest.raises(ValueError, match="lack the columns"):
        alone["predict"]({"x0": [1.0]})
    mercer.export(make_pipeline(OneHotEncoder(), SVC("rbf")).fit([["01"], ["02"]], [0, 1]), tmp_path / "m.py", "python")
    with pytest.raises(ValueError, match="the column 'x0' holds words, and 1 is none: pass it as text"):
        runpy.run_path(str(tmp_path / "m.py"))["predict"]([[1]])
    with pytest.raises(ValueError, match="row 1 is no finite number"):
        runpy.run_path(str(tmp_path / "m.py"))["predict"]({"x0": ["01", np.nan]})


@pytest.mark.parametrize("target", list(TARGETS))
def test_the_same_model_gives_the_same_file(target, tmp_path):
    for name in ("one", "two"):
        mercer.export(fitted("votes"), tmp_path / name, to=target)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


# -- refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "target", "said"),
    [
        (lambda: SVC(), "c", "not fitted yet"),
        (lambda: SVC(), "libsvm", "not fitted yet"),
        (lambda: fitted("softmax"), "libsvm", "LIBSVM knows no kernel quadratic"),
        (lambda: SVC("rbf", strategy="ovr").fit(X, FOUR), "libsvm", r"train SVC\(strategy='ovo'\)"),
        (lambda: fitted("steps"), "libsvm", "no room for the steps before the machine"),
        (lambda: fitted("isotonic"), "libsvm", "probabilities by a sigmoid alone"),
        (lambda: fitted("threshold"), "libsvm", "no threshold but zero"),
        (lambda: fitted("quantiles"), "libsvm", "predicts one number a row, KernelQuantiles several"),
        (
            lambda: make_pipeline(QuantileTransformer(n_quantiles=5), SVC()).fit(X, TWO),
            "c",
            "the step QuantileTransformer cannot be exported; these can: ColumnTransformer, ",
        ),
        (lambda: SVC("matern(nu=1.0)").fit(X, TWO), "onnx", r"the kernel matern\(nu=1.0\) cannot be exported"),
        (
            lambda: mercer.Conformal(KernelRegressor()).fit(X, NUMBERS),
            "c",
            "its .estimator_, which predicts the numbers, can",
        ),
        (lambda: StandardScaler().fit(X), "c", "a sklearn.StandardScaler cannot be exported; machines of mercer can"),
    ],
)
def test_what_cannot_leave_is_refused_in_a_sentence(model, target, said, tmp_path):
    with pytest.raises(DataError, match=said):
        mercer.export(model(), tmp_path / "m", to=target)
    assert not list(tmp_path.iterdir())


def test_a_target_that_is_none(tmp_path):
    with pytest.raises(ValueError, match="there is no target 'onx'; did you mean 'onnx'"):
        mercer.export(fitted("votes"), tmp_path / "m", to="onx")


def test_labels_that_no_file_can_hold(tmp_path):
    labels = np.array(["a\0b", "c"], dtype=object)[(FOUR > 1).astype(int)]
    with pytest.raises(DataError, match="NUL, which ends a text in C"):
        mercer.export(SVC("rbf").fit(X, labels), tmp_path / "m.c", to="c")


# -- how far, and the command -------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", list(TARGETS))
def test_deviation_is_measured(target, tmp_path):
    model = SVC("rbf").fit(X, TWO)
    mercer.export(model, tmp_path / "m", to=target) if target != "c" else mercer.export(model, tmp_path / "m.c", to="c")
    path = tmp_path / ("m.c" if target == "c" else "m")
    assert deviation(model, path, target).largest < 1e-12
    other = SVC("rbf").fit(X, -NUMBERS > 0)
    assert deviation(other, path, target, NEW).largest > 0.1


def test_labels_and_probabilities_are_compared_on_gaps_and_new_words(tmp_path):
    _, gaps = people()
    words = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    steps = ColumnTransformer([("n", numbers, ["a", "b"]), ("w", words, ["label"])])
    model = make_pipeline(steps, KernelClassifier("rbf")).fit(gaps, TWO)
    rows = with_gaps_and_new_words(likely_rows(computed(model), 50), model, computed(model))
    assert rows["a"].isna().any()
    assert (rows["label"].isna() | (rows["label"] == "a word that is new")).any()
    for target in ("python", "onnx", "c"):
        mercer.export(model, tmp_path / "model.x", to=target)
        found = deviation(model, tmp_path / "model.x", target)
        assert (found.largest < 1e-10, found.of_probabilities < 1e-10, found.labels) == (True, True, 0)


def test_a_model_of_sparse_rows_behind_steps_that_do_nothing(tmp_path):
    model = Pipeline([("prepare", Pipeline([("same", "passthrough")])), ("learner", SVC("rbf"))])
    model.fit(sparse.csr_array(X), TWO)
    mercer.export(model, tmp_path / "m.py", to="python")
    assert deviation(model, tmp_path / "m.py", "python").largest < 1e-12


def test_scores_of_calibrated_models_are_those_that_the_command_shows(tmp_path):
    for model in (fitted("pairs"), fitted("staircase")):
        mercer.export(model, tmp_path / "m.py", to="python")
        np.testing.assert_allclose(runpy.run_path(str(tmp_path / "m.py"))["scores"](NEW), _scores(model, NEW))


def test_one_quantile_is_one_number_for_libsvm(tmp_path):
    model = KernelQuantiles("rbf", quantiles=[0.5]).fit(X, NUMBERS)
    mercer.export(model, tmp_path / "m", to="libsvm")
    assert deviation(model, tmp_path / "m", "libsvm", NEW).largest < 1e-12


@pytest.mark.parametrize("texts", ["sentences", "names", "molecules"])
def test_texts_leave_for_python(texts, tmp_path):
    own = np.random.default_rng(0)
    words = {
        "sentences": ["It's", "SO", "good,", "naïve", "İstanbul", "2nd", "why?", "ßee"],
        "names": ["An", "ne", "Ög"],
        "molecules": ["c1ccccc1", "C1CCCCC1", "Cl", "C(=O)O", "N"],
    }[texts]
    gap = " " if texts == "sentences" else ""
    frame = pd.DataFrame({"t": [gap.join(own.choice(words, 5)) for _ in range(60)], "n": own.normal(size=60)})
    table = mercer.read(frame.assign(y=own.choice(["a", "b"], 60)), target="y", kinds={"t": "text"})
    model = pipeline(table, Calibrated(SVC("gaussian"), cv=2)).fit(table.X, table.y)
    path = tmp_path / "model.py"
    mercer.export(model, path, to="python")
    new = pd.DataFrame({"t": [*frame["t"].iloc[::-1], "", None, "  ", "Other\tWORDS\u2009here"], "n": 0.5})
    for rows in (new, None):
        found = deviation(model, path, "python", rows)
        assert found.largest < 1e-12
        assert not found.labels
    for to in ("c", "onnx"):
        with pytest.raises(DataError, match=f"'t' holds texts, .* export to python instead of {to}, or train without"):
            mercer.export(model, tmp_path / "model", to=to)


def test_a_column_of_dates_is_named(tmp_path):
    frame = pd.DataFrame({"born": pd.date_range("2001-01-01", periods=40), "size": X[:, 0]})
    model = make_pipeline(ColumnTransformer([("d", DateParts(), ["born"])], remainder="passthrough"), SVC("rbf"))
    with pytest.raises(DataError, match=r"column 'born' holds dates, .*train without it"):
        mercer.export(model.fit(frame, TWO), tmp_path / "m.c", to="c")


def test_the_command_exports_and_compares(mercer):
    assert set(_TARGETS) == set(TARGETS)
    mercer("train svc moons:200 --kernel gaussian(gamma=1) -o m.safetensors")
    for target, name in (("c", "m.c"), ("python", "m.py"), ("onnx", "m.onnx"), ("libsvm", "m.model")):
        shown = json.loads(mercer(f"export m.safetensors --to {target} --check moons:100 --json").stdout)
        assert shown["output"] == name
        assert shown["largest_difference"] < 1e-10
    assert "the largest difference of a score on 200 rows is" in mercer("export m.safetensors --to python").stdout
    assert "would be lost" in mercer("export m.safetensors --to c -o m.safetensors", 1).stderr
    wanted = mercer("run m.safetensors moons:200 -o -").stdout.split("\n")[1:-1]
    assert "name it with --range" in mercer("import m.model -o n.safetensors").stderr
    mercer("import m.model --range m.model.range -o n.safetensors")
    found = mercer("run n.safetensors moons:200 -o - --ignore-labels").stdout.split("\n")[1:-1]
    scores = [[float(line.split(",")[2]) for line in lines] for lines in (wanted, found)]
    np.testing.assert_allclose(*scores, atol=1e-12)
