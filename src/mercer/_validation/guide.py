"""Where the guide explains the idea behind a message. Pages have their names here and nowhere else.

A page is a file in ``docs/`` without its suffix; after ``#`` may stand a heading of it.
"""

from __future__ import annotations

__all__ = ["PAGES", "guide"]

#: The page of each idea that messages and help point to.
PAGES: dict[str, str] = {
    "certificates": "ideas/trust",
    "choosing": "choosing",
    "class weights": "ideas/probabilities",
    "files": "start",
    "good kernels": "ideas/good_kernels",
    "kernels": "ideas/kernels",
    "leakage": "ideas/tuning",
    "losses": "ideas/losses",
    "memory": "ideas/scaling",
    "new kernel": "extending/kernel",
    "own parts": "extending/index",
    "pegasos": "ideas/pegasos",
    "perceptron": "ideas/perceptron",
    "probabilities": "ideas/probabilities",
    "scaling columns": "ideas/kernels",
    "soft margin": "ideas/soft_margin",
    "structures": "ideas/structures",
    "tuning": "ideas/tuning",
}


def guide(idea: str) -> str:
    """The page about an idea, as the end of a sentence names it.

    Parameters
    ----------
    idea : str
        One of :data:`PAGES`.

    Returns
    -------
    str

    Examples
    --------
    >>> f"the best value is the largest that was tried {guide('tuning')}."
    'the best value is the largest that was tried (guide: ideas/tuning).'
    """
    return f"(guide: {PAGES[idea]})"
