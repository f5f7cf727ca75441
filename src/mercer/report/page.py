"""One self-contained page from the facts."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from .._presentation.html import Markup, tag
from ..io.writing import write_whole
from . import (  # noqa: F401  they register
    sections_chosen,
    sections_data,
    sections_learners,
    sections_numbers,
    sections_results,
    sections_scores,
)
from .answer import answer_header
from .sections import Facts, Section, rendered


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
    shown = rendered(facts)
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
        _contents(list(shown)),
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


def _contents(sections: list[Section]) -> Markup:
    links = [tag("li", tag("a", one.contents, href=f"#{one.name}")) for one in sections]
    return tag("nav", tag("ol", tag("li", tag("a", "Answer", href="#answer")), links), aria_label="Contents")
