"""What tests of the command line share."""

import shlex

import pytest
from click.testing import CliRunner

from mercer.cli import main


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
