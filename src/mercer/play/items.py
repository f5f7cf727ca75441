"""What is on the pages of words and of graphs: items in two classes, a kernel, C, and one more to ask about."""

from __future__ import annotations

import ast
import re
import time
from collections import defaultdict
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

from .. import SVC
from ..checks import shown
from ..explain import explain, nearest_support, overview
from ..kernels import (
    Graphs,
    Kernel,
    Mismatch,
    Power,
    Product,
    Spectrum,
    Strings,
    Subsequence,
    WeightedDegree,
    WeisfeilerLehman,
    surroundings,
)
from ..runtime import Array, until
from .fit import certificate_of, collected_warnings
from .requests import cost, kernel_for, labels_of, leaves, list_of, mapping, plain_text, two_names

_MOST_WORDS, _MOST_LETTERS = 200, 200
_MOST_GRAPHS, _MOST_NODES, _LONGEST_LABEL = 60, 30, 12

#: A graph as :class:`mercer.kernels.Graphs` takes it: the number of its nodes, its edges and the labels of its nodes.
Graph = tuple[int, list[list[int]], list[str]]


@dataclass(frozen=True)
class ItemScene:
    """Items in two classes, checked: ``many`` are "words" or "graphs", each with a label, 0 or 1.

    ``asked`` is the item that is asked about, if there is one.
    """

    many: str
    items: list[Any]
    labels: list[int]
    names: list[str]
    kernel: Kernel
    C: float
    asked: Any


def word_scene(request: dict[str, Any]) -> ItemScene:
    """The scene of a request with ``words``.

    Examples
    --------
    >>> word_scene({"words": ["abab", "cdcd"], "labels": [0, 1], "asked": "ab"}).kernel
    spectrum(p=2)
    """

    def word(given: Any, what: str) -> str:
        value = plain_text(given, what, _MOST_LETTERS)
        if not value:
            raise ValueError(f"{what} is empty; remove it.")
        return value

    asked = plain_text(request.get("asked") or "", "the word asked about", _MOST_LETTERS) or None
    kernel = kernel_for(request, "strings", "spectrum(p=2)")
    return _scene(request, "word", _MOST_WORDS, word, kernel, asked)


def graph_scene(request: dict[str, Any]) -> ItemScene:
    """The scene of a request with ``graphs``.

    Examples
    --------
    >>> chain = {"nodes": ["C", "O"], "edges": [[0, 1]]}
    >>> graph_scene({"graphs": [chain, chain], "labels": [0, 1]}).items[0]
    (2, [[0, 1]], ['C', 'O'])
    """
    asked = None if request.get("asked") is None else _graph(request["asked"], "the graph asked about")
    kernel = kernel_for(request, "graphs", "weisfeilerlehman(h=2)")
    return _scene(request, "graph", _MOST_GRAPHS, _graph, kernel, asked)


def _scene(
    request: dict[str, Any], one: str, most: int, item: Callable[[Any, str], Any], kernel: Kernel, asked: Any
) -> ItemScene:
    many = f"{one}s"
    given = list_of(request.get(many), f"the {many}", most)
    items = [item(each, f"{one} {place}") for place, each in enumerate(given, 1)]
    labels = labels_of(request, many, len(items))
    return ItemScene(many, items, labels, two_names(request), kernel, cost(request), asked)


def _graph(given: Any, what: str) -> Graph:
    parts = mapping(given, what)
    nodes = list_of(parts.get("nodes"), f"the nodes of {what}", _MOST_NODES)
    edges = list_of(parts.get("edges"), f"the edges of {what}", _MOST_NODES**2)
    if not nodes:
        raise ValueError(f"{what} has no nodes; give it one or more.")
    labels = [plain_text(label, f"label {place} of {what}", _LONGEST_LABEL) for place, label in enumerate(nodes, 1)]
    for edge in edges:
        whole = isinstance(edge, list) and len(edge) == 2 and all(type(end) is int for end in edge)
        if not whole or not all(0 <= end < len(nodes) for end in edge) or edge[0] == edge[1]:
            raise ValueError(
                f"an edge of {what} should be two different node numbers from 0 to {len(nodes) - 1}, got {shown(edge)}."
            )
    return len(nodes), edges, labels


# Whether the features of some items can be written out: a product of kernels has more of them than memory.


