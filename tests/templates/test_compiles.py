# SPDX-License-Identifier: Apache-2.0
"""Emitted kernels compile for a GPU, which is stricter than the interpreter that runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import harness
import pytest
import test_elementwise as elementwise
import test_reductions as reductions
import torch


def compile_all(requests: list[tuple[dict[str, Any], str]]) -> list[str]:
    variables = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    done = subprocess.run(
        [sys.executable, Path(__file__).parent / "compile_emitted.py"],
        input="".join(json.dumps(r, default=harness.describe) + "\n" for r, _ in requests),
        capture_output=True,
        text=True,
        env=variables,
        check=False,
        timeout=600,
    )
    errors = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(errors) == len(requests), done.stderr
    return [f"{what}: {e}" for (_, what), e in zip(requests, errors) if e]


def requests_of(
    tool: harness.Tool, asked: dict[str, Any], folder: Path
) -> list[tuple[dict[str, Any], str]]:
    found = []
    candidates, refusals = tool.ask(asked)
    assert refusals == []
    for candidate in harness.one_of_each_form(candidates):
        file = folder / f"emitted_{len(list(folder.iterdir()))}.py"
        file.write_text(harness.HEAD + candidate.definitions)
        case = {"file": str(file), "host": candidate.host, "arguments": asked["cases"][0]}
        found.append((case, f"{candidate.form} {candidate.parameters}"))
    return found


@pytest.mark.parametrize("profile", ["h200", "cpu", "ascend910b"])
def test_reductions(tool: harness.Tool, profile: str, tmp_path: Path) -> None:
    requests = []
    for op in ("mean", "max"):
        for shape, dim in [((20, 3000), 1), ((3000, 20), 0), ((8, 6, 10), 1)]:
            x = torch.zeros(shape, dtype=torch.bfloat16)
            asked = reductions.request(op, profile, [[x, dim, True]])
            requests += requests_of(tool, asked, tmp_path)
    assert compile_all(requests) == []


@pytest.mark.parametrize("profile", ["h200", "ascend910b"])
def test_elementwise(tool: harness.Tool, profile: str, tmp_path: Path) -> None:
    requests = []
    for left, right in [
        ((40, 7), (40, 7)),
        ((40, 7), (1,)),
        ((40, 7), (7,)),
        ((40, 1), (40, 7)),
        ((3, 4, 5, 6), (1, 4, 1, 6)),
        ((3, 1, 5), (1, 4, 1)),
    ]:
        x, y = (torch.zeros(s, dtype=torch.float16) for s in (left, right))
        requests += requests_of(tool, elementwise.request("add", profile, [[x, y, 2]]), tmp_path)
        requests += requests_of(tool, elementwise.request("div", profile, [[x, y]]), tmp_path)
    requests += requests_of(tool, elementwise.request("div", profile, [[2, x]]), tmp_path)
    mixed = [[torch.zeros(3, 4), torch.zeros(4)], [torch.zeros(3, 4), torch.zeros(3, 1)]]
    requests += requests_of(tool, elementwise.request("mul", profile, mixed), tmp_path)
    assert compile_all(requests) == []
