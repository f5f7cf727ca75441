"""Files that are either written whole or not at all.

What is written takes the place of a regular file, or a place where nothing is. Through a link the file is replaced to
which it leads, and the link stays. Devices, pipes and sockets are never replaced: they are refused.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..runtime.threads import hold
from .table import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

# Files that have no name until they are whole.
#
# A draft is written where nobody sees it: where the system allows (Linux, most file systems), in a file without any
# name, which is gone with the process that wrote it, however that ends. When it is whole and on the disk it gets a
# hidden name and, in the same breath, takes the place of the file that was there. Whoever opens the path sees the old
# file or the new one, both of them whole.
#
# A process may be killed between the two names, or write where there are no files without a name. What it leaves is
# told from the draft of a writer at work by a lock, which the system releases when a process ends: the next writer of
# the same file removes every draft of it that nobody holds.


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


Content = bytes | str | Iterable[str]
#: What is not replaced, in words.
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def refuse_unwritable(path: str | Path, remedy: str = "name a file to write") -> None:
    """Find out before hours of work whether its result can be stored.

    Parameters
    ----------
    path : str or Path
    remedy : str
        What to do instead where the path is nothing that a file may replace.

    Examples
    --------
    >>> refuse_unwritable("/dev/null")
    Traceback (most recent call last):
        ...
    mercer.io.table.DataError: '/dev/null' is a device, which no file replaces; name a file to write.
    """
    if str(path) == "-":
        raise DataError("'-' stands for the standard output, which takes predictions only; name a file to write.")
    if not str(path) or "\0" in str(path):
        raise DataError(f"{str(path)!r} cannot be written: no file has such a name; {remedy}.")
    with _told(path):
        target = Path(os.path.realpath(path))
        found = _status(path)
        if found is None:
            _refuse_new(path, target)
        else:
            _refuse_old(path, target, found, remedy)
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise DataError(f"{str(path)!r} cannot be written: its folder is read-only; write to another one.")


def write_whole(path: str | Path, data: Content) -> None:
    """Write a file so that whoever looks sees the old one or the new one, whole: also after a kill or on a full disk.

    A text may come in pieces, which are written as they come. The permissions of a file that is replaced are kept.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> write_whole(path, "one")
    >>> path.read_text()
    'one'
    """
    write_together({path: data})


def write_together(files: Mapping[str | Path, Content]) -> None:
    """Write files that belong together: no two of them are ever of different writings.

    All of them are whole and on the disk before the first takes its place. Of the old files all but the first are
    removed by then, so that a kill in the middle leaves some of the new ones missing, and none beside an old one.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> write_together({folder / "a.txt": "one", folder / "b.txt": "two"})
    >>> sorted(path.name for path in folder.iterdir())
    ['a.txt', 'b.txt']
    """
    for path in files:
        refuse_unwritable(path)
    with ExitStack() as stack:
        drafts: dict[str | Path, Draft] = {}
        for path, data in files.items():
            with _told(path):
                target = Path(os.path.realpath(path))
                remove_abandoned(target)
                drafts[path] = Draft(target)
            stack.callback(drafts[path].close)
            for piece in [data] if isinstance(data, (bytes, str)) else data:
                with _told(path):
                    # A text may hold halves of letters, of broken file names say, which UTF-8 has no bytes for.
                    drafts[path].write(piece.encode(errors="replace") if isinstance(piece, str) else piece)
            with _told(path):
                drafts[path].finish()
        for path, draft in drafts.items():
            with _told(path):
                draft.get_name()
        for path in list(files)[:0:-1]:
            with _told(path):
                drafts[path].target.unlink(missing_ok=True)
        for path, draft in drafts.items():
            with _told(path):
                draft.take_place()
        for folder in {draft.target.parent for draft in drafts.values()}:
            settle(folder)


@contextmanager
def _told(path: str | Path) -> Iterator[None]:
    """Inside this block, what the system objects to becomes a sentence about this path."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        remedy = "; make room, or write to another folder" if full else ""
        raise DataError(f"{str(path)!r} cannot be written: {error.strerror or error}{remedy}.") from None


def _status(path: str | Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _refuse_new(path: str | Path, target: Path) -> None:
    """A place where nothing is needs a folder."""
    if str(path).endswith(("/", os.sep)):
        raise DataError(f"{str(path)!r} is a folder; name a file to write.")
    if not target.parent.is_dir():
        folder = target.parent if Path(path).is_symlink() else Path(path).parent
        raise DataError(f"{str(path)!r} cannot be written: there is no folder {str(folder)!r}; make it first.")


def _refuse_old(path: str | Path, target: Path, found: os.stat_result, remedy: str) -> None:
    """What is there must be a regular file, not protected, and not the one that is being printed to."""
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "no ordinary file")
        ending = "" if kind == "a folder" else ", which no file replaces"
        raise DataError(f"{str(path)!r} is {kind}{ending}; {remedy}.")
    if not target.exists() or any(_is_open_as(stream, found) for stream in (1, 2)):
        raise DataError(f"{str(path)!r} is where this command prints to; {remedy}.")
    if not os.access(path, os.W_OK):
        raise DataError(f"{str(path)!r} cannot be written: it is read-only; allow writing to it, or name another file.")


def _is_open_as(stream: int, found: os.stat_result) -> bool:
    """Whether this is the file behind the standard output (1) or the standard error (2)."""
    try:
        opened = os.fstat(stream)
    except OSError:  # it is closed
        return False
    return (opened.st_dev, opened.st_ino) == (found.st_dev, found.st_ino)
