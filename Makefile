# SPDX-License-Identifier: Apache-2.0
#
#   make demo    set up, build, split examples/sum on the CPU, print the summary
#   make test    set up, then every check and test
#   make lint    style and clang-tidy alone; sources found clean before are passed over
#   make format  put all sources into the project's format
#
# KSPLIT_PYTHON=PATH keeps the torch and Triton of an interpreter of yours.

# What one clone compiled serves the next, wherever it lies.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1

jobs := $(shell nproc)
python := $(CURDIR)/.venv/bin/python
ruff := .venv/bin/ruff
cxx_sources := $(shell git ls-files 'src/*.cpp' 'src/*.h' 'tests/*.cpp' 'tests/*.h')
# One process each: within one process, Triton's kernels are either interpreted or compiled.
pytest_suites := $(sort $(dir $(shell git ls-files 'tests/*/test_*.py')))

.PHONY: demo test lint format setup style tidy build-programs build-asan
.NOTPARALLEL:

demo: setup
	cmake --preset release
	cmake --build --preset release --parallel $(jobs)
	build/release/ksplit split examples/sum --device cpu --trigger always --python $(python)

# What fails soonest comes first; the runners' own summaries come last. The C++ tests run under the
# sanitizers only; the Python tests use the programs of the dev build.
test: style build-asan tidy
	ctest --preset asan --parallel $(jobs)
	for suite in $(pytest_suites); do $(python) -m pytest $$suite || exit 1; done

lint: style tidy

format: setup
	$(ruff) check --fix .
	$(ruff) format .
	clang-format -i $(cxx_sources)

setup:
	@tools/setup.sh

style: setup
	$(ruff) check .
	$(ruff) format --check .
	@echo clang-format --dry-run; clang-format --dry-run -Werror $(cxx_sources)

# Some sources include a header that the build writes.
tidy: build-programs
	$(python) tools/tidy.py build/dev

build-programs: setup
	cmake --preset dev
	cmake --build --preset dev --parallel $(jobs) --target ksplit ksplit_cpu_native

build-asan: setup
	cmake --preset asan
	cmake --build --preset asan --parallel $(jobs)
