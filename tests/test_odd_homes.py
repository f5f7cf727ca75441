"""Where mercer is started: without streams, without a home, with few letters, where nothing may be written."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import mercer as package
from mercer.cli import main
from mercer.runtime import jit

SOURCE = Path(package.__file__).parents[1]
COMMAND = [sys.executable, "-m", "mercer"]


def environment(**changes):
    """This environment with some variables changed, those that are ``None`` taken away."""
    return {name: value for name, value in {**os.environ, "PYTHONPATH": str(SOURCE), **changes}.items() if value}


def shell(line, folder, **changes):
    """Run a line of the shell in which ``mercer`` is this one."""
    text = f'mercer() {{ "{sys.executable}" -m mercer "$@"; }}\n{line}'
    done = subprocess.run(
        ["bash", "-c", text], cwd=folder, env=environment(**changes), capture_output=True, text=True, timeout=120
    )
    assert "Traceback" not in done.stderr
    assert "EncodeError" not in done.stderr
    assert "Exception ignored" not in done.stderr
    return done


def in_a_copy(line, folder, output, error):
    """Run a command in a copy of this process whose streams are these files, or closed; its status."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.chdir(folder)
    for number, path, name in ((1, output, "stdout"), (2, error, "stderr")):
        if path is None:
            os.close(number)
        else:
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), number)
        stream = None if path is None else open(number, "w", closefd=False)  # noqa: SIM115  as long as the process
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    try:
        main(line.split())
    except SystemExit as ended:
        os._exit(int(ended.code or 0))
    finally:
        os._exit(99)


def test_closed_streams_stop_nothing(tmp_path):
    assert in_a_copy("train perceptron moons:30 -o m", tmp_path, None, None) == 0
    assert os.listdir(tmp_path) == ["m"]
    model = package.load(tmp_path / "m")  # nothing was printed into it
    assert model.predict(package.read("moons:30").X).shape == (30,)
    done = shell("mercer --help >&- 2>&- <&-; echo $?; mercer nonsense 2>&-; echo $?", tmp_path)
    assert done.stdout == "0\n2\n"


def test_a_reader_that_leaves_is_no_error(tmp_path):
    done = shell("mercer --help | head -c 2; echo ${PIPESTATUS[@]}", tmp_path)
    assert done.stderr == ""
    assert done.stdout == "Us0 0\n"


def test_lost_results_are_said_and_lost_notes_are_not(tmp_path):
    assert in_a_copy("datasets", tmp_path, "/dev/full", "said") == 1
    assert (tmp_path / "said").read_text() == (
        "mercer: the standard output could not be written: No space left on device; the results on it are lost.\n"
    )
    assert in_a_copy("datasets", tmp_path, "shown", "/dev/full") == 0
    assert "moons" in (tmp_path / "shown").read_text()
    assert in_a_copy("run none moons:30 -o -", tmp_path, None, "refused") == 1
    assert "the standard output is closed" in (tmp_path / "refused").read_text()


@pytest.mark.thorough
def test_the_same_by_the_shell(tmp_path):
    done = shell("mercer train perceptron moons:30 -o m >&- 2>&- <&-; echo $?; wc -c < m", tmp_path)
    assert done.stdout.startswith("0\n")
    assert shell("mercer datasets --json | head -c 2; echo ${PIPESTATUS[@]}", tmp_path).stdout.endswith("0 0\n")
    done = shell("mercer datasets > /dev/full; echo $?", tmp_path)
    assert done.stdout == "1\n"
    assert done.stderr.count("\n") == 1


POOR = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TERM": "dumb"}


def test_a_terminal_without_letters_shows_question_marks(tmp_path):
    assert "Commands:" in shell("mercer --help", tmp_path, **POOR).stdout
    assert "r\\udcc3\\udcb6t" in shell("mercer r\u00f6t", tmp_path, **POOR).stderr


