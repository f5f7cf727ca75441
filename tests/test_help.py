"""``mercer help`` and what shells complete: a screen for each topic, from the registries."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from mercer.cli import COMMANDS, main
from mercer.io import FORMATS
from mercer.kernels import parse, registered
from mercer.learners import LEARNERS
from mercer.losses import KNOWN

SRC = str(Path(__file__).parents[1] / "src")
TOPICS = ("kernels", "losses", "learners", "formats", "reports")
#: Lines of a large terminal.
SCREEN = 50


def with_underscores(name):
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


@pytest.fixture
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_is_one_screen(mercer, topic):
    lines = mercer(f"help {topic}").stdout.splitlines()
    outside = [each for each in registered() if not each.__module__.startswith("mercer.")]  # of other tests
    assert len(lines) <= SCREEN + 3 * len(outside)  # each may have a title of its own
    assert max(map(len, lines)) <= 120
    assert any("(guide: " in line for line in lines)


@pytest.mark.usefixtures("wide")
def test_topics_name_all_there_is(mercer):
    def words(topic):
        return mercer(f"help {topic}").stdout.replace("(", " ").replace("[", " ").replace(":", " ").split()

    ours = [kernel for kernel in registered() if kernel.__module__.startswith("mercer.")]
    assert {with_underscores(kernel.__name__) for kernel in ours} <= {word.rstrip(",") for word in words("kernels")}
    assert {name.removesuffix("-2") for name in LEARNERS} <= set(words("learners"))
    assert {name for name, loss in KNOWN.items() if loss.__module__.startswith("mercer.")} <= set(words("losses"))
    assert set(FORMATS) <= set(words("formats"))
    assert {suffix for entry in FORMATS.values() for suffix in entry.suffixes} <= set(words("formats"))


def test_all_of_ours_say_what_they_are_good_for():
    things = [*registered(), *KNOWN.values(), *LEARNERS.values()]
    ours = [each for each in things if getattr(each, "__module__", "").startswith("mercer.")]
    assert [each for each in ours if not each.good_for] == []


def test_kernels_are_read_as_help_writes_them():
    for kernel in registered():
        if kernel.__module__.startswith("mercer.") and not {"kernel", "kernels", "B"} & set(kernel._get_param_names()):
            assert isinstance(parse(with_underscores(kernel.__name__)), kernel)


def test_help_lists_topics_and_commands(mercer):
    page = mercer("help").stdout
    assert all(name in page for name in (*TOPICS, *COMMANDS))


def test_help_of_a_command_is_its_own(mercer):
    assert mercer("help train").stdout == mercer("train --help").stdout
    assert mercer("help kernel").stdout.startswith(mercer("kernel --help").stdout)
    assert '"mercer help kernels"' in mercer("help kernel").stdout


def test_a_wrong_topic_gets_the_nearest(mercer):
    assert "there is no topic 'lerners'; did you mean 'learners'?" in mercer("help lerners", 2).stderr
    assert "there is no topic 'zzz'; \"mercer help\" lists them." in mercer("help zzz", 2).stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(mercer, shell):
    script = mercer(f"completion {shell}").stdout
    assert "_MERCER_COMPLETE" in script
    assert f"{shell}_complete" in script


def offered(*words, typed=""):
    """What the shell offers after some words."""
    found = ShellComplete(main, {}, "mercer", "_MERCER_COMPLETE").get_completions(list(words), typed)
    return [item.type if item.type != "plain" else item.value for item in found]


def test_commands_and_topics_are_completed():
    assert offered(typed="tr") == ["train"]
    assert offered("help", typed="l") == ["losses", "learners"]


def test_learners_kernels_and_scorings_are_completed():
    assert {"svc", "svr", "svdd"} <= set(offered("train", typed="sv"))
    assert offered("compare", "moons", "--learners", typed="svc,kernel-l") == ["svc,kernel-logistic"]
    assert offered("train", "svc", "moons", "--kernel", typed="gau") == ["gaussian"]
    assert offered("kernel", "moons", "--kernel", typed="gaussian+weisfeiler_lehman_") == [
        "gaussian+weisfeiler_lehman_assignment"
    ]
    assert offered("tune", "svc", "moons", "--scoring", typed="bal") == ["balanced_accuracy"]
    assert offered("check", "--format", typed="pa") == ["parquet"]


def test_tables_and_models_are_completed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("moon.csv", "mood.png", "m.safetensors", "more.csv.gz"):
        (tmp_path / name).touch()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "genes.fasta").touch()
    assert offered("check", typed="mo") == ["moons", "moon.csv", "more.csv.gz"]
    assert offered("train", "svc", typed="data/") == ["data/genes.fasta"]
    assert offered("check", typed="dat") == ["file"]  # the shell goes into the folder
    assert offered("check", typed="nothing") == ["file"]
    assert offered("run", typed="") == ["m.safetensors", "data/"]
    assert offered("train", "svc", "moons", "--sign", typed="k") == ["file"]


def test_completing_a_command_imports_nothing_heavy():
    program = (
        "import sys, runpy\n"
        "try: runpy.run_module('mercer', run_name='__main__')\n"
        "finally: sys.stderr.write(str({'numpy', 'sklearn', 'numba'} & set(sys.modules)))"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": SRC,
        "_MERCER_COMPLETE": "fish_complete",
        "COMP_WORDS": "mercer",
        "COMP_CWORD": "c",
    }
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert "compare" in done.stdout
    assert done.stderr == "set()"
