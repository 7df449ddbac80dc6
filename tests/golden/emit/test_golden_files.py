# SPDX-License-Identifier: Apache-2.0
"""The emitted files of the C++ golden tests compute what their bases compute."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
WORKER = HERE.parents[2] / "python"

# Base, emitted files, and a call of forward whose sizes leave every block partly filled.
CASES = {
    "row_sum": (["row_sum"], "model(torch.randn(5, 100), 0.5)"),
    "layers": (
        ["layers_block", "layers_warps"],
        "model(torch.randn(1000), torch.randn(1000), activate=False), "
        "model(torch.randn(300), torch.randn(300))",
    ),
    "tuned": (["tuned"], "model(torch.randn(2, 90)), model(torch.randn(512), 3.0)"),
}

PROGRAM = """
import importlib.util, sys
from ksplit.interpreter import enable_interpreter

enable_interpreter()
import torch


def outputs(path):
    spec = importlib.util.spec_from_file_location("emitted", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.ModelNew()
    torch.manual_seed(0)
    values = (CALL)
    return values if isinstance(values, tuple) else (values,)

base, *emitted = sys.argv[1:]
expected = outputs(base)
for path in emitted:
    for value, other in zip(expected, outputs(path)):
        torch.testing.assert_close(other, value)
print("compared", len(emitted))
"""


@pytest.mark.parametrize("base", CASES)
def test_emitted_file_computes_what_its_base_does(base: str) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    names, call = CASES[base]
    paths = [str(HERE / "base" / f"{base}.py")] + [str(HERE / f"{name}.py") for name in names]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("CALL", call), *paths],
        env={**os.environ, "PYTHONPATH": str(WORKER)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"compared {len(names)}"


def test_every_emitted_file_is_compared() -> None:
    compared = {f"{name}.py" for names, _ in CASES.values() for name in names}
    emitted = {path.name for path in HERE.glob("*.py")} - {Path(__file__).name}
    assert emitted == compared
