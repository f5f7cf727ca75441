"""scikit-learn's own tests of GridSearchCV, run on KernelSearchCV.

    python -m reproductions.suites.search [--json results.json]

The tests are those of the installed scikit-learn; nothing of them is copied. Only the name ``GridSearchCV`` stands for
another class while their module is loaded.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any
from unittest import mock

import pytest
import sklearn
import sklearn.model_selection

from mercer.search import KernelSearchCV

from ..results import Results

MODULE = "sklearn.model_selection.tests.test_search"

#: Why a test is meant to fail, by its name.
MEANT = {
    "test_custom_run_search": "compares all attributes with those of a search of its own, which gives no advice_",
}


class _Outcomes:
    """A plugin that notes how each test ends."""

    def __init__(self) -> None:
        self.ends: dict[str, str] = {}
        self.why: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        name = report.nodeid.rpartition("::")[2]
        if report.when == "call" or report.outcome != "passed":
            self.ends[name] = report.outcome
        if report.failed:
            self.why[name] = str(report.longrepr).strip().splitlines()[-1]

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.ends[report.nodeid] = "failed"
            self.why[report.nodeid] = str(report.longrepr).strip().splitlines()[-1]


def run(results: Results) -> None:
    """Run the tests, print how they end, and add a figure for all of them and one for each that fails."""
    outcomes = _Outcomes()
    sys.modules.pop(MODULE, None)  # parameters of tests are made when the module is loaded
    options = ["-q", "--no-header", "--tb=no", "--no-summary", "-p", "no:cacheprovider", "-W", "ignore"]
    with mock.patch.object(sklearn.model_selection, "GridSearchCV", KernelSearchCV):
        pytest.main([*options, "-c", os.devnull, "--pyargs", MODULE], plugins=[outcomes])
    sys.modules.pop(MODULE, None)
    count = {end: sum(value == end for value in outcomes.ends.values()) for end in ("passed", "failed", "skipped")}
    unexplained = [name for name, end in outcomes.ends.items() if end == "failed" and _reason(name) is None]
    for name, end in outcomes.ends.items():
        if end == "failed":
            reason = _reason(name)
            print(f"  {name}: {reason or 'NOT MEANT: ' + outcomes.why[name]}")
            results.add(f"test_search: {name}", "fails", "meant", reason is not None, reason or outcomes.why[name])
    summary = f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped"
    print(f"test_search of scikit-learn {sklearn.__version__}: {summary}, {len(unexplained)} not meant")
    fine = not unexplained and count["passed"] > 0
    results.add("test_search: failures that are not meant", len(unexplained), 0, fine, summary)


def _reason(name: str) -> str | None:
    return MEANT.get(name.partition("[")[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    results = Results()
    run(results)
    results.write(options.json)


if __name__ == "__main__":
    main()
