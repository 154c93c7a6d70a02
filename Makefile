# make            installs into .venv (editable, with everything the tests need)
# make demo       two kernels through every stage, run against NumPy
# make test       lint and a fixed sample of the tests; make test-all: every test
# Needs Python 3.11 or later with venv, a C++17 compiler, CMake 3.20 or later.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
NATIVE := $(shell find dialects tileir/runtime/native -name '*.td' -o -name '*.cpp' -o -name '*.h' -o -name 'CMakeLists.txt')

.DELETE_ON_ERROR:
.PHONY: install demo test test-all lint docs bench-compile bench-launch clean

install: $(INSTALLED)

# Build requirements are installed too, and the build is not isolated: rebuilding after a change
# of a C++ file then takes seconds.
$(INSTALLED): pyproject.toml CMakeLists.txt $(NATIVE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ninja $(BUILD_REQUIREMENTS)
	command -v cmake > /dev/null || $(BIN)/python -m pip install --quiet cmake
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pip install --quiet \
	    --disable-pip-version-check --no-build-isolation --editable '.[test,cuda]'
	touch $@

# The versions are written once, in pyproject.toml.
BUILD_REQUIREMENTS = $(shell $(PYTHON) -c "import shlex, tomllib; \
    requires = tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires']; \
    print(*map(shlex.quote, requires))")

demo: $(INSTALLED)
	$(BIN)/python examples/demo.py

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python test/check_types.py
	$(BIN)/python docs/generate.py --check

test: lint
	$(BIN)/lit --succinct test
	$(BIN)/pytest --quiet

test-all: lint
	$(BIN)/lit --succinct test
	$(BIN)/pytest --quiet -m "not gpu"

docs: $(INSTALLED)
	$(BIN)/python docs/generate.py

bench-compile: $(INSTALLED)
	$(BIN)/python benchmarks/compile_time.py

# Compiles for the measurement, which `benchmarks/launch.py run out/launch` makes; here if there is a
# GPU, else on a machine that has one.
bench-launch: $(INSTALLED)
	$(BIN)/python benchmarks/launch.py build out/launch
	if command -v nvidia-smi > /dev/null; then $(BIN)/python benchmarks/launch.py run out/launch; fi

clean:
	rm -rf $(VENV) build out dist .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
