"""
Rows that stay in their file
============================

:func:`mercer.scan` opens a Parquet, CSV, svmlight or NumPy file without reading it. Labels are
kept in memory; rows are read chunk by chunk, again in every pass, and a machine with landmarks
needs a dozen passes. (Parquet files need ``pip install mercer[parquet]``.)
"""

# %%
# A file made on the spot: 120 000 points on two spirals, as rows of two numbers and a label. This
# one would fit into memory, and a larger one would be learned from in the same way.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import mercer
from mercer.displays import DecisionBoundary

rng = np.random.default_rng(0)
n = 120_000
angle = np.sqrt(rng.uniform(0.05, 1, n)) * 3 * np.pi
arm = rng.integers(0, 2, n)
spiral = (
    np.column_stack([np.cos(angle + np.pi * arm), np.sin(angle + np.pi * arm)]) * angle[:, None]
)
spiral += rng.normal(0, 0.5, (n, 2))
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "spirals.parquet"
rows = pd.DataFrame(spiral, columns=["x1", "x2"])
rows.assign(arm=arm).to_parquet(path)
print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")

# %%
# ``memory`` is what the machine may use for blocks of features; 150 landmarks of all rows would
# take 144 MB.

table = mercer.scan(path, target="arm")
model = mercer.KernelClassifier("gaussian(gamma=0.3)", lam=1e-6, rank=150, memory="40MB", tol=1e-3)
model.fit(table.X, table.y)
print(f"gap {model.duality_gap_[0]:.1e} of an objective of {model.objective_[0]:.4f}")
print(f"left out by landmarks: {100 * model.missing_trace_:.1f} % of the trace")
right = 100 * np.mean(model.predict(table.X) == table.y)
print(f"right: {right:.2f} % of all rows, read from the file once more")

# %%
# The boundary, over 2000 of the rows. Dashed lines are scores of ±1, that is probabilities of 27 %
# and 73 %.

figure, ax = plt.subplots(figsize=(5.4, 4.8))
DecisionBoundary.from_estimator(model, rows[:4000], arm[:4000], max_points=2000, grid=140).plot(ax)
ax.set(aspect="equal", title=f"learned from {n:,} rows in a file".replace(",", " "))
plt.show()
folder.cleanup()
