# make demo   a first crawl, against the sandbox: needs no account and no network
# make test   lint, types and all tests
# make bench  the benchmarks (benchmarks/README.md)
# Needs Python >= 3.10 and a package index; `make PYTHON=python3.12 demo` picks another one.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test lint types unit bench format clean

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "Python >= 3.10 is needed; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	@touch $(READY)

demo: $(READY)
	@$(BIN)/python -m sandbox.demo

test: lint types unit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

# Hundreds of crawls are processes of their own, which would compile our modules each time where
# PYTHONDONTWRITEBYTECODE is set.
unit: $(READY)
	@$(BIN)/python -m compileall -q mediacrawler sandbox
	$(BIN)/python -m pytest -n auto --dist loadfile

bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[bench]"
	$(BIN)/python -m benchmarks

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache
