"""One case, fitted and judged."""

from __future__ import annotations

import re
import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from mercer import OneClassSVM

from . import references, smooth_references
from .cases import NUMERIC, UNLABELLED, Case
from .definitions import EXACT, TINY, Array, Real, rows_of
from .readings import Reading, SoftmaxTask, item_weights, readings, spread
from .tasks import DOUBLE, SINGLE, Task, Worth, softmax_worth
from .widths import WIDTHS, WidthReading, spread_of, width_readings

#: Every kind of finding, and what it means.
KINDS = {
    "false certificate": "the reported gap is smaller than what another model shows to be missing",
    "wrong objective": "objective_ is not the objective of the published model",
    "infeasible": "dual coefficients outside their bounds, or a sum that is not zero",
    "not finite": "NaN or infinity in a model, a score or a certificate",
    "false convergence": "status converged, conditions clearly not met",
    "contradiction": "status converged beside a violation or a gap that the tolerance does not allow",
    "wrong violation": "kkt_violation_ is less than what the published model violates",
    "wrong support": "support_ or support_vectors_ are not those of the coefficients",
    "wrong share": "more rows outside of the margin, the tube or the ball than nu says",
    "above LIBSVM": "the objective of an SVC more than 1e-4 above LIBSVM's at tol 1e-6",
    "examiner": "a mistake of the examiner's own",
    "hang": "no answer within the time limit",
    "crash": "an exception that is not a refusal",
    "undeserved refusal": "a ValueError on data that can be learned from",
    "hard margin": "separable or not, against a linear program",
    "probabilities": "rows that do not sum to one, or disagree with predict",
    "kernel values": "kernel values in double precision that are not those of the definition",
    "wrong scores": "decision values or weights that are not those of the published coefficients",
    "missing attribute": "an attribute that every such model should have",
    "numerical warning": "NumPy warned of an overflow or an invalid value",
}
#: A gap above this part of the objective's scale is not small.
SMALL, SMALL_TUBE = 1e-6, 1e-4
#: How far a kernel value in double precision may be from its definition, relative to both self-similarities.
KERNEL = 1e-8
#: How far an objective may be above LIBSVM's.
ABOVE = 1e-4


@dataclass
class Outcome:
    """What came of one case."""

    number: int
    text: str
    estimator: str
    findings: list[tuple[str, str]] = field(default_factory=list)
    #: Whether the machine, and another method, reached their tolerances; ``None`` where that was not asked.
    converged: bool | None = None
    reference: bool | None = None
    refusal: str | None = None
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    def find(self, kind: str, text: str) -> None:
        self.findings.append((kind, text))


def examine(case: Case) -> Outcome:
    """Fit a case and judge everything that it says about itself."""
    out = Outcome(case.number, str(case), case.name)
    begin = time.perf_counter()
    model = _fitted(case, out)
    out.seconds = time.perf_counter() - begin
    if model is None:
        return out
    if not _finite(case, model, out):
        return out
    _present(model, out)
    out.converged = _says_converged(model)
    if case.name == "Perceptron":
        _perceptron(case, model, out)
        return out
    if case.name in WIDTHS:
        _widths(case, model, out)
        return out
    found = readings(case, model, _kernel_values(case, out))
    _scores(case, model, found, out)
    _weights(case, model, found, out)
    if "sigmoid" in str(case.kernel):  # learned from, but nothing here is convex
        return out
    _probabilities(case, model, out)
    if case.name == "SVC" and np.isinf(model.C):
        if model.rank is None:
            with np.errstate(all="ignore"):
                _hard_margins(case, model, found, out)
        return out
    with np.errstate(all="ignore"):
        reached = [_judge(case, model, reading, out) for reading in found]
    out.reference = all(reached) if case.name != "Pegasos" else None
    return out


def _says_converged(model: Any) -> bool:
    if hasattr(model, "converged_"):
        return bool(model.converged_)
    return getattr(model, "status_", None) == "converged"


