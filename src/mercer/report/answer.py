"""The head of the page: who won, with which kernel and parameters, how to use it, and what to beware of."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise

from ..io import suffix_of
from ..messages import count
from ..presentation import Markup, short, tag
from ..study import chosen_of_facts, closing_words, measure_of, score_in_words, scored_by
from .charts import settings
from .layout import Facts, bullets, paragraphs

#: Warnings that are shown at once; the others are folded.
_WARNINGS = 4


def answer_header(facts: Facts) -> Markup:
    """Who won, by how much, is it real, and what to do with it."""
    winner, document = chosen_of_facts(facts), facts.get("document", {})
    byline = ", ".join(document[name] for name in ("author", "date") if document.get(name))
    return tag(
        "header",
        tag("p", "mercer compare", class_="kicker"),
        tag("h1", document.get("title") or facts["data"]["name"]),
        tag("p", byline, class_="byline") if byline else None,
        paragraphs(re.split(r"\n\s*\n", document["notes"].strip())) if document.get("notes") else None,
        tag(
            "div",
            _figure(facts, winner),
            tag("div", paragraphs([*closing_words(facts), *_measured_by(facts)]), class_="words"),
            tag("div", _recipe(winner), *_commands(facts), class_="use"),
            class_="answer",
        ),
        _beware(facts, winner),
        id="answer",
    )


def _figure(facts: Facts, winner: Facts) -> Markup:
    """The one number to remember: the score that was asked for, or the error."""
    measure, title = measure_of(facts), facts["answer"]["title"]
    error = f"test {measure.name} of {title}"
    scoring = scored_by(facts)
    score = winner.get("scores", {}).get(scoring["name"]) if scoring else None
    if not scoring or not score:
        return tag("p", tag("strong", measure.of(winner["test"])), tag("span", error), class_="figure")
    return tag(
        "p",
        tag("strong", score_in_words(scoring["name"], score["value"])),
        tag("span", f"{scoring['title']} of {title} on the test rows"),
        tag("span", f"{measure.of(winner['test'])} test {measure.name}"),
        class_="figure",
    )


def _measured_by(facts: Facts) -> list[str]:
    """Why another score than the usual one decides."""
    scoring = scored_by(facts)
    return [scoring["why"]] if scoring and scoring.get("why") else []


#: The value of a parameter inside the text of a kernel.
_VALUE = re.compile(r"(?<==)\d+\.\d+(?:e[+-]?\d+)?")


def kernel_of(one: Facts) -> str | None:
    """The kernel of a learner as text, with numbers in as few digits as other parameters; nothing where it has none.

    Examples
    --------
    >>> kernel_of({"kernel": "gaussian(gamma=0.0078125)"})
    'gaussian(gamma=0.00781)'
    """
    kernel = one.get("kernel") or one["params"].get("kernel") or one.get("fixed", {}).get("kernel")
    return _VALUE.sub(lambda found: short(float(found[0])), kernel) if kernel else None


def _recipe(winner: Facts) -> Markup:
    """What the winner is made of."""
    kernel = kernel_of(winner)
    params = {name: value for name, value in winner["params"].items() if name != "kernel"}
    parts = [("Learner", winner["title"])]
    parts += [("Kernel", tag("code", kernel))] if kernel else []
    parts += [("Parameters", tag("code", settings(params)))] if params else []
    return tag("dl", [[tag("dt", name), tag("dd", shown)] for name, shown in parts])


def _commands(facts: Facts) -> list[Markup]:
    """The line that makes the winner again from all rows, and the one that uses it on a file of the same kind."""
    train = facts["answer"].get("train_command")
    if not train:
        return []
    model = _model_file(train)
    new = f"new{suffix_of(facts['data']['source']) or '.csv'}"
    use = f"mercer run {shlex.quote(model)} {shlex.quote(new)}" if model else None
    return [
        _to_copy("Train it", train, "train-line"),
        *([_to_copy("Use it on new rows", use, "run-line")] if use else []),
    ]


def _model_file(train: str) -> str | None:
    """The file that a ``mercer train`` line writes."""
    words = shlex.split(train)
    named = [after for before, after in pairwise(words) if before in ("-o", "--output")]
    return named[-1] if named else None


def _to_copy(what: str, command: str, name: str) -> Markup:
    """A command with a button that copies it."""
    button = tag("button", "Copy", type="button", class_="copy", data_copies=name, aria_label=f"Copy: {what}")
    return tag(
        "div",
        tag("p", what, class_="caption"),
        tag("pre", tag("code", command, id=name), tabindex="0", aria_label=what),
        button,
        class_="command",
    )


def _beware(facts: Facts, winner: Facts) -> Markup | None:
    """What may make the answer worth less than it looks."""
    unfinished = f"{winner['title']} did not converge: more steps may change it."
    said = [
        *([] if winner.get("converged", True) else [unfinished]),
        *(warning for warning in facts["data"]["warnings"] if warning not in facts["data"].get("telling", ())),
    ]
    if not said:
        return None
    rest = said[_WARNINGS:]
    folded = tag("details", tag("summary", f"{count(len(rest), 'more warning')}"), bullets(rest)) if rest else None
    return tag(
        "aside",
        tag("h2", "What to beware of"),
        bullets(said[:_WARNINGS]),
        folded,
        class_="beware",
        aria_label="What to beware of",
    )
