# Two commands: `make book` and `make test`. Each sets up what it needs; `make help` lists the rest.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORES ?= $(shell getconf _NPROCESSORS_ONLN)
# The index that holds another torch build (CPU-only or CUDA); empty: wherever pip looks anyway.
TORCH_INDEX ?=
PROFILE ?= fast

C ?=
P ?=

.DEFAULT_GOAL := help
.PHONY: help book test test-site chapter paper serve bench clean setup

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  variables: CORES=2 (jobs side by side), PYTHON=python3.12, TORCH_INDEX=<address> (another torch build)"

book: $(VENV)/.ready ## execute what is stale, build the site into _build/site
	@$(BIN)/python -m signalbook book --cores $(CORES) --profile $(PROFILE)

test: $(VENV)/.ready ## run the test suite (no browser, no data, no network)
	@$(BIN)/python -m pytest -n $(CORES)

test-site: $(VENV)/.ready ## test the built site in Chromium
	@$(BIN)/python -m pytest tests/site

chapter: $(VENV)/.ready ## execute one chapter: C=<part>/<slug> [P="name=value ..."]
	@$(BIN)/python -m signalbook chapter "$(C)" --set '$(P)'

paper: $(VENV)/.ready ## the same at the document's own sizes, recorded: C=<part>/<slug> [P="device=cuda"]
	@$(BIN)/python -m signalbook paper "$(C)" --set '$(P)'

serve: $(VENV)/.ready ## show the built site on this machine
	@$(BIN)/python -m signalbook serve

bench: $(VENV)/.ready ## run the benchmarks into records/benchmarks.json
	@$(BIN)/python benchmarks/run.py

clean: ## remove everything that was made, but not the environment
	rm -rf _build .snakemake

setup: $(VENV)/.ready ## make the environment only

# The stamp is written last: an interrupted installation is taken up again.
$(VENV)/.ready: pyproject.toml constraints.txt
	@echo "setting up $(VENV): about 1.5 GB, a minute or more"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11 ...")'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $@