def _fitted(case: Case, out: Outcome) -> Any:
    """The fitted model; ``None``, with a verdict, where it was refused."""
    model = clone(case.estimator)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            options = {} if case.weight is None else {"sample_weight": case.weight}
            model.fit(case.X, *([] if case.name in UNLABELLED else [case.y]), **options)
        except Exception as error:
            if isinstance(error, ValueError) and not isinstance(error, np.linalg.LinAlgError):
                out.refusal = reason(str(error))
                if not deserves_refusal(case, str(error)):
                    out.find("undeserved refusal", str(error))
            else:
                out.find("crash", f"{type(error).__name__}: {error}")
            return None
    said = {str(w.message) for w in caught if issubclass(w.category, RuntimeWarning)}
    for message in sorted(said):
        out.find("numerical warning", message)
    return model


def reason(message: str) -> str:
    """A message without its numbers, so that equal reasons count together."""
    return re.sub(r"-?\d[\d.e+-]*", "#", re.sub(r"the kernel .*? (is|over)", r"the kernel … \1", message))[:110]


def deserves_refusal(case: Case, message: str) -> bool:
    """Whether nothing could be learned: values beyond all numbers, or a matrix that is no kernel's."""
    K = case.matrix()
    if "definite" in message:
        eigenvalues = np.linalg.eigvalsh(K.astype(np.float64))
        return bool(eigenvalues[0] < -1e-6 * abs(eigenvalues[-1]))
    if case.name == "NuSVC" and ("infeasible" in message or "nu must be" in message):
        return True
    if case.name == "Pegasos" and np.abs(K).max() > 1e10 * case.estimator.lam:
        return True  # steps of 1/(λt) that go further and further
    values = np.ones(1) if isinstance(case.items, list) else case.items
    if case.name == "NuSVC" and np.abs(K).max() > 1e30:
        return True
    return bool(np.abs(K).max() > (1e18 if case.single else 1e100) or np.abs(values).max() > 1e150)


def _finite(case: Case, model: Any, out: Outcome) -> bool:
    """Whether all that the model is and says is finite."""
    for name in ("coef_", "dual_coef_", "intercept_", "objective_", "duality_gap_", "kkt_violation_"):
        value = getattr(model, name, None)
        if value is not None and not np.isfinite(np.asarray(value, float)).all():
            if name in ("objective_", "duality_gap_") and getattr(model, "C", 1) == np.inf:
                continue  # a hard margin that is not met costs infinitely much; looked at later
            out.find("not finite", f"{name} = {np.asarray(value).ravel()[:4]}, status {model.status_!r}")
            return False
    score = model.predict if case.name in NUMERIC else model.decision_function
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for rows, what in ((case.X, "training"), (case.X_new, "new")):
            try:
                fine, why = np.isfinite(score(rows)).all(), "NaN or infinity"
            except ValueError as error:
                fine, why = False, str(error)
            # A row a hundred times further out may well be beyond all numbers.
            if not fine and not (what == "new" and _beyond(case)):
                out.find("not finite", f"scores of {what} rows, status {model.status_!r}: {why}")
                return False
    return True


def _beyond(case: Case) -> bool:
    """Whether kernel values of new rows leave the range of the precision that they are computed in."""
    return bool(np.abs(case.new_matrix()).max() > (1e37 if case.single else 1e150))


def _present(model: Any, out: Outcome) -> None:
    wanted = ["status_", "n_iter_", "intercept_"]
    name = type(model).__name__
    wanted += [] if name == "Perceptron" else ["objective_", "duality_gap_"]
    wanted += ["kkt_violation_"] if name in ("SVC", "SVR", "KernelQuantiles", *WIDTHS) else ["converged_"]
    missing = [attribute for attribute in wanted if not hasattr(model, attribute)]
    if missing:
        out.find("missing attribute", f"{name} has no {', '.join(missing)}")


