"""What is in a table, as plain facts and plain warnings.

Examples
--------
>>> from mercer.describe import describe
>>> from mercer import read
>>> print(describe(read("margins:500")).warnings[-1])
'x6' and 'x10' say almost the same as 'x3'; --correlation 0.95 keeps only the first.
"""

from .facts import ColumnFacts, Description, describe

__all__ = ["ColumnFacts", "Description", "describe"]
