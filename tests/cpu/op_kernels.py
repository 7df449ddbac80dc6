# SPDX-License-Identifier: Apache-2.0
"""One kernel for each family of operations, run for each data type it takes.

Every kernel stores many results, so that one compilation tests many operations: result k of a
family goes to row k of the output.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

LANES = 256

INTEGERS = {
    "int8": torch.int8,
    "int16": torch.int16,
    "int32": torch.int32,
    "int64": torch.int64,
    "uint8": torch.uint8,
    "uint16": torch.uint16,
    "uint32": torch.uint32,
    "uint64": torch.uint64,
}
FLOATS = {
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "float64": torch.float64,
}


@triton.jit
def row(out, k, value, N: tl.constexpr):
    tl.store(out + k * N + tl.arange(0, N), value)


@triton.jit
def integer_arithmetic(x, y, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    a = tl.load(x + lanes)
    b = tl.load(y + lanes)
    row(out, 0, a + b, N)
    row(out, 1, a - b, N)
    row(out, 2, a * b, N)
    row(out, 3, a & b, N)
    row(out, 4, a | b, N)
    row(out, 5, a ^ b, N)
    row(out, 6, ~a, N)
    row(out, 7, 0 - a, N)
    row(out, 8, tl.minimum(a, b), N)
    row(out, 9, tl.maximum(a, b), N)
    row(out, 10, tl.where(a > b, a, b + 1), N)
    row(out, 11, tl.abs(a), N)
    row(out, 12, a * 3 + 7, N)


@triton.jit
def integer_division(x, y, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    a = tl.load(x + lanes)
    b = tl.load(y + lanes)
    b = tl.where(b == 0, b + 1, b)
    row(out, 0, a // b, N)
    row(out, 1, a % b, N)
    row(out, 2, a // 7, N)
    row(out, 3, a % 7, N)
    row(out, 4, tl.cdiv(a, b), N)


@triton.jit
def integer_shifts(x, y, out, BITS: tl.constexpr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    a = tl.load(x + lanes)
    by = tl.load(y + lanes) & (BITS - 1)
    row(out, 0, a << by, N)
    row(out, 1, a >> by, N)
    row(out, 2, a << 3, N)
    row(out, 3, a >> 2, N)


@triton.jit
def comparisons(x, y, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    a = tl.load(x + lanes)
    b = tl.load(y + lanes)
    row(out, 0, (a < b).to(tl.int32), N)
    row(out, 1, (a <= b).to(tl.int32), N)
    row(out, 2, (a > b).to(tl.int32), N)
    row(out, 3, (a >= b).to(tl.int32), N)
    row(out, 4, (a == b).to(tl.int32), N)
    row(out, 5, (a != b).to(tl.int32), N)
    row(out, 6, ((a < b) & (a != 0)).to(tl.int32), N)
    row(out, 7, ((a < b) | (b == 0)).to(tl.int32), N)
    row(out, 8, ((a < b) ^ (b == 0)).to(tl.int32), N)
    row(out, 9, (~(a < b)).to(tl.int32), N)


@triton.jit
def float_arithmetic(x, y, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    a = tl.load(x + lanes)
    b = tl.load(y + lanes)
    row(out, 0, a + b, N)
    row(out, 1, a - b, N)
    row(out, 2, a * b, N)
    row(out, 3, (a / b).to(a.dtype), N)
    row(out, 4, -a, N)
    row(out, 5, tl.minimum(a, b), N)
    row(out, 6, tl.maximum(a, b), N)
    row(out, 7, tl.where(a > b, a, b), N)
    row(out, 8, tl.abs(a), N)
    row(out, 9, a * 3 + 7, N)
    row(out, 10, tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL), N)
    row(out, 11, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL), N)


@triton.jit
def float_clamp(x, y, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    a = tl.load(x + lanes)
    row(out, 0, tl.clamp(a, -1.0, 1.0), N)
    row(out, 1, tl.clamp(a, -1.0, 1.0, propagate_nan=tl.PropagateNan.ALL), N)


@triton.jit
def float_remainder(x, y, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    a = tl.load(x + lanes)
    b = tl.load(y + lanes)
    row(out, 0, a % b, N)


@triton.jit
def float_rounding(x, y, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    a = tl.load(x + lanes)
    b = tl.load(y + lanes)
    row(out, 0, tl.floor(a), N)
    row(out, 1, tl.ceil(a), N)
    row(out, 2, tl.sqrt(tl.abs(a)), N)
    row(out, 3, tl.rsqrt(tl.abs(a) + 1), N)
    row(out, 4, tl.fma(a, b, a), N)
    row(out, 5, tl.fdiv(a, b), N)


@triton.jit
def float_single(x, y, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    a = tl.load(x + lanes)
    b = tl.load(y + lanes)
    row(out, 0, tl.sqrt_rn(tl.abs(a)), N)
    row(out, 1, tl.div_rn(a, b), N)


@triton.jit
def float_functions(x, y, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    a = tl.load(x + lanes)
    row(out, 0, tl.exp(a), N)
    row(out, 1, tl.exp2(a), N)
    row(out, 2, tl.log(tl.abs(a)), N)
    row(out, 3, tl.log2(tl.abs(a)), N)
    row(out, 4, tl.sin(a), N)
    row(out, 5, tl.cos(a), N)
    row(out, 6, tl.erf(a), N)
    row(out, 7, tl.sigmoid(a), N)


@triton.jit
def cast(x, out, TO: tl.constexpr, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.store(out + lanes, tl.load(x + lanes).to(TO))


@triton.jit
def bit_views(x, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    a = tl.load(x + lanes)
    row(out, 0, a.to(tl.int32, bitcast=True), N)
    row(
        out,
        1,
        tl.umulhi(a.to(tl.uint32, bitcast=True), a.to(tl.uint32, bitcast=True)).to(tl.int32),
        N,
    )
    row(out, 2, (a.to(tl.uint32, bitcast=True) >> 5).to(tl.int32), N)
    row(out, 3, (a.to(tl.uint32, bitcast=True) // 1000).to(tl.int32), N)
    row(out, 4, (a.to(tl.uint32, bitcast=True) % 1000).to(tl.int32), N)


@triton.jit
def bit_views64(x, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    a = tl.load(x + lanes).to(tl.uint64, bitcast=True)
    row(out, 0, tl.umulhi(a, a).to(tl.int64), N)
    row(out, 1, (a >> 7).to(tl.int64), N)
    row(out, 2, (a // 1000).to(tl.int64), N)
    row(out, 3, (a % 1000).to(tl.int64), N)


def comparable(x: torch.Tensor) -> torch.Tensor:
    """Unsigned numbers as signed ones of the same bits: torch compares only 8-bit unsigned ones."""
    if x.dtype.is_floating_point or x.dtype.is_signed or x.dtype is torch.bool:
        return x
    return x.view(INTEGERS[f"int{torch.iinfo(x.dtype).bits}"])


def integer_inputs(dtype: torch.dtype, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Random bits, smallest and largest values among them; -1 only where / can't overflow."""
    generator = torch.Generator().manual_seed(seed)
    info = torch.iinfo(dtype)
    spread = [
        torch.randint(max(info.min, -(2**62)), min(info.max, 2**62), (LANES,), generator=generator)
        for _ in range(2)
    ]
    small = [torch.randint(0, 20, (LANES // 2,), generator=generator) for _ in range(2)]
    x, y = (torch.cat([a[: LANES // 2], b]).to(dtype) for a, b in zip(spread, small))
    x[:4] = torch.tensor([info.max, info.min, 0, 1], dtype=dtype)
    y[:4] = torch.tensor([info.max, info.max, info.min, 3], dtype=dtype)
    return x, y


def float_inputs(
    dtype: torch.dtype, seed: int, nan: float = float("nan")
) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x, y = (torch.randn(LANES, generator=generator).mul(3).to(dtype) for _ in range(2))
    inf = float("inf")
    x[:8] = torch.tensor([0.0, -0.0, inf, -inf, nan, 1.0, 1e-7, 2.0], dtype=dtype)
    y[:8] = torch.tensor([1.0, 2.0, 1.0, -inf, 1.0, nan, 1e-7, 0.0], dtype=dtype)
    return x, y
