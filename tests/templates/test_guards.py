# SPDX-License-Identifier: Apache-2.0
"""Guards: one meaning in C++ and Python, and every input that they admit comes out right."""

from __future__ import annotations

import itertools
from typing import Any

import harness
import pytest
import test_elementwise as elementwise
import test_reductions as reductions
import torch

FLOATS = [torch.float32, torch.float16, torch.bfloat16]


def views(shape: tuple[int, ...], dtype: torch.dtype) -> list[torch.Tensor]:
    """A dense tensor and the ways in which one of its shape is not dense."""
    dense = harness.random_tensor(shape, dtype)
    found = [dense]
    if len(shape) > 1:
        found.append(
            harness.random_tensor(shape[::-1], dtype).permute(*reversed(range(len(shape))))
        )
    if shape:
        found.append(harness.random_tensor((*shape, 2), dtype)[..., 0])
        found.append(dense[:1].expand(shape))
    return found


SHAPES = [
    (),
    (1,),
    (6,),
    (4, 1),
    (1, 4),
    (4, 5),
    (2, 3, 4),
    (2, 1, 4),
    (3, 1, 1),
    (1, 2, 3, 2),
    (0, 3),
]


def reduction_probes() -> list[list[Any]]:
    dims = [0, 1, -1, -2, 2, 3, -4, 7, True, None, 1.0, [0], [0, 1], "x"]
    tensors = [x for shape in SHAPES for x in views(shape, torch.float32)]
    tensors += [harness.random_tensor((4, 5), dtype) for dtype in (torch.float16, torch.float64)]
    tensors.append(torch.ones(4, 5, dtype=torch.int32))
    probes = [[x, dim, keepdim] for x in tensors for dim in dims for keepdim in (False, True)]
    return [*probes, [tensors[0], 0, None], [tensors[0], 0, 1], [3.0, 0, False]]


def last_group(dim: Any) -> list[list[Any]]:
    cases = [
        [harness.random_tensor((4, 6), torch.float32), 1, False],
        [harness.random_tensor((2, 3, 4), torch.float16), -1, True],
    ]
    return [[x, given if dim is None else dim, keepdim] for x, given, keepdim in cases]


def inner_group(dim: Any) -> list[list[Any]]:
    cases = [
        [harness.random_tensor((4, 6), torch.float32), 0, False],
        [harness.random_tensor((2, 1, 4), torch.float32), 1, True],
    ]
    return [[x, given if dim is None else dim, keepdim] for x, given, keepdim in cases]


@pytest.mark.parametrize(
    "cases,attributes",
    [
        (last_group(None), {}),
        (last_group(None), {"dim": -1}),
        (last_group([-1]), {}),
        (last_group(None), {"dim": [-2, -1], "keepdim": True}),
        (last_group(None), {"dim": None}),
        (inner_group(None), {}),
        (inner_group(None), {"dim": -2}),
        ([[harness.random_tensor((4, 6), torch.float32), 0, False]], {"dim": 0}),
        ([[harness.random_tensor((2, 3, 4), torch.float32), [0, 1], False]], {}),
    ],
)
def test_reductions(tool: harness.Tool, cases: list[list[Any]], attributes: dict[str, Any]) -> None:
    probes = [*cases, *reduction_probes()]
    asked = reductions.request("sum", "h200", cases, **attributes)
    candidates, refusals = tool.ask({**asked, "probes": probes})
    assert refusals == []
    for candidate in harness.one_of_each_form(candidates):
        function = candidate.function()
        admitted = 0
        for arguments, expected in zip(probes, candidate.accepts):
            assert candidate.admits(reductions.NAMES, arguments) == expected, arguments
            if not expected:
                continue
            admitted += 1
            x, dim, keepdim = arguments
            golden = reductions.reference(
                "sum", x, attributes.get("dim", dim), attributes.get("keepdim", keepdim)
            )
            what = f"{candidate.form} on {tuple(x.shape)} {x.stride()} dim {dim}"
            harness.assert_close(function(None, *arguments), golden, what)
        assert admitted >= len(cases)


