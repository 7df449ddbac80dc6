# SPDX-License-Identifier: Apache-2.0
"""Whole kernels as cases: what they are called with. Importing adds them to cases.CASES."""

from __future__ import annotations

import itertools

import kernels_control as control
import kernels_matrix as matrix
import kernels_memory as memory
import kernels_rows as rows
import torch
import triton
from cases import case

Tensors = list


def _integers(*shape: int, low: int = -1000, high: int = 1000) -> torch.Tensor:
    return torch.randint(low, high, shape, dtype=torch.int32)


# --- rows -----------------------------------------------------------------------------------------

for _n in (1, 100, 1000):

    @case(f"add/{_n}")
    def _(n: int = _n) -> Tensors:
        x, y, out = torch.randn(n), torch.randn(n), torch.zeros(n + 8)
        rows.add[(triton.cdiv(n, 256),)](x, y, out, n, B=256)
        return [out]


for _type in (torch.float16, torch.float64, torch.int32):

    @case(f"add/{_type}")
    def _(dtype: torch.dtype = _type) -> Tensors:
        x, y = _integers(500).to(dtype), _integers(500).to(dtype)
        out = torch.zeros_like(x)
        rows.add[(2,)](x, y, out, 500, B=256)
        return [out]


@case("softmax", 1e-6, 1e-7)
def _() -> Tensors:
    x = torch.randn(9, 77) * 4
    out = torch.empty_like(x)
    rows.softmax[(9,)](out, x, 77, 77, B=128)
    return [out]


@case("softmax_online", 1e-6, 1e-7)
def _() -> Tensors:
    x = torch.randn(5, 300) * 4
    out = torch.empty_like(x)
    rows.softmax_online[(5,)](out, x, 300, B=64)
    return [out]


@case("log_softmax_tile", 1e-6, 1e-6)
def _() -> Tensors:
    x = torch.randn(13, 50)
    out = torch.empty_like(x)
    rows.log_softmax_tile[(2,)](out, x, 13, 50, BM=8, BN=64)
    return [out]


@case("layer_norm", 1e-5, 1e-6)
def _() -> Tensors:
    x, w, b, mean = torch.randn(6, 100), torch.randn(100), torch.randn(100), torch.zeros(6)
    out = torch.empty_like(x)
    rows.layer_norm[(6,)](x, w, b, out, mean, 100, 1e-5, B=128)
    return [out, mean]


@case("rms_norm_residual", 1e-5, 1e-6)
def _() -> Tensors:
    x, r, w = torch.randn(4, 100), torch.randn(4, 100), torch.randn(100)
    out = torch.empty_like(x)
    rows.rms_norm_residual[(4,)](x, r, w, out, 100, 1e-5, B=32)
    return [out, r]


@case("welford", 1e-5, 1e-6)
def _() -> Tensors:
    x, out = torch.randn(2, 50), torch.zeros(2, 3)
    rows.welford[(2,)](x, out, 50, B=64)
    return [out]


@case("sum_rows", 1e-5, 1e-5)
def _() -> Tensors:
    x, out = torch.randn(11, 70), torch.zeros(11)
    rows.sum_rows[(2,)](x, out, 11, 70, BM=8, BN=32)
    return [out]


@case("sum_columns", 1e-5, 1e-5)
def _() -> Tensors:
    x, out = torch.randn(33, 70), torch.zeros(70)
    rows.sum_columns[(2,)](x, out, 33, 70, BM=8, BN=64)
    return [out]


@case("extremes", 1e-5, 1e-5)
def _() -> Tensors:
    # Few different values, so that ties are common.
    x = torch.randint(-5, 5, (32, 32)).float()
    out, where = torch.zeros(8, 32), torch.zeros(6, 32, dtype=torch.int32)
    rows.extremes[(1,)](x, out, where, N=32)
    return [out, where]


for _type in (torch.int8, torch.int16, torch.int32, torch.int64):

    @case(f"integer_reductions/{_type}")
    def _(dtype: torch.dtype = _type) -> Tensors:
        x = _integers(64).to(dtype)
        out = torch.zeros(5, dtype=torch.int64)
        rows.integer_reductions[(1,)](x, out, N=64)
        return [out]


@case("reduce_3d", 1e-5, 1e-5)
def _() -> Tensors:
    x, out = torch.randn(4, 8, 16), torch.zeros(4 * 16 + 4 * 8 + 8 * 16 + 1)
    rows.reduce_3d[(1,)](x, out, A=4, B=8, C=16)
    return [out]


