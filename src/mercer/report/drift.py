"""The page of two tables that were compared: do they differ, in which columns, by which rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..messages import enumeration, grouped
from ..presentation import Markup, shorten, tag
from .charts import CYCLE, inline, sheet
from .layout import Cell, Facts, Section, paragraphs, table

#: Columns that are drawn, and rows' cells that are shown.
_DRAWN, _CELLS = 12, 6


def drift_header(facts: Facts) -> Markup:
    """Whether the tables differ."""
    old, new = facts["old"], facts["new"]
    share = f"{100 * facts['alpha']:g} %"
    said = [
        f"{old['name']}: {grouped(old['rows'])} rows. {new['name']}: {grouped(new['rows'])} rows. "
        f"{grouped(facts['permutations'])} random divisions of all rows were compared with this one.",
        f"Where nothing has changed, this page says that tables differ in {share} of all cases at most.",
    ]
    if facts["differ"]:
        moved = facts["moved"]
        alone = f"Columns that moved: {enumeration(moved)}." if moved else (
            "No column has moved by itself: it is how columns go together."
        )  # fmt: skip
        said.insert(0, f"They differ. {alone}")
    else:
        said.insert(0, "No difference was found. That is no proof that there is none: a small one needs more rows.")
    chance = f"{facts['pvalue']:.4f}" if facts["pvalue"] < 0.1 else f"{facts['pvalue']:.2f}"
    return tag(
        "header",
        tag("p", "mercer drift", class_="kicker"),
        tag("h1", f"{old['name']} and {new['name']}"),
        tag(
            "div",
            tag("p", tag("strong", chance), tag("span", "p-value of all columns together"), class_="figure"),
            tag("div", paragraphs(said), class_="words"),
            class_="answer",
        ),
        id="answer",
    )


def drift_sections(facts: Facts) -> dict[Section, Markup]:
    """What the page shows, in its order."""
    sections = [
        Section("columns", "Which columns moved", 10, "Columns", _columns),
        Section("spread", "How values are spread", 20, "Spread", _spread),
        Section("rows", "Which rows speak for it", 30, "Rows", _rows),
        Section("how", "How this was tested", 40, "How", _how),
    ]
    shown = {one: one.render(facts) for one in sections}
    return {one: body for one, body in shown.items() if body is not None}


def _columns(facts: Facts) -> list[Any]:
    rows = [
        [
            each["name"],
            each["kind"],
            Cell(f"{each['corrected']:.4f}", each["corrected"]),
            Cell(f"{each['pvalue']:.4f}", each["pvalue"]),
            each["old"],
            each["new"],
        ]
        for each in facts["columns"]
    ]
    heads = ["column", "kind", "p corrected", "p alone", "old", "new"]
    return [table(heads, rows, caption="Each column alone, those that moved first", words=2, also_words=(4, 5))]


def _spread(facts: Facts) -> list[Any] | None:
    drawn = [_drawn(each, f"spread-{k}") for k, each in enumerate(facts["columns"][:_DRAWN])]
    key = tag("span", "Filled: ", facts["old"]["name"], ". Line: ", facts["new"]["name"], ".")
    return [
        tag(
            "figure",
            tag("div", [tag("div", picture) for picture in drawn], class_="many"),
            tag("figcaption", "Shares of rows. ", key),
        )
    ]


def _drawn(column: Facts, name: str) -> Markup:
    """How the values of a column are spread in either table."""
    shares = column["shares"]
    old, new = np.array(shares["old"]), np.array(shares["new"])
    edges = np.array(shares["edges"]) if "edges" in shares else np.arange(len(old) + 1.0) - 0.5
    with sheet(name, 2.5, 1.55, (0.05, 0.25, 0.05, 0.25)) as drawn:
        ax = drawn.ax
        ax.stairs(old, edges, fill=True, color=CYCLE[0], alpha=0.55, linewidth=0)
        ax.stairs(new, edges, color=CYCLE[1], linewidth=1.4)
        ax.set_title(shorten(column["name"], 30), loc="left")
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        if "names" in shares:
            few = range(min(len(old), 4))
            ax.set_xticks(few, [shorten(shares["names"][k], 8) for k in few])
        elif column["kind"] == "date":
            ends = [str(np.datetime64(int(edges[k]), "s").astype("datetime64[D]")) for k in (0, -1)]
            ax.set_xticks([edges[0], edges[-1]], ends)
        else:
            ax.locator_params(axis="x", nbins=4)
        return inline(drawn, f"Spread of {column['name']}", f"Old: {column['old']}. New: {column['new']}.")


def _rows(facts: Facts) -> list[Any]:
    parts: list[Any] = [
        tag("p", "The witness of a row is how much more of its own table than of the other one is near it."),
    ]
    for key, which in (("rows_of_new", "new"), ("rows_of_old", "old")):
        rows = [
            [each["where"], _cells(each["cells"], facts["moved"]), Cell(f"{each['witness']:.3g}", each["witness"])]
            for each in facts[key]
        ]
        caption = f"Rows of {facts[which]['name']} that speak most for a difference"
        parts.append(table(["row", "cells", "witness"], rows, caption=caption, words=2))
    return parts


def _cells(cells: dict[str, str], moved: list[str]) -> str:
    names = [*(name for name in moved if name in cells), *(name for name in cells if name not in moved)]
    return ", ".join(f"{name} = {cells[name]}" for name in names[:_CELLS])


def _how(facts: Facts) -> list[Any]:
    return paragraphs(
        [
            "All columns are prepared by steps that learn from the rows of both tables alike, and compared by the "
            f"maximum mean discrepancy under Gaussian kernels of several lengths; under {facts['kernel']} its square "
            f"is {facts['statistic']:.4g}.",
            "Rows are dealt out to two tables at random, again and again. p is the share of these divisions, this one "
            "included, that differ as much; no model of the rows is needed for it.",
            "The p-values of columns are corrected for being several by Westfall and Young’s steps, from the same "
            "divisions. Rows are taken to be independent.",
        ]
    )


__all__ = ["drift_header", "drift_sections"]
