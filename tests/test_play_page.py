"""The page of ``mercer play`` as people use it: by mouse, keyboard and touch, in both colours and on a phone."""

import re
import socket
from urllib.parse import urlsplit

import numpy as np
import pytest

from .browsing import contrast
from .playing import cleared, click_at, opened, picture, sent, served, settled, summary, support, until

address = pytest.fixture(scope="module")(served)

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def page(browser, address):
    shown = opened(browser, address)
    yield shown
    shown.context.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_page_opens_and_asks_nobody_else(browser, address, scheme, width):
    shown = opened(browser, address, color_scheme=scheme, viewport={"width": width, "height": 844})
    assert support(shown)[1] == 120
    assert shown.evaluate("document.documentElement.dataset.theme") == scheme
    assert shown.evaluate("document.documentElement.scrollWidth") <= width
    assert "token" not in shown.url
    assert {urlsplit(one).netloc for one in shown.requests} == {urlsplit(address).netloc}
    colours = shown.evaluate("""() => {
        const style = getComputedStyle(document.documentElement);
        const rgb = name => { const probe = document.createElement("i"); probe.style.color = `var(--${name})`;
            document.body.append(probe); const found = getComputedStyle(probe).color; probe.remove(); return found; };
        return Object.fromEntries(["ink", "muted", "link", "bad", "warn", "good", "paper", "panel", "raised", "mark",
            "accent", "on-accent"].map(name => [name, rgb(name)]));
    }""")
    for name in ("ink", "muted", "link", "bad", "warn", "good"):
        for ground in ("paper", "panel", "raised"):
            assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
    assert contrast(colours["on-accent"], colours["accent"]) >= 4.5
    assert contrast(colours["ink"], colours["mark"]) >= 4.5
    assert shown.trouble == []
    shown.context.close()


def test_everything_has_a_name_once(page):
    nameless = page.evaluate("""() => [...document.querySelectorAll("button, input, select, canvas, [role=tab]")]
        .filter(one => !one.getAttribute("aria-label") && !one.textContent.trim())
        .filter(one => !one.closest("label")?.textContent.trim())
        .map(one => one.outerHTML)""")
    assert nameless == []
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(one => one.id)")
    assert len(ids) == len(set(ids))
    targets = page.evaluate("""() => ["aria-labelledby", "aria-describedby", "aria-controls"].flatMap(name =>
        [...document.querySelectorAll(`[${name}]`)].flatMap(one => one.getAttribute(name).split(" ")))""")
    assert set(targets) <= set(ids)
    assert page.evaluate("document.querySelectorAll('[style]').length") <= 70  # set by scripts: bars, cells, the tip
    until(page, "document.querySelector('#announced').textContent.includes('support vectors')")


def test_lines_lie_where_the_values_say(page):
    found = page.evaluate("""async () => {
        const { contours, regions } = await import("/contours.js");
        const { slackLines } = await import("/slack.js");
        const [width, height] = [61, 41];
        const values = Float32Array.from({ length: width * height },
            (_, k) => 100 - (k % width - 30) ** 2 - (Math.floor(k / width) - 20) ** 2);
        const lines = contours(values, width, height, 0);
        const radii = lines.flat().map(([i, j]) => Math.hypot(i - 30, j - 20));
        const [ring] = lines;
        const area = line => line.reduce((sum, [x, y], k) => {
            const [u, v] = line[(k + 1) % line.length];
            return sum + (x * v - u * y) / 2;
        }, 0);
        const slope = { width: 5, height: 5, box: [-2, 2, -2, 2], classes: [0, 1],
            values: Float32Array.from({ length: 25 }, (_, k) => k % 5 - 2) };
        const scene = { points: [[-1.5, 0.5], [1.5, 0]], labels: [1, 1] };
        return {
            lines: lines.length, least: Math.min(...radii), most: Math.max(...radii),
            closed: String(ring[0]) === String(ring.at(-1)), area: area(ring),
            whole: regions(values, width, height, -1e6).map(area),
            slack: slackLines(slope, scene, { slack: [2.5, 0] }),
        };
    }""")
    assert found["lines"] == 1
    assert found["closed"]
    assert 9.9 < found["least"] <= found["most"] < 10.01
    assert found["area"] == pytest.approx(100 * np.pi, rel=0.01)  # counterclockwise: the higher side is on the left
    assert found["whole"] == [pytest.approx(60 * 40, rel=0.01)]  # all of the grid, closed along its edge
    (line,) = found["slack"]
    assert line["from"] == [-1.5, 0.5]
    assert line["to"] == [pytest.approx(1, abs=0.02), pytest.approx(0.5)]


