# SPDX-License-Identifier: Apache-2.0
"""Kernels around tl.dot."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn,
           BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):  # fmt: skip
    om = tl.program_id(0) * BM + tl.arange(0, BM)
    on = tl.program_id(1) * BN + tl.arange(0, BN)
    ok = tl.arange(0, BK)
    ap = a + om[:, None] * sam + ok[None, :] * sak
    bp = b + ok[:, None] * sbk + on[None, :] * sbn
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(ap, mask=(om[:, None] < M) & (ok[None, :] < K - k * BK), other=0.0)
        y = tl.load(bp, mask=(on[None, :] < N) & (ok[:, None] < K - k * BK), other=0.0)
        acc = tl.dot(x, y, acc)
        ap += BK * sak
        bp += BK * sbk
    mask = (om[:, None] < M) & (on[None, :] < N)
    tl.store(c + om[:, None] * scm + on[None, :] * scn, acc.to(c.dtype.element_ty), mask=mask)


@triton.jit
def matmul_grouped_order(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                         GROUP: tl.constexpr):  # fmt: skip
    """The tutorial's order of tiles, rows wrapped instead of masked, and a fused activation."""
    pid = tl.program_id(0)
    pm, pn = tl.swizzle2d(pid // tl.cdiv(N, BN), pid % tl.cdiv(N, BN), tl.cdiv(M, BM),
                          tl.cdiv(N, BN), GROUP)  # fmt: skip
    om = (pm * BM + tl.arange(0, BM)) % M
    on = (pn * BN + tl.arange(0, BN)) % N
    ok = tl.arange(0, BK)
    ap = a + om[:, None] * K + ok[None, :]
    bp = b + ok[:, None] * N + on[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc += tl.dot(tl.load(ap, mask=ok[None, :] < K - k, other=0.0),
                      tl.load(bp, mask=ok[:, None] < K - k, other=0.0))  # fmt: skip
        ap += BK
        bp += BK * N
    acc = tl.where(acc > 0, acc, 0.01 * acc)
    om = pm * BM + tl.arange(0, BM)
    on = pn * BN + tl.arange(0, BN)
    mask = (om[:, None] < M) & (on[None, :] < N)
    tl.store(c + om[:, None] * N + on[None, :], acc, mask=mask)


@triton.jit
def matmul_int8(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, y, out_dtype=tl.int32))


@triton.jit
def matmul_batched(a, b, c, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, m, n, k = tl.arange(0, B), tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + i[:, None, None] * M * K + m[None, :, None] * K + k[None, None, :])
    y = tl.load(b + i[:, None, None] * K * N + k[None, :, None] * N + n[None, None, :])
    z = tl.dot(x, y)
    tl.store(c + i[:, None, None] * M * N + m[None, :, None] * N + n[None, None, :], z)


@triton.jit
def dot_transposed(a, b, c, M: tl.constexpr, K: tl.constexpr):
    m, k = tl.arange(0, M), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + m[:, None] * K + k[None, :])
    tl.store(c + m[:, None] * M + m[None, :], tl.dot(x, tl.trans(y)))


@triton.jit
def matvec(a, x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    total = tl.zeros([BM], tl.float32)
    for start in range(0, N, BN):
        n = start + tl.arange(0, BN)
        mask = (m[:, None] < M) & (n[None, :] < N)
        w = tl.load(a + m[:, None] * N + n[None, :], mask=mask, other=0.0)
        total += tl.sum(w * tl.load(x + n, mask=n < N, other=0.0)[None, :], 1)
    tl.store(y + m, total, mask=m < M)


@triton.jit
def attention(q, k, v, out, L, scale, CAUSAL: tl.constexpr, D: tl.constexpr, BM: tl.constexpr,
              BN: tl.constexpr):  # fmt: skip
    head = tl.program_id(1)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    d = tl.arange(0, D)
    q += head * L * D
    k += head * L * D
    v += head * L * D
    out += head * L * D
    query = tl.load(q + m[:, None] * D + d[None, :], mask=m[:, None] < L, other=0.0)
    top = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    end = L
    if CAUSAL:
        end = tl.minimum(L, (tl.program_id(0) + 1) * BM)
    for start in range(0, end, BN):
        at = start + n
        key = tl.load(k + at[None, :] * D + d[:, None], mask=at[None, :] < L, other=0.0)
        score = tl.dot(query, key) * scale
        keep = at[None, :] < L
        if CAUSAL:
            keep = keep & (m[:, None] >= at[None, :])
        score = tl.where(keep, score, -float("inf"))
        higher = tl.maximum(top, tl.max(score, 1))
        weight = tl.exp(score - higher[:, None])
        fade = tl.exp(top - higher)
        total = total * fade + tl.sum(weight, 1)
        value = tl.load(v + at[:, None] * D + d[None, :], mask=at[:, None] < L, other=0.0)
        acc = acc * fade[:, None] + tl.dot(weight.to(value.dtype), value)
        top = higher
    tl.store(out + m[:, None] * D + d[None, :], acc / total[:, None], mask=m[:, None] < L)


@triton.jit
def grouped_gemm(a, b, c, sizes, N: tl.constexpr, K: tl.constexpr, BM: tl.constexpr,
                 GROUPS: tl.constexpr):  # fmt: skip
    """Several products of different heights, tiles handed out round robin."""
    tile = tl.program_id(0)
    start = 0
    first_tile = 0
    n, k = tl.arange(0, N), tl.arange(0, K)
    for g in range(GROUPS):
        rows = tl.load(sizes + g)
        tiles = tl.cdiv(rows, BM)
        while tile >= first_tile and tile < first_tile + tiles:
            m = (tile - first_tile) * BM + tl.arange(0, BM)
            x = tl.load(
                a + (start + m[:, None]) * K + k[None, :], mask=m[:, None] < rows, other=0.0
            )
            y = tl.load(b + g * K * N + k[:, None] * N + n[None, :])
            at = c + (start + m[:, None]) * N + n[None, :]
            tl.store(at, tl.dot(x, y), mask=m[:, None] < rows)
            tile += tl.num_programs(0)
        start += rows
        first_tile += tiles
