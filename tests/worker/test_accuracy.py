# SPDX-License-Identifier: Apache-2.0
"""`verify`: what is measured, and that wrong results are seen."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from conftest import RULES, Operator, WorkerProcess

INF = "float('inf')"


def verify(
    worker: WorkerProcess, operator: Operator, forward: str, candidate: str, case: str
) -> dict[str, Any]:
    operator.task(forward, f"[[{case}]]")
    worker.load(operator.folder)
    file = operator.candidate(candidate)
    return worker.ask("verify", file=file, cases=[1], rules=RULES)["cases"][0]


def output(*arguments: Any) -> dict[str, Any]:
    case = verify(*arguments)
    assert case["error"] is None
    return case["outputs"][0]


def test_metrics_are_those_of_the_contract(worker: WorkerProcess, operator: Operator) -> None:
    task = operator.task("x: x.sin()", "[[torch.linspace(-3, 3, 1000)]]")
    worker.load(operator.folder)
    file = operator.candidate("x: x.sin() * 1.001 + 1e-6")
    got = worker.ask("verify", file=file, cases=[1], rules=RULES)["cases"][0]["outputs"][0]
    x = torch.linspace(-3, 3, 1000)
    actual, native, golden = (x.sin() * 1.001 + 1e-6).double(), x.sin().double(), x.double().sin()
    rule = RULES["float32"]
    error = (actual - native).abs()
    relative = error / native.abs().clamp_min(rule["t"])
    limit = rule["atol"] + rule["rtol"] * native.abs()
    worst = int((error / limit).argmax())
    assert got["golden"] == "float64" and not got["bit_equal_native"]
    assert got["violations"] == int((error > limit).sum())
    assert got["worst"] == {
        "index": worst,
        "actual": float(actual[worst]),
        "expected": float(native[worst]),
    }
    assert got["mere"] == pytest.approx(float(relative.mean()), rel=1e-12)
    assert got["mare"] == pytest.approx(float(relative.max()), rel=1e-12)
    assert got["rmse"] == pytest.approx(float((actual - golden).square().mean().sqrt()), rel=1e-12)
    assert got["max_error"] == pytest.approx(float((actual - golden).abs().max()), rel=1e-12)
    assert got["golden_rms"] == pytest.approx(float(golden.square().mean().sqrt()), rel=1e-12)
    same = worker.ask("verify", file=task, cases=[1], rules=RULES)["cases"][0]["outputs"][0]
    assert same["bit_equal_native"] and same["violations"] == 0 and same["worst"] is None


def test_chunks_add_up(worker: WorkerProcess, operator: Operator) -> None:
    count = 3 * (1 << 16) + 7
    file = f"x: x.index_fill(0, torch.tensor([5, {count - 1}]), 9.0)"
    got = output(worker, operator, "x: x + 0", file, f"torch.ones({count})")
    assert (got["elements"], got["violations"]) == (count, 2)
    assert got["worst"]["index"] in (5, count - 1)
    assert got["mere"] == pytest.approx(16 / count)


@pytest.mark.parametrize(
    ("expected", "actual", "nan_equal", "inf_equal", "violations"),
    [
        ("nan, 1, inf, -inf", "nan, 1, inf, -inf", True, True, 0),
        ("nan, 1, 2, 3", "0, 1, 2, 3", False, True, 1),
        ("1, nan, 2, 3", "nan, 1, 2, 3", False, True, 2),
        ("inf, 1, 2, 3", "-inf, 1, 2, 3", True, False, 1),
        ("inf, 1, 2, 3", "nan, 1, 2, 3", False, False, 1),
        ("3e38, 1, 2, 3", "inf, 1, 2, 3", True, False, 1),
        ("nan, 1, 2, 3", "nan, 1, 2, 4", True, True, 1),
    ],
)
def test_values_that_are_not_finite(
    worker: WorkerProcess,
    operator: Operator,
    expected: str,
    actual: str,
    nan_equal: bool,
    inf_equal: bool,
    violations: int,
) -> None:
    def forward(values: str) -> str:
        return f"x: x * 0 + torch.tensor([float(v) for v in '{values}'.split(',')])"

    got = output(worker, operator, forward(expected), forward(actual), "torch.ones(4)")
    assert (got["nan_equal"], got["inf_equal"]) == (nan_equal, inf_equal)
    assert got["violations"] == violations
    assert isinstance(got["mere"], float) and isinstance(got["rmse"], float)


@pytest.mark.parametrize(
    ("candidate", "field"),
    [
        ("x: x.double()", "dtype_equal"),
        ("x: x.flatten()", "shape_equal"),
        ("x: x.t().contiguous().t()", "strides_equal"),
    ],
)
def test_form(worker: WorkerProcess, operator: Operator, candidate: str, field: str) -> None:
    got = output(worker, operator, "x: x * 1", candidate, "torch.randn(4, 6)")
    unequal = {name for name in ("dtype_equal", "shape_equal", "strides_equal") if not got[name]}
    assert unequal == ({field, "strides_equal"} if field == "shape_equal" else {field})
    if field == "shape_equal":
        assert got["violations"] == 24 and got["mere"] is None and got["worst"] is None
    else:
        assert got["violations"] == 0


def test_strides_of_unit_axes_do_not_count(worker: WorkerProcess, operator: Operator) -> None:
    candidate = "x: (x * 1).as_strided((1, 6), (99, 1))"
    assert output(worker, operator, "x: x * 1", candidate, "torch.randn(1, 6)")["strides_equal"]


def test_integers_are_exact(worker: WorkerProcess, operator: Operator) -> None:
    case = "torch.tensor([2**53, 7, -3])"
    got = output(worker, operator, "x: x + 0", "x: x + (x > 2**52).long()", case)
    assert got["violations"] == 1
    got = output(worker, operator, "x: x > 0", "x: x > 7", "torch.tensor([2**53, 7, -3])")
    assert (got["dtype"], got["violations"], got["golden"]) == ("bool", 1, "native")


def test_rules_of_zero(worker: WorkerProcess, operator: Operator) -> None:
    operator.task("x: x", "[[torch.tensor([0, 5])]]")
    worker.load(operator.folder)
    rules = {"int64": {"rtol": 0, "atol": 0, "t": 0}}
    file = operator.candidate("x: x * 2")
    got = worker.ask("verify", file=file, cases=[1], rules=rules)["cases"][0]["outputs"][0]
    assert (got["violations"], got["mere"], got["mare"]) == (1, 0.5, 1.0)


@pytest.mark.parametrize(
    ("candidate", "message"),
    [
        ("x: [x, x]", "returns 2 outputs, expected 1"),
        ("x: []", "returns 0 outputs"),
        ("x: None", "output 0 is None"),
        ("x: 'text'", "an output is a str"),
        ("x: x.to('meta')", "output 0 is on meta"),
        ("x: x.as_subclass(type('Lazy', (torch.Tensor,), {}))", "is a Lazy"),
        ("x: x.frobnicate()", "no attribute 'frobnicate' (line 7)"),
    ],
)
def test_results_that_cannot_be_compared(
    worker: WorkerProcess, operator: Operator, candidate: str, message: str
) -> None:
    case = verify(worker, operator, "x: x + 1", candidate, "torch.ones(3)")
    assert case["error"]["kind"] == "candidate-failed"
    assert message in case["error"]["message"]
    assert case["outputs"] == []


def test_several_outputs_and_scalars(worker: WorkerProcess, operator: Operator) -> None:
    forward = "x: (x + 1, [x.sum(), None], float(x[0]))"
    case = verify(worker, operator, forward, forward.replace("x + 1", "x + 2"), "torch.ones(3)")
    assert [o["violations"] for o in case["outputs"]] == [3, 0, 0]


def test_changed_inputs_are_named(worker: WorkerProcess, operator: Operator) -> None:
    case = "torch.ones(3), torch.ones(3), [torch.ones(2)]"
    got = output(worker, operator, "x, y, z: x + y", "x, y, z: x + y.add_(0)", case)
    assert got["changed_inputs"] == []
    got = output(worker, operator, "x, y, z: x + y", "x, y, z: (z[0].zero_(), y.add_(x))[1]", case)
    assert got["changed_inputs"] == ["y", "z"] and got["violations"] == 0


def test_the_reference_is_not_harmed_by_changed_inputs(
    worker: WorkerProcess, operator: Operator
) -> None:
    got = output(worker, operator, "x: x + 1", "x: x.zero_() + 1", "torch.ones(3)")
    assert got["violations"] == 3 and got["worst"]["expected"] == 2.0


def test_unwritten_memory_is_poison(worker: WorkerProcess, operator: Operator) -> None:
    """The allocator returns the block in which an earlier, right answer lay."""
    operator.task("x: x * 2", "[[torch.randn(64, 1024)]]")
    worker.load(operator.folder)
    right = operator.candidate("x: x * 2", "right.py")
    lazy = operator.candidate("x: torch.empty_like(x)", "lazy.py")
    for _ in range(2):
        worker.ask("verify", file=right, cases=[1], rules=RULES)
        got = worker.ask("verify", file=lazy, cases=[1], rules=RULES)["cases"][0]["outputs"][0]
        assert got["nan_equal"] is False and got["violations"] == 64 * 1024


def test_empty_results(worker: WorkerProcess, operator: Operator) -> None:
    got = output(worker, operator, "x: x + 1", "x: x + 2", "torch.ones(0, 3)")
    assert (got["elements"], got["violations"], got["mere"], got["rmse"]) == (0, 0, 0.0, 0.0)
    assert got["bit_equal_native"] and got["nan_equal"]


def test_signed_zero_and_half_precision(worker: WorkerProcess, operator: Operator) -> None:
    got = output(worker, operator, "x: x * 0", "x: x * -0.0", "torch.ones(3)")
    assert got["violations"] == 0 and got["bit_equal_native"] is False
    case = "torch.full((4,), 1.0, dtype=torch.bfloat16)"
    got = output(worker, operator, "x: x", "x: x + 2.0**-6", case)
    rule = RULES["bfloat16"]
    assert got["violations"] == (4 if rule["atol"] + rule["rtol"] < 2.0**-6 else 0)
    assert math.isclose(got["mare"], 2.0**-6)
