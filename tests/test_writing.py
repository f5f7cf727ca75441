"""Files are whole or as they were, also after a kill; what is no file stays what it is."""

import os
import signal
import socket
import stat
import threading
import time
from itertools import cycle
from pathlib import Path
from unittest import mock

import click
import pytest

from mercer.cli import COMMANDS, main
from mercer.io import DataError, refuse_unwritable, write_together, write_whole

OLD, NEW = b"old" * 1000, b"new!" * 100_000


def test_a_link_stays_and_the_file_behind_it_is_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    path = tmp_path / "folder" / "file"
    path.write_bytes(OLD)
    path.chmod(0o640)
    (tmp_path / "link").symlink_to("folder/file")
    (tmp_path / "link to the link").symlink_to(tmp_path / "link")
    write_whole(tmp_path / "link to the link", NEW)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "link to the link").is_symlink()
    assert path.read_bytes() == NEW
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(path.parent) == ["file"]


def test_a_link_to_nothing_leads_to_the_new_file(tmp_path):
    (tmp_path / "link").symlink_to("file")
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "link", "text")
    finally:
        os.umask(before)
    assert (tmp_path / "file").read_text() == "text"
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640  # as any new file


def test_what_is_no_regular_file_is_refused_and_stays(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "round").symlink_to("round")
    (tmp_path / "to null").symlink_to(os.devnull)
    home = os.getcwd()
    try:
        os.chdir(tmp_path)  # the names of sockets are short
        listening = socket.socket(socket.AF_UNIX)
        listening.bind("socket")
    finally:
        os.chdir(home)
    expected = {
        "pipe": "is a pipe, which no file replaces",
        "socket": "is a socket, which no file replaces",
        "folder": "is a folder",
        "to null": "is a device, which no file replaces",
        "round": "symbolic links",
        "none/file": "there is no folder",
        "pipe/file": "cannot be written",
        "n" * 300: "name too long",
        "new/": "folder",
    }
    for name, words in expected.items():
        for work in (refuse_unwritable, lambda path: write_whole(path, NEW)):
            with pytest.raises(DataError, match=words) as refused:
                work(f"{tmp_path}/{name}")
            assert str(refused.value).endswith(".")
    for path, words in {os.devnull: "is a device", "": "no file has such a name", "a\0b": "no file has such"}.items():
        with pytest.raises(DataError, match=words):
            write_whole(path, NEW)
    listening.close()
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert (tmp_path / "to null").is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["folder", "pipe", "round", "socket", "to null"]


def test_the_file_that_is_printed_to_is_not_replaced(tmp_path):
    with open(tmp_path / "out", "w") as out:
        before = os.dup(1)
        os.dup2(out.fileno(), 1)
        try:
            for path in (tmp_path / "out", "/dev/stdout"):
                with pytest.raises(DataError, match="is where this command prints to"):
                    write_whole(path, NEW)
        finally:
            os.dup2(before, 1)
            os.close(before)


