# Few verbs: setup, demo, test, postgres, lint, matrix, bench, bench-scale, torture, docs, notebooks, clean. Each works on a fresh machine with Python 3.11 and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup demo test postgres lint matrix bench bench-scale torture docs notebooks clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[all,bench,dev,docs]'
	touch $@

demo: setup ## two frameworks, two processes, one file
	$(BIN)/twinmem demo

test: setup ## the whole suite, warnings as errors
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

postgres: setup ## what has to hold of every store, on a PostgreSQL server that the tests start
	TWINMEM_PG=1 $(BIN)/python -m pytest -q -n 2 --dist loadfile -k postgres tests/core tests/long_term tests/short_term tests/recall tests/moving

lint: setup ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

matrix: setup ## each adapter with the oldest and newest of its framework, the other one absent; MATRIX=--short
	$(BIN)/python tests/matrix.py $(MATRIX)

bench: setup ## recall and speed on LOCOMO=file and MADIAL=folder; writes docs/recall.md, in 5 to 15 minutes
	$(BIN)/python benchmarks/publish.py --locomo $(or $(LOCOMO),../shared/data/locomo-dev.json) \
		--madial $(or $(MADIAL),../shared/data/madial) --out docs/recall

bench-scale: setup ## growth on SQLite and PostgreSQL, against bare engines; writes docs/scale.md, in half an hour; ONLY="sizes threads"
	$(BIN)/python benchmarks/scaling.py $(if $(ONLY),--only $(ONLY))

torture: setup ## try to break what docs/trust.md promises, and print the figures; TORTURE=--short
	$(BIN)/python benchmarks/torture.py $(TORTURE)

notebooks: setup ## run every notebook in a kernel and keep what it shows
	$(BIN)/python tests/notebooks/execute.py --write

docs: setup ## the pages as a site in site/, warnings as errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache
