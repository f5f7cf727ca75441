"""Draw the picture of the page "Which learner, which kernel?": ``python docs/draw_choosing.py``.

Questions stand in a column; "yes" leads to the right, "no" down to the next question. Colours are those of the page
where the picture is part of one, so that it follows its light and dark mode, and others where it stands alone.
"""

from html import escape
from pathlib import Path
from typing import NamedTuple

WIDTH, LEFT, GAP, MARGIN = 720, 264, 48, 4
LINE, PADDING, BETWEEN, HEADING = 20, 14, 26, 46


class Step(NamedTuple):
    """A question, and what to do where its answer is yes: a line of code and what to know, in lines."""

    question: list[str]
    code: str
    advice: list[str]
    elsewhere: bool = False  # another kind of model may be better


LEARNERS = [
    Step(
        ["Just a table, and no wish", "to choose?"],
        "mercer compare data.csv",
        ["tunes all learners that suit it, boosted trees too,", "tests on unseen rows and says which to take"],
    ),
    Step(
        ["No labels: which rows", "are outliers?"],
        "OneClassSVM(nu=0.05)",
        ["nu bounds the share outside; SVDD for a ball"],
    ),
    Step(
        ["Strings, sets or graphs?"],
        "SVC(kernel), KernelClassifier(kernel)",
        ["any learner; the kernel decides, see below"],
    ),
    Step(
        ["Sparse words or counts, or", "more columns than rows?"],
        'SVC("linear")',
        ["a linear model is often as good and far cheaper;", "logistic: KernelClassifier(None)"],
        elsewhere=True,
    ),
    Step(
        ["Many mixed columns, jumps,", "most of them useless?"],
        "boosted trees",
        ["often better: compare; kernels by column (.on)", "or a Mixture where few columns matter"],
        elsewhere=True,
    ),
    Step(
        ["More rows than an exact fit", "has time for (mercer check)?"],
        'rank=1000, or device="cuda"',
        ["landmarks, also from files (mercer.scan) or on a", "cluster; a card does a million rows exactly"],
    ),
    Step(
        ["Numbers to predict, and one", "guess is enough?"],
        "KernelRegressor()",
        ['"huber" where targets have outliers; SVR for', "a model of few rows"],
    ),
    Step(
        ["Numbers, and how far they", "may be off?"],
        "Conformal(KernelQuantiles())",
        ["intervals that contain 90 % of new targets"],
    ),
    Step(
        ["Classes, with probabilities", "or costs?"],
        'KernelClassifier("rbf", "logistic")',
        ["softmax for several classes; or Calibrated(SVC()),", "costs=, TunedThreshold"],
    ),
    Step(
        ["Rows come one by one, or", "you study the algorithms?"],
        "Pegasos(), Perceptron()",
        ["partial_fit, mistake bounds, averages"],
    ),
]
LEARNERS_END = ('SVC("rbf", C=…)', ["the exact soft margin; tune C and gamma by KernelSearchCV"])

KERNELS = [
    Step(
        ["Strings?"],
        "Normalised(Spectrum(p=3))",
        ["Mismatch where letters change, WeightedDegree", 'where places count, tokens="words" for texts'],
    ),
    Step(["Sets or counts of items?"], "MinMax()", ["or Normalised(Intersection()), Subsets"]),
    Step(
        ["Graphs?"],
        "Normalised(WeisfeilerLehman(h=4))",
        ["ShortestPath where distances count, Graphlet", "without labels; Diffusion between nodes"],
    ),
    Step(
        ["Columns of different kinds?"],
        'Gaussian().on("age") + Equal().on("job")',
        ["+ alike in one, * alike in both;", "Mixture([...]) learns which matter"],
    ),
    Step(["Products of a few columns", "explain it?"], "Polynomial(degree=2)", ["or 3; scale columns first"]),
    Step(["Rough, with kinks and spikes?"], "Laplacian(), Matern()", ["less smooth than the Gaussian"]),
]
KERNELS_END = ('"rbf" = Gaussian(gamma="scale")', ["numbers, standardised: begin here, search gamma"])

