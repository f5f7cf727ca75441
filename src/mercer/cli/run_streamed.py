"""``mercer run`` on files that are larger than the memory allowed: chunk by chunk, each as a table of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..io.table import DataError
from .arguments import Places
from .csv_writing import csv_of
from .delivery import Delivery
from .large_files import options_of
from .outside_training import SHOWN
from .printing import Printer

__all__ = ["run_streamed"]


@dataclass(frozen=True)
class _Pieces(Delivery):
    """Predictions as pieces of one CSV file, with rows numbered on from chunk to chunk."""

    first: int = 0
    written: list[str] = field(default_factory=list)

    def give(self, table: Any, columns: Mapping[str, Any], shown: Mapping[str, Any], seen: Any) -> dict[str, Any]:
        # Whether one of the rows to come was trained on is not known yet: the column is there in any case.
        known = {} if seen is None else {"trained on": seen.column}
        text = csv_of({"row": range(self.first + 1, self.first + table.n_rows + 1), **columns, **known})
        self.written.append(text if self.first == 0 else text.partition("\n")[2])
        return {}


def run_streamed(
    model: str,
    data: Places,
    output: str,
    keep: tuple[str, ...],
    ignore_labels: bool,
    intervals: float | None,
    probabilities: bool,
    reading: dict[str, Any],
    printer: Printer,
) -> None:
    """Predict a file chunk by chunk, write the predictions as they come, and count errors."""
    from ..io.scanning import open_chunked
    from ..io.writing import write_whole
    from .as_in_training import as_in_training
    from .matching import matching_table, task_of_model
    from .model_paths import open_model
    from .outside_training import far_rows, show_far
    from .run_classes import run_classes, show_mistakes
    from .run_detector import run_detector, show_unusual
    from .run_numbers import run_numbers, show_number_errors
    from .trained_rows import Seen, TrainedRows

    if keep:
        raise DataError(
            "--keep needs the table in memory, and it is too large for that; leave --keep out, or allow more with "
            "--max-bytes."
        )
    loaded = open_model(model)
    task, about = task_of_model(loaded), loaded.about
    reading = as_in_training(reading, about)
    target = reading["target"] if reading["target"] is not None else about.get("target")
    file, _, _, _ = open_chunked(Path(data if isinstance(data, str) else data[0]),
                                 replace(options_of(reading), target=None, labelled=False))  # fmt: skip
    wanted = {*(about.get("columns") or file.columns), str(target)}
    used = [name for name in file.columns if name in wanted]
    remembered = TrainedRows.of(about)
    seen: list[Seen] = []
    facts: list[dict[str, Any]] = []
    total = file.n_rows

    def pieces(watched: Any) -> Iterator[str]:
        first = 0
        for frame in file.frames(used):
            speaker = printer if first == 0 else replace(printer, quiet=True)
            table = matching_table(loaded, frame, reading, speaker, ignore_labels, file.shown)
            delivery = _Pieces(output, {}, Printer(json=True, quiet=True), first)
            met = None if remembered is None else remembered.among(table)
            seen.extend([] if met is None else [met])
            own = {"rows": table.n_rows, "far_rows": far_rows(loaded.estimator, table)}
            if task == "regress":
                facts.append(run_numbers(loaded, table, met, delivery, intervals, own))
            elif task == "detect":
                facts.append(run_detector(loaded, table, met, delivery, own))
            else:
                facts.append(run_classes(loaded, table, met, delivery, probabilities, own))
            _number_on(facts[-1], first)
            yield from delivery.written
            first += table.n_rows
            watched.reach(first)

    with printer.working(f"predicting {total:,} rows", total) as watched:
        write_whole(output, pieces(watched))
    found = _together(facts)
    for name in ("trained_on", "others"):
        found |= {name: _together([each[name] for each in facts])} if seen else {}
    if any(each.trained.any() for each in seen):
        printer.line(Seen.of_all(seen).in_words("rows"))
    show: Any = {
        "classify": show_mistakes,
        "regress": show_number_errors,
        "detect": partial(show_unusual, kind="rows"),
    }[task]
    if task == "detect" or found["labelled"]:
        show(found, about=about, printer=printer)
    show_far(found, printer)
    printer.line(f"predictions of {total:,} rows in {output}")
    printer.json_result({"model": model, **found, "output": output})


#: What is told of values and predictions that are far outside, and what the list of those named is called.
_FAR = {"far_rows": "values", "far_predictions": "predictions"}


def _number_on(facts: dict[str, Any], first: int) -> None:
    """Number the rows that are named as the whole file does, of which the chunk begins after so many rows."""
    for far, named in _FAR.items():
        for one in facts.get(far, {}).get(named, []):
            one["row"] += first
            one["where"] = f"row {one['row']}"


def _together(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """What was counted in all chunks, and the errors where their targets are known."""
    found: dict[str, Any] = {}
    for far, named in _FAR.items():
        if told := [part[far] for part in parts if part.get(far, {}).get("rows")]:
            some = [one for each in told for one in each[named]]
            found[far] = {**told[0], "rows": sum(each["rows"] for each in told), named: some[:SHOWN]}
    for count in ("rows", "labelled", "unusual", "wrong", "confusion_matrix", "equal_to_training_rows"):
        if counts := [part[count] for part in parts if count in part]:
            found[count] = np.sum(counts, axis=0)
    known = [part for part in parts if part.get("labelled")]
    if "wrong" in found:
        found |= {"error": found["wrong"] / found["labelled"]}
        found |= {"classes": known[0]["classes"]} if "classes" in known[0] else {}
    if known and "rmse" in known[0]:
        share = np.array([part["labelled"] for part in known]) / found["labelled"]
        found |= {name: float(share @ [part[name] for part in known]) for name in ("mae", "inside") if name in known[0]}
        found |= {"rmse": float(np.sqrt(share @ [part["rmse"] ** 2 for part in known])), "r2": None}
    return found
