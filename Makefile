PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Byte code is kept, whatever the shell says: tests and the guide start hundreds of processes.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-gpu test-cluster test-versions reproduce docs dist audit lint house bench fuzz clean

demo: $(VENV)/.compiled
	$(BIN)/mercer compare margins

test: $(VENV)/.tested
	SCIPY_ARRAY_API=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

test-gpu: $(VENV)/.on_card
	$(BIN)/python -m pytest tests/test_cuda.py -rs

test-cluster: $(VENV)/.clustered
	$(BIN)/python -m pytest tests/test_dask.py -rs -m "thorough or not thorough"

# The tables and figures of the published report, in reproduced/: DATA=FOLDER/unimi.csv says where its data set is.
reproduce: $(VENV)/.tested
	$(BIN)/python -m reproductions.unimi --output reproduced $(DATA:%=--data %)

# The tests with the oldest versions that pyproject.toml allows on the oldest Python, and with the newest on every Python.
OLDEST ?= python3.11
PYTHONS ?= python3.11 python3.12 python3.13
test-versions: $(VENV)/.versioned
	@for each in lowest-direct:$(OLDEST) $(PYTHONS:%=highest:%); do \
	    python=$${each#*:}; versions=$${each%%:*}; \
	    number=$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2> /dev/null) \
	    || { echo "skipped: no $$python"; continue; }; \
	    there=$(VENV)-$$number-$$versions; echo "Python $$number, $$versions:"; \
	    { test -x $$there/bin/python || $$python -m venv $$there; } \
	    && $(BIN)/uv pip install --quiet --python $$there/bin/python --resolution $$versions -e '.[test]' \
	    && SCIPY_ARRAY_API=1 OMP_NUM_THREADS=1 $$there/bin/python -m pytest -n 2 || exit 1; \
	done

# Known holes in what is installed (asks the package registry).
audit: $(VENV)/.versioned
	$(BIN)/pip-audit --skip-editable

# The guide, in docs/_build/html: every block of code runs, warnings are errors, links are followed. All pages are read
# anew: the words of those that are not would be missing from the search.
SPHINX := $(BIN)/sphinx-build --fail-on-warning --keep-going --quiet --jobs 2 -d docs/_build/doctrees
docs: $(VENV)/.documented
	$(SPHINX) --fresh-env -b html docs docs/_build/html
	$(SPHINX) -b doctest docs docs/_build/doctest
	$(BIN)/python docs/check_links.py docs/_build/html

# The source distribution and the wheel, in dist/: looked into, installed where nothing else is, and used there. The wheel
# has machine code for the kinds of processors that this machine can be, this version of Python and the newest Numba.
dist: $(VENV)/.disted
	rm -rf build dist
	$(BIN)/python tools/ship_code.py
	$(BIN)/python -m build --sdist --outdir dist .
	$(BIN)/python -m build --wheel --outdir dist .
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist
	$(BIN)/python .ci/check_dist.py dist

lint: $(VENV)/.linted
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Figures of the source: sizes of files, who imports what, what a small fit goes through.
house: $(VENV)/.installed
	$(BIN)/python tools/house.py

bench: $(VENV)/.benched
	$(BIN)/python -m benchmarks.textbook
	$(BIN)/python -m benchmarks.svc
	$(BIN)/python -m benchmarks.smooth
	$(BIN)/python -m benchmarks.linear
	$(BIN)/python -m benchmarks.search
	$(BIN)/python -m benchmarks.grids
	$(BIN)/python -m benchmarks.structured
	$(BIN)/python -m benchmarks.regression
	$(BIN)/python -m benchmarks.mixtures
	$(BIN)/python -m benchmarks.calibration
	$(BIN)/python -m benchmarks.quantiles
	$(BIN)/python -m benchmarks.streaming --rows 1000000
	$(BIN)/python -m benchmarks.components

# Each target for so many seconds: make fuzz SECONDS=600, or some of them: make fuzz TARGETS="csv kernel".
SECONDS ?= 60
TARGETS ?= kernel csv json arff svmlight fasta baskets graphs excel parquet feather sqlite file model model_text journal \
	journal_lines
fuzz: $(VENV)/.fuzzed
	for target in $(TARGETS); do $(BIN)/python -m fuzz $$target --seconds $(SECONDS) || exit 1; done

clean:
	rm -rf $(VENV) $(VENV)-* build dist docs/_build docs/gallery docs/reference/generated src/*.egg-info \
	    src/mercer/runtime/machine_code

# An environment with pip takes some seconds to make; uv puts it there in a fraction of one.
$(VENV)/bin/python:
	@$(PYTHON) -m venv --without-pip $(VENV) \
	    && $(PYTHON) -m pip --python $(BIN)/python install --quiet --disable-pip-version-check uv 2> /dev/null \
	    || $(PYTHON) -m venv $(VENV)

# The machine code of first fits; what is not there is compiled when it is needed.
$(VENV)/.compiled: $(VENV)/.installed
	-@$(BIN)/python tools/ship_code.py --here > /dev/null
	@touch $@

PIP := $(BIN)/pip install --quiet --disable-pip-version-check
# What each of these needs beside the package itself.
$(VENV)/.tested: extras := [test]
$(VENV)/.on_card: extras := [test,gpu]
$(VENV)/.clustered: extras := [test,dask]
$(VENV)/.documented: extras := [docs]
$(VENV)/.linted: extras := [lint]
$(VENV)/.disted: extras := [dist]
$(VENV)/.benched: extras := [bench]
$(VENV)/.fuzzed: extras := [test,fuzz]
$(VENV)/.versioned: extras := [versions]

STAMPS := installed tested on_card clustered documented linted disted benched fuzzed versioned
# uv takes a third of pip's time, but does not know what pip was told of package indexes: where it fails, pip is asked.
$(STAMPS:%=$(VENV)/.%): pyproject.toml | $(VENV)/bin/python
	@{ test -x $(BIN)/uv || $(PIP) uv; } \
	    && $(BIN)/uv pip install --quiet --python $(BIN)/python pip -e '.$(extras)' \
	    || { { test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV); } && $(PIP) -e '.$(extras)'; }
	@touch $@
