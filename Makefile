# Everything a developer or a newcomer runs. `make demo` and `make test` work on a fresh clone with
# Python >= 3.11; the set-up is repeated only when pyproject.toml changes.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: demo test quick lint format bench fuzz faults clean

demo: $(READY)
	$(BIN)/countmorl demo

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile

# Before each commit: every test but those marked slow. CI runs them all.
quick: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)
	$(BIN)/python -m benchmarks

# Damaged files of every format, for MINUTES; FORMATS="policy config" attacks these alone.
MINUTES ?= 30
fuzz: $(READY)
	PYTHONPATH=tests $(BIN)/python -m robustness.fuzz --minutes $(MINUTES) $(FORMATS)

# Every call of a run to the disk fails once with each error, and once the process is killed there.
faults: $(READY)
	PYTHONPATH=tests $(BIN)/python -m robustness.faults

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "countmorl needs Python >= 3.11, but $(PYTHON) is older. Try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 2; }
	@echo "Setting up .venv (a minute or two, once) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)

clean:
	rm -rf .venv build dist .pytest_cache .ruff_cache .hypothesis
