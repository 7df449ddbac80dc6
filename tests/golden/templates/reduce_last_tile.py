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
#   and 2 <= x.size(dim) <= 256
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
def sum_kernel_grp_golden(
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


def sum_grp_golden(self, x, dim, keepdim):
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
    sum_kernel_grp_golden[((rows + block_rows - 1) // block_rows,)](
        x, out, rows, n, BLOCK_ROWS=block_rows, BLOCK_RED=block_red, num_warps=1
    )
    return out
