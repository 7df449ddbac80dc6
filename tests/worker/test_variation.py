# SPDX-License-Identifier: Apache-2.0
"""Properties of the unseen inputs that fuzzing draws."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import torch
from ksplit.variation import Variation


def variation(cases: list[list[Any]], seed: int = 0, limit: int = 4096) -> Variation:
    task = SimpleNamespace(
        case_count=len(cases),
        stored_inputs=lambda index: cases[index - 1],
        device=SimpleNamespace(torch_device=torch.device("cpu")),
    )
    return Variation(task, seed, limit)


def test_the_same_seed_draws_the_same() -> None:
    cases = [[torch.randn(4, 6), 0.5], [torch.randn(300), 2.0]]
    first, second, other = (variation(cases, seed) for seed in (3, 3, 4))
    differ = False
    for _ in range(50):
        a, b, c = first.draw(), second.draw(), other.draw()
        assert a[0].shape == b[0].shape and a[0].stride() == b[0].stride() and a[1] == b[1]
        assert torch.equal(a[0], b[0])
        differ |= a[0].shape != c[0].shape
    assert differ


def test_sizes_stay_consistent_ones_stay_and_memory_is_bounded() -> None:
    case = [torch.randn(64, 256), torch.randn(1, 256), [256], torch.randn(64, 1)]
    source = variation([case], limit=20_000)
    seen = set()
    for _ in range(200):
        x, row, sizes, column = source.draw()
        assert row.shape == (1, x.shape[1]) and column.shape == (x.shape[0], 1)
        assert sizes == [x.shape[1]]
        assert math.prod(x.shape) <= 20_000
        seen.add(tuple(x.shape))
    assert any(0 in shape for shape in seen) and any(1 in shape for shape in seen)
    assert len(seen) > 50


def test_layouts_and_dtypes_vary_and_storage_covers_a_contiguous_reading() -> None:
    source = variation([[torch.randn(8, 12)]])
    dtypes, contiguous, offset, expanded = set(), 0, 0, 0
    for _ in range(300):
        (x,) = source.draw()
        dtypes.add(x.dtype)
        contiguous += x.is_contiguous()
        offset += x.storage_offset() > 0
        expanded += any(s == 0 and n > 1 for s, n in zip(x.stride(), x.shape))
        available = x.untyped_storage().nbytes() // x.element_size() - x.storage_offset()
        assert available >= x.numel()
    assert dtypes == {torch.float16, torch.bfloat16, torch.float32, torch.float64}
    assert 100 < contiguous < 290 and offset and expanded


def test_contents_come_from_the_case() -> None:
    source = variation([[torch.tensor([1.5, -2.0, 7.0]), torch.tensor([0, 5, 40])]])
    for _ in range(100):
        x, index = source.draw()
        if x.dtype == torch.float32:
            assert set(x.flatten().tolist()) <= {1.5, -2.0, 7.0}
        if index.numel():
            assert int(index.min()) >= 0
            assert int(index.max()) < max(min(s for s in (*x.shape, *index.shape) if s), 1)


def test_attributes_vary_within_their_kind() -> None:
    cases = [
        [torch.randn(3, 4, 5), 1, True, "a", None],
        [torch.randn(3), 0, True, "b", torch.ones(3)],
    ]
    source = variation(cases)
    drawn = [source.draw() for _ in range(3000)]
    axes = {values[1] for values in drawn}
    assert axes == {-3, -2, -1, 0, 1, 2}
    assert {values[2] for values in drawn} == {True, False}
    assert {values[3] for values in drawn} == {"a", "b"}
    assert any(v[4] is None and v[0].dim() == 1 for v in drawn)  # an optional tensor left out