def _kernel_values(case: Case, out: Outcome) -> Array | float:
    """How far the kernel's own values in double precision are from the definition.

    What a machine says is then judged by the values that it saw, and these are judged here.
    """
    if case.kernel is None or case.given:
        return 0.0
    K = case.matrix()
    rows = case.X.astype(np.float64) if hasattr(case.X, "astype") else case.X
    off = np.abs(case.kernel(rows) - K)
    lengths = np.sqrt(np.abs(K.diagonal()))
    size = np.maximum(lengths[:, None] * lengths, TINY)
    worst = np.max(off / size)
    out.notes.append(f"kernel values off by {_short(worst)}")
    if not worst <= KERNEL:
        out.find("kernel values", f"off by {_short(worst)} of √(k(x, x)·k(z, z))")
    if case.single and case.name == "Pegasos":  # it computes in the precision of the rows
        worst = max(worst, np.max(np.abs(case.kernel(case.X) - K) / size))
    return 10 * worst * size  # a part of the rows is rounded otherwise than all of them


def _scores(case: Case, model: Any, found: list[Reading], out: Outcome) -> None:
    """Training rows are scored as the published coefficients say; rows in single precision are left out."""
    several = len(found) > 1 or isinstance(found[0].task, SoftmaxTask)
    _support(case, model, out)
    if case.single or (case.name == "SVC" and several and model.strategy == "ovo"):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = model.predict(case.X) if case.name in NUMERIC else model.decision_function(case.X)
    values = np.asarray(values).reshape(case.size, -1)
    if case.name == "KernelQuantiles" and len(found) > 1:  # sorted row by row
        return
    for place, reading in enumerate(found):
        mine = values[reading.rows] if isinstance(reading.task, SoftmaxTask) else values[reading.rows, place]
        doubt = 1e6 * (reading.doubt + 2.0**-53 * np.abs(np.asarray(reading.b, EXACT)))
        off = np.abs(mine - (reading.f + reading.b))
        if (off > doubt + 1e-300).any():
            worst = int(np.argmax((off - doubt).max(axis=-1) if off.ndim > 1 else off - doubt))
            out.find(
                "wrong scores", f"row {worst}: off by {np.max(off[worst]):.3g}, allowed {np.max(doubt[worst]):.3g}"
            )


def _weights(case: Case, model: Any, found: list[Reading], out: Outcome) -> None:
    """Weights that are published beside dual coefficients are those of the coefficients, w = Σ z·x."""
    if case.name not in ("SVC", "SVR") or not hasattr(model, "coef_"):
        return
    for place, reading in enumerate(found):
        X, z = case.items[reading.rows], np.asarray(reading.z, EXACT)
        several = case.name == "SVC" and len(model.classes_) > 2 and model.strategy == "ovo"
        w = (-1 if several else 1) * np.asarray(model.coef_[place], EXACT)
        off = np.abs(z @ X - w)
        doubt = 100 * (SINGLE if case.single else DOUBLE) * (np.abs(z) @ np.abs(X)) + 1e-4 * np.abs(w).max()
        if (off > doubt).any():
            worst = int(np.argmax(off - doubt))
            out.find("wrong scores", f"coef_ is {_short(off[worst])} from Σ z·x, allowed {_short(doubt[worst])}")


def _support(case: Case, model: Any, out: Outcome) -> None:
    """The support items are those with a coefficient, in their order or class by class, and the vectors their rows."""
    if not hasattr(model, "support_") or getattr(model, "rank", None) is not None:
        return
    support, coef = np.asarray(model.support_), np.atleast_2d(model.dual_coef_)
    if np.unique(support).size != support.size or coef.shape[1] != support.size or not (coef != 0).any(axis=0).all():
        out.find("wrong support", f"{support.size} support items, {np.count_nonzero((coef != 0).any(axis=0))} in use")
        return
    known = hasattr(model, "support_vectors_") and isinstance(case.items, np.ndarray) and not case.given
    if known and not np.equal(rows_of(model.support_vectors_), case.items[support]).all():
        out.find("wrong support", "support_vectors_ are not the rows of support_")