#: Letters of the names of all features of all items that are written out.
_MOST_NAME_LETTERS = 2e6
#: Neighbours of substrings that are counted.
_MOST_NEIGHBOURS = 3e6
#: A letter of a subsequence is written in quotes, with dots between it and the next.
_LETTER_WITH_DOTS = 6.0
#: What a feature takes that is a small part of a graph or a pair of its nodes.
_FEATURE = 100.0


def too_many_to_list(kernel: Kernel, items: Any) -> bool:
    """Whether the names of the features of these items would fill more letters than anybody can hold.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> words = ["statistics", "computation"]
    >>> too_many_to_list(Spectrum(p=2), words), too_many_to_list(Spectrum(p=2) ** 9, words)
    (False, True)
    """
    return len(items) * _letters(kernel, kernel.items(items)) > _MOST_NAME_LETTERS


def refuse_giants(kernel: Kernel, items: Any) -> None:
    """Raise where a kernel would count more neighbours of substrings than fit into a moment."""
    for leaf in leaves(kernel):
        if isinstance(leaf, Mismatch):
            neighbours = leaf._statistic.ball * float(Strings.of(items).codes.size)
            if neighbours > _MOST_NEIGHBOURS:
                raise ValueError(
                    f"{leaf} gives these words {neighbours:.1g} neighbours; take a smaller k or m, or fewer words."
                )


def _letters(kernel: Kernel, items: Any) -> float:
    """At most so many letters stand in the names of the features of one of the items."""
    inner = [_letters(part, form) for part, form in zip(kernel.parts(), kernel.part_items(items))]
    if isinstance(kernel, Power):
        return inner[0] ** float(kernel.exponent)
    if isinstance(kernel, Product):
        return inner[0] * inner[1]
    return sum(inner) if inner else _letters_of_one(kernel, items)


def _letters_of_one(kernel: Kernel, items: Any) -> float:
    if isinstance(items, Strings):
        return _letters_of_words(kernel, float(np.diff(items.starts).max(initial=0)))
    if isinstance(kernel, WeisfeilerLehman):
        return max((_surroundings(items, graph, int(kernel.h)) for graph in range(len(items))), default=0.0)
    return _FEATURE * float(items.sizes.max(initial=0)) if isinstance(items, Graphs) else 0.0


def _letters_of_words(kernel: Kernel, longest: float) -> float:
    if isinstance(kernel, Spectrum):
        return longest * sum(statistic.size for _, statistic in kernel._weighted())
    if isinstance(kernel, Mismatch):
        return longest * kernel._statistic.ball * float(kernel.k)
    if isinstance(kernel, Subsequence):
        return float(special.comb(longest, kernel.k)) * _LETTER_WITH_DOTS * float(kernel.k)
    return longest * min(float(kernel.k), longest) ** 2 if isinstance(kernel, WeightedDegree) else 0.0


def _surroundings(graphs: Graphs, place: int, rounds: int) -> float:
    """The letters of the names of all surroundings of a graph's nodes: a name holds those of all neighbours, so that
    it grows by a factor in each round."""
    first, stop = graphs.node_starts[place], graphs.node_starts[place + 1]
    size = int(stop - first)
    joined = np.zeros((size, size))
    owner = np.repeat(np.arange(size), np.diff(graphs.starts[first : stop + 1]))
    joined[owner, graphs.neighbours[graphs.starts[first] : graphs.starts[stop]]] = 1.0
    names = np.full(size, 2.0)
    total = names.sum()
    for _ in range(rounds):
        names = names + 2.0 + joined @ (names + 1.0)
        total += names.sum()
    return float(total)


# A support vector machine on two classes of words or graphs, and all that the page shows of it.


#: Kinds of kernels whose compiled code is there already: making it takes seconds, once, that are not the kernel's own.
_COMPILED: set[type[Kernel]] = set()
#: Seconds after which an answer is given up, and those for a kernel that is met for the first time.
_PATIENCE, _PATIENCE_AT_FIRST = 5.0, 60.0
#: How many features of the machine are told, support items like the asked one, and features of that one.
_FEATURES, _NEAREST, _SPECTRUM = 30, 6, 400
#: Digits of a similarity that a page of coloured cells can show.
_DIGITS = 4


