"""``mercer cluster``: the clusters of a table, and what they are worth."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ..messages import counted, guide
from .options import Places, common, data_argument, data_options, preparation_options
from .paths import save, sign_option
from .printing import Printer, run_line
from .unlabelled import REFITS, ROWS, SHARE, Unlabelled, extent_of_refits, unlabelled_options

if TYPE_CHECKING:
    from ..clusters import NumberOfClusters

#: Columns that are shown, and clusters with a column of their own.
_COLUMNS, _CLUSTERS = 8, 8
#: Stability from which on clusters count as found again, and below which they do not.
_AGAIN, _GONE = 0.8, 0.5
#: How much larger than without any clusters a silhouette is to be.
_CHANCE = 0.05


@click.command()
@data_argument
@click.option("-k", "--clusters", type=click.IntRange(1), help="How many. [default: as many as stand out]")
@click.option(
    "--most", type=click.IntRange(2), default=10, show_default=True, help="Without -k: look at up to so many clusters."
)
@click.option(
    "--method",
    type=click.Choice(["kmeans", "spectral"]),
    default="kmeans",
    show_default=True,
    help="kmeans: rows near to the mean of their cluster; spectral: parts between which there is a gap, of any shape.",
)
@unlabelled_options
@click.option("--model", type=click.Path(dir_okay=False), help='Store the clusters as a model for "mercer run".')
@sign_option
@data_options
@preparation_options
@common
def cluster(
    data: Places,
    clusters: int | None,
    most: int,
    method: str,
    kernel: str | None,
    rank: int | None,
    memory: str | None,
    output: str | None,
    plot: str | None,
    model: str | None,
    reading: dict[str, Any],
    preparing: dict[str, Any],
    printer: Printer,
    seed: int,
) -> None:
    """Find clusters in a table, and say what they are worth.

    The report answers: how many clusters there are, whether they come again where some rows are left out, whether they
    stand out more than in rows whose columns were shuffled, and in which columns they differ. A target that is named
    (--target) is left out, and then compared with the clusters.

    \b
    Example:
      mercer cluster breast_cancer --target diagnosis
      mercer cluster customers.csv -k 4 -o with-clusters.csv --plot clusters.svg
      mercer cluster genes.fasta --kernel "normalised(spectrum(p=3))"
      mercer cluster rings.csv --method spectral --model rings.safetensors
    """
    from ..composition import machine_of

    asked = Unlabelled.of(
        method, data, reading, preparing, printer, seed, kernel=kernel, output=output, plot=plot, model=model,
        rank=rank, memory=memory,
    )  # fmt: skip
    table, others = asked.table, asked.printer
    facts: dict[str, Any] = {"data": table.name, "rows": table.n_rows, "method": method}
    if clusters is None:
        suggested = _suggested(asked, most)
        _show_numbers(suggested, others)
        clusters = suggested.best
        facts["numbers"] = {
            "clusters": suggested.numbers,
            "silhouette": suggested.silhouettes,
            "stability": suggested.stabilities,
            "eigengap": suggested.gaps,
        }
    begin = time.perf_counter()
    with others.working(f"finding {counted(clusters, 'cluster')} of {table.n_rows} {table.kind}"):
        found = asked.machine(n_clusters=clusters).fit(table.X)
        facts["seconds"] = time.perf_counter() - begin
        facts |= _worth(asked, found) | _made_of(asked, machine_of(found).labels_)
    facts["kernel"] = str(machine_of(found).kernel_)
    _show(asked, facts)
    facts |= asked.deliver({"cluster": machine_of(found).labels_})
    asked.draw(found, plot)
    if model is not None:
        _store(asked, found, facts, model)
        others.line(f"Model: {model}\n  {run_line(model)}")
    printer.json_result(facts)


def _suggested(asked: Unlabelled, most: int) -> NumberOfClusters:
    from ..clusters import number_of_clusters

    with asked.printer.working(f"looking at 2 to {most} clusters"):
        return number_of_clusters(asked.machine(n_clusters=2), asked.table.X, most=most, random_state=asked.seed)


def _store(asked: Unlabelled, found: Any, facts: dict[str, Any], path: str) -> None:
    from .command_lines import given_command
    from .recipe import about_model

    table = asked.table
    training = {"rows": table.n_rows, "seconds": facts["seconds"], "status": facts["status"], "seed": asked.seed}
    more = {"command": given_command(), "target": asked.whole.target}
    save(found, path, about_model(table, asked.learner, found, table, training=training, **more))


# What clusters are worth, and what they are made of.


def _worth(asked: Unlabelled, found: Any) -> dict[str, Any]:
    """How apart the clusters are, whether they come again, and how near to the best ones they are."""
    from ..clusters import silhouettes, stability
    from ..composition import machine_of

    machine, X, seed = machine_of(found), asked.table.X, asked.seed
    values, rows = silhouettes(found, X, random_state=seed)
    labels = machine.labels_
    counts = np.bincount(labels)
    sums = np.bincount(labels[rows], values, counts.size) / np.maximum(np.bincount(labels[rows], None, counts.size), 1)
    facts: dict[str, Any] = {
        "clusters": [{"cluster": c, "rows": counts[c], "silhouette": sums[c]} for c in range(counts.size)],
        "silhouette": float(values.mean()),
        "status": machine.status_,
    }
    if counts.size > 1:
        again = stability(found, X, repeats=REFITS, share=SHARE, sample=ROWS, random_state=seed)
        facts["stability"] = {"mean": again.mean(), "least": again.min(), "most": again.max()}
    if hasattr(machine, "cost_"):
        above = machine.cost_ / machine.cost_bound_ - 1 if machine.cost_bound_ > 0 else None
        facts["shuffled_silhouette"] = _shuffled(asked, found)
        return facts | {"cost": machine.cost_, "cost_bound": machine.cost_bound_, "at_most_above": above}
    return facts | {"eigenvalues": machine.eigenvalues_, "eigenvalue_bounds": machine.eigenvalue_bounds_}


def _shuffled(asked: Unlabelled, found: Any) -> float | None:
    """The mean silhouette of as many clusters of rows in which columns have nothing to do with each other."""
    from sklearn.base import clone

    from ..clusters import silhouettes
    from ..composition import machine_of

    table = asked.table
    if table.frame is None or table.n_columns < 2 or machine_of(found).labels_.max() == 0:
        return None
    rng = np.random.default_rng(asked.seed)
    part = table.frame.iloc[np.sort(rng.permutation(table.n_rows)[:ROWS])].copy()
    for name in part.columns:
        part[name] = part[name].iloc[rng.permutation(len(part))].array
    return float(silhouettes(clone(found).fit(part), part, random_state=asked.seed)[0].mean())


def _made_of(asked: Unlabelled, labels: Any) -> dict[str, Any]:
    """The columns in which clusters differ, and how much they have to do with the target."""
    from sklearn.metrics import adjusted_rand_score

    from ..clusters import shares_of_columns

    frame, whole = asked.table.frame, asked.whole
    facts: dict[str, Any] = {}
    if frame is not None:
        facts["columns"] = {
            name: {"share": share, "by_cluster": [_typical(frame[name][labels == c]) for c in range(labels.max() + 1)]}
            for name, share in list(shares_of_columns(frame, labels).items())[:_COLUMNS]
        }
    if whole.y is not None and not whole.measured:
        known = whole.labelled
        score = adjusted_rand_score(whole.y[known].astype(str), labels[known])
        facts["target"] = {"name": whole.target, "adjusted_rand": score}
    return facts


def _typical(column: Any) -> Any:
    """The mean of numbers, the median of dates, the most frequent of words."""
    known = column.dropna()
    if not len(known):
        return None
    if known.dtype.kind in "iufb":
        return float(known.mean())
    return str(known.median().date()) if known.dtype.kind == "M" else str(known.mode().iloc[0])


def _shown(value: Any) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


# What is told.


def _show_numbers(suggested: Any, printer: Printer) -> None:
    heads = ["clusters", "silhouette", "stability", *(["eigengap"] if suggested.gaps is not None else []), "<"]
    rows = []
    for place, number in enumerate(suggested.numbers.tolist()):
        gap = [f"{suggested.gaps[place]:.3g}"] if suggested.gaps is not None else []
        values = [f"{suggested.silhouettes[place]:.3f}", f"{suggested.stabilities[place]:.2f}"]
        rows.append([number, *values, *gap, "chosen" if number == suggested.best else ""])
    printer.table(heads, rows, "how many clusters")


def _show(asked: Unlabelled, facts: dict[str, Any]) -> None:
    """The clusters, the columns in which they differ, and whether to rely on them."""
    from ..clusters import FAINT

    table, printer, clusters = asked.table, asked.printer, facts["clusters"]
    printer.line(f"{asked.learner.title}: {table.extent}, {counted(len(clusters), 'cluster')}, {facts['kernel']}")
    rows = [[one["cluster"], one["rows"], f"{100 * one['rows'] / table.n_rows:.1f} %", f"{one['silhouette']:.2f}"]
            for one in clusters]  # fmt: skip
    printer.table(["<cluster", table.kind, "share", "silhouette"], rows)
    if columns := facts.get("columns"):
        shown = range(min(len(clusters), _CLUSTERS))
        body = [[name, f"{100 * one['share']:.0f} %", *(_shown(one["by_cluster"][c]) for c in shown)]
                for name, one in columns.items()]  # fmt: skip
        title = "what clusters are made of: the share of a column's differences that lies between them, means"
        printer.table(["<column", "share", *(f"cluster {c}" for c in shown)], body, title)
    if (above := facts.get("at_most_above", "")) != "":
        said = (
            "how far from the best possible is not known"
            if above is None
            else f"at most {100 * above:.1f} % above the best possible"
        )
        printer.line(f"cost {facts['cost']:.5g}: {said}")
    if again := facts.get("stability"):
        mean = again["mean"]
        verdict = (
            "the clusters come again"
            if mean >= _AGAIN
            else "other clusters are found: do not rely on these"
            if mean < _GONE
            else "the clusters come again in part"
        )
        printer.line(
            f"{REFITS} refits on 80 % of {extent_of_refits(table)}: {verdict} (adjusted Rand index {mean:.2f}, from "
            f"{again['least']:.2f} to {again['most']:.2f}; 1 where clusters are the same)"
        )
    if len(clusters) > 1:
        beside = facts.get("shuffled_silhouette")
        shuffled = "" if beside is None else f"; {beside:.2f} where columns are shuffled"
        faint = facts["silhouette"] < FAINT or (beside is not None and facts["silhouette"] <= beside + _CHANCE)
        verdict = "the clusters hardly stand out" if faint else "the clusters stand out"
        printer.line(f"mean silhouette {facts['silhouette']:.2f}{shuffled}: {verdict} {guide('clusters')}")
    if target := facts.get("target"):
        printer.line(
            f"beside the target {target['name']!r}: adjusted Rand index {target['adjusted_rand']:.2f} (0 by chance, 1 "
            "where both are the same)"
        )
