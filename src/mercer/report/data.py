"""The page's sections about the data, what preprocessing did to them, and how to repeat the study."""

from __future__ import annotations

from typing import Any

from ..messages import count, grouped, percent
from ..presentation import Markup, tag
from . import charts
from .charts import words_by_class
from .layout import Cell, Facts, bullets, figure, section, table
from .results import target_of_numbers

# The page's parts about columns that are not numbers: how columns were read, and which words go with which class.


#: A table of more columns than this is folded, and so many columns are pictured.
_OPEN_WORDS, _PICTURED = 12, 12


def columns_as_read(data: Facts) -> list[Any]:
    """What each column was taken for and why, and which were left out; nothing where that is not known."""
    read, left_out = data.get("columns_read") or [], data.get("left_out") or []
    if not read and not left_out:
        return []
    rows = [[one["name"], one["kind"], Cell(one.get("why") or "", look="words wrap")] for one in read]
    whole = table(["column", "read as", "why"], rows, caption="How each column was read", words=3) if rows else None
    folded = tag("details", tag("summary", f"How {count(len(rows), 'column was', 'columns were')} read"), whole)
    return [
        tag("h3", "How the columns were read"),
        bullets([[tag("strong", one["name"]), f" was left out: {one['why']}"] for one in left_out]),
        whole if len(rows) <= _OPEN_WORDS else folded,
    ]


def _telling(columns: list[Facts]) -> str:
    """Which words of texts are pictured; nothing where there are no texts."""
    return "; of texts the words that tell most" if any(column["kind"] == "texts" for column in columns) else ""


def pictured_words(data: Facts) -> Markup | None:
    """The commonest categories of each categorical column, and the most telling words of each text, by class."""
    columns = [column for column in data["described"] if any("by_class" in top for top in column.get("top", []))]
    if not columns:
        return None
    labels = [one["label"] for one in data["classes"]]
    shown = columns[:_PICTURED]
    pictures = [words_by_class(column, labels, f"words-{k}") for k, column in enumerate(shown)]
    left = (
        f" The first {len(shown)} of {grouped(len(columns))} columns of categories or texts."
        if len(columns) > len(shown)
        else ""
    )
    what = f"Rows with each word{', by class' if labels else ''}{_telling(columns)}. "
    return tag(
        "figure",
        tag("div", [tag("div", picture) for picture in pictures], class_="many wide"),
        tag("figcaption", what, charts.class_keys(labels), left),
    )


#: A table of more columns than this is folded.
_OPEN = 12


@section("data", "The data", place=70)
def data(facts: Facts) -> list[Any]:
    """The data as it was read."""
    data = facts["data"]
    labels = [one["label"] for one in data["classes"]]
    drawn = [column for column in data["described"] if column.get("quantiles")][:24]
    return [
        tag("p", _shape(data)),
        bullets(data["notes"]),
        *_target(facts),
        *columns_as_read(data),
        tag("h3", "Columns" if data["kind"] == "rows" else "What can be counted"),
        _left_out(data["columns_left_out"], data["columns"]),
        _columns(data),
        _histograms(drawn, labels, data["numeric_columns"]),
        pictured_words(data),
        tag(
            "div",
            figure(charts.boxes(drawn), "Spread of the columns: each in widths of its own middle half; orange marks "
                   "are the farthest outliers.") if drawn else None,
            figure(charts.correlation(data["correlation"]), "Correlations: blue moves together, orange against each "
                   "other.") if len(data["correlation"]["columns"]) > 1 else None,
            class_="pair",
        ),
    ]  # fmt: skip


def _target(facts: Facts) -> list[Any]:
    """The classes and their rows, or the numbers and how they are spread."""
    if facts.get("task") == "regress":
        return [tag("h3", "Target"), *target_of_numbers(facts["data"])]
    return [tag("h3", "Classes"), _classes(facts)]


def _shape(data: Facts) -> str:
    numbers = data.get("task") == "regress"
    what = "numbers" if numbers else count(len(data["classes"]), "class", "classes")
    if data["kind"] != "rows":
        return f"{count(data['rows'], data['kind'].removesuffix('s'))}, {what} in the target “{data['target']}”."
    said = [
        f"{count(data['rows'], 'row')}, {count(data['columns'], 'column')} ({_kinds(data)}), "
        f"{what} in the target “{data['target']}”.",
        f"{count(data['missing_cells'], 'cell is', 'cells are')} missing."
        if data["missing_cells"]
        else "Nothing is missing.",
    ]
    return " ".join(said)


def _kinds(data: Facts) -> str:
    """How many columns there are of each kind."""
    kinds = {"numeric": "numeric_columns", "categorical": "category_columns", "of dates": "date_columns",
             "of texts": "text_columns"}  # fmt: skip
    numbers = {kind: data.get(key) or 0 for kind, key in kinds.items()}
    return ", ".join(f"{grouped(number)} {kind}" for kind, number in numbers.items() if number)


def _classes(facts: Facts) -> Markup:
    split = facts["split"]
    rows = [
        [
            one["label"],
            Cell(grouped(one["rows"]), one["rows"]),
            Cell(percent(one["share"], 1), one["share"]),
            Cell(grouped(part["train"]), part["train"]),
            Cell(grouped(part["test"]), part["test"]),
        ]
        for one, part in zip(facts["data"]["classes"], split["classes"], strict=True)
    ]
    heads = ["class", facts["data"]["kind"], "share", "training", "test"]
    return table(heads, rows, caption=f"{heads[1].capitalize()} of each class, and how they were split")


