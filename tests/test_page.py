"""The page: well formed, everything escaped, and looked at in a real browser."""

import re
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest

from mercer.report import SECTIONS, page, section, write
from mercer.study import fit_in_a_word, table_facts, verdict_in_words

from .browsing import contrast, opened
from .reporting import HOSTILE, made_facts, made_table, with_everything

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


@pytest.mark.thorough
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


@pytest.fixture(scope="module")
def whole(facts):
    return page(with_everything(facts))


def words_of(html):
    checker = Checker()
    checker.feed(html)
    assert checker.open == []
    assert len(checker.ids) == len(set(checker.ids))
    return " ".join(" ".join(checker.words).split())


def test_answer_has_kernel_parameters_and_commands_to_copy(facts, whole, html):
    words = words_of(whole)
    assert "Kernel gaussian(gamma=0.1) + <b> Parameters" in words
    assert f"mercer train {facts['answer']['chosen']} 'made <&>.csv' --kernel gaussian" in words
    assert "mercer run made.safetensors new.csv" in words
    assert whole.count('class="copy"') == 2
    assert 'class="copy"' not in html  # a study that nobody gave a command to


def test_warnings_stand_under_the_answer_and_the_rest_is_folded(whole):
    header = whole[whole.index('<header id="answer"') : whole.index("</header>") + len("</header>")]
    words = words_of(header)
    for said in (
        "95 % of the rows are of one class <&>.",
        "Trees are better here.",
        "warning 1 <&>",
        "2 more warnings",
    ):
        assert said in words
    assert "warning 5 <&>" in words


def test_scores_and_classes_are_shown_by_name(whole):
    words = words_of(whole)
    assert "0.877 balanced accuracy of" in words
    assert "The classes are <uneven>." in words
    assert "never answers class 1 <&>" in words
    assert "log loss 0.3100 0.2000–0.4000" in words
    for part in ("ROC curve of", "Precision and recall of", "Calibration of", "Importance of columns to"):
        assert part in words


def test_wrong_rows_have_their_cells_and_neighbours(whole):
    words = words_of(whole)
    assert "line 17 class 0 <&> class 1 <&>" in words
    assert "line 2: class 0 <&> (0.91)" in words
    assert "a <i>long</i> text" in words


def test_columns_read_and_left_out_are_listed(whole):
    assert "id <&> was left out: it numbers the rows." in words_of(whole)
    assert "How each column was read" in whole


def test_only_the_chosen_learner_is_open(facts, html):
    parts = re.findall(r'<details class="learner"( open)?><summary><h3>.*?<article id="([^"]+)"', html)
    assert [name for opened, name in parts if opened] == [facts["answer"]["chosen"]] == [parts[0][1]]
    assert len(parts) == len(facts["learners"])


def test_words_are_pictured_by_class(facts, html):
    column = facts["data"]["described"][-1]
    assert {top["value"]: top["by_class"] for top in column["top"]} == {"<b>zero</b>": [80, 0], "other": [0, 80]}
    assert "Words of &lt;img" in html


@pytest.mark.thorough
def test_bounds_that_promise_nothing_are_left_out(facts):
    def said(value):
        learners = [
            {**one, "bounds": [{"name": "b", "value": value, "words": "A promise."}]} for one in facts["learners"]
        ]
        return "A promise." in page({**facts, "learners": learners})

    assert facts["majority_error"] == 0.5
    assert said(0.3)
    assert not said(0.5)
    assert not said(1.7)


def test_small_gaps_are_called_small(facts):
    def one(train, test):
        found = {**facts["learners"][0], "verdict": {"kind": "overfit", "words": "It overfits: much."}}
        return {**found, "train": {**found["train"], "rate": train}, "test": {**found["test"], "rate": test}}

    calm, alarmed = one(0.0, 0.02), one(0.0, 0.2)
    assert fit_in_a_word(calm, facts) == ("small gap", "small")
    assert fit_in_a_word(alarmed, facts) == ("overfits", "overfit")
    assert "overfits" not in verdict_in_words(calm, facts)
    assert verdict_in_words(alarmed, facts) == "It overfits: much."


def test_less_errors_than_guessing_are_not_called_guessing(facts):
    one = {**facts["learners"][0], "verdict": {"kind": "unproven", "words": ""}}
    assert fit_in_a_word(one, facts) == ("not proved better than guessing", "unproven")


@pytest.mark.thorough
def test_planes_that_show_little_are_not_drawn(facts):
    axes = ["first component (9 % of the spread)", "second component (4 %)"]
    html = page({**facts, "boundary": {**facts["boundary"], "features": 300, "axes": axes}})
    assert "the best one holds 13\xa0% of the spread of 300 features" in html
    assert "Decision boundary of" not in html
    assert "Decision boundary of" in page(facts)


