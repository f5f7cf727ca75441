"""Is this kernel matrix valid, and is it any good for these labels?"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ..checks.labels import is_measurement, plain_label, refuse_bad_labels
from ..checks.tables import chosen
from ..displays import KernelHeatmap
from ..kernels import Kernel, as_kernel
from ..kernels.engine.tiles import length
from ..messages import counted, guide
from ..presentation import Markup, table_html
from ..runtime.arrays import Array
from ..runtime.threads import in_background

# What a kernel matrix says about itself and about labels, one number at a time.


#: How often labels are shuffled to see what alignment chance alone gives.
SHUFFLES = 199

#: Items nearer than this share of the usual distance (in the square mean) are nearly the same.
NEARLY_EQUAL = 1e-3


@dataclass(frozen=True)
class Spectrum:
    """The eigenvalues of a symmetric matrix, smallest first, and what follows from them."""

    eigenvalues: Array
    #: Eigenvalues up to this size are rounding.
    rounding: float

    @property
    def psd(self) -> bool:
        return bool(self.eigenvalues[0] >= -self.rounding)

    @property
    def rank(self) -> int:
        return int((np.abs(self.eigenvalues) > self.rounding).sum())

    @property
    def condition(self) -> float:
        smallest = self.eigenvalues[0]
        return float(self.eigenvalues[-1] / smallest) if smallest > self.rounding else float("inf")

    @property
    def effective_dimension(self) -> float:
        """(Σλ)²/Σλ²: n for the identity, one where a single direction says all."""
        positive = np.maximum(self.eigenvalues, 0)
        squares = float(positive @ positive)
        return float(positive.sum()) ** 2 / squares if squares else 0.0


def spectrum_of(K: Array) -> Spectrum:
    """The spectrum of a symmetric matrix."""
    eigenvalues = in_background(lambda: np.linalg.eigvalsh(K.astype(np.float64)))
    digits = np.finfo(K.dtype if K.dtype.kind == "f" else np.float64).eps
    return Spectrum(eigenvalues, float(10 * len(K) * digits * np.abs(eigenvalues).max(initial=0.0)))


def cosines(K: Array) -> Array:
    """K with every item brought to length one; items of length zero are like none."""
    lengths = np.sqrt(np.maximum(K.diagonal(), 0))
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return K * inverse[:, None] * inverse


def centred(K: Array) -> Array:
    """HKH with H = I − 11ᵀ/n: the same items with their mean in feature space moved to the origin."""
    rows = K.mean(axis=0)
    return K - rows - rows[:, None] + rows.mean()


def off_diagonal(K: Array) -> Array:
    """All entries but the diagonal, row by row: n rows of n − 1."""
    n = len(K)
    return K[~np.eye(n, dtype=bool)].reshape(n, n - 1)


def target_columns(y: Array, task: str | None = None) -> tuple[Array, bool]:
    """Columns T with T·Tᵀ the ideal kernel matrix of y, and whether y are classes: as the task says, or as they look.

    Classes: one column for each, so that T·Tᵀ is 1 within a class and 0 between. Real targets: the target itself.
    """
    if task == "regress" or (task is None and y.dtype.kind in "iuf" and is_measurement(y)):
        return np.asarray(y, dtype=np.float64)[:, None], False
    return (y[:, None] == np.unique(y)).astype(np.float64), True


def alignment(Kc: Array, T: Array) -> float:
    """⟨HKH, HTTᵀH⟩/(‖HKH‖·‖HTTᵀH‖), the cosine of the angle between a centred kernel and the ideal one."""
    Tc = T - T.mean(axis=0)
    norm = np.linalg.norm(Kc) * np.linalg.norm(Tc.T @ Tc)
    return float(np.sum(Tc * (Kc @ Tc)) / norm) if norm else 0.0


def chance_of_alignment(Kc: Array, T: Array, random: np.random.Generator) -> float:
    """The share of shuffled targets that are aligned better than the real ones; those aligned the same count half."""
    Tc = T - T.mean(axis=0)
    real = np.sum(Tc * (Kc @ Tc))
    shuffled = np.hstack([Tc[random.permutation(len(Tc))] for _ in range(SHUFFLES)])
    values = np.sum(shuffled * (Kc @ shuffled), axis=0).reshape(SHUFFLES, -1).sum(axis=1)
    same = np.abs(values - real) <= 1e-9 * abs(real)
    return float((0.5 + np.sum((values > real) & ~same) + 0.5 * same.sum()) / (1 + SHUFFLES))


def class_means(C: Array, T: Array) -> Array:
    """The mean similarity of two different items, for each pair of classes; NaN within a class of one item.

    T has a column for each class, see :func:`target_columns`.
    """
    sizes = T.sum(axis=0)
    pairs = np.outer(sizes, sizes) - np.diag(sizes)
    sums = T.T @ C @ T - np.diag(T.T @ C.diagonal())
    return np.divide(sums, pairs, out=np.full_like(sums, np.nan), where=pairs > 0)


def near_duplicates(K: Array) -> Array:
    """The pairs (i, j), i < j, of items that are nearly the same: ‖φ(x) − φ(z)‖ is next to nothing for this matrix."""
    squared = K.diagonal()
    distances = squared[:, None] + squared - 2 * K
    near = distances <= NEARLY_EQUAL**2 * distances.mean()
    return np.argwhere(np.triu(near, 1))


def worst_asymmetry(K: Array) -> tuple[float, int, int]:
    """The largest |K − Kᵀ|, and where it is."""
    difference = np.abs(K - K.T)
    i, j = np.unravel_index(int(difference.argmax()), K.shape)
    return float(difference[i, j]), int(i), int(j)


def as_matrix(K: Any) -> Array:
    """A matrix of finite numbers, or one sentence that says why it is not."""
    values = np.asarray(K.toarray() if hasattr(K, "toarray") else K)
    if values.ndim != 2 or values.dtype.kind not in "fiub" or values.size == 0:
        raise ValueError(f"expected a matrix of numbers, got shape {values.shape} of {values.dtype}.")
    values = values if values.dtype.kind == "f" else values.astype(np.float64)
    if not np.isfinite(values).all():
        i, j = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"the kernel matrix holds {values[i, j]} in row {i}, column {j}; a kernel has finite values.")
    return values


# Some of many items, and their labels.


def drawn(total: int, sample: int, random: np.random.Generator) -> Array:
    """The places of all items, or of ``sample`` of them drawn at random, in order."""
    if total < 2:
        raise ValueError(f"two items or more are needed to compare any, got {total}.")
    return np.arange(total) if total <= sample else np.sort(random.choice(total, size=sample, replace=False))


def looked_at(number: int, total: int) -> str:
    """How many items were looked at, in words."""
    return f"{total} items" if number == total else f"{number} of {total} items, drawn at random"


def some_items(X: Any, sample: int, random: np.random.Generator) -> tuple[Any, Array, int]:
    """The items to look at, their places, and of how many they are."""
    if not hasattr(X, "shape") and not hasattr(X, "__len__"):
        raise ValueError(f"expected an array, frame or list of items, got {type(X).__name__}.")
    total = length(X)
    index = drawn(total, sample, random)
    return (X if index.size == total else chosen(X, index)), index, total


def labels_of(y: Any, total: int, index: Array) -> Array | None:
    """The labels of the items in these places."""
    if y is None:
        return None
    refuse_bad_labels(y)
    labels = np.asarray(y)
    if labels.shape != (total,):
        raise ValueError(f"y must hold one label for each of the {total} items, got shape {labels.shape}.")
    return labels[index]


#: Below this similarity, two items have next to nothing in common.
_UNLIKE = 0.1
#: Above this similarity of all pairs, no item can be told from another.
_ALIKE = 0.99
#: The share of shufflings that may do as well as labels that the kernel knows; few items have few shufflings.
_CHANCE, _CHANCE_OF_FEW, _FEW = 0.05, 0.2, 20
#: Lengths that differ by more than this factor let the longest items decide.
_UNEVEN = 2.0
#: A matrix that spreads over more than this share of all directions is nearly diagonal.
_SCATTERED = 0.7


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What :func:`diagnose` found. Printing it gives the findings in words.

    Attributes
    ----------
    verdict : {"good", "bad"}
    reasons : list of str
        Why.
    advice : list of str
        Normalisations that would help.
    n, of : int
        How many items were looked at, and of how many.
    symmetric, psd : bool
    smallest_eigenvalue, largest_eigenvalue : float
    rank : int
    condition : float
    effective_dimension : float
        (Σλ)²/Σλ²: how many directions the items spread over.
    nearest : float
        The similarity (cosine) of an item to the one most like it, in the median.
    mean_similarity : float
        The mean similarity (cosine) of two different items.
    near_duplicates, contradictions : int
        Pairs of items that are nearly the same, and those of them whose labels differ.
    within, between : float or None
        The mean similarity of two items of one class, and of two classes.
    nearest_agrees : float or None
        How often the most similar item has the same label.
    alignment : float or None
        Centred alignment with the labels or targets, between −1 and 1.
    chance : float or None
        The share of shuffled labels that are aligned as well.
    eigenvalues : array
        Smallest first.
    """

    name: str
    n: int
    of: int
    verdict: str
    reasons: list[str]
    advice: list[str]
    symmetric: bool
    psd: bool
    smallest_eigenvalue: float
    largest_eigenvalue: float
    rank: int
    condition: float
    effective_dimension: float
    nearest: float
    mean_similarity: float
    near_duplicates: int
    contradictions: int
    within: float | None
    between: float | None
    nearest_agrees: float | None
    alignment: float | None
    chance: float | None
    eigenvalues: Array = field(repr=False)
    matrix: Array = field(repr=False)
    y: Array | None = field(repr=False)

    @property
    def good(self) -> bool:
        return self.verdict == "good"

    def facts(self) -> dict[str, Any]:
        """The findings as plain numbers, words and lists."""
        plain = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("matrix", "y")}
        return {**plain, "eigenvalues": self.eigenvalues.tolist()}

    def plot(self, ax: Any = None) -> Any:
        """Draw the matrix as a heat map, rows sorted by class; returns the matplotlib axes."""
        ax = KernelHeatmap.from_matrix(self.matrix, self.y, order="file").plot(ax).ax_
        ax.set_title(f"{self.name}: {self.verdict}")
        return ax

    @property
    def _title(self) -> str:
        return f"{self.name} on {looked_at(self.n, self.of)}"

    def _rows(self) -> list[tuple[str, str]]:
        """What was measured, by name and in words."""
        values = f"{self.smallest_eigenvalue:.4g} to {self.largest_eigenvalue:.4g}; rank {self.rank}, condition "
        values += f"{self.condition:.3g}, effective dimension {self.effective_dimension:.1f}"
        alike = f"{self.mean_similarity:.3f} for two items in the mean, {self.nearest:.3f} for the nearest in "
        rows = [("eigenvalues", values), ("similarity", alike + "the median")]
        if self.within is not None and self.between is not None:
            rows.append(("by class", f"{self.within:.3f} within, {self.between:.3f} between"))
        if self.nearest_agrees is not None:
            rows.append(("same label as the most similar item", f"{100 * self.nearest_agrees:.1f} % of the items"))
        if self.alignment is not None:
            chance = f"{100 * (self.chance or 0):.1f} % of shufflings do as well"
            rows.append(("alignment with y", f"{self.alignment:.3f} ({chance})"))
        if self.near_duplicates:
            pairs = f"{counted(self.near_duplicates, 'pair')}, {self.contradictions} with different labels"
            rows.append(("near-duplicates", pairs))
        return [*rows, *[("advice", advice) for advice in self.advice]]

    def __str__(self) -> str:
        reasons = [f"  - {reason}" for reason in self.reasons]
        measured = [f"{name}: {words}" for name, words in self._rows()]
        return "\n".join([self._title, f"verdict: {self.verdict}", *reasons, *measured])

    def _repr_html_(self) -> Markup:
        return table_html(self._title, [("verdict", self.verdict), *self._rows()], notes=self.reasons)


