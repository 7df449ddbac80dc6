# SPDX-License-Identifier: Apache-2.0
"""Runs what the templates emit through Triton's interpreter; see harness.py."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(Path(__file__).resolve().parent)]

from ksplit.interpreter import enable_interpreter  # noqa: E402

enable_interpreter()

import harness  # noqa: E402


@pytest.fixture(scope="session")
def tool() -> harness.Tool:
    binary = harness.find_tool()
    if binary is None:
        pytest.skip("template_tool is not built, and KSPLIT_TEMPLATE_TOOL names none")
    return harness.Tool(binary)
