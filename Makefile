# The only entry point. `make demo` and `make test` install what they need.
PYTHON ?= python3
VENV := .venv
RUNS ?= assay-runs
export CARGO_TERM_COLOR ?= never
# What is built is looked for here.
export CARGO_TARGET_DIR := $(CURDIR)/target
unexport CARGO_BUILD_TARGET CARGO_BUILD_TARGET_DIR

.NOTPARALLEL:

.PHONY: help demo test test-all studies soak dist supply sbom bench agreement setup engine generate format clean

help:                ## this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*## /\t/' | expand -t 12

demo: setup          ## measure disk against memory, and objects in a simulator (3 minutes at most); write the report
	$(VENV)/bin/assay run studies/quickstart/study.yaml --out $(RUNS)
	$(VENV)/bin/assay report last --out $(RUNS)

test: setup-test     ## checks, the engine's tests, unit tests, commands and short runs (8 minutes; 15 the first time)
	$(VENV)/bin/python tools/run_tests.py test

test-all: test setup-test-all   ## that, then all other tests; installs servers, a scheduler and a browser (30 minutes)
	$(VENV)/bin/python tools/run_tests.py rest

.PHONY: test-vm
test-vm: setup-test  ## hosts that set themselves up at first boot, in emulated machines with kernels of their own (30 minutes)
	@sh tools/bootstrap.sh guests
	cd workbench && ../$(VENV)/bin/python -m pytest -q --color=no -o cache_dir=$(CURDIR)/target/test-caches/guests-memory tests/guests

studies: setup-test-all   ## run every shipped study once, at small sizes (30 minutes), and hold its time against its plan
	$(VENV)/bin/python tools/run_studies.py

soak: setup-test-all ## what takes long: fuzz targets (10 minutes each), then every test with large counts
	@sh tools/bootstrap.sh soak
	$(VENV)/bin/python tools/run_soak.py

dist: setup          ## wheels that carry the engine, .deb packages and an image's Containerfile, in target/dist
	@sh tools/bootstrap.sh dist
	$(VENV)/bin/python tools/dist/build.py

.PHONY: wheel
wheel: setup         # only this machine's wheel, for tests
	$(VENV)/bin/python tools/dist/build.py wheel

supply: setup-test   ## crates and packages: sources, known holes, licences, and the bill of materials
	$(VENV)/bin/python tools/run_supply.py

sbom: setup-test     ## write the bill of materials (CycloneDX) to target/sbom
	$(VENV)/bin/python tools/sbom.py

bench: setup bare    ## the engine beside its peers (20 minutes at most); writes docs/performance.md
	$(VENV)/bin/python bench/run.py --page

agreement: setup bare   ## the same work through fio and Assay (16 minutes); writes docs/agreement.md
	$(VENV)/bin/python bench/agreement/run.py --page

setup: $(VENV)/.runtime engine   ## Python environment and engine
	@$(VENV)/bin/python -m compileall -q workbench/src

.PHONY: setup-test setup-test-all
setup-test: $(VENV)/.development engine bare faultfs
	@sh tools/bootstrap.sh tests

setup-test-all: setup-test   # servers, a scheduler and a browser, which only `make test-all` needs
	@sh tools/bootstrap.sh all-tests
	@sh tools/mpi_engine.sh mpich
	@$(VENV)/bin/python tools/servers.py

engine:              ## build assay-engine and assay-switch; assay-engine-mpi, too, where there is mpicc
	@sh tools/bootstrap.sh
	cargo build --release --locked --quiet --package assay-cli --package assay-switch
	@sh tools/mpi_engine.sh

.PHONY: bare
bare: engine         # the loops that the benches measure against
	cargo build --release --locked --quiet --package assay-bare

.PHONY: faultfs
faultfs: engine      # the file system that fails, for the tests
	cargo build --release --locked --quiet --package assay-faultfs

$(VENV)/bin/python:
	@PYTHON=$(PYTHON) sh tools/bootstrap.sh
	rm -f $(VENV)/.runtime $(VENV)/.development
	$(PYTHON) -m venv --clear $(VENV)

# Every file that comes from a registry must have a hash in a lock file, and nothing of it is run to build it.
PIP_INSTALL := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check

$(VENV)/.runtime: workbench/requirements.lock workbench/requirements-build.lock workbench/pyproject.toml | $(VENV)/bin/python
	$(PIP_INSTALL) --require-hashes --only-binary :all: -r workbench/requirements-build.lock -r workbench/requirements.lock
	$(PIP_INSTALL) --no-deps --no-build-isolation --editable workbench
	@touch $@

$(VENV)/.development: workbench/requirements-dev.lock $(VENV)/.runtime
	$(PIP_INSTALL) --require-hashes --only-binary :all: -r workbench/requirements-dev.lock
	@touch $@

generate: setup-test ## write the files that follow from the Rust types and the models
	$(VENV)/bin/python tools/generate.py
	$(VENV)/bin/python tools/licences.py

format: setup-test   ## format all code
	cargo fmt
	cd workbench && ../$(VENV)/bin/ruff format . ../tools ../bench && ../$(VENV)/bin/ruff check --fix --quiet . ../tools ../bench

clean:               ## remove what was built (not the results)
	rm -rf $(VENV) target
