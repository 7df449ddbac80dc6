# SPDX-License-Identifier: Apache-2.0
"""A worker in this process, and the C++ tool that configures."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Optional

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(Path(__file__).resolve().parent)]
os.environ["KSPLIT_CPU"] = "interpreter"  # right for every kernel, on every machine

from ksplit.worker import Worker, open_named_device  # noqa: E402

BASES = sorted((Path(__file__).parent / "bases").glob("*.py"))
RULES = {"float32": {"rtol": 2.0**-13, "atol": 1e-5, "t": 2.0**-13}}


class Bench:
    def __init__(self) -> None:
        self._worker = Worker(*open_named_device("cpu"))
        self._cases: list[int] = []

    def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        answer = self._worker.answer({"id": 0, "op": op, **fields})
        assert answer["ok"], answer["error"]
        return answer["result"]

    def load(self, path: Path) -> dict[str, Any]:
        loaded = self.ask("load", task=str(path), base=str(path), seed=0)
        self._cases = [case["index"] for case in loaded["cases"]]
        return loaded

    def verify(self, file: Path, what: Any) -> None:
        """Every case of the task loaded last agrees with the reference."""
        result = self.ask("verify", file=str(file), cases=self._cases, rules=RULES)
        for case in result["cases"]:
            assert case["error"] is None, (what, case)
            for output in case["outputs"]:
                assert output["shape_equal"] and output["dtype_equal"], (what, case["case"], output)
                assert output["nan_equal"] and output["violations"] == 0, (
                    what,
                    case["case"],
                    output,
                )


@pytest.fixture(scope="session")
def bench() -> Bench:
    return Bench()


def find_tool() -> Optional[Path]:
    named = os.environ.get("KSPLIT_CONFIGURE_TOOL")
    if named:
        return Path(named)
    built = ROOT.glob("build/*/tests/unit/generate_configure/configure_tool")
    return max(built, key=lambda path: path.stat().st_mtime, default=None)


@pytest.fixture(scope="session")
def tool() -> Path:
    binary = find_tool()
    if binary is None:
        pytest.skip("configure_tool is not built, and KSPLIT_CONFIGURE_TOOL names none")
    return binary
