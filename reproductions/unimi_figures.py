"""The six figures of "Kernelized Linear Classification", from what :mod:`.unimi` has computed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from .unimi import Data

#: Models whose errors the fourth figure compares, in its order.
_LINEAR = ("Perceptron", "Pegasos", "Logistic")


def draw_figures(folder: Path, data: Data, finals: dict[str, tuple[float, float]], weights: list[np.ndarray]) -> None:
    """Write ``figure_1.png`` to ``figure_6.png``.

    Parameters
    ----------
    folder : Path
    data : Data
    finals : dict
        The training and test error of each of the ten models.
    weights : list of arrays
        Of the linear Perceptron, Pegasos and logistic classifier.
    """
    figures = (
        histograms(data),
        box_plots(data),
        correlations(data),
        errors(finals),
        linear_weights(data.names, weights),
        accuracies(finals),
    )
    for number, figure in enumerate(figures, 1):
        figure.savefig(folder / f"figure_{number}.png", dpi=120)


def _figure(title: str, width: float, height: float, rows: int = 1, columns: int = 1) -> tuple[Figure, Any]:
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.suptitle(title)
    return figure, figure.subplots(rows, columns)


def histograms(data: Data) -> Figure:
    """Figure 1: each column of all rows, and the target."""
    figure, places = _figure("Figure 1: the variables of all rows", 10, 8, 3, 4)
    for place, name, values in zip(places.flat, data.header, data.table.T, strict=False):
        place.hist(values, bins=30)
        place.set_title(name)
    places.flat[-1].set_axis_off()
    return figure


def box_plots(data: Data) -> Figure:
    """Figure 2: the columns of the training rows before outliers are removed."""
    figure, places = _figure("Figure 2: the features of the training rows", 10, 5, 2, 5)
    for place, name, values in zip(places.flat, data.header, data.table[data.training].T, strict=False):
        place.boxplot(values)
        place.set_title(name)
        place.set_xticks([])
    return figure


def correlations(data: Data) -> Figure:
    """Figure 3: Pearson's correlation of the columns of the training rows."""
    figure, place = _figure("Figure 3: correlations in the training rows", 7, 6)
    names, found = data.header[:-1], np.corrcoef(data.table[data.training, :-1].T)
    image = place.imshow(found, cmap="RdBu_r", vmin=-1, vmax=1)
    place.set_xticks(range(len(names)), names)
    place.set_yticks(range(len(names)), names)
    for (row, column), value in np.ndenumerate(found):
        place.text(
            column, row, f"{value:.2f}", ha="center", va="center", color="white" if abs(value) > 0.6 else "black"
        )
    figure.colorbar(image)
    return figure


def errors(finals: dict[str, tuple[float, float]]) -> Figure:
    """Figure 4: training and test error of the linear models and those of degree 2."""
    figure, place = _figure("Figure 4: training and test error", 9, 4.5)
    names = [*_LINEAR, *(f"{name}, degree 2" for name in _LINEAR)]
    for shift, label in enumerate(("training", "test")):
        bars = place.bar(np.arange(6) + 0.4 * shift, [finals[name][shift] for name in names], 0.4, label=label)
        place.bar_label(bars, fmt="%.3f", fontsize=8)
    place.set_xticks(np.arange(6) + 0.2, [name.replace(", ", "\n") for name in names])
    place.set_ylabel("0-1 loss")
    place.legend()
    return figure


def linear_weights(names: list[str], weights: list[np.ndarray]) -> Figure:
    """Figure 5: the weights of the linear models, side by side as they are."""
    figure, place = _figure("Figure 5: weights of the linear models", 9, 4.5)
    for k, (name, values) in enumerate(zip(_LINEAR, weights, strict=True)):
        place.bar(np.arange(len(names)) + 0.27 * k, values, 0.27, label=name)
    place.set_xticks(np.arange(len(names)) + 0.27, names)
    place.axhline(0, color="black", linewidth=0.8)
    place.legend()
    return figure


def accuracies(finals: dict[str, tuple[float, float]]) -> Figure:
    """Figure 6: accuracy of all ten on the test rows."""
    figure, place = _figure("Figure 6: test accuracy of all models", 9, 4.5)
    in_order = sorted(finals, key=lambda name: -finals[name][1])
    bars = place.barh(in_order, [1 - finals[name][1] for name in in_order])
    place.bar_label(bars, fmt="%.4f", padding=3)
    place.set_xlim(0.5, 1.05)
    return figure
