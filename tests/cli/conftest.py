# SPDX-License-Identifier: Apache-2.0
"""The built command as users run it, and small work directories to run it on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional

import pytest

ROOT = Path(__file__).resolve().parents[2]

BASE = """
import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x + x, mask=offsets < n)


class ModelNew(nn.Module):
    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        n = x.numel()
        double_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
        return out
"""

TASK = """
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        return 2 * x


def get_init_inputs():
    return []


def get_input_groups():
    return [[torch.randn(n)] for n in (40, 96, 300)]
"""


@dataclass
class Outcome:
    status: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


def binary() -> Path:
    named = os.environ.get("KSPLIT_BINARY")
    found = Path(named) if named else ROOT / "build" / "dev" / "ksplit"
    if not found.exists():
        pytest.skip(f"no binary at {found}: build it or name it with KSPLIT_BINARY")
    return found


@pytest.fixture
def ksplit() -> Callable[..., Outcome]:
    def run(*words: object, env: Optional[dict[str, str]] = None, python: str = "") -> Outcome:
        command = [str(binary()), *map(str, words)]
        environment = {**os.environ, "KSPLIT_PYTHON": python or sys.executable, **(env or {})}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=600, check=False
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def work(tmp_path: Path) -> Callable[..., Path]:
    """A work directory; parts may be replaced by other text or left out (None)."""

    def make(base: Optional[str] = BASE, task: Optional[str] = TASK, perf: object = None) -> Path:
        if base is not None:
            (tmp_path / "base_kernel.py").write_text(base)
        if task is not None:
            (tmp_path / "task_desc.py").write_text(task)
        if perf is not None:
            (tmp_path / "output").mkdir()
            text = perf if isinstance(perf, str) else json.dumps(perf)
            (tmp_path / "output" / "perf_result.json").write_text(text)
        return tmp_path

    return make


def perf_result(ratios: list[Optional[float]], sizes: tuple[int, ...] = (40, 96, 300)) -> Any:
    """A perf file for the cases of TASK."""
    shapes = [
        {
            "case_idx": index,
            "input_desc": [{"type": "tensor", "shape": [size], "dtype": "torch.float32"}],
            "status": "pass",
            "speedup_vs_torch": ratio,
        }
        for index, (size, ratio) in enumerate(zip(sizes, ratios), 1)
    ]
    return {
        "op_name": "double",
        "total_cases": len(shapes),
        "passed_cases": len(shapes),
        "failed_cases": 0,
        "speedup_vs_torch": None,
        "per_shape_results": shapes,
    }
