"""Open files that one process at a time holds. The system lets go of them when a process ends, however that is."""

from __future__ import annotations

import os

__all__ = ["hold", "release"]


def hold(handle: int, wait: bool = True) -> bool | None:
    """Hold an open file until it is closed.

    Parameters
    ----------
    handle : int
        As ``os.open`` gives it.
    wait : bool, default=True
        Whether to wait until nobody else holds it.

    Returns
    -------
    bool or None
        ``False`` where somebody else holds it; ``None`` where the system or the file system has no locks.

    Examples
    --------
    >>> import os, tempfile
    >>> path = tempfile.NamedTemporaryFile().name
    >>> first, second = (os.open(path, os.O_CREAT | os.O_RDWR) for _ in range(2))
    >>> hold(first), hold(second, wait=False)
    (True, False)
    >>> os.close(first)
    >>> hold(second, wait=False)
    True
    >>> os.unlink(path)
    """
    try:
        import fcntl
    except ImportError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def release(handle: int) -> None:
    """Let go of an open file and close it; also for processes that were forked meanwhile, and have it open still."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_UN)
    except (ImportError, OSError):
        pass
    os.close(handle)
