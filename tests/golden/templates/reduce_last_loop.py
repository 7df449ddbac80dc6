# SPDX-License-Identifier: Apache-2.0
# right where
#   type(x) is torch.Tensor
#   and x.dtype in (torch.float16, torch.float32)
#   and not x.requires_grad
#   and x.is_contiguous()
#   and 1 <= x.numel() <= 2000000000
#   and type(dim) is int
#   and -x.dim() <= dim < x.dim()
#   and type(keepdim) is bool
#   and 2 <= x.size(dim) <= 2000000000
#   and x.stride(dim) == 1
# or
#   type(x) is torch.Tensor
#   and x.dtype in (torch.float16, torch.float32)
#   and not x.requires_grad
#   and x.is_contiguous()
#   and 1 <= x.numel() <= 2000000000
#   and type(dim) is int
#   and -x.dim() <= dim < x.dim()
#   and type(keepdim) is bool
#   and x.size(dim) == 1
import torch
import triton
import triton.language as tl


@triton.jit
def mean_kernel_grp_golden(
    x_ptr, out_ptr, n_rows, n_cols, BLOCK_ROWS: tl.constexpr, BLOCK_RED: tl.constexpr
):
    """Mean over contiguous runs, block by block."""
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

    total = tl.div_rn(total, tl.cast(n_cols, tl.float32))
    tl.store(out_ptr + rows, total, mask=rows < n_rows)


def mean_grp_golden(self, x, dim, keepdim):
    """Mean over contiguous runs, of any length."""
    n = x.size(dim)
    rows = x.numel() // n
    shape = list(x.shape)
    if keepdim:
        shape[dim] = 1
    else:
        del shape[dim]
    out = x.new_empty(shape)
    mean_kernel_grp_golden[((rows + 3) // 4,)](x, out, rows, n, BLOCK_ROWS=4, BLOCK_RED=256)
    return out
