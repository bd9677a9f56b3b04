# make demo     sets everything up and does the main job on real input
# make test     sets everything up and passes the tests
# make oracles  the long checks against published figures
# make bench    ratios to a peer or a physical limit
# Both demo and test need only Python >= 3.11 and make.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
DEMO   ?= proofshelf-demo
PIP     = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test oracles lint types unit bench docs package lock clean help

help:
	@sed -n '/^# make/s/^# //p' Makefile

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "proofshelf needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { echo "Python's venv module is missing; on Debian: apt-get install python3-venv"; rm -rf $(VENV); exit 1; }

$(VENV)/.core: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing proofshelf into $(VENV) (once)"
	@$(PIP) -e .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing proofshelf and its development tools into $(VENV) (once)"
	@$(PIP) -e '.[dev]'
	@touch $@ $(VENV)/.core

demo: $(VENV)/.core
	@$(BIN)/proofshelf demo --dir $(DEMO)

test: lint types unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.dev
	$(BIN)/mypy

# Tests start hundreds of processes: compiled files are kept, whatever the shell says of them.
unexport PYTHONDONTWRITEBYTECODE

# A test process for each core: the threads of numeric libraries would only wait for each other. Each file
# stays in one process, so that what its tests share is made once.
unit: export OMP_NUM_THREADS = 1
unit: export OPENBLAS_NUM_THREADS = 1
unit: $(VENV)/.dev
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder -m "not oracle" --durations 10

# The long checks against published figures.
oracles: $(VENV)/.dev
	$(BIN)/pytest -m oracle --durations 5

# Ratios to a peer or to a physical limit, within one run; see benchmarks/README.md.
bench: $(VENV)/.dev
	@for b in benchmarks/*.py; do echo "== $$b"; $(BIN)/python $$b; done

# Rebuild what is generated: the commands' reference and the bundled package.
docs: $(VENV)/.dev
	$(BIN)/python -m catalog.commands.reference docs/commands.md

package: $(VENV)/.dev
	$(BIN)/python -m artifacts.packages.rebuild

lock: $(VENV)/.dev
	$(PIP) uv
	$(BIN)/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 \
	  --no-header --no-annotate --quiet -o constraints.txt
	sed -i -e '/^pip==/d' -e '1i # The versions that passed, for every supported platform and Python. Rebuild: make lock' constraints.txt

clean:
	rm -rf $(VENV) $(DEMO) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
