"""Files that have no name until they are whole.

A draft is written where nobody sees it: where the system allows (Linux, most file systems), in a file without any name,
which is gone with the process that wrote it, however that ends. When it is whole and on the disk it gets a hidden name
and, in the same breath, takes the place of the file that was there. Whoever opens the path sees the old file or the new
one, both of them whole.

A process may be killed between the two names, or write where there are no files without a name. What it leaves is told
from the draft of a writer at work by a lock, which the system releases when a process ends: the next writer of the same
file removes every draft of it that nobody holds.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from pathlib import Path

from .._runtime.locks import hold

__all__ = ["Draft", "remove_abandoned", "settle"]

_SUFFIX = ".mercer-draft"
#: Letters of the file's own name in the hidden one: names have at most 255 bytes, and a letter at most four.
_LETTERS = 40


class Draft:
    """What is to become a file.

    Parameters
    ----------
    target : Path
        The place it takes: no link, and a regular file where there is one.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        self._before = os.stat(target) if target.exists() else None
        #: Hidden names are for the owner alone where the file that is replaced may be.
        mode = 0o666 if self._before is None else 0o600
        self._hidden: Path | None = None
        try:
            self._handle = _nameless(target.parent, mode)
        except (OSError, AttributeError):  # this folder or this system has no files without a name
            self._hidden, self._handle = _hidden(target, mode)

    def write(self, data: bytes) -> None:
        """Add to it."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._handle, rest) :]

    def finish(self) -> None:
        """All of it is written: wait until the disk has it, and give it the owner and permissions of the old file."""
        if self._before is not None:
            with contextlib.suppress(OSError, AttributeError):  # files are given away by the administrator alone
                os.fchown(self._handle, self._before.st_uid, self._before.st_gid)
            os.chmod(self._handle if self._hidden is None else self._hidden, stat.S_IMODE(self._before.st_mode))
        os.fsync(self._handle)

    def get_name(self) -> None:
        """Have a hidden name, from which it is a single step to the place."""
        if self._hidden is None:
            hidden = _hidden_name(self.target)
            _name(self._handle, hidden)
            self._hidden = hidden

    def take_place(self) -> None:
        """Become the file."""
        assert self._hidden is not None
        os.replace(self._hidden, self.target)
        self._hidden = None

    def close(self) -> None:
        """Leave nothing open, and nothing behind."""
        with contextlib.suppress(OSError):
            if self._hidden is not None:
                os.unlink(self._hidden)
        os.close(self._handle)


def remove_abandoned(target: Path) -> None:
    """Remove the drafts of a file whose writers are dead."""
    prefix = f".{target.name[:_LETTERS]}."
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        found = [entry.path for entry in entries if entry.name.startswith(prefix) and entry.name.endswith(_SUFFIX)]
        for path in found:
            _remove_if_abandoned(path)


def _remove_if_abandoned(path: str) -> None:
    try:
        handle = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return
    try:
        if hold(handle, wait=False):
            os.unlink(path)
    except OSError:
        pass
    finally:
        os.close(handle)


def _nameless(folder: Path, mode: int) -> int:
    """A new file without a name, held."""
    os.stat("/proc/self/fd")  # by way of which it gets its name later on
    handle = os.open(folder, os.O_TMPFILE | os.O_WRONLY, mode)
    hold(handle)
    return handle


def _hidden(target: Path, mode: int) -> tuple[Path, int]:
    """A new file with a hidden name, held."""
    while True:
        path = _hidden_name(target)
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
        hold(handle)
        if path.exists():  # else another writer took it for abandoned before it was held
            return path, handle
        os.close(handle)


def _hidden_name(target: Path) -> Path:
    return target.with_name(f".{target.name[:_LETTERS]}.{secrets.token_hex(8)}{_SUFFIX}")


def _name(handle: int, path: Path) -> None:
    """Give a name to an open file that has none."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.link(f"/proc/self/fd/{handle}", path.name, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def settle(folder: Path) -> None:
    """Wait until the disk knows the names of a folder."""
    with contextlib.suppress(OSError):  # some file systems do that by themselves and allow nobody to ask
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
