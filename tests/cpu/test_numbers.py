# SPDX-License-Identifier: Apache-2.0
"""What the interpreter doesn't compute as Triton means it, against torch: bf16, fp8, NaN."""

from __future__ import annotations

import numpy as np
import op_kernels as ops
import pytest
import torch
import triton
import triton.language as tl
from kernels_memory import atomic_sums
from kernels_rows import sum_columns
from triton.language.extra import libdevice


@triton.jit
def to_and_from(x, narrow, wide, N: tl.constexpr):
    c = tl.arange(0, N)
    tl.store(narrow + c, tl.load(x + c).to(narrow.dtype.element_ty))
    tl.store(wide + c, tl.load(narrow + c).to(wide.dtype.element_ty))


@triton.jit
def libdevice_functions(x, y, out, N: tl.constexpr):
    c = tl.arange(0, N)
    a, b = tl.load(x + c), tl.load(y + c)
    ops.row(out, 0, libdevice.tanh(a), N)
    ops.row(out, 1, libdevice.log1p(tl.abs(a)), N)
    ops.row(out, 2, libdevice.expm1(a), N)
    ops.row(out, 3, libdevice.pow(tl.abs(a), b), N)
    ops.row(out, 4, libdevice.atan2(a, b), N)
    ops.row(out, 5, libdevice.rint(a), N)
    ops.row(out, 6, libdevice.round(a), N)
    ops.row(out, 7, libdevice.erfc(a), N)
    ops.row(out, 8, libdevice.hypot(a, b), N)
    ops.row(out, 9, libdevice.isnan(a).to(a.dtype), N)
    ops.row(out, 10, libdevice.fmod(a, b), N)
    ops.row(out, 11, libdevice.sinh(a), N)


@triton.jit
def elementary(x, out, n, WHICH: tl.constexpr, B: tl.constexpr):
    c = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + c, mask=c < n)
    if WHICH == "exp":
        y = tl.exp(a)
    elif WHICH == "exp2":
        y = tl.exp2(a)
    elif WHICH == "erf":
        y = tl.erf(a)
    elif WHICH == "log":
        y = tl.log(a)
    elif WHICH == "log2":
        y = tl.log2(a)
    elif WHICH == "sin":
        y = tl.sin(a)
    elif WHICH == "cos":
        y = tl.cos(a)
    elif WHICH == "rsqrt":
        y = tl.rsqrt(a)
    else:
        y = libdevice.tanh(a)
    tl.store(out + c, y, mask=c < n)


@triton.jit
def dot_narrow(a, b, c, M: tl.constexpr):
    m = tl.arange(0, M)
    at = m[:, None] * M + m[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))


