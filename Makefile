# roamkb: `make demo` shows it, `make test` proves it, `make install` sets it up.
#
# Everything is made from Python >= 3.11 and PyPI alone; nothing outside of this folder is
# touched but by `install` and `uninstall`.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo test unit format types lint docs deb packages bench bench-recall reliability mutation install uninstall clean

PYTHON ?= python3
VENV := .venv
PIP := $(VENV)/bin/python -m pip --disable-pip-version-check --quiet

# the tests of packages that open no file
UNIT := $(addprefix tests/,core text secrets org shell guard log/state pipeline/gate models/test_*.py)

# where `make install` puts things
DATA := $(or $(XDG_DATA_HOME),$(HOME)/.local/share)/roamkb
BIN := $(HOME)/.local/bin

help:
	@echo 'make demo       see roamkb work on an example knowledge base, in a temporary HOME'
	@echo 'make test       run the whole suite'
	@echo 'make install    the `roamkb` command and the rule that agents read, for this user'
	@echo 'make uninstall  take both away, and name what stays; PURGE=1 takes all but notes and logs'
	@echo 'make unit       the tests of what opens no file, in less than a minute'
	@echo 'make lint       format, style, types, layers; nothing is changed'
	@echo 'make format     lay out the code, and mend what the linter can'
	@echo 'make types      the types alone'
	@echo 'make docs       write the generated parts of docs/'
	@echo 'make deb        the package for Debian and what comes of it, in dist/'
	@echo 'make packages   wheel, sdist and deb in dist/, each tried with every Python here: some minutes'
	@echo 'make bench      figures: reading, searching, starting, a year of use; KB=/your/notes measures yours'
	@echo 'make bench-recall SETS="DIR..."  how well search finds, on public question sets'
	@echo 'make reliability  the sheet of what must not break, each row tried by its command: an hour; ROWS="2 27" tries those'
	@echo 'make mutation   how many mutants of what must not break the tests kill; AREAS="replay secrets" tries those'
	@echo 'make clean      remove what the others made in this folder'
	@echo
	@echo 'PYTHON=/path/to/python3.12 chooses another Python (3.11 or newer).'

# the environments

$(VENV)/.ready: pyproject.toml .ci/venv
	@.ci/venv '$(PYTHON)' '$(VENV)'
	@$(PIP) install --editable .
	@touch '$@'

# `--group` needs pip 25.1, and a new environment has the pip of its Python
$(VENV)/.ready-test: $(VENV)/.ready
	@$(PIP) install --upgrade 'pip>=25.1'
	@$(PIP) install --group test --group lint --editable '.[mcp,page,semantic,shared]'
	@# axe-core, the judge of the page's accessibility, without the browser driver that the package wants
	@$(PIP) install --no-deps 'axe-playwright-python==0.1.8'
	@touch '$@'

# what they do

demo: $(VENV)/.ready
	@PATH="$$(cd '$(VENV)' && pwd)/bin:$$PATH" fixtures/demo.sh

test: $(VENV)/.ready-test
	@.ci/programs
	$(VENV)/bin/python -m pytest -n auto --dist worksteal -rs

unit: $(VENV)/.ready-test
	ROAMKB_TEST_QUICK=1 $(VENV)/bin/python -m pytest -q -m 'not slow' $(UNIT)

format: $(VENV)/.ready-test
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

types: $(VENV)/.ready-test
	$(VENV)/bin/mypy

lint: $(VENV)/.ready-test
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	@# what macOS lacks is used nowhere but where the system was asked for
	$(VENV)/bin/mypy --platform darwin --cache-dir .mypy_cache/darwin roamkb
	$(VENV)/bin/lint-imports
	@if command -v shellcheck >/dev/null; then shellcheck $$(grep -l bash .ci/*) fixtures/*.sh; fi

docs: $(VENV)/.ready-test
	$(VENV)/bin/python docs/generate.py

deb: $(VENV)/.ready-test
	@.ci/deb $(VENV)/bin/python dist

packages: $(VENV)/.ready-test deb
	$(VENV)/bin/python -m hatchling build -d dist
	ROAMKB_TEST_PACKAGES=1 $(VENV)/bin/python -m pytest -q -rs tests/packages

bench: $(VENV)/.ready-test
	$(VENV)/bin/python tests/benchmarks/ratios.py $(if $(KB),--kb '$(KB)')
	$(VENV)/bin/python tests/benchmarks/speed.py $(if $(SIZES),--sizes '$(SIZES)')
	$(VENV)/bin/python -m tests.benchmarks.hooks
	$(VENV)/bin/python -m tests.benchmarks.year

# SETS are folders of question sets, as tests/benchmarks/question_sets.py reads them, or PrecisionMemBench's; with
# CACHE=DIR the sentence model answers as well, and what it read is kept there; LIMIT=0 asks every question
bench-recall: $(VENV)/.ready-test
	$(VENV)/bin/python tests/benchmarks/recall.py $(SETS) --limit $(or $(LIMIT),200) $(if $(CACHE),--semantic '$(CACHE)')

# faults are put in by strace, a power cut takes root and loop devices; rows say what was skipped
reliability: $(VENV)/.ready-test
	$(VENV)/bin/python -m tests.benchmarks.reliability $(ROWS)

mutation: $(VENV)/.ready-test
	$(VENV)/bin/python -m tests.benchmarks.mutation $(AREAS)

install:
	@.ci/install '$(PYTHON)' "$(DATA)" "$(BIN)"

uninstall:
	@.ci/uninstall '$(PYTHON)' "$(DATA)" "$(BIN)" $(if $(PURGE),--purge)

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