def test_tabs_by_keyboard(page):
    page.locator("#tab-plane").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#tab-numbers").get_attribute("aria-selected") == "true"
    assert page.evaluate("document.activeElement.id") == "tab-numbers"
    assert page.locator("#workbench").is_visible()
    settled(page)
    page.keyboard.press("Home")
    until(page, "document.querySelector('#summary').innerText.includes('of 120 points')")
    assert support(page)[1] == 120


def test_points_by_mouse(page):
    cleared(page)
    assert "add points of two classes" in summary(page)
    click_at(page, 0.3, 0.4)
    assert "another class" in summary(page)
    click_at(page, 0.7, 0.6, modifiers=["Shift"])
    settled(page)
    assert support(page) == (2, 2)
    scene = sent(page)
    assert scene["labels"] == [0, 1]
    assert scene["points"][0][0] < scene["points"][1][0]
    page.locator("#classes button", has_text="orange").click()
    click_at(page, 0.5, 0.8)
    settled(page)
    assert sent(page)["labels"] == [0, 1, 1]
    for _ in range(2):
        page.locator("#undo").click()
    settled(page)
    assert "another class" in summary(page)
    page.locator("#redo").click()
    settled(page)
    assert support(page) == (2, 2)


def test_points_are_dragged_and_erased(page):
    cleared(page)
    click_at(page, 0.3, 0.4)
    click_at(page, 0.7, 0.6, modifiers=["Alt"])
    settled(page)
    before = sent(page)["points"]
    box = page.locator("#figure").bounding_box()
    frame = page.evaluate("document.querySelector('#figure').toDataURL()")
    x0, x1 = (point[0] for point in before)
    # After "show all" the first point lies near the bottom left of the frame; it is found by hovering.
    found = None
    for across in np.linspace(0.1, 0.5, 21):
        for up in np.linspace(0.1, 0.5, 21):
            page.mouse.move(box["x"] + across * box["width"], box["y"] + (1 - up) * box["height"])
            if page.locator("#tip").is_visible():
                found = (across, up)
                break
        if found:
            break
    assert found, "no point was found under the pointer"
    assert "α = " in page.locator("#tip").inner_text()
    start = (box["x"] + found[0] * box["width"], box["y"] + (1 - found[1]) * box["height"])
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + 60, start[1] - 30, steps=4)
    page.mouse.up()
    settled(page)
    assert picture(page) != frame
    moved = sent(page)["points"]
    assert moved[0][0] > x0
    assert moved[1][0] == x1
    page.locator("#undo").click()
    assert sent(page)["points"] == before  # one drag is one step back
    page.keyboard.press("e")
    assert page.locator("#eraser").get_attribute("aria-pressed") == "true"
    page.mouse.click(*start)
    settled(page)
    assert "another class" in summary(page)
    assert page.trouble == []


def test_keyboard_alone(browser, address):
    shown = opened(browser, address)
    reached = []
    for _ in range(60):
        shown.keyboard.press("Tab")
        reached.append(shown.evaluate("document.activeElement.id"))
        if reached[-1] == "clear":
            break
    shown.keyboard.press("Enter")
    for _ in range(10):
        shown.keyboard.press("Tab")
        if shown.evaluate("document.activeElement.id") == "figure":
            break
    assert shown.evaluate("document.activeElement.id") == "figure"
    for keys in (["ArrowLeft"] * 6, ["Space"], ["Shift+ArrowRight"] * 3, ["2"], ["Space"], ["ArrowUp"] * 5, ["Space"]):
        for key in keys:
            shown.keyboard.press(key)
    settled(shown)
    assert support(shown)[1] == 3
    shown.keyboard.press("p")
    until(shown, "document.querySelector('#announced').textContent.includes('α = ')")
    shown.keyboard.press("m")
    shown.keyboard.press("ArrowUp")
    shown.keyboard.press("m")
    shown.keyboard.press("Delete")
    settled(shown)
    assert support(shown)[1] == 2
    shown.keyboard.press("Control+z")
    settled(shown)
    assert support(shown)[1] == 3
    for _ in range(60):  # from the figure to the slider of γ
        shown.keyboard.press("Tab")
        if shown.evaluate("document.activeElement.closest?.('.slider')?.dataset.slider") == "gamma":
            break
    before = picture(shown)
    shown.keyboard.press("Tab")
    for _ in range(20):
        shown.keyboard.press("ArrowRight")
    settled(shown)
    assert picture(shown) != before
    outline = shown.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"  # focus is seen
    assert shown.trouble == []
    shown.context.close()


