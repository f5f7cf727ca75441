"""The views of words, graphs and lifts, used by mouse, by keyboard and on a phone."""

import runpy

import numpy as np
import pytest

from mercer.play import example_scene

from .browsing import contrast
from .playing import asked, click_at, opened, served, settled, support, until

served_at = pytest.fixture(scope="module")(served)

VIEWS = ("lift", "words", "graphs")


@pytest.fixture(scope="module")
def address(served_at):
    """The address of a server whose views have been used once, so that code is compiled."""
    words = {"words": ["abab", "baba", "cdcd", "dcdc"] * 4, "labels": [0, 0, 1, 1] * 4, "asked": "abcd"}
    chain, ring = ({"nodes": ["C"] * 3, "edges": edges} for edges in ([[0, 1], [1, 2]], [[0, 1], [1, 2], [2, 0]]))
    graphs = {"graphs": [chain, ring] * 6, "labels": [0, 1] * 6, "asked": ring}
    for name, body in (("words", words), ("graphs", graphs), ("lift", {"scene": example_scene("circles", 0)})):
        asked(served_at, f"/api/{name}", body)
    return served_at


@pytest.fixture
def page(browser, address):
    shown = opened(browser, address)
    yield shown
    assert shown.trouble == []
    shown.context.close()


def panel(page, name):
    """The view of a tab, once it has its first answer."""
    page.locator(f"#tab-{name}").click()
    ready = {"lift": "#lift-note", "words": "#panel-words .verdict", "graphs": "#panel-graphs .verdict"}[name]
    until(page, f"Boolean(document.querySelector('{ready}')?.textContent.trim())", 90)
    return page.locator(f"#panel-{name}")


def answered(page, name, act, when=lambda body: True):
    """The question that an act leads to, the first of which something holds, and the answer, once it is shown."""

    def is_it(response):
        return response.url.endswith(f"/api/{name}") and when(response.request.post_data_json)

    with page.expect_response(is_it, timeout=60_000) as response:
        act()
    found = response.value
    page.wait_for_timeout(60)
    return found.request.post_data_json, found.json()


def picture(page, selector):
    return page.evaluate(f"document.querySelector('{selector}').toDataURL()")


# -- words ----------------------------------------------------------------------------------------------------------


def test_words_by_mouse(page):
    words = panel(page, "words")
    assert words.locator(".chip").count() == 32
    assert "English" in words.locator(".verdict").inner_text()
    more = words.get_by_label("Add words to class 2")
    more.fill("funghi, laghetto")
    sent, answer = answered(page, "words", lambda: more.press("Enter"))
    assert sent["words"][-2:] == ["funghi", "laghetto"]
    assert words.locator(".chip").count() == 34
    assert "Italian" in words.locator(".verdict").inner_text()
    assert f"{answer['asked']['score']:+.2f}" in words.locator(".verdict").inner_text()
    tinted = words.locator(".letter")
    assert "".join(tinted.all_inner_texts()) == "spaghetti"
    pushes = [row.inner_text() for row in words.locator("figure", has_text="Why").locator("li").all()]
    assert len(pushes) == min(12, len(answer["asked"]["pushes"])) + 1
    sent, _ = answered(page, "words", lambda: words.get_by_label("Remove funghi").click())
    assert "funghi" not in sent["words"]
    sent, answer = answered(page, "words", lambda: words.locator(".chip .word", has_text="mother").click())
    assert sent["asked"] == "mother"
    assert answer["asked"]["nearest"][0]["word"] == "mother"


def test_words_by_keyboard(page):
    words = panel(page, "words")
    field = words.get_by_label("Ask about a word")
    field.focus()
    page.keyboard.press("Control+A")
    answered(page, "words", lambda: page.keyboard.type("feather"))
    until(page, "document.querySelector('#panel-words .letters').textContent === 'feather'")
    first = words.locator(".chips button").first
    first.focus()
    assert "score" in first.get_attribute("aria-label")
    sent, _ = answered(page, "words", lambda: page.keyboard.press("Delete"))
    assert sent["words"][0] == "water"
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Remove water"
    heat = words.locator("canvas.heat")
    heat.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert words.locator(".told").inner_text().startswith("night and water: 0.")
    until(page, "document.querySelector('#announced').textContent.startsWith('night and water')")


def test_a_pasted_list_becomes_words(page):
    words = panel(page, "words")
    field = words.get_by_label("Add words to class 1")
    paste = """field => {
        const clipboardData = new DataTransfer();
        clipboardData.setData("text/plain", "feather\\nthunder\\nearth");
        field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }"""
    sent, _ = answered(page, "words", lambda: field.evaluate(paste))
    assert sent["words"][16:19] == ["feather", "thunder", "earth"]


