# SPDX-License-Identifier: Apache-2.0
"""Elementwise templates: every pattern of broadcasting, operation and profile against torch."""

from __future__ import annotations

from typing import Any

import harness
import pytest
import torch

pytestmark = pytest.mark.filterwarnings("ignore:.* encountered in:RuntimeWarning")

PROFILES = ["cpu", "h200", "a100", "generic-gpu", "ascend910b"]
OPERATIONS = ["add", "sub", "mul", "div"]

#: Shapes of both operands; the template and the levels they collapse to.
PATTERNS = [
    ((40,), (40,), "flat"),
    ((3, 5, 7), (3, 5, 7), "flat"),
    ((6, 7), (1, 1), "flat"),
    ((), (4, 5), "flat"),
    ((1, 30), (30,), "flat"),
    ((6, 70), (6, 1), "broadcast-2d"),
    ((6, 1), (6, 70), "broadcast-2d"),
    ((9, 33), (33,), "broadcast-2d"),
    ((33,), (9, 33), "broadcast-2d"),
    ((9, 1), (1, 17), "broadcast-2d"),
    ((9,), (17, 1), "broadcast-2d"),
    ((1, 4, 6, 6), (6, 6), "broadcast-2d"),
    ((1, 5, 6, 6), (1, 5, 1, 1), "broadcast-2d"),
    ((2, 5, 6, 6), (1, 5, 1, 1), "broadcast-nd"),
    ((4, 5, 6), (4, 1, 6), "broadcast-nd"),
    ((4, 1, 6), (4, 5, 6), "broadcast-nd"),
    ((3, 4, 5, 6), (1, 4, 1, 6), "broadcast-nd"),
    ((3, 1, 5, 1), (1, 4, 1, 6), "broadcast-nd"),
    ((3, 4, 1), (4, 6), "broadcast-nd"),
    ((2, 1, 3, 1, 2), (1, 3, 1, 2, 1), "broadcast-nd"),
]


def request(op: str, profile: str, cases: list[list[Any]]) -> dict[str, Any]:
    names = ["x", "y", "alpha"][: len(cases[0])]
    broadcast: dict[str, Any] = {"op": op, "lhs": 0, "rhs": 1}
    if len(names) == 3:
        broadcast["alpha"] = {"argument": 2}
    return {
        "op_name": op,
        "group_id": "grp_reduce_non_last_medium_bfloat16",
        "profile": profile,
        "parameters": names,
        "cases": cases,
        "broadcast": broadcast,
    }


def reference(op: str, x: Any, y: Any, alpha: float = 1.0) -> torch.Tensor:
    dtype = x.dtype if isinstance(x, torch.Tensor) else y.dtype
    left, right = (v.double() if isinstance(v, torch.Tensor) else v for v in (x, y))
    if op in ("add", "sub"):
        scaled = right * alpha
        out = left + scaled if op == "add" else left - scaled
    else:
        out = left * right if op == "mul" else left / right
    return out.to(dtype)


def cases_for(
    left: tuple[int, ...], right: tuple[int, ...], op: str, dtype: torch.dtype
) -> list[list[Any]]:
    x = harness.random_tensor(left, dtype, 1)
    y = harness.random_tensor(right, dtype, 2)
    return [[x, y, 0.5 if op == "add" else -2]] if op in ("add", "sub") else [[x, y]]


def check(candidate: harness.Candidate, op: str, cases: list[list[Any]]) -> None:
    function = candidate.function()
    for arguments in cases:
        what = f"{candidate.form} {candidate.parameters} on {arguments!r:.200}"
        actual = function(None, *arguments)
        golden = reference(op, *arguments)
        assert actual.dtype == golden.dtype, what
        harness.assert_close(actual, golden, what)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("left,right,template", PATTERNS)
def test_pattern(
    tool: harness.Tool,
    left: tuple[int, ...],
    right: tuple[int, ...],
    template: str,
    profile: str,
) -> None:
    for i, op in enumerate(OPERATIONS):
        dtype = [torch.float32, torch.float16, torch.bfloat16][(i + len(left)) % 3]
        cases = cases_for(left, right, op, dtype)
        candidates, refusals = tool.ask(request(op, profile, cases))
        assert refusals == []
        assert {one.generator for one in candidates} == {f"template/{template}"}
        for candidate in harness.one_of_each_form(candidates):
            check(candidate, op, cases)


