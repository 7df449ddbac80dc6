# SPDX-License-Identifier: Apache-2.0
"""Kernels for the operations that work on a tile as a whole, run for each data type they take."""

from __future__ import annotations

import triton
import triton.language as tl

SIDE = 16


@triton.jit
def larger(a, b):
    return tl.where(a > b, a, b)


@triton.jit
def tile(x, N: tl.constexpr):
    return tl.load(x + tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :])


@triton.jit
def put(out, k, value, N: tl.constexpr):
    """Tile k of the output."""
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + k * N * N + at, tl.broadcast_to(value, (N, N)))


@triton.jit
def reductions(x, out, N: tl.constexpr):
    a = tile(x, N)
    put(out, 0, tl.max(a, 1)[:, None].to(out.dtype.element_ty), N)
    put(out, 1, tl.min(a, 0)[None, :].to(out.dtype.element_ty), N)
    put(out, 2, tl.argmax(a, 1)[:, None].to(out.dtype.element_ty), N)
    put(out, 3, tl.argmin(a, 0)[None, :].to(out.dtype.element_ty), N)
    put(out, 4, tl.reduce(a, 1, larger)[:, None].to(out.dtype.element_ty), N)


@triton.jit
def sums(x, out, N: tl.constexpr):
    a = tile(x, N)
    put(out, 0, tl.sum(a, 1)[:, None].to(out.dtype.element_ty), N)
    put(out, 1, tl.sum(a, 0)[None, :].to(out.dtype.element_ty), N)
    put(out, 2, tl.sum(tl.sum(a, 1), 0).to(out.dtype.element_ty), N)


@triton.jit
def integer_reductions(x, out, N: tl.constexpr):
    put(out, 0, tl.xor_sum(tile(x, N), 1)[:, None].to(out.dtype.element_ty), N)
    put(out, 1, tl.reduce_or(tile(x, N), 0)[None, :].to(out.dtype.element_ty), N)


@triton.jit
def scans(x, out, N: tl.constexpr):
    a = tile(x, N)
    put(out, 0, tl.cumsum(a, 1).to(out.dtype.element_ty), N)
    put(out, 1, tl.cumsum(a, 0, reverse=True).to(out.dtype.element_ty), N)
    put(out, 2, tl.cumprod(a, 1).to(out.dtype.element_ty), N)
    put(out, 3, tl.associative_scan(a, 0, larger), N)


@triton.jit
def shapes(x, out, N: tl.constexpr):
    a = tile(x, N)
    row = tl.load(x + tl.arange(0, N))
    put(out, 0, tl.trans(a), N)
    put(out, 1, tl.reshape(tl.permute(tl.reshape(a, (4, N // 4, N)), (1, 0, 2)), (N, N)), N)
    put(out, 2, row[:, None], N)
    left, right = tl.split(tl.reshape(a, (N, N // 2, 2)))
    put(out, 3, tl.reshape(tl.join(right, left), (N, N)), N)
    both = tl.cat(row, tl.load(x + N + tl.arange(0, N)), can_reorder=True)
    put(out, 4, tl.sum(tl.reshape(both, (2, N)).to(tl.int64), 0)[None, :].to(a.dtype), N)
    index = (tl.arange(0, N)[:, None] * 7 + tl.arange(0, N)[None, :] * 3) % N
    put(out, 5, tl.gather(a, index, 1), N)
    put(out, 6, tl.gather(a, index, 0), N)
    put(out, 7, tl.flip(a, 1), N)
    put(out, 8, tl.interleave(left, right), N)
    put(out, 9, tl.where(index < 5, a, tl.zeros_like(a)), N)


@triton.jit
def sorts(x, out, N: tl.constexpr):
    put(out, 0, tl.sort(tile(x, N)), N)
    put(out, 1, tl.sort(tile(x, N), descending=True), N)


@triton.jit
def atomic_adds(x, out, N: tl.constexpr):
    """Each of the first N elements gets N numbers added; the rest show what was there before."""
    lanes = tl.arange(0, N)
    tl.atomic_add(out + lanes[None, :] + lanes[:, None] * 0, tile(x, N))
    tl.store(out + N + lanes, tl.atomic_add(out + 3 * N + lanes, tl.load(x + lanes)))


@triton.jit
def atomic_extremes(x, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.atomic_max(out + lanes[None, :] + lanes[:, None] * 0, tile(x, N))
    tl.atomic_min(
        out + N + lanes[None, :] + lanes[:, None] * 0, tile(x, N), mask=lanes[:, None] < 9
    )


@triton.jit
def atomic_logic(x, out, N: tl.constexpr):
    lanes = tl.arange(0, N)
    tl.atomic_and(out + lanes[None, :] + lanes[:, None] * 0, tile(x, N))
    tl.atomic_or(out + N + lanes[None, :] + lanes[:, None] * 0, tile(x, N))
    tl.atomic_xor(out + 2 * N + lanes[None, :] + lanes[:, None] * 0, tile(x, N))
    old = tl.atomic_cas(out + 3 * N + lanes, tl.load(x + N + lanes), tl.load(x + lanes))
    tl.store(out + 4 * N + lanes, old)
    tl.store(out + 5 * N + lanes, tl.atomic_xchg(out + 6 * N + lanes, tl.load(x + lanes)))


@triton.jit
def products(x, y, out, N: tl.constexpr):
    put(out, 0, tl.dot(tile(x, N), tile(y, N), out_dtype=out.dtype.element_ty), N)
    into = tile(out + N * N, N)
    put(out, 1, tl.dot(tile(x, N), tl.trans(tile(y, N)), into, out_dtype=out.dtype.element_ty), N)


@triton.jit
def masked_loads(x, out, often, N: tl.constexpr, W: tl.constexpr):
    """Under conditions that memory tells, in rows of W lanes."""
    at = tl.arange(0, N * N // W)[:, None] * W + tl.arange(0, W)[None, :]
    a = tl.load(x + at)
    result = a
    if often > 0:
        result = tl.load(x + at, mask=a > 3, other=1)
    tl.store(out + at, result)
