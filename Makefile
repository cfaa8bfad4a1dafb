# `make site` writes public/, `make docs` docs/public/, `make test` runs every check, `make test-web` those of the
# pages in a browser, which it needs Node, Java and Chromium for, `make soak` those that are long by nature.
# Each first makes .venv, where that is missing or older than pyproject.toml; it needs python3 (3.11 or newer) and make.

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: site docs test test-web soak venv

site: .venv/.site
	$(BIN)/sitegen build

# The page of the diagnostic codes is written from their registry first.
docs: .venv/.docs
	$(BIN)/python docs/codes_page.py
	cd docs && ../$(BIN)/sitegen build

test: .venv/.test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m pytest -m "not soak and not web"

test-web: .venv/.test tests/web/node_modules/.installed
	$(BIN)/python -m pytest -m "web and not soak" tests/web

soak: .venv/.test
	$(BIN)/python -m pytest -m "soak or hypothesis" --hypothesis-profile=soak

# An empty .venv, for who wants a torch of their own in it before `make test`.
venv: $(BIN)/python

tests/web/node_modules/.installed: tests/web/package.json
	npm install --prefix tests/web --ignore-scripts --no-package-lock --no-audit --no-fund --loglevel=error
	@touch $@

.venv/.site: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) --editable '.[search]'
	@touch $@

.venv/.docs: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) --editable '.[diagrams]'
	@touch $@

.venv/.test: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) --editable '.[cluster,dev,search]'
	@touch $@ .venv/.site

# The venv module, or virtualenv in a folder of its own where Debian left that module out: `pip --target`
# is allowed also where pip may not install into the system (PEP 668).
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "sitegen needs Python 3.11 or newer")'
	@$(PYTHON) -m venv .venv >/dev/null 2>&1 || { \
	  rm -rf .venv; \
	  $(PYTHON) -m pip --version >/dev/null 2>&1 || { \
	    echo '$(PYTHON) has neither venv nor pip: install one of them (Debian: apt-get install python3-venv)' >&2; exit 1; }; \
	  $(PYTHON) -m pip install --quiet --disable-pip-version-check --target .tools virtualenv && \
	  PYTHONPATH=.tools $(PYTHON) -m virtualenv --quiet .venv; }