def diagnose(subject: Any, *data: Any, sample: int = 1000, random_state: int = 0, task: str | None = None) -> Diagnosis:
    """Look at a kernel matrix: ``diagnose(K, y)``, or at a kernel on data: ``diagnose(kernel, X, y)``.

    Parameters
    ----------
    subject : array of shape (n, n), or kernel, text or callable
    *data : ``y`` after a matrix; ``X`` and ``y`` after a kernel
        The labels or targets may be left out.
    sample : int, default=1000
        How many items are looked at; of more, so many are drawn at random, and the diagnosis says so.
    random_state : int, default=0
    task : {"classify", "regress"}, optional
        Whether ``y`` holds classes or numbers. By default it is looked at.

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.diagnostics import diagnose
    >>> K = [[3, 2, 0, 0, 0], [2, 3, 0, 0, 0], [0, 0, 4, 3, 3], [0, 0, 3, 4, 2], [0, 0, 3, 2, 4]]
    >>> found = diagnose(K, [1, 1, 2, 2, 2])
    >>> found.verdict, found.eigenvalues.round(3).tolist()
    ('good', [0.641, 1.0, 2.0, 5.0, 9.359])
    >>> print(diagnose(np.eye(5)).reasons[0])
    no item is like any other: the matrix is nearly diagonal (guide: ideas/good_kernels)
    """
    random = np.random.default_rng(random_state)
    if isinstance(subject, (Kernel, str)) or callable(subject):
        kernel = as_kernel(subject)
        X, y = _arguments(data, "diagnose(kernel, X, y)", least=1)
        items, index, total = some_items(X, sample, random)
        kernel = kernel.suited(items).resolved(items)
        return _examine(kernel, kernel(items), labels_of(y, total, index), total, random, task)
    (y,) = _arguments(data, "diagnose(K, y)", least=0)
    K = as_matrix(subject)
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"a kernel matrix is square, with a row and a column for each item; this has shape {K.shape}.")
    index = drawn(len(K), sample, random)
    return _examine(None, K[np.ix_(index, index)], labels_of(y, len(K), index), len(K), random, task)