def test_a_protected_file_or_folder_is_not_written(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(OLD)
    with mock.patch("os.access", lambda path, mode: Path(path).name != "folder"):
        with pytest.raises(DataError, match="its folder is read-only"):
            refuse_unwritable(tmp_path / "folder" / "file")
        refuse_unwritable(tmp_path / "file")
    protected = mock.patch("os.access", lambda path, mode: Path(path).name != "file")
    with protected, pytest.raises(DataError, match="it is read-only"):
        refuse_unwritable(tmp_path / "file")


def test_a_full_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(OLD)
    with (
        mock.patch("os.fsync", side_effect=OSError(28, "No space left on device")),
        pytest.raises(DataError, match="No space left on device; make room"),
    ):
        write_whole(path, NEW)
    assert path.read_bytes() == OLD
    assert os.listdir(tmp_path) == ["file"]


def test_what_goes_wrong_with_the_pieces_is_not_said_of_the_file(tmp_path):
    def pieces():
        yield "some"
        raise FileNotFoundError("the table is gone")

    with pytest.raises(FileNotFoundError, match="the table is gone"):
        write_whole(tmp_path / "file", pieces())
    assert not os.listdir(tmp_path)


def test_halves_of_letters_do_not_lose_the_file(tmp_path):
    write_whole(tmp_path / "file", "caf\udce9")
    assert (tmp_path / "file").read_text() == "caf?"


def test_kills_leave_the_old_file_or_the_new_one(tmp_path):
    path = tmp_path / "file"
    write_whole(path, OLD)
    begin = time.perf_counter()
    write_whole(path, NEW)
    usual = time.perf_counter() - begin
    for trial in range(10):
        child = os.fork()
        if not child:
            for content in cycle([OLD, NEW]):
                write_whole(path, content)
        time.sleep(usual * trial / 5)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert path.read_bytes() in (OLD, NEW)
    write_whole(path, NEW)
    assert path.read_bytes() == NEW
    assert [name for name in os.listdir(tmp_path) if not name.startswith(".")] == ["file"]


A_KEY = b"""-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
-----END PRIVATE KEY-----
"""
#: Options by which commands are told what to write.
OUTPUTS = {"output", "journal", "plot", ("compare", "model"), ("cluster", "model")}


def test_every_path_of_every_command_is_known_to_be_read_or_written():
    for name in COMMANDS:
        for parameter in main.get_command(None, name).params:
            written = not {parameter.name, (name, parameter.name)}.isdisjoint(OUTPUTS)
            path = isinstance(parameter.type, (click.Path, click.File))
            assert path == written, f"{name} {parameter.name}: its type is READ, or it is an output"
            if parameter.name in {"data", "model", "labels", "config", "sign", "verify", "key", "check", "scaling"}:
                assert written or parameter.type.name == "path"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("train svc rows.csv -o rows.csv", "'rows.csv' is read by this command and would be lost"),
        ("train svc other.csv rows.csv -o link", "'link' is read by this command and would be lost"),
        ("train svc rows.csv -o pipe", "'pipe' is a pipe, which no file replaces; name a file"),
        ("run model rows.csv -o model", "'model' is read by this command"),
        ("run model rows.csv -o /dev/null", "a device, which no file replaces; name a file to write, or - for the"),
        ("tune svc rows.csv -o new --journal new", "'new' is to be written twice"),
        ("tune svc rows.csv --journal pipe", "'pipe' is a pipe"),
        ("compare rows.csv --model rows.csv", "'rows.csv' is read by this command"),
        ("compare rows.csv -o here --model here/report.json", "is a file of the report"),
        ("compare rows.csv -o rows.csv/report", "cannot be written"),
        ("compare rows.csv -o taken", "report.json' is a folder"),
        ("kernel rows.csv --plot rows.csv", "'rows.csv' is read by this command"),
        ("train svc moons --sign key -o key", "'key' is read by this command"),
        ("import rows.csv --sign key -o key", "'key' is read by this command"),
        ("tune svc moons --sign key --journal key", "'key' is read by this command"),
        ("compare moons --sign key --model key", "'key' is read by this command"),
        ("run model moons --verify rows.csv -o rows.csv", "'rows.csv' is read by this command"),
        ("export model --to c --verify rows.csv -o rows.csv", "'rows.csv' is read by this command"),
        ("train svc moons --config options.toml -o options.toml", "'options.toml' is read by this command"),
        ("train svc moons --labels rows.csv -o rows.csv", "'rows.csv' is read by this command"),
        ("train svc r*.csv -o rows.csv", "'rows.csv' is read by this command"),
        ("train svc . -o rows.csv", "'rows.csv' is read by this command"),
        ("train svc sqlite:///rows.csv?table=t -o rows.csv", "'rows.csv' is read by this command"),
        ("compare study/report.json -o study", "report.json' is read by this command"),
        ("kernel rows.csv --plot picture.doc", "its name should end in .eps"),
    ],
)
def test_what_cannot_be_stored_is_refused_before_the_work(mercer, line, words):
    """Before: the table is none, and nobody has looked at it."""
    Path("rows.csv").write_bytes(b"\x00")
    Path("model").write_bytes(b"\x00")
    Path("link").symlink_to("rows.csv")
    Path("taken/report.json").mkdir(parents=True)
    Path("study").mkdir()
    Path("study/report.json").write_bytes(b"\x00")
    Path("options.toml").write_bytes(b"")
    Path("key").write_bytes(A_KEY)
    os.mkfifo("pipe")
    assert words in mercer(line, 1).stderr
    assert Path("rows.csv").read_bytes() == b"\x00"


def test_many_writers_of_one_file(tmp_path):
    path, stop, seen = tmp_path / "file", threading.Event(), set()
    write_whole(path, OLD)

    def write(content):
        while not stop.is_set():
            write_whole(path, content)

    writers = [threading.Thread(target=write, args=[content]) for content in (OLD, NEW)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(200):
            seen.add(path.read_bytes())
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert seen <= {OLD, NEW}
    write_whole(path, OLD)
    assert os.listdir(tmp_path) == ["file"]


def test_files_that_belong_together_are_never_of_two_writings(tmp_path):
    """The process ends at each step of the way, one after the other."""
    one, other = tmp_path / "one", tmp_path / "other"
    for step in ("os.unlink", "os.replace"):
        for many in range(3):
            write_together({one: "old", other: "old"})
            _dies_at(step, many, lambda: write_together({one: "new", other: "new"}))
            found = {path.read_text() for path in (one, other) if path.exists()}
            assert len(found) == 1, (step, many, found)
    write_together({one: "new", other: "new"})
    assert {path.read_text() for path in (one, other)} == {"new"}


def _dies_at(step, many, work):
    """Do the work in a copy of this process that dies when it comes to a step for so many times."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        module, _, name = step.rpartition(".")
        original, left = getattr(os, name), [many]

        def dying(*args, **options):
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return original(*args, **options)

        with mock.patch(f"{module}.{name}", dying):
            work()
    finally:
        os._exit(0)
