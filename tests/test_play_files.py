"""What goes in and out of the page of ``mercer play``: files, pictures, a script, a link."""

import runpy
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from .playing import asked, click_at, opened, sent, served, settled, support, until

address = pytest.fixture(scope="module")(served)

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def page(browser, address):
    shown = opened(browser, address)
    yield shown
    shown.context.close()


def table():
    random = np.random.default_rng(0)
    rows = ["height,weight,age,kind"]
    for k in range(40):
        height, weight, age = random.normal([170 + 12 * (k % 2), 70, 40], [5, 8, 9])
        rows.append(f"{height:.1f},{weight:.1f},{age:.0f},{('cat', 'dog')[k % 2]}")
    return "\n".join(rows) + "\n"


def test_files_are_picked_and_dropped(page):
    page.locator("#file").set_input_files({"name": "pets.csv", "mimeType": "text/csv", "buffer": table().encode()})
    until(page, "document.querySelector('#summary').textContent.includes('of 40 points')")
    settled(page)
    scene = sent(page)
    assert scene["names"] == ["cat", "dog"]
    assert scene["scaled"]
    assert "height" in scene["axes"]
    page.locator("#columns select").nth(1).select_option("age")
    until(page, "document.querySelector('#columns select:nth-of-type(1)') !== null")
    page.wait_for_timeout(500)
    settled(page)
    assert sent(page)["axes"][1] == "age"
    page.evaluate(
        """text => {
            const data = new DataTransfer();
            data.items.add(new File([text], "more.csv", { type: "text/csv" }));
            const drop = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });
            document.querySelector("header").dispatchEvent(drop);
        }""",
        table().replace("cat", "bird"),
    )
    until(page, "document.querySelector('#classes').textContent.includes('bird')")
    assert page.trouble == []
    page.locator("#file").set_input_files({"name": "empty.csv", "mimeType": "text/csv", "buffer": b"a,b\n"})
    page.locator("#trouble").wait_for(state="visible")
    assert "bird" in page.locator("#classes").inner_text()  # what was there stays


def exported(page, name):
    with page.expect_download() as download:
        page.locator(name).click()
    return download.value


@pytest.mark.parametrize("data", ["three", "wave", "blob"])
def test_pictures_are_exported(page, data, tmp_path):
    page.locator("#data").select_option(data)
    page.wait_for_timeout(300)
    settled(page)
    page.locator("#open-export").click()
    saved = exported(page, "#export-svg")
    assert saved.suggested_filename.endswith(".svg")
    saved.save_as(tmp_path / "picture.svg")
    root = ElementTree.parse(tmp_path / "picture.svg").getroot()
    assert root.tag == f"{SVG}svg"
    assert root.findall(f".//{SVG}image") == []
    assert len(root.findall(f".//{SVG}path")) > 120  # a mark for each point, and lines
    assert "120 points" in root.find(f"{SVG}title").text
    exported(page, "#export-png").save_as(tmp_path / "picture.png")
    header = (tmp_path / "picture.png").read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(header[16:20], "big") == 1600
    assert page.trouble == []


def test_script_repeats_the_picture(page, address, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    typed = page.locator("[data-slider=C] input.typed")
    typed.fill("20")
    typed.press("Enter")
    page.locator("#kernel").fill("gaussian(gamma=?) + 0.5 * linear")
    settled(page)
    scene = sent(page)
    page.locator("#open-export").click()
    until(page, "document.querySelector('#export-python').textContent.length > 50")
    with page.expect_download() as download:
        page.locator("[data-saves=python]").click()
    download.value.save_as(tmp_path / "again.py")
    again = runpy.run_path(str(tmp_path / "again.py"))
    answer = asked(address, "/api/fit", {"scene": scene, "box": [0, 1, 0, 1], "size": [2, 2]})
    points = np.array(scene["points"])
    np.testing.assert_allclose(again["model"].decision_function(points), answer["points"]["score"], atol=1e-9)
    assert support(page) == (len(again["model"].support_), 120)
    assert page.locator("#export-command").text_content().startswith("mercer train svc points.csv")
    assert page.locator("#export-csv").text_content().count("\n") == 121
    assert page.trouble == []


def test_a_link_holds_the_scenes_of_all_tabs(browser, address):
    shown = opened(browser, address)
    click_at(shown, 0.5, 0.9)
    settled(shown)
    shown.locator("#tab-numbers").click()
    shown.locator("#data").select_option("wave")
    shown.wait_for_timeout(900)
    settled(shown)
    again = opened(browser, address + shown.evaluate("location.hash"))
    assert again.locator("#tab-numbers").get_attribute("aria-selected") == "true"
    again.locator("#tab-plane").click()
    settled(again)
    assert support(again)[1] == 121
    assert again.trouble == []


def test_a_file_that_cannot_be_read_changes_nothing(page):
    rows = "".join(f"{k % 7},{k % 5},{k % 3},{'ab'[k % 2]}\n" for k in range(40)).encode()
    page.locator("#file").set_input_files(
        {"name": "good.csv", "mimeType": "text/csv", "buffer": b"p,q,r,label\n" + rows}
    )
    until(page, "document.querySelector('#summary').textContent.includes('of 40 points')")
    page.locator("#file").set_input_files({"name": "bad.csv", "mimeType": "text/csv", "buffer": b"a,b\n"})
    page.locator("#trouble").wait_for(state="visible")
    across, upward = (page.locator("#columns select").nth(place) for place in (0, 1))
    first, second = across.input_value(), upward.input_value()
    for _ in range(2):  # again and again
        first, second = second, first
        with page.expect_response("**/api/data") as response:
            across.select_option(first)
        assert response.value.ok
        page.wait_for_timeout(300)
        assert (across.input_value(), upward.input_value()) == (first, second)


def test_link_brings_everything_back(browser, address):
    shown = opened(browser, address, permissions=["clipboard-read", "clipboard-write"])
    shown.locator("#data").select_option("three")
    shown.wait_for_timeout(300)
    settled(shown)
    click_at(shown, 0.5, 0.5)
    shown.locator("#kernel").fill("laplacian(gamma=?) + linear")
    typed = shown.locator("[data-slider=C] input.typed")
    typed.fill("30")
    typed.press("Enter")
    settled(shown)
    scene = sent(shown)
    shown.locator("#share").click()
    until(shown, "document.querySelector('#share').textContent === 'Copied'")
    link = shown.evaluate("navigator.clipboard.readText()")
    assert "token" not in link
    beside = shown.context.new_page()  # a tab without a token asks the tab that has it
    beside.goto(link)
    beside.wait_for_selector("html[data-ready]")
    settled(beside)
    assert support(beside) == support(shown)
    again = opened(browser, address.split("#")[0] + "#" + link.split("#")[1])
    back = sent(again)
    assert back == scene
    assert support(again) == support(shown)
    assert again.trouble == []
    for damaged in ("m1.AAAA", "m1." + link[-40:], "nonsense"):
        lost = opened(browser, address + "#" + damaged)
        assert support(lost)[1] == 120
        assert lost.locator("#trouble").is_visible() == damaged.startswith("m1.")
        assert lost.trouble == []
        lost.context.close()
    again.context.close()
    shown.context.close()
