"""What the estimators of tables share: preparation, choice by exact leave-one-out, and the machine of all rows."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    check_random_state,
    column_or_1d,
    validate_data,
)

from ..checks import schema
from ..checks.folds import refuse_before_folds
from ..checks.parameters import bytes_of, choice, number, size_in_words
from ..checks.tables import numbers_only, refuse_foreign
from ..columns.kinds import KINDS, check_kind
from ..estimators.choosing import TRIED
from ..io.frames import is_frame, read_frame
from ..io.table import DataError, Options, Table
from ..messages import enumeration, nearest
from ..metrics import (
    FAMILIES,
    RIDGES,
    ROUNDS,
    SCALES,
    Clock,
    Judge,
    Mean,
    Setting,
    Tried,
    exactly_left_out,
    learned_metric,
    tried_table,
)
from ..preprocess import Clipped, prepare
from ..runtime.compile import Array
from ..runtime.numerics import product
from ..runtime.threads import one_blas_thread

__all__ = ["CERTIFICATE", "TableMachine", "prepared", "sources", "table_of"]

# From what a user gives to rows of numbers: frames with columns of any kind, and arrays of numbers.


def table_of(
    estimator: Any, X: Any, *, asked: Mapping[str, str] | None = None, known: Mapping[str, str] | None = None
) -> Table:
    """The rows of a user as a table.

    Parameters
    ----------
    estimator : estimator
    X : frame or array
    asked : mapping, optional
        Of rows of training, the kinds of some columns as the user says them.
    known : mapping, optional
        Of new rows, the kinds of all columns as they were in training.
    """
    import pandas as pd

    reset, asked = known is None, asked or {}
    if is_frame(X):
        frame = X if hasattr(X, "iloc") else X.to_pandas()
        learned_from = getattr(estimator, "feature_names_in_", None)
        if known is not None and learned_from is not None:
            absent = set(learned_from) - set(frame.columns)
            if absent and absent.isdisjoint(known):  # nothing was learned from them
                frame = frame.reindex(columns=learned_from)
        if reset or learned_from is not None:
            validate_data(estimator, frame, reset=reset, skip_check_array=True)
        if known is not None:
            return read_frame(frame, Options(labelled=False, kinds=known, columns=frozenset(known)))
        _refuse_unknown(estimator, asked, [str(name) for name in frame.columns])
        return read_frame(frame, Options(labelled=False, kinds=asked))
    refuse_foreign(X)
    with numbers_only(X):
        rows = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            ensure_min_samples=1 if reset else 0,
        )
    names = getattr(estimator, "feature_names_in_", None)
    names = [f"x{k + 1}" for k in range(rows.shape[1])] if names is None else [str(name) for name in names]
    _refuse_unknown(estimator, asked, names)
    frame = pd.DataFrame(rows, columns=names)
    if not asked:
        return Table("the rows", frame)
    # Arrays say nothing of their columns, and so all that nobody asks to be something else are numbers that stay.
    return read_frame(frame, Options(labelled=False, kinds={**dict.fromkeys(names, "keep"), **asked}))


def _refuse_unknown(estimator: Any, asked: Mapping[str, str], names: list[str]) -> None:
    """Refuse kinds of columns that the rows do not have."""
    for name in asked:
        if name not in names:
            near = nearest(name, names)
            hint = f"the columns are {enumeration(map(repr, names), 6)}." if near is None else f"did you mean {near!r}?"
            raise ValueError(f"{type(estimator).__name__}: kinds has the column {name!r}, which is not there; {hint}")


def prepared(table: Table) -> Pipeline:
    """The steps from a table to rows of numbers, not fitted: standardised, none further off than a limit."""
    return Pipeline([*prepare(table).steps, ("clip", Clipped())])


def as_rows(values: Any, memory: int | str, name: str) -> Array:
    """Prepared rows as an array, in the order of C."""
    needed = 8 * values.shape[0] * values.shape[1]
    if needed > bytes_of(memory):
        raise DataError(
            f"{name}: the {values.shape[1]} columns of numbers that were made of the table take "
            f"{size_in_words(needed)}, more than memory={memory!r}; raise it, or leave columns of many words out."
        )
    dense = values.toarray() if hasattr(values, "toarray") else values
    return np.ascontiguousarray(dense, dtype=np.float64)


def sources(preparation: Pipeline, names: list[str]) -> Array:
    """For each column of prepared rows the place of the user's column that it was made of."""
    place = {name: k for k, name in enumerate(names)}
    made = [str(name) for name in preparation.get_feature_names_out()]
    ordered = sorted(names, key=len, reverse=True)

    def source(name: str) -> int:
        plain = name.removeprefix("missingindicator_")
        if plain in place:
            return place[plain]
        return next((place[each] for each in ordered if plain.startswith(each)), 0)

    return np.array([source(name) for name in made])


