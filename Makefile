# Everything happens in .venv; nothing is installed on the system.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Positions in containers are checked in the build that is tested; OFF for benchmarks, as in a wheel.
ASSERTIONS ?= ON
# Extras of the package that the service needs, and those that all tests need.
SERVICE := serve,client,kafka
EXTRAS := $(SERVICE),spark,stores,bench,languages
INSTALL := python -m pip install --quiet --disable-pip-version-check
BUILDER := 'scikit-build-core>=0.11' 'nanobind>=2.4' 'ninja>=1.11' 'cmake>=3.26'
NEW_PIP := --upgrade 'pip>=25.1' # the first that knows --group
SOURCES := $(shell find cpp -name '*.cpp' -o -name '*.h') CMakeLists.txt pyproject.toml

.PHONY: help build test unit lint demo serve docs pictures sanitize sanitize-threads fuzz stub wheel oldest mutants clean

help:
	@echo "make demo      build, then show the main job in the terminal"
	@echo "make serve     build, then run the service with saved searches and messages in it"
	@echo "make test      build, check style and layers, run all tests"
	@echo "make unit      the tests of the core alone, in C++ (part of make test)"
	@echo "make sanitize  contracts and fuzzing under AddressSanitizer and UBSan (EXAMPLES=5 SECONDS=600)"
	@echo "make sanitize-threads  threads that change, ask, save and open, under ThreadSanitizer"
	@echo "make fuzz      long fuzzing (ROUNDS=200000 mutations, SECONDS=600 of drawn cases)"
	@echo "make oldest    the unit tests under the oldest Python (OLDEST=python3.10)"
	@echo "make mutants   change one operator at a time and see whether a test notices (SAMPLE=40)"
	@echo "make docs      the documents as a site in build/site, readable without network"
	@echo "make pictures  make the picture of README anew; needs chromium"
	@echo "make stub      write src/nearcast/_core.pyi anew"
	@echo "make wheel     a wheel in dist/"

build: $(VENV)/.built

# Each target installs what it needs and no more: the demo wants neither Spark nor the linters.
# --no-compile: Python writes the byte code of a module when it is first imported, in less time than
# pip takes for all modules.
$(VENV)/.builder: pyproject.toml
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/$(INSTALL) --no-compile $(BUILDER)
	@touch $@

$(VENV)/.built: $(VENV)/.builder $(SOURCES)
	$(BIN)/$(INSTALL) --no-compile --no-build-isolation \
	  --config-settings=cmake.define.NEARCAST_ASSERTIONS=$(ASSERTIONS) --editable .
	@touch $@

# Extras are named of the package that is installed by then: nothing is built for them.
$(VENV)/.tools: $(VENV)/.builder | $(VENV)/.built
	$(BIN)/$(INSTALL) $(NEW_PIP)
	$(BIN)/$(INSTALL) --group dev 'nearcast[$(EXTRAS)]'
	@touch $@

# The build has the core as a library, so the programs that test it alone are built in seconds.
# The folder is the one that scikit-build-core names after the wheel's tag.
TAG = $(shell $(BIN)/python -c "import sys, sysconfig as s; v = 'cp%d%d' % sys.version_info[:2]; \
  print(v, v, s.get_platform().replace('-', '_').replace('.', '_'), sep='-')")
unit: build
	$(BIN)/cmake --build build/$(TAG) --target nearcast_unit nearcast_stress
	build/$(TAG)/nearcast_unit
	build/$(TAG)/nearcast_stress 3

test: build lint unit
	$(BIN)/python -m pytest -n 2 --dist loadgroup

lint: build $(VENV)/.tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run --Werror $$(find cpp -name '*.cpp' -o -name '*.h')
	$(BIN)/python tools/check_layers.py
	$(BIN)/python tools/check_stub.py
	$(BIN)/python tools/check_citations.py

demo: build
	$(BIN)/nearcast demo

$(VENV)/.service: $(VENV)/.builder | $(VENV)/.built
	$(BIN)/$(INSTALL) 'nearcast[$(SERVICE)]'
	@touch $@

serve: build $(VENV)/.service
	$(BIN)/nearcast serve --demo

