# Written by ksplit 0.1.0 on 2026-12-01 for NVIDIA H200 (torch 2.11.0+cu130, triton 3.6.0, driver
# 580.159.04).
#
# base_kernel.py stands first, unchanged but for its class, here ModelBase. Specialised kernels
# follow, one per group of inputs. At the end, ModelNew._route picks one of them by the input;
# ModelBase serves every other input.
#
#   sum_grp_reduce_last_small_bfloat16_float16_a: 2 of 44 cases, 1.09x the generic kernel
#   sum_grp_reduce_last_small_bfloat16_float16_b: 2 of 44 cases, 1.15x the generic kernel
#   sum_grp_reduce_last_small_float32: 8 of 44 cases, 1.30x the generic kernel
#   sum_grp_reduce_last_medium_bfloat16_float16_a: 3 of 44 cases, 1.11x the generic kernel
#   sum_grp_reduce_last_large: 2 of 44 cases, 1.01x the generic kernel
#   sum_grp_reduce_non_last_small_bfloat16_float16: 12 of 44 cases, 1.28x the generic kernel
#   sum_grp_reduce_non_last_small_float32_a: 3 of 44 cases, 1.18x the generic kernel
#   sum_grp_reduce_non_last_small_float32_b: 5 of 44 cases, 1.74x the generic kernel
#   sum_grp_reduce_non_last_medium_large_a: 2 of 44 cases, 2.48x the generic kernel
#   sum_grp_reduce_non_last_medium_large_b: 1 of 44 cases, 11.64x the generic kernel

