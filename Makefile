# Everything stays in this folder: uv in .tools, packages in .venv, data in var (or FPCO_DATA_DIR).
PYTHON ?= python3
VENV := .venv/bin
PORT ?= 8000
RESET ?= 0

.DEFAULT_GOAL := help
.PHONY: help install demo test check format bench clean

help: ## Say what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-9s %s\n", $$1, $$2}' Makefile

install: ## Install the project and its tools into this folder
	@$(PYTHON) fpco_site/devtools/bootstrap.py

demo: install ## Start the demo on http://127.0.0.1:8000 (PORT=8080, RESET=1 to begin anew)
	@PORT=$(PORT) RESET=$(RESET) exec $(VENV)/python manage.py demo

test: install ## Run every test, on SQLite and on PostgreSQL with Valkey, and in a browser
	@exec $(VENV)/python -m tests.run

check: install ## Check style, types, layers, migrations, deployment settings and the API's schema
	@exec $(VENV)/python -m fpco_site.devtools.check

format: install ## Format code and templates
	@$(VENV)/ruff check --fix --quiet . && $(VENV)/ruff format --quiet .
	@find templates -name '*.html' -exec $(VENV)/djade {} +

bench: install ## Measure; prints figures, asserts nothing (WRITE=1 puts them into docs/performance.md)
	@exec $(VENV)/python -m tests.bench $(if $(WRITE),--write)

clean: ## Remove what was installed and cached (data in var stays)
	rm -rf .venv .tools .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