@case("scans", 1e-5, 1e-5)
def _() -> Tensors:
    x, out = torch.randn(8, 32), torch.zeros(5, 8, 32)
    rows.scans[(1,)](x, out, M=8, N=32)
    return [out]


@case("linear_recurrence", 1e-5, 1e-6)
def _() -> Tensors:
    a, b, out = torch.rand(64), torch.randn(64), torch.zeros(64)
    rows.linear_recurrence[(1,)](a, b, out, N=64)
    return [out]


@case("cumsum_long", 1e-5, 1e-5)
def _() -> Tensors:
    x, out = torch.randn(3, 100), torch.zeros(3, 100)
    rows.cumsum_long[(3,)](x, out, 100, B=32)
    return [out]


for _down in (False, True):

    @case(f"sorted_rows/{_down}")
    def _(down: bool = _down) -> Tensors:
        x, out = torch.randn(2, 64), torch.zeros(2, 64)
        rows.sorted_rows[(2,)](x, out, N=64, DESCENDING=down)
        return [out]


@case("top_k")
def _() -> Tensors:
    x, out = torch.randn(2, 64), torch.zeros(2, 8)
    rows.top_k[(2,)](x, out, N=64, K=8)
    return [out]


@case("flipped")
def _() -> Tensors:
    x, out = torch.randn(32), torch.zeros(32)
    rows.flipped[(1,)](x, out, N=32)
    return [out]


@case("cross_entropy", 1e-5, 1e-6)
def _() -> Tensors:
    logits, labels = torch.randn(5, 90), torch.randint(0, 90, (5,))
    loss, grad = torch.zeros(5), torch.zeros(5, 90)
    rows.cross_entropy[(5,)](logits, labels, loss, grad, 90, B=128)
    return [loss, grad]


@case("dropout", 1e-6)
def _() -> Tensors:
    x, out = torch.randn(500), torch.zeros(500)
    rows.dropout[(2,)](x, out, 500, 0.3, 1234, B=256)
    return [out]


@case("random_bits")
def _() -> Tensors:
    out = torch.zeros(5, 64, dtype=torch.int32)
    rows.random_bits[(1,)](out, 77, N=64)
    return [out]


@case("normal_noise", 1e-5, 1e-5)
def _() -> Tensors:
    out = torch.zeros(128)
    rows.normal_noise[(1,)](out, 77, N=128)
    return [out]


@case("quantise")
def _() -> Tensors:
    x, out, scale = torch.randn(4, 60), torch.zeros(4, 60, dtype=torch.int8), torch.zeros(4)
    rows.quantise[(4,)](x, out, scale, 60, B=64)
    return [out, scale]


@case("gelu_tanh", 1e-5, 1e-6)
def _() -> Tensors:
    x, out = torch.randn(300), torch.zeros(300)
    rows.gelu_tanh[(2,)](x, out, 300, B=256)
    return [out]


@case("swiglu", 1e-3, 1e-3)
def _() -> Tensors:
    x, out = torch.randn(4, 200).half(), torch.zeros(4, 100).half()
    rows.swiglu[(4,)](x, out, 100, B=128)
    return [out]


@case("rotary", 1e-6, 1e-6)
def _() -> Tensors:
    q, cos, sin = torch.randn(3, 2, 32), torch.randn(3, 16), torch.randn(3, 16)
    rows.rotary[(3, 2)](q, cos, sin, 2, D=32)
    return [q]


# --- memory ---------------------------------------------------------------------------------------


@case("copy_2d")
def _() -> Tensors:
    x, out = torch.randn(20, 30), torch.zeros(30, 20)
    memory.copy_2d[(2, 2)](x, out, 20, 30, 30, 1, 1, 20, BM=16, BN=16)
    return [out]


@case("transpose_tile")
def _() -> Tensors:
    x, out = torch.randn(20, 30), torch.zeros(30, 20)
    memory.transpose_tile[(2, 2)](x, out, 20, 30, BM=16, BN=16)
    return [out]


for _by in (0, 1, 5, 100):

    @case(f"shift_in_place/{_by}")
    def _(by: int = _by) -> Tensors:
        x = torch.arange(300.0)
        memory.shift_in_place[(1,)](x, 150, by, B=256)
        return [x]


for _by in (1, 40, 43):

    @case(f"shift_rows_in_place/{_by}")
    def _(by: int = _by) -> Tensors:
        x = torch.arange(1000.0)
        memory.shift_rows_in_place[(1,)](x, 40, by, M=8, N=32)
        return [x]


