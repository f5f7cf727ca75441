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

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
