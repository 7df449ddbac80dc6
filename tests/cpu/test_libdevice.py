# SPDX-License-Identifier: Apache-2.0
"""CUDA's libdevice functions against mpmath, which Triton's interpreter doesn't have."""

from __future__ import annotations

import importlib.util
import math
import struct
from pathlib import Path
from typing import Callable

import mpmath
import numpy as np
import pytest
import torch

mpmath.mp.prec = 160

# name: (reference, low, high), for arguments spread over [low, high].
UNARY: dict[str, tuple[Callable, float, float]] = {
    "exp": (mpmath.exp, -80, 80), "exp2": (lambda x: mpmath.mpf(2) ** x, -100, 100),
    "exp10": (lambda x: mpmath.mpf(10) ** x, -30, 30), "expm1": (mpmath.expm1, -20, 20),
    "log": (mpmath.log, 1e-30, 1e3), "log2": (lambda x: mpmath.log(x, 2), 1e-30, 1e3),
    "log10": (mpmath.log10, 1e-30, 1e3), "log1p": (mpmath.log1p, -0.99, 100),
    "sin": (mpmath.sin, -100, 100), "cos": (mpmath.cos, -100, 100), "tan": (mpmath.tan, -10, 10),
    "sinpi": (mpmath.sinpi, -10, 10), "cospi": (mpmath.cospi, -10, 10),
    "asin": (mpmath.asin, -1, 1), "acos": (mpmath.acos, -1, 1), "atan": (mpmath.atan, -50, 50),
    "sinh": (mpmath.sinh, -50, 50), "cosh": (mpmath.cosh, -50, 50), "tanh": (mpmath.tanh, -10, 10),
    "asinh": (mpmath.asinh, -50, 50), "acosh": (mpmath.acosh, 1, 50),
    "atanh": (mpmath.atanh, -0.99, 0.99), "cbrt": (lambda x: _cbrt(x), -50, 50),
    "rcbrt": (lambda x: 1 / _cbrt(x), -50, 50), "erf": (mpmath.erf, -5, 5),
    "erfc": (mpmath.erfc, -5, 5), "tgamma": (mpmath.gamma, 0.1, 20),
    "lgamma": (lambda x: mpmath.log(mpmath.gamma(x)), 2.5, 50),
    "normcdf": (mpmath.ncdf, -5, 5), "sqrt": (mpmath.sqrt, 0, 100),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), 0.01, 100), "floor": (mpmath.floor, -50, 50),
    "ceil": (mpmath.ceil, -50, 50), "trunc": (lambda x: mpmath.mpf(int(x)), -50, 50),
    "round": (lambda x: _half_away(x), -50, 50), "rint": (mpmath.nint, -50, 50),
    "nearbyint": (mpmath.nint, -50, 50), "abs": (abs, -50, 50), "rcp_rn": (lambda x: 1 / x, 1, 9),
    "sqrt_rn": (mpmath.sqrt, 0, 100), "logb": (lambda x: mpmath.floor(mpmath.log(x, 2)), 0.3, 1e9),
    "j0": (lambda x: mpmath.besselj(0, x), 0.1, 2), "j1": (lambda x: mpmath.besselj(1, x), 0.1, 3),
    "y0": (lambda x: mpmath.bessely(0, x), 1, 3), "y1": (lambda x: mpmath.bessely(1, x), 0.1, 2),
}  # fmt: skip
BINARY: dict[str, Callable] = {
    "pow": lambda x, y: abs(x) ** y, "atan2": mpmath.atan2, "hypot": mpmath.hypot,
    "rhypot": lambda x, y: 1 / mpmath.hypot(x, y), "fmod": lambda x, y: _fmod(x, y),
    "remainder": lambda x, y: x - y * mpmath.nint(x / y), "copysign": lambda x, y: _copysign(x, y),
    "fdim": lambda x, y: max(x - y, mpmath.mpf(0)), "div_rn": lambda x, y: x / y,
    "add_rn": lambda x, y: x + y, "sub_rn": lambda x, y: x - y, "mul_rn": lambda x, y: x * y,
    "norm3d": lambda x, y: mpmath.sqrt(2 * x * x + y * y),
    "rnorm3d": lambda x, y: 1 / mpmath.sqrt(2 * x * x + y * y),
    "norm4d": lambda x, y: mpmath.sqrt(2 * x * x + 2 * y * y),
    "rnorm4d": lambda x, y: 1 / mpmath.sqrt(2 * x * x + 2 * y * y),
    "fma": lambda x, y: x * y + x, "fma_rn": lambda x, y: x * y + x,
}  # fmt: skip
# Calls that aren't name(a, b).
FORMS = {
    "pow": "pow(tl.abs(a), b)", "norm3d": "norm3d(a, b, a)", "rnorm3d": "rnorm3d(a, b, a)",
    "norm4d": "norm4d(a, b, a, b)", "rnorm4d": "rnorm4d(a, b, a, b)", "fma": "fma(a, b, a)",
    "fma_rn": "fma_rn(a, b, a)",
}  # fmt: skip
# Where several roundings follow one another, or the C library's Bessel functions are used. Others:
# one ulp.
ULPS = {
    "rcbrt": 2, "rsqrt": 1.5, "rhypot": 2, "normcdf": 40, "norm3d": 2, "rnorm3d": 3, "norm4d": 2,
    "rnorm4d": 3, "j0": 16, "j1": 16, "y0": 16, "y1": 16, "tgamma": 1.1, "lgamma": 1.1,
}  # fmt: skip