@case("reverse_in_place")
def _() -> Tensors:
    x = torch.arange(128.0)
    memory.reverse_in_place[(1,)](x, B=128)
    return [x]


@case("booleans")
def _() -> Tensors:
    x, y, out = torch.rand(64) > 0.5, torch.rand(64) > 0.5, torch.zeros(4, 64, dtype=torch.bool)
    memory.booleans[(1,)](x, y, out, N=64)
    return [out]


@case("load_after_store")
def _() -> Tensors:
    x, out = torch.randn(128), torch.zeros(128)
    memory.load_after_store[(1,)](x, out, B=128)
    return [x, out]


@case("gather_rows")
def _() -> Tensors:
    table, index, out = torch.randn(20, 50), torch.randint(0, 20, (11,)), torch.zeros(11, 50)
    memory.gather_rows[(2,)](table, index, out, 50, 11, BK=8, BN=64)
    return [out]


@case("scatter_rows")
def _() -> Tensors:
    x, index, out = torch.randn(8, 50), torch.randperm(20)[:8], torch.zeros(20, 50)
    memory.scatter_rows[(1,)](x, index, out, 50, BK=8, BN=64)
    return [out]


@case("embedding_bag", 1e-5, 1e-5)
def _() -> Tensors:
    table, index, out = torch.randn(20, 50), torch.randint(0, 20, (3, 12)), torch.zeros(3, 50)
    memory.embedding_bag[(3,)](table, index, out, 12, 50, BN=64, BL=4)
    return [out]


@case("gather_columns_loop", 1e-5, 1e-5)
def _() -> Tensors:
    x, index, out = torch.randn(20, 64), torch.randint(0, 20, (8,)), torch.zeros(8)
    memory.gather_columns_loop[(1,)](x, index, out, 64, BK=8, BN=16)
    return [out]


@case("wrapped_rows", 1e-5, 1e-5)
def _() -> Tensors:
    x, out = torch.randn(10, 20), torch.zeros(16)
    memory.wrapped_rows[(2,)](x, out, 10, 20, BM=8, BN=32)
    return [out]


@case("broadcast_add")
def _() -> Tensors:
    x, y, out = torch.randn(2, 3, 35), torch.randn(3), torch.zeros(210)
    memory.broadcast_add[(2,)](x, y, out, 210, 3, 35, B=128)
    return [out]


for _low, _high, _flag in ((3, 50, 1), (-5, 200, 0), (40, 10, 1)):

    @case(f"masks/{_low}-{_high}-{_flag}")
    def _(low: int = _low, high: int = _high, flag: int = _flag) -> Tensors:
        x, out = torch.randn(64), torch.zeros(6, 64)
        memory.masks[(1,)](x, out, low, high, flag, N=64)
        return [out]


@case("nested_blocks")
def _() -> Tensors:
    x, out = torch.randn(64), torch.zeros(7, 64)
    memory.nested_blocks[(1,)](x, out, N=64)
    return [out]


@case("gather_lanes")
def _() -> Tensors:
    x, index, out = torch.randn(8, 32), _integers(8, 32, low=0), torch.zeros(2, 8, 32)
    memory.gather_lanes[(1,)](x, index, out, M=8, N=32)
    return [out]


@case("count")
def _() -> Tensors:
    x, out = _integers(500, low=0, high=16), torch.zeros(16, dtype=torch.int32)
    memory.count[(4,)](x, out, 500, B=128, BINS=16)
    return [out]


@case("count_plain")
def _() -> Tensors:
    x, out = _integers(128, low=0, high=8), torch.zeros(8, dtype=torch.int32)
    memory.count_plain[(1,)](x, out, B=128, BINS=8)
    return [out]


for _type in (torch.float16, torch.float32, torch.float64):

    @case(f"atomic_sums/{_type}", 1e-5, 1e-5)
    def _(dtype: torch.dtype = _type) -> Tensors:
        x, out = _integers(32, low=-9, high=9).to(dtype), torch.ones(4 + 64, dtype=dtype)
        memory.atomic_sums[(1,)](x, out, B=32)
        return [out]


for _type in (torch.int32, torch.int64):

    @case(f"atomics/{_type}")
    def _(dtype: torch.dtype = _type) -> Tensors:
        x, out = _integers(32).to(dtype), torch.zeros(16 + 64, dtype=dtype)
        memory.atomics[(1,)](x, out, B=32)
        return [out]


