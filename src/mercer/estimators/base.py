"""What all machines share: from the user's data to checked items, and from a model to what users read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags
from sklearn.utils.validation import _check_y, check_consistent_length, check_is_fitted, validate_data

from ..checks import schema
from ..checks.labels import checked_weights
from ..checks.parameters import bytes_of, choice, number
from ..checks.tables import chosen, numbers_only, refuse_extreme, refuse_foreign, tidy_sparse, widened
from ..grams import Gram, Placement, is_linear
from ..grams.span import directions
from ..kernels import Kernel, Linear, as_kernel
from ..kernels.engine.tiles import length
from ..kernels.text_form import is_ours
from ..messages import guide
from ..problems import Certificate, Status
from ..rows import Mapped, Rows, as_host, in_memory, is_dask, on_card, on_cluster, rows_of
from ..runtime.compile import Array
from .model import KernelModel, LinearModel, scores_of_chunk
from .training import (
    LARGEST_SIMILARITY,
    CallbackSupportMixin,
    Run,
    Training,
    running,
    training_of,
    warn_if_alike,
    warn_if_out_of_reach,
    with_callbacks,
)

__all__ = ["KNOWN", "FittedState", "remedy_for", "rescale"]

#: Every estimator that a model file may hold, by the name of its class.
KNOWN: dict[str, type[KernelMachine]] = {}

# What a fitted machine is, as plain values, and a machine from such values: what model files are made of.


#: Attributes that a model tells by itself.
_OF_THE_MODEL = ("support_vectors_", "kernel_")


class FittedState:
    """Two methods that every machine has: its state as values, and a machine of that state.

    A subclass that keeps more than the model and its public attributes extends both.
    """

    _model: Any

    def fitted_state(self) -> dict[str, Any]:
        """What ``fit`` has found.

        Returns
        -------
        dict
            ``"parameters"`` as the constructor takes them, ``"attributes"`` that users read, the ``"model"`` that
            predicts; other keys are a subclass's own. Values are numbers, words, arrays, kernels, items and models.

        Examples
        --------
        >>> from mercer import Perceptron
        >>> state = Perceptron(random_state=0).fit([[0.0], [1.0]], ["no", "yes"]).fitted_state()
        >>> Perceptron.from_fitted_state(state).predict([[3.0]]).tolist()
        ['yes']
        """
        check_is_fitted(self, "_model")
        parameters = self.get_params(deep=False)  # type: ignore[attr-defined]
        if not isinstance(parameters.get("random_state", 0), (int, np.integer)):
            parameters["random_state"] = None  # a generator has moved on since; a restored machine may draw anew
        if "checkpoints" in parameters:
            parameters["checkpoints"] = None  # they belong to one run of fit, not to its result
        attributes = {
            name: value
            for name, value in vars(self).items()
            if name.endswith("_") and not name.startswith("_") and name not in _OF_THE_MODEL
        }
        return {"parameters": parameters, "attributes": attributes, "model": self._model}

    @classmethod
    def from_fitted_state(cls, state: dict[str, Any]) -> Self:
        """A machine that predicts as the one did whose state this is.

        Parameters
        ----------
        state : dict
            As :meth:`fitted_state` returns it.

        Returns
        -------
        estimator
        """
        made: Any = cls(**state["parameters"])
        made._publish(state["model"])
        vars(made).update(state["attributes"])
        made._stage_models = []
        return made


# What to do about numbers of very different sizes, for the kind of items that a kernel compares.


def rescale(kernel: Any) -> str:
    """What brings items to one size: columns can be scaled, strings, sets and graphs have none.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Spectrum
    >>> rescale(Gaussian()), rescale(Spectrum(p=3))
    ('scale the columns', 'use normalised(spectrum)')
    """
    if kernel.precomputed:
        return "bring the matrix to ones on its diagonal"
    return "scale the columns" if kernel.on_rows else f"use normalised({kernel})"


# What a parameter of scikit-learn's machines is called here: who types a name out of habit gets the remedy.


_PASSES = (
    ("epochs", "passes over the rows are epochs"),
    ("steps", "steps says how many are taken; a pass over n rows is n of them"),
)
_OF_THE_KERNEL = "it belongs to the kernel; write {machine}('{kernel}({name}=...)'), and kernel__{name} in a search"
#: For each name, what is said of machines that have a parameter (of all, where that is empty): the first that fits.
_OF_OTHERS: dict[str, tuple[tuple[str, str], ...]] = {
    "C": (
        ("lam", "lam weighs ½‖w‖² against the mean loss; write lam=1 / (C * n) for n rows"),
        ("nu", "nu takes its place, a share of the rows"),
        ("epochs", "nothing is penalised; leave it out"),
    ),
    "affinity": (
        ("n_clusters", "it is the kernel; write {machine}('gaussian(gamma=...)'), or {machine}('precomputed')"),
    ),
    "alpha": (
        ("noise", "it is noise, the variance of what is measured"),
        ("", "alpha of SGDClassifier is lam of Pegasos, alpha of KernelRidge n·lam of KernelRegressor"),
    ),
    "break_ties": (("", "leave it out; where votes are equal the sums of scores always decide"),),
    "cache_size": (("", "memory='1GB' says what may be kept"),),
    "coef0": (("", _OF_THE_KERNEL),),
    "decision_function_shape": (("", "decision_function has a column for each class, pair_scores one for each pair"),),
    "degree": (("", _OF_THE_KERNEL),),
    "dual": (("", "leave it out, it changes no result"),),
    "eigen_solver": (("", "leave it out, there is one"),),
    "epsilon": (("", "mercer.SVR has it"),),
    "eta": (
        ("rate", "the step is rate"),
        ("steps", "step t is 1 / (lam * t) long by itself; leave it out"),
        ("", "mercer.Perceptron has a rate"),
    ),
    "eta0": (("rate", "the step is rate"), ("", "mercer.Perceptron has a rate")),
    "gamma": (("", _OF_THE_KERNEL),),
    "lambda": (("lam", "λ is lam"), ("C", "write C=1 / (λ n) for n rows")),
    "max_epoch": _PASSES,
    "max_iter": _PASSES,
    "multi_class": (("strategy", "strategy='ovr' or 'ovo'"),),
    "n": (("", "the degree belongs to the kernel; write {machine}('polynomial(degree=...)')"),),
    "n_jobs": (("", "all cores are used; OMP_NUM_THREADS says otherwise"),),
    "nu": (
        ("epsilon", "it belongs to mercer.NuSVR"),
        ("", "it belongs to mercer.NuSVC, of numbers mercer.NuSVR, of novelties mercer.OneClassSVM"),
    ),
    "penalty": (("", "all machines penalise ½‖w‖²"),),
    "probability": (("", "wrap the machine, mercer.Calibrated({machine}(...)), for probabilities"),),
    "random_state": (("", "leave it out, nothing is drawn"),),
    "sigma": (
        (
            "",
            "it belongs to the kernel; write {machine}('gaussian(sigma=...)'), and "
            "kernel__gamma, which is 1 / (2 sigma²), in a search",
        ),
    ),
    "shrinking": (("", "leave it out, it changes no result"),),
    "shuffle": (
        ("order", "order='file' takes the rows as they stand"),
        ("sampling", "sampling says how rows are drawn"),
    ),
    "T": _PASSES,
    "tol": (
        ("epochs", "it ends after a pass without mistakes, or after as many as epochs says"),
        ("steps", "it ends after as many steps as steps says; duality_gap_ tells how good the result is"),
    ),
    "verbose": (("", "leave it out; status_ and other attributes tell how a fit ended"),),
}


def remedy_for(machine: str, given: Iterable[str], known: Iterable[str]) -> str | None:
    """What to write in the place of the first parameter that the machine has not, where that is known.

    Examples
    --------
    >>> remedy_for("SVC", ["C", "gamma"], ["C", "kernel"])
    "SVC has no parameter 'gamma': it belongs to the kernel; write SVC('gaussian(gamma=...)'), and kernel__gamma in a
    search."
    """
    parameters = {"", *known}
    for name in given:
        if name in parameters:
            continue
        said = next((text for having, text in _OF_OTHERS.get(name, ()) if having in parameters), None)
        if said is not None:
            kernel = "gaussian" if name == "gamma" else "polynomial"
            return f"{machine} has no parameter {name!r}: {said.format(machine=machine, kernel=kernel, name=name)}."
    return None


_COUNTS = schema.tuple_of(schema.whole(), schema.whole()) | schema.tuple_of(schema.whole())
#: How good the models of all scores are.
_CERTIFICATE = schema.numbers("", missing=True, infinite=True) | schema.number(missing=True, infinite=True)


class KernelMachine(CallbackSupportMixin, FittedState, BaseEstimator):
    """Base of all estimators. Subclasses have the parameters ``kernel`` and ``memory``.

    A subclass enters itself under the name of its class, so that model files can hold its estimators; one that is a
    base of others says ``class Base(KernelMachine, named=False)``. Methods without an underscore are what
    :class:`mercer.search.keys.Machine` asks for.
    """

    #: What ``fit`` finds beside the model: each attribute, and what it must be. A subclass declares its own, which come
    #: on top of those of its bases. Sizes agree with those of ``intercept_`` (scores) and of the rows (columns).
    fields: ClassVar[Mapping[str, schema.Meaning]] = {
        "n_features_in_": schema.optional(schema.whole(size="columns")),
        "feature_names_in_": schema.optional(schema.names("columns")),
        "intercept_": schema.numbers("scores"),
        "coef_": schema.optional(schema.numbers("scores", "columns")),
        "support_": schema.optional(schema.wholes("support")),
        "dual_coef_": schema.optional(schema.numbers("", "support")),
        "n_support_": schema.optional(schema.wholes("")),
        "n_iter_": schema.optional(schema.wholes("") | schema.whole()),
        "objective_": schema.optional(_CERTIFICATE),
        "duality_gap_": schema.optional(_CERTIFICATE),
        "kkt_violation_": schema.optional(_CERTIFICATE),
        "missing_trace_": schema.optional(schema.number()),
        "status_": schema.optional(schema.choice(*(each.value for each in Status))),
        "converged_": schema.optional(schema.flag),
        "fit_status_": schema.optional(schema.whole()),
        "shape_fit_": schema.optional(
            schema.tuple_of(schema.whole(), schema.whole()) | schema.tuple_of(schema.whole())
        ),
    }
    #: What is made of the scores of a row: "labels", "numbers", "outliers", "components" or "clusters".
    answers: ClassVar[str] = "numbers"

    kernel: Any
    memory: Any = "1GB"
    _model: Any
    path: ClassVar[str] = ""
    path_falls: ClassVar[bool] = False
    #: What rows of numbers that are only to be scored, and precomputed matrices, may be kept in; others are converted
    #: to the first. Rows to learn from are in float64: their numbers are taken as they are, whatever type they came in.
    precisions: ClassVar[tuple[type, ...]] = (np.float64, np.float32)
    #: What is learned beside the items: "labels", "numbers", or ``None`` for machines that learn from items alone.
    target_kind: ClassVar[str | None] = None
    #: Whether the machine learns the weights of a mixture of kernels.
    learns_weights: ClassVar[bool] = False
    #: Whether a row may have several targets, as columns.
    multi_output: ClassVar[bool] = False
    #: By how many landmarks the kernel matrix is approximated, and how they are chosen; parameters of some machines.
    rank: int | None = None
    landmarks: str = "pivoted"
    #: The largest self-similarity that its solver can work with.
    largest_similarity: float = LARGEST_SIMILARITY
    #: Where the kernel matrix is computed; a parameter of some machines.
    device: str | None = None

    _names: ClassVar[list[str]]

    def __init_subclass__(cls, *, named: bool = True, **options: Any) -> None:
        """Enter the class with all its fields; names of the library's own estimators keep their meaning."""
        super().__init_subclass__(**options)
        cls.fields = {
            name: meaning for base in reversed(cls.__mro__) for name, meaning in vars(base).get("fields", {}).items()
        }
        if named and not (cls.__name__ in KNOWN and is_ours(KNOWN[cls.__name__])):
            KNOWN[cls.__name__] = cls

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """The names of the parameters, read from the signature once."""
        if "_names" not in cls.__dict__:
            cls._names = super()._get_param_names()
        return cls._names

    def __new__(cls, *_: Any, **given: Any) -> Self:
        """Refuse names that other libraries have for parameters, with what they are called here."""
        remedy = remedy_for(cls.__name__, given, cls._get_param_names()) if given else None
        if remedy is not None:
            raise TypeError(remedy)
        return super().__new__(cls)

    # -- parameters -----------------------------------------------------------------------------------------------

    @property
    def shares_path(self) -> bool:
        """Whether fits along :attr:`path` are what fits one by one would be."""
        return True

    @property
    def by_products(self) -> bool:
        """Whether all that its solver asks of a kernel matrix are products with it, which a cluster can compute."""
        return False

    @property
    def placement(self) -> Placement:
        """What the machine allows for its kernel matrix."""
        return Placement(self.memory, rank=self.rank, landmarks=self.landmarks, device=self.device)

    def beside(self, n: int) -> int:
        """Bytes that a fit of n items of a matrix in memory has beside the matrix: coordinates of all items."""
        return 8 * n * directions(n, bytes_of(self.memory))

    def read_kernel(self) -> Kernel:
        """The kernel as an object; without a kernel a machine is linear."""
        if self.kernel is None:
            return Linear()
        kernel = as_kernel(self.kernel)
        # A copy: the fitted model must not follow later changes of the user's kernel.
        return clone(kernel) if kernel is self.kernel else kernel

    def set_params(self, **params: Any) -> Any:
        """Set parameters; those of a kernel given as text can be set as well (``kernel__gamma=2``)."""
        if any(name.startswith("kernel__") for name in params):
            kernel = params.pop("kernel", self.kernel)
            if kernel is None:
                raise ValueError(f"{type(self).__name__} has no kernel whose parameters could be set; set kernel too.")
            self.kernel = as_kernel(kernel) if isinstance(kernel, str) else kernel
        own = self.get_params(deep=False)
        for name in (name for name in params if name.partition("__")[0] not in own):
            if self.kernel is not None and name in as_kernel(params.get("kernel", self.kernel)).get_params():
                raise ValueError(f"{name} is a parameter of the kernel of {type(self).__name__}; set kernel__{name}.")
        return super().set_params(**params)

    def check_parameters(self) -> None:
        """Raise ``ValueError`` where a parameter is of no use, as ``fit`` does before it looks at the data."""
        self._check()
        self.read_kernel()
        bytes_of(self.memory)

    def _check(self) -> None:
        """Refuse bad parameters of a machine's own."""

    def _check_rank(self) -> None:
        """Refuse a bad number or choice of landmarks, and a bad place for the matrix."""
        if self.rank is not None:
            number(self, "rank", 1, whole=True, strict=False)
        if self.landmarks != KernelMachine.landmarks:
            from ..grams import LANDMARKS

            choice(self, "landmarks", tuple(LANDMARKS))
        choice(self, "device", (None, "cuda"))
        if self.device is not None and self.rank is not None:
            name = type(self).__name__
            raise ValueError(
                f"{name}: the card computes the exact matrix, which has no rank; leave rank or device out."
            )

    # -- the user's data ------------------------------------------------------------------------------------------

    def read_items(self, X: Any, kernel: Kernel, *, reset: bool = False, kept: tuple[type, ...] = (np.float64,)) -> Any:
        """The items, checked; ``reset`` where they are training items.

        Rows of numbers stay in the types in ``kept``; others are converted to the first.
        """
        kept = self.precisions if kernel.precomputed else kept
        if not reset and self._is_plain(X, kernel):
            rows = widened(X) if any(X.dtype == each for each in kept) else X.astype(kept[0])
            refuse_extreme(rows, tiny=False)
            return rows
        return self._read(X, kernel, reset, kept)

    def read_training(self, X: Any, y: Any, kernel: Kernel, reset: bool) -> tuple[Any, Any]:
        """The items and their targets, checked; no targets where the machine learns from items alone.

        ``reset`` where these are the first items that the machine sees.
        """
        if self.target_kind is None:
            return self.read_items(X, kernel, reset=reset), None
        y = y if type(y) is np.ndarray else in_memory(y)
        self._refuse_bad_targets(y)
        kept = self.precisions if kernel.precomputed else (np.float64,)
        options: dict[str, Any] = {"y_numeric": True} if self.target_kind == "numbers" else {}
        options |= {"multi_output": True} if self._has_columns(y) else {}
        read = self._read(X, kernel, reset, kept, y=y, **options)
        if isinstance(read, tuple):
            return read
        targets = self.read_targets(y) if isinstance(read, Rows) else validate_data(self, y=y, reset=reset, **options)
        check_consistent_length(read, targets)
        return read, targets

    def _read(self, X: Any, kernel: Kernel, reset: bool, kept: tuple[type, ...], **targets: Any) -> Any:
        """The items, checked; together with ``targets``, where scikit-learn looks at rows and targets together."""
        if type(X) is not np.ndarray:
            X = as_host(X)
            rows = self._rows_of(X, kernel, reset)
            if rows is not None:
                return self._read_rows(rows, kernel, reset)
        if not kernel.on_rows:
            return self._read_structured(X, kernel, reset)
        refuse_foreign(X)
        with numbers_only(X):
            checked = validate_data(
                self,
                X,
                reset=reset,
                accept_sparse=False if kernel.precomputed else "csr",
                dtype=kept,
                order="C",
                ensure_all_finite=False,
                ensure_min_samples=1 if reset else 0,
                **targets,
            )
        rows = widened(checked[0] if targets else checked)
        if sparse.issparse(rows):
            rows = tidy_sparse(rows)
        refuse_extreme(rows, columns=getattr(self, "feature_names_in_", None), tiny=reset)
        return (rows, checked[1]) if targets else rows

    def _is_plain(self, X: Any, kernel: Kernel) -> bool:
        """Whether X is an array of rows of numbers with as many columns as in training, which had no names."""
        return (
            type(X) is np.ndarray
            and X.ndim == 2
            and (X.dtype == np.float64 or X.dtype == np.float32)
            and X.flags.c_contiguous
            and X.shape[1] == getattr(self, "n_features_in_", None)
            and not hasattr(self, "feature_names_in_")
            and kernel.on_rows
            and not kernel.precomputed
        )

    def _rows_of(self, X: Any, kernel: Kernel, reset: bool) -> Rows | None:
        """The rows behind X where they are not in memory.

        A mapped file is an array where it has room in memory, and for a machine that can learn from nothing else.
        """
        exact = reset and self.rank is None and not is_linear(kernel)
        if exact and is_dask(X) and not (self.by_products and on_cluster()):
            raise ValueError(
                f"{type(self).__name__} without rank compares all pairs of rows, which it needs in memory, and X is a "
                "dask collection; use rank=1000 to learn from so many landmarks where the rows are "
                "(KernelClassifier(loss='squared_hinge', rank=1000), KernelRegressor(rank=1000)), or X.compute() "
                f"{guide('memory')}."
            )
        rows = rows_of(X)
        if isinstance(X, np.memmap) and isinstance(rows, Mapped):
            needed = reset and (self.rank is None or is_linear(kernel))
            return None if needed or rows.nbytes <= bytes_of(self.memory) else rows
        return rows

    def _read_rows(self, rows: Rows, kernel: Kernel, reset: bool) -> Rows:
        """Rows that need not be in memory: their columns are checked now, their numbers as they are read."""
        if not kernel.on_rows or kernel.precomputed or kernel.learns:
            raise ValueError(
                f"{type(self).__name__}: {kernel} needs its items in memory, and these rows of numbers are read chunk "
                "by chunk; use a kernel on rows of numbers, such as 'gaussian', or read them into an array."
            )
        if reset and hasattr(type(self), "partial_fit"):
            raise ValueError(
                f"{type(self).__name__} looks at one row after the other, in memory; give it a chunk at a time with "
                "partial_fit, or use KernelClassifier(rank=1000), which passes over rows wherever they are."
            )
        if reset and not len(rows):
            raise ValueError(f"{type(self).__name__} cannot learn from no rows: X holds 0 samples.")
        # Scikit-learn's own words on columns, which it says of frames and arrays.
        header = np.empty((0, int(rows.n_columns or 0)))
        validate_data(self, header if rows.names is None else _frame(header, rows.names), reset=reset,
                      skip_check_array=True)  # fmt: skip
        return rows

    def _read_structured(self, X: Any, kernel: Kernel, reset: bool) -> Any:
        """Items that are not rows of numbers: the kernel says what is wrong with them."""
        items = kernel.items(X)
        if reset:
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)  # of an earlier fit on rows of numbers
            if length(items) == 0:
                raise ValueError(f"{type(self).__name__} cannot learn from no items: X holds 0 samples.")
        return items

    def read_targets(self, y: Any) -> Array:
        """The targets alone, checked; where there are none, ``y`` is for scorers alone, and comes back as it is."""
        y = as_host(y)
        if self.target_kind is None:
            return np.asarray(y)
        self._refuse_bad_targets(y)
        checked = _check_y(y, multi_output=self._has_columns(y), y_numeric=self.target_kind == "numbers")
        return checked.toarray() if sparse.issparse(checked) else np.asarray(checked)

    def _has_columns(self, y: Any) -> bool:
        """Whether targets may have several columns, and these do, where that is for targets to tell."""
        return self.multi_output

    def _refuse_bad_targets(self, y: Any) -> None:
        """Raise where targets are missing or of no use."""

    def encoded(self, y: Any, sample_weight: Any, items: Any) -> tuple[Any, Array | None]:
        """Checked targets as numbers to learn from, if there are any, and the weight of each item where they differ."""
        if sample_weight is None:
            return None, None
        weight = checked_weights(sample_weight, items)
        if not weight.any():
            raise ValueError("Sample weights must contain at least one non-zero number; all of them are zero.")
        return None, weight

    def _squared_targets(self, data: Training) -> list[Array]:
        """The targets that a squared loss would have, for choices by leaving out rows."""
        raise NotImplementedError

    # -- the way --------------------------------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from items and, where the machine has them, targets.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items
        y : array of shape (n_rows,), or (n_rows, n_targets)
            Labels for a classifier, real numbers for a regressor; machines that take many labels a row want a column
            of 0 and 1 for each, dense or sparse. Ignored by machines that learn from items alone.
        sample_weight : array of shape (n_rows,), optional
            What each row counts.

        Returns
        -------
        self
        """
        return self.fit_on(None, X, y, sample_weight)

    def fit_on(self, gram: Gram | None, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """As :meth:`fit`, on the Gram of the items where somebody has computed it before."""
        with running(self, X, y, sample_weight, groups) as run:
            self._check()
            data = self._training(X, y, sample_weight, run, gram)
            model = self.learn(data)
            if model is None and not hasattr(self, "_model"):
                raise TypeError(f"{type(self).__name__}: learn found no model; return model_of(data, [Iterate(z)]).")
            if model is not None:
                self._publish(model, data.given)
                self._publish_approximation(data)
        return self

    def learn(self, data: Training) -> LinearModel | KernelModel | None:
        """Find the model of the training items: all that a new estimator has to write.

        The model is published for users to read, unless that was done on the way (``None``).
        """
        raise NotImplementedError(f"{type(self).__name__} should learn: write a method learn(data).")

    def _training(
        self, X: Any, y: Any, sample_weight: Any, run: Run | None = None, gram: Gram | None = None
    ) -> Training:
        """What is learned from, in this run of ``fit`` where there is one."""
        run = run or Run(self, X, y, sample_weight)
        with run.preparing():
            data = training_of(self, X, y, sample_weight, run, gram=gram)
            warn_if_alike(type(self).__name__, data.kernel, data.items, data.gram)
            warn_if_out_of_reach(self, data.gram)
        return data

    # -- what users read ------------------------------------------------------------------------------------------

    def along(self, data: Training, values: list[Any], scores_of: Callable[[Any], Array]) -> Iterator[Array]:
        """The scores of all items of a search for each value of :attr:`path`, where ``scores_of`` asks a model."""
        raise NotImplementedError

    def _publish(self, model: LinearModel | KernelModel, given: Any = None) -> None:
        """Set the fitted attributes that users read; ``given`` are the training items as the user gave them."""
        for name in ("coef_", "support_", "dual_coef_", "support_vectors_", "missing_trace_"):
            self.__dict__.pop(name, None)  # of an earlier fit, perhaps of another kind of model
        self._model = model
        self.kernel_ = model.kernel
        self.intercept_ = model.intercept
        if isinstance(model, LinearModel):
            self.coef_ = model.coef
        else:
            self.support_ = model.support
            self.dual_coef_ = model.coef
            if model.items is not None:
                kept = model.kernel.on_rows or given is None
                self.support_vectors_ = model.items if kept else chosen(given, model.support)

    def _publish_approximation(self, data: Training) -> None:
        """Set which share of the trace of the kernel matrix is left out, where landmarks stand for all items."""
        if data.gram.landmarks is not None:
            self.missing_trace_ = data.gram.missing

    def _publish_status(self, statuses: Iterable[Status]) -> None:
        """How the solvers of all scores ended."""
        worst = Status.worst(statuses)
        self.status_ = str(worst)
        self.converged_ = worst is Status.CONVERGED

    def _publish_certificates(self, certificates: Sequence[Certificate]) -> None:
        """How good the models of all scores are."""
        self.objective_: Any = np.array([certificate.objective for certificate in certificates])
        self.duality_gap_: Any = np.array([certificate.gap for certificate in certificates])
        self.__dict__.pop("kkt_violation_", None)  # of an earlier fit with another loss
        if certificates[0].violation is not None:
            self.kkt_violation_: Any = np.array([certificate.violation for certificate in certificates])

    def _items_to_score(self, X: Any) -> Any:
        """The user's items, checked, for the fitted model."""
        check_is_fitted(self, "_model")
        return self.read_items(X, self.kernel_, kept=self.precisions)

    def _scores(self, X: Any) -> Array:
        """The scores that the fitted model gives to the user's items."""
        items = self._items_to_score(X)
        if not isinstance(items, Rows):
            return self._model.scores(items, self.memory, "cuda" if on_card(X) else self.device)
        work = partial(scores_of_chunk, model=self._model, memory=self.memory, device=self.device,
                       precisions=self.precisions)  # fmt: skip
        out = np.empty((len(items), len(self._model.intercept)))
        for place, scores in items.each(work):
            out[place] = scores
        return out

    def decisions_of(self, scores: Array, numbers: Array | None = None) -> Array:
        """What is answered is made of the scores of rows; ``numbers`` are those of the rows scored."""
        self._refuse_nonfinite(scores, numbers)
        return scores

    @property
    def decision_terms(self) -> tuple[float, float, float]:
        """a, b and c of what is answered of a row x with one score f: a·f(x) + b·k(x, x) + c."""
        return 1.0, 0.0, 0.0

    def n_scores(self) -> int | None:
        """How many scores a row has, as what was learned tells it; ``None`` where only the model does."""
        return None

    def _refuse_nonfinite(self, scores: Array, numbers: Array | None) -> None:
        """A score that is no number says nothing; ``numbers`` are those of the rows scored."""
        bad = np.flatnonzero(~np.isfinite(scores).all(axis=1))
        if bad.size:
            row = bad[0] if numbers is None else numbers[bad[0]]
            raise ValueError(
                f"{type(self).__name__}: the score of row {row} is not a finite number, so that nothing can be "
                f"predicted for it; {rescale(self.kernel_)}, or use a kernel whose values are finite on these rows."
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        kernel = self.kernel.strip().lower() if isinstance(self.kernel, str) else self.kernel
        pairwise = kernel == "precomputed" or bool(getattr(kernel, "precomputed", False))
        tags.input_tags.sparse = not pairwise
        tags.input_tags.pairwise = pairwise
        tags.target_tags.multi_output = self.multi_output
        if isinstance(kernel, Kernel) and not kernel.on_rows:
            tags.input_tags.two_d_array = tags.input_tags.sparse = False
        return tags


def _frame(header: Array, names: list[str]) -> Any:
    """A frame of no rows with these columns."""
    import pandas as pd

    return pd.DataFrame(header, columns=names)