def test_a_wrong_kernel_is_said_beside_its_field_and_the_picture_stays(browser, address):
    page = opened(browser, address)
    words = panel(page, "words")
    field = words.get_by_label("Kernel", exact=True)
    answered(page, "words", lambda: field.fill("spectrm(p=2)"))
    assert "the nearest name is 'spectrum'" in words.locator(".error:not([hidden])").inner_text()
    assert field.get_attribute("aria-invalid") == "true"
    assert words.locator(".letter").count() == 9
    answered(page, "words", lambda: words.get_by_role("button", name="with gaps").click())
    assert field.input_value() == "normalised(subsequence(k=2, decay=0.5))"
    assert field.get_attribute("aria-invalid") == "false"
    assert words.locator(".error:not([hidden])").count() == 0
    page.context.close()


def test_every_example_of_words_is_learned(page):
    words = panel(page, "words")
    for title, name in (("DNA with TATA or without", "with TATA"), ("Notes, glad or sad", "glad")):
        _, answer = answered(page, "words", lambda title=title: words.get_by_label("Begin with").select_option(title))
        assert answer["asked"]["name"] == name
        assert answer["asked"]["letters"] is not None


# -- graphs ---------------------------------------------------------------------------------------------------------


def test_graphs_by_mouse(page):
    graphs = panel(page, "graphs")
    assert graphs.locator(".card").count() == 12
    assert "alcohols" in graphs.locator(".verdict").inner_text()
    answered(page, "graphs", lambda: graphs.get_by_role("button", name="Clear").click())
    assert "Draw a graph" in graphs.locator(".verdict").inner_text()
    board = graphs.locator("svg.editor")
    for place in (80, 180):
        answered(page, "graphs", lambda place=place: board.click(position={"x": place, "y": 150}))
    sent, _ = answered(page, "graphs", lambda: board.click(position={"x": 280, "y": 150}))
    assert sent["asked"] == {"nodes": ["C", "C", "C"], "edges": [[0, 1], [1, 2]]}
    sent, _ = answered(page, "graphs", lambda: graphs.get_by_label("Label of nodes").fill("O"))
    assert sent["asked"]["nodes"] == ["C", "C", "O"]
    assert "alcohols" in graphs.locator(".verdict").inner_text()
    sent, _ = answered(page, "graphs", lambda: board.click(position={"x": 80, "y": 150}))
    assert sent["asked"]["edges"] == [[0, 1], [1, 2], [2, 0]]
    assert board.locator(".halo").count() > 0
    sent, _ = answered(page, "graphs", lambda: graphs.get_by_role("button", name="Add to ethers").click())
    assert len(sent["graphs"]) == 13
    sent, _ = answered(page, "graphs", lambda: graphs.get_by_label("Remove drawing 1").click())
    assert len(sent["graphs"]) == 12
    sent, _ = answered(page, "graphs", lambda: graphs.locator(".thumb", has_text="dioxane").click())
    assert "".join(sent["asked"]["nodes"]) == "OCCOCC"


def test_graphs_by_keyboard(page):
    graphs = panel(page, "graphs")
    answered(page, "graphs", lambda: graphs.get_by_role("button", name="Clear").press("Enter"))
    graphs.locator("svg.editor").focus()
    keys = ["Enter", *["ArrowRight"] * 5, "Enter", *["ArrowDown"] * 6, "Enter"]
    sent, _ = answered(
        page,
        "graphs",
        lambda: [page.keyboard.press(key) for key in keys],
        lambda body: len(body["asked"]["nodes"]) == 3,
    )
    assert sent["asked"]["edges"] == [[0, 1], [1, 2]]
    sent, _ = answered(page, "graphs", lambda: page.keyboard.press("Shift+O"))
    assert sent["asked"]["nodes"] == ["C", "C", "O"]
    page.keyboard.press("n")  # the first node, after the last
    sent, _ = answered(page, "graphs", lambda: page.keyboard.press("j"))
    assert sorted(map(sorted, sent["asked"]["edges"])) == [[0, 1], [0, 2], [1, 2]]
    sent, _ = answered(page, "graphs", lambda: page.keyboard.press("Delete"))
    assert len(sent["asked"]["nodes"]) == 2
    assert page.locator("#graph-in-words").inner_text().startswith("2 nodes and 1 edge: ")


