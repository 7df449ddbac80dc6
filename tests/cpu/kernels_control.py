# SPDX-License-Identifier: Apache-2.0
"""Kernels with control flow: loops, branches, early returns, calls, tuples."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def collatz(x, out, B: tl.constexpr):
    i = tl.program_id(0)
    value = tl.load(x + i)
    steps = 0
    while value != 1:
        if value % 2 == 0:
            value = value // 2
        else:
            value = 3 * value + 1
        steps += 1
    tl.store(out + i, steps)


@triton.jit
def mandelbrot(out, N: tl.constexpr, STEPS: tl.constexpr):
    y = tl.program_id(0) * 2.0 / N - 1.0
    x = tl.arange(0, N) * 3.0 / N - 2.0
    re = tl.zeros([N], tl.float32)
    im = tl.zeros([N], tl.float32)
    count = tl.zeros([N], tl.int32)
    for _ in range(STEPS):
        inside = re * re + im * im < 4.0
        re, im = tl.where(inside, re * re - im * im + x, re), tl.where(inside, 2 * re * im + y, im)
        count += inside.to(tl.int32)
    tl.store(out + tl.program_id(0) * N + tl.arange(0, N), count)


@triton.jit
def while_tensor(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    steps = 0
    while tl.max(v, 0) > 1.0:
        v = v * 0.5
        steps += 1
    tl.store(out + i, v + steps)


@triton.jit
def early_return(x, out, n, limit, B: tl.constexpr):
    pid = tl.program_id(0)
    if pid >= limit:
        return
    i = pid * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    if tl.sum(v, 0) < 0:
        tl.store(out + i, -v, mask=i < n)
        return
    tl.store(out + i, v * 2, mask=i < n)


@triton.jit
def return_after_loop(x, out, n, B: tl.constexpr):
    """What a loop leaves is used in another block of the function."""
    i = tl.arange(0, B)
    p = x + tl.program_id(0) * 4 * B + i
    total = tl.zeros([B], tl.float32)
    count = 0
    for k in range(n):
        total += tl.load(p)
        p += B
        count += k
    if tl.program_id(0) == 1:
        tl.store(out + B + i, total)
        return
    tl.store(out + tl.program_id(0) * B + i, total + tl.load(p) * count)


@triton.jit
def branches(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    scale = 1.0
    if tl.program_id(0) % 2 == 0:
        v = v + 10.0
        scale = 2.0
    elif tl.program_id(0) == 1:
        v = tl.exp(v)
    tl.store(out + i, v * scale, mask=i < n)


@triton.jit
def swap_loop(x, y, out, steps, B: tl.constexpr):
    """Carried values that change places."""
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    c, d = tl.program_id(0) + 1, tl.program_id(0) + 2
    for k in range(steps):
        a, b = b, a + 1.0
        c, d = d, c + d + k
    tl.store(out + i, a)
    tl.store(out + B + i, b)
    tl.store(out + 2 * B + i, (c * 1000 + d).to(tl.float32))


@triton.jit
def zero_trips(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    p = x + i
    total = tl.zeros([B], tl.float32)
    for _ in range(n, n):
        total += tl.load(p)
        p += B
    tl.store(out + i, total + tl.load(p))


@triton.jit
def nested_loops(x, out, A, B, N: tl.constexpr):
    c = tl.arange(0, N)
    total = tl.zeros([N], tl.float32)
    p = x + c
    for a in range(A):
        part = tl.zeros([N], tl.float32)
        for b in range(B):
            part += tl.load(p) * (b + 1)
            p += N
        total += part * (a + 1)
    tl.store(out + c, total)


@triton.jit
def strided_range(x, out, start, stop, step, N: tl.constexpr):
    total = 0.0
    for k in range(start, stop, step):
        total += tl.load(x + k)
    tl.store(out, total)
    for k in tl.static_range(3, 0, -1):
        tl.store(out + k, total + k)


@triton.jit
def _poly(x, a, b):
    return a * x + b, x * x


@triton.jit(noinline=True)
def _shared(x, k):
    return tl.exp(x) * k + x


@triton.jit
def helpers(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    y, z = _poly(v, 3.0, 1.0)
    tl.store(out + i, y + z)


@triton.jit
def calls(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    w = _shared(tl.max(v, 0), 2.0)
    tl.store(out + i, v + w + _shared(tl.sum(v, 0) - w, 3.0))


@triton.jit
def grid_ids(out):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    nx, ny, nz = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    at = (z * ny + y) * nx + x
    tl.store(out + at, x * 10000 + y * 100 + z + nz * 1000000)


@triton.jit
def persistent(x, out, n, B: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(n, B), tl.num_programs(0)):
        i = block * B + tl.arange(0, B)
        tl.store(out + i, tl.load(x + i, mask=i < n) * 3, mask=i < n)


@triton.jit
def carried_mask(x, out, n, N: tl.constexpr):
    i = tl.arange(0, N)
    active = i < n
    total = tl.zeros([N], tl.float32)
    for k in range(4):
        total += tl.where(active, tl.load(x + i), 0.0)
        active = active & (i % (k + 2) != 0)
    tl.store(out + i, total)


@triton.jit
def scalar_types(out, a, b, c, f):
    tl.store(out, a.to(tl.float32))
    tl.store(out + 1, b.to(tl.float32))
    tl.store(out + 2, c.to(tl.float32))
    tl.store(out + 3, f)
    tl.store(out + 4, (a > b).to(tl.float32))
    tl.store(out + 5, (a // 3).to(tl.float32))
    tl.store(out + 6, (a % 3).to(tl.float32))
    tl.store(out + 7, tl.where(a < b, f, -f))
    tl.store(out + 8, tl.exp(f))
    tl.store(out + 9, tl.cdiv(a, 4).to(tl.float32))


@triton.jit
def tuple_argument(pair, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(pair[0] + i) * pair[1])


@triton.jit
def branch_in_loop(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    best = tl.full([B], -1e30, tl.float32)
    where = tl.zeros([B], tl.int32)
    for k in range(n):
        v = tl.load(x + k * B + i)
        if k % 2 == 1:
            v = v * 2.0
        better = v > best
        best = tl.where(better, v, best)
        where = tl.where(better, k, where)
    tl.store(out + i, best)
    tl.store(out + B + i, where.to(tl.float32))


@triton.jit
def indices_used_inside_and_after(out, branch, trips, leave, B: tl.constexpr):
    """The scans need their indices in memory, which the stores after them must not rely on."""
    i = tl.arange(0, B)
    a, b, c = i + 3, i * 5, i - 7
    total = tl.zeros([B], tl.int32)
    if branch > 0:
        total += tl.cumsum(a, 0)
    for _ in range(trips):
        total += tl.cumsum(b, 0)
    tl.store(out + i, a + total)
    tl.store(out + B + i, b)
    if leave > 0:
        tl.store(out + 2 * B + i, tl.cumsum(c, 0))
        return
    tl.store(out + 2 * B + i, c)
