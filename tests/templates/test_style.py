# SPDX-License-Identifier: Apache-2.0
"""What is emitted is formatted and clean by the tools that a reader would run on it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import harness
import pytest
import test_elementwise as elementwise
import test_reductions as reductions
import torch


def ruff() -> str:
    beside = Path(sys.executable).parent / "ruff"
    found = str(beside) if beside.exists() else shutil.which("ruff")
    if not found:
        pytest.skip("ruff is not installed")
    return found


@pytest.mark.parametrize("profile", ["h200", "ascend910b"])
def test_formatted(tool: harness.Tool, profile: str, tmp_path: Path) -> None:
    long_axis = [[torch.zeros(1, 4096), 1, False]]
    requests = [
        reductions.request("max", profile, reductions.last_axis_cases()),
        reductions.request("mean", profile, reductions.other_axis_cases()),
        reductions.request("mean", profile, long_axis, keepdim=True),
        reductions.request("prod", profile, [[torch.zeros(4096, 2), 0, False]]),
    ]
    for left, right, _ in elementwise.PATTERNS:
        case = [torch.zeros(left), torch.zeros(right), 1]
        requests.append(elementwise.request("add", profile, [case]))
    mixed = [[torch.zeros(3, 4), torch.zeros(4)], [torch.zeros(3, 4), torch.zeros(3, 1)]]
    requests.append(elementwise.request("div", profile, mixed))
    for i, request in enumerate(requests):
        candidates, _ = tool.ask(request)
        for j, candidate in enumerate(harness.one_of_each_form(candidates, 2)):
            path = tmp_path / f"emitted_{i}_{j}.py"
            path.write_text(harness.HEAD + candidate.definitions)
    lint = ["check", "--isolated", "--line-length=100", "--select=E,F,W,B", "--ignore=F401"]
    for arguments in (["format", "--isolated", "--line-length=100", "--diff"], lint):
        done = subprocess.run(
            [ruff(), *arguments, str(tmp_path)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
