# SPDX-License-Identifier: Apache-2.0
"""Kernels that bench/cpu/speed.py times, tiled as one would for a CPU."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def gelu(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    v = tl.load(x + i, mask=mask)
    tl.store(out + i, 0.5 * v * (1 + tl.erf(v * 0.7071067811865476)), mask=mask)


@triton.jit
def sum_rows(x, out, n, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([B], tl.float32)
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        total += tl.load(x + row * n + c, mask=c < n, other=0.0)
    tl.store(out + row, tl.sum(total, 0))


@triton.jit
def sum_columns(x, out, m, n, BN: tl.constexpr):
    c = tl.program_id(0) * BN + tl.arange(0, BN)
    mask = c < n
    total = tl.zeros([BN], tl.float32)
    for row in range(0, m):
        total += tl.load(x + row * n + c, mask=mask, other=0.0)
    tl.store(out + c, total, mask=mask)


@triton.jit
def softmax(x, out, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * n + c, e / tl.sum(e, 0), mask=c < n)


@triton.jit
def layer_norm(x, w, b, out, n, eps, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    mask = c < n
    v = tl.load(x + row * n + c, mask=mask, other=0.0)
    mean = tl.sum(v, 0) / n
    d = tl.where(mask, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, 0) / n + eps)
    y = d * scale * tl.load(w + c, mask=mask) + tl.load(b + c, mask=mask)
    tl.store(out + row * n + c, y, mask=mask)


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros([BM, BN], tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        total += tl.dot(tl.load(a + m[:, None] * K + k), tl.load(b + k[:, None] * N + n))
    tl.store(c + m[:, None] * N + n, total)
