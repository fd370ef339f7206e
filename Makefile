# `make corpus` and `make test` do all the set-up that a fresh machine needs (Python 3.11 or newer, and make).
# The unit tests on another Python, without the extras:
#   make unit PYTHON=python3.13 VENV=.venv-3.13 LOCK=requirements-test.lock

VENV := .venv
LOCK := requirements.lock
BIN := $(VENV)/bin
OUT := out
# Processes that share the tests; `WORKERS=0` runs them in one.
WORKERS ?= auto
PYTEST_ARGS ?=
BENCH_ARGS ?=
POWER_ARGS ?=
FUZZ_ARGS ?=
TRUTH_ARGS ?=
VERDICTS_ARGS ?=
LINES_ARGS ?=
COMPAT_ARGS ?=
REPLICAS_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help corpus test unit long fuzz round-trips live truth verdicts nightly kills spark-versions lines compat-matrix replicas suites bench servers old-servers mono lint docs lock clean testees power known-bugs wheels release

help:
	@echo 'make corpus    compile, decode and judge every case; a summary table, a Parquet manifest in $(OUT)/corpus'
	@echo 'make test      run the tests'
	@echo 'make unit      run those alone that need no minute'
	@echo 'make long      run them with 10,000 examples for each property instead of 25 (hours)'
	@echo 'make fuzz      read 100,000 damaged logs in bulk, with kernels that check every access (hours), and as many'
	@echo '               more changed logs with all readers, counted in tests/fuzz/runs.jsonl'
	@echo 'make round-trips  list and assemble 1,000,000 changed logs, counted in tests/long/runs.jsonl (20 minutes)'
	@echo 'make live      ask real servers about random literals and statements, counted in'
	@echo '               tests/long/live/runs.jsonl (an hour for each of them)'
	@echo 'make truth     replay 1,000 cases of $(OUT)/corpus on real servers and compare what SELECT gives (half an hour)'
	@echo 'make verdicts  ask the vendors'"'"' readers and servers about each case of $(OUT)/corpus, into corpora/kit/vendors.tsv (an hour)'
	@echo 'make lines    record all scenarios on the real servers of their lines and compare, into $(OUT)/lines (hours)'
	@echo 'make compat-matrix  let real consumers read and apply logs of other lines, into corpora/compat (half an hour)'
	@echo 'make replicas  hold the cells of corpora/replays against real replicas (minutes)'
	@echo 'make nightly   run all tests, with every recording, setting and server, and those that take minutes each (hours)'
	@echo 'make kills     kill the drivers of streams 50 times at random, and the processes of writes (an hour)'
	@echo 'make spark-versions   run the tests of Spark with PySpark 4.0, 4.1, 4.2, and pandas 3 (half an hour)'
	@echo 'make bench     time ours and other programs on the same logs; results in $(OUT)/benchmarks.json (half an hour)'
	@echo 'make suites    run scripts of the vendors'"'"' suites through us and the servers, into docs/suites.md (an hour)'
	@echo 'make testees   build the programs that drive other decoders for forge conform, into $(OUT)/testees'
	@echo 'make power     measure how much of decoders the corpus reaches and tells apart, into docs/power.md (hours; it goes on where it ended)'
	@echo 'make known-bugs   catch known bugs of other decoders again: fetch releases that had them, run cases of $(OUT)/kit'
	@echo 'make servers   fetch the real servers that recordings are made with (Debian packages)'
	@echo 'make old-servers  fetch real servers of older lines too (packages of Maven, npm and Debian; minutes, 3 GB)'
	@echo 'make mono      fetch the C# compiler of Mono that the tests of fixtures use (Debian packages)'
	@echo 'make lint      ruff, mypy, the order of the rooms, and zizmor over the workflows'
	@echo 'make docs      the documentation as a site in $(OUT)/site'
	@echo 'make wheels    build the package and its corpus, which is one of its own, into $(OUT)/wheels'
	@echo 'make release   all that a release publishes, the same bytes each time, into $(OUT)/release (half an hour)'
	@echo 'make lock      resolve the dependencies again (needs uv)'

corpus: $(VENV)/.ready
	$(BIN)/forge corpus build --out $(OUT)/corpus

test: $(VENV)/.ready
	$(BIN)/python -m pytest -n $(WORKERS) $(PYTEST_ARGS)

unit: $(VENV)/.ready
	$(BIN)/python -m pytest -n $(WORKERS) -m unit $(PYTEST_ARGS)

long: $(VENV)/.ready
	HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest -n $(WORKERS) -m unit -o faulthandler_timeout=7200 $(PYTEST_ARGS)

