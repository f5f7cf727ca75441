"""The page's sections about the learners."""

from __future__ import annotations

from typing import Any

from . import draw
from .markup import Markup, tag
from .tables import Cell, bullets, count, figure, grouped, paragraphs, seconds, section, table
from .verdicts import percent

Facts = dict[str, Any]

#: Classes up to which a confusion matrix is shown whole.
_CONFUSED = 40

_FITS = {
    "good": "fits well",
    "overfit": "overfits",
    "underfit": "underfits",
    "both": "too simple, overfits",
    "useless": "no better than guessing",
}


def best_candidate(one: Facts) -> Facts:
    """The row of the tuning table that was chosen."""
    return one["tuning"]["candidates"][one["tuning"]["best"]]


def results_section(facts: Facts) -> Markup:
    """All learners in one table and one figure."""
    pairs = {pair["other"]: pair for pair in facts["pairs"]}
    chosen = facts["answer"]["chosen"]
    rows = [_result(one, pairs.get(one["name"]), one["name"] == chosen) for one in facts["learners"]]
    marked = next(k for k, one in enumerate(facts["learners"]) if one["name"] == chosen)
    heads = ["learner", "fit", "test error", "95 % interval", "CV error", "training error", "p", "fitted in"]
    return section(
        "results",
        "Results",
        table(heads, rows, caption="Every learner, tuned by cross-validation, tested once; the chosen one is marked",
              words=2, marked=marked),
        tag("p", "p: how often chance alone would make a difference to the chosen learner at least this large, "
            "corrected for several comparisons. Below 0.05 it counts as real.", class_="quiet"),
        figure(draw.errors(facts["learners"], facts["majority_error"]),
               "Test error with its 95 % interval, and training error."),
        bullets([[tag("strong", one["title"]), f" was left out: {one['why']}"] for one in facts["skipped"]]),
    )  # fmt: skip


def _result(one: Facts, pair: Facts | None, is_chosen: bool) -> list[Any]:
    validation, test = best_candidate(one)["validation"], one["test"]
    badge = tag("span", "chosen", class_="badge") if is_chosen else None
    return [
        Cell([tag("a", one["title"], href=f"#{one['name']}"), badge], one["title"]),
        Cell(_FITS[one["verdict"]["kind"]], look=f"fit-{one['verdict']['kind']}"),
        Cell(percent(test["rate"]), test["rate"], "main"),
        Cell(f"{100 * test['low']:.1f}–{percent(test['high'], 1)}", test["low"]),
        Cell(f"{100 * validation['mean']:.2f} ± {percent(validation['sd'])}", validation["mean"]),
        Cell(percent(one["train"]["rate"]), one["train"]["rate"]),
        Cell("—" if pair is None else _chance(pair["p_corrected"]), -1 if pair is None else pair["p_corrected"]),
        Cell(seconds(one["fit_seconds"]), one["fit_seconds"]),
    ]  # fmt: skip


def _chance(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}" if p < 0.1 else f"{p:.2f}"


def reality_section(facts: Facts) -> Markup:
    """Whether the winner is really better."""
    titles = {one["name"]: one["title"] for one in facts["learners"]}
    said = {
        "better": "really worse than the chosen",
        "worse": "really better than the chosen",
        "tie": "cannot be told apart",
    }
    rows = [
        [
            titles[pair["other"]],
            said[pair["verdict"]],
            Cell(grouped(pair["only_chosen_right"]), pair["only_chosen_right"]),
            Cell(grouped(pair["only_other_right"]), pair["only_other_right"]),
            Cell(_chance(pair["p"]), pair["p"]),
            Cell(_chance(pair["p_corrected"]), pair["p_corrected"]),
        ]
        for pair in sorted(facts["pairs"], key=lambda pair: -pair["p_corrected"])
    ]
    title = facts["answer"]["title"]
    heads = ["learner", "verdict", "only the chosen right", "only this one right", "p", "p corrected"]
    return section(
        "real",
        "Is the difference real?",
        tag("p", f"{title} and each other learner decided the same test rows. Rows on which exactly one of the two is "
            "right fall to either side like a fair coin if both are equally good (McNemar’s exact test; Holm’s "
            f"correction for {count(len(rows), 'comparison')})."),
        table(heads, rows, caption=f"{title} against each of the others, on the test rows", words=2) if rows else None,
    )  # fmt: skip


