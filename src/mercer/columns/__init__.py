"""What a column holds: numbers, categories, dates, texts, or nothing to learn from.

Examples
--------
>>> import numpy as np, pandas as pd
>>> from mercer.columns import decide
>>> columns = {"age": np.arange(20.0) % 7, "id": np.arange(1.0, 21), "job": pd.Categorical(["cook", "smith"] * 10)}
>>> found = decide(columns)
>>> found.kinds, found.left_out
({'age': 'number', 'job': 'category'}, {'id': 'a number for each row'})
>>> decide(columns, {"id": "category"}).kinds["id"]
'category'
"""

from .kinds import KINDS, Decided, check_kind, decide
from .values import are_molecules, text_units

__all__ = ["KINDS", "Decided", "are_molecules", "check_kind", "decide", "text_units"]
