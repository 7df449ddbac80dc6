# SPDX-License-Identifier: Apache-2.0
# right where
#   type(x) is torch.Tensor
#   and x.dtype == torch.float32
#   and not x.requires_grad
#   and x.is_contiguous()
#   and 1 <= x.numel() <= 2000000000
#   and type(y) is torch.Tensor
#   and y.dtype == torch.float32
#   and not y.requires_grad
#   and y.is_contiguous()
#   and 1 <= y.numel() <= 2000000000
#   and type(alpha) is int
#   and x.get_device() == y.get_device()
#   and x.dim() == 4
#   and y.dim() == 4
#   and x.size(-1) == y.size(-1)
#   and y.size(-2) == 1
#   and x.size(-3) == y.size(-3)
#   and y.size(-4) == 1
import torch
import triton
import triton.language as tl


@triton.jit
def sub_kernel_grp_golden(
    x_ptr,
    y_ptr,
    out_ptr,
    alpha,
    n_middle,
    n_rows,
    n_cols,
    row_tiles,
    col_tiles,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """One tile of x - y * float(alpha).

    Who spans the collapsed dimensions, outer to inner: x only, both, x only, both.
    """
    tile = tl.program_id(0)
    row_tile = tile // col_tiles
    cols = (tile - row_tile * col_tiles) * BLOCK_N + tl.arange(0, BLOCK_N)
    outer = row_tile // row_tiles
    rows = (row_tile - outer * row_tiles) * BLOCK_M + tl.arange(0, BLOCK_M)
    whole = outer
    outer = whole // n_middle
    middle = whole - outer * n_middle
    row_mask = (rows < n_rows)[:, None]
    col_mask = (cols < n_cols)[None, :]
    mask = row_mask & col_mask
    offsets = ((outer * n_middle + middle) * n_rows + rows[:, None]) * n_cols + cols[None, :]
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + middle * n_cols + cols[None, :], mask=col_mask).to(tl.float32)
    tl.store(out_ptr + offsets, x - y * alpha, mask=mask)


def sub_grp_golden(self, x, y, alpha):
    """x - y * float(alpha), broadcast over collapsed dimensions."""
    outer = x.size(-4)
    middle = x.size(-3)
    rows = x.size(-2)
    cols = x.size(-1)
    out = torch.empty_like(x)
    block_n = min(1 << (cols - 1).bit_length(), 128)
    block_m = 256 // block_n
    col_tiles = (cols + block_n - 1) // block_n
    row_tiles = (rows + block_m - 1) // block_m
    sub_kernel_grp_golden[(outer * middle * row_tiles * col_tiles,)](
        x,
        y,
        out,
        float(alpha),
        middle,
        rows,
        cols,
        row_tiles,
        col_tiles,
        BLOCK_M=block_m,
        BLOCK_N=block_n,
        num_warps=1,
    )
    return out
