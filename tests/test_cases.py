import inspect

import pytest

from .cases import EXPORTS


@pytest.mark.parametrize("module", EXPORTS, ids=lambda module: module.__name__)
def test_every_exported_class_is_in_the_case_list(module):
    exported = {getattr(module, name) for name in module.__all__ if inspect.isclass(getattr(module, name))}
    missing = exported - set(EXPORTS[module])
    assert not missing, f"add {missing} to tests/cases.py"
