"""``mercer run`` on files that are larger than the memory allowed: chunk by chunk, each as a table of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..io.table import DataError
from .arguments import Places
from .csv_writing import csv_of
from .delivery import Delivery
from .large_files import options_of
from .printing import Printer

__all__ = ["run_streamed"]


@dataclass(frozen=True)
class _Pieces(Delivery):
    """Predictions as pieces of one CSV file, with rows numbered on from chunk to chunk."""

    first: int = 0
    written: list[str] = field(default_factory=list)

    def give(self, table: Any, columns: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
        text = csv_of({"row": range(self.first + 1, self.first + table.n_rows + 1), **columns})
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
    from .run_classes import run_classes
    from .run_detector import run_detector
    from .run_numbers import run_numbers

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
    facts: list[dict[str, Any]] = []
    total = file.n_rows

    def pieces(watched: Any) -> Iterator[str]:
        first = 0
        for frame in file.frames(used):
            speaker = printer if first == 0 else replace(printer, quiet=True)
            table = matching_table(loaded, frame, reading, speaker, ignore_labels, file.shown)
            delivery = _Pieces(output, {}, Printer(json=True, quiet=True), first)
            if task == "regress":
                facts.append(run_numbers(loaded, table, delivery, intervals, {}))
            elif task == "detect":
                facts.append(run_detector(loaded, table, delivery, {}))
            else:
                facts.append(run_classes(loaded, table, delivery, probabilities, {}))
            yield from delivery.written
            first += table.n_rows
            watched.reach(first)

    with printer.working(f"predicting {total:,} rows", total) as watched:
        write_whole(output, pieces(watched))
    found = {"model": model, "rows": total, "output": output, **_together(facts, printer)}
    printer.line(f"predictions of {total:,} rows in {output}")
    printer.json_result(found)


def _together(facts: list[dict[str, Any]], printer: Printer) -> dict[str, Any]:
    """The errors of all chunks, where their targets are known."""
    from ..report.number_errors import in_digits

    known = [each for each in facts if each.get("labelled")]
    rows = sum(each["labelled"] for each in known)
    if not rows:
        return {"labelled": 0}
    if "wrong" in known[0]:
        wrong = sum(each["wrong"] for each in known)
        printer.line(f"error {100 * wrong / rows:.2f} %: {wrong} of {rows} rows are wrong")
        matrix = np.sum([each["confusion_matrix"] for each in known], axis=0)
        return {"labelled": rows, "error": wrong / rows, "wrong": wrong, "classes": known[0]["classes"],
                "confusion_matrix": matrix}  # fmt: skip
    if "rmse" in known[0]:
        mean = {"rmse": np.sqrt(sum(each["rmse"] ** 2 * each["labelled"] for each in known) / rows),
                "mae": sum(each["mae"] * each["labelled"] for each in known) / rows}  # fmt: skip
        printer.line(f"RMSE {in_digits(mean['rmse'])}, mean absolute error {in_digits(mean['mae'])}  ({rows} rows)")
        return {"labelled": rows, **mean}
    return {"labelled": rows}
