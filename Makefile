SHELL := bash
PROFILE ?= fr
TASK ?= t1
BIN := .venv/bin

.PHONY: help setup run test test-thorough lint exam lock

help:
	@echo 'make run [PROFILE=fr]             set up and serve; PROFILE=ci is the small English one'
	@echo 'make test                         set up and run the tests'
	@echo 'make test-thorough                set up and run the tests that take another quarter of an hour'
	@echo 'make setup [PROFILE=fr]           the virtual environment and the models of a profile'
	@echo 'make lint                         ruff and mypy'
	@echo 'make exam AUDIO=FILE [TASK=t1]    sit an exam with the voice of a sound file'
	@echo 'make lock                         write requirements.lock anew from pyproject.toml'

setup:
	tools/setup.sh $(PROFILE)

run: setup
	RELANCE_PROFILE=$(PROFILE) $(BIN)/relance serve

test:
	tools/setup.sh ci
	$(BIN)/python -m pytest

test-thorough:
	tools/setup.sh ci
	$(BIN)/python -m pytest -m thorough

lint:
	tools/setup.sh --no-models
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

exam: setup
	@test -n "$(AUDIO)" || { echo 'error: which sound file? make exam AUDIO=FILE [TASK=t1]' >&2; exit 1; }
	RELANCE_PROFILE=$(PROFILE) $(BIN)/relance exam $(TASK) --audio "$(AUDIO)"

# Run with the oldest Python that is supported, and without the machine's own pip settings: the lock must hold the hashes
# of every platform's files and the address of no index. Pins stay as they are unless pyproject.toml asks for others.
lock:
	@venv=$$(mktemp -d) && trap 'rm -rf "$$venv"' EXIT && $${PYTHON:-python3} -m venv "$$venv" && \
	"$$venv/bin/pip" install --quiet pip-tools && \
	env -u PIP_FIND_LINKS PIP_CONFIG_FILE=/dev/null CUSTOM_COMPILE_COMMAND='make lock' "$$venv/bin/pip-compile" --quiet \
	    --no-config --extra dev --build-deps-for editable --allow-unsafe --generate-hashes --strip-extras \
	    --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options \
	    --output-file requirements.lock pyproject.toml
