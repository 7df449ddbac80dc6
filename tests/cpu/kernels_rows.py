# SPDX-License-Identifier: Apache-2.0
"""Kernels that work on rows: normalisation, reduction, scans, sorting, losses."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)


@triton.jit
def softmax(out, x, stride, n, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * stride + c, mask=c < n, other=-float("inf"))
    v = v - tl.max(v, 0)
    e = tl.exp(v)
    tl.store(out + row * stride + c, e / tl.sum(e, 0), mask=c < n)


@triton.jit
def softmax_online(out, x, n, B: tl.constexpr):
    row = tl.program_id(0)
    top = -float("inf")
    total = 0.0
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))
        higher = tl.maximum(top, tl.max(v, 0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(v - higher), 0)
        top = higher
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        v = tl.load(x + row * n + c, mask=c < n, other=-float("inf"))
        tl.store(out + row * n + c, tl.exp(v - top) / total, mask=c < n)


@triton.jit
def log_softmax_tile(out, x, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    mask = (m[:, None] < M) & (n[None, :] < N)
    v = tl.load(x + m[:, None] * N + n[None, :], mask=mask, other=-float("inf"))
    v = v - tl.max(v, 1, keep_dims=True)
    v = v - tl.log(tl.sum(tl.exp(v), 1, keep_dims=True))
    tl.store(out + m[:, None] * N + n[None, :], v, mask=mask)


@triton.jit
def layer_norm(x, w, b, out, mean_out, N, eps, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    mask = c < N
    v = tl.load(x + row * N + c, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(v, 0) / N
    d = tl.where(mask, v - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, 0) / N + eps)
    y = d * scale * tl.load(w + c, mask=mask) + tl.load(b + c, mask=mask)
    tl.store(out + row * N + c, y, mask=mask)
    tl.store(mean_out + row, mean)


@triton.jit
def rms_norm_residual(x, r, w, out, N, eps, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([B], tl.float32)
    for start in range(0, N, B):
        c = start + tl.arange(0, B)
        mask = c < N
        v = tl.load(x + row * N + c, mask=mask, other=0.0)
        v += tl.load(r + row * N + c, mask=mask, other=0.0)
        tl.store(r + row * N + c, v, mask=mask)
        total += v * v
    scale = tl.rsqrt(tl.sum(total, 0) / N + eps)
    for start in range(0, N, B):
        c = start + tl.arange(0, B)
        mask = c < N
        v = tl.load(r + row * N + c, mask=mask, other=0.0)
        tl.store(out + row * N + c, v * scale * tl.load(w + c, mask=mask), mask=mask)


@triton.jit
def _welford(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    count = count_a + count_b
    share = tl.where(count == 0.0, 0.0, count_b / count)
    delta = mean_b - mean_a
    return mean_a + delta * share, m2_a + m2_b + delta * delta * count_a * share, count


@triton.jit
def welford(x, out, N, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    mask = c < N
    v = tl.load(x + row * N + c, mask=mask, other=0.0)
    zero = tl.zeros([B], tl.float32)
    mean, m2, count = tl.reduce((v, zero, tl.where(mask, 1.0, 0.0)), 0, _welford)
    tl.store(out + row * 3, mean)
    tl.store(out + row * 3 + 1, m2 / count)
    tl.store(out + row * 3 + 2, count)


@triton.jit
def sum_rows(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    total = tl.zeros([BM, BN], tl.float32)
    for k in range(0, N, BN):
        n = k + tl.arange(0, BN)
        mask = (m[:, None] < M) & (n[None, :] < N)
        total += tl.load(x + m[:, None] * N + n[None, :], mask=mask, other=0.0)
    tl.store(out + m, tl.sum(total, 1), mask=m < M)


@triton.jit
def sum_columns(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros([BN], tl.float32)
    for k in range(0, M, BM):
        m = k + tl.arange(0, BM)
        mask = (m[:, None] < M) & (n[None, :] < N)
        total += tl.sum(tl.load(x + m[:, None] * N + n[None, :], mask=mask, other=0.0), 0)
    tl.store(out + n, total, mask=n < N)


@triton.jit
def extremes(x, out, where, N: tl.constexpr):
    """Every reduction of tl, over the last and the first axis of a tile."""
    lanes = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + lanes)
    c = tl.arange(0, N)
    for axis in tl.static_range(2):
        o = out + axis * 4 * N
        tl.store(o + c, tl.max(v, axis))
        tl.store(o + N + c, tl.min(v, axis))
        tl.store(o + 2 * N + c, tl.sum(v, axis))
        value, index = tl.max(v, axis, return_indices=True)
        tl.store(o + 3 * N + c, value)
        w = where + axis * 3 * N
        tl.store(w + c, tl.argmax(v, axis))
        tl.store(w + N + c, tl.argmin(v, axis))
        tl.store(w + 2 * N + c, index)


@triton.jit
def integer_reductions(x, out, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    tl.store(out, tl.sum(v, 0))
    tl.store(out + 1, tl.max(v, 0))
    tl.store(out + 2, tl.min(v, 0))
    tl.store(out + 3, tl.xor_sum(v, 0))
    tl.store(out + 4, tl.argmax(v, 0))


@triton.jit
def _multiply(a, b):
    return a * b


@triton.jit
def _keep_last(a, b):
    return b


@triton.jit
def reduce_3d(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)
    v = tl.load(x + (a[:, None, None] * B + b[None, :, None]) * C + c[None, None, :])
    tl.store(out + a[:, None] * C + c[None, :], tl.sum(v, 1))
    out += A * C
    tl.store(out + a[:, None] * B + b[None, :], tl.reduce(v, 2, _multiply))
    out += A * B
    tl.store(out + b[:, None] * C + c[None, :], tl.max(v, 0))
    tl.store(out + B * C, tl.sum(v))


@triton.jit
def scans(x, out, M: tl.constexpr, N: tl.constexpr):
    lanes = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + lanes)
    size: tl.constexpr = M * N
    tl.store(out + lanes, tl.cumsum(v, 1))
    tl.store(out + size + lanes, tl.cumsum(v, 0))
    tl.store(out + 2 * size + lanes, tl.cumsum(v, 1, reverse=True))
    tl.store(out + 3 * size + lanes, tl.cumprod(v * 0.5, 0, reverse=True))
    tl.store(out + 4 * size + lanes, tl.associative_scan(v, 1, _keep_last))


@triton.jit
def _recur(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def linear_recurrence(a, b, out, N: tl.constexpr):
    c = tl.arange(0, N)
    _, h = tl.associative_scan((tl.load(a + c), tl.load(b + c)), 0, _recur)
    tl.store(out + c, h)


@triton.jit
def cumsum_long(x, out, n, B: tl.constexpr):
    row = tl.program_id(0)
    carry = 0.0
    for start in range(0, n, B):
        c = start + tl.arange(0, B)
        v = tl.load(x + row * n + c, mask=c < n, other=0.0)
        tl.store(out + row * n + c, tl.cumsum(v, 0) + carry, mask=c < n)
        carry += tl.sum(v, 0)


@triton.jit
def sorted_rows(x, out, N: tl.constexpr, DESCENDING: tl.constexpr):
    c = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out + c, tl.sort(tl.load(x + c), descending=DESCENDING))


@triton.jit
def top_k(x, out, N: tl.constexpr, K: tl.constexpr):
    row = tl.program_id(0)
    v = tl.topk(tl.load(x + row * N + tl.arange(0, N)), K)
    tl.store(out + row * K + tl.arange(0, K), v)


@triton.jit
def flipped(x, out, N: tl.constexpr):
    c = tl.arange(0, N)
    tl.store(out + c, tl.flip(tl.load(x + c), 0))


@triton.jit
def cross_entropy(logits, labels, loss, grad, N, B: tl.constexpr):
    row = tl.program_id(0)
    label = tl.load(labels + row)
    c = tl.arange(0, B)
    v = tl.load(logits + row * N + c, mask=c < N, other=-float("inf"))
    v = v - tl.max(v, 0)
    e = tl.exp(v)
    total = tl.sum(e, 0)
    tl.store(loss + row, tl.log(total) - tl.sum(tl.where(c == label, v, 0.0), 0))
    tl.store(grad + row * N + c, e / total - tl.where(c == label, 1.0, 0.0), mask=c < N)


@triton.jit
def dropout(x, out, n, p, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, tl.load(x + i, mask=mask) / (1 - p), 0.0), mask=mask)


@triton.jit
def random_bits(out, seed, N: tl.constexpr):
    c = tl.arange(0, N)
    a, b, d, e = tl.randint4x(seed, c)
    tl.store(out + c, a)
    tl.store(out + N + c, b)
    tl.store(out + 2 * N + c, d)
    tl.store(out + 3 * N + c, e)
    tl.store(out + 4 * N + c, tl.randint(seed, c))


@triton.jit
def normal_noise(out, seed, N: tl.constexpr):
    c = tl.arange(0, N)
    tl.store(out + c, tl.randn(seed, c))


@triton.jit
def quantise(x, out, scale, N, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    v = tl.load(x + row * N + c, mask=c < N, other=0.0)
    top = tl.max(tl.abs(v), 0)
    q = v * (127.0 / top)
    q = tl.where(q >= 0, tl.floor(q + 0.5), tl.ceil(q - 0.5))
    tl.store(out + row * N + c, q.to(tl.int8), mask=c < N)
    tl.store(scale + row, top / 127.0)


@triton.jit
def gelu_tanh(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    u = 0.7978845608 * (v + 0.044715 * v * v * v)
    t = 2 * tl.sigmoid(2 * u) - 1
    tl.store(out + i, 0.5 * v * (1 + t), mask=i < n)


@triton.jit
def swiglu(x, out, N, B: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, B)
    mask = c < N
    gate = tl.load(x + row * 2 * N + c, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(x + row * 2 * N + N + c, mask=mask, other=0.0).to(tl.float32)
    tl.store(out + row * N + c, (gate * tl.sigmoid(gate) * up).to(out.dtype.element_ty), mask=mask)


@triton.jit
def rotary(q, cos, sin, H, D: tl.constexpr):
    token, head = tl.program_id(0), tl.program_id(1)
    c = tl.arange(0, D // 2)
    base = q + (token * H + head) * D
    a, b = tl.load(base + c), tl.load(base + D // 2 + c)
    co, si = tl.load(cos + token * (D // 2) + c), tl.load(sin + token * (D // 2) + c)
    tl.store(base + c, a * co - b * si)
    tl.store(base + D // 2 + c, b * co + a * si)