@case("atomic_bits")
def _() -> Tensors:
    x, out = _integers(32), torch.full((16 + 64,), 0, dtype=torch.int32)
    out[:2] = -1
    out[16:48] = x.roll(1)
    memory.atomic_bits[(1,)](x, out, B=32)
    return [out]


@case("split_sum")
def _() -> Tensors:
    x, out = _integers(5000), torch.zeros(1, dtype=torch.int32)
    memory.split_sum[(40,)](x, out, 5000, B=128)
    return [out]


@case("last_program")
def _() -> Tensors:
    x = _integers(2000)
    partial, counter, out = (torch.zeros(k, dtype=torch.int32) for k in (16, 1, 1))
    memory.last_program[(16,)](x, partial, counter, out, 2000, B=128, P=16)
    return [out, counter]


@case("block_pointers")
def _() -> Tensors:
    x, out = torch.randn(20, 50), torch.zeros(20, 50)
    memory.block_pointers[(2,)](x, out, 20, 50, BM=16, BN=16)
    return [out]


@case("descriptors")
def _() -> Tensors:
    x, out = torch.randn(20, 48), torch.zeros(20, 48)
    memory.descriptors[(2,)](x, out, 20, 48, BM=16, BN=16)
    return [out]


@case("pointer_arrays")
def _() -> Tensors:
    parts = [torch.randn(40) for _ in range(3)]
    addresses, out = torch.tensor([part.data_ptr() for part in parts]), torch.zeros(3, 40)
    memory.pointer_arrays[(3,)](addresses, out, 40, B=64)
    return [out]


# --- matrices -------------------------------------------------------------------------------------

for _type in (torch.float32, torch.float16):
    for _turned in (False, True):

        @case(f"matmul/{_type}/{_turned}", 1e-3 if _type is torch.float16 else 1e-5, 1e-4)
        def _(dtype: torch.dtype = _type, turned: bool = _turned) -> Tensors:
            a, b = torch.randn(40, 50).to(dtype), torch.randn(50, 70).to(dtype)
            if turned:
                a = a.t().contiguous().t()
            out = torch.zeros(40, 70, dtype=dtype)
            matrix.matmul[(2, 3)](a, b, out, 40, 70, 50, *a.stride(), *b.stride(), *out.stride(),
                                  BM=32, BN=32, BK=16)  # fmt: skip
            return [out]


@case("matmul_grouped_order", 1e-5, 1e-4)
def _() -> Tensors:
    a, b, out = torch.randn(70, 40), torch.randn(40, 90), torch.zeros(70, 90)
    matrix.matmul_grouped_order[(9,)](a, b, out, 70, 90, 40, BM=32, BN=32, BK=16, GROUP=2)
    return [out]


@case("matmul_int8")
def _() -> Tensors:
    a, b = _integers(16, 32).to(torch.int8), _integers(32, 64).to(torch.int8)
    out = torch.zeros(16, 64, dtype=torch.int32)
    matrix.matmul_int8[(1,)](a, b, out, M=16, N=64, K=32)
    return [out]


@case("matmul_batched", 1e-5, 1e-5)
def _() -> Tensors:
    a, b, out = torch.randn(2, 16, 16), torch.randn(2, 16, 32), torch.zeros(2, 16, 32)
    matrix.matmul_batched[(1,)](a, b, out, B=2, M=16, N=32, K=16)
    return [out]


@case("dot_transposed", 1e-5, 1e-5)
def _() -> Tensors:
    a, b, out = torch.randn(16, 32), torch.randn(16, 32), torch.zeros(16, 16)
    matrix.dot_transposed[(1,)](a, b, out, M=16, K=32)
    return [out]


@case("matvec", 1e-5, 1e-5)
def _() -> Tensors:
    a, x, y = torch.randn(30, 70), torch.randn(70), torch.zeros(30)
    matrix.matvec[(2,)](a, x, y, 30, 70, BM=16, BN=32)
    return [y]


for _causal in (False, True):

    @case(f"attention/{_causal}", 1e-4, 1e-5)
    def _(causal: bool = _causal) -> Tensors:
        q, k, v = (torch.randn(2, 50, 32) for _ in range(3))
        out = torch.zeros(2, 50, 32)
        matrix.attention[(2, 2)](q, k, v, out, 50, 0.17, CAUSAL=causal, D=32, BM=32, BN=16)
        return [out]


