"""Columns in standard deviations, of which no single wild value decides; saved, loaded and exported with the rest."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from mercer import KernelRegressor, export, load, save
from mercer.io import Table
from mercer.preprocess import Standardised, pipeline

RNG = np.random.default_rng(0)
X = RNG.normal(3.0, 2.0, (300, 3))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_without_wild_values_it_is_scikit_learns_scaler(dtype):
    rows = X.astype(dtype)
    rows[5, 1] = np.nan
    found = Standardised().fit_transform(rows)
    np.testing.assert_allclose(found, StandardScaler().fit_transform(rows), atol=1e-6 if dtype == np.float32 else 1e-12)
    assert found.dtype == dtype


@pytest.mark.parametrize("wild", [31.8, 1e6, -1e100])
def test_a_wild_value_counts_as_eight_deviations_and_leaves_the_others_as_they_are(wild):
    """Of other columns new values are drawn in to those of the training rows."""
    rows = np.vstack([X, [wild * 10, 3.0, 3.0]])
    scaler = Standardised().fit(rows)
    np.testing.assert_allclose(scaler.transform(X), StandardScaler().fit(X).transform(X), atol=0.03)
    assert abs(scaler.transform(rows)[-1, 0]) == 8
    assert scaler.transform([[3.0, 1e9, 3.0]])[0, 1] == np.abs(scaler.transform(rows)[:, 1]).max()


def test_rare_values_that_belong_to_a_column_stay_apart():
    counts = np.repeat([0.0, 1.0, 2.0, 5.0], [970, 20, 7, 3])[:, None]  # a count that is nearly always 0
    found = Standardised().fit(counts)
    assert np.unique(found.transform(counts)).size == 4
    np.testing.assert_allclose(found.transform(counts), StandardScaler().fit_transform(counts))
    assert found.transform([[99.0]]) == found.transform([[5.0]])
    flag = np.repeat([0.0, 1.0], [999, 1])[:, None]  # the others are all the same
    np.testing.assert_allclose(Standardised().fit_transform(flag), StandardScaler().fit_transform(flag))


def test_a_limit_that_is_none_is_refused():
    with pytest.raises(ValueError, match="limit must be a number above 1"):
        Standardised(limit=0).fit(X)


def test_a_model_with_wild_values_answers_the_same_when_loaded_and_exported(tmp_path):
    rows = np.vstack([X, [[900.0, 3.0, 3.0]]])
    rare = np.repeat([0.0, 1.0, 3.0], [290, 8, 3])  # reaches farther than 8 deviations
    frame = pd.DataFrame(rows, columns=["a", "b", "c"]).assign(d=rare)
    y = frame["b"].to_numpy() + np.sin(frame["c"].to_numpy())
    table = Table("t", frame, None, y, "y")
    model = pipeline(table, KernelRegressor("gaussian(gamma=0.1)")).fit(table.X, y)
    new = frame.iloc[[0, 5, 299, 300]].assign(b=[1e9, 3.0, -50.0, 3.0])
    save(model, tmp_path / "m.safetensors")
    np.testing.assert_array_equal(load(tmp_path / "m.safetensors").predict(new), model.predict(new))
    export(model, tmp_path / "m.py", to="python")
    names: dict = {}
    exec((tmp_path / "m.py").read_text(), names)
    answers = names["predict"](new.to_dict("list"))
    np.testing.assert_allclose(answers, model.predict(new), rtol=1e-9)
    assert np.abs(model.predict(new)).max() < 20 * np.abs(y).max()
