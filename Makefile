# roamkb: `make demo` shows it, `make test` proves it, `make install` sets it up.
PYTHON ?= python3
VENV := .venv
# pip's own folder of wheels is the only thing shared between machines and runs
PIP := $(VENV)/bin/pip --disable-pip-version-check --quiet

.PHONY: help test lint
help:
	@echo "make demo       see roamkb work on an example knowledge base, in a temporary HOME"
	@echo "make test       run the whole suite"

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade 'pip>=25.1'
	$(PIP) install --editable . --group test --group lint
	@touch $@

test: $(VENV)/.ready
	$(VENV)/bin/python -m pytest -n auto

lint: $(VENV)/.ready
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
