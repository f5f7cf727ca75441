"""How long the page of ``mercer play`` takes from a move of a slider to the painted boundary.

    python -m benchmarks.playground [--json results.json] [--moves 200]

A Chromium drags the sliders γ and C of a support vector machine on 300 points, thirty moves a second, and the page
notes when the frame with each move's boundary (or a newer one) is done: fit, decision values on the 3000 nodes of a
picture that moves, both ways over loopback, decoding, shading, contours and painting. Once while nothing else is
computed, once while the cross-validation over 8 × 8 settings is under way.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.results import Results

POINTS = 300
#: Milliseconds from move to paint (median and 99th percentile), and seconds of the surface.
MEDIAN, PERCENTILE, SURFACE = 50.0, 150.0, 1.0
COMPUTING = "document.querySelector('#surface-status').textContent.startsWith('computing')"


@contextmanager
def served() -> Iterator[str]:
    """The address of a playground in a process of its own."""
    source = str(Path(__file__).parents[1] / "src")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-u", "-m", "mercer", "play", "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None, "mercer play printed no address"
        yield found[0]
    finally:
        process.terminate()
        process.wait(20)


def table(points: int) -> bytes:
    """Two half moons as a CSV file."""
    from sklearn.datasets import make_moons

    X, y = make_moons(points, noise=0.25, random_state=0)
    rows = [f"{a:.4f},{b:.4f},{('no', 'yes')[label]}" for (a, b), label in zip(X, y)]
    return "\n".join(["across,up,answer", *rows, ""]).encode()


class Session:
    """A page with 300 points on it."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        page.goto(address)
        page.wait_for_selector("html[data-ready]", timeout=120_000)
        self.until("document.querySelector('#compiling').hidden")
        file = {"name": "moons.csv", "mimeType": "text/csv", "buffer": table(POINTS)}
        page.locator("#file").set_input_files(file)
        self.until(f"document.querySelector('#summary').textContent.includes('of {POINTS} points')")

    def until(self, condition: str, seconds: float = 120) -> None:
        for _ in range(int(50 * seconds)):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(20)
        raise TimeoutError(condition)

    def drag(self, name: str, moves: int, going_on: str = "true") -> list[float]:
        """Milliseconds from move to paint of a drag to and fro, as long as a condition holds."""
        self.page.evaluate("window.mercerTimings.length = 0")
        box = self.page.locator(f"[data-slider={name}] input[type=range]").bounding_box()
        middle = box["y"] + box["height"] / 2
        self.page.mouse.move(box["x"] + 0.4 * box["width"], middle)
        self.page.mouse.down()
        for move in range(moves):
            if not self.page.evaluate(going_on):
                break
            part = 0.5 + 0.2 * np.sin(move / 8)
            self.page.mouse.move(box["x"] + part * box["width"], middle)
            self.page.wait_for_timeout(33)
        self.page.mouse.up()
        self.page.wait_for_timeout(200)
        return self.page.evaluate("window.mercerTimings")

    def surface(self) -> float:
        """Milliseconds of a cross-validation on another draw of the folds."""
        self.begin_surface()
        self.until("document.querySelector('#surface-status').textContent.includes('fits in')")
        return self.page.evaluate("performance.getEntriesByName('surface').at(-1).duration")

    def begin_surface(self) -> None:
        """Start a cross-validation, and see it start."""
        seed = self.page.locator("#seed")
        seed.fill(str(int(seed.input_value()) + 1))
        seed.press("Enter")
        self.until(COMPUTING)


def idle(session: Session, moves: int) -> list[float]:
    """While nothing else is computed."""
    return session.drag("gamma", moves // 2) + session.drag("C", moves - moves // 2)


def beside_surface(session: Session, moves: int) -> list[float]:
    """While a cross-validation is under way, which is begun anew as often as it takes."""
    taken: list[float] = []
    while len(taken) < moves:
        session.begin_surface()
        taken += session.drag(
            "gamma", 200, "document.querySelector('#surface-status').textContent.startsWith('computing')"
        )
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--moves", type=int, default=200, help="how often a slider is moved")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    results = Results()
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        session = Session(browser.new_page(viewport={"width": 1280, "height": 900}), address)
        session.surface()
        session.drag("gamma", 40)  # unmeasured: compilation on both sides
        for when, measure in (("idle", idle), ("beside the surface", beside_surface)):
            taken = np.array(measure(session, options.moves))
            for name, value, bar in (
                ("median", float(np.median(taken)), MEDIAN),
                ("99th percentile", float(np.quantile(taken, 0.99)), PERCENTILE),
            ):
                what = f"slider to painted boundary, {POINTS} points, {when}: {name}, ms"
                print(f"{what} {value:.1f} (bar {bar:g})")
                results.add(what, round(value, 1), bar, value <= bar, f"{taken.size} moves")
        seconds = float(np.median([session.surface() for _ in range(5)])) / 1000
        what = f"8 × 8 surface of 5 folds, {POINTS} points: seconds until it is painted"
        print(f"{what} {seconds:.2f} (bar {SURFACE:g})")
        results.add(what, round(seconds, 2), SURFACE, seconds <= SURFACE, "median of 5")
        browser.close()
    results.write(options.json)


if __name__ == "__main__":
    main()