@pytest.mark.parametrize(
    "left,right",
    [
        ((4, 6), (4, 6)),
        ((4, 6), (1, 1)),
        ((4, 6), (6,)),
        ((4, 6), (4, 1)),
        ((4, 1), (1, 6)),
        ((2, 3, 4), (2, 1, 4)),
        ((1, 2, 3, 2), (2, 1, 1)),
    ],
)
def test_elementwise_patterns(
    tool: harness.Tool, left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    cases = [
        [
            harness.random_tensor(left, torch.float32, 1),
            harness.random_tensor(right, torch.float32, 2),
            1.5,
        ]
    ]
    pairs = list(itertools.product([x for s in SHAPES for x in views(s, torch.float32)], repeat=2))
    probes: list[list[Any]] = [*cases, *([x, y, 1.5] for x, y in pairs)]
    x, y, _ = cases[0]
    probes += [[x, y, 2], [x, y, True], [x, y, None], [x, 2.0, 1.5], [2.0, y, 1.5]]
    probes += [[x.half(), y, 1.5], [x, y.half(), 1.5], [x.half(), y.half(), 1.5]]
    asked = elementwise.request("add", "h200", cases)
    candidates, refusals = tool.ask({**asked, "probes": probes})
    assert refusals == []
    for candidate in harness.one_of_each_form(candidates):
        function = candidate.function()
        admitted = 0
        for arguments, expected in zip(probes, candidate.accepts):
            assert candidate.admits(["x", "y", "alpha"], arguments) == expected, arguments
            if not expected:
                continue
            admitted += 1
            golden = elementwise.reference("add", *arguments)
            harness.assert_close(
                function(None, *arguments), golden, f"{candidate.form} {arguments}"
            )
        assert admitted >= len(cases)


def test_inputs_that_no_case_records(tool: harness.Tool) -> None:
    """What a recorded case cannot be must not pass the emitted tests either."""
    asked = reductions.request("sum", "h200", last_group(None))
    candidates, _ = tool.ask(asked)
    plain = harness.random_tensor((4, 6), torch.float32)
    rejected = [
        plain.clone().requires_grad_(),
        torch.nn.Parameter(plain, requires_grad=False),
        plain.to_sparse(),
        [[1.0, 2.0]],
    ]
    for candidate in harness.one_of_each_form(candidates):
        assert candidate.admits(reductions.NAMES, [plain, 1, False])
        for x in rejected:
            assert not candidate.admits(reductions.NAMES, [x, 1, False]), x


@pytest.mark.parametrize("argument", ["x", "out", "n", "rows", "shape", "block_red"])
def test_parameters_may_have_any_name(tool: harness.Tool, argument: str) -> None:
    case = [harness.random_tensor((4, 6), torch.float32), 1, False]
    asked = reductions.request("sum", "h200", [case])
    candidates, _ = tool.ask({**asked, "parameters": [argument, "dim_", "tiles"]})
    for candidate in harness.one_of_each_form(candidates):
        reductions.check(candidate, "sum", [case])


def test_parameters_that_hide_a_needed_name(tool: harness.Tool) -> None:
    case = [harness.random_tensor((4, 6), torch.float32), 1, False]
    asked = reductions.request("sum", "h200", [case])
    candidates, refusals = tool.ask({**asked, "parameters": ["list", "dim", "keepdim"]})
    assert candidates == []
    assert any("`list`" in refusal for refusal in refusals)


def test_split_bounds_its_scratch(tool: harness.Tool) -> None:
    """Partial results must not outnumber the elements, whose number bounds 32-bit offsets."""
    case = [harness.random_tensor((2, 4096), torch.float32), 1, False]
    candidates, _ = tool.ask(reductions.request("sum", "h200", [case]))
    split = [one for one in candidates if one.parameters["form"] == "split"]
    assert split
    for candidate in split:
        parts = candidate.parameters["PARTS"]
        assert candidate.admits(reductions.NAMES, [torch.ones(2, parts), 1, False])
        assert not candidate.admits(reductions.NAMES, [torch.ones(2, parts - 1), 1, False])