def _perceptron(case: Case, model: Any, out: Outcome) -> None:
    """A last model that made no mistake makes none."""
    if not model.converged_ or model.variant != "last":
        return
    K, codes = case.matrix(), np.unique(case.y, return_inverse=True)[1]
    alive = item_weights(case) > 0
    rounding = SINGLE if case.single else DOUBLE
    for place in range(len(model.intercept_)):
        y = np.where(codes == (1 if len(model.classes_) == 2 else place), 1, -1)
        if hasattr(model, "coef_"):
            w = np.asarray(model.coef_[place], EXACT)
            f, doubt = case.items @ w, rounding * (np.abs(case.items) @ np.abs(w))
        else:
            z = spread(model, len(y), place)
            f, doubt = K @ z, rounding * (np.abs(K) @ np.abs(z))
        b = EXACT(model.intercept_[place])
        wrong = alive & (y * (f + b) + 1e3 * (doubt + rounding * np.abs(b)) < 0)
        if wrong.any():
            out.find("false convergence", f"Perceptron: {int(wrong.sum())} rows on the wrong side")


def _probabilities(case: Case, model: Any, out: Outcome) -> None:
    if case.name != "KernelClassifier" or model.loss != "logistic":
        return
    chances, labels = model.predict_proba(case.X), model.predict(case.X)
    if np.abs(chances.sum(axis=1) - 1).max() > 1e-9 or chances.min() < 0 or not np.isfinite(chances).all():
        out.find("probabilities", f"rows sum to {chances.sum(axis=1).min()} … {chances.sum(axis=1).max()}")
    place = np.searchsorted(model.classes_, labels)
    if (chances[np.arange(len(labels)), place] < chances.max(axis=1) - 1e-12).any():
        out.find("probabilities", "predict is not the likeliest class")


# -- certificates ---------------------------------------------------------------------------------


def _judge(case: Case, model: Any, reading: Reading, out: Outcome) -> bool:
    """Judge one problem; whether another method solves it is returned."""
    task, worth = reading.task, reading.worth
    assert worth is not None
    P, doubt = worth
    reached, best, theirs = best_known(reading)
    scale: Real = max(abs(P), EXACT(task.constant_worth()))
    say = f"P {_short(P)} (± {_short(doubt)}), least known {_short(best)}, gap {_short(reading.gap)}"
    out.notes.append(f"{say}, objective_ {_short(reading.objective)}, reference converged: {reached}")
    if reading.objective is not None and abs(reading.objective - P) > 2 * doubt:
        out.find("wrong objective", f"objective_ is {_short(reading.objective - P)} more than P; {say}")
    if reading.gap is not None and (reading.gap < 0 or P - best > reading.gap + 2 * doubt):
        out.find("false certificate", f"{say}, {model.status_}")
    linear = isinstance(task, Task) and not task.loss.smooth
    converged = _says_converged(model)
    if converged and case.name in ("SVC", "SVR"):
        unit = _unit(case, task)
        gap = 0.0 if reading.gap is None else float(reading.gap / task.cost.sum()) / unit
        _contradiction(model, float(np.max(model.kkt_violation_)) / unit, gap, out)
    if linear and case.name != "Pegasos":
        assert isinstance(task, Task)
        _feasible(task, reading.z, out)
        scores = reading.f, reading.doubt
        worst, rounding = references.violation(task, reading.z, scores) if reading.z is not None else (0.0, 0.0)
        out.notes.append(f"violation {worst:.3g} (± {rounding:.3g})")
        claimed = float(np.max(model.kkt_violation_))
        if reading.z is not None and worst > 1.001 * claimed + rounding + 1e-3 * (model.tol or 1e-5) * _unit(
            case, task
        ):
            out.find("wrong violation", f"violation {worst:.3g} (± {rounding:.3g}), published {claimed:.3g}")
        if case.name == "SVC" and converged and worst > 2 * model.tol + rounding:
            out.find("false convergence", f"violation {worst:.3g}, tol {model.tol:g}, {say}")
        if case.name == "SVC" and theirs is not None and model.tol <= 1e-3:
            above = (P - theirs) / max(theirs, EXACT(1e-300))
            if above > ABOVE and P - theirs > 2 * doubt:
                out.find("above LIBSVM", f"{float(above):.2e} relative, {say}, {model.status_}")
    small = SMALL_TUBE if linear else SMALL
    if converged and case.name in ("KernelClassifier", "KernelRegressor"):
        if P - best > small * scale + 2 * doubt:
            out.find("false convergence", f"{float((P - best) / scale):.2e} of the scale is missing: {say}")
        elif reading.gap is not None and reading.gap > small * scale + 4 * doubt:
            out.find("false convergence", f"gap {float(reading.gap / scale):.2e} of the scale: {say}")
    return reached