@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("number", [3, -0.75, 0.0])
@pytest.mark.parametrize("side", ["left", "right"])
def test_number_as_operand(tool: harness.Tool, op: str, number: Any, side: str) -> None:
    x = harness.random_tensor((5, 9), torch.float16)
    case = [x, number] if side == "right" else [number, x]
    candidates, refusals = tool.ask(request(op, "h200", [case]))
    assert refusals == []
    check(candidates[0], op, [case])


@pytest.mark.parametrize("op", OPERATIONS)
def test_special_values(tool: harness.Tool, op: str) -> None:
    special = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0, 3e38, 1e-40])
    cases: list[list[Any]] = [[special.repeat(8).view(8, 8), special.view(8, 1).clone()]]
    candidates, _ = tool.ask(request(op, "cpu", cases))
    for candidate in harness.one_of_each_form(candidates):
        actual = candidate.function()(None, *cases[0])
        assert torch.equal(actual.nan_to_num(7.0), getattr(torch, op)(*cases[0]).nan_to_num(7.0)), (
            candidate.form
        )


def test_one_kernel_for_several_layouts(tool: harness.Tool) -> None:
    """Ranks may differ within a group as long as the levels are the same."""

    def pair(left: tuple[int, ...], right: tuple[int, ...]) -> list[Any]:
        return [
            harness.random_tensor(left, torch.float32, 1),
            harness.random_tensor(right, torch.float32, 2),
        ]

    for cases in (
        [pair((4, 6), (6,)), pair((2, 4, 6), (4, 6)), pair((1, 5, 3, 3), (3, 3))],
        [pair((2, 5, 6, 6), (1, 5, 1, 1)), pair((4, 5, 3), (1, 5, 1))],
        [pair((4, 1, 6), (4, 5, 6)), pair((2, 4, 1, 6), (2, 4, 5, 6))],
    ):
        candidates, refusals = tool.ask(request("mul", "h200", cases))
        assert refusals == []
        for candidate in harness.one_of_each_form(candidates):
            assert candidate.parameters["form"] != "expanded"
            check(candidate, "mul", cases)


def test_layouts_that_do_not_collapse_alike_are_expanded(tool: harness.Tool) -> None:
    cases = [
        [harness.random_tensor((4, 6), torch.float32), harness.random_tensor((6,), torch.float32)],
        [
            harness.random_tensor((4, 6), torch.float32),
            harness.random_tensor((4, 1), torch.float32),
        ],
    ]
    candidates, refusals = tool.ask(request("add", "cpu", cases))
    assert refusals == []
    assert {one.parameters["form"] for one in candidates} == {"expanded"}
    check(candidates[0], "add", cases)
    strided = [torch.arange(24.0).view(4, 6).t(), torch.arange(6.0).view(6, 1)]
    check(candidates[0], "add", [strided])


def test_contract_blocks_are_tried(tool: harness.Tool) -> None:
    flat = [[torch.zeros(100, 100), torch.zeros(100, 100)]]
    rows = [[torch.zeros(100, 100), torch.zeros(100, 1)]]
    for profile in PROFILES:
        candidates, _ = tool.ask(request("add", profile, flat))
        assert {4096, 8192, 16384} <= {one.parameters["BLOCK_SIZE"] for one in candidates}
        candidates, _ = tool.ask(request("add", profile, rows))
        wanted = {(m, n) for m in (4, 8, 16) for n in (512, 1024, 2048)}
        assert wanted <= {
            (one.parameters.get("BLOCK_M"), one.parameters["BLOCK_N"]) for one in candidates
        }
        assert len(candidates) <= (10 if profile == "cpu" else 40)


@pytest.mark.parametrize(
    "case,why",
    [
        ([torch.zeros(4, dtype=torch.int64), torch.zeros(4, dtype=torch.int64)], "int64"),
        ([torch.zeros(4), torch.zeros(4, dtype=torch.float16)], "float16"),
        ([torch.zeros(4), True], "no number"),
    ],
)
def test_refusals(tool: harness.Tool, case: list[Any], why: str) -> None:
    candidates, refusals = tool.ask(request("mul", "h200", [case]))
    assert candidates == []
    assert any(why in refusal for refusal in refusals), refusals
