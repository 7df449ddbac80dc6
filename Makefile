# SPDX-License-Identifier: Apache-2.0
#
#   make demo    set up, build, split examples/sum on the CPU, print the summary
#   make test    set up, then every check and test
#   make lint    formatting and static checks alone
#   make format  put all sources into the project's format
#
# KSPLIT_PYTHON=PATH keeps the torch and Triton of an interpreter of yours.

SHELL := /bin/sh
jobs := $(shell nproc)
python := $(CURDIR)/.venv/bin/python
ruff := .venv/bin/ruff
# One process each: within one process, Triton's kernels are either interpreted or compiled.
pytest_suites := $(sort $(dir $(shell git ls-files 'tests/**/test_*.py')))
cxx_sources := $(shell git ls-files 'src/*.cpp' 'src/*.h' 'tests/*.cpp' 'tests/*.h')

.PHONY: demo test lint format setup build-dev build-asan
.DEFAULT_GOAL := demo

setup:
	@tools/setup.sh

demo: setup
	cmake --preset release
	cmake --build --preset release --parallel $(jobs)
	build/release/ksplit split examples/sum --device cpu --trigger always --python $(python)

build-dev: setup
	cmake --preset dev
	cmake --build --preset dev --parallel $(jobs)

build-asan: setup
	cmake --preset asan
	cmake --build --preset asan --parallel $(jobs)

lint: setup
	$(ruff) check .
	$(ruff) format --check .
	clang-format --dry-run -Werror $(cxx_sources)
	cmake --preset dev
	$(python) tools/tidy.py build/dev

# What fails soonest comes first; the runners' own summaries come last.
test: lint build-dev build-asan
	ctest --preset asan --parallel $(jobs)
	ctest --preset dev --parallel $(jobs)
	for suite in $(pytest_suites); do $(python) -m pytest $$suite || exit 1; done

format: setup
	$(ruff) check --fix .
	$(ruff) format .
	clang-format -i $(cxx_sources)
