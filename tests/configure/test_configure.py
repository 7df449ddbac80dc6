# SPDX-License-Identifier: Apache-2.0
"""Kernels of the kind people write, configured and run on their cases.

Each file in bases/ is a task and its generic kernel in one. The base is traced by the worker's own
code, `configure_tool` answers with complete files, and each must agree with the reference.
"""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import BASES, Bench


def answer_of(bench: Bench, tool: Path, path: Path) -> dict[str, Any]:
    loaded = bench.load(path)
    request = {
        "load": loaded,
        "parse": bench.ask("parse", path=str(path)),
        "traces": [
            bench.ask("trace", file=str(path), case=case["index"]) for case in loaded["cases"]
        ],
    }
    done = subprocess.run(
        [str(tool)], input=json.dumps(request), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("path", BASES, ids=lambda path: path.stem)
def test_every_candidate_is_right(bench: Bench, tool: Path, tmp_path: Path, path: Path) -> None:
    answer = answer_of(bench, tool, path)
    assert "error" not in answer, answer["error"]
    assert len(answer["candidates"]) >= 3
    for number, candidate in enumerate(answer["candidates"]):
        file = tmp_path / f"candidate_{number}.py"
        file.write_text(candidate["file"])
        bench.verify(file, candidate["parameters"])


def test_what_is_varied(bench: Bench, tool: Path) -> None:
    """The tile sizes, warps and constants found in each base, so that none gets lost unseen."""
    found = {
        path.stem: sorted(
            {name for c in answer_of(bench, tool, path)["candidates"] for name in c["parameters"]}
        )
        for path in BASES
    }
    assert found == {
        "broadcast_add": ["BLOCK", "constexpr", "num_warps"],
        "dispatching": ["scale.constexpr", "shift.SIZE", "shift.constexpr"],
        "layer_norm": [
            "apply_kernel.BLOCK",
            "apply_kernel.constexpr",
            "apply_kernel.num_warps",
            "stats_kernel.BLOCK",
            "stats_kernel.constexpr",
            "stats_kernel.num_warps",
        ],
        "matmul": [
            "BLOCK_K",
            "BLOCK_M",
            "BLOCK_N",
            "GROUP_M",
            "constexpr",
            "num_stages",
            "num_warps",
        ],
        "softmax": ["constexpr", "num_warps"],
        "two_stage": [
            "finish.SIZE",
            "finish.num_warps",
            "total_kernel.TILE",
            "total_kernel.num_warps",
        ],
    }


def test_copies_keep_comments_and_layout(bench: Bench, tool: Path) -> None:
    path = next(path for path in BASES if path.stem == "matmul")
    file = answer_of(bench, tool, path)["candidates"][0]["file"]
    copy = file[file.index("def matmul_kernel_grp_test") :]
    assert "    # sizes\n    M: tl.constexpr,\n    N: tl.constexpr,\n" in copy.replace(
        "    M,\n", "    M: tl.constexpr,\n"
    )
    assert "    stride_ak: tl.constexpr,\n" in copy
    ast.parse(file)


def test_files_need_no_formatter(bench: Bench, tool: Path, tmp_path: Path) -> None:
    ruff = shutil.which("ruff") or str(Path(sys.executable).with_name("ruff"))
    if not Path(ruff).exists():
        pytest.skip("ruff is not installed")
    for path in BASES:
        for number, candidate in enumerate(answer_of(bench, tool, path)["candidates"]):
            (tmp_path / f"{path.stem}_{number}.py").write_text(candidate["file"])
    done = subprocess.run(
        [ruff, "format", "--line-length", "100", "--diff", str(tmp_path)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
