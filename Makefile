PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-gpu test-cluster lint bench fuzz clean

demo: $(VENV)/.installed
	$(BIN)/mercer compare margins

test: $(VENV)/.tested
	SCIPY_ARRAY_API=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

test-gpu: $(VENV)/.on_card
	$(BIN)/python -m pytest tests/test_cuda.py -rs

test-cluster: $(VENV)/.clustered
	$(BIN)/python -m pytest tests/test_dask.py -rs -m "thorough or not thorough"

lint: $(VENV)/.linted
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

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

# Each target for so many seconds: make fuzz SECONDS=600, or some of them: make fuzz TARGETS="csv kernel".
SECONDS ?= 60
TARGETS ?= kernel csv json arff svmlight fasta baskets graphs excel parquet feather sqlite file model
fuzz: $(VENV)/.fuzzed
	for target in $(TARGETS); do $(BIN)/python -m fuzz $$target --seconds $(SECONDS) || exit 1; done

clean:
	rm -rf $(VENV) build src/*.egg-info

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# What each of these needs beside the package itself.
$(VENV)/.tested: extras := [test]
$(VENV)/.on_card: extras := [test,gpu]
$(VENV)/.clustered: extras := [test,dask]
$(VENV)/.linted: extras := [lint]
$(VENV)/.benched: extras := [bench]
$(VENV)/.fuzzed: extras := [test,fuzz]

$(VENV)/.installed $(VENV)/.tested $(VENV)/.on_card $(VENV)/.clustered $(VENV)/.linted $(VENV)/.benched $(VENV)/.fuzzed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.$(extras)'
	touch $@
