"""The graphics card: where it is, and what to say where it is not.

``torch`` and ``triton`` are imported here and only when something is to be computed. Triton's interpreter
(``TRITON_INTERPRET=1``) takes the place of a card where there is none: slow, and for tests.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

__all__ = ["available", "device", "free_memory", "interpreted", "refuse_without_card"]

#: Bytes that the interpreter may take for those of a card.
_INTERPRETED = 10**9


def interpreted() -> bool:
    """Whether Triton's interpreter is asked for."""
    return os.environ.get("TRITON_INTERPRET", "0") not in ("", "0")


def available() -> bool:
    """Whether there is a graphics card to compute on, or the interpreter stands for one."""
    if find_spec("torch") is None or find_spec("triton") is None:
        return False
    import torch

    return interpreted() or torch.cuda.is_available()


def refuse_without_card() -> None:
    """Raise where nothing can be computed on a graphics card, saying what is missing."""
    missing = [name for name in ("torch", "triton") if find_spec(name) is None]
    if missing:
        raise ImportError(f'device="cuda" needs {" and ".join(missing)}; install mercer[gpu], or leave device out.')
    if not available():
        raise RuntimeError(
            'device="cuda" needs a graphics card of NVIDIA\'s with its driver, and torch sees none; leave device out.'
        )


def device() -> Any:
    """Where tensors live."""
    import torch

    return torch.device("cpu" if interpreted() else "cuda")


def free_memory() -> int:
    """Bytes that are free on the card, those that torch keeps for later included."""
    import torch

    if interpreted():
        return _INTERPRETED
    return torch.cuda.mem_get_info()[0] + torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
