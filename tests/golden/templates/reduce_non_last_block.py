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
#   and 2 <= x.stride(dim) <= 128
import torch
import triton
import triton.language as tl


@triton.jit
def min_combine_grp_golden(a, b):
    """The smaller one; NaN where there is one, as in torch."""
    return tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def min_kernel_grp_golden(
    x_ptr,
    out_ptr,
    n_outer,
    n_red,
    n_inner,
    BLOCK_OUTER: tl.constexpr,
    BLOCK_RED: tl.constexpr,
    BLOCK_INNER: tl.constexpr,
):
    """Minimum over the middle axis of [n_outer, n_red, n_inner].

    One block covers what comes after the axis: n_inner <= BLOCK_INNER.
    """
    tile = tl.program_id(0)
    outer = tile * BLOCK_OUTER + tl.arange(0, BLOCK_OUTER)
    cols = tl.arange(0, BLOCK_INNER)
    mask = (outer < n_outer)[:, None] & (cols < n_inner)[None, :]
    col_ptr = x_ptr + (outer * n_red * n_inner)[:, None, None] + cols[None, None, :]
    acc = tl.full((BLOCK_OUTER, BLOCK_RED, BLOCK_INNER), float("inf"), tl.float32)
    for start in range(0, n_red, BLOCK_RED):
        rows = start + tl.arange(0, BLOCK_RED)[None, :, None]
        row_mask = (rows < n_red) & mask[:, None, :]
        x = tl.load(col_ptr + rows * n_inner, mask=row_mask, other=float("inf")).to(tl.float32)
        acc = min_combine_grp_golden(acc, x)
    total = tl.reduce(acc, 1, min_combine_grp_golden)
    out_offsets = (outer * n_inner)[:, None] + cols[None, :]
    tl.store(out_ptr + out_offsets, total, mask=mask)


def min_grp_golden(self, x, dim, keepdim):
    """Minimum over an inner axis with at most 128 elements after it."""
    n = x.size(dim)
    inner = x.stride(dim)
    outer = x.numel() // (n * inner)
    shape = list(x.shape)
    if keepdim:
        shape[dim] = 1
    else:
        del shape[dim]
    out = x.new_empty(shape)
    block_inner = 1 << (inner - 1).bit_length()
    block_red = min(1 << (n - 1).bit_length(), 8192 // block_inner)
    block_outer = 8192 // (block_inner * block_red)
    min_kernel_grp_golden[((outer + block_outer - 1) // block_outer,)](
        x,
        out,
        outer,
        n,
        inner,
        BLOCK_OUTER=block_outer,
        BLOCK_RED=block_red,
        BLOCK_INNER=block_inner,
        num_warps=16,
    )
    return out
