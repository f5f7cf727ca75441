"""The estimators of tables as TabArena takes models: a class for AutoGluon, what to search, and what it is.

This folder goes to ``tabarena/models/mercer`` of the benchmark. ``python -m benchmarks.tabarena`` runs the model tests
of AutoGluon and TabArena on it here, without any download (``pip install tabarena``).
"""
