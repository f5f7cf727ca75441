"""``mercer inspect``: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._validation.wording import enumeration
from .arguments import common
from .inspect_about import said_about
from .model_paths import open_model, verify_option
from .printing import Printer, mixture_weights, show_mixture
from .reading_paths import MODEL

if TYPE_CHECKING:
    from ..model_files.models import ModelFile

__all__ = ["inspect"]

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
    from .._validation.unwrapped import layers, machine_of

    loaded = open_model(model)
    estimator, machine = loaded.estimator, machine_of(loaded.estimator)
    weights, size = _weights(estimator, machine), Path(model).stat().st_size
    parameters = _unusual_parameters(machine)
    rows_inside = len(machine.support_) if hasattr(machine, "support_vectors_") else 0
    names = [type(layer).__name__ for layer in layers(estimator)]
    told = {
        "machine": type(machine).__name__,
        "kernel": str(machine.kernel_),
        "parameters": {name: str(value) for name, value in parameters.items()},
        "weights": weights,
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
        "parameters": ", ".join(f"{name}={value!r}" for name, value in parameters.items()) or "as usual",
        "predicts": _predicts(estimator, machine),
        "status": str(getattr(machine, "status_", "not told")),
        "signature": _signature(loaded),
        "file": f"{size:,} bytes",
    }
    printer.table(["", ""], list(facts.items()))
    if rows_inside:
        printer.line(f"The file holds {rows_inside} of its training rows: share it as you would share the data.")
    said_about(loaded.about, machine, printer)
    show_mixture(machine, printer)
    if weights:
        largest = [[name, f"{value:.4g}"] for name, value in list(weights.items())[:_SHOWN]]
        printer.table(["<feature", "weight"], largest, f"largest weights ({len(largest)} of {len(weights)})")


def _unusual_parameters(machine: Any) -> dict[str, Any]:
    usual = type(machine)().get_params(deep=False)
    own = machine.get_params(deep=False)
    return {
        name: value
        for name, value in own.items()
        if name not in ("kernel", "random_state") and repr(value) != repr(usual[name])
    }


def _predicts(estimator: Any, machine: Any) -> str:
    if hasattr(machine, "score_samples"):
        return "what is usual and what is not"
    classes = getattr(estimator, "classes_", None)
    return "numbers" if classes is None else f"classes {enumeration(map(str, classes.tolist()), _SHOWN)}"


def _signature(loaded: ModelFile) -> str:
    if loaded.signature_fits is False:
        return "carries a signature that does not fit: the file was changed after it was signed, or never signed"
    if loaded.verified:
        return f"signed by {loaded.signer}, verified"
    return "none" if loaded.signer is None else f"signed by {loaded.signer}, not verified"


def _weights(model: Any, machine: Any) -> dict[str, float]:
    """The weights of a linear model with one score by feature, the largest first."""
    from ..explain.feature_words import feature_words

    coef = getattr(machine, "coef_", None)
    if coef is None or coef.shape[0] != 1:
        return {}
    names = feature_words(model)
    if len(names) != coef.shape[1]:
        names = [f"x{k}" for k in range(1, coef.shape[1] + 1)]
    return dict(sorted(zip(names, coef[0].tolist(), strict=True), key=lambda pair: -abs(pair[1])))