@case("grouped_gemm", 1e-5, 1e-5)
def _() -> Tensors:
    sizes = torch.tensor([20, 5, 33], dtype=torch.int32)
    a, b, out = torch.randn(58, 16), torch.randn(3, 16, 32), torch.zeros(58, 32)
    matrix.grouped_gemm[(2,)](a, b, out, sizes, N=32, K=16, BM=16, GROUPS=3)
    return [out]


# --- control flow ---------------------------------------------------------------------------------


@case("collatz")
def _() -> Tensors:
    x, out = torch.arange(1, 21, dtype=torch.int32), torch.zeros(20, dtype=torch.int32)
    control.collatz[(20,)](x, out, B=1)
    return [out]


@case("mandelbrot")
def _() -> Tensors:
    out = torch.zeros(16, 16, dtype=torch.int32)
    control.mandelbrot[(16,)](out, N=16, STEPS=20, enable_fp_fusion=False)
    return [out]


@case("while_tensor")
def _() -> Tensors:
    x, out = torch.rand(32) * 100, torch.zeros(32)
    control.while_tensor[(1,)](x, out, B=32)
    return [out]


@case("early_return", 1e-6)
def _() -> Tensors:
    x, out = torch.randn(300), torch.zeros(300)
    control.early_return[(5,)](x, out, 300, 4, B=64)
    return [out]


@case("return_after_loop", 1e-6)
def _() -> Tensors:
    x, out = torch.randn(3 * 4 * 32), torch.zeros(3 * 32)
    control.return_after_loop[(3,)](x, out, 3, B=32)
    return [out]


@case("branches", 1e-6)
def _() -> Tensors:
    x, out = torch.randn(250), torch.zeros(250)
    control.branches[(4,)](x, out, 250, B=64)
    return [out]


for _steps in (0, 1, 5):

    @case(f"swap_loop/{_steps}")
    def _(steps: int = _steps) -> Tensors:
        x, y, out = torch.randn(32), torch.randn(32), torch.zeros(3, 32)
        control.swap_loop[(1,)](x, y, out, steps, B=32)
        return [out]


@case("zero_trips")
def _() -> Tensors:
    x, out = torch.randn(64), torch.zeros(32)
    control.zero_trips[(1,)](x, out, 3, B=32)
    return [out]


@case("nested_loops", 1e-5, 1e-5)
def _() -> Tensors:
    x, out = torch.randn(12, 32), torch.zeros(32)
    control.nested_loops[(1,)](x, out, 3, 4, N=32)
    return [out]


@case("strided_range", 1e-6)
def _() -> Tensors:
    x, out = torch.randn(50), torch.zeros(4)
    control.strided_range[(1,)](x, out, 2, 40, 7, N=4)
    return [out]


@case("helpers", 1e-6)
def _() -> Tensors:
    x, out = torch.randn(32), torch.zeros(32)
    control.helpers[(1,)](x, out, B=32)
    return [out]


@case("calls", 1e-5)
def _() -> Tensors:
    x, out = torch.randn(32), torch.zeros(32)
    control.calls[(1,)](x, out, B=32)
    return [out]


@case("grid_ids")
def _() -> Tensors:
    out = torch.zeros(24, dtype=torch.int32)
    control.grid_ids[(2, 3, 4)](out)
    return [out]


@case("persistent")
def _() -> Tensors:
    x, out = torch.randn(1000), torch.zeros(1000)
    control.persistent[(3,)](x, out, 1000, B=64)
    return [out]


@case("carried_mask", 1e-6)
def _() -> Tensors:
    x, out = torch.randn(64), torch.zeros(64)
    control.carried_mask[(1,)](x, out, 50, N=64)
    return [out]


@case("scalar_types", 1e-6)
def _() -> Tensors:
    out = torch.zeros(10)
    control.scalar_types[(1,)](out, 1001, -5, 2**40, 0.625)
    return [out]


@case("tuple_argument")
def _() -> Tensors:
    x, out = torch.randn(32), torch.zeros(32)
    control.tuple_argument[(1,)]((x, 3), out, B=32)
    return [out]


@case("branch_in_loop")
def _() -> Tensors:
    x, out = torch.randn(7, 32), torch.zeros(2, 32)
    control.branch_in_loop[(1,)](x, out, 7, B=32)
    return [out]


for _flags in itertools.product((0, 2), repeat=3):  # Triton folds a 1

    @case("indices_used_inside_and_after/" + "".join(map(str, _flags)))
    def _(flags: tuple[int, ...] = _flags) -> Tensors:
        out = torch.zeros(3, 32, dtype=torch.int32)
        control.indices_used_inside_and_after[(1,)](out, *flags, B=32)
        return [out]