def _arguments(data: tuple[Any, ...], form: str, least: int) -> tuple[Any, ...]:
    if not least <= len(data) <= least + 1:
        raise TypeError(f"expected {form}, got {len(data)} arguments after the first.")
    return data if len(data) > least else (*data, None)


def _examine(
    kernel: Kernel | None, K: Array, y: Array | None, total: int, random: np.random.Generator, task: str | None
) -> Diagnosis:
    gap, i, j = worst_asymmetry(K)
    symmetric = gap <= 1e-6 * float(np.abs(K).max())
    trouble = [] if symmetric else [f"not symmetric: k({i}, {j}) = {K[i, j]:.6g} but k({j}, {i}) = {K[j, i]:.6g}"]
    K = (K + K.T) / 2
    spectrum = spectrum_of(K)
    if not spectrum.psd:
        trouble.append(
            f"not positive semi-definite: the smallest eigenvalue is {spectrum.eigenvalues[0]:.4g} "
            f"(largest {spectrum.eigenvalues[-1]:.4g})"
        )
    C = cosines(K)
    others = off_diagonal(C)
    nearest, mean = float(np.median(others.max(axis=1))), float(others.mean())
    scattered = len(K) >= _FEW and spectrum.effective_dimension > _SCATTERED * len(K)
    diagonal = nearest < _UNLIKE or scattered
    if diagonal:
        trouble.append(f"no item is like any other: the matrix is nearly diagonal {guide('good kernels')}")
    elif others.min() > _ALIKE:
        trouble.append("every item is like every other: the matrix is nearly constant")
    pairs = near_duplicates(K)
    known: dict[str, Any] = dict.fromkeys(("within", "between", "nearest_agrees", "alignment", "chance"))
    contradictions = 0
    praise = ["symmetric and positive semi-definite", f"items are alike: {nearest:.2f} for the nearest in the median"]
    if y is not None:
        known, classes = _against_labels(K, C, y, random, task)
        what = "labels" if classes else "targets"
        contradictions = int((y[pairs[:, 0]] != y[pairs[:, 1]]).sum()) if classes else 0
        if known["chance"] > (_CHANCE_OF_FEW if len(K) < _FEW else _CHANCE):
            trouble.append(
                f"it does not know the {what}: alignment {known['alignment']:.3f}, and "
                f"{100 * known['chance']:.0f} % of shuffled {what} do as well"
            )
        elif known["within"] is not None:
            praise.append(f"blocks by class: {known['within']:.2f} within, {known['between']:.2f} between")
        else:
            praise.append(f"aligned with the {what}: {known['alignment']:.2f}")
    return Diagnosis(
        name="a kernel matrix" if kernel is None else str(kernel),
        n=len(K),
        of=total,
        verdict="bad" if trouble else "good",
        reasons=trouble or praise,
        advice=_advice(kernel, K, diagonal, mean),
        symmetric=symmetric,
        psd=spectrum.psd,
        smallest_eigenvalue=float(spectrum.eigenvalues[0]),
        largest_eigenvalue=float(spectrum.eigenvalues[-1]),
        rank=spectrum.rank,
        condition=spectrum.condition,
        effective_dimension=spectrum.effective_dimension,
        nearest=nearest,
        mean_similarity=mean,
        near_duplicates=len(pairs),
        contradictions=contradictions,
        eigenvalues=spectrum.eigenvalues,
        matrix=K,
        y=y,
        **known,
    )