# SPDX-License-Identifier: Apache-2.0
"""Generic sum over one axis: one program per output element."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def sum_kernel(x_ptr, out_ptr, reduce_size, inner_size, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    outer = pid // inner_size
    inner = pid % inner_size
    start = x_ptr + outer * reduce_size * inner_size + inner
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for begin in range(0, reduce_size, BLOCK):
        index = begin + tl.arange(0, BLOCK)
        value = tl.load(start + index * inner_size, mask=index < reduce_size, other=0.0)
        acc += value.to(tl.float32)
    tl.store(out_ptr + pid, tl.sum(acc, axis=0))


class ModelBase(nn.Module):
    def forward(self, x, dim, keepdim=False):
        if dim < 0:
            dim += x.dim()
        x = x.contiguous()
        shape = list(x.shape)
        reduce_size = shape[dim]
        inner_size = 1
        for size in shape[dim + 1 :]:
            inner_size *= size
        if keepdim:
            shape[dim] = 1
        else:
            del shape[dim]
        out = torch.empty(shape, dtype=x.dtype, device=x.device)
        if out.numel() > 0:
            sum_kernel[(out.numel(),)](x, out, reduce_size, inner_size, BLOCK=1024)
        return out


# grp_reduce_last_small_bfloat16_float16_a: template/reduce-last, TILE=512, form="tile", num_warps=8
@triton.jit
def sum_kernel_grp_reduce_last_small_bfloat16_float16_a(
    x_ptr, out_ptr, n_rows, n_cols, BLOCK_ROWS: tl.constexpr, BLOCK_RED: tl.constexpr
):
    """Sum over contiguous runs, each covered by one block of BLOCK_RED."""
    tile = tl.program_id(0)
    rows = tile * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    cols = tl.arange(0, BLOCK_RED)
    mask = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
    offsets = rows[:, None] * n_cols + cols[None, :]
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    total = tl.sum(x, axis=1)
    tl.store(out_ptr + rows, total, mask=rows < n_rows)


def sum_grp_reduce_last_small_bfloat16_float16_a(self, x, dim, keepdim):
    """Sum over contiguous runs, at most 512 elements long."""
    n = x.size(dim)
    rows = x.numel() // n
    shape = list(x.shape)
    if keepdim:
        shape[dim] = 1
    else:
        del shape[dim]
    out = x.new_empty(shape)
    block_red = 1 << (n - 1).bit_length()
    block_rows = 512 // block_red
    sum_kernel_grp_reduce_last_small_bfloat16_float16_a[((rows + block_rows - 1) // block_rows,)](
        x, out, rows, n, BLOCK_ROWS=block_rows, BLOCK_RED=block_red, num_warps=8
    )
    return out


# grp_reduce_last_small_bfloat16_float16_b: template/reduce-last, TILE=2048, form="tile",
#   num_warps=16
@triton.jit
def sum_kernel_grp_reduce_last_small_bfloat16_float16_b(
    x_ptr, out_ptr, n_rows, n_cols, BLOCK_ROWS: tl.constexpr, BLOCK_RED: tl.constexpr
):
    """Sum over contiguous runs, each covered by one block of BLOCK_RED."""
    tile = tl.program_id(0)
    rows = tile * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    cols = tl.arange(0, BLOCK_RED)
    mask = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
    offsets = rows[:, None] * n_cols + cols[None, :]
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    total = tl.sum(x, axis=1)
    tl.store(out_ptr + rows, total, mask=rows < n_rows)


def sum_grp_reduce_last_small_bfloat16_float16_b(self, x, dim, keepdim):
    """Sum over contiguous runs, at most 2048 elements long."""
    n = x.size(dim)
    rows = x.numel() // n
    shape = list(x.shape)
    if keepdim:
        shape[dim] = 1
    else:
        del shape[dim]
    out = x.new_empty(shape)
    block_red = 1 << (n - 1).bit_length()
    block_rows = 2048 // block_red
    sum_kernel_grp_reduce_last_small_bfloat16_float16_b[((rows + block_rows - 1) // block_rows,)](
        x, out, rows, n, BLOCK_ROWS=block_rows, BLOCK_RED=block_red, num_warps=16
    )
    return out


# grp_reduce_last_small_float32: template/reduce-last, TILE=256, form="tile", num_warps=2
@triton.jit
def sum_kernel_grp_reduce_last_small_float32(
    x_ptr, out_ptr, n_rows, n_cols, BLOCK_ROWS: tl.constexpr, BLOCK_RED: tl.constexpr
):
    """Sum over contiguous runs, each covered by one block of BLOCK_RED."""
    tile = tl.program_id(0)
    rows = tile * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    cols = tl.arange(0, BLOCK_RED)
    mask = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
    offsets = rows[:, None] * n_cols + cols[None, :]
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    total = tl.sum(x, axis=1)
    tl.store(out_ptr + rows, total, mask=rows < n_rows)


def sum_grp_reduce_last_small_float32(self, x, dim, keepdim):
    """Sum over contiguous runs, at most 256 elements long."""
    n = x.size(dim)
    rows = x.numel() // n
    shape = list(x.shape)
    if keepdim:
        shape[dim] = 1
    else:
        del shape[dim]
    out = x.new_empty(shape)
    block_red = 1 << (n - 1).bit_length()
    block_rows = 256 // block_red
    sum_kernel_grp_reduce_last_small_float32[((rows + block_rows - 1) // block_rows,)](
        x, out, rows, n, BLOCK_ROWS=block_rows, BLOCK_RED=block_red, num_warps=2
    )
    return out


# grp_reduce_last_medium_bfloat16_float16_a: template/reduce-last, TILE=4096, form="tile",
#   num_warps=8
@triton.jit
def sum_kernel_grp_reduce_last_medium_bfloat16_float16_a(
    x_ptr, out_ptr, n_rows, n_cols, BLOCK_ROWS: tl.constexpr, BLOCK_RED: tl.constexpr
):
    """Sum over contiguous runs, each covered by one block of BLOCK_RED."""
    tile = tl.program_id(0)
    rows = tile * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    cols = tl.arange(0, BLOCK_RED)
    mask = (rows < n_rows)[:, None] & (cols < n_cols)[None, :]
    offsets = rows[:, None] * n_cols + cols[None, :]
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0).to(tl.float32)
    total = tl.sum(x, axis=1)
    tl.store(out_ptr + rows, total, mask=rows < n_rows)


def sum_grp_reduce_last_medium_bfloat16_float16_a(self, x, dim, keepdim):
    """Sum over contiguous runs, at most 4096 elements long."""
    n = x.size(dim)
    rows = x.numel() // n
    shape = list(x.shape)
    if keepdim:
        shape[dim] = 1
    else:
        del shape[dim]
    out = x.new_empty(shape)
    block_red = 1 << (n - 1).bit_length()
    block_rows = 4096 // block_red
    sum_kernel_grp_reduce_last_medium_bfloat16_float16_a[((rows + block_rows - 1) // block_rows,)](
        x, out, rows, n, BLOCK_ROWS=block_rows, BLOCK_RED=block_red, num_warps=8
    )
    return out


# grp_reduce_last_large: template/reduce-last, BLOCK_RED=1024, BLOCK_ROWS=1, form="loop",
#   num_warps=8
@triton.jit
def sum_kernel_grp_reduce_last_large(
    x_ptr, out_ptr, n_rows, n_cols, BLOCK_ROWS: tl.constexpr, BLOCK_RED: tl.constexpr
):
    """Sum over contiguous runs, block by block."""
    tile = tl.program_id(0)
    rows = tile * BLOCK_ROWS + tl.arange(0, BLOCK_ROWS)
    row_mask = (rows < n_rows)[:, None]
    row_ptr = x_ptr + rows[:, None] * n_cols
    acc = tl.full((BLOCK_ROWS, BLOCK_RED), 0.0, tl.float32)
    for start in range(0, n_cols, BLOCK_RED):
        cols = start + tl.arange(0, BLOCK_RED)[None, :]
        mask = row_mask & (cols < n_cols)
        x = tl.load(row_ptr + cols, mask=mask, other=0.0).to(tl.float32)
        acc = acc + x
    total = tl.sum(acc, axis=1)

    tl.store(out_ptr + rows, total, mask=rows < n_rows)


def sum_grp_reduce_last_large(self, x, dim, keepdim):
    """Sum over contiguous runs, of any length."""
    n = x.size(dim)
    rows = x.numel() // n
    shape = list(x.shape)
    if keepdim:
        shape[dim] = 1
    else:
        del shape[dim]
    out = x.new_empty(shape)
    sum_kernel_grp_reduce_last_large[(rows,)](
        x, out, rows, n, BLOCK_ROWS=1, BLOCK_RED=1024, num_warps=8
    )
    return out


# grp_reduce_non_last_small_bfloat16_float16: template/reduce-non-last, TILE=1024, form="tile",
#   num_warps=8
@triton.jit
def sum_kernel_grp_reduce_non_last_small_bfloat16_float16(
    x_ptr, out_ptr, n_red, n_inner, inner_tiles, BLOCK_RED: tl.constexpr, BLOCK_INNER: tl.constexpr
):
    """Sum over the middle axis of [n_outer, n_red, n_inner].

    One block covers the axis: n_red <= BLOCK_RED.
    """
    tile = tl.program_id(0)
    outer = tile // inner_tiles
    cols = (tile - outer * inner_tiles) * BLOCK_INNER + tl.arange(0, BLOCK_INNER)
    col_mask = (cols < n_inner)[None, :]
    col_ptr = x_ptr + outer * n_red * n_inner + cols[None, :]
    rows = tl.arange(0, BLOCK_RED)[:, None]
    mask = (rows < n_red) & col_mask
    x = tl.load(col_ptr + rows * n_inner, mask=mask, other=0.0).to(tl.float32)
    total = tl.sum(x, axis=0)
    tl.store(out_ptr + outer * n_inner + cols, total, mask=cols < n_inner)


def sum_grp_reduce_non_last_small_bfloat16_float16(self, x, dim, keepdim):
    """Sum over an inner axis of at most 128 elements, without a loop."""
    n = x.size(dim)
    inner = x.stride(dim)
    outer = x.numel() // (n * inner)
    shape = list(x.shape)
    if keepdim:
        shape[dim] = 1
    else:
        del shape[dim]
    out = x.new_empty(shape)
    block_red = 1 << (n - 1).bit_length()
    block_inner = 1024 // block_red
    inner_tiles = (inner + block_inner - 1) // block_inner
    sum_kernel_grp_reduce_non_last_small_bfloat16_float16[(outer * inner_tiles,)](
        x, out, n, inner, inner_tiles, BLOCK_RED=block_red, BLOCK_INNER=block_inner, num_warps=8
    )
    return out


# grp_reduce_non_last_small_float32_a: template/reduce-non-last, TILE=4096, form="tile", num_warps=8
@triton.jit
def sum_kernel_grp_reduce_non_last_small_float32_a(
    x_ptr, out_ptr, n_red, n_inner, inner_tiles, BLOCK_RED: tl.constexpr, BLOCK_INNER: tl.constexpr
):
    """Sum over the middle axis of [n_outer, n_red, n_inner].

    One block covers the axis: n_red <= BLOCK_RED.
    """
    tile = tl.program_id(0)
    outer = tile // inner_tiles
    cols = (tile - outer * inner_tiles) * BLOCK_INNER + tl.arange(0, BLOCK_INNER)
    col_mask = (cols < n_inner)[None, :]
    col_ptr = x_ptr + outer * n_red * n_inner + cols[None, :]
    rows = tl.arange(0, BLOCK_RED)[:, None]
    mask = (rows < n_red) & col_mask
    x = tl.load(col_ptr + rows * n_inner, mask=mask, other=0.0).to(tl.float32)
    total = tl.sum(x, axis=0)
    tl.store(out_ptr + outer * n_inner + cols, total, mask=cols < n_inner)


def sum_grp_reduce_non_last_small_float32_a(self, x, dim, keepdim):
    """Sum over an inner axis of at most 512 elements, without a loop."""
    n = x.size(dim)
    inner = x.stride(dim)
    outer = x.numel() // (n * inner)
    shape = list(x.shape)
    if keepdim:
        shape[dim] = 1
    else:
        del shape[dim]
    out = x.new_empty(shape)
    block_red = 1 << (n - 1).bit_length()
    block_inner = 4096 // block_red
    inner_tiles = (inner + block_inner - 1) // block_inner
    sum_kernel_grp_reduce_non_last_small_float32_a[(outer * inner_tiles,)](
        x, out, n, inner, inner_tiles, BLOCK_RED=block_red, BLOCK_INNER=block_inner, num_warps=8
    )
    return out


# grp_reduce_non_last_small_float32_b: template/reduce-non-last, BLOCK_INNER=16, BLOCK_RED=32,
#   form="loop", num_warps=4
@triton.jit
def sum_kernel_grp_reduce_non_last_small_float32_b(
    x_ptr, out_ptr, n_red, n_inner, inner_tiles, BLOCK_RED: tl.constexpr, BLOCK_INNER: tl.constexpr
):
    """Sum over the middle axis of [n_outer, n_red, n_inner].

    Block by block.
    """
    tile = tl.program_id(0)
    outer = tile // inner_tiles
    cols = (tile - outer * inner_tiles) * BLOCK_INNER + tl.arange(0, BLOCK_INNER)
    col_mask = (cols < n_inner)[None, :]
    col_ptr = x_ptr + outer * n_red * n_inner + cols[None, :]
    acc = tl.full((BLOCK_RED, BLOCK_INNER), 0.0, tl.float32)
    for start in range(0, n_red, BLOCK_RED):
        rows = start + tl.arange(0, BLOCK_RED)[:, None]
        mask = (rows < n_red) & col_mask
        x = tl.load(col_ptr + rows * n_inner, mask=mask, other=0.0).to(tl.float32)
        acc = acc + x
    total = tl.sum(acc, axis=0)
    tl.store(out_ptr + outer * n_inner + cols, total, mask=cols < n_inner)


def sum_grp_reduce_non_last_small_float32_b(self, x, dim, keepdim):
    """Sum over an inner axis."""
    n = x.size(dim)
    inner = x.stride(dim)
    outer = x.numel() // (n * inner)
    shape = list(x.shape)
    if keepdim:
        shape[dim] = 1
    else:
        del shape[dim]
    out = x.new_empty(shape)
    inner_tiles = (inner + 15) // 16
    sum_kernel_grp_reduce_non_last_small_float32_b[(outer * inner_tiles,)](
        x, out, n, inner, inner_tiles, BLOCK_RED=32, BLOCK_INNER=16
    )
    return out


# grp_reduce_non_last_medium_large_a: template/reduce-non-last, BLOCK_INNER=16, BLOCK_RED=128,
#   form="loop", num_warps=8
@triton.jit
def sum_kernel_grp_reduce_non_last_medium_large_a(
    x_ptr, out_ptr, n_red, n_inner, inner_tiles, BLOCK_RED: tl.constexpr, BLOCK_INNER: tl.constexpr
):
    """Sum over the middle axis of [n_outer, n_red, n_inner].

    Block by block.
    """
    tile = tl.program_id(0)
    outer = tile // inner_tiles
    cols = (tile - outer * inner_tiles) * BLOCK_INNER + tl.arange(0, BLOCK_INNER)
    col_mask = (cols < n_inner)[None, :]
    col_ptr = x_ptr + outer * n_red * n_inner + cols[None, :]
    acc = tl.full((BLOCK_RED, BLOCK_INNER), 0.0, tl.float32)
    for start in range(0, n_red, BLOCK_RED):
        rows = start + tl.arange(0, BLOCK_RED)[:, None]
        mask = (rows < n_red) & col_mask
        x = tl.load(col_ptr + rows * n_inner, mask=mask, other=0.0).to(tl.float32)
        acc = acc + x
    total = tl.sum(acc, axis=0)
    tl.store(out_ptr + outer * n_inner + cols, total, mask=cols < n_inner)


def sum_grp_reduce_non_last_medium_large_a(self, x, dim, keepdim):
    """Sum over an inner axis."""
    n = x.size(dim)
    inner = x.stride(dim)
    outer = x.numel() // (n * inner)
    shape = list(x.shape)
    if keepdim:
        shape[dim] = 1
    else:
        del shape[dim]
    out = x.new_empty(shape)
    inner_tiles = (inner + 15) // 16
    sum_kernel_grp_reduce_non_last_medium_large_a[(outer * inner_tiles,)](
        x, out, n, inner, inner_tiles, BLOCK_RED=128, BLOCK_INNER=16, num_warps=8
    )
    return out


# grp_reduce_non_last_medium_large_b: template/reduce-non-last, BLOCK_INNER=32, BLOCK_RED=128,
#   form="loop", num_warps=16
@triton.jit
def sum_kernel_grp_reduce_non_last_medium_large_b(
    x_ptr, out_ptr, n_red, n_inner, inner_tiles, BLOCK_RED: tl.constexpr, BLOCK_INNER: tl.constexpr
):
    """Sum over the middle axis of [n_outer, n_red, n_inner].

    Block by block.
    """
    tile = tl.program_id(0)
    outer = tile // inner_tiles
    cols = (tile - outer * inner_tiles) * BLOCK_INNER + tl.arange(0, BLOCK_INNER)
    col_mask = (cols < n_inner)[None, :]
    col_ptr = x_ptr + outer * n_red * n_inner + cols[None, :]
    acc = tl.full((BLOCK_RED, BLOCK_INNER), 0.0, tl.float32)
    for start in range(0, n_red, BLOCK_RED):
        rows = start + tl.arange(0, BLOCK_RED)[:, None]
        mask = (rows < n_red) & col_mask
        x = tl.load(col_ptr + rows * n_inner, mask=mask, other=0.0).to(tl.float32)
        acc = acc + x
    total = tl.sum(acc, axis=0)
    tl.store(out_ptr + outer * n_inner + cols, total, mask=cols < n_inner)


def sum_grp_reduce_non_last_medium_large_b(self, x, dim, keepdim):
    """Sum over an inner axis."""
    n = x.size(dim)
    inner = x.stride(dim)
    outer = x.numel() // (n * inner)
    shape = list(x.shape)
    if keepdim:
        shape[dim] = 1
    else:
        del shape[dim]
    out = x.new_empty(shape)
    inner_tiles = (inner + 31) // 32
    sum_kernel_grp_reduce_non_last_medium_large_b[(outer * inner_tiles,)](
        x, out, n, inner, inner_tiles, BLOCK_RED=128, BLOCK_INNER=32, num_warps=16
    )
    return out


class ModelNew(ModelBase):
    """Serves each input by the kernel specialised for it, else by ModelBase."""

    def forward(self, x, dim, keepdim=False):
        return self._route(x, dim, keepdim)

    def _route(self, x, dim, keepdim=False):
        if (
            type(x) is torch.Tensor
            and type(dim) is int
            and type(keepdim) is bool
            and not x.requires_grad
            and x.is_contiguous()
        ):
            x_shape = x.shape
            x_dim = len(x_shape)
            if -x_dim <= dim < x_dim:
                x_stride_dim = x.stride()[dim]
                x_dtype = x.dtype
                x_size_dim = x_shape[dim]
                x_numel = x.numel()
                if x_stride_dim == 1:
                    if (
                        x_dtype == torch.float32
                        and 16 <= x_size_dim <= 224
                        and 100 <= x_numel <= 262144
                    ):
                        return sum_grp_reduce_last_small_float32(self, x, dim, keepdim)
                    if x_dtype in (torch.bfloat16, torch.float16):
                        if (
                            32768 <= x_numel <= 200700
                            and x_dim == 2
                            and 256 <= x_size_dim <= 2007
                            and 100 <= x_shape[0] <= 256
                        ):
                            return sum_grp_reduce_last_medium_bfloat16_float16_a(self, x, dim, keepdim)
                        if (
                            x_dim == 4
                            and x_shape[1] == 5
                            and 1155 <= x_numel <= 61605
                            and 11 <= x_size_dim <= 111
                        ):
                            return sum_grp_reduce_last_small_bfloat16_float16_a(self, x, dim, keepdim)
                        if (
                            16384 <= x_numel <= 65536
                            and 2 <= x_dim <= 4
                            and 64 <= x_size_dim <= 128
                            and 16 <= x_shape[1] <= 128
                        ):
                            return sum_grp_reduce_last_small_bfloat16_float16_b(self, x, dim, keepdim)
                    if (
                        16384 <= x_size_dim <= 18432
                        and x_dtype in (torch.float16, torch.float32)
                        and 75497472 <= x_numel <= 134217728
                    ):
                        return sum_grp_reduce_last_large(self, x, dim, keepdim)
                if x_dtype == torch.float32 and 3 <= x_dim <= 4:
                    x_size_0 = x_shape[0]
                    if (
                        16 <= x_size_dim <= 64
                        and 16 <= x_stride_dim <= 4096
                        and 16 <= x_size_0 <= 64
                        and 65536 <= x_numel <= 262144
                    ):
                        return sum_grp_reduce_non_last_small_float32_b(self, x, dim, keepdim)
                    if (
                        7 <= x_size_dim <= 224
                        and 23 <= x_stride_dim <= 345
                        and 1 <= x_size_0 <= 7
                        and 2415 <= x_numel <= 150528
                    ):
                        return sum_grp_reduce_non_last_small_float32_a(self, x, dim, keepdim)
                if (
                    x_dtype in (torch.bfloat16, torch.float16)
                    and 3 <= x_size_dim <= 128
                    and 32 <= x_stride_dim <= 4096
                    and 1155 <= x_numel <= 200704
                ):
                    return sum_grp_reduce_non_last_small_bfloat16_float16(self, x, dim, keepdim)
                if x_dtype in (torch.float16, torch.float32):
                    if x_stride_dim == 16384 and x_size_dim == 8192 and x_numel == 134217728:
                        return sum_grp_reduce_non_last_medium_large_b(self, x, dim, keepdim)
                    if (
                        256 <= x_stride_dim <= 18432
                        and 256 <= x_size_dim <= 4096
                        and 65536 <= x_numel <= 75497472
                    ):
                        return sum_grp_reduce_non_last_medium_large_a(self, x, dim, keepdim)
        return super().forward(x, dim, keepdim)
