"""An estimator that somebody writes outside the library is one class: all that is said of ours is true of it."""

import json
import pickle
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import mercer
from mercer.checks import schema
from mercer.estimators import KNOWN, KernelMachine, Regressor, Transformer, model_of
from mercer.explain import explain
from mercer.io import DataError
from mercer.problems import Iterate

rng = np.random.default_rng(0)
X, NEW = rng.normal(size=(60, 3)), rng.normal(size=(7, 3))
y = np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=60)


class GaussianProcess(Regressor):
    """The mean of a Gaussian process: (K + noise·1)·z = y."""

    fields: ClassVar = {"log_likelihood_": schema.number()}

    def __init__(self, kernel="gaussian(gamma=0.5)", *, noise=0.1, memory="1GB"):
        self.kernel, self.noise, self.memory = kernel, noise, memory

    def learn(self, data):
        n = len(data.gram)
        root = np.ones(n) if data.weight is None else np.sqrt(data.weight)
        K = root[:, None] * data.gram.rows(np.arange(n)) * root + self.noise * np.eye(n)
        z = np.linalg.solve(K, root * data.targets)
        self.log_likelihood_ = float(-0.5 * (root * data.targets @ z + np.linalg.slogdet(K)[1] + n * np.log(2 * np.pi)))
        return model_of(data, [Iterate(root * z)])


class Powers(Transformer):
    """Similarities to the mean of items, to the mean by similarity to that, and so on. It learns without labels."""

    fields: ClassVar = {"sums_": schema.numbers("scores", low=0)}

    def __init__(self, kernel="gaussian", *, n_components=3, memory="1GB"):
        self.kernel, self.n_components, self.memory = kernel, n_components, memory

    def learn(self, data):
        weight = np.ones(len(data.gram)) if data.weight is None else data.weight
        found, z = [], weight
        for _ in range(self.n_components):
            found.append(z / z.sum())
            z = weight * data.gram.matvec(found[-1])
        self.sums_ = np.array([data.gram.matvec(each).sum() for each in found])
        return model_of(data, [Iterate(each) for each in found])


FITTED = {
    "with targets": lambda: GaussianProcess().fit(X, y),
    "without": lambda: Powers("gaussian(gamma=0.5)").fit(X),
    "in a pipeline": lambda: make_pipeline(StandardScaler(), Powers(), mercer.KernelRegressor()).fit(X, y),
    "at its end": lambda: make_pipeline(StandardScaler(), Powers()).fit(X),
    "of strings": lambda: Powers("spectrum(p=2)").fit(["abab", "baba", "bbbb", "aaab"]),
}


def answer(model):
    rows = NEW if hasattr(model, "n_features_in_") else ["abba", "b"]
    return model.predict(rows) if hasattr(model, "predict") else model.transform(rows)


def test_what_is_learned_is_what_others_learn():
    theirs = GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.1), optimizer=None).fit(X, y)
    ours = GaussianProcess().fit(X, y)
    np.testing.assert_allclose(ours.predict(NEW), theirs.predict(NEW), atol=1e-10)
    assert ours.log_likelihood_ == pytest.approx(theirs.log_marginal_likelihood_value_)
    found = Powers("gaussian(gamma=0.5)").fit(X)
    np.testing.assert_allclose(found.transform(NEW)[:, 0], found.kernel_(NEW, X).mean(axis=1), atol=1e-12)


@pytest.mark.parametrize("made", FITTED.values(), ids=FITTED)
def test_it_is_saved_and_pickled(made, tmp_path):
    model = made()
    mercer.save(model, tmp_path / "model.safetensors")
    for copy in (mercer.load(tmp_path / "model.safetensors"), pickle.loads(pickle.dumps(model))):
        assert type(copy) is type(model)
        np.testing.assert_array_equal(answer(copy), answer(model))
    assert repr(clone(model)) == repr(clone(copy))


