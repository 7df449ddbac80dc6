# SPDX-License-Identifier: Apache-2.0
"""Reduction templates: every form, operation and profile against torch in float64."""

from __future__ import annotations

from typing import Any, Optional, Union

import harness
import pytest
import torch

PROFILES = ["cpu", "h200", "a100", "generic-gpu", "ascend910b"]
OPERATIONS = ["sum", "mean", "max", "min", "prod"]
NAMES = ["x", "dim", "keepdim"]
Dim = Union[int, list[int], None]


def reference(op: str, x: torch.Tensor, dim: Dim, keepdim: bool) -> torch.Tensor:
    """In float64 and rounded to the input's dtype."""
    x64 = x.double()
    if op == "prod":
        assert dim is None or isinstance(dim, int)
        if dim is None:
            out = x64.prod().reshape([1] * x.dim() if keepdim else [])
        else:
            out = x64.prod(dim, keepdim)
    elif op in ("max", "min"):
        function = torch.amax if op == "max" else torch.amin
        out = function(x64, list(range(x.dim())) if dim is None else dim, keepdim)
    else:
        out = getattr(torch, op)(x64, dim, keepdim)
    return out.to(x.dtype)


def request(op: str, profile: str, cases: list[list[Any]], **attributes: Any) -> dict[str, Any]:
    sources = {name: {"argument": i} for i, name in enumerate(NAMES) if i > 0}
    for name, value in attributes.items():
        sources[name] = {"constant": value}
    return {
        "op_name": op,
        "group_id": "grp_reduce_non_last_medium_bfloat16",
        "profile": profile,
        "parameters": NAMES,
        "cases": cases,
        "reduction": {"op": op, "input": 0, **sources},
    }


def check(
    candidate: harness.Candidate, op: str, cases: list[list[Any]], dim: Optional[Dim] = None
) -> None:
    function = candidate.function()
    for x, given, keepdim in cases:
        axis = dim if dim is not None else given
        golden = reference(op, x, axis, keepdim)
        before = x.clone()
        actual = function(None, x, given, keepdim)
        what = f"{candidate.form} {candidate.parameters} on {tuple(x.shape)} dim {axis}"
        assert actual.dtype == x.dtype
        harness.assert_close(actual, golden, what)
        assert torch.equal(x.nan_to_num(), before.nan_to_num()), what


