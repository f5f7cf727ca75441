"""What ``mercer compare`` shows on the console: all learners, and the one that was chosen more closely."""

from __future__ import annotations

from typing import Any

from .printing import Printer

__all__ = ["show_comparison"]

#: Classes that are told one by one.
_CLASSES = 12
#: Scores that the table of learners shows anyway, under another name.
_SHOWN_ANYWAY = ("accuracy", "neg_root_mean_squared_error")
_UNFINISHED = "† stopped before it was done: with more steps or time its errors may still change."
_BESIDE = "§ for comparison, not tuned."


def show_comparison(facts: dict[str, Any], printer: Printer) -> None:
    """The table of all learners, and the answer."""
    from ..report.first_words import closing_words

    data = facts["data"]
    printer.line(f"{data['name']}: {data['extent']}, target {data['target']!r}")
    if facts["task"] == "regress":
        _table_of_numbers(facts, printer)
    else:
        _table_of_classes(facts, printer)
    _show_footnotes(facts, printer)
    for one in facts["skipped"]:
        printer.line(f"{one['title']} was left out: {one['why']}")
    _show_by_class(facts, printer)
    printer.line("* " + "\n  ".join(closing_words(facts)))


def _table_of_classes(facts: dict[str, Any], printer: Printer) -> None:
    title, scores = _asked_score(facts)
    rows = []
    for one in facts["learners"]:
        tuning, test = one["tuning"], one["test"]
        rows.append(
            [
                _titled(one, facts),
                *scores(one),
                f"{100 * test['rate']:.2f} %",
                f"{100 * test['low']:.1f}–{100 * test['high']:.1f} %",
                _validated(one, facts),
                f"{100 * one['train']['rate']:.2f} %",
                f"{tuning['seconds'] + one['fit_seconds']:.1f}",
            ]
        )
    cv = f"CV {title[0] if title else 'error'}"
    names = ["<learner", *title, "test error", "95 % interval", cv, "training error", "seconds"]
    printer.table(names, [*rows, *_beside_them(facts, len(names))])


def _table_of_numbers(facts: dict[str, Any], printer: Printer) -> None:
    from ..report.error_measure import NUMBERS
    from ..report.number_errors import in_digits

    title, scores = _asked_score(facts)

    def errors(test: dict[str, Any]) -> dict[str, str]:
        explained = "" if test["r2"] is None else f"{test['r2']:.3f}"
        return {
            "test RMSE": NUMBERS.of(test),
            "95 % interval": NUMBERS.between(test),
            "MAE": in_digits(test["mae"]),
            "R²": explained,
        }

    def not_asked(test: dict[str, Any]) -> list[str]:
        return [shown for name, shown in errors(test).items() if name not in title]

    rows = []
    for one in facts["learners"]:
        tuning = one["tuning"]
        rows.append(
            [
                _titled(one, facts),
                *scores(one),
                *not_asked(one["test"]),
                _validated(one, facts),
                NUMBERS.of(one["train"]),
                f"{tuning['seconds'] + one['fit_seconds']:.1f}",
            ]
        )
    baseline = facts["baseline"]
    of_mean = errors(baseline)
    rows.append([baseline["title"], *(of_mean.get(name, "") for name in title), *not_asked(baseline), "", "", ""])
    cv = f"CV {title[0] if title else 'RMSE'}"
    others = [name for name in of_mean if name not in title]
    names = ["<learner", *title, *others, cv, "training RMSE", "seconds"]
    printer.table(names, [*rows, *_beside_them(facts, len(names))], "errors in the unit of the target")


def _beside_them(facts: dict[str, Any], width: int) -> list[list[str]]:
    """The row of boosted trees, where they were tried: what they reach by the measure that decided."""
    from ..report.error_measure import measure_of
    from ..report.scores import score_in_words

    found, name = facts.get("yardstick"), _other_score(facts)
    if not found:
        return []
    measure = measure_of(facts)
    if name is None:
        between = "" if found["low"] is None else measure.between(found)
        reached = [part.replace("\u00a0", " ") for part in (measure.words(found["error"]), between)]
    else:
        reached = [score_in_words(name, found["score"])]
    return [[f"{found['title']} §", *reached, *([""] * (width - 1 - len(reached)))]]


def _titled(one: dict[str, Any], facts: dict[str, Any]) -> str:
    """A learner in the table: the chosen one with a star, one that is not done with a dagger."""
    chosen = " *" if one["name"] == facts["answer"]["chosen"] else ""
    return one["title"] + chosen + (" †" if one.get("converged") is False else "")


def _validated(one: dict[str, Any], facts: dict[str, Any]) -> str:
    """The mean over folds and its deviation: errors, or the score that the learners were chosen by."""
    from ..report.scorings import tuning_measure_of
    from ..report.tuning import chosen_setting

    found = chosen_setting(one["tuning"])["validation"]
    sampled = "" if found["mean"] is None else _sampled(one, facts)
    return tuning_measure_of(facts).spread(found).replace("\u00a0", " ") + sampled


def _other_score(facts: dict[str, Any]) -> str | None:
    """The score by which learners were chosen, where it is not that of the table."""
    name = (facts.get("scoring") or {}).get("name")
    return None if name in _SHOWN_ANYWAY else name


def _sampled(one: dict[str, Any], facts: dict[str, Any]) -> str:
    fewer = one.get("tuned_rows") and one["tuned_rows"] < facts["split"]["train"]
    return " ‡" if fewer or not one["tuning"].get("final", True) else ""


def _asked_score(facts: dict[str, Any]) -> tuple[list[str], Any]:
    """The column of the score by which learners were chosen, where the table does not have it anyway."""
    from ..report.scores import score_in_words

    name = _other_score(facts)
    if name is None:
        return [], lambda one: []

    def cell(one: dict[str, Any]) -> list[str]:
        value = one.get("scores", {}).get(name, {}).get("value")
        return ["" if value is None else score_in_words(name, value)]

    return [facts["scoring"]["title"]], cell


def _show_footnotes(facts: dict[str, Any], printer: Printer) -> None:
    rows = facts["split"]["train"]
    if any(one.get("converged") is False for one in facts["learners"]):
        printer.line(_UNFINISHED)
    tuned = {one["tuned_rows"] for one in facts["learners"] if _sampled(one, facts)}
    if tuned:
        some = (
            f"{min(tuned):,} of {rows:,} training rows, drawn at random" if min(tuned) < rows else "one draw of folds"
        )
        printer.line(f"‡ cross-validated on {some}; the learners that could win were tuned once more on all.")
    if facts.get("yardstick"):
        printer.line(_BESIDE)
    fitted = [one for one in facts["learners"] if one.get("fitted_rows", rows) < rows]
    if fitted:
        fewest = min(one["fitted_rows"] for one in fitted)
        printer.line(f"Learners with a kernel were fitted on {fewest:,} of {rows:,} training rows.")


def _show_by_class(facts: dict[str, Any], printer: Printer) -> None:
    """How well the chosen learner does on each class."""
    chosen = next(one for one in facts["learners"] if one["name"] == facts["answer"]["chosen"])
    classes = chosen.get("by_class") or []
    if not 0 < len(classes) <= _CLASSES:
        return

    def share(value: float | None) -> str:
        return "—" if value is None else f"{100 * value:.1f} %"

    rows = [
        [one["label"], one["rows"], one["answered"], *(share(one[name]) for name in ("recall", "precision", "f1"))]
        for one in classes
    ]
    heads = ["<class", "test rows", "answered", "found (recall)", "right (precision)", "F1"]
    printer.table(heads, rows, f"{chosen['title']}, class by class")