def best_known(reading: Reading) -> tuple[bool, Real, Real | None]:
    """Whether another method solved the problem, the least objective of any model known, and LIBSVM's."""
    task, worth = reading.task, reading.worth
    assert worth is not None
    if isinstance(task, SoftmaxTask):
        if task.own.size > 600:
            return False, worth.value, None
        Z, b, reached = smooth_references.softmax_newton(task.K, task.own, task.cost, task.reg, task.free)
        found = softmax_worth(task.K, task.own, task.cost, task.reg, Z, b)
        return reached and _plain(found, task), min(found.most, worth.value), None
    if task.loss.smooth:
        answer = smooth_references.newton(task)
        found = task.worth_of(answer.z, answer.b)
        return answer.converged and _plain(found, task), min(found.most, worth.value), None
    answer = references.interior_point(task)
    inner, theirs = _worth_with_best_intercept(task, answer.z), None
    values = [worth.value, inner.most]
    # The dual value of allowed coefficients is below every objective: where both meet, the problem is solved.
    reached = inner.value - task.dual(answer.z) <= 1e-7 * inner.value and _plain(inner, task)
    other = references.libsvm(task) if task.intercept == "free" else None
    if other is not None:
        values.append(_worth_with_best_intercept(task, other.z).most)
        worst, rounding = references.violation(task, other.z)
        unit = 1.0 if task.loss.name == "hinge" else float(np.std(task.y.astype(float))) or 1.0
        if other.converged and worst <= 1e-3 * unit and rounding < 1e-4 * unit:
            reached, theirs = True, values[-1]
    return bool(reached), min(values), theirs


def _plain(worth: Worth, task: Task | SoftmaxTask) -> bool:
    """Whether double precision tells an objective to many digits."""
    return bool(worth.doubt <= 1e-6 * max(worth.value, EXACT(task.constant_worth())))


def _worth_with_best_intercept(task: Task, z: Array) -> Worth:
    z = np.asarray(z, EXACT)
    return task.worth_of(z, z.sum() if task.intercept == "counted" else task.best_intercept(task.K @ z))


def _feasible(task: Task, z: Array | None, out: Outcome) -> None:
    if z is None:
        return
    box = task.box()
    over = np.abs(z) - box
    wrong = task.y * z if task.loss.name == "hinge" else np.zeros(1)
    if (over > 1e-9 * box).any() or (wrong < -1e-9 * np.abs(z).max(initial=0)).any():
        out.find(
            "infeasible", f"coefficients up to {_short((np.abs(z) / np.maximum(box, TINY)).max())} of their bounds"
        )
    total, size = abs(z.sum()), np.abs(z).sum()
    if task.intercept == "free" and total > 1e-9 * size:
        out.find("infeasible", f"the coefficients sum to {_short(total)}, their sizes to {_short(size)}")


def _short(value: Any) -> str:
    return "none" if value is None else f"{float(value):.6g}"


def _unit(case: Case, task: Any) -> float:
    """What ``tol`` is in units of: of a regression the deviation of the targets from their weighted mean."""
    if case.name not in NUMERIC:
        return 1.0
    return spread_of(task.y, task.cost)


def _contradiction(model: Any, violation: float, gap: float, out: Outcome) -> None:
    """Both in units of ``tol``."""
    if violation > 1.001 * model.tol or gap > 2.001 * model.tol:
        out.find("contradiction", f"converged, violation {violation:.3g} and gap {gap:.3g} at tol {model.tol:g}")


# -- a width that is found along ----------------------------------------------------------------------


def _widths(case: Case, model: Any, out: Outcome) -> None:
    """NuSVC, NuSVR, OneClassSVM and SVDD."""
    found = width_readings(case, model, _kernel_values(case, out))
    _support(case, model, out)
    if "sigmoid" in str(case.kernel):
        return
    with np.errstate(all="ignore"):
        reached = [_judge_width(model, reading, out) for reading in found]
        if len(found) == 1:
            _decisions(case, model, found[0], out)
    out.reference = all(reached)


