"""``mercer train``: learn from a table, store the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .._validation.wording import enumeration
from ..io.table import DataError
from .arguments import LearnerCommand, common, data_options, learner_argument, parameters, preparation_options
from .exit_status import end_partial
from .printing import Printer, show_mixture

if TYPE_CHECKING:
    from ..io import Table
    from ..learners.learner import Learner

__all__ = ["train"]

#: Folds from which probabilities are learned.
_FOLDS = 5


@click.command(cls=LearnerCommand)
@learner_argument
@click.argument("data")
@click.option("-o", "--output", type=click.Path(dir_okay=False), required=True, help="The model file to write.")
@click.option(
    "--kernel",
    help="A kernel as text: of the prepared columns, such as 'gaussian(gamma=.5)+linear'; of columns as they are, such "
    "as 'spectrum(p=4).on(text)'; or of strings, sets and graphs.",
)
@click.option("--degree", type=click.IntRange(1, 9), help="Expand the columns to products of up to so many of them.")
@click.option(
    "--set",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    callback=parameters,
    help="A parameter of the learner, such as C=10. May be repeated.",
)
@click.option(
    "--holdout",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Keep a share of the rows to test on, such as 0.2.",
)
@click.option(
    "--calibrate",
    type=click.Choice(["sigmoid", "isotonic", "venn_abers"]),
    help="Learn probabilities of classes from scores of rows left out in turn (mercer run --probabilities).",
)
@click.option(
    "--cost",
    "costs",
    multiple=True,
    metavar="TRUE,ANSWERED=COST",
    help="What a mistake costs where it is not 1, such as sick,healthy=20. May be repeated.",
)
@data_options
@preparation_options
@common
def train(
    learner: Learner,
    data: str,
    output: str,
    kernel: str | None,
    degree: int | None,
    params: dict[str, Any],
    holdout: float | None,
    calibrate: str | None,
    costs: tuple[str, ...],
    reading: dict[str, Any],
    preparing: dict[str, Any],
    printer: Printer,
    seed: int,
) -> None:
    """Train a learner on a table and store the model.

    LEARNER is one of the learners below, of classes or of numbers: linear, on products of two columns, or with a
    kernel. Errors of numbers are in the unit of the target; the model remembers how far they reach ("mercer run
    --intervals"). one-class and svdd need no target: they learn which rows are usual.

    The model file holds numbers and words only, never code. A kernel machine keeps some of its training rows in it.

    \b
    Example:
      mercer train svc moons --kernel "gaussian(gamma=2)" --set C=10 -o moons.safetensors
      mercer train kernel-ridge waves --holdout 0.2 -o waves.safetensors
      mercer train svc genes.fasta --kernel "spectrum(p=3)" -o genes.safetensors
      mercer train svc molecules.tar.xz --kernel "weisfeiler_lehman(h=4)" -o molecules.safetensors
      mercer train svc people.csv --kernel "gaussian.on(age)*spectrum.on(name)+equal.on(job)" -o p.safetensors
      mercer train svc people.csv --kernel "mixture(gaussian.on(age), equal.on(job))" -o p.safetensors
      mercer train svc moons --calibrate sigmoid -o moons.safetensors
      mercer train one-class visits.csv --set nu=0.01 -o visits.safetensors
    """
    from .._validation.unwrapped import machine_of
    from ..explain import support_lines
    from ..io.writing import refuse_unwritable
    from ..model_files import save
    from .building import (
        about_model,
        fit,
        fitting,
        machine,
        outliers_in_words,
        reach,
        split,
        table_to_learn,
        usual_kernel,
    )

    refuse_unwritable(output)
    if learner.task != "classify" and (calibrate or costs):
        raise DataError(f"{'--calibrate' if calibrate else '--cost'} is for classes, which {learner.name} does not "
                        "learn; leave it out.")  # fmt: skip
    if learner.task == "detect":
        from .train_detector import train_detector

        train_detector(
            learner,
            data,
            output,
            kernel=kernel,
            degree=degree,
            params=params,
            holdout=holdout,
            reading=reading,
            preparing=preparing,
            printer=printer,
            seed=seed,
        )
        return
    table = table_to_learn(data, reading, printer)
    learning, testing = split(table, holdout, seed)
    learner = fitting(learner, learning, kernel)
    if kernel is None and learner.takes_kernel:
        kernel = usual_kernel(learning, learner, preparing, printer)
    if costs:
        priced = _priced(costs, learning)
        if calibrate is None:
            _refuse_costs(learner)
            params = {**params, "costs": priced}
    model = machine(learning, learner, preparing, kernel=kernel, degree=degree, seed=seed, params=params)
    if calibrate is not None:
        model = _calibrated(model, calibrate, learning, priced if costs else None, printer)
    seconds = fit(model, learning, f"training {learner.title} on {learning.n_rows} rows", printer)
    error: Any = _rate_of_mistakes if learner.task == "classify" else _error_of_numbers
    errors = {"train": error(model, learning)}
    if testing is not None:
        errors["holdout"] = error(model, testing)
    last = machine_of(model)
    training = {
        "rows": learning.n_rows,
        "seconds": seconds,
        "errors": errors,
        "status": getattr(last, "status_", None),
        "support": len(last.support_) if hasattr(last, "support_") else None,
        "seed": seed,
        "outliers": outliers_in_words(model),
        "calibrated": calibrate,
    }
    widths = reach(model, learning, seed, printer) if learner.task == "regress" else None
    remembered = {"training": training, "half_widths": widths, "support_lines": support_lines(model, learning)}
    save(model, output, about_model(table, learner, model, reading, **remembered))
    printer.json_result(
        {"model": output, "learner": learner.name, "kernel": kernel or learner.fixed.get("kernel"), **training}
    )
    if learner.task == "classify":
        printer.line(f"{learner.title}: {learning.extent}, {len(model.classes_)} classes")
        printer.line(f"training error  {100 * errors['train']:6.2f} %")
        if testing is not None:
            printer.line(f"holdout error   {100 * errors['holdout']:6.2f} %  ({testing.n_rows} rows)")
    else:
        _show_numbers(learner, learning, errors, widths, printer)
    show_mixture(last, printer)
    support = f", {training['support']} support rows" if training["support"] is not None else ""
    printer.line(f"{training['status']} in {seconds:.2f} s{support}; model in {output}")
    limit = getattr(last, "time_limit", None)
    if training["status"] != "converged" and limit is not None and seconds >= limit:
        end_partial("time_limit", f"the model in {output} is the best so far.")
    if learner.task == "regress" and widths is None:
        end_partial("interrupted", f'the model in {output} is whole, but for --intervals of "mercer run".')


def _calibrated(model: Any, method: str, table: Table, costs: Any, printer: Printer) -> Any:
    """A model with probabilities, from as many folds as the smallest class allows."""
    from ..calibration import Calibrated

    fewest = min(table.class_counts.values())
    folds = max(2, min(_FOLDS, fewest))
    if folds < _FOLDS:
        printer.note(f"Probabilities are learned from {folds} folds instead of {_FOLDS}: a class has {fewest} rows.")
    return Calibrated(model, method=method, cv=folds, costs=costs)


def _refuse_costs(learner: Learner) -> None:
    """Refuse costs that the machine does not take; with probabilities any does."""
    from .._validation.unwrapped import machine_of

    if "costs" not in machine_of(learner.build()).get_params(deep=False):
        raise DataError(f"{learner.name} does not weigh mistakes by itself; add --calibrate sigmoid, or use svc.")


def _priced(given: tuple[str, ...], table: Table) -> dict[tuple[Any, Any], float]:
    """What mistakes cost, by the true and the answered class."""
    classes = {str(label): label for label in table.class_counts}
    found = {}
    for text in given:
        pair, _, cost = text.rpartition("=")
        words = pair.split(",")
        halves = [(",".join(words[:k]).strip(), ",".join(words[k:]).strip()) for k in range(1, len(words))]
        known = [half for half in halves if half[0] in classes and half[1] in classes]
        try:
            price = float(cost)
        except ValueError:
            known = []
        if not known:
            raise DataError(
                f"--cost {text!r} should look like TRUE,ANSWERED=5 with two of the classes "
                f"{enumeration(map(repr, classes), 6)}."
            )
        found[classes[known[0][0]], classes[known[0][1]]] = price
    return found


def _rate_of_mistakes(model: Any, table: Table) -> float:
    return 1 - model.score(table.X, table.y)


def _error_of_numbers(model: Any, table: Table) -> dict[str, Any]:
    from ..report.number_errors import error_of_numbers

    found = error_of_numbers(table.y, model.predict(table.X))
    return {name: value if value == value else None for name, value in found.items()}


def _show_numbers(learner: Learner, table: Table, errors: dict[str, Any], widths: Any, printer: Printer) -> None:
    from ..report.number_errors import half_width, in_digits
    from .printing import error_in_words

    printer.line(f"{learner.title}: {table.extent}, target {table.target!r}")
    printer.line(f"training error  {error_in_words(errors['train'])}")
    if "holdout" in errors:
        printer.line(f"holdout error   {error_in_words(errors['holdout'])}  ({errors['holdout']['rows']} rows)")
    width = None if widths is None else half_width(widths, 0.9)
    if width is not None:
        printer.line(
            f"9 of 10 new values are expected within ± {in_digits(width)} of the prediction (mercer run --intervals)"
        )
