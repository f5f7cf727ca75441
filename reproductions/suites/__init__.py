"""scikit-learn's own tests, and hyppo's where it is installed, run on what this library has.

    python -m reproductions.suites [--only svm] [--json results.json]

The tests are those of the installed library; nothing of them is copied. Each module here is one suite: while the tests
are loaded, names of that library stand for adapters, which have its parameters and do the work with mercer. A suite has

- ``NAME``: how it is called on the command line;
- ``MODULE``: the module of tests, or several with spaces between them;
- ``patches()``: what stands in the place of what, by full names: ``{"sklearn.svm.SVC": Adapter}``;
- ``MEANT``: why a test is meant to fail, by its name (with or without parameters, or a pattern with ``*``);
- ``ABSENT``: tests of what this library has not, which are left out, in the same form;
- ``TESTS``, where not all tests of the module belong to it: patterns of those that do.
"""
