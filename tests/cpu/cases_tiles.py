# SPDX-License-Identifier: Apache-2.0
"""Tile operations by data type as cases. Importing adds them to cases.CASES."""

from __future__ import annotations

import op_kernels as ops
import op_tiles as tiles
import torch
from cases import CASES, Case

N = tiles.SIDE
SIGNED = {"int8": torch.int8, "int16": torch.int16, "int32": torch.int32, "int64": torch.int64}
UNSIGNED = {
    "uint8": torch.uint8, "uint16": torch.uint16, "uint32": torch.uint32, "uint64": torch.uint64,
}  # fmt: skip
FLOATS = {"float16": torch.float16, "float32": torch.float32, "float64": torch.float64}


def _numbers(dtype: torch.dtype, seed: int = 0, low: int = -8, high: int = 8) -> torch.Tensor:
    """Whole numbers, so small that sums and products of floats are exact; unsigned: any bits."""
    generator = torch.Generator().manual_seed(seed)
    if dtype in UNSIGNED.values():
        bits = torch.iinfo(dtype).bits
        wide = torch.randint(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, (N, N), generator=generator)
        return wide.to(SIGNED[f"int{bits}"]).view(dtype)
    return torch.randint(low, high, (N, N), generator=generator).to(dtype)


def _add(name: str, kernel: object, dtype: torch.dtype, parts: int, out: torch.dtype | None = None,
         high: int = 8, **more: int) -> None:  # fmt: skip
    def run() -> list[torch.Tensor]:
        result = torch.zeros(parts * N * N, dtype=torch.int64).to(out or dtype)
        kernel[(1,)](_numbers(dtype, high=high), result, N=N, **more)
        return [ops.comparable(result)]

    CASES[name] = Case(run)


for _name, _type in {**SIGNED, **UNSIGNED, **FLOATS}.items():
    _wide = torch.float64 if _type.is_floating_point else torch.int64
    _add(f"reductions/{_name}", tiles.reductions, _type, 5, _wide)
    _add(f"sums/{_name}", tiles.sums, _type, 3, _wide)
    _add(f"shapes/{_name}", tiles.shapes, _type, 10)
    if not _type.is_floating_point:
        _add(f"integer_reductions/{_name}", tiles.integer_reductions, _type, 2, _wide)
    _add(f"scans/{_name}", tiles.scans, _type, 4, high=2)
    for _width in (8, 16):
        _add(f"masked_loads/{_name}/{_width}", tiles.masked_loads, _type, 1, often=2, W=_width)
    _add(f"sorts/{_name}", tiles.sorts, _type, 2)

for _name in ("int32", "int64", "uint32", "uint64", "float16", "float32", "float64"):
    _add(f"atomic_adds/{_name}", tiles.atomic_adds, {**SIGNED, **UNSIGNED, **FLOATS}[_name], 1)
for _name in ("int32", "int64", "uint32", "uint64", "float32", "float64"):
    _type = {**SIGNED, **UNSIGNED, **FLOATS}[_name]
    _add(f"atomic_extremes/{_name}", tiles.atomic_extremes, _type, 1)
for _name in ("int32", "int64", "uint32", "uint64"):
    _add(f"atomic_logic/{_name}", tiles.atomic_logic, {**SIGNED, **UNSIGNED}[_name], 1)


def _product(name: str, dtype: torch.dtype, out: torch.dtype) -> None:
    def run() -> list[torch.Tensor]:
        result = torch.ones(2 * N * N, dtype=out)
        tiles.products[(1,)](_numbers(dtype), _numbers(dtype, 1), result, N=N)
        return [result]

    CASES[name] = Case(run)


for _name, _type, _out in (
    ("int8", torch.int8, torch.int32), ("float16", torch.float16, torch.float16),
    ("float16-32", torch.float16, torch.float32), ("float32", torch.float32, torch.float32),
    ("float64", torch.float64, torch.float64),
):  # fmt: skip
    _product(f"products/{_name}", _type, _out)
