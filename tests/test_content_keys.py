"""By what a search knows settings again: never by an address, and the same in every process."""

import subprocess
import sys
import threading
from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from mercer import SVC
from mercer.search import KernelSearchCV, Unrecognisable, content_key, lasting_key

X, y = make_moons(40, noise=0.3, random_state=0)


def searched(step, journal=None):
    estimator = make_pipeline(step, SVC("gaussian"))
    return KernelSearchCV(estimator, {"svc__C": [0.1, 1]}, cv=2, journal=journal, refit=False).fit(X, y)


def scaled_by(factor):
    return lambda rows: rows * factor


def times(rows, factor=1):
    return rows * FACTOR * factor


FACTOR = 2
SCRIPT = """
from mercer.search.keys import lasting_key
import functools, numpy as np
SHIFT = {shift}
def helper(x): return x + SHIFT
def scaled_by(factor): return lambda rows: helper(rows) * factor if rows in {{"a", "b", "c"}} else np.log(rows)
class Step:
    words = frozenset(["a", "b", "c"])
    def __init__(self): self.f, self.bag = scaled_by(2), {{"x", "y", "z"}}
    def __call__(self, rows): return super().__init__()
print(lasting_key([scaled_by(3), Step(), Step, functools.partial(helper, 2), Step().__call__, np.log, len, [].append]))
"""


def told_here(shift=1):
    with redirect_stdout(StringIO()) as told:
        exec(SCRIPT.format(shift=shift), {"__name__": "a_script"})
    return told.getvalue()


def told_elsewhere(shift=1):
    script = [sys.executable, "-c", f"__name__ = 'a_script'\n{SCRIPT.format(shift=shift)}"]
    return subprocess.run(script, stdout=subprocess.PIPE, text=True, check=True).stdout


@pytest.mark.parametrize("told", [told_here, pytest.param(told_elsewhere, marks=pytest.mark.thorough)])
def test_the_same_script_has_the_same_keys_in_every_process_and_a_changed_one_others(told):
    one = told()
    assert one == told() != told(shift=2)
    assert " at " not in one


def test_another_function_never_gets_the_scores_of_a_journal(tmp_path):
    path = tmp_path / "journal"
    searched(FunctionTransformer(scaled_by(1)), path)
    searched(FunctionTransformer(scaled_by(1)), path)  # the same again, an object of its own
    with pytest.raises(ValueError, match="other rows, labels, weights or folds, or with another estimator"):
        searched(FunctionTransformer(scaled_by(100)), path)


def test_functions_differ_by_code_defaults_closure_and_what_they_look_up(monkeypatch):
    keys = {content_key(scaled_by(1)), content_key(scaled_by(2)), content_key(lambda rows: rows), content_key(times)}
    monkeypatch.setitem(globals(), "FACTOR", 3)
    keys.add(content_key(times))
    monkeypatch.setattr(times, "__defaults__", (5,))
    keys.add(content_key(times))
    assert len(keys) == 6
    assert content_key(scaled_by(1)) == content_key(scaled_by(1))


def test_classes_of_one_name_differ_by_their_code():
    def made(power):
        class Step(FunctionTransformer):
            def transform(self, X):
                return super().transform(X) ** power

        return Step()

    assert content_key(made(1)) == content_key(made(1)) != content_key(made(2))


def test_what_a_frozen_step_has_learned_counts():
    one, other = (FrozenEstimator(StandardScaler().fit(X * k)) for k in (1, 2))
    assert content_key(one) != content_key(other)


def test_what_cannot_be_known_again_keeps_no_journal(tmp_path):
    lock = threading.Lock()

    def guarded(rows):
        with lock:
            return np.asarray(rows)

    assert content_key(guarded) == content_key(guarded)
    with pytest.raises(Unrecognisable):
        lasting_key(guarded)
    assert searched(FunctionTransformer(guarded)).best_score_ > 0
    with pytest.raises(ValueError, match="a lock cannot be recognised again, so this search cannot keep a journal"):
        searched(FunctionTransformer(guarded), tmp_path / "journal")


def test_code_without_a_module_is_known_by_what_it_does():
    """As a class decorator writes it in a notebook whose name is that of no module."""
    names = {"__name__": "no_such_module"}
    code = "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass Width:\n    delta: float = 1.0"
    exec(code, names)
    assert content_key(names["Width"](2.0)) == content_key(names["Width"](2.0)) != content_key(names["Width"](1.0))


def test_a_package_beside_those_of_this_python_is_known_by_its_version(tmp_path, monkeypatch):
    package = tmp_path / "site-packages" / "laid_over"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "1.2"\ndef step(x):\n    return x\n')
    monkeypatch.syspath_prepend(str(package.parent))
    import laid_over

    assert lasting_key(laid_over.step) == "laid_over.step 1.2"
