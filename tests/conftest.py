"""What tests of the command line and of pages share."""

import shlex

import pytest
from click.testing import CliRunner

from mercer.cli import main

from .browsing import chromium

#: For the tests of a file: as long as it is there, nobody else can run an event loop.
browser = pytest.fixture(scope="module")(chromium)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Whatever needs a browser takes its time; a file of it is one process's, so that servers are started once."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.thorough)
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


@pytest.fixture
def mercer(tmp_path, monkeypatch):
    """Run a command in an empty folder; what it ends with is checked."""
    monkeypatch.chdir(tmp_path)

    def run(line, code=0, **options):
        done = CliRunner().invoke(main, shlex.split(line) if isinstance(line, str) else line, **options)
        assert done.exit_code == code, done.output
        assert done.exception is None or isinstance(done.exception, SystemExit)
        assert "Traceback" not in done.output
        return done

    return run
