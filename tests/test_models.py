"""Model files: what is loaded decides exactly as what was saved, and nothing but a whole model is loaded."""

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelClassifier, KernelRegressor, KernelSearchCV, Pegasos, Perceptron, load, save
from mercer.io import DataError, read
from mercer.kernels import Function, Quadratic
from mercer.learners import LEARNERS
from mercer.losses import Huber
from mercer.model_files import checksum as _checksum
from mercer.model_files import content_of, file_of, open_model
from mercer.preprocess import pipeline

random = np.random.RandomState(0)
X = random.standard_normal((40, 3))
TWO = np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")
THREE = np.digitize(X[:, 0], [-0.5, 0.5]) * 10

MODELS = [
    (Perceptron(random_state=0), TWO),
    (Perceptron("polynomial(degree=2)", variant="voted", random_state=0), TWO),
    (Perceptron(variant="voted", random_state=0), THREE),
    (Pegasos(steps=500, random_state=np.random.RandomState(3)), THREE),
    (Pegasos("laplacian(gamma=0.3)", loss="logistic", steps=500, checkpoints=[10], random_state=0), TWO == "yes"),
    (SVC("2*gaussian(gamma=0.3) + linear", class_weight={"yes": 2.0, "no": 1.0}), TWO),
    (SVC(kernel=None), THREE),
    (SVC(C=float("inf")), np.where(X[:, 0] > 0, 0.5, 1.5)),
    (SVC("linear", strategy="ovr"), THREE),
    (SVC(Quadratic(np.diag([1.0, 2.0, 0.1]))), TWO),
    (KernelClassifier("matern(nu=2.5)"), THREE),
    (KernelClassifier(None, "squared_hinge"), TWO),
    (KernelRegressor(loss=Huber(delta=0.5)), X[:, 2]),
    (KernelRegressor(None), X[:, 2]),
]


def answers(model, rows):
    names = ("predict", "decision_function", "predict_proba")
    return [getattr(model, name)(rows) for name in names if hasattr(model, name)]


def quietly(fit, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(*args)


def assert_same(model, path, rows, about=None):
    save(model, path, about)
    back = load(path)
    for before, after in zip(answers(model, rows), answers(back, rows), strict=True):
        np.testing.assert_array_equal(before, after)
        assert before.dtype == after.dtype
    return back


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("model", "y"), MODELS, ids=[f"{type(m).__name__}-{k}" for k, (m, _) in enumerate(MODELS)])
def test_every_machine_comes_back(tmp_path, model, y, layout):
    fitted = quietly(clone(model).fit, layout(X), y)
    back = assert_same(fitted, tmp_path / "m", layout(random.standard_normal((25, 3))))
    assert type(back) is type(fitted)
    assert getattr(back, "status_", None) == getattr(fitted, "status_", None)
    for name in ("coef_", "dual_coef_", "support_", "n_support_", "objective_"):
        assert hasattr(back, name) == hasattr(fitted, name)
        np.testing.assert_array_equal(getattr(back, name, 0), getattr(fitted, name, 0))
    assert str(back.get_params().get("kernel")) == str(fitted.get_params().get("kernel"))
    quietly(clone(back).fit, layout(X), y)


def test_a_precomputed_matrix(tmp_path):
    K = X @ X.T
    assert_same(SVC("precomputed").fit(K, TWO), tmp_path / "m", K[:5])


@pytest.mark.parametrize("name", [name for name, learner in LEARNERS.items() if not learner.prepares])
def test_every_learner_with_all_preparation(tmp_path, name):
    path = tmp_path / "t.csv"
    words = np.array(["red", "blue", "?"])[np.arange(60) % 3]
    numbers = random.standard_normal((60, 3)).round(3)
    classes = LEARNERS[name].task == "classify"
    targets = ["pq"[int(a * b > 0)] if classes else f"{a * b + a:.4f}" for a, b, _ in numbers]
    rows = zip(numbers, words, targets, strict=True)
    lines = [f"{a},{b},{2 * a},{w},{y}" for (a, b, _), w, y in rows]
    path.write_text("a,<b>,c,w,y\n" + "\n".join(lines) + "\n" + f",1,1,red,{'p' if classes else 1.5}\n")
    table = read(path)
    learner = LEARNERS[name].build()
    quick = "model__steps" if LEARNERS[name].degree > 1 else "steps"
    if "pegasos" in name:
        learner.set_params(**{quick: 200})
    model = pipeline(table, learner, impute="median", correlation=0.9, outliers="zscore", constant=True)
    quietly(model.fit, table.X, table.y)
    new = table.frame.assign(w=["green"] * 61)
    back = assert_same(model, tmp_path / "m", new, {"target": "y"})
    assert back.report_ == model.report_
    names = model.estimator_["prepare"].get_feature_names_out()
    np.testing.assert_array_equal(back.estimator_["prepare"].get_feature_names_out(), names)
    assert back.estimator_["prepare"]["correlation"].groups_ == {0: [2]}
    assert open_model(tmp_path / "m").about["target"] == "y"


