# SPDX-License-Identifier: Apache-2.0
"""`python -m ksplit.benchmark`: the workflow's benchmark.py, done by `ksplit compat-benchmark`."""

from __future__ import annotations

from ksplit.command import run

if __name__ == "__main__":
    run("compat-benchmark")
