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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from .table import DataError

Content = bytes | str | Iterable[str]
#: Letters of the file's own name in that of its draft: names have at most 255 bytes, and a letter at most four.
_LETTERS = 40


@contextmanager
def _draft(path: str | Path, data: Content) -> Iterator[tuple[Path, Path]]:
    """A file with all of the data beside the one that it is to replace, safe on the disk; removed in the end.

    It has the owner and permissions of the file that it replaces.
    """
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name[:_LETTERS]}.{secrets.token_hex(8)}.mercer-draft")
    before = _status(target)
    mode = 0o666 if before is None else 0o600
    with _told(path):
        file = open(draft, "xb", opener=lambda name, flags: os.open(name, flags, mode))  # noqa: SIM115  closed below
    try:
        for piece in [data] if isinstance(data, (bytes, str)) else data:
            with _told(path):
                # A text may hold halves of letters, of broken file names say, which UTF-8 has no bytes for.
                file.write(piece.encode(errors="replace") if isinstance(piece, str) else piece)
        with _told(path):
            file.flush()
            if before is not None:
                with contextlib.suppress(OSError, AttributeError):  # only an administrator gives files away
                    os.chown(draft, before.st_uid, before.st_gid)
                os.chmod(draft, stat.S_IMODE(before.st_mode))
            os.fsync(file.fileno())
            file.close()
        yield target, draft
    finally:
        with contextlib.suppress(OSError):
            file.close()
        draft.unlink(missing_ok=True)


def _settle(folder: Path) -> None:
    """Wait until the disk knows the names of a folder."""
    with contextlib.suppress(OSError):  # some file systems do that by themselves and allow nobody to ask
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


#: What is not replaced, in words.
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
}


def refuse_unwritable(path: str | Path, remedy: str = "name a file to write") -> None:
    """Find out before hours of work whether its result can be stored; the remedy is for what no file may replace.

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
        drafts = {path: stack.enter_context(_draft(path, data)) for path, data in files.items()}
        for path in list(files)[:0:-1]:
            with _told(path):
                drafts[path][0].unlink(missing_ok=True)
        for path, (target, draft) in drafts.items():
            with _told(path):
                os.replace(draft, target)
        for folder in {target.parent for target, _ in drafts.values()}:
            _settle(folder)


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
