"""The answer to ``/api/choices``: what there is to choose from on the page."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .. import __version__
from .examples import EXAMPLES
from .on_offer import LEARNERS, SLIDERS, Offered

__all__ = ["choices"]

#: Kernels as the page suggests them: name, text, and what they compare.
KERNELS = [
    ("gaussian", "gaussian(gamma=?)", "Near points are alike: exp(−γ‖x − z‖²)."),
    ("linear", "linear", "A straight line: x·z."),
    ("polynomial 2", "polynomial(degree=2, gamma=?)", "Conic sections: (γ·x·z + 1)²."),
    ("polynomial 3", "polynomial(degree=3, gamma=?)", "Cubic curves: (γ·x·z + 1)³."),
    ("laplacian", "laplacian(gamma=?)", "Near points are alike, with kinks: exp(−γ‖x − z‖₁)."),
    ("matern", "matern(nu=1.5, length=?)", "Smooth once: between the Laplacian and the Gaussian."),
    ("sum", "gaussian(gamma=?) + linear", "A slope, and hills on it: kernels add up."),
    ("product", "gaussian(gamma=?) * polynomial(degree=2)", "Both have to agree: kernels multiply."),
    ("normalised", "normalised(polynomial(degree=3, gamma=?))", "Angles in feature space alone."),
]
WORD_KERNELS = [
    ("letters", "normalised(spectrum(p=1))", "The same letters, in any order."),
    ("pairs", "normalised(spectrum(p=2))", "Common pairs of letters."),
    ("1 to 3 letters", "normalised(spectrum(p=(1, 3)))", "Common substrings of one to three letters."),
    ("with gaps", "normalised(subsequence(k=2, decay=0.5))", "Common letters in the same order, gaps allowed."),
    ("whole words", "normalised(spectrum(p=1, tokens='words'))", "Common words of two phrases."),
    ("place by place", "weighteddegree(k=4)", "Common substrings at the same place, in words of one length."),
    ("alignment", "localalignment", "The parts that align best: not always a kernel, and then refused."),
]
GRAPH_KERNELS = [
    ("surroundings", "weisfeilerlehman(h=2)", "Nodes with the same surroundings, up to two steps wide."),
    ("matched nodes", "weisfeilerlehmanassignment(h=2)", "Nodes paired one to one by their surroundings."),
    ("distances", "normalised(shortestpath)", "Pairs of nodes with the same labels at the same distance."),
    ("small parts", "graphlet(size=4, scale='cosine')", "Parts of four nodes of the same shape; labels do not count."),
    ("walks", "normalised(randomwalk(decay=0.03))", "Walks that both can take."),
]


def choices(request: dict[str, Any]) -> dict[str, Any]:
    """Learners by task, kernels, sliders and data. Nothing in it depends on the request."""
    return {
        "version": __version__,
        "learners": {task: [_learner(each) for each in known.values()] for task, known in LEARNERS.items()},
        "kernels": _kernels(KERNELS),
        "word_kernels": _kernels(WORD_KERNELS),
        "graph_kernels": _kernels(GRAPH_KERNELS),
        "data": [{"name": name, "title": example.title, "task": example.task} for name, example in EXAMPLES.items()],
        "sliders": {name: asdict(slider) for name, slider in SLIDERS.items()},
    }


def _learner(offered: Offered) -> dict[str, Any]:
    return {
        "name": offered.name,
        "title": offered.title,
        "help": offered.help,
        "sliders": list(offered.sliders),
        "kernelised": True,
        "steps": offered.steps,
        "surface": offered.cost is not None,
        "cost": offered.cost,
    }


def _kernels(listed: list[tuple[str, str, str]]) -> list[dict[str, str]]:
    return [{"name": name, "text": text, "help": help_text} for name, text, help_text in listed]
