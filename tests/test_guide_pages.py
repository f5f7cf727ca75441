"""Messages point to pages of the guide that exist."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from mercer import SVC, SVR, KernelClassifier, KernelSearchCV, Pegasos, Perceptron
from mercer.datasets import make_margins
from mercer.diagnostics import diagnose
from mercer.messages import PAGES, guide

ROOT = Path(__file__).parents[1]
SOURCES = {path: path.read_text("utf-8") for path in (ROOT / "src" / "mercer").rglob("*.py")}


def anchor(heading):
    """The anchor that a heading of a page has."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("page", sorted({*PAGES.values()}))
def test_every_page_exists_and_has_its_heading(page):
    name, _, wanted = page.partition("#")
    text = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    headings = [anchor(found) for found in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]
    assert headings
    assert not wanted or wanted in headings


def test_pages_have_their_names_in_one_place():
    by_hand = [
        f"{path.name}: {page}"
        for path, text in SOURCES.items()
        for page in re.findall(r"guide: ([\w/]+)", text)
        if page not in PAGES.values()
    ]
    assert not by_hand


def test_every_idea_is_pointed_to():
    everything = "\n".join(text for path, text in SOURCES.items() if path.name != "guide.py")
    assert [idea for idea in PAGES if f'"{idea}"' not in everything and f"'{idea}'" not in everything] == []


X, Y = make_margins(80, random_state=0)


def refused(work):
    """What an error says."""
    with pytest.raises((ValueError, AttributeError)) as caught:
        work()
    return str(caught.value)


def warned(work):
    """What the last warning says."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    return str(caught[-1].message)


@pytest.mark.parametrize(
    ("idea", "said"),
    [
        ("good kernels", lambda: refused(lambda: SVC("sigmoid(gamma=0.0001, coef0=-3)").fit(X, Y))),
        ("probabilities", lambda: refused(lambda: SVC().fit(X, Y).predict_proba(X))),
        ("probabilities", lambda: refused(lambda: KernelClassifier(loss="squared").fit(X, Y).predict_proba(X))),
        ("certificates", lambda: warned(lambda: SVC(C=1e4, max_iter=1, tol=1e-9).fit(X, Y))),
        ("certificates", lambda: warned(lambda: SVR(C=1e4, max_iter=1, tol=1e-9).fit(X, X[:, 0]))),
        ("certificates", lambda: warned(lambda: KernelClassifier(lam=1e-6, max_iter=1).fit(X, Y))),
        ("soft margin", lambda: warned(lambda: SVC("linear", C=np.inf).fit(X, np.arange(80) % 2))),
        ("perceptron", lambda: warned(lambda: Perceptron(epochs=1).fit(X, np.arange(80) % 2))),
        ("pegasos", lambda: warned(lambda: Pegasos(steps=10).fit(X, Y))),
        ("scaling columns", lambda: warned(lambda: SVC("linear").fit(1e-9 * X, Y))),
    ],
)
def test_messages_name_the_page(idea, said):
    message = said()
    assert message.endswith(f" {guide(idea)}."), message


def test_advice_and_diagnoses_name_the_page():
    search = KernelSearchCV(SVC(), {"C": [1e-4, 1e-3]}).fit(X, Y)
    edges = [one.message for one in search.advice_ if one.kind == "edge"]
    assert all(message.endswith(f" {guide('tuning')}.") for message in edges)
    assert guide("good kernels") in str(diagnose("gaussian(gamma=1000)", X, Y))


def test_commands_name_the_page(mercer, tmp_path):
    rows = "\n".join(f"{k % 7},{1e4 * (k % 11)},{0 if k < 300 else 1},{'no' if k < 300 else 'yes'}" for k in range(330))
    (tmp_path / "rows.csv").write_text(f"a,b,c,y\n{rows}\n")
    found = mercer("check rows.csv").output.replace("\n", " ")
    said = " ".join(found.split())
    assert guide("scaling columns") in said
    assert guide("leakage") in said
    (tmp_path / "genes.fasta").write_text(
        "".join(f">g{k} label={'ab'[k % 2]}\nGATTACA{'AC'[k % 2]}\n" for k in range(40))
    )
    assert guide("structures") in mercer("train svc genes.fasta --kernel gaussian -o m", 1).stderr
    mercer("train svc moons:100 -o m.safetensors")
    assert guide("probabilities") in mercer("run m.safetensors moons:20 --probabilities", 1).stderr