@pytest.mark.parametrize(("name", "target"), [("table", "y"), ("table-regression", "a")])
def test_learners_that_prepare_by_themselves_come_back_without_outliers(tmp_path, name, target):
    path = tmp_path / "t.csv"
    lines = [f"{a:.3f},{b:.3f},{'red' if b > a else ''},{'pq'[int(a * b > 0)]}" for a, b, _ in X]
    path.write_text("a,b,w,y\n" + "\n".join(lines) + "\n90,,red,p\n")
    table = read(path, target)
    model = pipeline(table, LEARNERS[name].build(), outliers="zscore").fit(table.X, table.y)
    new = table.frame.assign(w="green")
    back = assert_same(model, tmp_path / "m", new)
    assert back.report_ == model.report_
    assert back.report_.dropped == (name == "table")  # targets are not looked at


@pytest.mark.parametrize("standardise", ["minmax", "standard", False])
def test_other_scalers_on_sparse_and_dense_tables(tmp_path, standardise):
    path = tmp_path / "t.svm"
    path.write_text("".join(f"{k % 3} {k % 50 + 1}:{k + 1}\n" for k in range(100)))
    for table in (read(path), read(path, dense=True), read("digits").take(range(200))):
        model = pipeline(table, SVC(), standardise=standardise, degree=1).fit(table.X, table.y)
        assert_same(model, tmp_path / "m", table.X)


def test_learning_can_go_on_after_loading(tmp_path):
    for machine in (Perceptron(random_state=0), Pegasos(random_state=0)):
        model = machine.partial_fit(X[:20], TWO[:20], classes=["no", "yes"])
        save(model, tmp_path / "m")
        back = load(tmp_path / "m").partial_fit(X[20:], TWO[20:])
        np.testing.assert_array_equal(back.coef_, model.partial_fit(X[20:], TWO[20:]).coef_)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SVC(), "SVC is not fitted yet"),
        (SVC(Function(lambda A, B: A @ B.T)).fit(X, TWO), "has no text form"),
        (RidgeClassifier().fit(X, TWO), "RidgeClassifier cannot be saved in a model file; these can: .* SVC, SVDD"),
        (make_pipeline(StandardScaler(), RidgeClassifier()).fit(X, TWO), "RidgeClassifier cannot be saved"),
        (
            make_pipeline(TfidfVectorizer(), SVC("linear")).fit(["old road", "new boat"], ["no", "yes"]),
            "TfidfVectorizer cannot be saved.*, such as Texts for a column of texts, or pickle.$",
        ),
        (GridSearchCV(SVC(), {"C": [1.0]}, cv=2).fit(X, TWO), "GridSearchCV cannot be saved.* its .best_estimator_"),
        (
            KernelSearchCV(SVC(), {"C": [1.0]}, cv=2).fit(X, TWO),
            "what it found can: its .best_estimator_",
        ),
    ],
    ids=["unfitted", "function", "foreign", "inside", "texts", "grid", "search"],
)
def test_what_cannot_be_saved_leaves_the_old_file(tmp_path, model, message):
    path = tmp_path / "m"
    path.write_bytes(b"precious")
    with pytest.raises(DataError, match=message):
        save(model, path)
    assert path.read_bytes() == b"precious"
    with pytest.raises(ValueError, match="must be JSON"):
        save(SVC().fit(X, TWO), path, {"x": object()})
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


