# SPDX-License-Identifier: Apache-2.0
"""Kernels whose point is how they reach memory: strides, gathers, atomics, shapes, overlaps."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def copy_2d(x, out, M, N, sm, sn, om, on, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (m[:, None] < M) & (n[None, :] < N)
    v = tl.load(x + m[:, None] * sm + n[None, :] * sn, mask=mask)
    tl.store(out + m[:, None] * om + n[None, :] * on, v, mask=mask)


@triton.jit
def transpose_tile(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    v = tl.load(x + m[:, None] * N + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N), other=0)
    mask = (n[:, None] < N) & (m[None, :] < M)
    tl.store(out + n[:, None] * M + m[None, :], tl.trans(v), mask=mask)


@triton.jit
def shift_in_place(x, n, by, B: tl.constexpr):
    """Reads all lanes before it writes any: one program, source and destination overlap."""
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n)
    tl.store(x + by + i, v, mask=i < n)


@triton.jit
def shift_rows_in_place(x, stride, by, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] * stride + tl.arange(0, N)[None, :]
    tl.store(x + by + i, tl.load(x + i) + 1)


@triton.jit
def reverse_in_place(x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + (B - 1 - i), tl.load(x + i))


@triton.jit
def load_after_store(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    before = tl.load(x + i)
    tl.store(x + i, before * 2)
    after = tl.load(x + (B - 1 - i))
    tl.store(out + i, before + after)


@triton.jit
def booleans(x, y, out, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a & b)
    tl.store(out + N + i, a | b)
    tl.store(out + 2 * N + i, a ^ b)
    tl.store(out + 3 * N + i, a, mask=b)


@triton.jit
def gather_rows(table, index, out, N, K, BK: tl.constexpr, BN: tl.constexpr):
    k = tl.program_id(0) * BK + tl.arange(0, BK)
    n = tl.arange(0, BN)
    which = tl.load(index + k, mask=k < K, other=0)
    mask = (k[:, None] < K) & (n[None, :] < N)
    v = tl.load(table + which[:, None] * N + n[None, :], mask=mask)
    tl.store(out + k[:, None] * N + n[None, :], v, mask=mask)


@triton.jit
def scatter_rows(x, index, out, N, BK: tl.constexpr, BN: tl.constexpr):
    k = tl.arange(0, BK)
    n = tl.arange(0, BN)
    to = tl.load(index + k)
    v = tl.load(x + k[:, None] * N + n[None, :], mask=n[None, :] < N)
    tl.store(out + to[:, None] * N + n[None, :], v, mask=n[None, :] < N)


@triton.jit
def embedding_bag(table, index, out, L, N, BN: tl.constexpr, BL: tl.constexpr):
    """Pointers that come from memory, advanced by a loop."""
    bag = tl.program_id(0)
    n = tl.arange(0, BN)
    total = tl.zeros([BN], tl.float32)
    ids = index + bag * L + tl.arange(0, BL)
    for _ in range(0, L, BL):
        rows = tl.load(ids)
        v = tl.load(table + rows[:, None] * N + n[None, :], mask=n[None, :] < N, other=0.0)
        total += tl.sum(v, 0)
        ids += BL
    tl.store(out + bag * N + n, total, mask=n < N)


@triton.jit
def gather_columns_loop(x, index, out, N, BK: tl.constexpr, BN: tl.constexpr):
    """A carried pointer whose rows were loaded before the loop."""
    k = tl.arange(0, BK)
    rows = tl.load(index + k)
    p = x + rows[:, None] * N + tl.arange(0, BN)[None, :]
    total = tl.zeros([BK], tl.float32)
    for _ in range(0, N, BN):
        total += tl.sum(tl.load(p), 1)
        p += BN
    tl.store(out + k, total)


@triton.jit
def wrapped_rows(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = (tl.program_id(0) * BM + tl.arange(0, BM)) % M
    n = tl.arange(0, BN)
    v = tl.load(x + m[:, None] * N + n[None, :], mask=n[None, :] < N, other=0.0)
    tl.store(out + tl.program_id(0) * BM + tl.arange(0, BM), tl.sum(v, 1))


@triton.jit
def broadcast_add(x, y, out, n, C, HW, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    channel = (i // HW) % C
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + channel, mask=mask), mask=mask)


@triton.jit
def masks(x, out, low, high, flag, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i, mask=(i >= low) & (i < high), other=-1.0)
    b = tl.load(x + i, mask=(i % 3 == 0) | (i > high), other=-2.0)
    c = tl.load(x + i, mask=flag > 0, other=-3.0)
    d = tl.load(x + i, mask=i > high, other=a)
    tl.store(out + i, a)
    tl.store(out + N + i, b)
    tl.store(out + 2 * N + i, c)
    tl.store(out + 3 * N + i, d)
    tl.store(out + 4 * N + i, a, mask=(i >= low) & (i <= high) & (flag > 0))
    tl.store(out + 5 * N + i, a, mask=(low <= i) & (high > i))


@triton.jit
def nested_blocks(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    a = tl.reshape(v, (N // 4, 4))
    t = tl.trans(a)
    tl.store(out + i, tl.reshape(t, (N,)))
    b = tl.reshape(v, (4, N // 8, 2))
    left, right = tl.split(b)
    tl.store(out + N + i, tl.reshape(tl.join(right, left), (N,)))
    tl.store(out + 2 * N + tl.arange(0, 2 * N), tl.cat(v, v + 1, can_reorder=True))
    tl.store(
        out + 4 * N + i, tl.interleave(tl.reshape(left, (N // 2,)), tl.reshape(right, (N // 2,)))
    )
    p = tl.permute(b, (2, 0, 1))
    tl.store(out + 5 * N + i, tl.reshape(p, (N,)))
    tl.store(out + 6 * N + i, tl.ravel(tl.broadcast_to(tl.expand_dims(v, 1), (N, 1))))


@triton.jit
def gather_lanes(x, index, out, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + i)
    at = tl.load(index + i)
    tl.store(out + i, tl.gather(v, at % N, 1))
    tl.store(out + M * N + i, tl.gather(v, at % M, 0))


@triton.jit
def count(x, out, n, B: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    bins = tl.histogram(tl.load(x + i, mask=i < n, other=0), BINS, mask=i < n)
    tl.atomic_add(out + tl.arange(0, BINS), bins)


@triton.jit
def count_plain(x, out, B: tl.constexpr, BINS: tl.constexpr):
    tl.store(out + tl.arange(0, BINS), tl.histogram(tl.load(x + tl.arange(0, B)), BINS))


@triton.jit
def atomics(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.atomic_add(out + i % 4, v)
    tl.atomic_max(out + 4 + i % 4, v)
    tl.atomic_min(out + 8 + i % 4, v)
    tl.atomic_add(out + 12, tl.sum(v, 0), mask=tl.program_id(0) == 0)
    old = tl.atomic_xchg(out + 16 + i, v)
    tl.store(out + 16 + B + i, old)


@triton.jit
def atomic_sums(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_add(out + i % 4, tl.load(x + i))
    tl.store(out + 4 + i, tl.atomic_add(out + 4 + B + i, tl.load(x + i)))


@triton.jit
def atomic_bits(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.atomic_and(out + i % 2, v)
    tl.atomic_or(out + 2 + i % 2, v)
    tl.atomic_xor(out + 4 + i % 2, v)
    tl.atomic_add(out + 6, 1, mask=tl.program_id(0) == 0)
    old = tl.atomic_cas(out + 7, 0, 5)
    tl.store(out + 8, old)
    seen = tl.atomic_cas(out + 16 + i, v, v * 0)
    tl.store(out + 16 + B + i, seen)


@triton.jit
def split_sum(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out, tl.sum(tl.load(x + i, mask=i < n, other=0), 0))


@triton.jit
def last_program(x, partial, counter, out, n, B: tl.constexpr, P: tl.constexpr):
    """Every program leaves a part; the last one to finish adds them up."""
    pid = tl.program_id(0)
    i = pid * B + tl.arange(0, B)
    tl.store(partial + pid, tl.sum(tl.load(x + i, mask=i < n, other=0), 0))
    done = tl.atomic_add(counter, 1)
    if done == tl.num_programs(0) - 1:
        tl.store(out, tl.sum(tl.load(partial + tl.arange(0, P)), 0))


@triton.jit
def block_pointers(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_block_ptr(x, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    target = tl.make_block_ptr(out, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    for _ in range(0, N, BN):
        v = tl.load(source, boundary_check=(0, 1), padding_option="zero")
        tl.store(target, v * 2, boundary_check=(0, 1))
        source = tl.advance(source, (0, BN))
        target = tl.advance(target, (0, BN))


@triton.jit
def descriptors(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    target = tl.make_tensor_descriptor(out, [M, N], [N, 1], [BM, BN])
    for k in range(0, N, BN):
        target.store([tl.program_id(0) * BM, k], source.load([tl.program_id(0) * BM, k]) + 1)


@triton.jit
def pointer_arrays(addresses, out, n, B: tl.constexpr):
    """Pointers kept in memory as integers, as grouped kernels pass them."""
    which = tl.program_id(0)
    base = tl.load(addresses + which).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, B)
    tl.store(out + which * n + i, tl.load(base + i, mask=i < n), mask=i < n)
