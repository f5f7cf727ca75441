"""Pages in a real browser: what a page says and asks for is noted, and colours are compared as eyes do."""

from __future__ import annotations

import re
import shutil

import numpy as np
import pytest


def chromium():
    """A running Chromium, or the reason why there is none."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed (pip install playwright)")
    if program is None:
        pytest.skip("no Chromium is installed: pages are not looked at in a browser")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield running
        running.close()


def opened(browser, address, **options):
    """The page of an address; ``trouble`` and ``requests`` are what it said and asked for."""
    page = browser.new_context(**options).new_page()
    page.trouble, page.requests = [], []
    page.on("console", lambda message: page.trouble.append(message.text))
    page.on("pageerror", lambda error: page.trouble.append(str(error)))
    page.on("dialog", lambda dialog: page.trouble.append(dialog.message))
    page.context.on("request", lambda request: page.requests.append(request.url))
    page.goto(address)
    return page


def contrast(first, second):
    """The ratio of two colours' luminances, as the guidelines for accessible pages define it."""

    def luminance(colour):
        parts = np.array([int(part) for part in re.findall(r"\d+", colour)[:3]]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)