@pytest.mark.thorough
def test_a_whole_study_in_an_odd_home(tmp_path):
    nowhere = dict.fromkeys(("TMPDIR", "XDG_CACHE_HOME"), "/nonexistent")
    odd = {**POOR, **nowhere, "HOME": None, "TERM": None, "TZ": "Nowhere/Nonsense"}
    rows = "1.5,r\u00f6t\n2.5,bl\u00e5u\n3.5,r\u00f6t\n" * 9
    (tmp_path / "r\u00f6t.csv").write_text(f"gr\u00f6\u00dfe,f\u00e4rbe\n{rows}", "utf-8")
    line = "mercer compare r\u00f6t.csv --learners logistic --model m && mercer run m r\u00f6t.csv"
    done = shell(line, tmp_path, **odd)
    assert done.returncode == 0, done.stderr
    assert "Logistic" in done.stdout
    assert json.loads((tmp_path / "mercer-report" / "report.json").read_text("utf-8"))["data"]["rows"] == 27


def unprivileged():
    """What to put before a command so that permissions count: they do not for the administrator."""
    if os.geteuid():
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("permissions do not count for this user")
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]


@pytest.mark.thorough
def test_read_only_folders_are_found_out_before_the_work(tmp_path):
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed").chmod(0o555)
    lines = [
        ["train", "svc", "none.csv", "-o", "closed/m"],
        ["compare", "none.csv", "-o", "closed"],
        ["tune", "svc", "none.csv", "--journal", "closed/j"],
    ]
    code = f"from mercer.cli import main\nfor line in {lines}:\n    try: main(line)\n    except SystemExit: pass\n"
    done = subprocess.run(
        [*unprivileged(), sys.executable, "-c", code], cwd=tmp_path, env=environment(), capture_output=True, text=True
    )
    said = done.stderr.splitlines()
    assert len(said) == 3
    assert all("its folder is read-only" in line for line in said), said


@pytest.mark.thorough
def test_a_read_only_installation(tmp_path):
    """All of it compiled anew, for there is no place to keep anything."""
    shutil.copytree(SOURCE / "mercer", tmp_path / "mercer", ignore=shutil.ignore_patterns("__pycache__"))
    for path in [tmp_path / "mercer", *(tmp_path / "mercer").rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)
    nowhere = {"PYTHONPATH": str(tmp_path), "HOME": "/nonexistent", "NUMBA_CACHE_DIR": None, "XDG_CACHE_HOME": None}
    try:
        done = subprocess.run(
            [*unprivileged(), *COMMAND, "train", "perceptron", "moons:30", "-o", "m"],
            cwd=tmp_path,
            env=environment(**nowhere),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert not list((tmp_path / "mercer").rglob("__pycache__"))
    finally:
        for path in (tmp_path / "mercer").rglob("*"):
            if path.is_dir():
                path.chmod(0o755)
        (tmp_path / "mercer").chmod(0o755)


def twice(x):
    return 2 * x


def thrice(x):
    return 3 * x


@pytest.fixture
def code_files(tmp_path, monkeypatch):
    """An empty folder for machine code. Numba reads the environment again whenever that has changed."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", str(tmp_path))
    return tmp_path


def test_machine_code_that_was_damaged_or_belongs_to_another_function_is_not_run(code_files):
    assert (jit(twice)(2), jit(thrice)(2)) == (4, 6)
    found = {path.name.split(".")[1].split("-")[0]: path for path in code_files.rglob("*.nbc")}
    whole = found["twice"].read_bytes()
    kept = jit(twice)
    assert (kept(2), sum(kept.stats.cache_hits.values())) == (4, 1)
    for place in range(0, len(whole), len(whole) // 7):
        found["twice"].write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        anew = jit(twice)
        assert (anew(2), sum(anew.stats.cache_hits.values())) == (4, 0)
    found["twice"].write_bytes(found["thrice"].read_bytes())  # as after a kill between the list and the file
    assert jit(twice)(2) == 4


@pytest.mark.parametrize("state", ["whole", "empty", "cut", "foreign", "gone"])
def test_a_cache_in_any_state_costs_a_compilation_at_most(code_files, state):
    assert jit(twice)(2) == 4
    files = [path for path in code_files.rglob("*") if path.is_file()]
    assert files
    for path in files:
        content = path.read_bytes()
        path.write_bytes({"empty": b"", "cut": content[: len(content) // 2], "foreign": b"\x80"}.get(state, content))
    if state == "gone":
        shutil.rmtree(code_files)
    assert jit(twice)(2) == 4
    assert jit(twice)(2.5) == 5.0
