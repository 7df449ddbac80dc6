# SPDX-License-Identifier: Apache-2.0
"""Accesses outside a kernel's tensors: found on the native CPU backend where results are right."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from conftest import RULES, Operator, WorkerProcess

# Rows of up to 64 elements, doubled; `split_double` leaves out the mask of its load.
EMITTED = """
import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def double_kernel(x_ptr, out_ptr, n, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * n + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < n
    x = tl.load(x_ptr + at, mask=inside) if MASKED else tl.load(x_ptr + at)
    tl.store(out_ptr + at, x + x, mask=inside)


def launch(x, masked):
    x = x.contiguous()
    out = torch.empty_like(x)
    if out.numel():
        rows = out.numel() // x.shape[-1]
        block = triton.next_power_of_2(x.shape[-1])
        double_kernel[(rows,)](x, out, x.shape[-1], MASKED=masked, BLOCK=block)
    return out


class ModelBase(nn.Module):
    def forward(self, x):
        return launch(x, True)


def double_grp_two(self, x):
    return launch(x, False)


class ModelNew(ModelBase):
    def forward(self, x):
        return self._route(x)

    def _route(self, x):
        if x.dim() == 2:
            return double_grp_two(self, x)
        return ModelBase.forward(self, x)
"""


@pytest.fixture(scope="module")
def native() -> Iterator[WorkerProcess]:
    worker = WorkerProcess({"KSPLIT_CPU": ""})
    if worker.ask("hello")["executor"] != "native-cpu":
        worker.close()
        pytest.skip("the CPU backend is not built")
    yield worker
    assert worker.close() == 0


@pytest.fixture
def split(native: WorkerProcess, operator: Operator) -> str:
    # The power of two fills its block; the other case's last row reaches beyond the tensor.
    operator.task("x: x + x", "[[torch.randn(4, 32)], [torch.randn(4, 24)], [torch.randn(24)]]")
    native.load(operator.folder)
    return operator.write("split_kernel.py", EMITTED)


def test_verify_tells_of_it(native: WorkerProcess, split: str) -> None:
    cases = native.ask("verify", file=split, cases=[1, 2, 3], rules=RULES)["cases"]
    assert [case["error"] for case in cases] == [None] * 3
    assert all(case["outputs"][0]["bit_equal_native"] for case in cases)
    assert cases[0]["fault"] is None and cases[2]["fault"] is None
    assert re.fullmatch(
        r"kernel double_kernel at .*split_kernel\.py:12: load of 4 bytes out of bounds in program "
        r"\(3, 0, 0\): byte offset 384 of argument 0, which has 384 bytes",
        cases[1]["fault"],
    )


def test_fuzz_tells_of_it_where_the_cases_do_not(native: WorkerProcess, split: str) -> None:
    result = native.ask("fuzz", file=split, count=40, seed=0, rules=RULES)
    assert {failure["route"] for failure in result["failures"]} == {"double_grp_two"}
    assert all("out of bounds" in failure["message"] for failure in result["failures"])