def _whole(order: Array, groups: Array | None, most: int) -> Array:
    """The first rows of an order, at most so many, but none of a group of which others are left over."""
    first = order[:most]
    if groups is not None and most < order.size:
        inside = first[groups[first] != groups[order[most]]]
        first = inside if np.unique(groups[inside]).size > 1 else first
    return np.sort(first)


def _with(parts: Sequence[Setting], best: Setting) -> list[Setting]:
    """The settings, with the best of them as it was judged last."""
    return [best if (each.family, each.round) == (best.family, best.round) else each for each in parts]


#: What the machine of all rows says of itself.
CERTIFICATE = ("objective_", "duality_gap_", "status_", "converged_", "n_iter_")

#: Matrices of all rows that a choice by leave-one-out has in memory at once: distances, and the factor.
_MATRICES = 2
#: Rows on which the kernel's length and λ are looked for again, and so many settings as a rule; rows that are left out
#: one by one in the end.
_CHOSEN_ON, _TRIALS, _LEFT_OUT = 4000, 10, 10_000
#: So many times more rows than weights were learned on tell more of them.
_MORE = 2
#: The part of the time that choosing may take; the machine of all rows gets the rest.
_CHOOSING = 0.7
#: What is said where there are more rows than have room.
_BEYOND = "not tried on all rows: {} are left out one by one; the others are told by a machine of these"
#: Rows that are compared at once with those that a choice looked at.
_AT_ONCE = 2000
#: Rows by which the importance of columns is measured, and the time of a product.
_MEASURED = 500
#: Products with the matrix of all rows that a machine takes, seconds of a pair of rows beside them, the rows that there
#: is always time for, and the least time of a machine.
_PASSES, _BESIDE, _FEWEST, _AT_LEAST = 15, 2e-8, 1000, 0.5


class _Choice(NamedTuple):
    """What was chosen, what each row is told by machines without it, and what was tried."""

    setting: Setting | Mean
    lam: float
    predictions: Array
    tried: list[Tried]