def learners_section(facts: Facts) -> Markup:
    """Each learner by itself."""
    labels = [one["label"] for one in facts["data"]["classes"]]
    return section("learners", "Learner by learner", [_learner(one, labels) for one in facts["learners"]])


def _learner(one: Facts, labels: list[str]) -> Markup:
    tuning = one["tuning"]
    found = [
        f"Best of {count(len(tuning['candidates']), 'setting')} by {tuning['folds']}-fold cross-validation: "
        f"{draw.settings(one['params'])}.",
        *one["notes"],
        *[fact["message"] for fact in tuning["advice"]],
    ]
    if one["support"]:
        share = percent(one["support"]["share"], 0)
        found.append(f"Made of {count(one['support']['number'], 'support vector')}, {share} of its training rows.")
    found += [one["certificate"]["words"]] if one["certificate"] else []
    found += [bound["words"] for bound in one["bounds"]]
    found += [f"Warning: {words}" for words in one["warnings"]]
    return tag(
        "article",
        tag("h3", one["title"], tag("small", percent(one["test"]["rate"]) + " test error")),
        tag("p", one["verdict"]["words"], class_=f"verdict fit-{one['verdict']['kind']}"),
        bullets(found),
        tag(
            "div",
            figure(draw.tuning_curve(one), "Tuning: validation error (band: ± one deviation over the folds), dotted: "
                   "training error; the ring is the choice."),
            figure(draw.margin(one), "Margins: how clearly rows are decided."),
            class_="pair",
        ),
        tag("details", tag("summary", "All settings tried"), _settings(one)),
        tag("details", tag("summary", "Confusion matrix of the test rows"), _confusion(one, labels)),
        id=one["name"],
    )  # fmt: skip


def _settings(one: Facts) -> Markup:
    candidates = one["tuning"]["candidates"]
    names = list(candidates[0]["params"])
    rows = [
        [
            *[Cell(draw.short(candidate["params"][name]), candidate["params"][name]) for name in names],
            *[
                Cell(f"{100 * candidate[kind]['mean']:.2f} ± {percent(candidate[kind]['sd'])}", candidate[kind]["mean"])
                for kind in ("validation", "train")
            ],
            Cell(seconds(candidate["fit_seconds"]), candidate["fit_seconds"]),
        ]
        for candidate in candidates
    ]
    heads = [*names, "validation error", "training error", "fit of a fold"]
    caption = f"{one['title']}: mean ± standard deviation over {one['tuning']['folds']} folds"
    return table(heads, rows, caption=caption, words=0, marked=one["tuning"]["best"])


def _confusion(one: Facts, labels: list[str]) -> Markup:
    if len(labels) > _CONFUSED:
        return tag("p", f"{len(labels)} classes: the matrix is in report.json.", class_="quiet")
    rows = []
    for label, counts in zip(labels, one["confusion"], strict=True):
        total = max(1, sum(counts))
        cells = [
            Cell(
                tag(
                    "span",
                    grouped(number),
                    style=f"--share: {100 * number / total:.0f}%",
                    class_="heat" if other == label else "heat wrong" if number else "heat none",
                ),
                number,
                tip=f"{number} of {total} rows of class {label} decided as {other}",
            )
            for other, number in zip(labels, counts, strict=True)
        ]
        rows.append([label, *cells])
    caption = "Rows are the true classes, columns the decided ones"
    return table(["true class", *labels], rows, caption=caption, sortable=False)


