"""Which fit to choose: exact where there is time for it, by landmarks where there is not, or on a graphics card."""

from __future__ import annotations

import numpy as np

from .foretelling import Foretold

__all__ = ["in_bytes", "in_seconds", "rank_for", "recommendation"]

#: Seconds that anybody waits, and seconds from which on a graphics card is worth a word.
_PATIENCE, _LONG = 120.0, 1200.0
#: Ranks that are spoken of, and landmarks for each √n: machines generalise with about that many.
_RANKS, _TIMES_ROOT = (100, 200, 300, 500, 1000, 2000), 3.0


def rank_for(n: int) -> int:
    """A number of landmarks that stands for n rows, about 3·√n.

    Examples
    --------
    >>> rank_for(10_000), rank_for(100_000), rank_for(10**9)
    (300, 1000, 2000)
    """
    return int(min(_RANKS, key=lambda rank: abs(np.log(rank / (_TIMES_ROOT * np.sqrt(max(1, n)))))))


def recommendation(exact: Foretold, low_rank: Foretold, rank: int, memory: float, card: bool) -> str:
    """One sentence on what to do, for the exact fit and the one on landmarks as foretold.

    Parameters
    ----------
    exact, low_rank : Foretold
    rank : int
        The landmarks of the second.
    memory : float
        Bytes of memory that the computer has.
    card : bool
        Whether it has a graphics card that can be used.
    """
    if exact.seconds <= _PATIENCE and exact.bytes <= memory:
        return f"exact: {in_seconds(exact.seconds)} and {in_bytes(exact.bytes)} are nothing to save on."
    short = "time" if exact.bytes <= memory else "memory"
    if card:
        return f"exact on the graphics card (--set device=cuda), as the processor is short of {short}."
    words = (
        f"landmarks (--set rank={rank}): {in_seconds(low_rank.seconds)} in place of {in_seconds(exact.seconds)}"
        if short == "time"
        else f"landmarks (--set rank={rank}): an exact fit takes {in_bytes(exact.bytes)}, more than this computer has"
    )
    gpu = " A graphics card (device=cuda) would make the exact fit many times faster." if exact.seconds > _LONG else ""
    return f"{words}.{gpu}"


def in_seconds(value: float) -> str:
    """A time in words, as exact as it can be foretold.

    Examples
    --------
    >>> in_seconds(0.4), in_seconds(44.0), in_seconds(700.0), in_seconds(2e4)
    ('less than a second', 'about 44 s', 'about 12 minutes', 'about 5.6 hours')
    """
    if value < 1:
        return "less than a second"
    if value < 100:
        return f"about {value:.0f} s"
    if value < 5400:
        return f"about {value / 60:.0f} minutes"
    return f"about {value / 3600:.2g} hours" if value < 2e5 else f"about {value / 86400:.0f} days"


def in_bytes(value: float) -> str:
    """A size in words.

    Examples
    --------
    >>> in_bytes(3e5), in_bytes(4.2e8), in_bytes(7.77e10)
    ('less than 1 MB', '420 MB', '78 GB')
    """
    if value < 1e6:
        return "less than 1 MB"
    return f"{value / 1e6:.2g} MB" if value < 9.95e7 else f"{value / 1e6:.0f} MB" if value < 1e9 else _gigabytes(value)


def _gigabytes(value: float) -> str:
    return f"{value / 1e9:.1f} GB" if value < 1e10 else f"{value / 1e9:.0f} GB"
