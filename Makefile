# Everything below sets itself up: `make paper` and `make test` work in a fresh clone.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := pip install --quiet --disable-pip-version-check -c constraints.txt

# Tests start hundreds of processes; where images of containers set this, each compiles all that it imports again.
unexport PYTHONDONTWRITEBYTECODE

# The examples read data from inside these; nothing of them is imported, so their dependencies are not needed.
DATA := lifelines linearmodels obp skfolio

# It carries axe-core, which looks at the pages in a browser. Only that file is used, so Playwright is not needed.
AXE := axe-playwright-python

# What looks at workflows and at versions; nothing of the package needs it.
TOOLS := check-jsonschema uv zizmor

.PHONY: paper test style types tests anywhere workflows constraints deep gpu quick docs links package bench mutants fuzz clean

paper: $(VENV)/ready
	$(BIN)/prudent paper --out results/paper

# Types are checked while tests run, on what two processes of tests leave of two cores.
test: style
	$(MAKE) --no-print-directory --jobs=2 types tests

style: $(VENV)/test-ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/test-ready
	$(BIN)/mypy
	$(BIN)/mypy --config-file .ci/mypy-scripts.ini
	$(BIN)/lint-imports

tests: $(VENV)/test-ready
	$(BIN)/pytest -m "not slow" tests/unit tests/properties tests/figures tests/service

# Other processors, Pythons, versions of libraries, languages and orders of tests, one row of a table for each.
# make anywhere ANYWHERE="--only newest" runs rows by name; --full runs all tests in each.
anywhere:
	$(PYTHON) .ci/anywhere.py $(ANYWHERE)

# The files for GitHub: whether they are well formed, and whether they can be misused.
workflows: $(VENV)/tools-ready
	$(VENV)-tools/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(VENV)-tools/bin/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(VENV)-tools/bin/zizmor --offline .

# constraints.txt with today's newest versions. obp says that later ones do not run on these Pythons.
RESOLVE := $(VENV)-tools/bin/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy requires-python \
	--no-annotate --no-header --upgrade
constraints: $(VENV)/tools-ready
	printf '%s\n' $(TOOLS) | $(RESOLVE) --extra test --extra docs --extra release --extra gpu pyproject.toml - \
	  -o $(VENV)-tools/ours.txt
	printf '%s\n' $(DATA:obp=obp==0.4.1) $(AXE) | $(RESOLVE) --no-deps - -o $(VENV)-tools/data.txt
	sed '/python_full_version/! s/ ;.*//' $(VENV)-tools/ours.txt $(VENV)-tools/data.txt | LC_ALL=C sort -f > constraints.txt

# Distributions by statistics, published numbers, random input, and all that the documentation says; and of all tests those
# that take long and seldom fail where the others pass. If there is a site (make docs), it is looked at too.
# make deep DEEP="-m 'not slow'" takes three minutes, and has none of the slow tests.
DEEP ?=
deep: $(VENV)/test-ready
	$(BIN)/pytest $(DEEP) tests/statistical tests/fuzz tests/docs
	$(if $(DEEP),,$(BIN)/pytest -m slow tests/unit tests/properties tests/figures tests/service)

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

$(VENV)/tools-ready: constraints.txt
	$(PYTHON) -m venv $(VENV)-tools
	$(VENV)-tools/bin/$(INSTALL) $(TOOLS)
	mkdir -p $(VENV)
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
	rm -rf $(VENV) $(VENV)-bench $(VENV)-gpu $(VENV)-tools build results dist docs/_build