def within_time(machine: ItemMachine, scene: ItemScene) -> dict[str, Any]:
    """What is known of a scene's machine and of the item asked about, or that it takes longer than anybody would wait.

    Examples
    --------
    >>> from mercer.play.items import word_scene
    >>> scene = word_scene({"words": ["aa", "bb"], "labels": [0, 1], "asked": "aab"})
    >>> within_time(ItemMachine.of(scene), scene)["asked"]["label"]
    0
    """
    # In a context of its own: the deadline of whoever asks would be over before code is compiled for the first time.
    return Context().run(_answered, machine, scene)


def _answered(machine: ItemMachine, scene: ItemScene) -> dict[str, Any]:
    refuse_giants(machine.kernel, machine.items)
    kinds = {type(leaf) for leaf in leaves(machine.kernel)}
    patience = _PATIENCE if kinds <= _COMPILED else _PATIENCE_AT_FIRST
    with until(time.monotonic() + patience), collected_warnings() as warned:
        facts = machine.facts()
        about = None if scene.asked is None else machine.about(scene.asked)
        _COMPILED.update(kinds)
        return {**facts, "asked": about, "notes": [*facts["notes"], *warned]}
    what = f"{len(scene.items)} {scene.many}"
    raise ValueError(f"{machine.kernel} takes more than {patience:g} s for {what}; take fewer or smaller ones.")


@dataclass(frozen=True)
class ItemMachine:
    """The machine of some items with labels 0 and 1; positive scores speak for 1.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> machine = ItemMachine(["abab", "baba", "cdcd", "dcdc"], [0, 0, 1, 1], Spectrum(p=2), C=10.0)
    >>> machine.facts()["support"]
    [True, True, True, True]
    """

    items: list[Any]
    labels: list[int]
    kernel: Kernel
    C: float

    @classmethod
    def of(cls, scene: ItemScene) -> ItemMachine:
        """The machine of a scene."""
        return cls(scene.items, scene.labels, scene.kernel, scene.C)

    @cached_property
    def model(self) -> SVC:
        return SVC(self.kernel, C=self.C).fit(self.items, self.labels)

    @cached_property
    def alpha(self) -> Array:
        """What each item weighs in the machine, from 0 to C."""
        out = np.zeros(len(self.items))
        out[self.model.support_] = np.abs(self.model.dual_coef_[0])
        return out

    @cached_property
    def _unlisted(self) -> str:
        """Why features are not told; empty where they are."""
        kernel = self.model.kernel_
        if too_many_to_list(kernel, self.items):
            return f"{kernel} has more features than can be listed; the most similar items tell why instead."
        if kernel.named_features(kernel.items(self.items[:1])) is None:
            return f"{kernel} has no features that could be listed; the most similar items tell why instead."
        return ""

    def facts(self) -> dict[str, Any]:
        """What is known of the items and of the machine."""
        model = self.model
        scores = model.decision_function(self.items)
        if not np.isfinite(scores).all():
            raise ValueError(f"{self.kernel} leaves the range of numbers here; take its normalised form.")
        unlisted = self._unlisted
        strongest = [] if unlisted else overview(model, self.items, top=_FEATURES).features
        return {
            "scores": scores.tolist(),
            "alpha": self.alpha.tolist(),
            "support": (self.alpha > 0).tolist(),
            "wrong": ((scores >= 0) != np.array(self.labels)).tolist(),
            "intercept": float(model.intercept_[0]),
            "kernel": str(model.kernel_),
            "certificate": certificate_of(model),
            "matrix": self._similarities().round(_DIGITS).tolist(),
            "features": [
                {"feature": each.name, "weight": each.value if each.label == 1 else -each.value, "items": each.rows}
                for each in strongest
            ],
            "notes": [unlisted] if unlisted else [],
        }

    def _similarities(self) -> Array:
        """The cosine of every pair of items in feature space; 0 where an item has no features at all."""
        kernel = self.model.kernel_
        items = kernel.items(self.items)
        lengths = np.sqrt(np.maximum(kernel.diag(items), 0.0))
        both = lengths[:, None] * lengths
        return np.divide(kernel.matrix(items, items), both, out=np.zeros_like(both), where=both > 0)

    def about(self, asked: Any) -> dict[str, Any]:
        """Why the machine says what it says about an item: every number speaks for class 1 where it is positive."""
        refuse_giants(self.kernel, [asked])
        score = float(self.model.decision_function([asked])[0])
        label = int(score >= 0)  # as ``predict`` has it
        side = 1 if label else -1  # neighbours are told by what they add to the predicted class
        values = self._values(asked)
        most = sorted(values.items(), key=lambda each: -each[1])
        pushes = explain(self.model, asked, label=1, top=len(values)).features if values else []
        return {
            "label": label,
            "score": score,
            "pushes": [
                {"feature": name, "count": values[name], "weight": push / values[name], "push": push}
                for name, push in pushes
            ],
            "spectrum": [{"feature": name, "count": value} for name, value in most[:_SPECTRUM]],
            "nearest": [
                {
                    "place": each["place"],
                    "similarity": each["similarity"],
                    "alpha": float(self.alpha[each["place"]]),
                    "label": self.labels[each["place"]],
                    "push": side * each["adds"],
                }
                for each in nearest_support(self.model, asked, top=_NEAREST)
            ],
        }

    def _values(self, asked: Any) -> dict[str, float]:
        """The features of an item by name, those of one name in several parts of a kernel together."""
        kernel = self.model.kernel_
        if self._unlisted or too_many_to_list(kernel, [asked]):
            return {}
        values: dict[str, float] = defaultdict(float)
        for features in kernel.named_features(kernel.items([asked])) or []:
            for name, value in features.items():
                values[name.text] += value
        return dict(values)


