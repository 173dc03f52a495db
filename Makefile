# Three commands for a newcomer: `make demo`, `make quick` and `make test`. Each makes its own
# environment, .venv.

PYTHON ?= python3
BIN := .venv/bin
SOURCES := pyproject.toml rust/Cargo.toml rust/Cargo.lock \
	$(wildcard rust/domains/Cargo.toml rust/domains/src/*.rs rust/kernel/Cargo.toml rust/kernel/src/*.rs \
		rust/python/Cargo.toml rust/python/src/*.rs)

# Compiled once, and not again by each worker and each process that a test starts.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal
# What `make test` leaves to `make verify`, by its markers; pyproject.toml says what they mean.
LONGER := deep or crash or mutant or spark or (statistical and slow)

NEED_CARGO := command -v cargo > /dev/null \
	|| { echo "set-up: cargo is missing; install Rust 1.89 or newer."; exit 1; }

.DEFAULT_GOAL := help
.PHONY: help demo quick test verify check docs gallery pictures package bench paper peers audit timing coverage soak fuzz clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/installed ## show the mechanism at work on made-up data
	@echo "== demo: topgap demo"
	@$(BIN)/topgap demo || { echo "make demo: FAILED"; exit 1; }
	@echo "make demo: done"

quick: .venv/installed-dev ## run the tests that take a moment, after each change (a minute)
	@echo "== quick: pytest, on all cores (a minute)"
	@$(PYTEST) -m "not ($(LONGER) or slow or browser)" || { echo "make quick: FAILED"; exit 1; }
	@echo "make quick: passed"

# Each line runs even if one before it failed, so that one run shows everything.
test: .venv/installed-dev ## run the tests: all behaviour, and the law to a moderate depth (five minutes)
	@failed=0; \
	step() { echo "== test: $$1"; shift; "$$@" || failed=1; }; \
	step "cargo test" cargo test --quiet --locked --manifest-path rust/Cargo.toml; \
	step "pytest, on all cores (five minutes)" $(PYTEST) -m "not ($(LONGER)) or smoke"; \
	if [ $$failed = 1 ]; then echo "make test: FAILED"; exit 1; fi
	@echo "make test: passed"

verify: .venv/installed-dev ## run all other tests: mutants, deep walks, crashes, Spark (a quarter of an hour)
	@echo "== verify: pytest, on all cores (a quarter of an hour)"
	@$(PYTEST) -m "($(LONGER)) and not smoke" || { echo "make verify: FAILED"; exit 1; }
	@echo "make verify: passed"

# Each line runs even if one before it failed, so that one run shows everything.
check: .venv/installed-dev ## lint, formatting and types, Python and Rust, and whether proofs fit their code
	@failed=0; \
	step() { echo "== check: $$*"; "$$@" || failed=1; }; \
	step $(BIN)/ruff check .; \
	step $(BIN)/ruff format --check .; \
	step $(BIN)/mypy; \
	step $(BIN)/stubtest topgap._core; \
	step $(BIN)/lint-imports --no-cache; \
	step $(BIN)/python -m tools.proofs; \
	step $(BIN)/codespell; \
	step $(BIN)/python -m tools.wording; \
	step $(BIN)/check-jsonschema --builtin-schema vendor.github-workflows \
		.github/workflows/test.yml .github/workflows/wheels.yml; \
	step $(BIN)/zizmor --offline --quiet .github/workflows; \
	step cargo fmt --manifest-path rust/Cargo.toml --all --check; \
	step cargo clippy --locked --manifest-path rust/Cargo.toml --all-targets -- -D warnings; \
	step cargo fmt --manifest-path rust/fuzz/Cargo.toml --check; \
	step cargo clippy --manifest-path rust/fuzz/Cargo.toml -- -D warnings; \
	if [ $$failed = 1 ]; then echo "make check: FAILED"; exit 1; fi
	@echo "make check: passed"

# Material for MkDocs tells of its successor at each run; that is for us to decide, not for a reader.
docs: export NO_MKDOCS_2_WARNING = 1
# With --quiet, MkDocs sees no warning itself, and so --strict would let all of them pass.
docs: .venv/installed-dev ## run the notebooks, build the site strictly into site/, follow its links, and see how far and long its pages are
	@failed=0; \
	step() { echo "== docs: $$*"; "$$@" || failed=1; }; \
	step $(BIN)/python -m tools.notebooks; \
	step $(BIN)/mkdocs build --strict; \
	step $(BIN)/python -m tools.links site; \
	step $(BIN)/python -m tools.reach site; \
	if [ $$failed = 1 ]; then echo "make docs: FAILED"; exit 1; fi
	@echo "make docs: done, see site/index.html; with search: python -m http.server --directory site"

gallery: .venv/installed-dev ## release the six finished reports of docs/gallery anew, from public data (half a minute)
	@echo "== gallery: python -m tools.gallery"
	@$(BIN)/python -m tools.gallery || { echo "make gallery: FAILED"; exit 1; }
	@$(BIN)/python -m tools.pictures reports || { echo "make gallery: FAILED"; exit 1; }
	@echo "make gallery: done, see docs/gallery.md"

pictures: .venv/installed-dev ## draw the pictures of the pages, and take those of a terminal and of the reports
	@echo "== pictures: python -m tools.pictures"
	@$(BIN)/python -m tools.pictures || { echo "make pictures: FAILED"; exit 1; }
	@echo "make pictures: done, see docs/pictures and docs/gallery"

package: .venv/installed-dev ## build wheel and sdist, and install each into an environment of its own (minutes)
	@echo "== package: python -m tools.package (minutes)"
	@$(BIN)/python -m tools.package || { echo "make package: FAILED"; exit 1; }
	@echo "make package: done"

bench: .venv/installed-dev ## measure kernel, counting, databases, baskets, Spark and ledger against their peers, and plans
	@for each in kernel kernel.runs kernel.bounded kernel.threshold kernel.groups pipeline.counting \
		pipeline.domains pipeline.groups pipeline.groups_page statistics.quest pipeline.streams \
		pipeline.postgresql pipeline.spark pipeline.spark_groups statistics.estimates statistics.plan pipeline.ledger; do \
		echo "== bench: python -m benchmarks.$$each"; \
		$(BIN)/python -m benchmarks.$$each || { echo "make bench: FAILED"; exit 1; }; \
	done
	@echo "make bench: done"

paper: .venv/installed-dev ## measure the paper's three tables again, into docs/reproduction (ten minutes)
	@echo "== paper: python -m benchmarks.paper (ten minutes)"
	@$(BIN)/python -m benchmarks.paper || { echo "make paper: FAILED"; exit 1; }
	@echo "make paper: done, see docs/reproduction.md"

peers: .venv/installed-dev ## measure topgap beside its peers, speed and utility, into docs (an hour)
	@for each in peers peers.opendp_threshold utility utility.domains utility.bounded \
		utility.threshold utility.monitor; do \
		echo "== peers: python -m benchmarks.$$each (up to twenty minutes)"; \
		$(BIN)/python -m benchmarks.$$each || { echo "make peers: FAILED"; exit 1; }; \
	done
	@echo "make peers: done, see docs/peers.md and docs/utility.md"

audit: .venv/installed ## audit ten million releases, and find what is broken on purpose (a few minutes)
	@echo "== audit: topgap audit (a few minutes)"
	@$(BIN)/topgap audit || { echo "make audit: FAILED"; exit 1; }
	@echo "make audit: passed"

timing: .venv/installed-dev ## measure what the running time says about the data (ten minutes)
	@echo "== timing: python -m benchmarks.kernel.timing (ten minutes)"
	@$(BIN)/python -m benchmarks.kernel.timing || { echo "make timing: FAILED"; exit 1; }
	@echo "make timing: done"

coverage: .venv/installed-dev ## measure how often confidence intervals cover (half an hour)
	@for each in coverage coverage_of_counts; do \
		echo "== coverage: python -m benchmarks.statistics.$$each (up to half an hour)"; \
		$(BIN)/python -m benchmarks.statistics.$$each || { echo "make coverage: FAILED"; exit 1; }; \
	done
	@echo "make coverage: done"

soak: .venv/installed-dev ## kill, crowd and fail the ledger, cut its power, and release 10^8 times (half an hour)
	@echo "== soak: the tests of the ledger's crashes and of signals, on all cores (ten minutes)"
	@TOPGAP_SOAK=1 $(BIN)/python -m pytest -n auto --dist worksteal \
		tests/ledger/test_kills.py tests/ledger/test_writers.py \
		tests/ledger/test_faults.py tests/ledger/test_power_cuts.py tests/cli/test_signals.py \
		|| { echo "make soak: FAILED"; exit 1; }
	@echo "== soak: a hundred million releases, on all cores (a quarter of an hour)"
	@$(BIN)/python -m tests.soak.run 100000000 || { echo "make soak: FAILED"; exit 1; }
	@echo "make soak: done"

# Each line runs even if one before it failed, so that one run shows everything.
fuzz: .venv/installed-dev ## hand everything anything, a million times and more, with sanitizers (an hour)
	@failed=0; \
	step() { echo "== fuzz: $$1"; shift; "$$@" || failed=1; }; \
	step "the kernel, guided by coverage, with AddressSanitizer" rust/fuzz/run kernel; \
	step "kernels that are broken, which must be found" \
		$(BIN)/python -m pytest -q -n 0 tests/kernel/fuzz_kernel.py; \
	step "the kernel's threads, with ThreadSanitizer" rust/fuzz/run threads; \
	step "the kernel in Miri, if there is one" rust/fuzz/run miri; \
	step "the extension, with AddressSanitizer" rust/fuzz/run extension \
		tests/selection/test_mechanism.py tests/selection/test_answer_kinds.py tests/selection/test_selector.py \
		tests/selection/test_measurement.py tests/fuzz/test_fuzz.py; \
	step "every public entry point, a million calls" \
		$(BIN)/python -m tests.fuzz.run 1000000; \
	if [ $$failed = 1 ]; then echo "make fuzz: FAILED"; exit 1; fi
	@echo "make fuzz: done"

clean: ## remove the environment and all that was built
	rm -rf .venv .cache site dist rust/target rust/fuzz/target rust/fuzz/found src/topgap/_core.abi3.so .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache

.venv/installed: $(SOURCES) | .venv/bin/python
	@$(NEED_CARGO)
	@echo "== set-up: building topgap and installing it into .venv (the first time takes a minute)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[cli]' \
		|| { echo "set-up: FAILED, see above"; exit 1; }
	@touch $@

.venv/installed-dev: $(SOURCES) | .venv/bin/python
	@$(NEED_CARGO)
	@echo "== set-up: building topgap and installing it and its tools into .venv (the first time takes a minute)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' \
		|| { echo "set-up: FAILED, see above"; exit 1; }
	@cargo build --quiet --locked --release --manifest-path rust/Cargo.toml --package topgap-probe \
		|| { echo "set-up: FAILED, see above"; exit 1; }
	@.ci/install-debian chromium || echo "set-up: going on without Chromium; its tests are skipped"
	@.ci/install-debian java || echo "set-up: going on without Java; the tests on Spark are skipped"
	@.ci/install-debian postgresql || echo "set-up: going on without PostgreSQL; its tests are skipped"
	@touch $@ .venv/installed

.venv/bin/python:
	@$(NEED_CARGO)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null \
		|| { echo "set-up: $(PYTHON) is not Python 3.11 or newer; name one, as in make demo PYTHON=python3.12."; exit 1; }
	@echo "== set-up: making the virtual environment .venv"
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "set-up: FAILED, see above"; exit 1; }