fuzz: $(VENV)/.ready
	FORGE_CHECKED_KERNELS=1 FORGE_DAMAGED_LOGS=10000 HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest -o faulthandler_timeout=7200 \
	  tests/bulk/test_damaged.py tests/bulk/test_generated.py $(PYTEST_ARGS)
	$(BIN)/python -m tests.fuzz --out $(OUT)/fuzz $(FUZZ_ARGS)

round-trips: $(VENV)/.ready
	$(BIN)/python -m tests.long --out $(OUT)/round-trips $(FUZZ_ARGS)

live: $(VENV)/.ready
	$(BIN)/python -m tests.long.live --seconds 1200 $(FUZZ_ARGS)

truth: $(VENV)/.ready
	$(BIN)/python -m tests.long.truth --corpus $(OUT)/corpus $(TRUTH_ARGS)

verdicts: $(VENV)/.ready
	$(BIN)/python -m tests.long.vendors --corpus $(OUT)/corpus $(VERDICTS_ARGS)

compat-matrix: $(VENV)/.ready
	$(BIN)/python -m tests.long.compat $(COMPAT_ARGS)

replicas: $(VENV)/.ready
	$(BIN)/python -m tests.long.replicas $(REPLICAS_ARGS)

lines: $(VENV)/.ready
	$(BIN)/python -m tests.long.lines --out $(OUT)/lines $(LINES_ARGS)

suites: $(VENV)/.ready servers
	.ci/suites
	$(BIN)/python -m tests.long.suites --out $(OUT)/suites --page docs/suites.md $(SUITES_ARGS)

nightly: $(VENV)/.ready
	FORGE_NIGHTLY=1 $(BIN)/python -m pytest -n $(WORKERS) -o faulthandler_timeout=1800 $(PYTEST_ARGS)

kills: $(VENV)/.ready
	FORGE_NIGHTLY=1 FORGE_STREAM_KILLS=50 FORGE_SINK_FAULTS=50 $(BIN)/python -m pytest -o faulthandler_timeout=7200 \
	  tests/spark/test_stream_killed.py tests/spark/test_stream_sink_killed.py tests/spark/test_sink_faults.py $(PYTEST_ARGS)

spark-versions:
	.ci/spark-versions $(PYTEST_ARGS)

bench: $(VENV)/.ready
	$(BIN)/python -m tests.benchmarks --folder $(OUT)/benchmarks --json $(OUT)/benchmarks.json $(BENCH_ARGS)

# Two of them are Python programs of this environment.
testees: $(VENV)/.ready
	FORGE_PYTHON=$(abspath $(BIN)/python) .ci/testees $(OUT)/testees

power: $(VENV)/.ready
	$(BIN)/forge corpus build --out $(OUT)/corpus --decoders forge
	$(BIN)/python -m tests.power --corpus $(OUT)/corpus --json $(OUT)/power.json --adding corpora/kit/power.tsv $(POWER_ARGS)
	$(BIN)/python -m tests.power.foreign --corpus $(OUT)/corpus --out $(OUT)/covered --json $(OUT)/foreign.json
	$(BIN)/python -m tests.power.page $(OUT)/power.json $(OUT)/foreign.json

known-bugs: $(VENV)/.ready
	$(BIN)/python -m tests.known_bugs --kit $(OUT)/kit --programs $(OUT)/known-bugs

servers:
	.ci/servers

old-servers: servers
	.ci/old-servers

mono:
	.ci/mono

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/mypy
	$(BIN)/zizmor --offline --quiet .github/workflows action.yml templates/kit/ci/common/conformance.yml

docs: $(VENV)/.ready
	rm -rf docs/findings
	$(BIN)/python -m tests.findings --pages docs/findings
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir $(OUT)/site

wheels: $(VENV)/.ready
	$(BIN)/python -m hatchling build -t wheel -d $(abspath $(OUT))/wheels
	cd corpora && $(abspath $(BIN))/python -m hatchling build -t wheel -d $(abspath $(OUT))/wheels

release: corpus testees
	.ci/publish $(OUT)/release

COMPILE := uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet

lock:
	$(COMPILE) --all-extras --upgrade pyproject.toml -o requirements.lock
	$(COMPILE) --extra test --upgrade --constraint requirements.lock pyproject.toml -o requirements-test.lock

clean:
	rm -rf $(OUT) $(VENV)

$(VENV)/.ready: $(LOCK) pyproject.toml .ci/environment
	.ci/environment $(VENV) $(LOCK)
