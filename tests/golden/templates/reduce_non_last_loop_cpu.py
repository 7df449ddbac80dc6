# SPDX-License-Identifier: Apache-2.0
# right where
#   type(x) is torch.Tensor
#   and x.dtype == torch.float32
#   and not x.requires_grad
#   and x.is_contiguous()
#   and 1 <= x.numel() <= 2000000000
#   and type(dim) is int
#   and -x.dim() <= dim < x.dim()
#   and type(keepdim) is bool
#   and 2 <= x.size(dim) <= 2000000000
#   and 2 <= x.stride(dim) <= 2000000000
import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel_grp_golden(
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
    acc = tl.full((BLOCK_INNER,), 0.0, tl.float32)
    for start in range(0, n_red, BLOCK_RED):
        rows = start + tl.arange(0, BLOCK_RED)[:, None]
        mask = (rows < n_red) & col_mask
        x = tl.load(col_ptr + rows * n_inner, mask=mask, other=0.0).to(tl.float32)
        x = tl.sum(x, axis=0)
        acc = acc + x
    tl.store(out_ptr + outer * n_inner + cols, acc, mask=cols < n_inner)


def sum_grp_golden(self, x, dim, keepdim):
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
    inner_tiles = (inner + 63) // 64
    sum_kernel_grp_golden[(outer * inner_tiles,)](
        x, out, n, inner, inner_tiles, BLOCK_RED=16, BLOCK_INNER=64
    )
    return out
