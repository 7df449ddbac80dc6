# SPDX-License-Identifier: Apache-2.0
"""`ttir`: Triton IR of what a case launches, with no GPU, for targets that are not there."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT, Failure, WorkerProcess

SUM = ROOT / "examples" / "sum"
REPRINT = ROOT / "build" / "asan" / "tests" / "unit" / "ttir" / "ttir_reprint"


@pytest.fixture
def base(native: WorkerProcess) -> str:
    native.load(SUM)
    return native.last_base


def ir_of(native: WorkerProcess, base: str, target: str | None) -> str:
    (kernel,) = native.ask("ttir", file=base, case=1, target=target)["kernels"]
    assert kernel["name"] == "sum_kernel"
    assert Path(base).read_text().splitlines()[kernel["line"] - 1].startswith("def sum_kernel(")
    return kernel["ttir"]


@pytest.mark.parametrize("target", [None, "cuda:90", "cuda:80", "hip:gfx942"])
def test_each_target_gives_the_kernels_ir(native: WorkerProcess, base: str, target: str) -> None:
    text = ir_of(native, base, target)
    assert "tt.func public @sum_kernel(" in text
    assert '"tt.reduce"' in text and "scf.for" in text and "base_kernel.py" in text


def test_our_parser_reads_it(native: WorkerProcess, base: str, tmp_path: Path) -> None:
    programs = [REPRINT, Path(str(REPRINT).replace("asan", "dev"))]
    built = [program for program in programs if program.exists()]
    if not built:
        pytest.skip("ttir_reprint is not built")
    file = tmp_path / "sum.ttir"
    file.write_text(ir_of(native, base, "cuda:90"))
    done = subprocess.run([built[0], file], capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert "tt.func public @sum_kernel(" in done.stdout


def test_an_unknown_target_is_refused(native: WorkerProcess, base: str) -> None:
    with pytest.raises(Failure, match="unsupported: no target is called 'tpu'"):
        native.ask("ttir", file=base, case=1, target="tpu")


def test_the_interpreter_has_none(worker: WorkerProcess) -> None:
    worker.load(SUM)
    file = worker.last_base
    assert worker.ask("ttir", file=file, case=1, target=None) == {"kernels": []}
