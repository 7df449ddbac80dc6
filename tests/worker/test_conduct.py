# SPDX-License-Identifier: Apache-2.0
"""Conduct that right results hide: what is kept between calls, and what is reached for."""

from __future__ import annotations

import re

import pytest
from conftest import RULES, Operator, WorkerProcess

# Implementations of x + x whose result on fresh inputs is right.
KEEPS_ITS_OUTPUT = """
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        if getattr(self, "out", None) is None or self.out.shape != x.shape:
            self.out = torch.empty_like(x)
        return torch.add(x, x, out=self.out)
"""
REMEMBERS_ADDRESSES = """
import torch
from torch import nn

known = {}


class ModelNew(nn.Module):
    def forward(self, x):
        if x.data_ptr() not in known:
            known[x.data_ptr()] = x + x
        return known[x.data_ptr()].clone()
"""
REMEMBERS_THE_FIRST = """
import torch
from torch import nn


class ModelNew(nn.Module):
    def forward(self, x):
        if getattr(self, "mean", None) is None:
            self.mean = x.mean()
        return x + x + (self.mean - x.mean())
"""

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


def fault_of(worker: WorkerProcess, operator: Operator, text: str) -> str | None:
    """Of an implementation of x + x, whose results must be right."""
    operator.task("x: x + x", "[[torch.linspace(-3, 4, 200)]]")
    worker.load(operator.folder)
    file = operator.write("candidate.py", text)
    case = worker.ask("verify", file=file, cases=[1], rules=RULES)["cases"][0]
    assert case["error"] is None and case["outputs"][0]["violations"] == 0
    return case["fault"]


def test_an_output_that_a_later_call_changes(worker: WorkerProcess, operator: Operator) -> None:
    fault = fault_of(worker, operator, KEEPS_ITS_OUTPUT)
    assert fault == "output 0 of a call changes when forward is called again"


@pytest.mark.parametrize("text", [REMEMBERS_ADDRESSES, REMEMBERS_THE_FIRST])
def test_a_result_of_what_the_inputs_held(
    worker: WorkerProcess, operator: Operator, text: str
) -> None:
    fault = fault_of(worker, operator, text)
    assert fault == "output 0 is wrong when the inputs hold other values than before"


def test_honest_conduct_has_no_fault(worker: WorkerProcess, operator: Operator) -> None:
    assert fault_of(worker, operator, operator.module("ModelNew", "x: x * 2")) is None


@pytest.mark.parametrize(
    ("forward", "case", "changed", "aliased"),
    [
        ("x, y: x.add_(y)", "[torch.ones(8), torch.randn(8)]", ["x"], ["x"]),
        ("x, y: x.mul_(y[:1])[2:]", "[torch.randn(8), torch.randn(8)]", ["x"], ["x"]),
        ("x, y: x[1:] if y is None else y", "[torch.randn(8), None]", [], ["x"]),
        ("x, y: x[y]", "[torch.randn(8), torch.tensor([3, 1])]", [], []),
        ("x, y: x + y", "[torch.randn(1, 4).expand(8, 4), torch.randn(8, 4)]", [], []),
        ("x, y: x + y", "[torch.arange(4), torch.arange(4)]", [], []),
    ],
)
def test_operators_in_place_and_on_views(
    worker: WorkerProcess,
    operator: Operator,
    forward: str,
    case: str,
    changed: list[str],
    aliased: list[str],
) -> None:
    base = operator.task(forward, f"[{case}]")
    worker.load(operator.folder)
    found = worker.ask("verify", file=base, cases=[1], rules=RULES)["cases"][0]
    assert found["error"] is None and found["fault"] is None
    assert found["outputs"][0]["changed_inputs"] == changed
    assert found["outputs"][0]["aliased_inputs"] == aliased


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
