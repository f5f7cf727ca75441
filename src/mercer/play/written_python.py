"""A scene as a Python script that makes the machine again and draws it."""

from __future__ import annotations

from typing import Any

from .scene import Scene
from .written_command import settings

__all__ = ["python"]

_HEAD = '''"""A picture of mercer play, made again."""

import matplotlib.pyplot as plt
import numpy as np
{imports}

points = np.array({points})
{targets}
{machine}
'''

_CLASSES = """
model.fit(points, labels)
print(f"training error {np.mean(model.predict(points) != labels):.4f}")

low, high = points.min(axis=0), points.max(axis=0)
edge = 0.15 * np.where(high > low, high - low, 1.0)
across, up = (np.linspace(low[k] - edge[k], high[k] + edge[k], 200) for k in (0, 1))
places = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
scores = model.decision_function(places)
if scores.ndim == 1:
    plt.contourf(across, up, scores.reshape(200, 200), 20, cmap="RdBu", alpha=0.5)
    plt.contour(across, up, scores.reshape(200, 200), {levels}, colors="black", linestyles={styles})
else:
    plt.contourf(across, up, model.predict(places).reshape(200, 200), np.arange(-0.5, len(names)), alpha=0.4)
for label, name in enumerate(names):
    plt.scatter(*points[labels == label].T, label=name, edgecolors="black")
plt.legend()
"""

_NOVELTY = """
model.fit(points)
print(f"{np.sum(model.predict(points) < 0)} of {len(points)} points are outside")

low, high = points.min(axis=0), points.max(axis=0)
edge = 0.25 * np.where(high > low, high - low, 1.0)
across, up = (np.linspace(low[k] - edge[k], high[k] + edge[k], 200) for k in (0, 1))
places = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
scores = model.decision_function(places).reshape(200, 200)
plt.contourf(across, up, scores, 20, cmap="Blues", alpha=0.6)
plt.contour(across, up, scores, [0], colors="black")
plt.scatter(*points.T, edgecolors="black")
"""

_NUMBERS = """
model.fit(points[:, :1], points[:, 1])
band = Conformal(clone(model), {method!r}, coverage={coverage!r}, random_state={seed!r})
band.fit(points[:, :1], points[:, 1])

low, high = points[:, 0].min(), points[:, 0].max()
across = np.linspace(low, high, 200)
plt.fill_between(across, *band.predict_interval(across[:, None]).T, alpha=0.2, label={name!r})
plt.plot(across, model.predict(across[:, None]))
plt.scatter(*points.T, edgecolors="black")
plt.legend()
"""

_TAIL = """plt.xlabel({across!r})
plt.ylabel({up!r})
plt.show()
"""


def python(scene: Scene) -> str:
    """The whole script. Whatever somebody has typed stands in it as a literal."""
    estimator, given = scene.offered.estimator, settings(scene)
    names = [estimator, *(["Conformal"] if scene.task == "numbers" else [])]
    imports = ["from sklearn.base import clone"] if scene.task == "numbers" else []
    if scene.scaled:
        imports += ["from sklearn.pipeline import make_pipeline", "from sklearn.preprocessing import StandardScaler"]
    imports += [f"from mercer import {', '.join(sorted(names))}"]
    if (loss := given.get("loss")) is not None and not isinstance(loss, str):
        imports.append(f"from mercer.losses import {type(loss).__name__}")
    head = _HEAD.format(
        imports="\n".join(imports), points=_rows(scene), targets=_targets(scene), machine=_machine(scene, given)
    )
    return head + _picture(scene) + _TAIL.format(across=scene.axes[0], up=scene.axes[1])


def _rows(scene: Scene) -> str:
    rows = "".join(f"    [{x!r}, {y!r}],\n" for x, y in scene.points.tolist())
    return f"[\n{rows}]"


def _targets(scene: Scene) -> str:
    if scene.task != "classes":
        return ""
    labels, lines = scene.labels.tolist(), []
    for begin in range(0, len(labels), 35):
        lines.append(f"    {', '.join(map(str, labels[begin : begin + 35]))},\n")
    return f"names = {list(scene.names)!r}\nlabels = np.array([\n{''.join(lines)}])\n"


def _machine(scene: Scene, given: dict[str, Any]) -> str:
    from .. import estimators

    known = getattr(estimators, scene.offered.estimator)._get_param_names()
    seeded = {"random_state": scene.seed} if "random_state" in known else {}
    words = [repr(scene.kernel_text), *(f"{name}={value!r}" for name, value in {**given, **seeded}.items())]
    made = f"{scene.offered.estimator}({', '.join(words)})"
    return f"model = make_pipeline(StandardScaler(), {made})" if scene.scaled else f"model = {made}"


def _picture(scene: Scene) -> str:
    if scene.task == "novelty":
        return _NOVELTY
    if scene.task == "numbers":
        from .curve import band_method

        name = f"{100 * scene.coverage:g} % of new targets"
        return _NUMBERS.format(method=band_method(scene), coverage=scene.coverage, seed=scene.seed, name=name)
    levels, styles = ([-1, 0, 1], ["--", "-", "--"]) if scene.offered.margins else ([0], ["-"])
    return _CLASSES.replace("{levels}", repr(levels)).replace("{styles}", repr(styles))
