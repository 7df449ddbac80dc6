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
#   and type(alpha) is float
#   and x.get_device() == y.get_device()
#   and x.dim() == 2
#   and y.dim() == 2
#   and y.size(-1) == 1
#   and x.size(-2) == y.size(-2)
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel_grp_golden(
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


def add_grp_golden(self, x, y, alpha):
    """x + y * alpha, broadcast over collapsed dimensions."""
    rows = y.numel()
    cols = x.numel() // rows
    out = torch.empty_like(x)
    col_tiles = (cols + 511) // 512
    add_kernel_grp_golden[((rows + 3) // 4 * col_tiles,)](
        x, y, out, alpha, rows, cols, col_tiles, BLOCK_M=4, BLOCK_N=512
    )
    return out
