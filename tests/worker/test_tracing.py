# SPDX-License-Identifier: Apache-2.0
"""`trace`, `compile` and `graph`: what implementations launch and references compute."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import RULES, Failure, Operator, WorkerProcess

KERNELS = """\
import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def copy_kernel(x_ptr, y_ptr, n, one, scale, flag, KIND: tl.constexpr, BLOCK: tl.constexpr = 16):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n) * scale, mask=offs < n)


@triton.autotune([triton.Config({"BLOCK": 32}, num_warps=2), triton.Config({"BLOCK": 64})], key=[])
# a comment between the decorators
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit(do_not_specialize=["n"])
def tuned_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


class ModelNew(nn.Module):
    def forward(self, x, w):
        n = x.numel()
        y = torch.empty_like(x)
        grid = lambda meta: (triton.cdiv(n, meta["BLOCK"]), meta["n"] - 47)
        copy_kernel[grid](x.view(-1), y, n, 1, scale=2.0, flag=None, KIND=tl.float16, num_warps=8)
        z = torch.empty_like(y)
        tuned_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](y[2:], z[2:], n - 2)
        z[:2] = y[:2]
        return z
"""


@pytest.fixture
def traced(worker: WorkerProcess, operator: Operator) -> list[dict[str, Any]]:
    operator.task("x, w: x * 2", "[[torch.randn(48), torch.ones(3)]]")
    base = operator.write("base_kernel.py", KERNELS)
    worker.load(operator.folder)
    return worker.ask("trace", file=base, case=1)["launches"]


def by_name(launch: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {argument["name"]: argument for argument in launch["arguments"]}


def test_a_launch_is_recorded_whole(traced: list[dict[str, Any]]) -> None:
    assert [launch["kernel"] for launch in traced] == ["copy_kernel", "tuned_kernel"]
    launch = traced[0]
    assert launch["grid"] == [3, 1, 1]
    assert launch["line"] == KERNELS[: KERNELS.index("def copy_kernel")].count("\n") + 1
    assert (launch["num_warps"], launch["autotuned"]) == (8, False)
    arguments = by_name(launch)
    assert list(arguments) == ["x_ptr", "y_ptr", "n", "one", "scale", "flag", "KIND", "BLOCK"]
    assert arguments["x_ptr"]["input"] == 0 and arguments["y_ptr"]["input"] is None
    assert arguments["x_ptr"]["tensor"]["shape"] == [48]
    assert arguments["x_ptr"]["divisible_by_16"] and not arguments["x_ptr"]["equals_1"]
    values = {name: a["value"] for name, a in arguments.items() if "value" in a}
    assert values == {
        "n": 48, "one": 1, "scale": 2.0, "flag": None, "KIND": "fp16", "BLOCK": 16
    }  # fmt: skip
    assert arguments["n"]["divisible_by_16"] and not arguments["n"]["constexpr"]
    assert arguments["one"]["equals_1"] and not arguments["one"]["divisible_by_16"]
    assert [n for n, a in arguments.items() if a["constexpr"]] == ["KIND", "BLOCK"]
    assert not arguments["BLOCK"]["divisible_by_16"]


def test_tuned_launches_show_the_configuration_chosen(traced: list[dict[str, Any]]) -> None:
    launch = traced[1]
    assert launch["autotuned"] is True
    assert launch["line"] == KERNELS[: KERNELS.index("def tuned_kernel")].count("\n") + 1
    arguments = by_name(launch)
    assert arguments["BLOCK"]["value"] == 32 and launch["num_warps"] == 2
    assert arguments["EVEN"]["value"] is False
    assert launch["grid"] == [2, 1, 1]
    assert arguments["x_ptr"]["tensor"]["alignment"] == 8
    assert not arguments["x_ptr"]["divisible_by_16"]


def test_hooks_are_gone_afterwards(worker: WorkerProcess, traced: list[dict[str, Any]]) -> None:
    assert traced
    base = worker.last_base
    answer = worker.ask("verify", file=base, cases=[1], rules=RULES)
    assert answer["cases"][0]["outputs"][0]["violations"] == 0
    assert worker.ask("compile", file=base, cases=[1]) == {"kernels": []}


def test_a_failing_forward_is_the_requests_error(worker: WorkerProcess, operator: Operator) -> None:
    operator.task("x: x", "[[1]]")
    worker.load(operator.folder)
    with pytest.raises(Failure) as failure:
        worker.ask("trace", file=operator.candidate("x: x / 0"), case=1)
    error = failure.value.error
    assert (error["kind"], error["case"], error["line"]) == ("candidate-failed", 1, 7)


def graph_of(
    worker: WorkerProcess, operator: Operator, forward: str, case: str
) -> tuple[list[tuple[Any, ...]], list[Any]]:
    operator.task(forward, f"[[{case}]]")
    worker.load(operator.folder)
    graph = worker.ask("graph", case=1)
    nodes = [
        (n["op"], n["arguments"], n["keywords"], [o["shape"] for o in n["outputs"]])
        for n in graph["nodes"]
    ]
    return nodes, graph["outputs"]


def test_graph_connects_operations(worker: WorkerProcess, operator: Operator) -> None:
    nodes, outputs = graph_of(
        worker,
        operator,
        "x, dim: (torch.softmax(x.view(2, -1), dim), x.chunk(2)[1].sum())",
        "torch.randn(4, 3), 1",
    )
    assert nodes == [
        ("aten.view.default", [{"input": 0}, {"constant": [2, -1]}], {}, [[2, 6]]),
        (
            "aten._softmax.default",
            [{"node": 0, "output": 0}, {"constant": 1}, {"constant": False}],
            {},
            [[2, 6]],
        ),
        (
            "aten.split.Tensor",
            [{"input": 0}, {"constant": 2}, {"constant": 0}],
            {},
            [[2, 3], [2, 3]],
        ),
        ("aten.sum.default", [{"node": 2, "output": 1}], {}, [[]]),
    ]
    assert outputs == [{"node": 1, "output": 0}, {"node": 3, "output": 0}]


def test_graph_operands(worker: WorkerProcess, operator: Operator) -> None:
    nodes, outputs = graph_of(
        worker,
        operator,
        "x, y, a: torch.cat([x, y]).add_(y.to(torch.float16), alpha=a)",
        "torch.randn(2), torch.randn(1), 0.5",
    )
    assert nodes[0][:2] == (
        "aten.cat.default",
        [{"list": [{"input": 0}, {"input": 1}]}, {"constant": 0}],
    )
    assert nodes[1][2]["dtype"] == {"constant": "torch.float16"}
    assert nodes[2][0] == "aten.add_.Tensor"
    assert nodes[2][1] == [{"node": 0, "output": 0}, {"node": 1, "output": 0}]
    assert nodes[2][2] == {"alpha": {"constant": 0.5}}
    assert outputs == [{"node": 2, "output": 0}]


def test_graph_names_the_modules_state(worker: WorkerProcess, operator: Operator) -> None:
    operator.task("x: x", "[[torch.randn(2, 3)]]")
    operator.write(
        "task_desc.py",
        """
        import torch
        from torch import nn

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(3, 4, bias=False)

            def forward(self, x):
                return self.fc(x)

        def get_input_groups():
            return [[torch.randn(2, 3)]]
        """,
    )
    worker.load(operator.folder)
    nodes = worker.ask("graph", case=1)["nodes"]
    operands = [operand for node in nodes for operand in node["arguments"]]
    assert {"state": "fc.weight"} in operands and {"input": 0} in operands