def test_touch_on_a_phone(browser, address):
    shown = opened(browser, address, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    shown.locator("#clear").tap()
    figure = shown.locator("#figure").bounding_box()
    shown.touchscreen.tap(figure["x"] + 120, figure["y"] + 150)
    shown.locator("#classes button", has_text="orange").tap()
    shown.touchscreen.tap(figure["x"] + 240, figure["y"] + 100)
    settled(shown)
    assert support(shown) == (2, 2)
    for tab in ("numbers", "lift", "words", "graphs", "plane"):
        shown.locator(f"#tab-{tab}").tap()
        shown.wait_for_timeout(300)
        assert shown.evaluate("document.documentElement.scrollWidth") <= 390, tab
    for name in ("#clear", "#undo", "#share", "#eraser"):
        assert shown.locator(name).bounding_box()["height"] >= 40
    shown.context.close()


def test_sliders(page):
    gamma = page.locator("[data-slider=gamma]")
    before = picture(page)
    page.evaluate("window.mercerTimings.length = 0")
    box = gamma.locator("input[type=range]").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    for step in range(10):
        page.mouse.move(box["x"] + box["width"] / 2 + 4 * step, box["y"] + box["height"] / 2)
        page.wait_for_timeout(30)
    page.mouse.up()
    settled(page)
    assert picture(page) != before
    until(page, "window.mercerTimings.length > 3")
    assert all(0 < one < 20_000 for one in page.evaluate("window.mercerTimings"))
    assert sent(page)["gamma"] > 1
    page.locator("#undo").click()
    assert sent(page)["gamma"] == 1  # one drag is one step back
    typed = gamma.locator("input.typed")
    typed.fill("7.25")
    typed.press("Enter")
    assert sent(page)["gamma"] == 7.25
    typed.fill("much")
    typed.press("Enter")
    assert "γ is a number from" in gamma.locator(".error").inner_text()
    assert typed.get_attribute("aria-invalid") == "true"
    assert sent(page)["gamma"] == 7.25
    assert page.trouble == []


def test_wrong_kernel_keeps_the_last_picture(page):
    before = picture(page)
    page.locator("#kernel").fill("gaussian(gamma=?")
    complaint = page.locator("#kernel-error")
    complaint.wait_for(state="visible")
    assert complaint.inner_text().endswith(".")
    assert page.locator("#kernel").get_attribute("aria-invalid") == "true"
    assert picture(page) == before
    page.locator("#kernel").fill("2 * gaussian(gamma=?) + linear")
    complaint.wait_for(state="hidden")
    settled(page)
    assert picture(page) != before
    assert "linear" in page.locator("#kernel-read").inner_text()
    page.locator("#kernel").fill("linear")
    settled(page)
    assert not page.locator("[data-slider=gamma]").is_visible()
    assert all("422" in one for one in page.trouble)  # the browser itself notes answers that refuse


@pytest.mark.parametrize("learner", ["svc", "kernel-perceptron", "kernel-pegasos"])
def test_steps(page, learner):
    page.locator("#learner").select_option(learner)
    settled(page)
    end = picture(page)
    page.locator("#step-begin").click()
    page.locator("#step-player").wait_for(state="visible")
    place = page.locator("#step-place")
    assert place.inner_text().startswith("0 / ")
    for k in range(1, 4):
        page.locator("#step-forward").click()
        assert place.inner_text().startswith(f"{k} / ")
    assert len(page.locator("#step-why").inner_text()) > 10
    assert picture(page) != end
    page.locator("#step-back").click()
    assert place.inner_text().startswith("2 / ")
    page.locator("#step-speed").select_option("30")
    page.locator("#step-play").click()
    until(page, "Number(document.querySelector('#step-slider').value) > 6")
    page.locator("#step-play").click()
    assert page.locator("#step-play").inner_text() == "Play"
    page.locator("#step-end").click()
    assert not page.locator("#step-player").is_visible()
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert picture(page) == end
    assert page.trouble == []


def test_surface_fills_and_sets_both_sliders(page):
    page.wait_for_selector("#surface-marks button", timeout=60_000)
    cells = page.locator("#surface-grid [role=gridcell]")
    assert cells.count() == 64
    assert all("error" in (cell.get_attribute("aria-label") or "") for cell in cells.all())
    page.locator("#surface-grid [role=gridcell]", has_text="★").first.click()
    chosen = sent(page)
    best = asked_best(page)
    assert (chosen["C"], chosen["gamma"]) == (pytest.approx(best[0]), pytest.approx(best[1]))
    cells.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    settled(page)
    assert sent(page)["C"] != chosen["C"]
    assert page.trouble == []


def asked_best(page):
    label = page.locator("#surface-grid [role=gridcell]", has_text="★").first.get_attribute("aria-label")
    return [float(number.replace("−", "-")) for number in re.findall(r"= ([\d.e−]+)", label)]


@pytest.mark.parametrize("learner", ["kernel-ridge", "svr", "quantile"])
def test_numbers(page, learner):
    page.locator("#tab-numbers").click()
    page.locator("#data").select_option("wave")
    page.wait_for_timeout(300)
    page.locator("#learner").select_option(learner)
    settled(page)
    before = picture(page)
    click_at(page, 0.5, 0.9)
    settled(page)
    assert picture(page) != before
    assert len(sent(page)["points"]) == 121
    assert not page.locator("#classes").is_visible()
    page.locator("#tab-plane").click()
    settled(page)
    assert support(page)[1] == 120
    assert page.trouble == []


def test_other_data_keep_the_machine(page):
    page.locator("#learner").select_option("kernel-logistic")
    page.locator("#kernel-menu").select_option("linear")
    page.locator("#data").select_option("thin")
    page.wait_for_timeout(300)
    settled(page)
    scene = sent(page)
    page.locator("#draw").click()
    page.wait_for_timeout(300)
    settled(page)
    again = sent(page)
    assert again["points"] != scene["points"]
    for each in (scene, again):
        assert (each["learner"], each["kernel"]) == ("kernel-logistic", "linear")
    page.locator("#tab-numbers").click()
    until(page, "document.querySelector('#summary').textContent.includes('120 points')")  # there is something to see
    assert page.locator("#data").input_value() == "wave"
    assert page.trouble == []


def test_all_support_vectors_are_marked_and_the_setting_has_its_error(page):
    typed = page.locator("[data-slider=C] input.typed")
    typed.fill("0.001")
    typed.press("Enter")
    settled(page)
    assert support(page) == (120, 120)
    assert "support vector" in page.locator("#legend").inner_text()
    until(page, "/^This setting: [\\d.]+.% ± /.test(document.querySelector('#surface-setting').textContent)", 60)
    assert page.trouble == []


def test_theme_is_chosen_and_kept(page):
    light = picture(page)
    page.locator("#theme").click()
    page.wait_for_timeout(100)
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert picture(page) != light
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_dead_server_is_told(browser):
    running = served()
    address = next(running)
    shown = opened(browser, address)
    running.close()
    shown.locator("[data-slider=C] input.typed").fill("3")
    shown.locator("[data-slider=C] input.typed").press("Enter")
    shown.locator("#trouble").wait_for(state="visible")
    assert "mercer play" in shown.locator("#trouble").inner_text()
    shown.context.close()


def test_answers_are_not_held_back():
    from mercer.cli.play import _listener

    with _listener(0) as listener:
        assert listener.proto == socket.IPPROTO_TCP  # only then does asyncio switch Nagle's algorithm off
