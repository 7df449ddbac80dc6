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
#   and 2 <= x.size(dim) <= 64
#   and 2 <= x.stride(dim) <= 2000000000
import torch
import triton
import triton.language as tl


@triton.jit
def sum_kernel_grp_golden(
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


def sum_grp_golden(self, x, dim, keepdim):
    """Sum over an inner axis of at most 64 elements, without a loop."""
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
    block_inner = 512 // block_red
    inner_tiles = (inner + block_inner - 1) // block_inner
    sum_kernel_grp_golden[(outer * inner_tiles,)](
        x, out, n, inner, inner_tiles, BLOCK_RED=block_red, BLOCK_INNER=block_inner, num_warps=2
    )
    return out
