# Written by ksplit 0.1.0 on 2026-12-01 for NVIDIA H200 (torch 2.11.0+cu130, triton 3.6.0, driver
# 580.159.04).
#
# base_kernel.py stands first, unchanged but for its class, here ModelBase. Specialised kernels
# follow, one per group of inputs. At the end, ModelNew._route picks one of them by the input;
# ModelBase serves every other input.
#
#   add_grp_flat_a: 2 of 50 cases, 1.04x the generic kernel
#   add_grp_flat_b: 6 of 50 cases, 1.08x the generic kernel
#   add_grp_broadcast_2d_dim1: 6 of 50 cases, 1.06x the generic kernel
#   add_grp_broadcast_2d_dim0: 8 of 50 cases, 1.04x the generic kernel
#   add_grp_broadcast_3d_dim0: 4 of 50 cases, 1.05x the generic kernel
#   add_grp_broadcast_3d_dim1: 3 of 50 cases, 1.05x the generic kernel
#   add_grp_broadcast_4d_dim0_1_dim1: 5 of 50 cases, 1.17x the generic kernel
#   add_grp_broadcast_4d_dim0_2_3_dim2_3: 5 of 50 cases, 1.11x the generic kernel

# SPDX-License-Identifier: Apache-2.0
"""Generic broadcasting x + alpha * y, up to four dimensions."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def add_kernel(
    x_ptr, y_ptr, out_ptr, alpha, numel,
    size1, size2, size3,
    x_stride0, x_stride1, x_stride2, x_stride3,
    y_stride0, y_stride1, y_stride2, y_stride3,
    BLOCK: tl.constexpr,
):  # fmt: skip
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offset < numel
    i3 = offset % size3
    rest = offset // size3
    i2 = rest % size2
    rest = rest // size2
    i1 = rest % size1
    i0 = rest // size1
    x_offset = i0 * x_stride0 + i1 * x_stride1 + i2 * x_stride2 + i3 * x_stride3
    y_offset = i0 * y_stride0 + i1 * y_stride1 + i2 * y_stride2 + i3 * y_stride3
    x = tl.load(x_ptr + x_offset, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + y_offset, mask=mask).to(tl.float32)
    tl.store(out_ptr + offset, x + alpha * y, mask=mask)


class ModelBase(nn.Module):
    def forward(self, x, y, alpha=1.0):
        shape = torch.broadcast_shapes(x.shape, y.shape)
        if len(shape) > 4:
            raise ValueError(f"at most four dimensions, got {len(shape)}")
        out = torch.empty(shape, dtype=torch.result_type(x, y), device=x.device)
        numel = out.numel()
        if numel == 0:
            return out
        sizes = [1] * (4 - len(shape)) + list(shape)
        x_strides = x.expand(sizes).stride()
        y_strides = y.expand(sizes).stride()
        BLOCK = 1024
        grid = (triton.cdiv(numel, BLOCK),)
        add_kernel[grid](x, y, out, alpha, numel, *sizes[1:], *x_strides, *y_strides, BLOCK=BLOCK)
        return out


# grp_flat_a: template/flat, BLOCK_SIZE=256, form="flat", num_warps=1
@triton.jit
def add_kernel_grp_flat_a(x_ptr, y_ptr, out_ptr, alpha, n_elements, BLOCK_SIZE: tl.constexpr):
    """One block of x + y * alpha, contiguous and flat."""
    tile = tl.program_id(0)
    offsets = tile * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(out_ptr + offsets, x + y * alpha, mask=mask)


def add_grp_flat_a(self, x, y, alpha):
    """x + y * alpha, in memory order."""
    out = torch.empty_like(x)
    n = out.numel()
    add_kernel_grp_flat_a[((n + 255) // 256,)](x, y, out, alpha, n, BLOCK_SIZE=256, num_warps=1)
    return out


# grp_flat_b: template/flat, BLOCK_SIZE=512, form="flat", num_warps=8
@triton.jit
def add_kernel_grp_flat_b(x_ptr, y_ptr, out_ptr, alpha, n_elements, BLOCK_SIZE: tl.constexpr):
    """One block of x + y * alpha, contiguous and flat."""
    tile = tl.program_id(0)
    offsets = tile * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(out_ptr + offsets, x + y * alpha, mask=mask)


def add_grp_flat_b(self, x, y, alpha):
    """x + y * alpha, in memory order."""
    out = torch.empty_like(x)
    n = out.numel()
    add_kernel_grp_flat_b[((n + 511) // 512,)](x, y, out, alpha, n, BLOCK_SIZE=512, num_warps=8)
    return out


# grp_broadcast_2d_dim1: template/broadcast-2d, BLOCK_N=512, TILE=2048, form="adaptive", num_warps=8
@triton.jit
def add_kernel_grp_broadcast_2d_dim1(
    x_ptr,
    y_ptr,
    out_ptr,
    alpha,
    n_rows,
    n_cols,
    col_tiles,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """One tile of x + y * alpha.

    Who spans the collapsed dimensions, outer to inner: both, x only.
    """
    tile = tl.program_id(0)
    row_tile = tile // col_tiles
    cols = (tile - row_tile * col_tiles) * BLOCK_N + tl.arange(0, BLOCK_N)
    rows = row_tile * BLOCK_M + tl.arange(0, BLOCK_M)
    row_mask = (rows < n_rows)[:, None]
    col_mask = (cols < n_cols)[None, :]
    mask = row_mask & col_mask
    offsets = rows[:, None] * n_cols + cols[None, :]
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + rows[:, None], mask=row_mask).to(tl.float32)
    tl.store(out_ptr + offsets, x + y * alpha, mask=mask)


def add_grp_broadcast_2d_dim1(self, x, y, alpha):
    """x + y * alpha, broadcast over collapsed dimensions."""
    rows = y.numel()
    cols = x.numel() // rows
    out = torch.empty_like(x)
    block_n = min(1 << (cols - 1).bit_length(), 512)
    block_m = 2048 // block_n
    col_tiles = (cols + block_n - 1) // block_n
    add_kernel_grp_broadcast_2d_dim1[((rows + block_m - 1) // block_m * col_tiles,)](
        x, y, out, alpha, rows, cols, col_tiles, BLOCK_M=block_m, BLOCK_N=block_n, num_warps=8
    )
    return out


# grp_broadcast_2d_dim0: template/broadcast-2d, BLOCK_N=512, TILE=2048, form="adaptive", num_warps=8
@triton.jit
def add_kernel_grp_broadcast_2d_dim0(
    x_ptr,
    y_ptr,
    out_ptr,
    alpha,
    n_rows,
    n_cols,
    col_tiles,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """One tile of x + y * alpha.

    Who spans the collapsed dimensions, outer to inner: x only, both.
    """
    tile = tl.program_id(0)
    row_tile = tile // col_tiles
    cols = (tile - row_tile * col_tiles) * BLOCK_N + tl.arange(0, BLOCK_N)
    rows = row_tile * BLOCK_M + tl.arange(0, BLOCK_M)
    row_mask = (rows < n_rows)[:, None]
    col_mask = (cols < n_cols)[None, :]
    mask = row_mask & col_mask
    offsets = rows[:, None] * n_cols + cols[None, :]
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + cols[None, :], mask=col_mask).to(tl.float32)
    tl.store(out_ptr + offsets, x + y * alpha, mask=mask)


def add_grp_broadcast_2d_dim0(self, x, y, alpha):
    """x + y * alpha, broadcast over collapsed dimensions."""
    cols = y.numel()
    rows = x.numel() // cols
    out = torch.empty_like(x)
    block_n = min(1 << (cols - 1).bit_length(), 512)
    block_m = 2048 // block_n
    col_tiles = (cols + block_n - 1) // block_n
    add_kernel_grp_broadcast_2d_dim0[((rows + block_m - 1) // block_m * col_tiles,)](
        x, y, out, alpha, rows, cols, col_tiles, BLOCK_M=block_m, BLOCK_N=block_n, num_warps=8
    )
    return out


# grp_broadcast_3d_dim0: template/broadcast-2d, BLOCK_N=2048, TILE=2048, form="adaptive",
#   num_warps=8
@triton.jit
def add_kernel_grp_broadcast_3d_dim0(
    x_ptr,
    y_ptr,
    out_ptr,
    alpha,
    n_rows,
    n_cols,
    col_tiles,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """One tile of x + y * alpha.

    Who spans the collapsed dimensions, outer to inner: x only, both.
    """
    tile = tl.program_id(0)
    row_tile = tile // col_tiles
    cols = (tile - row_tile * col_tiles) * BLOCK_N + tl.arange(0, BLOCK_N)
    rows = row_tile * BLOCK_M + tl.arange(0, BLOCK_M)
    row_mask = (rows < n_rows)[:, None]
    col_mask = (cols < n_cols)[None, :]
    mask = row_mask & col_mask
    offsets = rows[:, None] * n_cols + cols[None, :]
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + cols[None, :], mask=col_mask).to(tl.float32)
    tl.store(out_ptr + offsets, x + y * alpha, mask=mask)


def add_grp_broadcast_3d_dim0(self, x, y, alpha):
    """x + y * alpha, broadcast over collapsed dimensions."""
    cols = y.numel()
    rows = x.numel() // cols
    out = torch.empty_like(x)
    block_n = min(1 << (cols - 1).bit_length(), 2048)
    block_m = 2048 // block_n
    col_tiles = (cols + block_n - 1) // block_n
    add_kernel_grp_broadcast_3d_dim0[((rows + block_m - 1) // block_m * col_tiles,)](
        x, y, out, alpha, rows, cols, col_tiles, BLOCK_M=block_m, BLOCK_N=block_n, num_warps=8
    )
    return out


# grp_broadcast_3d_dim1: template/broadcast-nd, BLOCK_N=512, TILE=2048, form="adaptive", num_warps=4
@triton.jit
def add_kernel_grp_broadcast_3d_dim1(
    x_ptr,
    y_ptr,
    out_ptr,
    alpha,
    n_rows,
    n_cols,
    row_tiles,
    col_tiles,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """One tile of x + y * alpha.

    Who spans the collapsed dimensions, outer to inner: both, x only, both.
    """
    tile = tl.program_id(0)
    row_tile = tile // col_tiles
    cols = (tile - row_tile * col_tiles) * BLOCK_N + tl.arange(0, BLOCK_N)
    outer = row_tile // row_tiles
    rows = (row_tile - outer * row_tiles) * BLOCK_M + tl.arange(0, BLOCK_M)
    row_mask = (rows < n_rows)[:, None]
    col_mask = (cols < n_cols)[None, :]
    mask = row_mask & col_mask
    offsets = (outer * n_rows + rows[:, None]) * n_cols + cols[None, :]
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + outer * n_cols + cols[None, :], mask=col_mask).to(tl.float32)
    tl.store(out_ptr + offsets, x + y * alpha, mask=mask)


def add_grp_broadcast_3d_dim1(self, x, y, alpha):
    """x + y * alpha, broadcast over collapsed dimensions."""
    outer = x.size(-3)
    rows = x.size(-2)
    cols = x.size(-1)
    out = torch.empty_like(x)
    block_n = min(1 << (cols - 1).bit_length(), 512)
    block_m = 2048 // block_n
    col_tiles = (cols + block_n - 1) // block_n
    row_tiles = (rows + block_m - 1) // block_m
    add_kernel_grp_broadcast_3d_dim1[(outer * row_tiles * col_tiles,)](
        x, y, out, alpha, rows, cols, row_tiles, col_tiles, BLOCK_M=block_m, BLOCK_N=block_n
    )
    return out


# grp_broadcast_4d_dim0_1_dim1: template/broadcast-2d, BLOCK_N=512, TILE=2048, form="adaptive",
#   num_warps=16
@triton.jit
def add_kernel_grp_broadcast_4d_dim0_1_dim1(
    x_ptr,
    y_ptr,
    out_ptr,
    alpha,
    n_rows,
    n_cols,
    col_tiles,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """One tile of x + y * alpha.

    Who spans the collapsed dimensions, outer to inner: x only, both.
    """
    tile = tl.program_id(0)
    row_tile = tile // col_tiles
    cols = (tile - row_tile * col_tiles) * BLOCK_N + tl.arange(0, BLOCK_N)
    rows = row_tile * BLOCK_M + tl.arange(0, BLOCK_M)
    row_mask = (rows < n_rows)[:, None]
    col_mask = (cols < n_cols)[None, :]
    mask = row_mask & col_mask
    offsets = rows[:, None] * n_cols + cols[None, :]
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + cols[None, :], mask=col_mask).to(tl.float32)
    tl.store(out_ptr + offsets, x + y * alpha, mask=mask)


def add_grp_broadcast_4d_dim0_1_dim1(self, x, y, alpha):
    """x + y * alpha, broadcast over collapsed dimensions."""
    cols = y.numel()
    rows = x.numel() // cols
    out = torch.empty_like(x)
    block_n = min(1 << (cols - 1).bit_length(), 512)
    block_m = 2048 // block_n
    col_tiles = (cols + block_n - 1) // block_n
    add_kernel_grp_broadcast_4d_dim0_1_dim1[((rows + block_m - 1) // block_m * col_tiles,)](
        x, y, out, alpha, rows, cols, col_tiles, BLOCK_M=block_m, BLOCK_N=block_n, num_warps=16
    )
    return out


# grp_broadcast_4d_dim0_2_3_dim2_3: template/broadcast-nd, BLOCK_N=128, TILE=1024, form="adaptive",
#   num_warps=8
@triton.jit
def add_kernel_grp_broadcast_4d_dim0_2_3_dim2_3(
    x_ptr,
    y_ptr,
    out_ptr,
    alpha,
    n_rows,
    n_cols,
    row_tiles,
    col_tiles,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """One tile of x + y * alpha.

    Who spans the collapsed dimensions, outer to inner: x only, both, x only.
    """
    tile = tl.program_id(0)
    row_tile = tile // col_tiles
    cols = (tile - row_tile * col_tiles) * BLOCK_N + tl.arange(0, BLOCK_N)
    outer = row_tile // row_tiles
    rows = (row_tile - outer * row_tiles) * BLOCK_M + tl.arange(0, BLOCK_M)
    row_mask = (rows < n_rows)[:, None]
    col_mask = (cols < n_cols)[None, :]
    mask = row_mask & col_mask
    offsets = (outer * n_rows + rows[:, None]) * n_cols + cols[None, :]
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + rows[:, None], mask=row_mask).to(tl.float32)
    tl.store(out_ptr + offsets, x + y * alpha, mask=mask)


def add_grp_broadcast_4d_dim0_2_3_dim2_3(self, x, y, alpha):
    """x + y * alpha, broadcast over collapsed dimensions."""
    outer = x.size(-4)
    rows = x.size(-3)
    cols = x.size(-2) * x.size(-1)
    out = torch.empty_like(x)
    block_n = min(1 << (cols - 1).bit_length(), 128)
    block_m = 1024 // block_n
    col_tiles = (cols + block_n - 1) // block_n
    row_tiles = (rows + block_m - 1) // block_m
    add_kernel_grp_broadcast_4d_dim0_2_3_dim2_3[(outer * row_tiles * col_tiles,)](
        x,
        y,
        out,
        alpha,
        rows,
        cols,
        row_tiles,
        col_tiles,
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        num_warps=8,
    )
    return out


class ModelNew(ModelBase):
    """Serves each input by the kernel specialised for it, else by ModelBase."""

    def forward(self, x, y, alpha=1.0):
        return self._route(x, y, alpha)

    def _route(self, x, y, alpha=1.0):
        if (
            type(x) is torch.Tensor
            and type(y) is torch.Tensor
            and type(alpha) is float
            and not x.requires_grad
            and not y.requires_grad
            and x.is_contiguous()
            and y.is_contiguous()
            and x.get_device() == y.get_device()
        ):
            x_numel = x.numel()
            x_shape = x.shape
            x_dim = len(x_shape)
            x_dtype = x.dtype
            y_dtype = y.dtype
            y_shape = y.shape
            y_dim = len(y_shape)
            y_numel = y.numel()
            if (
                50176 <= x_numel <= 401408
                and x_dim == 4
                and x_dtype in (torch.bfloat16, torch.float16, torch.float32)
                and x_dtype == y_dtype
            ):
                if (
                    y_dim == 2
                    and x_shape[-2] == y_shape[-2]
                    and x_shape[-1] == y_shape[-1]
                    and 196 <= y_numel <= 4096
                ):
                    return add_grp_broadcast_4d_dim0_1_dim1(self, x, y, alpha)
                if (
                    y_dim == 4
                    and y_shape[-1] == 1
                    and y_shape[-2] == 1
                    and y_shape[-4] == 1
                    and x_shape[-3] == y_shape[-3]
                    and 16 <= y_numel <= 256
                ):
                    return add_grp_broadcast_4d_dim0_2_3_dim2_3(self, x, y, alpha)
            if x_dim == 3 and y_dim == 3 and x_shape[-1] == y_shape[-1]:
                y_size_m3 = y_shape[-3]
                y_size_m2 = y_shape[-2]
                if (
                    262144 <= x_numel <= 2097152
                    and y_size_m3 == 1
                    and x_shape[-2] == y_size_m2
                    and x_dtype in (torch.float16, torch.float32)
                    and x_dtype == y_dtype
                    and 4096 <= y_numel <= 32768
                ):
                    return add_grp_broadcast_3d_dim0(self, x, y, alpha)
                if (
                    y_size_m2 == 1
                    and 262144 <= x_numel <= 16777216
                    and x_shape[-3] == y_size_m3
                    and x_dtype == torch.float16
                    and y_dtype == torch.float16
                    and 4096 <= y_numel <= 65536
                ):
                    return add_grp_broadcast_3d_dim1(self, x, y, alpha)
            if x_dtype == y_dtype:
                if (
                    128 <= x_numel <= 256
                    and x_dtype in (torch.bfloat16, torch.float16, torch.float32)
                    and x_shape == y_shape
                ):
                    return add_grp_flat_a(self, x, y, alpha)
                if (
                    512 <= x_numel <= 32768
                    and x_shape == y_shape
                    and x_dtype in (torch.bfloat16, torch.float16, torch.float32)
                ):
                    return add_grp_flat_b(self, x, y, alpha)
                if x_dim == 2 and x_dtype in (torch.bfloat16, torch.float16, torch.float32):
                    x_size_m1 = x_shape[-1]
                    if 128 <= y_numel <= 8192 and 16384 <= x_numel <= 33554432 and y_dim == 2:
                        y_size_m1 = y_shape[-1]
                        y_size_m2 = y_shape[-2]
                        if y_size_m1 == 1 and x_shape[-2] == y_size_m2:
                            return add_grp_broadcast_2d_dim1(self, x, y, alpha)
                        if y_size_m2 == 1 and x_size_m1 == y_size_m1:
                            return add_grp_broadcast_2d_dim0(self, x, y, alpha)
                    if (
                        128 <= y_numel <= 512
                        and 16384 <= x_numel <= 262144
                        and y_dim == 1
                        and x_size_m1 == y_shape[-1]
                    ):
                        return add_grp_broadcast_2d_dim0(self, x, y, alpha)
                if (
                    x_dim == 3
                    and 32768 <= x_numel <= 262144
                    and 1024 <= y_numel <= 4096
                    and x_dtype in (torch.float16, torch.float32)
                    and y_dim == 2
                    and x_shape[-2] == y_shape[-2]
                    and x_shape[-1] == y_shape[-1]
                ):
                    return add_grp_broadcast_3d_dim0(self, x, y, alpha)
        return super().forward(x, y, alpha)