@pytest.mark.parametrize("name", ["m.pkl", "m.joblib", "m.onnx", "m.json", "m.PKL"])
def test_names_of_other_kinds_of_files_are_refused(tmp_path, name):
    with pytest.raises(DataError, match=r"name it 'm\.safetensors', or use .*\.$"):
        save(SVC().fit(X, TWO), tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m"
    save(make_pipeline(StandardScaler(), SVC("gaussian")).fit(X, TWO), path)
    return path.read_bytes()


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_files_never_load(stored, tmp_path_factory, data):
    where = data.draw(st.integers(0, len(stored) - 1))
    cut = data.draw(st.booleans())
    changed = bytes([stored[where] ^ (1 << data.draw(st.integers(0, 7)))])
    damaged = stored[:where] if cut else stored[:where] + changed + stored[where + 1 :]
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(damaged)
    with pytest.raises(DataError) as caught:
        load(path)
    assert "\n" not in str(caught.value)


def rewritten(stored, change):
    """A file whose text was changed and whose checksum is right: written by somebody who means harm."""
    length = int.from_bytes(stored[:8], "little")
    content = json.loads(json.loads(stored[8 : 8 + length])["__metadata__"]["mercer"])
    arrays = dict(load_arrays(stored))
    text = json.dumps(change(content, arrays) or content)
    return save_arrays(arrays, metadata={"mercer": text, "sha256": _checksum(text, arrays)})


def machine(content):
    return content["model"]["fields"]["steps"][1][1]["fields"]


def nested(content, arrays):
    node = {"tuple": []}
    for _ in range(100):
        node = {"tuple": [node]}
    content["model"] = node


def shifted(key):
    def change(content, arrays):
        name = machine(content)["model"]["fields"][key]["array"]
        arrays[name] = arrays[name][..., :-1].copy()

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c, a: c.update(format=2), r"newer mercer \(file format 2\); update mercer"),
        (lambda c, a: c["model"].update(object="os.system"), "unknown kind of step, 'os.system'"),
        (lambda c, a: c["model"].update(object="LinearModel"), "not a whole mercer model"),
        (lambda c, a: c.update(model=[1]), "it holds no machine"),
        (lambda c, a: machine(c)["attributes"]["pairs"].append(["predict", 1]), "names an attribute 'predict'"),
        (lambda c, a: machine(c)["parameters"].update(pairs=[["__class__", 1]]), "unexpected keyword|not a whole"),
        (lambda c, a: machine(c)["model"]["fields"].update(kernel={"kernel": "__import__('os')"}), "no kernel"),
        (lambda c, a: machine(c)["model"]["fields"].update(items=None), "support rows are missing"),
        (shifted("coef"), "coef of KernelModel must be finite numbers"),
        (shifted("support"), "items of KernelModel must be"),
        (shifted("items"), "support rows do not fit its features"),
        (nested, "nested too deeply"),
        (lambda c, a: a.clear(), "not a whole mercer model"),
        (lambda c, a: c.pop("model"), "not a whole mercer model"),
    ],
)
def test_hostile_files_get_one_sentence(stored, tmp_path, change, message):
    path = tmp_path / "m.safetensors"
    path.write_bytes(rewritten(stored, lambda c, a: change(c, a) and None))
    with pytest.raises(DataError, match=message) as caught:
        load(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "data", [b"", b"hello", b"\x80\x04\x95 pickle", b"\xff" * 40, b"\x10" + bytes(7) + b"{" * 16, save_arrays({"a": X})]
)
def test_other_files_are_not_models(tmp_path, data):
    path = tmp_path / "m"
    path.write_bytes(data)
    with pytest.raises(DataError, match="'m' is not a mercer model"):
        load(path)
    with pytest.raises(DataError, match="there is no file"):
        load(tmp_path / "none")


@pytest.mark.parametrize(("model", "labels"), MODELS, ids=lambda value: type(value).__name__)
def test_a_machine_of_a_fitted_state_answers_as_the_fitted_one(model, labels):
    fitted = quietly(clone(model).fit, X, labels)
    again = type(model).from_fitted_state(fitted.fitted_state())
    for mine, theirs in zip(answers(again, X), answers(fitted, X), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    with pytest.raises(NotFittedError):
        clone(model).fitted_state()


def test_the_same_model_is_the_same_file():
    written = {file_of('{"a": "ä\\u0000"}', {"0": np.arange(3.0)}, {"signature": "s", "key": "k"}) for _ in range(20)}
    assert len(written) == 1
    assert content_of(written.pop(), "it", 10**6).text == '{"a": "ä\\u0000"}'
