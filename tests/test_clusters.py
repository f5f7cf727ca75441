"""What clusters are worth: silhouettes, stability, numbers and columns, beside scikit-learn and counting by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import silhouette_samples
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelKMeans, KernelPCA, SpectralClustering
from mercer.clusters import neighbour_kernel, number_of_clusters, shares_of_columns, silhouettes, stability
from mercer.displays import ItemMap
from mercer.kernels import Gaussian

from .cases import STRINGS

X, GROUPS = make_blobs(150, centers=3, n_features=3, random_state=4)
RINGS = make_circles(200, noise=0.03, factor=0.4, random_state=0)[0]


def test_silhouettes_are_scikit_learns():
    steps = make_pipeline(StandardScaler(), KernelKMeans(None, 3)).fit(X)
    values, rows = silhouettes(steps, X)
    expected = silhouette_samples(steps[0].transform(X), steps.predict(X))
    np.testing.assert_array_equal(rows, np.arange(150))
    np.testing.assert_allclose(values, expected, atol=1e-7)
    kernel = Gaussian(gamma=0.1)
    values, rows = silhouettes(KernelKMeans(kernel, 3).fit(X), X, sample=60)
    assert rows.size == 60
    apart = np.sqrt(np.maximum(2 - 2 * kernel(X[rows]), 0))
    np.fill_diagonal(apart, 0)
    labels = KernelKMeans(kernel, 3).fit(X).labels_[rows]
    np.testing.assert_allclose(values, silhouette_samples(apart, labels, metric="precomputed"), atol=1e-7)
    assert not silhouettes(KernelKMeans(kernel, 1).fit(X), X)[0].any()
    assert silhouettes(KernelKMeans("spectrum(p=2)", 2).fit(STRINGS), STRINGS)[0].shape == (len(STRINGS),)


def test_clusters_come_again_where_there_are_some():
    assert stability(KernelKMeans("gaussian(gamma=0.1)", 3).fit(X), X).min() > 0.9
    noise = np.random.default_rng(0).normal(size=(150, 6))
    assert stability(KernelKMeans("gaussian(gamma=0.1)", 6).fit(noise), noise).mean() < 0.7
    with pytest.raises(TypeError, match="takes a KernelKMeans or SpectralClustering"):
        stability(SVC().fit(X, GROUPS), X)


@pytest.mark.parametrize(
    ("machine", "rows", "expected"),
    [(KernelKMeans("gaussian(gamma=0.1)"), X, 3), (SpectralClustering(neighbour_kernel(RINGS)), RINGS, 2)],
    ids=["k-means", "spectral"],
)
def test_the_number_of_clusters_is_found(machine, rows, expected):
    found = number_of_clusters(make_pipeline(StandardScaler(), machine), rows, most=5, repeats=2)
    assert found.best == expected
    assert found.numbers.tolist() == [2, 3, 4, 5]
    assert (found.gaps is None) == isinstance(machine, KernelKMeans)
    assert found.model.fit(rows)[-1].labels_.max() == expected - 1
    found.plot()
    assert str(found).count("best") == 1
    with pytest.raises(ValueError, match="3 rows have no two clusters"):
        number_of_clusters(machine, rows[:3])


def test_shares_of_columns_are_those_of_the_variance():
    labels = np.array([0, 0, 1, 1, 1])
    frame = pd.DataFrame({
        "number": [1.0, 3.0, 5.0, np.nan, 7.0],  # means 2 and 6, of all 4: between 16, in all 20
        "word": ["a", "b", "b", "b", "b"],  # τ by hand: 0.32 of pairs differ, 2/5·1/2 within clusters
        "name": list("abcde"),
        "day": pd.to_datetime(["2024-01-01"] * 2 + ["2024-02-01"] * 3),
        "same": 1,
    })  # fmt: skip
    found = shares_of_columns(frame, labels)
    assert found == pytest.approx({"day": 1.0, "number": 0.8, "word": 1 - 0.2 / 0.32, "same": 0.0})
    assert list(found) == ["day", "number", "word", "same"]


def test_a_map_shows_components_in_the_colours_of_clusters_or_classes():
    model = make_pipeline(StandardScaler(), KernelKMeans("gaussian(gamma=0.1)", 3)).fit(X)
    display = ItemMap.from_estimator(model, X, max_points=100).plot()
    assert display.points.shape == (100, 2)
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [f"cluster {k}" for k in range(3)]
    components = KernelPCA("gaussian(gamma=0.1)").fit(X)
    display = ItemMap.from_estimator(components, X, X[:, 0], measured=True).plot()
    np.testing.assert_allclose(display.points, components.transform(X), atol=1e-12)
    assert len(display.figure_.axes) == 2  # with a colour bar