def test_files_are_written_whole(tmp_path, facts, monkeypatch):
    import json

    path = write(facts, tmp_path / "new" / "folder")
    written = json.loads((path.parent / "report.json").read_text(encoding="utf-8"))
    assert written.pop("study") in path.read_text(encoding="utf-8")  # both say of which study they are
    assert written == facts
    assert sorted(one.name for one in path.parent.iterdir()) == ["report.html", "report.json"]


@pytest.fixture(scope="module")
def address(facts, tmp_path_factory):
    return write(facts, tmp_path_factory.mktemp("report")).as_uri()


@pytest.fixture(scope="module")
def whole_address(facts, tmp_path_factory):
    return write(with_everything(facts), tmp_path_factory.mktemp("whole")).as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_page_in_a_browser(browser, address, scheme, width):
    shown = opened(browser, address, color_scheme=scheme, viewport={"width": width, "height": 800})
    assert shown.trouble == []
    assert shown.requests == [address]
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    shown.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
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


def test_test_errors_are_seen_on_a_phone(browser, address, whole_address):
    for place in (address, whole_address):
        shown = opened(browser, place, viewport={"width": 390, "height": 844})
        assert shown.evaluate("document.documentElement.scrollWidth") <= 390
        for cell in shown.locator("#results tbody td.main").all():
            box = cell.bounding_box()
            assert box["x"] + box["width"] <= 390
        shown.context.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_tables_fit_their_boxes(browser, address, width):
    shown = opened(browser, address, viewport={"width": width, "height": 844})
    shown.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    wider = """() => [...document.querySelectorAll(".scroll, pre")].filter(box => box.scrollWidth > box.clientWidth + 1)
        .map(box => box.getAttribute("aria-label") ?? box.textContent)"""
    assert shown.evaluate(wider) == []
    shown.context.close()


def test_a_report_is_a_document(facts):
    told = {"title": "A <study>", "author": "Ann Lee", "date": "2026-01-02", "notes": "First.\n\nSecond."}
    html = page({**facts, "document": told})
    assert "<h1>A &lt;study&gt;</h1>" in html
    assert ">Ann Lee, 2026-01-02</p>" in html
    assert "<p>First.</p><p>Second.</p>" in html.replace("\n", "")
    brief = page({**facts, "document": {"brief": True}})
    assert re.findall(r'<section id="(\w+)"', brief) == ["results", "classes", "repeat"]


def test_commands_are_copied(browser, whole_address):
    shown = opened(browser, whole_address, permissions=["clipboard-read", "clipboard-write"])
    shown.locator("button.copy").last.click()
    shown.locator("button.copy", has_text="Copied").wait_for()  # the clipboard answers when it likes
    assert shown.evaluate("navigator.clipboard.readText()") == "mercer run made.safetensors new.csv"
    assert shown.trouble == []
    shown.context.close()


def test_links_open_what_is_folded(browser, facts, address):
    shown = opened(browser, address, viewport={"width": 1200, "height": 800})
    other = next(one for one in facts["learners"] if one["name"] != facts["answer"]["chosen"])
    verdict = shown.locator(f"#{other['name']} .verdict")
    assert not verdict.is_visible()
    shown.locator("#results table").get_by_role("link", name=other["title"], exact=True).click()
    verdict.wait_for(state="visible")
    shown.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_paper_shows_all_and_cuts_nothing(browser, whole_address, scheme):
    shown = opened(browser, whole_address, viewport={"width": 680, "height": 900}, color_scheme=scheme)  # A4, 15 mm
    shown.emulate_media(media="print", color_scheme=scheme)
    assert not shown.locator("nav").is_visible()
    assert not shown.locator("button.copy").first.is_visible()
    for table in shown.locator("table").all():
        assert table.is_visible()
        box = table.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 681
    colours = [shown.evaluate(f"getComputedStyle(document.body).getPropertyValue('--c{k}')") for k in range(6)]
    greys = sorted(sum(w * int(c[k : k + 2], 16) for w, k in ((0.3, 1), (0.59, 3), (0.11, 5))) for c in colours)
    assert min(np.diff(greys)) > 8  # told apart without colour
    assert shown.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    shown.context.close()


def test_tables_sort_and_marks_explain_themselves(browser, address):
    shown = opened(browser, address, viewport={"width": 1200, "height": 900})
    table = shown.locator("#results table")
    column = table.locator("tbody tr td:nth-child(2)")

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
    table.get_by_role("link", name="SVM", exact=False).first.click()
    name = shown.evaluate("location.hash")
    shown.locator(f"{name} details summary").first.click()
    assert shown.locator(f"{name} details table").first.is_visible()
    assert shown.trouble == []
    shown.context.close()


def test_a_page_has_its_sections_in_a_process_that_imports_nothing_else():
    program = "from mercer.report import SECTIONS, write; print(*(each.name for each in SECTIONS.values()))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert {"learners", "results"} <= set(found)
