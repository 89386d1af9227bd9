# Everything happens in .venv, which `make setup` builds; `make help` lists the targets.
PYTHON ?= python3
PINS := deploy/constraints.txt
INSTALL := -m pip --disable-pip-version-check install --quiet

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint docs bench parity coverage separation package constraints clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

setup: .venv/.installed ## Build .venv with the pinned packages (PYTHON=python3.12 picks the interpreter)

demo: setup ## Evaluate a synthetic search log and catch the regression planted in it
	.venv/bin/evaljob demo

test: setup ## Run all tests; add ARGS='-m "not spark"' for those that need no Java
	.venv/bin/python -m pytest -n 2 --dist loadfile $(ARGS)

lint: setup ## Check style, types and shell scripts; changes nothing
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/shellcheck .ci/run deploy/spark-submit/*.sh

docs: setup ## Write docs/metrics.md anew
	.venv/bin/python -m jobs.pages > docs/metrics.md

bench: setup ## Measure speed
	.venv/bin/python $(INSTALL) -c $(PINS) -e '.[bench]'
	.venv/bin/python benchmarks/bench.py $(ARGS)
	.venv/bin/python benchmarks/one_process.py
	.venv/bin/python benchmarks/inference.py
	.venv/bin/python benchmarks/aggregation.py
	.venv/bin/python -m benchmarks.nested

separation: setup ## Count the pairs of real systems that each method tells apart and write docs/separation.md (a minute)
	.venv/bin/python -m benchmarks.score_matrices

parity: setup ## Compare with six other tools on real data and write docs/parity.md (8 minutes; needs ../shared/data)
	.venv/bin/python $(INSTALL) -c $(PINS) -e '.[bench]'
	.venv/bin/python -m benchmarks.parity

coverage: setup ## Simulate how often intervals hold the truth and write docs/coverage.md (40 minutes on one core)
	OMP_NUM_THREADS=1 .venv/bin/python -m benchmarks.coverage $(ARGS)

package: setup ## Build what a cluster needs into out/package
	deploy/spark-submit/package.sh $(ARGS)

constraints: ## Renew deploy/constraints.txt (on the oldest Python: later ones can use its pins)
	$(check_python)
	rm -rf out/constraints && $(PYTHON) -m venv out/constraints
	out/constraints/bin/python $(INSTALL) '.[dev,bench]'
	@echo "# All that .[dev,bench] resolves to on $$($(PYTHON) --version); holds for later ones. Renew: make constraints" > $(PINS)
	out/constraints/bin/python -m pip --disable-pip-version-check list --format=freeze \
	  --exclude evaljob --exclude pip --exclude setuptools >> $(PINS)
	rm -rf out/constraints

clean: ## Delete .venv, out, dist and all caches
	rm -rf .venv out dist .pytest_cache .mypy_cache .ruff_cache .hypothesis spark-warehouse metastore_db derby.log
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.installed: pyproject.toml $(PINS)
	$(check_python)
	@.venv/bin/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear .venv
	@echo 'Installing into .venv (about 1.3 GB with Spark and a Java runtime; a few minutes the first time)'
	@.venv/bin/python $(INSTALL) -c $(PINS) -e '.[dev]'
	@touch $@

define check_python
@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null || { \
  echo "evaljob needs Python 3.11, 3.12 or 3.13. $(PYTHON) says: $$($(PYTHON) --version 2>&1 | head -1)." \
    'Name another one: make setup PYTHON=python3.12' >&2; exit 1; }
@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
  echo '$(PYTHON) has no venv module. On Debian and Ubuntu: apt-get install python3-venv' >&2; exit 1; }
endef