# The answer to words in two classes: a machine with a string kernel, and why it says what it says of one more.


#: A substring as features are named, and the place it is bound to where it is.
_SUBSTRING = re.compile(r"(?P<text>'.*'|\".*\")(?: at (?P<place>\d+))?", re.DOTALL)


def words(request: dict) -> dict:
    """What a support vector machine makes of words in two classes.

    The request has ``words``, ``labels`` (0 or 1 each), ``names`` of the classes, ``kernel`` as text, ``C`` and, where
    one more word is asked about, ``asked``. The answer has scores, coefficients and similarities of the words, the
    strongest features, and what is known of the word asked about. Positive numbers speak for the second class.

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


# The answer to graphs in two classes: a machine with a graph kernel, and why it says what it says of one more.


def graphs(request: dict) -> dict:
    """What a support vector machine makes of graphs in two classes, as :func:`words` does of words.

    Each of the ``graphs`` has the labels of its ``nodes``, and ``edges`` as pairs of node numbers.

    Examples
    --------
    >>> ring = {"nodes": ["C", "C", "C"], "edges": [[0, 1], [1, 2], [2, 0]]}
    >>> chain = {"nodes": ["C", "C", "C"], "edges": [[0, 1], [1, 2]]}
    >>> answer = graphs({"graphs": [ring, chain], "labels": [0, 1], "kernel": "weisfeilerlehman(h=1)", "asked": chain})
    >>> answer["wrong"], answer["asked"]["label"], answer["asked"]["spectrum"][0]
    ([False, False], 1, {'feature': 'C', 'count': 3.0})
    """
    scene = graph_scene(request)
    machine = ItemMachine.of(scene)
    answer = within_time(machine, scene)
    if scene.asked is not None:
        about = answer["asked"]
        about |= {"name": scene.names[about["label"]]}
        about |= {"nodes": node_pushes(scene.asked, about["pushes"], machine.kernel)}
    return answer


def node_pushes(graph: Graph, pushes: list[dict[str, Any]], kernel: Kernel) -> list[float] | None:
    """What each node of a graph adds to its score: the push of its surroundings, shared by all nodes that have them.

    ``None`` where features are not the surroundings of nodes, so that they belong to no node.

    Examples
    --------
    >>> from mercer.kernels import WeisfeilerLehman
    >>> pushes = [{"feature": "C(O)", "push": 1.0}]
    >>> node_pushes((3, [[0, 1], [1, 2]], ["C", "O", "C"]), pushes, WeisfeilerLehman(h=1))
    [0.5, 0.0, 0.5]
    """
    rounds = [int(leaf.h) if isinstance(leaf, WeisfeilerLehman) else None for leaf in leaves(kernel)]
    known = [each for each in rounds if each is not None]
    if not pushes or len(known) < len(rounds):
        return None
    left = {each["feature"]: each["push"] for each in pushes}
    out = [0.0] * graph[0]
    for names in surroundings(graph, max(known)):
        for node, name in enumerate(names):
            if name in left:
                out[node] += left[name] / names.count(name)
        left = {name: push for name, push in left.items() if name not in names}
    return None if left else out
