"""The built guide in a browser: a search finds what people look for. Without ``make docs`` nothing is tested."""

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from .browsing import opened

BUILT = Path(__file__).parents[1] / "docs" / "_build" / "html"


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


@pytest.fixture(scope="module")
def searching(browser, address):
    """The page of searches, one after the other: what they ask for is fetched once."""
    page = opened(browser, f"{address}/search.html")
    yield page
    assert all(request.startswith(address) for request in page.requests)
    page.context.close()


@pytest.mark.parametrize(
    ("asked", "place"),
    [
        ("probability", "ideas/probabilities.html"),
        ("gamma", "ideas/kernels.html"),
        ("string", "ideas/structures.html"),
        ("SVC", "reference/generated/mercer.SVC.html"),
    ],
)
def test_a_search_finds_the_page(searching, address, asked, place):
    searching.goto(f"{address}/search.html?q={asked}")
    searching.wait_for_selector(f'#search-results li a[href*="{place}"]')  # they come in one by one, the best first


@pytest.mark.parametrize("asked", ["gamma", "multiclass", "missing values", "GPU", "out of memory"])
def test_what_a_word_means_comes_first(searching, address, asked):
    searching.goto(f"{address}/search.html?q={asked}")
    first = searching.wait_for_selector("#search-results li a").get_attribute("href")
    assert first.endswith(f"words.html#term-{asked.replace(' ', '-')}")


def test_formulas_are_drawn_without_the_network(browser, address):
    page = opened(browser, f"{address}/ideas/soft_margin.html")
    page.wait_for_selector("mjx-container")
    assert all(request.startswith(address) for request in page.requests)
    page.context.close()