STYLE = """
  .choosing text { font: 15px system-ui, sans-serif; fill: var(--pst-color-text-base, #222832); }
  .choosing .code { font: 600 14px ui-monospace, monospace; }
  .choosing .heading { font: 700 19px system-ui, sans-serif; }
  .choosing .way { font-size: 13px; fill: var(--pst-color-text-muted, #48566b); }
  .choosing rect { fill: var(--pst-color-surface, #f3f4f5); stroke: var(--pst-color-border, #c9c9c9); }
  .choosing .question { stroke: var(--pst-color-primary, #0a7d91); stroke-width: 2; }
  .choosing .elsewhere { stroke: var(--pst-color-warning, #ee9040); stroke-width: 2; stroke-dasharray: 6 4; }
  .choosing path { stroke: var(--pst-color-text-muted, #48566b); stroke-width: 1.5; fill: none; }
  .choosing .head { fill: var(--pst-color-text-muted, #48566b); stroke: none; }
"""
DESCRIPTION = "Questions from top to bottom; yes leads to an answer on the right, no to the next question."


def text(x: float, y: float, words: str, kind: str = "") -> str:
    """A line of text."""
    marked = f' class="{kind}"' if kind else ""
    return f'<text x="{x:g}" y="{y:g}"{marked}>{escape(words, quote=False)}</text>'


def box(x: float, y: float, width: float, lines: list[tuple[str, str]], kind: str) -> tuple[str, float]:
    """A box around lines of text, each with its kind, and its height."""
    height = 2 * PADDING + LINE * len(lines) - 6
    drawn = [f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="8" class="{kind}"/>']
    for place, (words, own) in enumerate(lines):
        drawn.append(text(x + PADDING, y + PADDING + LINE * place + 11, words, own))
    return "\n".join(drawn), height


def arrow(x: float, y: float, dx: float, dy: float, word: str) -> str:
    """An arrow to the right or down, with a word beside it."""
    end_x, end_y = x + dx, y + dy
    head = f"M{end_x:g},{end_y:g} l-8,-4 v8 z" if dx else f"M{end_x:g},{end_y:g} l-4,-8 h8 z"
    beside = text(x + 12, y - 5, word, "way") if dx else text(x + 8, y + dy / 2 + 4, word, "way")
    return f'<path d="M{x:g},{y:g} l{dx:g},{dy:g}"/><path class="head" d="{head}"/>{beside}'


def column(y: float, heading: str, steps: list[Step], ending: tuple[str, list[str]]) -> tuple[list[str], float]:
    """Questions under a heading, and where they end."""
    drawn = [text(MARGIN, y + 22, heading, "heading")]
    y += HEADING
    right, width = MARGIN + LEFT + GAP, WIDTH - 2 * MARGIN - LEFT - GAP
    for step in steps:
        answer = [(step.code, "code"), *((line, "") for line in step.advice)]
        asked, asked_height = box(MARGIN, y, LEFT, [(line, "") for line in step.question], "question")
        told, told_height = box(right, y, width, answer, "elsewhere" if step.elsewhere else "answer")
        below = y + max(asked_height, told_height) + BETWEEN
        drawn += [asked, told, arrow(MARGIN + LEFT, y + asked_height / 2, GAP, 0, "yes")]
        drawn.append(arrow(MARGIN + 40, y + asked_height, 0, below - y - asked_height, "no"))
        y = below
    code, advice = ending
    told, height = box(MARGIN, y, WIDTH - 2 * MARGIN, [(code, "code"), *((line, "") for line in advice)], "answer")
    return [*drawn, told], y + height


def picture() -> str:
    """The whole picture."""
    learners, y = column(MARGIN, "Which learner?", LEARNERS, LEARNERS_END)
    kernels, y = column(y + 30, "Which kernel?", KERNELS, KERNELS_END)
    title = '<title id="choosing-title">Which learner, which kernel?</title>'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="choosing" viewBox="0 0 {WIDTH} {y + MARGIN:g}" role="img"',
            ' style="width: 100%; min-width: 560px" aria-labelledby="choosing-title choosing-desc">',
            f'{title}\n<desc id="choosing-desc">{DESCRIPTION}</desc>\n<style>{STYLE}</style>',
            *learners,
            *kernels,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    Path(__file__).with_name("_static").joinpath("choosing.svg").write_text(picture(), encoding="utf-8")
