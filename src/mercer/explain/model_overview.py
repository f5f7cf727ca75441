"""What a fitted model looks at, as a whole: columns, named features, kernels and the training items that count most."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted

from ..checks.folds import drawn_evenly
from ..checks.labels import plain_label
from ..checks.tables import chosen
from ..composition import machine_of
from ..estimators.base import KernelMachine
from ..estimators.model import KernelModel
from ..kernels import Kernel, Mixture
from ..kernels.engine.tiles import length
from ..presentation import Markup, table_html, tag
from ..runtime.arrays import Array
from .explanation import as_frame
from .opened_model import OpenedModel, Supporter, feature_weights, marked_features, support_items, support_labels

# What each kernel of a mixture does in a fitted machine.
#
# With the weights β of a mixture Σ βₘkₘ/scaleₘ, w has a part wₘ in the features of each kernel. What they cost is
# ‖w‖² = Σ βₘ·zᵀKₘz/scaleₘ, summed over the scores of a machine with several: the share of a kernel in that.


class KernelShare(NamedTuple):
    """A kernel, its weight, and its share of ‖w‖²."""

    kernel: Kernel
    weight: float
    share: float


@dataclass(frozen=True)
class KernelShares:
    """The kernels of a mixture, those with the largest share first; printing it gives the table."""

    kernels: list[KernelShare]

    def __str__(self) -> str:
        lines = ["weight   share of ‖w‖²  kernel"]
        return "\n".join(lines + [f"{each.weight:6.4f}  {each.share:14.4f}  {each.kernel}" for each in self.kernels])

    def _repr_html_(self) -> Markup:
        rows = [[each.kernel, f"{each.weight:.4g}", f"{each.share:.4g}"] for each in self.kernels]
        return table_html("mixture of kernels", rows, heads=["kernel", "weight", "share of ‖w‖²"])


def kernel_shares(model: Any) -> KernelShares:
    """Weights and shares of the kernels that a machine has mixed.

    Parameters
    ----------
    model : fitted estimator of mercer
        Its kernel is a :class:`~mercer.kernels.Mixture`.

    Returns
    -------
    KernelShares

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> from mercer.explain import kernel_shares
    >>> from mercer.kernels import Linear, Mixture
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = SVC(Mixture([Linear().on(0), Linear().on(1)], weights=[1.0, 0.0])).fit(X, X[:, 0] > 0)
    >>> print(kernel_shares(model))
    weight   share of ‖w‖²  kernel
    1.0000          1.0000  linear.on(0)
    0.0000          0.0000  linear.on(1)
    """
    if not isinstance(model, KernelMachine):
        raise TypeError(f"kernel_shares takes a fitted machine of mercer, got {type(model).__name__}.")
    check_is_fitted(model, "_model")
    kernel = model.kernel_
    if not isinstance(kernel, Mixture):
        raise ValueError(f"kernel_shares needs a machine with a mixture of kernels; this one has {kernel}.")
    items, z = model._model.items, model._model.coef.T
    costs = np.zeros(len(kernel.kernels))
    for place, (part, form) in enumerate(zip(kernel.kernels, kernel.part_items(items), strict=True)):
        if kernel.factors[place] > 0:
            costs[place] = kernel.factors[place] * np.vdot(z, part.product(form, form, z))
    shares = costs / costs.sum() if costs.any() else costs
    found = [KernelShare(*each) for each in zip(kernel.kernels, kernel.weights_.tolist(), shares.tolist(), strict=True)]
    return KernelShares(sorted(found, key=lambda each: -each.share))


# How much a model needs each column: how much worse it predicts once the column is shuffled.


#: Rows that are looked at, and how often each column is shuffled.
ROWS, REPEATS = 500, 5
#: Comparisons of a row with a support item, in all; fewer repeats and then fewer rows keep to it, down to a few.
_COMPARISONS, _FEWEST_ROWS = 2e8, 100
#: Predictions that are made in all, about, and the widest rows whose columns are shuffled.
_PREDICTIONS, _WIDEST = 1000, 1000


def permutation_importance_of(
    model: Any,
    X: Any,
    y: Any = None,
    scoring: Any = None,
    seed: int = 0,
    *,
    repeats: int = REPEATS,
    max_rows: int = ROWS,
) -> list[dict[str, Any]]:
    """The columns of a table by how much a fitted model needs them.

    Columns are shuffled as they are given, before anything is prepared: the one-hot codes of a categorical column
    stay together, and a column of texts is shuffled like any other. Some rows are drawn where there are many, and
    columns are shuffled fewer times where they are many.

    Parameters
    ----------
    model : fitted estimator
    X : frame, array or sparse matrix
        Best rows that the model was not fitted on: of others it may know by heart what it does not need.
    y : array, optional
        Their targets; not needed for an outlier detector.
    scoring : str or callable, optional
        A scorer of scikit-learn. By default accuracy for classes and the root mean squared error for numbers; of a
        detector of outliers, how far the scores of rows move.
    seed : int, default=0
    repeats : int, default=5
    max_rows : int, default=500

    Returns
    -------
    list of dict
        ``"column"``, ``"drop"``: by how much the score falls where the column is shuffled, ``"sd"``: its standard
        deviation over the repeats; the largest drop first. Empty for strings, sets and graphs, which have no columns,
        for a precomputed kernel, and for rows of more than 1000 columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer import SVC
    >>> from mercer.explain import permutation_importance_of
    >>> frame = pd.DataFrame({"noise": [3.0, 1, 2, 1, 3, 2], "signal": [0.0, 0, 0, 9, 9, 9]})
    >>> model = SVC("gaussian(gamma=0.1)").fit(frame, list("aaabbb"))
    >>> [each["column"] for each in permutation_importance_of(model, frame, list("aaabbb"))]
    ['signal', 'noise']
    """
    from sklearn.inspection import permutation_importance

    names = column_names(model, X)
    if not names:
        return []
    targets = None if y is None or is_outlier_detector(model) else np.asarray(y)
    rows = as_frame(X) if hasattr(X, "columns") else X
    repeats, count = affordable(model, len(names), repeats, min(max_rows, X.shape[0]))
    rows, targets = some_rows(rows, targets, count, seed, even=is_classifier(model))
    if sparse.issparse(rows):
        rows = rows.toarray()
    found = permutation_importance(
        model, rows, targets, scoring=_scorer(model, rows, scoring), n_repeats=repeats, random_state=seed
    )
    drops = zip(names, found.importances_mean.tolist(), found.importances_std.tolist(), strict=True)
    return sorted(
        ({"column": name, "drop": drop, "sd": sd} for name, drop, sd in drops),
        key=lambda each: -float(f"{each['drop']:.9g}"),
    )


def column_names(model: Any, X: Any) -> list[str]:
    """The names of the columns that can be shuffled; none where there are no columns, or too many."""
    kernel = getattr(machine_of(model), "kernel_", None)
    if getattr(kernel, "precomputed", False) or len(getattr(X, "shape", ())) != 2 or X.shape[1] > _WIDEST:
        return []
    return [str(name) for name in X.columns] if hasattr(X, "columns") else [f"x{k}" for k in range(X.shape[1])]


def affordable(model: Any, columns: int, repeats: int, rows: int) -> tuple[int, int]:
    """How often columns are shuffled, and on how many rows, within a bounded number of comparisons."""
    machine = machine_of(model)
    machine = getattr(machine, "machine_", machine)  # that of an estimator of tables
    inside = max(1, len(getattr(machine, "support_", ())))
    each = columns * inside
    repeats = max(1, min(repeats, _PREDICTIONS // columns))
    while repeats > 1 and each * rows * repeats > _COMPARISONS:
        repeats -= 1
    return repeats, min(rows, max(_FEWEST_ROWS, int(_COMPARISONS / (each * repeats))))


def some_rows(X: Any, y: Array | None, count: int, seed: int, *, even: bool) -> tuple[Any, Array | None]:
    """So many of the rows, drawn at random in their order; ``even``: each class with its share where it has several."""
    number = X.shape[0] if hasattr(X, "shape") else len(X)
    if number <= count:
        return X, y
    if y is None or not even:
        kept = np.sort(train_test_split(np.arange(number), train_size=count, random_state=seed)[0])
    else:
        kept = np.sort(drawn_evenly(y, seed, train_size=count)[0])
    return chosen(X, kept), None if y is None else y[kept]


def _scorer(model: Any, rows: Any, scoring: Any) -> str | Callable[..., float]:
    if scoring is not None:
        return scoring
    if is_outlier_detector(model):
        before = model.decision_function(rows)
        return lambda fitted, changed, _: -float(np.mean(np.abs(fitted.decision_function(changed) - before)))
    return "accuracy" if is_classifier(model) else "neg_root_mean_squared_error"


#: Classes whose features are listed one by one.
_CLASSES = 20
#: Comparisons of rows with support items that tell which items count most, and rows that are compared at least.
_COMPARED, _FEWEST = 300_000, 50


class NamedFeature(NamedTuple):
    """A feature, the class it speaks for, by how much it moves the score of a row that has it, and how many have it.

    Where it may be positive or negative, as a number less its mean is, larger values speak for that class. ``label`` is
    ``None`` where numbers are predicted; the feature makes them larger where ``value`` is positive.
    """

    name: str
    label: Any
    value: float
    rows: int


@dataclass(frozen=True)
class ModelOverview:
    """What a model looks at. Printing it gives the tables.

    Attributes
    ----------
    rows : int
        How many of the given rows were looked at.
    importances : list of dict
        As :func:`permutation_importance_of` returns them.
    features : list of NamedFeature
        Those that set the scores of the rows apart most, the strongest first; of several classes some for each.
    kernels : list of KernelShare
        Of a mixture of kernels.
    supporters : list of Supporter
        The training items that move the scores of the rows most; ``value`` is by how much on average, and
        ``similarity`` how much a row is like it on average.
    notes : list of str
    """

    rows: int
    importances: list[dict[str, Any]]
    features: list[NamedFeature]
    kernels: list[KernelShare]
    supporters: list[Supporter]
    notes: list[str] = field(default_factory=list)

    def facts(self) -> dict[str, Any]:
        """Everything as plain dictionaries and lists."""
        return {
            "rows": self.rows,
            "importances": self.importances,
            "features": [each._asdict() for each in self.features],
            "kernels": [{**each._asdict(), "kernel": str(each.kernel)} for each in self.kernels],
            "supporters": [each.facts() for each in self.supporters],
            "notes": self.notes,
        }

    def tables(self) -> dict[str, tuple[list[str], list[list[str]]]]:
        """What there is to show: by title, the names of the columns and the rows of cells."""
        shown: dict[str, tuple[list[str], list[list[str]]]] = {}
        if self.importances:
            shown["how much worse it gets where a column is shuffled"] = (
                ["column", "worse by", "±"],
                [[each["column"], f"{each['drop']:.4g}", f"{each['sd']:.2g}"] for each in self.importances],
            )
        if self.features:
            label = [] if self.features[0].label is None else ["class"]
            shown["features that count most"] = (
                ["feature", *label, "adds", "rows"],
                [[e.name, *[str(e.label)] * len(label), f"{e.value:+.4g}", str(e.rows)] for e in self.features],
            )
        if self.kernels:
            shown["mixture of kernels"] = (
                ["kernel", "weight", "share of ‖w‖²"],
                [[str(each.kernel), f"{each.weight:.4g}", f"{each.share:.4g}"] for each in self.kernels],
            )
        if self.supporters:
            label = [] if self.supporters[0].label is None else ["class"]
            item = ["item"] if any(each.words for each in self.supporters) else []
            shown["training items that count most"] = (
                ["", *label, "moves a score by", *item],
                [
                    [e.where, *[str(e.label)] * len(label), f"{e.value:.4g}", *[e.words] * len(item)]
                    for e in self.supporters
                ],
            )
        return shown

    def __str__(self) -> str:
        lines: list[str] = []
        for title, (heads, rows) in self.tables().items():
            widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
            lines += [f"{title}:"]
            lines += ["  " + "  ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)).rstrip() for r in rows]
        return "\n".join([*lines, *self.notes])

    def _repr_html_(self) -> Markup:
        tables = [table_html(title, rows, heads=heads) for title, (heads, rows) in self.tables().items()]
        return tag("div", tables, [tag("p", note) for note in self.notes])


def overview(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    scoring: Any = None,
    top: int = 10,
    names: Sequence[str] | None = None,
    seed: int = 0,
    max_rows: int = ROWS,
) -> ModelOverview:
    """What a fitted model looks at in some rows.

    Parameters
    ----------
    model : fitted estimator
        A machine of mercer, or a pipeline, search or calibration around one. Of other estimators only the importances
        of columns are told.
    X : frame, array, sparse matrix or collection of strings, sets or graphs
    y : array, optional
        Targets of the rows; without them there are no importances, but for an outlier detector.
    scoring : str or callable, optional
        As for :func:`permutation_importance_of`.
    top : int, default=10
        How many columns, features and training items are named.
    names : sequence of str, optional
        What the columns of sparse rows are called; x0, x1, … by default.
    seed : int, default=0
    max_rows : int, default=500
        More rows than this are not looked at; those that are, are drawn at random.

    Returns
    -------
    ModelOverview

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.explain import overview
    >>> from mercer.kernels import Spectrum
    >>> words = ["abab", "baba", "cdcd", "dcdc"]
    >>> model = SVC(Spectrum(p=2), C=10).fit(words, ["left", "left", "right", "right"])
    >>> [(each.name, each.label) for each in overview(model, words, top=2).features]
    [("'ab'", 'left'), ("'ba'", 'left')]
    """
    judged = y is not None or is_outlier_detector(model)
    importances = permutation_importance_of(model, X, y, scoring, seed, max_rows=max_rows) if judged else []
    if names is not None:
        called = {f"x{k}": name for k, name in enumerate(names)}
        importances = [{**each, "column": called.get(each["column"], each["column"])} for each in importances]
    some, _ = some_rows(X, None if y is None else np.asarray(y), max_rows, seed, even=is_classifier(model))
    number = length(some)
    try:
        opened = OpenedModel(model, names)
    except (TypeError, ValueError) as refusal:
        return ModelOverview(number, importances[:top], [], [], [], [str(refusal)])
    items = opened.items(some)
    features, notes = _features(opened, items, top)
    mixed = isinstance(opened.machine.kernel_, Mixture) and isinstance(opened.machine._model, KernelModel)
    return ModelOverview(
        rows=number,
        importances=importances[:top],
        features=features,
        kernels=kernel_shares(opened.machine).kernels if mixed else [],
        supporters=_supporters(opened, items, top),
        notes=[
            note for note in (opened.units if features else "", opened.threshold, opened.logarithms, *notes) if note
        ],
    )


def _features(opened: OpenedModel, items: Any, top: int) -> tuple[list[NamedFeature], list[str]]:
    """The features that set the scores of the items apart: by the variance of wₖφₖ(xᵢ) over the items xᵢ."""
    values = marked_features(opened, items)
    if values is None:
        return [], []
    classes = [plain_label(label) for label in getattr(opened.machine, "classes_", [None])]
    if len(classes) <= 2:
        found, left_out = _strongest(opened, classes[-1], classes[0] if len(classes) == 2 else None, values, top)
    else:
        found, left_out = [], 0
        for label in classes[:_CLASSES]:
            some, left_out = _strongest(opened, label, None, values, max(1, min(top, 3)), positive=True)
            found += some
    notes = []
    if left_out:
        notes.append(f"{left_out} support items that count least are left out of the features: there are too many.")
    if len(classes) > _CLASSES:
        notes.append(f"Features are listed for the first {_CLASSES} of {len(classes)} classes.")
    return found, notes


def _strongest(
    opened: OpenedModel, label: Any, other: Any, values: list[dict[Any, float]], top: int, positive: bool = False
) -> tuple[list[NamedFeature], int]:
    """The strongest features for a class, or for the ``other`` one; ``positive``: those that speak for it alone."""
    weights, left_out = feature_weights(opened, opened.direction(label).signs)
    if weights is None:
        return [], 0
    size: dict[str, float] = defaultdict(float)
    total: dict[str, float] = defaultdict(float)
    squares: dict[str, float] = defaultdict(float)
    lean: dict[str, float] = defaultdict(float)
    rows: dict[str, int] = defaultdict(int)
    for each in values:
        pushed: dict[str, float] = defaultdict(float)
        for name, value in each.items():
            push = weights.get(name, 0.0) * value
            pushed[name.text] += push
            lean[name.text] += push if value > 0 else -push
        for text, push in pushed.items():
            size[text] += abs(push)
            total[text] += push
            squares[text] += push**2
            rows[text] += 1
    variance = {text: squares[text] / len(values) - (total[text] / len(values)) ** 2 for text in rows}
    strongest = sorted(
        (text for text in variance if lean[text] > 0 or (lean[text] < 0 and not positive)),
        key=lambda text: (-float(f"{variance[text]:.9g}"), text),
    )
    named = []
    for text in strongest[:top]:
        adds = size[text] / rows[text]
        against = lean[text] < 0
        if other is None:
            named.append(NamedFeature(text, label, -adds if against else adds, rows[text]))
        else:
            named.append(NamedFeature(text, other if against else label, adds, rows[text]))
    return named, left_out


def _supporters(opened: OpenedModel, items: Any, top: int) -> list[Supporter]:
    """The training items that move the scores of the items most: by the mean of |zⱼ·k(xⱼ, xᵢ)| over them."""
    fitted = opened.machine._model
    if not isinstance(fitted, KernelModel) or not fitted.support.size:
        return []
    some = items[: max(_FEWEST, _COMPARED // fitted.support.size)]
    total: Array = np.zeros(fitted.support.size)
    for rows in fitted.blocks(some, opened.machine.memory, fitted.support.size):
        total += np.abs(fitted.similarities(some, rows)).sum(axis=0)
    similar = total / length(some)
    moved = np.abs(fitted.coef).max(axis=0) * similar
    best = np.argsort(-moved, kind="stable")[:top]
    labels = support_labels(opened.model)
    given = support_items(opened, best)
    return [
        Supporter(int(fitted.support[k]), item, float(similar[k]), float(moved[k]), labels[k], opened.prepares_rows)
        for k, item in zip(best.tolist(), given, strict=True)
    ]