docs: build $(VENV)/.tools
	$(BIN)/python -m tools.docs

pictures: build $(VENV)/.tools
	mkdir -p docs/pictures
	NEARCAST_PICTURES=docs/pictures $(BIN)/python -m pytest -q tests/service/test_page_pictures.py -k readme

stub: build $(VENV)/.tools
	$(BIN)/python tools/check_stub.py --write

wheel: $(VENV)/.tools
	$(BIN)/python -m build --wheel --outdir dist .

fuzz: build $(VENV)/.tools
	NEARCAST_FUZZ_ROUNDS=$(or $(ROUNDS),200000) $(BIN)/python -m pytest tests/fuzz -q
	cd tests && $(CURDIR)/$(BIN)/python -m differential --seconds $(or $(SECONDS),600) \
	  $(if $(SEED),--seed $(SEED))

# A second environment, so that the sanitized extension never meets the ordinary one.
SANITIZE_BIN := .venv-sanitize/bin
SANITIZED = LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) \
  $$($(CXX) -print-file-name=libstdc++.so)" \
  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
sanitize:
	test -d .venv-sanitize || $(PYTHON) -m venv .venv-sanitize
	$(SANITIZE_BIN)/$(INSTALL) $(NEW_PIP) $(BUILDER)
	$(SANITIZE_BIN)/$(INSTALL) --group test
	$(SANITIZE_BIN)/$(INSTALL) --no-build-isolation \
	  --config-settings=cmake.define.NEARCAST_SANITIZE=address \
	  --config-settings=build-dir=build/sanitize '.[languages]'
	$(SANITIZE_BIN)/cmake --build build/sanitize --target nearcast_unit
	UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 build/sanitize/nearcast_unit
	$(SANITIZED) NEARCAST_EXAMPLES=$(or $(EXAMPLES),5) $(SANITIZE_BIN)/python -m pytest \
	  tests/contract tests/fuzz tests/differential -q -n 2 -p no:cacheprovider
	cd tests && $(SANITIZED) $(CURDIR)/$(SANITIZE_BIN)/python -m differential \
	  --seconds $(or $(SECONDS),600) $(if $(SEED),--seed $(SEED))

# A program of the core alone: Python is not instrumented, and no report is about it. Its memory must
# lie where ThreadSanitizer expects it, so addresses are not drawn at random.
sanitize-threads: $(VENV)/.builder
	$(BIN)/cmake -S . -B build/sanitize-threads -G Ninja -DCMAKE_MAKE_PROGRAM=$(abspath $(BIN))/ninja \
	  -DCMAKE_BUILD_TYPE=Release -DNEARCAST_SANITIZE=thread -DNEARCAST_EXTENSION=OFF
	$(BIN)/cmake --build build/sanitize-threads --target nearcast_unit nearcast_stress
	TSAN_OPTIONS=halt_on_error=1 setarch -R build/sanitize-threads/nearcast_unit
	TSAN_OPTIONS=halt_on_error=1 setarch -R build/sanitize-threads/nearcast_stress $(or $(ROUNDS),200)

# Python 3.10 is promised: build for it, import every module, run the tests of single rooms.
OLDEST ?= python3.10
OLDEST_BIN := .venv-oldest/bin
oldest:
	test -d .venv-oldest || $(OLDEST) -m venv .venv-oldest
	$(OLDEST_BIN)/$(INSTALL) $(NEW_PIP) $(BUILDER)
	$(OLDEST_BIN)/$(INSTALL) --group dev
	$(OLDEST_BIN)/$(INSTALL) --no-build-isolation '.[$(EXTRAS)]'
	$(OLDEST_BIN)/python tools/import_all.py
	$(OLDEST_BIN)/python -m pytest tests/unit tests/cli -q -n 2

# One operator changed at a time: would a test notice? Survivors are explained in docs/mutation.md.
mutants: build $(VENV)/.tools
	$(BIN)/python tools/mutate.py --sample $(or $(SAMPLE),40) --seed $(or $(SEED),1) \
	  $(if $(GROUPS),--groups $(GROUPS))

clean:
	rm -rf build dist $(VENV)/.built
