# SPDX-License-Identifier: Apache-2.0
"""Kernels whose Triton IR the parser's golden files hold: one per family of constructs.

`KERNELS` maps a golden file's name to (kernel, argument types in order); an argument type that is
not a string is a constexpr's value. Those in `DEBUG` are compiled with assertions and overflow
checks. `make.py` compiles them.
"""
from __future__ import annotations

import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def float_math(X, Y, Out, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    mask = offs < n
    x = tl.load(X + offs, mask=mask, other=0.0)
    y = tl.load(Y + offs, mask=mask, other=1.5)
    r = x + y - x * y / (y + 3.1415926)
    r = r + tl.exp(x) + tl.exp2(x) + tl.log(y) + tl.log2(y) + tl.sin(x) + tl.cos(x)
    if x.dtype == tl.float32:
        r = r + tl.sqrt_rn(y) + tl.div_rn(x, y)
    r = r + tl.sqrt(y) + tl.rsqrt(y) + tl.fdiv(x, y)
    r = r + tl.abs(x) + tl.floor(x) + tl.ceil(x) + tl.erf(x) + tl.fma(x, y, r) - (-x)
    r = r + x % y + tl.sigmoid(x) + tl.maximum(x, y) + tl.minimum(x, y)
    r = r + tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)
    r = r + tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL)
    r = r + tl.clamp(x, 0.0, 6.0) + tl.clamp(x, y, r, propagate_nan=tl.PropagateNan.ALL)
    r = tl.where((x < y) | (x >= 1e-30) & (x != y), r, 1e30)
    r = tl.where(~(x == y), r, x)
    r = tl.where(x > y, r, float("nan"))
    r = tl.where(x <= y, r, -float("inf"))
    tl.store(Out + offs, r, mask=mask)


@triton.jit
def integer_math(X, Y, U, Out, n, wide, B: tl.constexpr):
    offs = tl.program_id(0).to(tl.int64) * B + tl.arange(0, B)
    mask = offs < wide
    x = tl.load(X + offs, mask=mask, other=-1)
    y = tl.load(Y + offs, mask=mask, other=7)
    u = tl.load(U + offs, mask=mask, other=3)
    r = x + y - x * y + x // y + x % y + (x & y) + (x | y) + (x ^ y) + (x << 3) + (x >> 2)
    r = r + tl.abs(x) + tl.maximum(x, y) + tl.minimum(x, y) - (-x) + (~y) + tl.cdiv(n, 3)
    v = u // 3 + u % 5 + (u >> 1) + tl.maximum(u, 2) + tl.minimum(u, 9) + tl.umulhi(u, u)
    r = tl.where((x < y) | (x >= 3) | (x == y) | (x != 5) | (x <= 2) | (x > 1), r, 11)
    r = tl.where((u < 7) | (u >= 3) | (u <= 2) | (u > 1), r, v.to(tl.int32, bitcast=True))
    tl.store(Out + offs, r, mask=mask)


@triton.jit
def casts(H, BF, F, D, I8, I16, I64, U8, Out, B: tl.constexpr):
    offs = tl.arange(0, B)
    h = tl.load(H + offs)
    b = tl.load(BF + offs)
    f = tl.load(F + offs)
    d = tl.load(D + offs)
    i8 = tl.load(I8 + offs)
    i16 = tl.load(I16 + offs)
    i64 = tl.load(I64 + offs)
    u8 = tl.load(U8 + offs)
    r = h.to(tl.float32) + b.to(tl.float32) + d.to(tl.float32) + i8.to(tl.float32)
    r = r + i16.to(tl.float32) + i64.to(tl.float32) + u8.to(tl.float32) + (f > 0).to(tl.float32)
    r = r + (f.to(tl.float16) + h).to(tl.float32) + (f.to(tl.bfloat16) + b).to(tl.float32)
    r = r + f.to(tl.float16, fp_downcast_rounding="rtz").to(tl.float32)
    i = f.to(tl.int32) + f.to(tl.int8) + f.to(tl.uint8) + f.to(tl.int64).to(tl.int32)
    i = i + f.to(tl.int32, bitcast=True) + i64.to(tl.int16) + i8.to(tl.int1) + u8.to(tl.int32)
    address = (Out + offs).to(tl.int64)
    tl.store(address.to(tl.pointer_type(tl.float32)), r + i)