def tensor(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return harness.random_tensor(shape, dtype)


def last_axis_cases() -> list[list[Any]]:
    return [
        [tensor(7), 0, False],
        [tensor(3, 130), 1, True],
        [tensor(2, 3, 65, dtype=torch.float16), -1, False],
        [tensor(5, 1, 33, dtype=torch.bfloat16), 2, True],
        [tensor(9, 16, 1), 1, False],
        [tensor(4, 1), -1, False],
    ]


def other_axis_cases() -> list[list[Any]]:
    return [
        [tensor(33, 20), 0, False],
        [tensor(3, 5, 7, 11, dtype=torch.float16), 1, True],
        [tensor(3, 5, 7, 11), -2, False],
        [tensor(2, 60, 3, dtype=torch.bfloat16), -2, True],
        [tensor(6, 1, 5), 1, False],
    ]


@pytest.mark.parametrize(
    "op,profile",
    [("sum", profile) for profile in PROFILES]
    + [("mean", "cpu"), ("mean", "h200"), ("max", "cpu"), ("max", "h200"), ("max", "ascend910b")]
    + [("min", "h200"), ("prod", "cpu"), ("prod", "h200")],
)
@pytest.mark.parametrize("make_cases", [last_axis_cases, other_axis_cases])
def test_mixed_group(tool: harness.Tool, make_cases: Any, op: str, profile: str) -> None:
    cases = make_cases()
    candidates, refusals = tool.ask(request(op, profile, cases))
    assert refusals == []
    assert {"loop", "tile"} <= {candidate.parameters["form"] for candidate in candidates}
    if op in ("sum", "mean"):
        chosen = harness.one_of_each_form(candidates, 2)
    else:
        chosen = harness.smallest_of_each_form(candidates)
    for candidate in chosen:
        check(candidate, op, cases)


@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("make_cases", [last_axis_cases, other_axis_cases])
def test_special_values(tool: harness.Tool, make_cases: Any, op: str) -> None:
    values = [float("nan"), float("inf"), float("-inf")]
    cases = make_cases()[:4]
    for i, (x, _, _) in enumerate(cases):
        x.view(-1)[x.numel() // 2] = values[i % 3]
        x.view(-1)[0] = float("-inf")
    candidates, _ = tool.ask(request(op, "h200", cases))
    for candidate in harness.smallest_of_each_form(candidates):
        check(candidate, op, cases)


@pytest.mark.parametrize(
    "op,profile",
    [("sum", "a100"), ("mean", "h200"), ("mean", "ascend910b"), ("max", "h200")],
)
@pytest.mark.parametrize("shape,dim", [((3, 2050), 1), ((2050, 3), 0)])
def test_long_axis_is_split(
    tool: harness.Tool, op: str, profile: str, shape: tuple[int, int], dim: int
) -> None:
    cases = [[tensor(*shape), dim, False]]
    candidates, _ = tool.ask(request(op, profile, cases))
    split = [one for one in candidates if one.parameters["form"] == "split"]
    assert split
    for candidate in harness.smallest_of_each_form(split):
        check(candidate, op, cases)


@pytest.mark.parametrize("dim", [-1, 1, [-1], [0, 1], [-2, -1], [1, -1], None])
@pytest.mark.parametrize("keepdim", [False, True])
def test_constant_axes(tool: harness.Tool, dim: Dim, keepdim: bool) -> None:
    cases = [[tensor(3, 21), 0, False], [tensor(5, 4), 0, False]]
    if dim == [1, -1]:
        cases = [[tensor(3, 4, 5), 0, False]]
    candidates, refusals = tool.ask(request("sum", "h200", cases, dim=dim, keepdim=keepdim))
    assert refusals == []
    chosen = harness.one_of_each_form(candidates)
    assert chosen
    for candidate in chosen:
        function = candidate.function()
        for x, _, _ in cases:
            golden = reference("sum", x, dim, keepdim)
            harness.assert_close(function(None, x, 0, False), golden, f"{candidate.form} {dim}")


@pytest.mark.parametrize("dim", [[1, 2], [-2, -1], None])
def test_axes_as_argument(tool: harness.Tool, dim: Dim) -> None:
    cases = [[tensor(3, 4, 5), dim, False], [tensor(2, 7, 5), dim, True]]
    candidates, refusals = tool.ask(request("mean", "cpu", cases))
    assert refusals == []
    for candidate in harness.one_of_each_form(candidates):
        check(candidate, "mean", cases)


def test_several_inner_axes(tool: harness.Tool) -> None:
    cases = [[tensor(3, 4, 5, 6), [1, 2], False]]
    candidates, _ = tool.ask(request("sum", "h200", cases))
    for candidate in harness.one_of_each_form(candidates):
        check(candidate, "sum", cases)


def test_contract_blocks_are_tried(tool: harness.Tool) -> None:
    def blocks(cases: list[list[Any]], *names: str) -> set[tuple[Any, ...]]:
        found = set()
        for profile in PROFILES:
            candidates, _ = tool.ask(request("sum", profile, cases))
            these = {tuple(one.parameters.get(name) for name in names) for one in candidates}
            found = these if not found else found & these
        return found

    assert (1024,) in blocks([[tensor(8, 100), 1, False]], "BLOCK_RED")
    assert {(64, 64), (128, 32)} <= blocks(
        [[tensor(300, 40), 0, False]], "BLOCK_RED", "BLOCK_INNER"
    )


@pytest.mark.parametrize(
    "cases,why",
    [
        ([[torch.zeros(4, 4, dtype=torch.int32), 0, False]], "int32"),
        ([[tensor(4, 4), None, False], [tensor(4, 4), 1, False]], "more than one way"),
    ],
)
def test_refusals(tool: harness.Tool, cases: list[list[Any]], why: str) -> None:
    candidates, refusals = tool.ask(request("sum", "h200", cases))
    assert candidates == []
    assert any(why in refusal for refusal in refusals), refusals
