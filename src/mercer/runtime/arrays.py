"""The type of arrays, in a file of its own: who only names it need not import a compiler."""

import numpy as np

Array = np.ndarray