def _judge_width(model: Any, reading: WidthReading, out: Outcome) -> bool:
    P, doubt = reading.worth, reading.doubt
    if model.status_ == "not found" or isinstance(model, OneClassSVM):
        # Without a margin none is one; the offset that is published lets in what is on the boundary but for rounding.
        P = reading.at(reading.z)
    z, box = reading.variables(), reading.high - reading.low
    totals = np.array([z[reading.groups == group].sum() for group in range(reading.totals.size)])
    size = np.abs(reading.totals).max()
    if (z < reading.low - 1e-9 * box).any() or (z > reading.high + 1e-9 * box).any():
        out.find(
            "infeasible", f"coefficients {_short((np.maximum(z - reading.high, reading.low - z) / box).max())} out"
        )
    wanted = reading.totals
    # What cancels between the walls of a tube need not be published.
    short = np.abs(totals) < np.abs(wanted) * (1 - 1e-9) if z.size > reading.z.size else np.zeros(totals.size, bool)
    if (np.where(short, 0, np.abs(totals - wanted)) > 1e-9 * size).any() or short.any():
        out.find("infeasible", f"coefficients sum to {totals.astype(float)}, not {wanted.astype(float)}")
    best = min(reading.at(reading.z), P)
    other = reading.other()
    theirs = reading.at(other)
    best = min(best, theirs)
    say = f"P {_short(P)} (± {_short(doubt)}), least known {_short(best)}, gap {_short(reading.gap)}, {model.status_}"
    out.notes.append(f"{say}, objective_ {_short(reading.objective)}")
    if abs(reading.objective - P) > 2 * doubt:
        out.find("wrong objective", f"objective_ is {_short(reading.objective - P)} more than P; {say}")
    if reading.gap < 0 or P - best > reading.gap + 2 * doubt:
        out.find("false certificate", say)
    worst, fog = reading.measure * reading.worst(), 2 * reading.measure * reading.off.max()
    out.notes.append(f"violation {_short(worst)} (± {_short(fog)}), published {reading.violation}, tol {reading.tol}")
    if worst > 1.001 * reading.violation + fog + 1e-3 * reading.tol:
        out.find("wrong violation", f"violation {_short(worst)} (± {_short(fog)}), published {reading.violation:.3g}")
    if model.status_ == "converged" and reading.violation > 1.001 * reading.tol + fog:
        out.find("contradiction", f"converged, violation {reading.violation:.3g}, tolerated {reading.tol:.3g}; {say}")
    # Another method has solved it where the dual of its coefficients comes near what they cost.
    f = reading.K @ other
    value = -(other @ f) / 2
    parts = np.concatenate([np.maximum(other, 0), np.minimum(other, 0)]) if z.size > other.size else other
    value = reading.unit * (value + reading.t @ parts) + reading.rest
    return bool(theirs - value <= 1e-6 * abs(theirs) and doubt <= 1e-6 * abs(P) and model.status_ != "not found")


def _decisions(case: Case, model: Any, reading: WidthReading, out: Outcome) -> None:
    """Decision values of training rows, and the share of rows that is outside."""
    weight = item_weights(case)
    alive = weight > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = model.predict(case.X) if case.name in NUMERIC else model.decision_function(case.X)
    f = reading.K @ reading.z
    doubt, share = reading.measure * reading.off, weight[alive] / weight[alive].sum()
    if case.name == "SVDD":
        mine = EXACT(-model.offset_) - (reading.K.diagonal() - 2 * f + reading.z @ f)
    elif case.name == "OneClassSVM":
        mine = f - model.offset_
    else:
        mine = f + np.ravel(model.intercept_)[0]
    level = np.ravel(model.intercept_)[0] if case.name not in UNLABELLED else model.offset_
    doubt = doubt + DOUBLE * np.abs(level)
    off = np.abs(np.asarray(values, EXACT)[alive] - mine)
    if not case.single and (off > 1e3 * doubt + 1e-300).any():
        out.find("wrong scores", f"off by {_short(off.max())}, allowed {_short(doubt.max())}")
    slack = 2 * (reading.violation + 1e3 * doubt)
    if case.name in UNLABELLED:
        outside = mine < -slack
    elif case.name == "NuSVR":
        outside = np.abs(np.asarray(case.y, EXACT)[alive] - mine) > model.epsilon_ + slack
    else:
        y = np.where(np.unique(case.y, return_inverse=True)[1][alive] == 1, 1, -1)
        outside = y * mine < 1 - slack
    if model.status_ == "converged" and share[outside].sum() > model.nu * (1 + 1e-9):
        out.find("wrong share", f"{_short(share[outside].sum())} of the weight is outside, nu is {model.nu:g}")


