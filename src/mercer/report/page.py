"""One self-contained page from the facts."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..io.writing import write_whole
from .markup import Markup, tag
from .sections_data import data_section, preprocessing_section
from .sections_learners import (
    answer_header,
    boundary_section,
    cost_section,
    learners_section,
    reality_section,
    results_section,
    weights_section,
)
from .tables import bullets, section, table

Facts = dict[str, Any]


def page(facts: Facts) -> str:
    """The report as HTML: no script, font, image or style from anywhere else.

    Parameters
    ----------
    facts : dict
        As :func:`mercer.report.compare` returns them.

    Returns
    -------
    str
    """
    sections = {
        "Results": results_section(facts),
        "Is it real?": reality_section(facts),
        "What they decide": boundary_section(facts),
        "Weights": weights_section(facts),
        "Time and cost": cost_section(facts),
        "Learner by learner": learners_section(facts),
        "The data": data_section(facts),
        "Preprocessing": preprocessing_section(facts),
        "How to repeat": _repeat_section(facts),
    }
    shown = {title: body for title, body in sections.items() if body is not None}
    style, script = _asset("page.css"), _asset("page.js")
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{facts['data']['name']}: {facts['answer']['title']} and others compared"),
        tag("style", style),
    ]
    body = [
        tag("a", "Skip to the results", href="#results", class_="skip"),
        _contents(list(shown), [_address(one) for one in shown.values()]),
        tag("main", answer_header(facts), *shown.values()),
        tag("div", id="tip", role="status", hidden=True),
        tag("script", script),
    ]
    return "<!doctype html>\n" + tag("html", tag("head", head), tag("body", body), lang="en")


def write(facts: Facts, folder: str | Path) -> Path:
    """Write ``report.html`` and ``report.json`` into a folder, each of them whole or not at all.

    Returns
    -------
    Path
        Of the page.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "report.json", json.dumps(facts, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    write_whole(folder / "report.html", page(facts))
    return folder / "report.html"


def _asset(name: str) -> Markup:
    return Markup(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _policy(script: str) -> str:
    """What the browser allows: this one script and styles of the page, and no request to anywhere."""
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:"


def _address(body: Markup) -> str:
    return body.split('id="', 1)[1].split('"', 1)[0]


def _contents(titles: list[str], addresses: list[str]) -> Markup:
    links = [tag("li", tag("a", title, href=f"#{address}")) for title, address in zip(titles, addresses, strict=True)]
    return tag("nav", tag("ol", tag("li", tag("a", "Answer", href="#answer")), links), aria_label="Contents")


def _repeat_section(facts: Facts) -> Markup:
    repeat, data = facts["repeat"], facts["data"]
    versions = [[name, number] for name, number in repeat["versions"].items()]
    return section(
        "repeat",
        "How to repeat this",
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
    )
