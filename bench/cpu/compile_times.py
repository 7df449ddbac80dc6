# SPDX-License-Identifier: Apache-2.0
"""Runs every whole kernel of tests/cpu and prints, as JSON, the seconds that each compilation took
from Python source to loaded library. speed.py runs it twice with one cache: the second run must
compile nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "cpu"))

import ksplit.cpu  # noqa: E402, F401
from triton import knobs  # noqa: E402

seconds: list[float] = []


def listen(*, times: object, cache_hit: bool, **_: object) -> None:
    if not cache_hit:
        seconds.append(times.total / 1e6)


knobs.compilation.listener = listen

import cases  # noqa: E402

whole = [name for name, case in cases.CASES.items() if case.run.__module__ == "cases_kernels"]
cases.run_all(whole)
print(json.dumps({"cases": len(whole), "seconds": seconds}))
