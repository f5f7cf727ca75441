"""What a model file says about its model, for ``mercer inspect``: nobody has checked whether it is true."""

from __future__ import annotations

from typing import Any

from .._validation.wording import enumeration
from .printing import Printer, error_in_words, folds_in_words

__all__ = ["recorded_errors", "said_about"]

_SHOWN = 15


def said_about(about: dict[str, Any], machine: Any, printer: Printer) -> None:
    """A table of what the file says, and the command that made it."""
    if "learner" not in about:  # written by mercer.save, which leaves it to its user what to say
        said = {name: str(value) for name, value in about.items()}
        printer.table(["", ""], list(said.items()), "what the file says about it")
        return
    try:
        facts, lines = _facts(about, machine), _lines(about)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        printer.line("What the file says about its model makes no sense, and is left out.")
        return
    printer.table(["", ""], list(facts.items()), "what the file says about it")
    for line in lines:
        printer.line(line)


def _facts(about: dict[str, Any], machine: Any) -> dict[str, str]:
    training, data = about.get("training") or {}, about.get("data") or {}
    return {
        "learner": str(about["learner"]),
        "target": _learned(about, machine),
        **_columns(about),
        "trained on": _origin(training, data),
        **recorded_errors(about),
        **({"probabilities": f"calibrated by {training['calibrated']}"} if training.get("calibrated") else {}),
        **_training_took(training),
        **({"threshold": f"chosen by {training['threshold']}"} if training.get("threshold") else {}),
        "written by": f"mercer {about.get('mercer')}",
    }


def _origin(training: dict[str, Any], data: dict[str, Any]) -> str:
    if training.get("rows") == "unknown":
        return f"{data.get('name')}, rows unknown"
    return f"{data.get('name')}, {training.get('rows')} rows, seed {training.get('seed')}"


def _training_took(training: dict[str, Any]) -> dict[str, str]:
    if "seconds" not in training and training.get("rows") == "unknown":
        return {"training": str(training.get("status"))}
    return {"training took": f"{training.get('seconds', 0):.2f} s, {training.get('status')}"}


def _lines(about: dict[str, Any]) -> list[str]:
    training, data, lines = about.get("training") or {}, about.get("data") or {}, []
    if isinstance(compared := about.get("comparison"), dict):
        learned = f"The test error is of the same setting, learned from {compared['train_rows']:,} other rows"
        lines.append(f"{learned}; this model has learned from {training.get('rows'):,} of all {data.get('rows'):,}.")
    if isinstance(about.get("command"), str):
        lines.append(f"Made by: {about['command']}")
    return [*lines, *([str(training["outliers"])] if training.get("outliers") else [])]


def _learned(about: dict[str, Any], machine: Any) -> str:
    target = about.get("target")
    if about.get("task") == "detect":
        return "none: it learned what is usual" + (f" ({target!r} was left out)" if target is not None else "")
    classes = about.get("classes") or getattr(machine, "classes_", None)
    learned = "numbers" if classes is None else f"classes {enumeration(classes)}"
    return learned if target is None else f"{target!r}, {learned}"


def recorded_errors(about: dict[str, Any]) -> dict[str, str]:
    """Errors, or shares of rows outside, on the training rows and on those kept out, as a model file tells them.

    Examples
    --------
    >>> recorded_errors({"training": {"rows": 80, "errors": {"train": 0.01, "holdout": 0.05}, "holdout_rows": 20}})
    {'training error': '1.00 % on 80 rows', 'holdout error': '5.00 % on 20 rows'}
    """
    training = about.get("training") or {}
    what, key = ("outside", "outside") if about.get("task") == "detect" else ("error", "errors")
    found = {}
    for name, value in (training.get(key) or {}).items():
        rows = training.get({"train": "rows", "holdout": "holdout_rows"}.get(name, ""))
        where = f" on {rows:,} rows" if rows is not None else ""
        if name == "cross-validated" and (left_out := training.get("cross_validation")):
            where = f" on {left_out['rows']:,} rows, {folds_in_words(left_out)}"
        searched = training.get("scored") if name == "cross-validated" else None
        said = searched if isinstance(searched, str) else _in_words(value, about.get("task"))
        found[f"{'training' if name == 'train' else name} {what}"] = said + where
    if training.get("holdout_repeated"):
        found["holdout rows"] = f"{training['holdout_repeated']:,} of them equal training rows"
    return {**found, **_honest_error(about)}


def _in_words(value: Any, task: Any) -> str:
    """An error, of numbers or a rate, or a share outside."""
    from ..report.number_errors import in_digits

    if isinstance(value, dict):
        return f"{100 * value['share']:.2f} %" if "share" in value else error_in_words(value)
    return f"{100 * value:.2f} %" if task != "regress" else f"RMSE {in_digits(value)}"


def _honest_error(about: dict[str, Any]) -> dict[str, str]:
    """The error on rows that were kept out, where the model comes of a comparison."""
    from ..report.error_measure import measure_of

    compared = about.get("comparison")
    if not isinstance(compared, dict):
        return {}
    measure, tested = measure_of(about), compared["test"]
    name = "" if measure.task == "classify" else f"{measure.name} "
    return {
        "test error": f"{name}{measure.of(tested)} ({measure.to(tested)}) on {compared['test_rows']:,} rows kept out"
    }


def _columns(about: dict[str, Any]) -> dict[str, str]:
    if about.get("kind", "rows") != "rows":
        return {"columns": f"none: it compares {about['kind']}"}
    kinds = about.get("kinds")
    if isinstance(kinds, dict) and kinds:
        by_kind = {kind: [name for name in kinds if kinds[name] == kind] for kind in dict.fromkeys(kinds.values())}
        return {f"{kind} columns": enumeration(names, _SHOWN) for kind, names in by_kind.items()}
    return {"columns": enumeration(about.get("columns") or [f"{about.get('features', '?')} sparse features"])}
