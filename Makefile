# Everything below sets itself up: `make paper` and `make test` work in a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := pip install --quiet --disable-pip-version-check -c constraints.txt

# The examples read data from inside these; nothing of them is imported, so their dependencies are not needed.
DATA := lifelines linearmodels obp skfolio

# It carries axe-core, which looks at the pages in a browser. Only that file is used, so Playwright is not needed.
AXE := axe-playwright-python

.PHONY: paper test types tests deep gpu quick docs links package bench mutants fuzz clean

paper: $(VENV)/ready
	$(BIN)/prudent paper --out results/paper

# Types are checked while tests run, on what two processes of tests leave of two cores.
test: $(VENV)/test-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(MAKE) --no-print-directory --jobs=2 types tests

types: $(VENV)/test-ready
	$(BIN)/mypy
	$(BIN)/lint-imports

tests: $(VENV)/test-ready
	$(BIN)/pytest tests/unit tests/properties tests/figures tests/service

# Laws by statistics, published numbers, random input, and all that the documentation says: what takes long, and seldom
# fails where the others pass. If there is a site (make docs), it is looked at too.
# make deep DEEP="-m 'not slow'" takes two minutes.
DEEP ?=
deep: $(VENV)/test-ready
	$(BIN)/pytest $(DEEP) tests/statistical tests/fuzz tests/docs

# Code for GPUs, which takes NVIDIA's compiler in an environment of its own, and on a machine with a GPU what runs there.
gpu: $(VENV)-gpu/ready
	$(VENV)-gpu/bin/pytest -rs tests/gpu

# The first thing to run after a change: what can be told in 90 seconds, once kernels are compiled.
quick: $(VENV)/test-ready
	$(BIN)/pytest -m "not slow" tests/unit tests/properties

# The documentation as a folder of static files, which opens without a server: docs/_build/site/index.html
SPHINX := -W --keep-going --quiet --doctree-dir docs/_build/read
docs: $(VENV)/docs-ready
	rm -rf docs/_build/site
	$(BIN)/python -m sphinx -b html $(SPHINX) docs docs/_build/site

# Addresses on other hosts, which may be down today; `make docs` checks all others.
links: $(VENV)/docs-ready
	$(BIN)/python -m sphinx -b linkcheck $(SPHINX) docs docs/_build/links

# The wheel and the source archive, into dist/, installed and tried in an empty environment.
package: $(VENV)/docs-ready
	$(BIN)/python .ci/package.py

# The benchmark's other libraries live in an environment of their own.
bench: $(VENV)/bench-ready
	$(VENV)-bench/bin/python benchmarks/stepping.py
	$(VENV)-bench/bin/python benchmarks/leaping.py

# How strong are the tests? See CONTRIBUTING.md; for other mutants: make mutants OPTIONS="--seed 1 --module ^study/"
OPTIONS ?= --seed 0 --count 60
mutants: $(VENV)/test-ready
	$(BIN)/python benchmarks/mutants.py $(OPTIONS)

# What random input does; `make deep` tries 100 cases. For other cases: make fuzz FUZZ="--seconds 3600 --seed 1"
FUZZ ?= --seconds 600 --seed 0
fuzz: $(VENV)/test-ready
	$(BIN)/python tests/fuzz/run.py $(FUZZ)

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/$(INSTALL) -e .
	touch $@

# All at once, and without compiling modules that no test imports: that halves the time.
$(VENV)/test-ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/$(INSTALL) --no-compile -e '.[test]'
	$(BIN)/$(INSTALL) --no-compile --no-deps $(DATA) $(AXE)
	touch $(VENV)/ready $@

$(VENV)-gpu/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)-gpu
	$(VENV)-gpu/bin/$(INSTALL) --no-compile -e '.[test,gpu]'
	touch $@

$(VENV)/docs-ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/$(INSTALL) --no-compile -e '.[docs,release]'
	touch $(VENV)/ready $@

$(VENV)/bench-ready: $(VENV)/ready
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/$(INSTALL) -e . river
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-bench $(VENV)-gpu results dist docs/_build
