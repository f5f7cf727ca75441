"""The playground in a browser: a server in a process of its own, and a page that notes what goes wrong on it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import urllib.request

import pytest

from . import browsing


def served(*arguments):
    """The address that ``mercer play`` prints, while it runs."""
    pytest.importorskip("uvicorn", reason="uvicorn is not installed (pip install 'mercer[play]')")
    pytest.importorskip("starlette", reason="starlette is not installed (pip install 'mercer[play]')")
    command = [sys.executable, "-u", "-m", "mercer", "play", "--no-browser", *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    try:
        address = re.search(r"http://\S+", process.stdout.readline())[0]
        wait_until_ready(address)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def asked(address, path, body):
    """An answer of the server without a browser."""
    origin, token = address.split("/?token=")
    headers = {"Content-Type": "application/json", "X-Mercer-Token": token}
    request = urllib.request.Request(origin + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())


def wait_until_ready(address, seconds=120):
    """Compiled code is there."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if asked(address, "/api/choices", {})["ready"]:
                return
        except OSError:
            pass
        time.sleep(0.1)
    raise TimeoutError("mercer play did not get ready.")


def opened(browser, address, **options):
    """The playground's page, ready; ``trouble`` and ``requests`` are what it said and asked for."""
    page = browsing.opened(browser, address, **{"viewport": {"width": 1280, "height": 900}, **options})
    page.wait_for_selector("html[data-ready]")
    settled(page)
    return page


def until(page, condition, seconds=20):
    """Wait for a condition on the page. (Playwright's own waiting evaluates text, which the page forbids.)"""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"waited in vain for {condition}"
        page.wait_for_timeout(20)


def settled(page):
    """Wait until the picture is that of the newest scene."""
    until(page, "document.querySelector('#figure').getAttribute('aria-busy') === 'false'")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def sent(page):
    """The scene of the next request for a fit, made by looking at all points again."""
    with page.expect_request("**/api/fit") as asked_for:
        page.locator("#whole").click()
    settled(page)
    return asked_for.value.post_data_json["scene"]


def picture(page):
    """What is painted, as bytes."""
    return page.evaluate("document.querySelector('#figure').toDataURL()")


def cleared(page):
    """The same page without points."""
    page.locator("#clear").click()
    settled(page)
    return page


def click_at(page, across, up, **options):
    """A click at a part of the figure's width and height, counted from the bottom left."""
    box = page.locator("#figure").bounding_box()
    place = {"x": across * box["width"], "y": (1 - up) * box["height"]}
    page.locator("#figure").click(position=place, **options)


def support(page):
    """How many support vectors the line under the figure tells of, and of how many points."""
    return tuple(int(number) for number in re.findall(r"(\d+) support vectors? of (\d+) points", summary(page))[0])


def summary(page):
    """The line under the figure."""
    return page.locator("#summary").inner_text()