@triton.jit
def fp8(A, C, Out, B: tl.constexpr):
    offs = tl.arange(0, B)
    a = tl.load(A + offs)
    c = tl.load(C + offs)
    r = a.to(tl.float32) + c.to(tl.float16).to(tl.float32)
    r = r + r.to(tl.float8e4nv).to(tl.float32) + r.to(tl.float8e5).to(tl.float32)
    r = r + r.to(tl.float16).to(tl.float8e5, fp_downcast_rounding="rtne").to(tl.float32)
    tl.store(A + offs, r.to(tl.float8e4nv))
    tl.store(Out + offs, r)


@triton.jit
def shapes(X, Out, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)[:, None]
    columns = tl.arange(0, N)[None, :]
    x = tl.load(X + rows * N + columns)
    t = tl.trans(x)
    r = tl.reshape(t, (M, N)) + tl.view(x, (M, N)) + tl.ravel(x).reshape(M, N)
    left, right = tl.split(tl.reshape(x, (M, N // 2, 2)))
    r = r + tl.join(left, right).reshape(M, N) + tl.interleave(left, right)
    r = r + tl.permute(tl.reshape(x, (M, N, 1)), (2, 0, 1)).reshape(M, N)
    r = r + tl.broadcast_to(tl.expand_dims(tl.arange(0, M), 1), (M, N))
    index = tl.broadcast_to(tl.arange(0, N)[None, :], (M, N))
    r = r + tl.gather(x, index, 1) + tl.flip(x, 1)
    c = tl.cat(tl.arange(0, M), tl.arange(0, M), can_reorder=True)
    r = r + tl.sum(c) + tl.full((M, N), 2, tl.float32) + tl.zeros((M, N), tl.float32)
    tl.store(Out + rows * N + columns, r)


@triton.jit
def memory(X, Y, Out, stride, n, B: tl.constexpr):
    offs = tl.multiple_of(tl.program_id(1) * stride, 8) + tl.max_contiguous(tl.arange(0, B), B)
    tl.assume(stride > 0)
    a = tl.load(X + offs)
    b = tl.load(X + offs, mask=offs < n)
    c = tl.load(X + offs, mask=offs < n, other=0, eviction_policy="evict_last")
    d = tl.load(X + offs, cache_modifier=".cg", eviction_policy="evict_first", volatile=True)
    e = tl.load(Y + tl.num_programs(2))
    tl.store(Out + offs, a + b, cache_modifier=".wt")
    tl.store(Out + offs, c + d, mask=offs < n, eviction_policy="evict_first")
    tl.store(Y + tl.program_id(2), e + 1)
    tl.debug_barrier()


@triton.jit
def _pair_max(a, ai, b, bi):
    keep = (a > b) | ((a == b) & (ai < bi))
    return tl.where(keep, a, b), tl.where(keep, ai, bi)


@triton.jit
def _decay(a, x, b, y):
    return a * b, x * b + y


@triton.jit
def reductions(X, Out, Index, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    x = tl.load(X + rows[:, None] * N + columns[None, :])
    r = tl.sum(x, 1) + tl.max(x, 1) + tl.min(x, 1) + tl.xor_sum(x.to(tl.int32), 1)
    value, index = tl.max(x, 1, return_indices=True)
    r = r + value + tl.argmin(x, 1) + tl.argmax(x, 1, tie_break_left=False)
    pair = tl.reduce((x, tl.broadcast_to(columns[None, :], (M, N))), 1, _pair_max)
    r = r + tl.sum(x) + tl.sum(tl.cumsum(x, 1), 1) + tl.sum(tl.cumprod(x, 1, reverse=True), 1)
    _, y = tl.associative_scan((x, x), 1, _decay)
    r = r + pair[0] + tl.sum(y, 1) + tl.sum(tl.sum(x, 0, keep_dims=True), 1)
    counts = tl.histogram(columns, 16)
    masked = tl.histogram(columns, 16, mask=columns < 5)
    r = r + tl.sum(counts + masked) + tl.sum(tl.softmax(x), 1)
    tl.store(Out + rows, r)
    tl.store(Index + rows, index + pair[1])


@triton.jit
def matmul(A, B, C, M, N, K, am, ak, bk, bn, cm, cn,
           BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    a_ptr = A + rows[:, None] * am + ks[None, :] * ak
    b_ptr = B + ks[:, None] * bk + columns[None, :] * bn
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(tl.cdiv(K, BK)):
        a = tl.load(a_ptr, mask=ks[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptr, mask=ks[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptr += BK * ak
        b_ptr += BK * bk
    c = acc.to(tl.float16)
    c_ptr = C + rows[:, None] * cm + columns[None, :] * cn
    tl.store(c_ptr, c, mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def dots(A, B, S, Out, N: tl.constexpr):
    i = tl.arange(0, N)
    grid = i[:, None] * N + i[None, :]
    a = tl.load(A + grid)
    b = tl.load(B + grid)
    r = tl.dot(a, b) + tl.dot(a, b, input_precision="ieee")
    r = tl.dot(a.to(tl.float16), b.to(tl.float16), r, max_num_imprecise_acc=8)
    r = r + tl.dot(a, b, input_precision="tf32x3")
    r = r + tl.dot(a.to(tl.int8), b.to(tl.int8), out_dtype=tl.int32)
    batch = tl.dot(tl.reshape(a, (1, N, N)), tl.reshape(b, (1, N, N)))
    s = tl.load(S + i[:, None] * (N // 32) + tl.arange(0, N // 32)[None, :])
    scaled = tl.dot_scaled(a.to(tl.float8e4nv), s, "e4m3", b.to(tl.float8e4nv), s, "e4m3")
    tl.store(Out + grid, r + tl.reshape(batch, (N, N)) + scaled)


@triton.jit
def atomics(F, I, U, L, Old, n, B: tl.constexpr):
    offs = tl.arange(0, B)
    mask = offs < n
    f = tl.atomic_add(F + offs, 1.5, mask=mask)
    f = f + tl.atomic_max(F + offs, f) + tl.atomic_min(F + offs, f)
    i = tl.atomic_add(I + offs, 1, sem="relaxed") + tl.atomic_max(I + offs, offs, scope="sys")
    i = i + tl.atomic_min(I + offs, offs, scope="cta") + tl.atomic_and(I + offs, offs)
    i = i + tl.atomic_or(I + offs, offs, sem="acquire") + tl.atomic_xor(I + offs, offs)
    u = tl.atomic_max(U + offs, offs.to(tl.uint32)) + tl.atomic_min(U + offs, offs.to(tl.uint32))
    x = tl.atomic_xchg(I, n, sem="release") + tl.atomic_cas(I, n, 3)
    while tl.atomic_cas(L, 0, 1) == 1:
        pass
    tl.atomic_xchg(L, 0)
    tl.store(Old + offs, i + u.to(tl.int32) + f + x)


@triton.jit
def control_flow(X, Out, n, m, flag, B: tl.constexpr):
    pid = tl.program_id(0)
    if pid >= m:
        return
    offs = tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    best = float("-inf")
    for i in range(0, n, B):
        x = tl.load(X + i + offs, mask=i + offs < n, other=0.0)
        if i % 2 == 0:
            acc += x
        elif flag:
            acc -= x
        best = tl.maximum(best, tl.max(x, 0))
    for j in tl.static_range(2):
        acc += j
    for j in tl.range(0, m, num_stages=3, loop_unroll_factor=2):
        acc += j
    k = m
    last = acc
    while k > 1:
        last = last * 0.5
        k = k // 2 if k % 2 == 0 else k - 1
    if flag and n > 3:
        tl.store(Out + pid, best)
    else:
        tl.store(Out + offs, acc + last)


@triton.jit(noinline=True)
def _outlined(x, scale):
    if scale > 2:
        return x
    return x * scale


@triton.jit(noinline=True)
def _outlined_pair(x):
    return x + 1, x - 1


@triton.jit(noinline=True)
def _outlined_store(p, x):
    tl.store(p, x)


@triton.jit
def _inlined(x, scale):
    y = x * scale
    return _outlined(y, scale)


@triton.jit
def calls(X, Out, n):
    x = tl.load(X)
    y = _inlined(x, n)
    low, high = _outlined_pair(y)
    _outlined_store(Out, low + high)


@triton.jit
def early_return(X, Out, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    if n == 0:
        return
    x = tl.load(X + offs)
    if tl.program_id(1) == 3:
        tl.store(Out + offs, x)
        return
    tl.store(Out + offs, x + 1)


@triton.jit
def debug(X, n, B: tl.constexpr):
    offs = tl.arange(0, B)
    x = tl.load(X + offs)
    tl.device_print("x, \"quoted\" }", x)
    tl.device_print("pair", offs, n, hex=True)
    tl.device_assert(offs < n, "out of range: \\ } >")


@triton.jit
def externs(X, Y, Out, D, I, B: tl.constexpr):
    offs = tl.arange(0, B)
    x = tl.load(X + offs)
    y = tl.load(Y + offs)
    d = tl.load(D + offs)
    i = tl.load(I + offs)
    r = libdevice.exp(x) + libdevice.log(y) + libdevice.tanh(x) + libdevice.erf(x)
    r = r + libdevice.pow(x, y) + libdevice.rsqrt(y) + libdevice.log1p(y) + libdevice.expm1(x)
    r = r + libdevice.fma(x, y, r) + libdevice.atan2(x, y) + libdevice.copysign(x, y)
    r = r + libdevice.isnan(x) + libdevice.signbit(x) + libdevice.rint(x) + libdevice.trunc(x)
    r = r + libdevice.pow(x, i) + libdevice.ffs(i) + libdevice.popc(i) + libdevice.tanh(d)
    tl.store(Out + offs, r)


@triton.jit
def inline_asm(X, Out, B: tl.constexpr):
    offs = tl.arange(0, B)
    x = tl.load(X + offs)
    y = tl.inline_asm_elementwise(
        "mov.b32 $0, $1;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(Out + offs, y)


@triton.jit
def block_pointers(A, Out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    p = tl.make_block_ptr(A, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    q = tl.make_block_ptr(Out, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    for _ in range(0, N, BN):
        x = tl.load(p, boundary_check=(0, 1), padding_option="zero")
        y = tl.load(p, boundary_check=(0,), padding_option="nan")
        tl.store(q, x + y, boundary_check=(0, 1))
        p = tl.advance(p, (0, BN))
        q = tl.advance(q, (0, BN))


@triton.jit
def descriptors(A, Out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    a = tl.make_tensor_descriptor(A, [M, N], [N, 1], [BM, BN])
    o = tl.make_tensor_descriptor(Out, [M, N], [N, 1], [BM, BN])
    for i in range(0, M, BM):
        x = a.load([i, 0])
        o.store([i, 0], x * 2)
        o.atomic_add([i, 0], x)
        o.atomic_max([i, 0], x)


@triton.jit
def descriptor_rows(A, Rows, Out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    a = tl.make_tensor_descriptor(A, [M, N], [N, 1], [1, BN])
    rows = tl.load(Rows + tl.arange(0, BM))
    x = a.gather(rows, 8)
    a.scatter(x, rows, 16)
    tl.store(Out + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :], x)


@triton.jit
def random_numbers(Out, seed, p, B: tl.constexpr):
    offs = tl.arange(0, B)
    keep = tl.rand(seed, offs) > p
    r = tl.randn(seed, offs) + tl.randint(seed, offs).to(tl.float32)
    tl.store(Out + offs, tl.where(keep, r, 0.0))


@triton.jit
def sorting(X, Out, B: tl.constexpr):
    offs = tl.arange(0, B)
    x = tl.load(X + offs)
    tl.store(Out + offs, tl.sort(x, descending=True))


@triton.jit
def _swap_sign(a, b):
    return -b, a


@triton.jit
def mapped(X, Y, Out, B: tl.constexpr):
    offs = tl.arange(0, B)
    x, y = tl.map_elementwise(_swap_sign, tl.load(X + offs), tl.load(Y + offs))
    tl.store(Out + offs, x + y)


@triton.jit
def softmax(X, Out, stride, columns, B: tl.constexpr):
    row = tl.program_id(0)
    offs = tl.arange(0, B)
    x = tl.load(X + row * stride + offs, mask=offs < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(Out + row * stride + offs, e / tl.sum(e, 0), mask=offs < columns)


@triton.jit
def layer_norm(X, Out, W, Bias, Mean, Rstd, stride, n, eps, B: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((B,), tl.float32)
    square = tl.zeros((B,), tl.float32)
    for start in range(0, n, B):
        offs = start + tl.arange(0, B)
        x = tl.load(X + row * stride + offs, mask=offs < n, other=0.0).to(tl.float32)
        total += x
        square += x * x
    mean = tl.sum(total, 0) / n
    rstd = 1 / tl.sqrt(tl.sum(square, 0) / n - mean * mean + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    for start in range(0, n, B):
        offs = start + tl.arange(0, B)
        mask = offs < n
        x = tl.load(X + row * stride + offs, mask=mask, other=0.0).to(tl.float32)
        w = tl.load(W + offs, mask=mask)
        b = tl.load(Bias + offs, mask=mask)
        tl.store(Out + row * stride + offs, (x - mean) * rstd * w + b, mask=mask)


@triton.jit
def attention(Q, K, V, Out, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    depth = tl.arange(0, D)
    base = tl.program_id(1).to(tl.int64) * n * D
    q = tl.load(Q + base + rows[:, None] * D + depth[None, :], mask=rows[:, None] < n, other=0.0)
    top = tl.full((BM,), float("-inf"), tl.float32)
    norm = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        columns = start + tl.arange(0, BN)
        inside = columns[:, None] < n
        k = tl.load(K + base + columns[:, None] * D + depth[None, :], mask=inside, other=0.0)
        v = tl.load(V + base + columns[:, None] * D + depth[None, :], mask=inside, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        s = tl.where((rows[:, None] >= columns[None, :]) & (columns[None, :] < n), s, -1.0e6)
        new_top = tl.maximum(top, tl.max(s, 1))
        alpha = tl.exp2(top - new_top)
        p = tl.exp2(s - new_top[:, None])
        norm = norm * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        top = new_top
    out = (acc / norm[:, None]).to(Out.dtype.element_ty)
    tl.store(Out + base + rows[:, None] * D + depth[None, :], out, mask=rows[:, None] < n)


@triton.jit
def _order(a, b):
    if a < b:
        return -1
    elif a == b:
        return 0
    else:
        return 1


@triton.jit
def mapped_branches(X, Y, Out, B: tl.constexpr):
    offs = tl.arange(0, B)
    order = tl.map_elementwise(_order, tl.load(X + offs), tl.load(Y + offs))
    tl.store(Out + offs, order)


KERNELS = {
    "float_math": (float_math, ("*fp32", "*fp32", "*fp32", "i32", 64)),
    "float_math_f64": (float_math, ("*fp64", "*fp64", "*fp64", "i32", 64)),
    "integer_math": (integer_math, ("*i32", "*i32", "*u32", "*i32", "i32", "i64", 64)),
    "casts": (casts, ("*fp16", "*bf16", "*fp32", "*fp64", "*i8", "*i16", "*i64", "*u8", "*fp32",
                      32)),
    "fp8": (fp8, ("*fp8e4nv", "*fp8e5", "*fp32", 64)),
    "shapes": (shapes, ("*fp32", "*fp32", 16, 32)),
    "memory": (memory, ("*bf16", "*i64", "*bf16", "i32", "i32", 128)),
    "reductions": (reductions, ("*fp32", "*fp32", "*i32", 4, 64)),
    "matmul": (matmul, ("*fp16", "*fp16", "*fp16") + ("i32",) * 9 + (64, 64, 32)),
    "dots": (dots, ("*fp32", "*fp32", "*u8", "*fp32", 64)),
    "atomics": (atomics, ("*fp32", "*i32", "*u32", "*i32", "*fp32", "i32", 32)),
    "control_flow": (control_flow, ("*fp32", "*fp32", "i32", "i32", "i1", 64)),
    "calls": (calls, ("*i32", "*i32", "i32")),
    "early_return": (early_return, ("*fp32", "*fp32", "i32", 64)),
    "debug": (debug, ("*fp32", "i32", 32)),
    "externs": (externs, ("*fp32", "*fp32", "*fp32", "*fp64", "*i32", 32)),
    "inline_asm": (inline_asm, ("*fp32", "*i32", 32)),
    "block_pointers": (block_pointers, ("*fp16", "*fp16", "i32", "i32", 16, 32)),
    "descriptors": (descriptors, ("*fp16", "*fp16", "i32", "i32", 16, 32)),
    "descriptor_rows": (descriptor_rows, ("*fp16", "*i32", "*fp16", "i32", "i32", 32, 64)),
    "random_numbers": (random_numbers, ("*fp32", "i32", "fp32", 32)),
    "sorting": (sorting, ("*fp32", "*fp32", 8)),
    "softmax": (softmax, ("*fp32", "*fp32", "i32", "i32", 256)),
    "layer_norm": (layer_norm, ("*fp16", "*fp16", "*fp16", "*fp16", "*fp32", "*fp32", "i32", "i32",
                                "fp32", 256)),
    "attention": (attention, ("*fp16", "*fp16", "*fp16", "*fp16", "i32", "fp32", 32, 32, 64)),
}
if hasattr(tl, "map_elementwise"):  # since Triton 3.5
    KERNELS["mapped"] = (mapped, ("*fp32", "*fp32", "*fp32", 32))
    KERNELS["mapped_branches"] = (mapped_branches, ("*fp32", "*fp32", "*i32", 32))

DEBUG = {"debug", "integer_math"}