def test_bfloat16_arithmetic_rounds_each_result() -> None:
    x, y = ops.float_inputs(torch.bfloat16, 3)
    out = torch.zeros(12, ops.LANES, dtype=torch.bfloat16)
    ops.float_arithmetic[(1,)](x, y, out, N=ops.LANES)
    expected = [x + y, x - y, x * y, (x.float() / y.float()).bfloat16(), -x, torch.fmin(x, y),
                torch.fmax(x, y), torch.where(x > y, x, y), x.abs(), x * 3 + 7,
                torch.minimum(x, y), torch.maximum(x, y)]  # fmt: skip
    torch.testing.assert_close(out, torch.stack(expected), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    "which", ["exp", "exp2", "erf", "log", "log2", "sin", "cos", "tanh", "rsqrt"]
)
def test_elementary_functions_are_within_an_ulp(which: str) -> None:
    x = torch.arange(0, 2**32, 2503).to(torch.int32).view(torch.float32)  # of every magnitude
    out = torch.empty_like(x)
    elementary[(triton.cdiv(len(x), 4096),)](x, out, len(x), WHICH=which, B=4096)
    exact = getattr(torch, which)(x.double())
    assert torch.equal(out.isnan(), exact.isnan())
    largest = torch.finfo(torch.float32).max
    beyond = exact.abs() > largest * (1 + 2**-25)
    assert torch.equal(out[beyond].double(), exact[beyond].sign() * torch.inf)
    inside = (exact.abs() <= largest) & (exact != 0)
    ulp = (torch.frexp(exact[inside])[1].clamp(min=-125).double() - 24).exp2()
    # rsqrt is a root and a quotient, each rounded; SLEEF's tanh(7e-8) is the float beside the right
    # one, 1.00000002 ulp away.
    limit = 1.5 if which == "rsqrt" else 1.0001
    assert ((out[inside].double() - exact[inside]).abs() / ulp).max() <= limit
    assert torch.equal(out[exact == 0].signbit(), exact[exact == 0].signbit())


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_nan_in_minimum_and_maximum(dtype: torch.dtype) -> None:
    x, y = ops.float_inputs(dtype, 3)
    out = torch.zeros(12, ops.LANES, dtype=dtype)
    ops.float_arithmetic[(1,)](x, y, out, N=ops.LANES)
    for row, function in (
        (5, torch.fmin),
        (6, torch.fmax),
        (10, torch.minimum),
        (11, torch.maximum),
    ):
        torch.testing.assert_close(out[row], function(x, y), rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("name", ["uint8", "uint16", "uint32", "uint64"])
def test_unsigned_arithmetic(name: str) -> None:
    dtype = ops.INTEGERS[name]
    x, y = ops.integer_inputs(dtype, 3)
    out = torch.zeros(13, ops.LANES, dtype=torch.int64).to(dtype)
    ops.integer_arithmetic[(1,)](x, y, out, N=ops.LANES)
    a, b, one = x.numpy(), y.numpy(), np.ones(1, name)
    expected = [a + b, a - b, a * b, a & b, a | b, a ^ b, ~a, one - one - a, np.minimum(a, b),
                np.maximum(a, b), np.where(a > b, a, b + one), a,
                a * (3 * one) + 7 * one]  # fmt: skip
    np.testing.assert_array_equal(out.numpy(), np.stack(expected))


EIGHT_BIT = [torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz]


@pytest.mark.parametrize("dtype", EIGHT_BIT)
@pytest.mark.parametrize("wide", [torch.float16, torch.float32, torch.bfloat16])
def test_8bit_floats_convert_like_torch(dtype: torch.dtype, wide: torch.dtype) -> None:
    largest = torch.finfo(dtype).max
    x = torch.cat([torch.linspace(-1, 1, 128) * largest, torch.logspace(-9, 2, 128, 2)]).to(wide)
    x = x.clamp(-largest, largest)
    narrow, back = torch.zeros(256, dtype=dtype), torch.zeros(256, dtype=wide)
    to_and_from[(1,)](x, narrow, back, N=256)
    expected = x.to(dtype)
    assert torch.equal(narrow.view(torch.uint8), expected.view(torch.uint8))
    assert torch.equal(back, expected.to(wide))


@pytest.mark.parametrize("dtype", EIGHT_BIT[:2])
def test_8bit_floats_saturate(dtype: torch.dtype) -> None:
    x = torch.tensor([1e9, -1e9, float("inf"), float("nan")])
    narrow, back = torch.zeros(4, dtype=dtype), torch.zeros(4)
    to_and_from[(1,)](x, narrow, back, N=4)
    largest = torch.finfo(dtype).max
    assert back[:3].tolist() == [largest, -largest, largest]
    assert back[3].isnan()


@pytest.mark.parametrize("source", [torch.float32, torch.float64, torch.int32, torch.int64])
def test_conversion_to_bfloat16(source: torch.dtype) -> None:
    inputs = ops.float_inputs if source.is_floating_point else ops.integer_inputs
    x, _ = inputs(source, 3)
    narrow, back = torch.zeros(ops.LANES, dtype=torch.bfloat16), torch.zeros(ops.LANES)
    to_and_from[(1,)](x, narrow, back, N=ops.LANES)
    # torch goes through float; where that is exact, both round once.
    single = x.to(torch.float32)
    exact = single.double() == x.double()
    expected = single.bfloat16()
    torch.testing.assert_close(narrow[exact], expected[exact], rtol=0, atol=0, equal_nan=True)
    torch.testing.assert_close(narrow, expected, rtol=2**-7, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_libdevice(dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(1)
    a, b = (torch.randn(256, generator=generator).mul(2).to(dtype) for _ in range(2))
    out = torch.zeros(12, 256, dtype=dtype)
    libdevice_functions[(1,)](a, b, out, N=256)
    a, b = a.double(), b.double()
    expected = [a.tanh(), a.abs().log1p(), a.expm1(), a.abs() ** b, torch.atan2(a, b), a.round(),
                torch.where(a >= 0, (a + 0.5).floor(), (a - 0.5).ceil()), torch.erfc(a),
                torch.hypot(a, b), torch.zeros_like(a), torch.fmod(a, b), a.sinh()]  # fmt: skip
    tolerance = 3e-7 if dtype is torch.float32 else 1e-14
    torch.testing.assert_close(out.double(), torch.stack(expected), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [torch.float8_e5m2, torch.float8_e4m3fn, torch.bfloat16])
def test_dot_of_narrow_floats(dtype: torch.dtype) -> None:
    a, b = (torch.randn(32, 32).to(dtype) for _ in range(2))
    out = torch.zeros(32, 32)
    dot_narrow[(1,)](a, b, out, M=32)
    torch.testing.assert_close(out, a.float() @ b.float(), rtol=1e-5, atol=1e-5)


def test_bfloat16_atomics_and_reduction() -> None:
    x = torch.randint(-9, 9, (32,)).bfloat16()
    out = torch.zeros(68, dtype=torch.bfloat16)
    atomic_sums[(1,)](x, out, B=32)
    assert torch.equal(out[:4], x.view(8, 4).sum(0))
    y = torch.randint(-3, 4, (33, 70)).bfloat16()  # sums of 8 rows are exact
    total = torch.zeros(70)
    sum_columns[(2,)](y, total, 33, 70, BM=8, BN=64)
    torch.testing.assert_close(total, y.float().sum(0))