def _left_out(number: int, columns: int) -> Markup | None:
    if not number:
        return None
    words = (
        f"{grouped(columns - number)} of {grouped(columns)} columns are described, those in which the classes lie "
        "farthest apart; "
    )
    return tag(
        "p", words, tag("strong", f"{grouped(number)} are left out here"), ", though learned from.", class_="quiet"
    )


def _columns(data: Facts) -> Markup:
    rows = []
    for column in data["described"]:
        quantiles = column.get("quantiles")
        if quantiles:
            shown = [quantiles[0], column["mean"], quantiles[2], quantiles[4], column["std"], column["skew"]]
            numbers = [Cell(_number(value), value) for value in shown]
            numbers.append(Cell(grouped(column["outliers"]), column["outliers"]))
        elif column["kind"] == "dates":
            numbers = [Cell("") for _ in range(7)]
            numbers[0], numbers[3] = Cell(column["first"] or ""), Cell(column["last"] or "")
        else:
            values = ", ".join(f"{top['value']} ({grouped(top['rows'])})" for top in column.get("top", [])[:3])
            numbers = [Cell("") for _ in range(7)]
            numbers[0] = Cell(values, look="words", tip=values)
        missing = Cell(grouped(column["missing"]), column["missing"])
        rows.append([column["name"], *numbers, Cell(grouped(column["distinct"]), column["distinct"]), missing])
    heads = ["column", "min", "mean", "median", "max", "std", "skew", "outliers", "distinct", "missing"]
    what = "Columns" if data["kind"] == "rows" else data["kind"].capitalize()
    whole = table(heads, rows, caption=f"{what}: {_described_by(data)}")
    if len(rows) <= _OPEN:
        return whole
    return tag("details", tag("summary", f"Table of {count(len(rows), 'column')}"), whole)


def _described_by(data: Facts) -> str:
    """What the table of columns shows of each kind that there is."""
    telling = "small and large targets" if data.get("task") == "regress" else "the classes"
    ways = {
        "numbers": "numbers by their values",
        "words": "words by the commonest of them",
        "texts": f"texts by the words that tell {telling} apart best",
        "dates": "dates by the first and the last",
    }
    kinds = {column["kind"] for column in data["described"]}
    return ", ".join(words for kind, words in ways.items() if kind in kinds)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}".replace("-", "−")


def _histograms(columns: list[Facts], labels: list[str], numeric: int) -> Markup | None:
    if not columns:
        return None
    left = f" The first {len(columns)} of {grouped(numeric)} numeric columns." if numeric > len(columns) else ""
    pictures = [charts.histogram(column, labels, f"histogram-{k}") for k, column in enumerate(columns)]
    return tag(
        "figure",
        tag("div", [tag("div", picture) for picture in pictures], class_="many"),
        tag("figcaption", "Histograms of the columns. ", charts.class_keys(labels), left),
    )


@section("preprocessing", "What preprocessing did", place=80, contents="Preprocessing")
def preprocessing(facts: Facts) -> list[Any]:
    """What was done to the rows, and to whom."""
    steps, split = facts["preprocessing"], facts["split"]
    return [
        tag(
            "p",
            f"{count(split['train'], 'row')} for training, {count(split['test'], 'row')} for the test{_drawn(facts)}. "
            f"All steps below were fitted on training rows only, inside the {split['folds']} folds of every "
            "cross-validation.",
        ),
        bullets(split["notes"]),
        bullets(steps["words"]),
        _removed_rows(steps["rows"]),
    ]


def _drawn(facts: Facts) -> str:
    """How the test rows were drawn, where nothing else decided which they are."""
    split = facts["split"]
    if split.get("nested") or not split.get("drawn_freely", True):
        return ""
    drawn = "drawn at random" if facts.get("task") == "regress" else "each class with its share, drawn"
    return f", {drawn} with seed {split['seed']}"


def _removed_rows(removed: Facts | None) -> Markup | None:
    if not removed or not removed["total"] or not removed["classes"]:
        return None
    rows = [
        [one["label"], Cell(grouped(one["removed"]), one["removed"]), Cell(grouped(one["rows"]), one["rows"]),
         Cell(percent(one["removed"] / max(1, one["rows"]), 1), one["removed"] / max(1, one["rows"]))]
        for one in removed["classes"]
    ]  # fmt: skip
    heads = ["class", "removed", "of training rows", "share"]
    return table(heads, rows, caption="Training rows removed as outliers, by class")


@section("repeat", "How to repeat this", place=90, contents="Repeat")
def repeat(facts: Facts) -> list[Any]:
    repeat, data = facts["repeat"], facts["data"]
    versions = [[name, number] for name, number in repeat["versions"].items()]
    return [
        tag("pre", tag("code", repeat["command"])) if repeat["command"] else None,
        bullets(
            [
                ["Data: ", data["source"], "; SHA-256 ", tag("code", data["digest"])],
                f"Seed {repeat['seed']}; it took {repeat['seconds']:.0f} s on {repeat['machine']}.",
                "All numbers of this page are in report.json beside it. Both show values of the data: pass them on "
                "only to those who may see the data.",
            ]
        ),
        table(["software", "version"], versions, caption="Versions", words=2, sortable=False),
    ]
