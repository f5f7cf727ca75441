import inspect

import pytest

import mercer
from mercer import grams, kernels, losses, solvers

from .cases import EXPORTS


@pytest.mark.parametrize("module", EXPORTS, ids=lambda module: module.__name__)
def test_every_exported_class_is_in_the_case_list(module):
    """What else a room lists, parts that its neighbours use, has tests of its own."""
    exported = [getattr(module, name) for name in module.__all__]
    kinds = {kernels: kernels.Kernel, losses: losses.Loss, grams: grams.Gram, solvers: solvers.Solver, mercer: object}
    missing = {each for each in exported if inspect.isclass(each) and issubclass(each, kinds[module])} - {
        *EXPORTS[module],
        grams.Multiple,
        grams.Repeated,
        grams.Scattered,
    }
    assert not missing, f"add {missing} to tests/cases.py"
