# Two commands: `make book` and `make test`. Each sets up what it needs; `make help` lists the rest.

PYTHON ?= python3
# The index that holds another torch build; empty: the build for this machine.
TORCH_INDEX ?=
PROFILE ?= fast
C ?=
P ?=
GRID ?=
ALL ?=
ID ?=
OUT ?=
BUDGET ?=
PORT ?= 8000
KILLS ?= 50
SEEDS ?= 20

THIS_PYTHON := $(if $(filter file,$(origin PYTHON)),,--this-python)
ifeq ($(origin CORES),undefined)
CORES := $(shell getconf _NPROCESSORS_ONLN)
endif

# What the caller wrote reaches the commands through the environment, as it stands: neither make nor
# the shell reads it.
override CORES := $(value CORES)
override PYTHON := $(value PYTHON)
override TORCH_INDEX := $(value TORCH_INDEX)
override PROFILE := $(value PROFILE)
override C := $(value C)
override P := $(value P)
override GRID := $(value GRID)
override ALL := $(value ALL)
override BUDGET := $(value BUDGET)
override PORT := $(value PORT)
override KILLS := $(value KILLS)
override SEEDS := $(value SEEDS)
override ID := $(value ID)
override OUT := $(value OUT)
# Jobs start interpreters by the hundred: these keep what they compile, whatever the caller's shell says.
unexport PYTHONDONTWRITEBYTECODE

export PYTHON CORES TORCH_INDEX PROFILE C P GRID BUDGET PORT KILLS SEEDS ID OUT

BIN := .venv/bin
ENVIRONMENT := "$$PYTHON" -m environment $(THIS_PYTHON)

.DEFAULT_GOAL := help
.PHONY: help book test test-fast test-site chapter new paper sweep vouch serve pdf zip bench mutants promises fuzz seeds clean setup lock

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  variables: CORES=2 (jobs side by side), PYTHON=python3.12, TORCH_INDEX=<address> (another torch build),"
	@echo "  PROFILE=slurm (jobs on a cluster), PROFILE=paper (the documents' sizes), PROFILE=\"paper slurm\""

book: setup ## execute what is stale, build the site into _build/site
	@$(BIN)/python -m signalbook book --cores "$$CORES" --profile "$$PROFILE"

test: setup ## run the test suite (no browser, no data; the network for the pins alone)
	@$(BIN)/python -m pytest -n auto --dist worksteal

test-fast: setup ## run the tests that take a second at most: under a minute, no builds, no long statistics
	@$(BIN)/python -m pytest -n "$$CORES" -m "not slow"

test-site: setup ## test the built site in Chromium
	@$(BIN)/python -m pytest -n "$$CORES" --dist worksteal tests/site

chapter: setup ## execute one chapter: C=<part>/<slug> [P="name=value ..."] [OUT=<folder> for what it found]
	@$(BIN)/python -m signalbook chapter --set="$$P" --out="$$OUT" -- "$$C"

new: setup ## write the first files of a new chapter: C=<part>/<slug> [ID=<statement>]
	@$(BIN)/python -m signalbook new --ids="$$ID" -- "$$C"

paper: setup ## the same at the document's own sizes, recorded: C=<part>/<slug> [P="device=cuda"], or ALL=1 [BUDGET=2h]
	@$(BIN)/python -m signalbook paper --profile="$$PROFILE" --cores "$$CORES" $(if $(ALL),--all --budget="$$BUDGET",--set="$$P" -- "$$C")

sweep: setup ## one chapter over a grid, into one table: C=<part>/<slug> GRID="width=64,128 seed=0,1" [P="runs=5"]
	@$(BIN)/python -m signalbook sweep --grid="$$GRID" --set="$$P" --profile="$$PROFILE" --cores "$$CORES" -- "$$C"

vouch: setup ## carry records over to code that changed since, where the fast run finds the same: all, or C=<part>/<slug>
	@$(BIN)/python -m signalbook vouch $(if $(C),-- "$$C")

serve: setup ## show the built site on this machine [PORT=8000]
	@$(BIN)/python -m signalbook serve --port "$$PORT"

pdf: setup ## print the built site with Chromium, a PDF for each part, into _build/pdf [P="rank kernels"]
	@$(BIN)/python -m signalbook pdf --parts="$$P"

zip: setup ## pack the built site into _build/signalprop-book.zip, to be opened as files
	@$(BIN)/python -m signalbook zip

bench: setup ## run the benchmarks into records/benchmarks.json [P="tangents": some of them]
	@$(BIN)/python benchmarks/run.py $$P

MUTATED := $(addprefix signalprop/,theory limits metrics chains) signalbook/checks signalbook/settle.py
mutants: setup ## plant slips of one token, list those that no test notices [P="src/signalprop/metrics --count 50"]
	@$(BIN)/python tests/mutants.py $${P:-$(addprefix src/,$(MUTATED)) --count 200}

promises: setup ## try to break what the project promises, into records/promises.json [KILLS=50]
	@rm -f records/promises.json
	@SIGNALBOOK_PROMISES="$$PWD/records/promises.json" SIGNALBOOK_KILLS="$$KILLS" $(BIN)/python -m pytest \
		tests/signalbook/test_kills.py tests/signalprop/data tests/signalprop/training/test_checkpoint.py

fuzz: setup ## ask public functions with 10,000 examples each, into records/fuzz.json [P="-k 'metrics or layers'"]
	@SIGNALBOOK_PROMISES="$$PWD/records/fuzz.json" PYTEST_ADDOPTS="$$PYTEST_ADDOPTS $$P" \
		$(BIN)/python -m pytest --hypothesis-profile=scheduled tests/fuzz

seeds: setup ## verdicts with other seeds, into records/seeds.json [SEEDS=20] [C=<part>/<slug>] [BUDGET=2h]
	@$(BIN)/python -m signalbook seeds --count="$$SEEDS" --budget="$$BUDGET" --cores "$$CORES" $(if $(C),-- "$$C")

clean: ## remove everything that was made, but not the environment
	rm -rf _build .snakemake

setup: ## make the environment only
	@$(ENVIRONMENT)

lock: ## write the pins anew from pyproject.toml: constraints.txt and environment.yml
	@$(ENVIRONMENT) lock