def weights_section(facts: Facts) -> Markup | None:
    """Weights of the linear learners side by side."""
    linear = [one for one in facts["learners"] if one["weights"] and one["family"] == "linear"]
    square = [one for one in facts["learners"] if one["weights"] and one["family"] == "degree 2"]
    if not linear and not square:
        return None
    labels = [one["label"] for one in facts["data"]["classes"]]
    meaning = (
        f"Blue speaks for “{labels[1]}”, orange for “{labels[0]}”."
        if len(labels) == 2
        else "With several classes a weight is its length over all of them, without a sign."
    )
    left = max([one["weights"]["left_out"] for one in linear + square], default=0)
    return section(
        "weights",
        "Weights side by side",
        tag("p", f"Each weight as a share of the length of its model’s weight vector. {meaning}",
            f" Up to {grouped(left)} lighter weights of a model are left out." if left else None),
        tag(
            "div",
            tag(
                "div",
                figure(draw.weights(linear, "weights-linear", "features"), "Linear learners."),
                figure(draw.weights(square, "weights-products", "interactions"),
                       "The heaviest interactions of two columns."),
            ),
            figure(draw.weights(square, "weights-square", "features"),
                   "Degree-2 learners: columns, squares and products."),
            class_="pair",
        ),
    )  # fmt: skip


def boundary_section(facts: Facts) -> Markup | None:
    """The boundaries of all learners on one plane."""
    plane = facts["boundary"]
    if plane is None:
        return None
    labels = [one["label"] for one in facts["data"]["classes"]]
    keys = [
        tag("span", tag("i", style=f"background: {colour}"), label, class_="key")
        for label, colour in draw.legend(labels)
    ]
    where = (
        f"The plane of {plane['axes'][0]} and {plane['axes'][1]}."
        if plane["features"] == 2
        else f"A slice of {count(plane['features'], 'feature')} through the mean: {plane['axes'][0]} across, "
        f"{plane['axes'][1]} upwards. Rows are projected onto it, so one may lie on the other side here than it does "
        "in all dimensions."
    )
    shown = [one for one in facts["learners"] if one["name"] in plane["learners"]]
    pictures = [tag("div", draw.boundary(one, plane, labels)) for one in shown]
    margins = " The full line is the boundary, dashed lines are scores of ±1." if len(labels) == 2 else ""
    return section(
        "boundaries",
        "What they decide",
        tag("figure", tag("div", pictures, class_="many wide"), tag("figcaption", where, margins, " ", keys)),
    )


def cost_section(facts: Facts) -> Markup:
    """Running time and what it buys."""
    rows = [
        [
            one["title"],
            one["family"],
            Cell(seconds(one["tuning"]["seconds"]), one["tuning"]["seconds"]),
            Cell(grouped(one["tuning"]["rows"]), one["tuning"]["rows"]),
            Cell(seconds(one["fit_seconds"]), one["fit_seconds"]),
            Cell(f"{one['predict_microseconds']:.3g} µs", one["predict_microseconds"]),
            Cell(grouped(one["support"]["number"]), one["support"]["number"]) if one["support"] else Cell("—", 0),
            _gap(one["certificate"]),
        ]
        for one in sorted(facts["learners"], key=lambda one: one["fit_seconds"])
    ]  # fmt: skip
    heads = ["learner", "family", "tuning", "on rows", "final fit", "per new row", "support vectors", "relative gap"]
    return section(
        "cost",
        "Time and cost",
        table(
            heads,
            rows,
            caption="What each learner cost; relative gap: how far at most from its best objective",
            words=2,
        ),
        figure(draw.costs(facts["learners"]), "Test error against the time of the final fit: lower left is better."),
    )


def _gap(certificate: Facts | None) -> Cell:
    if certificate is None:
        return Cell("—", 1e9)
    share = certificate["relative"]
    return Cell("< 1e-6" if share < 1e-6 else draw.short(share), share)


def answer_header(facts: Facts) -> Markup:
    """Who won, by how much, and is it real."""
    answer = facts["answer"]
    winner = next(one for one in facts["learners"] if one["name"] == answer["chosen"])
    test = winner["test"]
    return tag(
        "header",
        tag("p", "mercer compare", class_="kicker"),
        tag("h1", facts["data"]["name"]),
        tag(
            "div",
            tag(
                "p",
                tag("strong", percent(test["rate"])),
                tag("span", f"test error of {answer['title']}"),
                class_="figure",
            ),
            tag("div", paragraphs(answer["words"]), class_="words"),
            class_="answer",
        ),
        id="answer",
    )