class TableMachine(BaseEstimator):
    """Base of :class:`TableClassifier` and :class:`TableRegressor`."""

    #: A search that is given groups means its own folds, unless it is told otherwise by ``set_fit_request``.
    __metadata_request__fit: ClassVar = {"groups": False}
    #: What ``fit`` finds: each attribute, and what it must be.
    fields: ClassVar = {
        "preparation_": schema.instance(Pipeline),
        "kinds_": schema.mapping(schema.text, schema.text),
        "ignored_": schema.mapping(schema.text, schema.text),
        "n_features_in_": schema.whole(size="columns"),
        "feature_names_in_": schema.optional(schema.names("columns")),
        "feature_importances_": schema.numbers("columns", low=0),
        "loo_score_": schema.number(),
        "tried_": TRIED,
        "groups_": schema.optional(schema.wholes("rows")),
    }
    metric: Any
    kernels: Any
    kinds: Any
    memory: Any
    time_limit: Any
    random_state: Any
    #: The number of each training row's group, where there are groups.
    groups_: Array | None = None

    def check_parameters(self) -> None:
        """Raise ``ValueError`` where a parameter is of no use, as ``fit`` does before it looks at the data."""
        choice(self, "metric", ("learned", None))
        known = tuple(FAMILIES)
        if isinstance(self.kernels, str) or not len(self.kernels) or not set(self.kernels) <= set(known):
            raise ValueError(f"{type(self).__name__}: kernels must be some of {list(known)}; got {self.kernels!r}.")
        self._asked_kinds()
        if self.time_limit is not None:
            number(self, "time_limit", 0)
        bytes_of(self.memory)

    def _asked_kinds(self) -> dict[str, str]:
        """The kinds of columns as the user says them."""
        if not isinstance(self.kinds, Mapping | None):
            raise ValueError(
                f"{type(self).__name__}: kinds must be a dict from columns to kinds, as in {{'postcode': 'category'}}; "
                f"got {self.kinds!r}."
            )
        asked = {str(name): kind for name, kind in (self.kinds or {}).items()}
        for name, kind in asked.items():
            if not (isinstance(kind, str) and check_kind(kind)):
                known = enumeration(map(repr, KINDS), last="or")
                raise ValueError(f"{type(self).__name__}: the kind of {name!r} must be {known}; got {kind!r}.")
        return asked

    # -- what classes and numbers do differently ------------------------------------------------------------------

    def _encoded(self, y: Any, sample_weight: Any, X: Any) -> tuple[Any, Array, Array | None]:
        """Targets for the machine, those of the squared loss with a column each, and the weight of each row."""
        raise NotImplementedError

    def _machine(self, kernel: Any, lam: float) -> Any:
        """The machine of all rows, not fitted."""
        raise NotImplementedError

    def _publish(self, targets: Any, predictions: Array, weight: Array | None) -> None:
        """What is known of rows by machines that have not seen them."""
        raise NotImplementedError

    # -- the way --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Prepare the table, choose, and learn.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)
            A frame of pandas, or what becomes one, with columns of numbers, words, dates and texts; or numbers. Values
            may be missing.
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional
        groups : array of shape (n_rows,), optional
            Rows of a group, such as those of a patient or of a day, are left out together, so that the choice, the
            probabilities and the intervals are those for new groups. λn is then the same for all groups.

        Returns
        -------
        self
        """
        self.check_parameters()
        limit = np.inf if self.time_limit is None else float(self.time_limit)
        clock, whole = Clock(_CHOOSING * limit), Clock(limit)
        refuse_before_folds(self, X, y, sample_weight)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        table = table_of(self, X, asked=self._asked_kinds())
        check_consistent_length(X, y)
        given, targets, weight = self._encoded(y, sample_weight, X)
        counted = len(targets) if weight is None else np.count_nonzero(weight)
        if counted < 2:
            raise ValueError(
                f"{type(self).__name__} chooses by leaving out one row after the other, and there is one sample "
                "(with a weight); give two or more."
            )
        self.groups_ = together = self._groups(groups, len(targets), weight)
        with one_blas_thread():
            self.kinds_ = {**table.kinds, **table.found.get("kinds", {})}
            self.ignored_ = dict(table.left_out)
            self.preparation_ = prepared(table)
            rows = as_rows(self.preparation_.fit_transform(table.X), self.memory, type(self).__name__)
            chosen = self._chosen(rows, targets, weight, clock, together)
            some = self._in_time(chosen, rows, given, whole)
            self.machine_ = self._machine(chosen.setting.kernel, chosen.lam * len(rows) / len(some))
            if np.isfinite(limit):
                self.machine_.set_params(time_limit=max(whole.left, _AT_LEAST))
            self.machine_.fit(rows[some], given[some], None if weight is None else weight[some])
            for name in CERTIFICATE:
                setattr(self, name, getattr(self.machine_, name))
            self.tried_ = tried_table(chosen.tried)
            self.feature_importances_ = self._importances(chosen.setting, rows)
            self._publish(given, chosen.predictions, weight)
        return self

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _groups(self, groups: Any, n: int, weight: Array | None) -> Array | None:
        """The number of each row's group."""
        if groups is None:
            return None
        values = column_or_1d(groups)
        check_consistent_length(values, np.empty(n))
        numbers = np.unique(values, return_inverse=True)[1]
        if np.unique(numbers if weight is None else numbers[weight > 0]).size < 2:
            raise ValueError(
                f"{type(self).__name__} chooses by leaving out one group after the other, and there is one group (with "
                "a weight); give two or more, or leave groups out."
            )
        return numbers

    def _chosen(self, rows: Array, targets: Array, weight: Array | None, clock: Clock, groups: Array | None) -> _Choice:
        """The kernel and λ of the machine of all rows; and predictions for each by a machine without it.

        Weights of columns are learned on some hundred rows. Which family is best, and whether with weights, others say.
        Length and λ are looked for again on some thousand, from where they were best; and as many as have room and time
        are left out, one after the other, for what was best. With more rows ρ = λn stays as it is: between 1500 and
        8000 rows the best one did not move by a step.
        """
        n, seed = len(rows), self._seed()
        found = learned_metric(
            rows, targets, weight, families=tuple(self.kernels), rounds=ROUNDS if self.metric == "learned" else 0,
            seconds=clock.left, random_state=seed, groups=groups,
        )  # fmt: skip
        uniform = weight is None or np.ptp(weight) == 0
        room = int(np.sqrt(bytes_of(self.memory) / (8 * _MATRICES)))
        order = np.random.default_rng(seed).permutation(n)
        if groups is not None:  # one group after the other
            order = order[np.argsort(np.random.default_rng(seed).permutation(n)[groups[order]], kind="stable")]
        else:  # rows that weights were not learned on come first
            order = order[np.argsort(np.isin(order, found.numbers), kind="stable")]
        judges: list[Judge] = []

        def judged_by(most: int, times: int) -> Judge:
            """A judge with as many rows as there is room for, and time for so many factorisations."""
            quick = found.rows * (max(clock.left, found.pace) / (times * found.pace)) ** (1 / 3)
            some = _whole(order, groups, int(min(n, room, most, max(quick, min(found.rows, n)))))
            own, together = (None if each is None else each[some] for each in (weight, groups))
            judges.append(Judge(rows[some], targets[some], own, True, clock, numbers=some, groups=together))
            return judges[-1]

        judge = judged_by(_CHOSEN_ON, _TRIALS)
        best = found.best_on_others(judge)
        setting, distances = judge.begun(best.family, best.round, best.weights)
        place = SCALES.index(best.scale), RIDGES.index(best.ridge)
        if judge.n == found.rows:
            setting = best
            model = judge.judge(best, distances)[1]
        else:
            setting, place, model = judge.best(setting, distances, place)
            if self.metric == "learned" and judge.n >= _MORE * found.rows:  # another round, which more rows know better
                weights = judge.next_weights(setting, distances, model)
                if weights is not None and not clock.over:
                    again, apart = judge.begun(setting.family, setting.round + 1, weights)
                    again, _, model_again = judge.best(again, apart, place, along=True)
                    if again.error < setting.error:
                        setting, distances, model = again, apart, model_again
        chosen: Setting | Mean = setting
        if is_classifier(self) and len(found.parts) > 1 and judge.n == n and not clock.over:
            mean, of_mean = judge.mean(_with(found.parts, setting))
            if mean.error <= setting.error + judge.doubt(model):
                chosen, model = mean, of_mean
        last = judged_by(_LEFT_OUT if uniform and groups is None else _CHOSEN_ON, 1)
        if last.n > judge.n:
            judge, model = last, last.on_these(chosen)
        lam = chosen.ridge / (judge.n - 1)
        unseen = np.empty(targets.shape)
        unseen[judge.numbers] = model.predictions
        if not uniform and groups is None:
            matrix = partial(chosen.matrix, judge.rows)
            unseen[judge.numbers] = exactly_left_out(matrix, judge.targets, lam, True, judge.weight)
        if judge.n < n:
            judge.tried.append(Tried(chosen.name, chosen.round, np.nan, np.nan, n, np.nan, _BEYOND.format(judge.n)))
            others = np.setdiff1d(np.arange(n), judge.numbers)
            for begin in range(0, others.size, _AT_ONCE):
                piece = others[begin : begin + _AT_ONCE]
                unseen[piece] = product(chosen.matrix(rows[piece], judge.rows), model.z) + model.b
            lam *= (judge.n - 1) / (n - 1)
        return _Choice(chosen, lam, unseen, [*found.tried, *(each for judge in judges for each in judge.tried)])

    def _in_time(self, chosen: _Choice, rows: Array, given: Array, clock: Clock) -> Array:
        """The rows that the machine has time for: all of them as a rule, else some of each class.

        Conjugate gradients look at all pairs of rows a few times; how long that takes is seen on some.
        """
        n, setting = len(rows), chosen.setting
        if np.isinf(clock.end):
            return np.arange(n)
        some = rows[np.linspace(0, n - 1, min(_MEASURED, n)).astype(int)]
        began = time.monotonic()
        setting.matrix(some)
        pace = _PASSES * (time.monotonic() - began) / len(some) ** 2 + _BESIDE
        most = max(_FEWEST, int(np.sqrt(clock.left / pace)))
        if n <= most:
            return np.arange(n)
        note = f"not tried on all rows: the machine had time for {most:,} of {n:,}"
        chosen.tried.append(Tried(setting.name, setting.round, np.nan, np.nan, n, np.nan, note))
        drawn = np.random.default_rng(self._seed()).permutation(n)[:most]
        return np.union1d(drawn, np.unique(given, return_index=True)[1]) if is_classifier(self) else np.sort(drawn)

    def _importances(self, chosen: Setting | Mean, rows: Array) -> Array:
        """How much predictions change with a column, over its spread: the parts of all of the user's columns."""
        from ..estimators.model import KernelModel

        model = self.machine_._model
        assert isinstance(model, KernelModel)
        some = np.linspace(0, len(rows) - 1, min(_MEASURED, len(rows))).astype(int)
        if not model.support.size:
            return np.zeros(self.n_features_in_)
        gradients = chosen.gradients(rows[some], rows[model.support], model.coef.T)
        size = np.sqrt(np.square(gradients).sum(axis=2).mean(axis=0)) * rows.std(axis=0)
        names = list(getattr(self, "feature_names_in_", [])) or [f"x{k + 1}" for k in range(self.n_features_in_)]
        out = np.bincount(sources(self.preparation_, [str(name) for name in names]), size, minlength=len(names))
        return out / out.sum() if out.sum() > 0 else out

    # -- new rows -------------------------------------------------------------------------------------------------

    @property
    def estimator_(self) -> Pipeline:
        """The preparation and the machine behind it, whose scores are those of the whole."""
        check_is_fitted(self, "machine_")
        return Pipeline([*self.preparation_.steps, ("machine", self.machine_)])

    def _rows(self, X: Any) -> Array:
        """New rows, prepared as those of training were."""
        check_is_fitted(self, "machine_")
        table = table_of(self, X, known=self.kinds_)
        if not table.n_rows:
            return np.empty((0, self.machine_.n_features_in_))
        return as_rows(self.preparation_.transform(table.X), self.memory, type(self).__name__)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
