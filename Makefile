# Everything below sets itself up: `make paper` and `make test` work in a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# The examples read data from inside these; nothing of them is imported, so their dependencies are not needed.
DATA := lifelines linearmodels obp skfolio

.PHONY: paper test quick bench mutants clean

paper: $(VENV)/ready
	$(BIN)/prudent paper --out results/paper

test: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest

# The first thing to run after a change: what can be told in 90 seconds, once kernels are compiled.
quick: $(VENV)/ready
	$(BIN)/pytest -m "not slow" tests/unit tests/properties

# The benchmark's other libraries live in an environment of their own.
bench: $(VENV)/bench-ready
	$(VENV)-bench/bin/python benchmarks/stepping.py
	$(VENV)-bench/bin/python benchmarks/leaping.py

# How strong are the tests? See CONTRIBUTING.md; for other mutants: make mutants OPTIONS="--seed 1 --module ^study/"
OPTIONS ?= --seed 0 --count 60
mutants: $(VENV)/ready
	$(BIN)/python benchmarks/mutants.py $(OPTIONS)

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -c constraints.txt $(DATA)
	touch $@

$(VENV)/bench-ready: $(VENV)/ready
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -e . river
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-bench results