# -- the hard margin ---------------------------------------------------------------------------------


def _hard_margins(case: Case, model: Any, found: list[Reading], out: Outcome) -> None:
    answers = [_separable(case, reading) for reading in found]
    out.notes.append(f"separable: {answers}, status {model.status_}")
    if model.status_ == "not separable" and all(answer[0] == "yes" for answer in answers):
        out.find("hard margin", f"called not separable; {'; '.join(answer[1] for answer in answers)}")
    if model.status_ == "converged" and any(answer[0] == "no" for answer in answers):
        out.find("hard margin", f"called converged; {'; '.join(answer[1] for answer in answers)}")
    if all(answer[0] == "yes" for answer in answers):
        out.reference = True
    else:
        out.converged = None
    if model.status_ != "converged":
        return
    for reading, (_, _, least) in zip(found, answers, strict=True):
        task, z = reading.task, reading.z
        assert isinstance(task, Task)
        assert z is not None
        margins = task.y * (reading.f + reading.b) + reading.doubt
        if margins.min() < 1 - 2 * model.tol:
            out.find("false convergence", f"hard margin with a row at {_short(margins.min())}")
        half = z @ reading.f / 2
        doubt = np.abs(z) @ reading.doubt + 1e-9 * abs(half)
        if reading.objective is None or abs(reading.objective - half) > 2 * doubt:
            out.find("wrong objective", f"hard margin: objective_ {_short(reading.objective)}, ½‖w‖² {_short(half)}")
        elif reading.gap is not None and least is not None and reading.objective - reading.gap > least + 2 * doubt:
            out.find(
                "false certificate",
                f"hard margin: {_short(reading.objective)} less {_short(reading.gap)}; {_short(least)}",
            )
        if abs(z.sum()) > 1e-9 * np.abs(z).sum() or (task.y * z < 0).any():
            out.find("infeasible", f"hard margin: the coefficients sum to {_short(z.sum())}")


def _separable(case: Case, reading: Reading) -> tuple[str, str, float | None]:
    """ "yes", "no" or "unclear", why, and an upper bound on the least ½‖w‖² where there is one."""
    task = reading.task
    assert isinstance(task, Task)
    z = references.interior_point(task).z
    f, doubt = task.scores(z)
    # The intercept in the middle of both classes; then everything is scaled to a margin of one.
    b = -(np.min(f[task.y > 0]) + np.max(f[task.y < 0])) / 2
    margins = task.y * (f + b)
    least = None
    if margins.min() > 0:
        least = (z @ f) / 2 / margins.min() ** 2
        if doubt.max() < 1e-2 * margins.min():
            return "yes", f"a separator with ½‖w‖² = {_short(least)} is known", least
    items = case.items if case.kernel is None or str(case.kernel) == "linear" else None
    if items is not None:
        t = references.separation(items[reading.rows], task.y)
        if t is not None and t > 1e-6:
            return "yes", f"the linear program finds a margin of {t:.2g}", least
        if t is not None and t < 1e-10:
            return "no", "the linear program finds no margin", least
        return "unclear", f"margin {t}", least
    for i in range(len(task.y)):
        same = np.equal(task.K, task.K[i]).all(axis=1)
        if np.unique(task.y[same]).size > 1:
            return "no", "equal rows with different labels", least
    return "unclear", "no separator found", least
