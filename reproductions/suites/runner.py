"""Runs one suite: loads the installed tests with other names in them, and notes how each of them ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any
from unittest import mock

import pytest


@dataclass
class Outcome:
    """How the tests of a suite ended, by their names."""

    passed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    #: Tests of what is not here, and why tests were meant to fail.
    absent: dict[str, str] = field(default_factory=dict)
    meant: dict[str, str] = field(default_factory=dict)
    #: What went wrong where no reason was given.
    unexplained: dict[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return bool(self.passed) and not self.unexplained


def reason_for(name: str, reasons: dict[str, str]) -> str | None:
    """The reason that is given for a test: by its full name, its name without parameters, or a pattern of names."""
    for pattern, reason in reasons.items():
        literal = pattern.replace("[", "[[]")
        if fnmatchcase(name, literal) or fnmatchcase(name.partition("[")[0], literal):
            return reason
    return None


class _Notes:
    """A plugin of pytest that leaves tests out and notes how the others end."""

    def __init__(self, suite: Any) -> None:
        self.suite, self.outcome = suite, Outcome()

    def pytest_collection_modifyitems(self, config: Any, items: list[Any]) -> None:
        wanted = dict.fromkeys(getattr(self.suite, "TESTS", ("*",)), "")
        items[:] = [item for item in items if reason_for(item.name, wanted) is not None]
        for item in items:
            reason = reason_for(item.name, getattr(self.suite, "ABSENT", {}))
            if reason is not None:
                self.outcome.absent[item.name] = reason
        items[:] = [item for item in items if item.name not in self.outcome.absent]

    def pytest_runtest_logreport(self, report: Any) -> None:
        name = report.nodeid.rpartition("::")[2] if "[" not in report.nodeid else report.nodeid.split("::", 1)[1]
        if report.failed:
            self._failed(name, report)
        elif report.skipped:
            self.outcome.skipped.append(name)
        elif report.when == "call":
            self.outcome.passed.append(name)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._failed(report.nodeid, report)

    def _failed(self, name: str, report: Any) -> None:
        reason = reason_for(name, self.suite.MEANT)
        crash = getattr(getattr(report.longrepr, "reprcrash", None), "message", str(report.longrepr))
        if reason is None:
            self.outcome.unexplained[name] = " ".join(crash.split())
        else:
            self.outcome.meant[name] = reason


def run(suite: Any, options: Iterable[str] = ()) -> Outcome:
    """Run a suite, a module of this package.

    Parameters
    ----------
    suite : module
    options : iterable of str
        More options for pytest.

    Returns
    -------
    Outcome
    """
    notes = _Notes(suite)
    quiet = ["-q", "--no-header", "--tb=short", "-p", "no:cacheprovider", "-W", "ignore"]
    before = set(sys.modules)
    with ExitStack() as stack:
        for target, stand_in in suite.patches().items():
            stack.enter_context(mock.patch(target, stand_in))
        pytest.main([*quiet, *options, "-c", os.devnull, "--pyargs", *suite.MODULE.split()], plugins=[notes])
    for name in set(sys.modules) - before:  # the next suite loads its tests anew, with names of its own
        if ".tests." in name:
            del sys.modules[name]
    return notes.outcome
