"""One version, wherever it is named."""

import re
import tomllib
from pathlib import Path

import pytest

import mercer

ROOT = Path(__file__).parents[1]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]


def test_the_package_says_the_version():
    assert mercer.__version__ == VERSION


def test_the_changelog_begins_with_it():
    first = re.search(r"^## (\S+) \((unreleased|\d{4}-\d\d-\d\d)\)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert first is not None
    assert first[1] == VERSION.removesuffix(".dev0")


def test_the_citation_says_it():
    citation = ROOT / "CITATION.cff"
    if not citation.exists():
        pytest.skip("no CITATION.cff")
    found = re.search(r"^version: [\"']?([^\"'\n]+)[\"']?$", citation.read_text("utf-8"), re.MULTILINE)
    assert found is not None
    assert found[1].strip() == VERSION
