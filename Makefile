# The only entry point. `make demo` and `make test` install what they need.
PYTHON ?= python3
VENV := .venv
RUNS ?= assay-runs
export CARGO_TERM_COLOR ?= never

.PHONY: help demo test bench agreement setup engine generate format clean

help:                ## this list
	@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 12

demo: setup          ## measure disk against memory (3 minutes at most) and write the report
	$(VENV)/bin/assay run studies/quickstart/study.yaml --out $(RUNS)
	$(VENV)/bin/assay report last --out $(RUNS)

test: setup-test     ## every check and test; ends with a count
	$(VENV)/bin/python tools/run_tests.py

bench: setup bare    ## the engine beside its peers (20 minutes at most); writes docs/performance.md
	$(VENV)/bin/python bench/run.py --page

agreement: setup bare   ## the same work through fio and Assay (16 minutes); writes docs/agreement.md
	$(VENV)/bin/python bench/agreement/run.py --page

setup: $(VENV)/.runtime engine   ## Python environment and engine

.PHONY: setup-test
setup-test: $(VENV)/.development engine bare faultfs
	@sh tools/bootstrap.sh tests

engine:              ## build assay-engine and assay-switch
	@sh tools/bootstrap.sh
	cargo build --release --locked --quiet --package assay-cli --package assay-switch

.PHONY: bare
bare: engine         # the loops that the benches measure against
	cargo build --release --locked --quiet --package assay-bare

.PHONY: faultfs
faultfs: engine      # the file system that fails, for the tests
	cargo build --release --locked --quiet --package assay-faultfs

$(VENV)/bin/python:
	@PYTHON=$(PYTHON) sh tools/bootstrap.sh
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: workbench/requirements.lock workbench/pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r workbench/requirements.lock
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --editable workbench
	@touch $@

$(VENV)/.development: workbench/requirements-dev.lock $(VENV)/.runtime
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r workbench/requirements-dev.lock
	@touch $@

generate: setup-test ## write the files that follow from the Rust types and the models
	$(VENV)/bin/python tools/generate.py
	$(VENV)/bin/python tools/licences.py

format: setup-test   ## format all code
	cargo fmt
	cd workbench && ../$(VENV)/bin/ruff format . ../tools ../bench && ../$(VENV)/bin/ruff check --fix --quiet . ../tools ../bench

clean:               ## remove what was built (not the results)
	rm -rf $(VENV) target
