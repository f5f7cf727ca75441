"""``mercer inspect``: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..composition import layers, machine_of
from ..messages import enumeration, in_digits
from .options import common
from .paths import MODEL, READ, open_model, verify_option
from .printing import Printer, error_in_words, folds_in_words, mixture_weights, show_mixture

if TYPE_CHECKING:
    from ..model_files import ModelFile

# What a model file says about its model, for ``mercer inspect``: nobody has checked whether it is true.


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
    if (
        without := {"detect": "it detects outliers", "cluster": "it finds clusters"}.get(str(about.get("task")))
    ) is not None:
        return f"none: {without}" + (f" ({target!r} was left out)" if target is not None else "")
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
    if isinstance(value, dict):
        return f"{100 * value['share']:.2f} %" if "share" in value else error_in_words(value)
    return f"{100 * value:.2f} %" if task != "regress" else f"RMSE {in_digits(value)}"


def _honest_error(about: dict[str, Any]) -> dict[str, str]:
    """The error on rows that were kept out, where the model comes of a comparison."""
    from ..study import measure_of

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


_SHOWN = 15


@click.command()
@click.argument("model", type=MODEL)
@verify_option
@common
def inspect(model: str, printer: Printer, seed: int) -> None:
    """Say what is in a model file: the machine, its kernel and parameters, its weights; and what the file says of it.

    The first table is read off the machine itself. What follows, such as errors and the data it was trained on, is what
    somebody wrote into the file beside it: believe it as far as you believe them. --verify tells whether it was them.

    \b
    Example:
      mercer inspect moons.safetensors
    """
    loaded = open_model(model)
    estimator, machine = loaded.estimator, machine_of(loaded.estimator)
    weights, size = _weights(estimator, machine), Path(model).stat().st_size
    intercept = getattr(machine, "intercept_", None)
    bias = float(intercept[0]) if weights and intercept is not None else None
    parameters = _changed_parameters(machine)
    rows_inside = len(machine.support_) if hasattr(machine, "support_vectors_") else 0
    names = [type(layer).__name__ for layer in layers(estimator)]
    told = {
        "machine": type(machine).__name__,
        "kernel": str(machine.kernel_),
        "parameters": {name: str(value) for name, value in parameters.items()},
        "weights": weights,
        "bias": bias,
        "mixture": mixture_weights(machine),
        "bytes": size,
        "training_rows_inside": rows_inside,
        "signer": loaded.signer,
        "verified": loaded.verified,
        "signature_fits": loaded.signature_fits,
    }
    said = dict(loaded.about)
    if isinstance(said.get("trained_rows"), dict):
        said["trained_rows"] = {name: value for name, value in said["trained_rows"].items() if name != "fingerprints"}
    printer.json_result({**said, **told, "only_said": sorted(set(said) - set(told))})
    facts = {
        "machine": names[-1] if len(names) == 1 else f"{names[-1]}, inside {enumeration(reversed(names[:-1]))}",
        "kernel": "none (linear)" if machine.kernel is None else str(machine.kernel_),
        "parameters": ", ".join(f"{name}={value!r}" for name, value in parameters.items()) or "defaults",
        "predicts": _predicts(estimator, machine),
        "status": str(getattr(machine, "status_", "unknown")),
        "signature": _signature(loaded),
        "file": f"{size:,} bytes",
    }
    printer.table(["", ""], list(facts.items()))
    if rows_inside:
        printer.line(f"The file holds {rows_inside} of its training rows: share it as you would share the data.")
    said_about(loaded.about, machine, printer)
    show_mixture(machine, printer)
    if weights:
        shown = min(_SHOWN, len(weights))
        largest = [[name, f"{value:.4g}"] for name, value in list(weights.items())[:shown]]
        largest += [] if bias is None else [["b (bias)", f"{bias:.4g}"]]
        printer.table(["<feature", "weight"], largest, f"w: largest weights ({shown} of {len(weights)}), and b")


def _changed_parameters(machine: Any) -> dict[str, Any]:
    usual = type(machine)().get_params(deep=False)
    own = machine.get_params(deep=False)
    return {
        name: value
        for name, value in own.items()
        if name not in ("kernel", "random_state") and repr(value) != repr(usual[name])
    }


def _predicts(estimator: Any, machine: Any) -> str:
    classes = getattr(estimator, "classes_", None)
    if classes is not None:
        return f"classes {enumeration(map(str, classes.tolist()), _SHOWN)}"
    return {"outliers": "inliers and outliers"}.get(machine.answers, machine.answers)


def _signature(loaded: ModelFile) -> str:
    if loaded.signature_fits is False:
        return "carries an invalid signature: the file was changed after it was signed"
    if loaded.verified:
        return f"signed by {loaded.signer}, verified"
    return "none" if loaded.signer is None else f"signed by {loaded.signer}, not verified"


def _weights(model: Any, machine: Any) -> dict[str, float]:
    """The weights of a linear model with one score by feature, the largest first."""
    from ..explain import feature_words

    coef = getattr(machine, "coef_", None)
    if coef is None or coef.shape[0] != 1:
        return {}
    names = feature_words(model)
    if len(names) != coef.shape[1]:
        names = [f"x{k}" for k in range(1, coef.shape[1] + 1)]
    return dict(sorted(zip(names, coef[0].tolist(), strict=True), key=lambda pair: -abs(pair[1])))


# ``mercer sign``: say with a key who made a model file.


@click.command()
@click.argument("model", type=MODEL)
@click.option("--key", type=READ, required=True, metavar="KEY", help="A file with a private Ed25519 key.")
@common
def sign(model: str, key: str, printer: Printer, seed: int) -> None:
    """Sign a model file with a key of yours.

    The checksum of a model file tells damage, not forgery: whoever changes a file on purpose computes it anew. A
    signature can be made with your private key alone, and be checked by everybody who has the public one.

    A key is made by "ssh-keygen -t ed25519 -f mercer.key" or "openssl genpkey -algorithm ed25519 -out mercer.key". Its
    passphrase, if it has one, is asked for, or taken from the environment variable MERCER_KEY_PASSPHRASE.

    \b
    Example:
      mercer sign moons.safetensors --key mercer.key
      mercer run moons.safetensors new.csv --verify mercer.key.pub
    """
    from ..model_files import sign as sign_file

    name = sign_file(model, key)
    printer.json_result({"model": model, "signer": name})
    printer.line(f"{model} is signed with the key {name}.")
