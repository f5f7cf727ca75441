"""Rules of the guide and of the files around the code, which nobody checks by eye."""

import re
from importlib import import_module
from pathlib import Path

import pytest
import yaml

import mercer

from .guide_pages import DOCS, blocks_of

ROOT = DOCS.parent
#: Folders that are made when the guide is built.
MADE = {"_build", "gallery", "generated"}
PAGES = sorted(page for page in DOCS.rglob("*.md") if MADE.isdisjoint(page.relative_to(DOCS).parts))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
FILES = ["CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md", ".github/pull_request_template.md"]
#: Modules with a public face that the reference does not list, and why.
INTERNAL = {
    "mercer.calibration": "its classes are those of mercer",
    "mercer.checks": "what users give, checked",
    "mercer.cli": "the command line describes itself",
    "mercer.cuda": "behind device='cuda'",
    "mercer.composition": "what pipelines, searches and the like are made of, for everything that looks into them",
    "mercer.estimators": "its classes are those of mercer",
    "mercer.model_files": "its functions are those of mercer, and the format has a page of its own",
    "mercer.messages": "words of messages",
    "mercer.play": "behind mercer play, with a page of its own",
    "mercer.presentation": "HTML and pictures of results",
    "mercer.runtime": "what everything runs on",
    "mercer.study": "behind mercer.report",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_code_on_a_page_is_run_when_the_guide_is_built(page):
    """Or says that it is not: plain blocks of Python or of a shell would rot unseen."""
    for kind, body in blocks_of(page.read_text()):
        assert kind.startswith("{"), f"neither run nor shown on purpose: {body[:80]}"
        if kind.startswith(("{code", "{literalinclude")):
            assert body.startswith(":caption: Shown, not run"), f"does not say that it is not run: {body[:80]}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_has_one_title(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^# .+", text, re.MULTILINE)
    assert len(titles) == (0 if page.read_text().startswith("```{include}") else 1)


def modules_with_a_face():
    source = Path(mercer.__file__).parent
    for path in sorted([*source.glob("*/__init__.py"), *source.glob("*.py")]):
        name = path.parent.name if path.name == "__init__.py" else path.stem
        if not name.startswith("_") and path.parent != source.parent and path != source / "__init__.py":
            module = import_module(f"mercer.{name}")
            if hasattr(module, "__all__"):
                yield module.__name__


def test_every_module_with_a_public_face_is_in_the_reference():
    listed = set(re.findall(r"^   (mercer[.\w]*)$", (DOCS / "reference" / "index.md").read_text(), re.MULTILINE))
    faces = set(modules_with_a_face())
    assert faces - listed - set(INTERNAL) == set(), "describe it in docs/reference/index.md, or say why not in INTERNAL"
    assert set(INTERNAL) - faces == set()
    assert set(INTERNAL) & listed == set()


def test_what_the_citation_says_is_so():
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert said["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= said.keys()
    assert said["version"] == mercer.__version__
    assert all(author.keys() <= {"name"} for author in said["authors"])
    assert said["license"] in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.stem)
def test_forms_for_reports_can_be_read(form):
    said = yaml.safe_load(form.read_text())
    if form.stem == "config":
        assert said.keys() <= {"blank_issues_enabled", "contact_links"}
        return
    assert {"name", "description", "body"} <= said.keys()
    named = [part["id"] for part in said["body"]]
    assert len(set(named)) == len(named)
    for part in said["body"]:
        assert part["type"] in ("checkboxes", "dropdown", "input", "markdown", "textarea")
        assert part["attributes"]["label"]
        assert (part["type"] in ("checkboxes", "dropdown")) == ("options" in part["attributes"])


@pytest.mark.parametrize("name", FILES)
def test_links_between_the_files_of_the_root_lead_somewhere(name):
    for link in re.findall(r"\]\(([^)#]+)", (ROOT / name).read_text()):
        assert link.startswith("http") or (ROOT / name).parent.joinpath(link).exists(), link