def _against_labels(
    K: Array, C: Array, y: Array, random: np.random.Generator, task: str | None
) -> tuple[dict[str, Any], bool]:
    T, classes = target_columns(y, task)
    if len(np.unique(y)) < 2:
        raise ValueError(f"y holds only one class, {plain_label(y[0])!r}; leave it out, or give items of two classes.")
    Kc = centred(K.astype(np.float64))
    found: dict[str, Any] = {
        "within": None,
        "between": None,
        "nearest_agrees": None,
        "alignment": alignment(Kc, T),
        "chance": chance_of_alignment(Kc, T, random),
    }
    if classes:
        means = class_means(C, T)
        apart = ~np.eye(len(means), dtype=bool)
        nearest = np.where(np.eye(len(C), dtype=bool), -np.inf, C).argmax(axis=1)
        inside = means.diagonal()[np.bincount(T.argmax(axis=1)) > 1]  # a class of one item has no pairs
        found["within"] = float(inside.mean()) if inside.size else None
        found["between"] = float(means[apart].mean())
        found["nearest_agrees"] = float((y[nearest] == y).mean())
    return found, classes


def _advice(kernel: Kernel | None, K: Array, diagonal: bool, mean: float) -> list[str]:
    """What would make the matrix easier to learn from."""
    advice = []
    lengths = np.sqrt(np.maximum(K.diagonal(), 0))
    used = lengths[lengths > 0]
    if used.size and used.max() > _UNEVEN * used.min():
        advice.append(
            f"normalise, normalised({kernel or 'kernel'}): items have lengths from {used.min():.3g} to "
            f"{used.max():.3g}, so the longest decide"
        )
    if diagonal:
        drop = ", or drop columns that do not matter" if kernel is not None and kernel.on_rows else ""
        advice.append(f"widen the kernel{_lever(kernel, 'smaller gamma', 'shorter substrings')}{drop}")
    elif mean > 0.9:
        narrow = f"narrow the kernel{_lever(kernel, 'larger gamma', 'longer substrings')}"
        advice.append(f"centre the matrix, or {narrow}: most of every similarity is shared by all")
    return advice


def _lever(kernel: Kernel | None, of_rows: str, of_strings: str) -> str:
    """What widens or narrows a kernel of this kind, if there is a word for it."""
    params = {} if kernel is None else kernel.get_params()
    if any(name.rpartition("__")[2] == "gamma" for name in params):
        return f" ({of_rows})"
    return f" ({of_strings})" if any(name.rpartition("__")[2] == "p" for name in params) else ""
