# Few verbs: setup, demo, test, lint, matrix, bench, clean. Each works on a fresh machine with Python 3.11 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup demo test lint matrix bench clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[all,bench,dev]'
	touch $@

demo: setup ## two frameworks, two processes, one file
	$(BIN)/twinmem demo

test: setup ## the whole suite, warnings as errors
	$(BIN)/python -m pytest -q

lint: setup ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

matrix: setup ## each adapter with the oldest and newest of its framework, the other one absent; MATRIX=--short
	$(BIN)/python tests/matrix.py $(MATRIX)

bench: setup ## recall and speed on LOCOMO=file and MADIAL=folder; writes docs/recall.md, in 5 to 15 minutes
	$(BIN)/python benchmarks/publish.py --locomo $(or $(LOCOMO),../shared/data/locomo-dev.json) \
		--madial $(or $(MADIAL),../shared/data/madial) --out docs/recall

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache
