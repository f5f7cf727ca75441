"""``mercer inspect``: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .._validation.wording import enumeration
from .arguments import common
from .printing import Printer, error_in_words, mixture_weights, show_mixture

__all__ = ["inspect"]

_SHOWN = 15


@click.command()
@click.argument("model", type=click.Path())
@common
def inspect(model: str, printer: Printer, seed: int) -> None:
    """Say what is in a model file: the learner, its kernel and parameters, its weights, what it was trained on.

    \b
    Example:
      mercer inspect moons.safetensors
    """
    from .._validation.unwrapped import machine_of
    from ..model_files.models import open_model

    loaded = open_model(model)
    about, machine = loaded.about, machine_of(loaded.estimator)
    weights = _weights(loaded.estimator, machine)
    usual = type(machine)().get_params(deep=False)
    parameters = {
        name: value
        for name, value in machine.get_params(deep=False).items()
        if name not in ("kernel", "random_state") and value != usual[name]
    }
    size = Path(model).stat().st_size
    rows_inside = len(machine.support_) if hasattr(machine, "support_vectors_") else 0
    printer.json_result(
        {
            **about,
            "parameters": {k: str(v) for k, v in parameters.items()},
            "weights": weights,
            "mixture": mixture_weights(machine),
            "bytes": size,
            "training_rows_inside": rows_inside,
        }
    )
    training, data = about.get("training") or {}, about.get("data") or {}
    facts = {
        "learner": about.get("learner", type(machine).__name__),
        "kernel": about.get("kernel") or "none (linear)",
        "parameters": ", ".join(f"{name}={value!r}" for name, value in parameters.items()) or "as usual",
        "target": _learned(about, machine),
        **_columns(about),
        "trained on": f"{data.get('name')}, {training.get('rows')} rows, seed {training.get('seed')}",
        **_errors(training, about.get("task")),
        **_honest_error(about),
        **({"probabilities": f"calibrated by {training['calibrated']}"} if training.get("calibrated") else {}),
        "status": f"{training.get('status')}, {training.get('seconds', 0):.2f} s",
        **({"threshold": f"chosen by {training['threshold']}"} if training.get("threshold") else {}),
        "file": f"{size:,} bytes, written by mercer {about.get('mercer')}",
    }
    printer.table(["", ""], list(facts.items()))
    if isinstance(compared := about.get("comparison"), dict):
        learned = f"The test error is of the same setting, learned from {compared['train_rows']:,} other rows"
        printer.line(f"{learned}; this model has learned from {training.get('rows'):,} of all {data.get('rows'):,}.")
    if isinstance(about.get("command"), str):
        printer.line(f"Made by: {about['command']}")
    if training.get("outliers"):
        printer.line(training["outliers"])
    if rows_inside:
        printer.line(f"The file holds {rows_inside} of its training rows: share it as you would share the data.")
    show_mixture(machine, printer)
    if weights:
        largest = [[name, f"{value:.4g}"] for name, value in list(weights.items())[:_SHOWN]]
        printer.table(["<feature", "weight"], largest, f"largest weights ({len(largest)} of {len(weights)})")


def _learned(about: dict[str, Any], machine: Any) -> str:
    target = about.get("target")
    if about.get("task") == "detect":
        return "none: it learned what is usual" + (f" ({target!r} was left out)" if target is not None else "")
    classes = about.get("classes") or getattr(machine, "classes_", None)
    return f"{target!r}, {'numbers' if classes is None else f'classes {enumeration(classes)}'}"


def _errors(training: dict[str, Any], task: Any) -> dict[str, str]:
    """Rates of mistakes, or of rows outside, in one line; of numbers, a line for each kind of rows."""
    from ..report.number_errors import in_digits

    if task == "detect":
        outside = training.get("outside") or {}
        return {"outside": ", ".join(f"{name} {100 * each['share']:.2f} %" for name, each in outside.items())}
    errors = training.get("errors") or {}
    if task != "regress":
        return {"errors": ", ".join(f"{name} {100 * value:.2f} %" for name, value in errors.items())}
    return {
        f"{name} error": error_in_words(value) if isinstance(value, dict) else f"RMSE {in_digits(value)}"
        for name, value in errors.items()
    }


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


def _weights(model: Any, machine: Any) -> dict[str, float]:
    """The weights of a linear model with one score by feature, the largest first."""
    from .._validation.unwrapped import feature_names

    coef = getattr(machine, "coef_", None)
    if coef is None or coef.shape[0] != 1:
        return {}
    names = feature_names(model)
    if len(names) != coef.shape[1]:
        names = [f"x{k}" for k in range(1, coef.shape[1] + 1)]
    return dict(sorted(zip(names, coef[0].tolist(), strict=True), key=lambda pair: -abs(pair[1])))
