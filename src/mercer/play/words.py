"""The answer to words in two classes: a machine with a string kernel, and why it says what it says of one more."""

from __future__ import annotations

import ast
import re
from typing import Any

from .item_machine import ItemMachine, within_time
from .item_scene import ItemScene, word_scene
from .request_fields import leaves

__all__ = ["words"]

#: A substring as features are named, and the place it is bound to where it is.
_SUBSTRING = re.compile(r"(?P<text>'.*'|\".*\")(?: at (?P<place>\d+))?", re.DOTALL)


def words(request: dict) -> dict:
    """What a support vector machine makes of words in two classes.

    Parameters
    ----------
    request : dict
        ``words``, ``labels`` (0 or 1 each), ``names`` of the classes, ``kernel`` as text, ``C`` and, where one more
        word is asked about, ``asked``.

    Returns
    -------
    dict
        Scores, coefficients and similarities of the words, the strongest features, and what is known of the word
        asked about. Positive numbers speak for the second class.

    Examples
    --------
    >>> answer = words({"words": ["abab", "baba", "cdcd", "dcdc"], "labels": [0, 0, 1, 1], "asked": "cdab"})
    >>> answer["kernel"], answer["wrong"], answer["asked"]["spectrum"][0]
    ('spectrum(p=2)', [False, False, False, False], {'feature': "'cd'", 'count': 1.0})
    """
    scene = word_scene(request)
    machine = ItemMachine.of(scene)
    answer = within_time(machine, scene)
    if scene.asked:
        answer["asked"] |= _in_words(machine, scene, answer["asked"])
    return answer


def _in_words(machine: ItemMachine, scene: ItemScene, about: dict[str, Any]) -> dict[str, Any]:
    word = scene.asked
    nearest = [{**each, "word": machine.items[each["place"]]} for each in about["nearest"]]
    tokens = {getattr(leaf, "tokens", "characters") for leaf in leaves(machine.kernel)}
    letters = None if len(tokens) > 1 else letter_pushes(word, about["pushes"], whole_words=tokens == {"words"})
    return {"word": word, "name": scene.names[about["label"]], "letters": letters, "nearest": nearest}


def letter_pushes(word: str, pushes: list[dict[str, Any]], whole_words: bool = False) -> list[float] | None:
    """What each letter of a word adds to its score: a substring's push, shared by its letters wherever it stands.

    ``whole_words`` says that features are words of a phrase. ``None`` where a feature is no substring of the word, so
    that it belongs to no letters.

    Examples
    --------
    >>> letter_pushes("abab", [{"feature": "'ab'", "push": 2.0}, {"feature": "'ba'", "push": -1.0}])
    [0.5, 0.0, 0.0, 0.5]
    """
    out = [0.0] * len(word)
    for each in pushes:
        text, place = _substring(each["feature"])
        everywhere = [begin for begin in range(len(word)) if word.startswith(text, begin)]
        if whole_words:
            everywhere = [begin for begin in everywhere if _is_whole(word, begin, begin + len(text))]
        places = everywhere if place is None else [place]
        if not text or not places or not set(places) <= set(everywhere):
            return None
        for begin in places:
            for letter in range(begin, begin + len(text)):
                out[letter] += each["push"] / (len(places) * len(text))
    return out if pushes else None


def _is_whole(phrase: str, begin: int, end: int) -> bool:
    """Whether words of a phrase begin and end at these places."""
    return (not begin or phrase[begin - 1].isspace()) and (end == len(phrase) or phrase[end].isspace())


def _substring(feature: str) -> tuple[str, int | None]:
    """The substring that a feature is and the place it is bound to; no text where it is something else."""
    found = _SUBSTRING.fullmatch(feature)
    try:
        text = ast.literal_eval(found["text"]) if found else ""
    except (SyntaxError, ValueError):  # 'a' and 'b', or 'a' … 'b'
        return "", None
    return text, int(found["place"]) if found and found["place"] else None