HEADER = """
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def kernel(x, y, out, N: tl.constexpr):
    c = tl.arange(0, N)
"""


@pytest.fixture(autouse=True)
def _same_numbers_every_time() -> None:
    torch.manual_seed(0)


def _cbrt(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


def _half_away(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.sign(x) * mpmath.floor(abs(x) + 0.5)


def _fmod(x: mpmath.mpf, y: mpmath.mpf) -> mpmath.mpf:
    return x - y * mpmath.mpf(int(x / y))


def _copysign(x: mpmath.mpf, y: mpmath.mpf) -> mpmath.mpf:
    return abs(x) if y > 0 else -abs(x)


def _launch(
    folder: Path,
    calls: list[str],
    x: torch.Tensor,
    y: torch.Tensor,
    out: torch.Tensor,
    loads: str = "a, b = tl.load(x + c), tl.load(y + c)",
) -> None:
    """Row k of `out` becomes what call k gives."""
    lines = [f"    {loads}\n"]
    for k, call in enumerate(calls):
        lines.append(f"    tl.store(out + {k} * N + c, libdevice.{call})\n")
    file = folder / "functions.py"
    file.write_text(HEADER + "".join(lines))
    spec = importlib.util.spec_from_file_location("functions", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.kernel[(1,)](x, y, out, N=x.shape[-1], enable_fp_fusion=False)


def _ulps(found: float, exact: mpmath.mpf, digits: int) -> float:
    if exact == 0:
        return abs(found) * 2.0**digits
    exponent = max(int(mpmath.floor(mpmath.log(abs(exact), 2))), -126 if digits == 24 else -1022)
    return float(abs(mpmath.mpf(found) - exact) / mpmath.mpf(2) ** (exponent - digits + 1))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_functions_of_one_number(tmp_path: Path, dtype: torch.dtype) -> None:
    digits = 24 if dtype is torch.float32 else 53
    wrong = []
    lows = torch.tensor([[low] for _, low, _ in UNARY.values()], dtype=torch.float64)
    highs = torch.tensor([[high] for _, _, high in UNARY.values()], dtype=torch.float64)
    x = (lows + (highs - lows) * torch.rand(len(UNARY), 64, dtype=torch.float64)).to(dtype)
    out = torch.zeros_like(x)
    calls = [f"{name}(tl.load(x + {k} * N + c))" for k, name in enumerate(UNARY)]
    _launch(tmp_path, calls, x, x, out, "pass")
    for k, (name, (exact, _, _)) in enumerate(UNARY.items()):
        worst = max(
            _ulps(found, exact(mpmath.mpf(value)), digits)
            for value, found in zip(x[k].tolist(), out[k].tolist())
        )
        if worst > ULPS.get(name, 1.001):
            wrong.append((name, worst))
    assert wrong == []


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_functions_of_several_numbers(tmp_path: Path, dtype: torch.dtype) -> None:
    digits = 24 if dtype is torch.float32 else 53
    x, y = (torch.randn(64, dtype=torch.float64).mul(3).to(dtype) for _ in range(2))
    out = torch.zeros(len(BINARY), 64, dtype=dtype)
    calls = [FORMS.get(name, f"{name}(a, b)") for name in BINARY]
    _launch(tmp_path, calls, x, y, out)
    wrong = []
    for k, (name, exact) in enumerate(BINARY.items()):
        triples = zip(x.tolist(), y.tolist(), out[k].tolist())
        worst = max(
            _ulps(found, exact(mpmath.mpf(a), mpmath.mpf(b)), digits) for a, b, found in triples
        )
        if worst > ULPS.get(name, 1.001):
            wrong.append((name, worst))
    assert wrong == []


def _brev(x: int) -> int:
    return int(f"{x & 0xFFFFFFFF:032b}"[::-1], 2)


def _signed24(x: int) -> int:
    return ((x & 0xFFFFFF) ^ 0x800000) - 0x800000


INTEGER: dict[str, Callable[[int, int], int]] = {
    "clz(a)": lambda a, b: 32 - (a & 0xFFFFFFFF).bit_length(),
    "popc(a)": lambda a, b: bin(a & 0xFFFFFFFF).count("1"),
    "ffs(a)": lambda a, b: (a & -a).bit_length(), "brev(a)": lambda a, b: _brev(a),
    "abs(a)": lambda a, b: abs(a), "mulhi(a, b)": lambda a, b: (a * b) >> 32,
    "mul24(a, b)": lambda a, b: _signed24(a) * _signed24(b),
    "hadd(a, b)": lambda a, b: (a + b) >> 1, "rhadd(a, b)": lambda a, b: (a + b + 1) >> 1,
    "sad(a, b, a.to(tl.uint32))": lambda a, b: abs(a - b) + a,
    "float_as_int(a.to(tl.float32))": lambda a, b: struct.unpack("i", struct.pack("f", a))[0],
    "float2int_rz(a.to(tl.float32) * 0.001)": lambda a, b: int(np.float32(a) * np.float32(0.001)),
    "float2int_ru(a.to(tl.float32) * 0.001)":
        lambda a, b: math.ceil(np.float32(a) * np.float32(0.001)),
    "double2int_rd(a.to(tl.float64) / 7)": lambda a, b: a // 7,
    "double2hiint(a.to(tl.float64))": lambda a, b: struct.unpack("q", struct.pack("d", a))[0] >> 32,
    "isnan(a.to(tl.float32)).to(tl.int32)": lambda a, b: 0,
    "signbit(a.to(tl.float32)).to(tl.int32)": lambda a, b: int(a < 0),
    "ilogb(a.to(tl.float64))": lambda a, b: abs(a).bit_length() - 1,
}  # fmt: skip


def test_integer_functions(tmp_path: Path) -> None:
    x, y = (torch.randint(-(2**31), 2**31, (64,), dtype=torch.int32) for _ in range(2))
    out = torch.zeros(len(INTEGER), 64, dtype=torch.int32)
    _launch(tmp_path, list(INTEGER), x, y, out)
    for row, (call, exact) in zip(out.tolist(), INTEGER.items()):
        wanted = [exact(a, b) for a, b in zip(x.tolist(), y.tolist())]
        assert row == [(w + 2**31) % 2**32 - 2**31 for w in wanted], call
