"""The page: well formed, everything escaped, and looked at in a real browser."""

import re
import shutil
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

from mercer.report import page, write
from mercer.report.sections import SECTIONS, section
from mercer.report.table_facts import table_facts

from .reporting import HOSTILE, made_facts, made_table

VOID = {"meta", "br", "hr", "col", "input", "link", "use", "path"}


@pytest.fixture(scope="module")
def facts():
    return made_facts(made_table(names=HOSTILE, word_column="<img src=x onerror=alert(1)>"))


@pytest.fixture(scope="module")
def html(facts):
    return page(facts)


class Checker(HTMLParser):
    """Every element is closed in its turn; what there is, is counted."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.ids, self.words = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def test_page_is_well_formed_and_names_nothing_twice(html):
    checker = Checker()
    checker.feed(html)
    assert checker.open == []
    assert len(checker.ids) == len(set(checker.ids))
    assert checker.seen.count("script") == 1
    assert checker.seen.count("svg") > 10
    for target in re.findall(r'href="#([^"]+)"', html):
        assert target in checker.ids


def test_every_string_of_the_data_is_text(html):
    checker = Checker()
    checker.feed(html)
    words = " ".join(checker.words)
    for name in (
        '<script>alert("x")</script>',
        "$x_1$ & 'y'",
        "<img src=x onerror=alert(1)>",
        "made <&>",
        "class 1 <&>",
    ):
        assert name in words
    assert "<i>hello</i>" in words
    assert "img" not in checker.seen
    assert "<b>" not in html


def test_page_asks_for_nothing_from_outside(html):
    assert not re.search(r'(?:src|href)="(?!#)(?!data:)', html)
    assert "@import" not in html
    assert "default-src 'none'" in unescape(html)
    assert len(html) < 3_000_000


def test_ten_thousand_columns_make_a_small_page(facts):
    table = made_table(60, names=[f"column {k}" for k in range(10_000)])
    text = page({**facts, "data": table_facts(table)})
    assert "9\u202f800 are left out here" in text
    assert len(text) < 3_000_000


@pytest.fixture
def scratch():
    """A section of this module's own, between the results and what follows them."""

    @section("counts", "How many <rows>", place=15, contents="Counts")
    def counts(facts):
        return [f"{facts['data']['rows']} rows of <b>{facts['data']['name']}</b>"] if facts["data"]["rows"] else None

    yield counts
    del SECTIONS["counts"]


def test_a_section_is_one_function_with_one_registration(facts, html, scratch):
    mine = page(facts)
    assert re.findall(r'<section id="([^"]+)"', mine)[:3] == ["results", "counts", "real"]
    assert re.findall(r"<nav.*?</nav>", mine)[0].count("#counts") == 1
    assert "160 rows of &lt;b&gt;made &lt;&amp;&gt;&lt;/b&gt;" in mine
    assert "How many &lt;rows&gt;" in mine
    assert "counts" not in re.findall(r'<section id="([^"]+)"', html)
    empty = page({**facts, "data": {**facts["data"], "rows": 0}})
    assert "#counts" not in empty
    with pytest.raises(ValueError, match="has a section 'counts' already"):
        section("counts", "Again", place=1)


def test_contents_follow_the_sections(html):
    order = re.findall(r'<section id="([^"]+)"', html)
    contents = re.findall(r'href="#([^"]+)"', re.findall(r"<nav.*?</nav>", html)[0])
    assert contents == ["answer", *order]
    assert order[0] == "results"
    assert order[-1] == "repeat"


def test_files_are_written_whole(tmp_path, facts, monkeypatch):
    import json

    path = write(facts, tmp_path / "new" / "folder")
    assert json.loads((path.parent / "report.json").read_text(encoding="utf-8")) == facts
    assert sorted(one.name for one in path.parent.iterdir()) == ["report.html", "report.json"]


@pytest.fixture(scope="module")
def browser():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed (pip install playwright)")
    if chromium is None:
        pytest.skip("no Chromium is installed: the page is not looked at in a browser")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture(scope="module")
def address(facts, tmp_path_factory):
    return write(facts, tmp_path_factory.mktemp("report")).as_uri()


def opened(browser, address, **options):
    shown = browser.new_context(**options).new_page()
    shown.trouble, shown.requests = [], []
    shown.on("console", lambda message: shown.trouble.append(message.text))
    shown.on("pageerror", lambda error: shown.trouble.append(str(error)))
    shown.on("dialog", lambda dialog: shown.trouble.append(dialog.message))
    shown.on("request", lambda request: shown.requests.append(request.url))
    shown.goto(address)
    return shown


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_page_in_a_browser(browser, address, scheme, width):
    shown = opened(browser, address, color_scheme=scheme, viewport={"width": width, "height": 800})
    assert shown.trouble == []
    assert shown.requests == [address]
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    for figure in shown.locator("svg").all():
        box = figure.bounding_box()
        assert box["width"] > 60
        assert box["height"] > 30
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width + 1
    ink, paper = shown.evaluate("""() => {
        const style = name => getComputedStyle(document.querySelector(name));
        return [style("svg text").fill, style("body").backgroundColor];
    }""")
    assert contrast(ink, paper) > 4.5
    shown.context.close()


def contrast(first, second):
    """The ratio of two colours' luminances, as the guidelines for accessible pages define it."""

    def luminance(colour):
        parts = np.array([int(part) for part in re.findall(r"\d+", colour)[:3]]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def test_tables_sort_and_marks_explain_themselves(browser, address):
    shown = opened(browser, address, viewport={"width": 1200, "height": 900})
    table = shown.locator("#results table")
    column = table.locator("tbody tr td:nth-child(3)")

    def rates():
        return [float(text.split("\u00a0")[0]) for text in column.all_inner_texts()]

    table.get_by_role("button", name="test error").click()
    assert rates() == sorted(rates())
    table.get_by_role("button", name="test error").click()
    assert rates() == sorted(rates(), reverse=True)
    assert table.locator("th[aria-sort]").get_attribute("aria-sort") == "descending"
    mark = shown.locator("#results svg [data-tip] use").last
    mark.evaluate("mark => mark.scrollIntoView({block: 'center', behavior: 'instant'})")
    mark.hover()
    assert "test" in shown.locator("#tip").inner_text()
    shown.locator("#svc details summary").first.click()
    assert shown.locator("#svc details table").first.is_visible()
    assert shown.trouble == []
    shown.context.close()
