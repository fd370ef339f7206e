# `make corpus` and `make test` do all the set-up that a fresh machine needs (Python 3.11 or newer, and make).

VENV := .venv
BIN := $(VENV)/bin
OUT := out
PYTEST_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help corpus test unit servers lint docs lock clean

help:
	@echo 'make corpus    compile, decode and judge every case; a summary table, a Parquet manifest in $(OUT)/corpus'
	@echo 'make test      run the tests'
	@echo 'make unit      run those alone that need no minute'
	@echo 'make servers   fetch the real servers that recordings are made with (Debian packages)'
	@echo 'make lint      ruff and mypy'
	@echo 'make docs      the documentation as a site in $(OUT)/site'
	@echo 'make lock      resolve the dependencies again (needs uv)'

corpus: $(VENV)/.ready
	$(BIN)/forge corpus build --out $(OUT)/corpus

test: $(VENV)/.ready
	$(BIN)/python -m pytest $(PYTEST_ARGS)

unit: $(VENV)/.ready
	$(BIN)/python -m pytest -m unit $(PYTEST_ARGS)

servers:
	.ci/servers

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.ready
	$(BIN)/mkdocs build --quiet --strict --site-dir $(OUT)/site

lock:
	uv pip compile --universal --python-version 3.11 --all-extras --generate-hashes --no-header --no-annotate --quiet \
	  --upgrade pyproject.toml -o requirements.lock

clean:
	rm -rf $(OUT) $(VENV)

$(VENV)/.ready: requirements.lock pyproject.toml .ci/environment
	.ci/environment
