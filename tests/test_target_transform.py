"""Logarithms of targets: learned where they are of use, and in the target's own unit for everybody else."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mercer
from mercer import Conformal, KernelRegressor, KernelSearchCV
from mercer.explain import explain
from mercer.exports import deviation
from mercer.preprocess import pipeline
from mercer.search import out_of_fold
from mercer.study import RIDGES, quick_ridge, target_transform_of

rng = np.random.default_rng(0)
X = rng.uniform(-1.5, 1.5, size=(300, 6))
y = 50 * np.exp(0.7 * X.sum(axis=1) + 0.1 * rng.normal(size=300))
SKEWED = pd.DataFrame(X, columns=list("abcdef")).assign(price=y.round(3))
LEVEL = SKEWED.assign(price=X[:, 0] + rng.normal(size=300))


def in_logarithms(machine, log1p=False):
    there, back = (np.log1p, np.expm1) if log1p else (np.log, np.exp)
    return TransformedTargetRegressor(machine, func=there, inverse_func=back, check_inverse=False)


@pytest.mark.parametrize("machine", [KernelRegressor("rbf"), make_pipeline(StandardScaler(), KernelRegressor("rbf"))])
def test_a_search_shares_work_and_finds_what_scikit_learn_finds(machine):
    model = in_logarithms(machine)
    prefix = "regressor__" if isinstance(machine, KernelRegressor) else "regressor__kernelregressor__"
    grid = {prefix + "lam": [1e-4, 1e-2], prefix + "kernel": ["gaussian(gamma=0.1)", "gaussian(gamma=1)"]}
    options = {"cv": KFold(3), "scoring": "neg_root_mean_squared_error"}
    ours, theirs = (search(model, grid, **options).fit(X, y) for search in (KernelSearchCV, GridSearchCV))
    np.testing.assert_allclose(*(each.cv_results_["mean_test_score"] for each in (ours, theirs)), rtol=1e-6)
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6)
    unseen = out_of_fold(model, X, y, KFold(3).split(X))
    np.testing.assert_allclose(unseen.decisions, cross_val_predict(model, X, y, cv=KFold(3)), rtol=1e-6)


@pytest.mark.parametrize("zeros", [False, True])
def test_files_and_exports_predict_in_the_unit_of_the_target(tmp_path, zeros):
    table = mercer.read(SKEWED.assign(price=np.where(X[:, 0] < -1, 0, y) if zeros else y))
    model = pipeline(table, KernelRegressor("rbf", lam=1e-3), target_transform="log", outliers="iqr")
    model.fit(table.X, table.y)
    expected = model.predict(table.X)
    assert np.abs(expected - table.y).mean() < 0.5 * np.abs(table.y - table.y.mean()).mean()
    mercer.save(model, tmp_path / "m.safetensors")
    loaded = mercer.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(loaded.predict(table.X), expected)
    for target in ("c", "python", "onnx"):
        path = tmp_path / f"m.{target}"
        mercer.export(loaded, path, target)
        assert deviation(loaded, path, target, table.X).largest < 1e-6 * expected.max()


def test_other_functions_are_not_saved(tmp_path):
    model = TransformedTargetRegressor(KernelRegressor(), func=np.sqrt, inverse_func=np.square).fit(X, y)
    with pytest.raises(ValueError, match="numpy's log and exp"):
        mercer.save(model, tmp_path / "m.safetensors")


def test_what_adds_up_in_logarithms_is_said_to_multiply():
    model = in_logarithms(KernelRegressor("rbf")).fit(X, y)
    found = explain(model, X[0])
    assert "logarithm of the prediction" in str(found)
    with pytest.raises(ValueError, match="a function of the target; use method='cross'"):
        Conformal(model, method="jackknife+").fit(X, y)


def test_logarithms_are_learned_where_they_are_of_use():
    def asked(frame, how="auto"):
        table = mercer.read(frame)
        return target_transform_of(how, table, lambda name: quick_ridge(table, name), RIDGES, 0)[0]

    assert asked(SKEWED) == "log"
    assert asked(SKEWED, "none") == "none"
    assert asked(LEVEL) == "none"
    assert asked(SKEWED.assign(price=-SKEWED.price)) == "none"


def test_commands_learn_logarithms_and_say_so(mercer):
    SKEWED.to_csv("skewed.csv", index=False)
    trained = mercer("train kernel-ridge skewed.csv --set lam=1e-4 --target-transform log -o m.safetensors")
    ran = mercer("run m.safetensors skewed.csv --intervals 0.9")
    assert "R² 0.9" in trained.output
    assert "R² 0.9" in ran.output
    compared = mercer("compare skewed.csv --learners kernel-ridge --no-trees -o report")
    assert "--target-transform log" in compared.output
    assert "its logarithm is learned" in Path("report/report.html").read_text()
    assert "negative values" in mercer("train ridge skewed.csv -t a --target-transform log -o n.safetensors", 1).stderr
    words = SKEWED.assign(price=np.where(y > 50, "dear", "cheap"))
    words.to_csv("words.csv", index=False)
    assert "leave it out" in mercer("train svc words.csv --target-transform log -o n.safetensors", 1).stderr
    tuned = mercer("tune kernel-ridge skewed.csv -o t.safetensors")
    assert "--target-transform log" in tuned.output