def test_a_node_is_dragged_and_nothing_else_changes(page):
    graphs = panel(page, "graphs")
    board = graphs.locator("svg.editor")
    node = board.locator(".node").first
    before = node.bounding_box()
    page.mouse.move(before["x"] + before["width"] / 2, before["y"] + before["height"] / 2)
    page.mouse.down()
    page.mouse.move(before["x"] + 60, before["y"] + 70, steps=4)
    page.mouse.up()
    assert abs(node.bounding_box()["y"] - before["y"]) > 30
    assert board.locator(".node").count() == 5
    assert board.locator(".edge").count() == 4


def test_every_example_and_kernel_of_graphs_is_answered(page):
    graphs = panel(page, "graphs")
    for title, name in (("Rings or chains", "chains"), ("Trees or triangles", "with a triangle")):
        select = graphs.get_by_label("Begin with")
        _, answer = answered(page, "graphs", lambda title=title, select=select: select.select_option(title))
        assert answer["asked"]["name"] == name
    for button in graphs.get_by_role("group", name="Kernels to try").get_by_role("button").all():
        _, answer = answered(page, "graphs", button.click)
        assert "error" not in answer
        assert button.get_attribute("aria-pressed") == "true"


# -- lift -----------------------------------------------------------------------------------------------------------


def test_lift_of_the_points_in_the_plane(page):
    lift = panel(page, "lift")
    assert "score of the Support vector machine" in lift.locator("#lift-note").inner_text()
    before = picture(page, "canvas.space")
    lift.locator("canvas.space").focus()
    page.keyboard.press("ArrowRight")
    turned = picture(page, "canvas.space")
    assert turned != before
    page.keyboard.press("0")
    assert picture(page, "canvas.space") == before
    box = lift.locator("canvas.space").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 220, steps=5)
    page.mouse.up()
    page.wait_for_timeout(50)
    assert picture(page, "canvas.space") != before
    lift.get_by_role("button", name="As in the beginning").click()
    assert picture(page, "canvas.space") == before
    lift.get_by_label("How far the points are lifted").fill("0")
    assert picture(page, "canvas.space") != before


def test_circles_have_a_plane(page):
    lift = panel(page, "lift")
    sent, _ = answered(page, "lift", lambda: lift.get_by_label("Points", exact=True).select_option("circles"))
    assert sent["way"] == "height"
    sent, answer = answered(page, "lift", lambda: lift.get_by_role("button", name="Map").click())
    assert sent["way"] == "map"
    assert answer["plane"] is not None
    until(page, "document.querySelector('#lift-note').textContent.includes('wrong side of the plane')")
    assert lift.get_by_role("button", name="Map").get_attribute("aria-pressed") == "true"


def test_novelty_and_a_class_without_points_are_lifted(page):
    page.locator("#classes").get_by_role("button", name="Add a class").click()
    lift = panel(page, "lift")
    assert not lift.locator(".error").is_visible()
    page.locator("#tab-plane").click()
    page.locator("#data").select_option("blob")
    until(page, "document.querySelector('#summary').textContent.includes('outside')")
    _, answer = answered(page, "lift", lambda: page.locator("#tab-lift").click())
    assert "error" not in answer
    assert not lift.locator(".error").is_visible()


def test_undoing_belongs_to_what_is_typed(page):
    before = page.locator("#summary").inner_text()
    click_at(page, 0.5, 0.9)
    settled(page)
    words = panel(page, "words")
    words.get_by_label("Ask about a word").press_sequentially("xyz")
    page.keyboard.press("Control+z")
    page.locator("#tab-plane").click()
    assert page.locator("#summary").inner_text() != before
    assert support(page)[1] == 121


def test_what_cannot_be_lifted_is_said(browser, address):
    page = opened(browser, address)
    lift = panel(page, "lift")
    answered(page, "lift", lambda: lift.get_by_label("Points", exact=True).select_option("three"))
    assert "more than two classes" in lift.locator(".error").inner_text()
    page.context.close()


# -- all of them ----------------------------------------------------------------------------------------------------


def test_a_link_brings_views_back(page, browser, address):
    lift = panel(page, "lift")
    answered(page, "lift", lambda: lift.get_by_label("Points", exact=True).select_option("circles"))
    answered(page, "lift", lambda: lift.get_by_role("button", name="Map").click())
    graphs = panel(page, "graphs")
    answered(page, "graphs", lambda: graphs.locator("svg.editor").click(position={"x": 60, "y": 40}))
    drawn, _ = answered(page, "graphs", lambda: graphs.get_by_role("button", name="Add to ethers").click())
    words = panel(page, "words")
    answered(page, "words", lambda: words.get_by_label("Begin with").select_option("DNA with TATA or without"))
    answered(page, "words", lambda: words.get_by_label("Kernel", exact=True).fill("spectrum(p=3)"))
    words.locator("[data-slider=C] input.typed").fill("30")
    answered(page, "words", lambda: page.keyboard.press("Enter"))
    typed, _ = answered(page, "words", lambda: words.get_by_label("Ask about a word").fill("TATATA <b>"))
    page.wait_for_timeout(900)  # the address follows at leisure
    fragment = page.evaluate("location.hash")
    again = opened(browser, address + fragment)
    seen = {}
    again.on("request", lambda request: seen.update({request.url.rsplit("/", 1)[1]: request.post_data_json}))
    again.reload()  # whatever was open is open again, and nothing is lost
    until(again, "document.querySelector('#panel-words .verdict')?.textContent.includes('score')", 60)
    assert seen["words"] == typed
    panel(again, "graphs")
    assert seen["graphs"] == drawn
    panel(again, "lift")
    assert seen["lift"]["way"] == "map"
    assert again.locator("#panel-lift").get_by_label("Points", exact=True).input_value() == "circles"
    assert again.trouble == []
    again.context.close()


