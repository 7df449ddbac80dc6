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
#   and 128 <= x.size(dim) <= 2000000000
#   and 2 <= x.stride(dim) <= 2000000000
import torch
import triton
import triton.language as tl


@triton.jit
def mean_kernel_grp_golden(
    x_ptr,
    parts_ptr,
    n_red,
    n_inner,
    inner_tiles,
    n_outputs,
    part_size,
    BLOCK_RED: tl.constexpr,
    BLOCK_INNER: tl.constexpr,
    PARTS: tl.constexpr,
):
    """Mean over the middle axis of [n_outer, n_red, n_inner].

    The axis is cut into PARTS parts, whose results are left in fp32.
    """
    tile = tl.program_id(0)
    whole = tile // PARTS
    part = tile - whole * PARTS
    outer = whole // inner_tiles
    cols = (whole - outer * inner_tiles) * BLOCK_INNER + tl.arange(0, BLOCK_INNER)
    col_mask = (cols < n_inner)[None, :]
    col_ptr = x_ptr + outer * n_red * n_inner + cols[None, :]
    first = part * part_size
    last = tl.minimum(first + part_size, n_red)
    acc = tl.full((BLOCK_RED, BLOCK_INNER), 0.0, tl.float32)
    for start in range(first, last, BLOCK_RED):
        rows = start + tl.arange(0, BLOCK_RED)[:, None]
        mask = (rows < last) & col_mask
        x = tl.load(col_ptr + rows * n_inner, mask=mask, other=0.0).to(tl.float32)
        acc = acc + x
    total = tl.sum(acc, axis=0)
    out_cols = outer * n_inner + cols
    tl.store(parts_ptr + part * n_outputs + out_cols, total, mask=cols < n_inner)


@triton.jit
def mean_combine_kernel_grp_golden(
    parts_ptr, out_ptr, n_outputs, count, BLOCK: tl.constexpr, PARTS: tl.constexpr
):
    """Mean over the partial results [PARTS, n_outputs]."""
    tile = tl.program_id(0)
    cols = tile * BLOCK + tl.arange(0, BLOCK)
    mask = (cols < n_outputs)[None, :]
    offsets = tl.arange(0, PARTS)[:, None] * n_outputs + cols[None, :]
    parts = tl.load(parts_ptr + offsets, mask=mask, other=0.0)
    total = tl.sum(parts, axis=0)
    total = tl.div_rn(total, tl.cast(count, tl.float32))
    tl.store(out_ptr + cols, total, mask=cols < n_outputs)


def mean_grp_golden(self, x, dim, keepdim):
    """Mean over a long inner axis, in two stages."""
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
    outputs = outer * inner
    part_size = (n + 4095) // 4096 * 32
    parts = x.new_empty((128, outputs), dtype=torch.float32)
    mean_kernel_grp_golden[(outer * inner_tiles * 128,)](
        x, parts, n, inner, inner_tiles, outputs, part_size, BLOCK_RED=32, BLOCK_INNER=32, PARTS=128
    )
    mean_combine_kernel_grp_golden[((outputs + 63) // 64,)](
        parts, out, outputs, n, BLOCK=64, PARTS=128
    )
    return out
