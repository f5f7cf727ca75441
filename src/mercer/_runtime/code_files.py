"""Files of machine code that are looked at before they are run.

Numba keeps compiled functions in files that say nothing of themselves. A flipped bit in one would be run; and a process
that is killed after the list of files was renewed, but before a file was, leaves the old code under the new name. Here
a file begins with a checksum, and says of which function, types and source text it is. Any other counts as not there.

The checksum tells damage, not forgery: these files are code, beside the package itself or in the user's own folder for
caches (or ``NUMBA_CACHE_DIR``), and whoever may write there may change the program anyway. No data or model file gets
there.
"""

from __future__ import annotations

import hashlib
import pickle
from typing import Any

from numba.core.caching import IndexDataCacheFile

__all__ = ["CheckedCodeFiles"]

_LETTERS = 32


class CheckedCodeFiles(IndexDataCacheFile):
    """Numba's files of one function, checked."""

    def save(self, key: Any, data: Any) -> None:
        super().save(key, (self._identity(key), data))

    def load(self, key: Any) -> Any:
        found = super().load(key)
        return found[1] if found is not None and found[0] == self._identity(key) else None

    def _identity(self, key: Any) -> tuple[Any, ...]:
        return self._source_stamp, self._index_name, key

    def _save_data(self, name: str, data: Any) -> None:
        content = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(content).digest() + content)

    def _load_data(self, name: str) -> Any:
        with open(self._data_path(name), "rb") as file:
            checksum, content = file.read(_LETTERS), file.read()
        return pickle.loads(content) if hashlib.sha256(content).digest() == checksum else None