def test_a_link_of_nonsense_begins_anew(page):
    panel(page, "words")
    for state in (None, 3, {}, {"words": 1}, {"example": 99}, {"graphs": [[{"graph": {"edges": 1}}]]}):
        fragment = page.evaluate(
            """async state => {
                const { toFragment } = await import("/share.js");
                const { emptyScene } = await import("/store.js");
                const states = { words: state, graphs: state, lift: state };
                const seen = { scene: emptyScene("classes"), box: [0, 1, 0, 1], others: [] };
                return toFragment(seen, "words", states);
            }""",
            state,
        )
        page.evaluate("fragment => { location.hash = fragment; }", fragment)
        assert panel(page, "words").locator(".chip").count() == 32
        panel(page, "graphs")


@pytest.mark.parametrize("name", ["words", "graphs"])
def test_views_are_exported(page, name, tmp_path):
    _, answer = answered(page, name, lambda: panel(page, name))
    page.locator("#open-export").click()
    until(page, "document.querySelector('#export-python').textContent.length > 50")
    assert not page.locator("#export-png").is_visible()
    assert page.locator("#export-command").is_visible() == (name == "words")
    with page.expect_download() as download:
        page.locator("[data-saves=python]").click()
    download.value.save_as(tmp_path / "again.py")
    again = runpy.run_path(str(tmp_path / "again.py"))
    np.testing.assert_allclose(again["model"].decision_function(again[name]), answer["scores"], atol=1e-9)


def test_a_lift_is_exported(page):
    panel(page, "lift")
    page.locator("#open-export").click()
    with page.expect_download() as download:
        page.locator("#export-png").click()
    assert download.value.suggested_filename == "mercer-lift.png"
    assert not page.locator("#export-svg").is_visible()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_views_fit_and_can_be_read(browser, address, scheme, width):
    page = opened(browser, address, color_scheme=scheme, viewport={"width": width, "height": 844})
    for name in VIEWS:
        panel(page, name)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        nameless = page.evaluate(
            f"""[...document.querySelectorAll("#panel-{name} :is(button, input, select, canvas, svg[tabindex])")]
            .filter(part => !(part.ariaLabel || part.title || part.textContent.trim() || part.labels?.length))
            .map(part => part.outerHTML)"""
        )
        assert nameless == []
        pale = page.evaluate(
            f"""[...document.querySelectorAll("#panel-{name} :is(p, span, td, th, h3, button, .letter)")]
            .filter(part => part.offsetParent && [...part.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
            .map(part => {{
                let ground = part;
                const clear = colour => colour === "rgba(0, 0, 0, 0)" || colour.startsWith("color(");
                const painted = () => getComputedStyle(ground).backgroundColor;
                while (ground.parentElement && clear(painted())) ground = ground.parentElement;
                return [part.textContent, getComputedStyle(part).color, painted()];
            }})"""
        )
        assert len(pale) > 10
        for text, ink, ground in pale:
            assert contrast(ink, ground) >= 4.5, text
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(part => part.id)")
    assert len(ids) == len(set(ids))
    assert page.evaluate("document.querySelectorAll('[style]:is(svg *)').length") == 0
    assert page.trouble == []
    page.context.close()


def test_touch(browser, address):
    page = opened(browser, address, has_touch=True, viewport={"width": 390, "height": 844})
    graphs = panel(page, "graphs")
    board = graphs.locator("svg.editor")
    sent, _ = answered(page, "graphs", lambda: board.tap(position={"x": 60, "y": 40}))
    assert len(sent["asked"]["nodes"]) == 6
    words = panel(page, "words")
    sent, _ = answered(page, "words", lambda: words.locator(".chip .remove").first.tap())
    assert sent["words"][0] == "water"
    assert page.trouble == []
    page.context.close()
