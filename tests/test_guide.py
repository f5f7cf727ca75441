"""The built guide in a browser: a search finds what people look for. Without ``make docs`` nothing is tested."""

import functools
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

BUILT = Path(__file__).parents[1] / "docs" / "_build" / "html"
pytestmark = pytest.mark.thorough


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


@pytest.fixture(scope="module")
def address():
    if not (BUILT / "index.html").exists():
        pytest.skip("the guide is not built (make docs)")
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=BUILT))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def page(address):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed (pip install playwright)")
    if chromium is None:
        pytest.skip("no Chromium is installed: the guide is not looked at in a browser")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.foreign = []
        page.on("request", lambda request: page.foreign.append(request.url) if address not in request.url else None)
        yield page
        browser.close()


@pytest.mark.parametrize(
    ("asked", "place"),
    [
        ("probability", "ideas/probabilities.html"),
        ("gamma", "ideas/kernels.html"),
        ("string", "ideas/structures.html"),
        ("SVC", "reference/generated/mercer.SVC.html"),
    ],
)
def test_a_search_finds_the_page(page, address, asked, place):
    page.goto(f"{address}/search.html?q={asked}")
    page.wait_for_selector(f'#search-results li a[href*="{place}"]')  # they come in one by one, the best first
    assert page.foreign == []


def test_formulas_are_drawn_without_the_network(page, address):
    page.goto(f"{address}/ideas/soft_margin.html")
    page.wait_for_selector("mjx-container")
    assert page.foreign == []
