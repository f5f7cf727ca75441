"""One self-contained page from the facts."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from ..io import refuse_unwritable, write_together
from ..messages import printable_json
from ..presentation import Markup, tag
from . import data as data  # enter all sections of the page
from . import learners as learners
from . import results as results
from .answer import answer_header
from .drift import drift_header, drift_sections
from .layout import Facts, Section, rendered

#: The files of a report, in the order in which they are written.
REPORT_FILES = "report.html", "report.json"


#: Sections of a brief report, beside the answer.
_BRIEF = ("results", "classes", "repeat")


def page(facts: Facts, study: str = "") -> str:
    """The report as HTML, of a study with this name: no script, font, image or style from anywhere else."""
    document = facts.get("document", {})
    if facts.get("task") == "drift":
        title = f"{facts['old']['name']} and {facts['new']['name']} compared"
        header, shown = drift_header(facts), drift_sections(facts)
    else:
        title = document.get("title") or f"{facts['data']['name']}: {facts['answer']['title']} and others compared"
        header, shown = answer_header(facts), rendered(facts)
    if document.get("brief"):
        shown = {one: inside for one, inside in shown.items() if one.name in _BRIEF}
    style, script = _asset("page.css"), _asset("page.js")
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="study", content=study),
        tag("title", title),
        tag("style", style),
    ]
    body = [
        tag("a", "Skip to the results", href=f"#{next(iter(shown)).name}", class_="skip"),
        _contents(list(shown)),
        tag("main", header, *shown.values()),
        tag("div", id="tip", role="status", hidden=True),
        tag("script", script),
    ]
    return "<!doctype html>\n" + tag("html", tag("head", head), tag("body", body), lang="en")


def write(facts: Facts, folder: str | Path) -> Path:
    """Write ``report.html`` and ``report.json`` into a folder, both whole, and never halves of two studies.

    Both name the study (:func:`study_name`), and so does the model that "mercer compare --model" makes of it.
    """
    folder, study = Path(folder), study_name(facts)
    text = printable_json({"study": study, **facts}, separators=(",", ":"))
    made = page(facts, study)
    refuse_unwritable_report(folder)
    Path(os.path.realpath(folder)).mkdir(parents=True, exist_ok=True)
    html, facts_of_it = (folder / name for name in REPORT_FILES)
    write_together({html: made, facts_of_it: text})
    return html


def study_name(facts: Facts) -> str:
    """Sixteen letters that tell this study from any other: a checksum of all that was found."""
    if "study" in facts:
        return facts["study"]
    return sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def refuse_unwritable_report(folder: str | Path) -> None:
    """Find out before the study whether its report can be written into this folder, which may be made for it."""
    target = Path(os.path.realpath(folder))
    if target.is_dir():
        for name in REPORT_FILES:
            refuse_unwritable(Path(folder) / name)
        return
    while not target.parent.exists():
        target = target.parent
    refuse_unwritable(target)


def _asset(name: str) -> Markup:
    return Markup(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _policy(script: str) -> str:
    """What the browser allows: this one script and styles of the page, and no request to anywhere."""
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:"


def _contents(sections: list[Section]) -> Markup:
    links = [tag("li", tag("a", one.contents, href=f"#{one.name}")) for one in sections]
    return tag("nav", tag("ol", tag("li", tag("a", "Answer", href="#answer")), links), aria_label="Contents")