@pytest.mark.parametrize("model", [GaussianProcess(), Powers()], ids=repr)
def test_the_checks_of_scikit_learn(model):
    check_estimator(model)


def test_it_is_searched():
    grid = {"noise": [0.01, 0.1], "kernel__gamma": [0.1, 0.5]}
    theirs, ours = (search(GaussianProcess(), grid, cv=3).fit(X, y) for search in (GridSearchCV, mercer.KernelSearchCV))
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-8)
    steps = make_pipeline(Powers(), mercer.KernelRegressor("linear"))
    inside = mercer.KernelSearchCV(steps, {"powers__n_components": [2, 20]}, cv=3).fit(X, y)
    assert inside.best_params_ == {"powers__n_components": 20}


def test_its_predictions_are_explained():
    model = GaussianProcess().fit(X, y)
    told = explain(model, NEW[0])
    assert told.score == pytest.approx(model.predict(NEW[:1])[0])
    with pytest.raises(ValueError, match="explain takes a prediction apart, and Powers predicts nothing"):
        explain(Powers(n_components=1).fit(X), NEW[0])


def test_columns_are_named():
    frame = make_pipeline(StandardScaler(), Powers()).set_output(transform="pandas").fit(X).transform(NEW)
    assert list(frame.columns) == ["powers0", "powers1", "powers2"]


def test_a_file_names_a_class_and_never_imports_it(tmp_path, monkeypatch):
    mercer.save(GaussianProcess().fit(X, y), tmp_path / "model.safetensors")
    monkeypatch.delitem(KNOWN, "GaussianProcess")
    with pytest.raises(DataError, match="unknown kind of step, 'GaussianProcess'; import the module that defines it"):
        mercer.load(tmp_path / "model.safetensors")


def test_what_is_not_declared_is_not_saved_in_silence(tmp_path):
    model = GaussianProcess().fit(X, y)
    model.more_ = 1.0
    with pytest.raises(DataError, match=r"attribute more_, .*; write fields = \{'more_': schema\.number\(\)\}"):
        mercer.save(model, tmp_path / "model.safetensors")


def test_what_is_declared_is_checked(tmp_path):
    model = Powers().fit(X)
    model.sums_ = np.array([1.0, 2.0])
    with pytest.raises(DataError, match=r"sums_ of Powers must be finite numbers of at least 0 \(scores\)"):
        mercer.save(model, tmp_path / "model.safetensors")


def test_names_of_the_library_keep_their_meaning(tmp_path):
    ours = mercer.SVR

    class SVR(GaussianProcess):
        pass

    class Pipeline(GaussianProcess):
        pass

    assert KNOWN["SVR"] is ours
    for cls in (SVR, Pipeline):
        with pytest.raises(DataError, match=f"has the name {cls.__name__} in model files; rename yours to save it"):
            mercer.save(cls().fit(X, y), tmp_path / "model.safetensors")
    del KNOWN["Pipeline"]


def test_a_base_of_others_has_no_name():
    class Shared(KernelMachine, named=False):
        pass

    class Own(Shared):
        def __init__(self, kernel="gaussian", memory="1GB"):
            self.kernel, self.memory = kernel, memory

    assert "Shared" not in KNOWN
    assert KNOWN.pop("Own") is Own
    with pytest.raises(NotImplementedError, match=r"Own should learn: write a method learn\(data\)"):
        Own().fit(X)


def test_the_command_line_says_what_is_in_the_file(tmp_path):
    from click.testing import CliRunner

    from mercer.cli import main

    mercer.save(Powers().fit(X), tmp_path / "model.safetensors")
    told = CliRunner().invoke(main, ["inspect", str(tmp_path / "model.safetensors")])
    assert told.exit_code == 0, told.output
    assert "components" in told.output
    said = CliRunner().invoke(main, ["inspect", str(tmp_path / "model.safetensors"), "--json"])
    assert json.loads(said.output)["machine"] == "Powers"
