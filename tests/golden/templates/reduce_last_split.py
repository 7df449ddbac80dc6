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
#   and x.stride(dim) == 1
import torch
import triton
import triton.language as tl


@triton.jit
def max_combine_grp_golden(a, b):
    """The larger one; NaN where there is one, as in torch."""
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def max_kernel_grp_golden(
    x_ptr, parts_ptr, n_rows, n_cols, part_size, BLOCK_RED: tl.constexpr, PARTS: tl.constexpr
):
    """Maximum over contiguous runs, each cut into PARTS parts; partial results in fp32."""
    tile = tl.program_id(0)
    row = tile // PARTS
    part = tile - row * PARTS
    first = part * part_size
    last = tl.minimum(first + part_size, n_cols)
    row_ptr = x_ptr + row * n_cols
    acc = tl.full((BLOCK_RED,), float("-inf"), tl.float32)
    for start in range(first, last, BLOCK_RED):
        cols = start + tl.arange(0, BLOCK_RED)
        x = tl.load(row_ptr + cols, mask=cols < last, other=float("-inf")).to(tl.float32)
        acc = max_combine_grp_golden(acc, x)
    total = tl.reduce(acc, 0, max_combine_grp_golden)
    tl.store(parts_ptr + part * n_rows + row, total)


@triton.jit
def max_combine_kernel_grp_golden(
    parts_ptr, out_ptr, n_outputs, BLOCK: tl.constexpr, PARTS: tl.constexpr
):
    """Maximum over the partial results [PARTS, n_outputs]."""
    tile = tl.program_id(0)
    cols = tile * BLOCK + tl.arange(0, BLOCK)
    mask = (cols < n_outputs)[None, :]
    offsets = tl.arange(0, PARTS)[:, None] * n_outputs + cols[None, :]
    parts = tl.load(parts_ptr + offsets, mask=mask, other=float("-inf"))
    total = tl.reduce(parts, 0, max_combine_grp_golden)
    tl.store(out_ptr + cols, total, mask=cols < n_outputs)


def max_grp_golden(self, x, dim, keepdim):
    """Maximum over contiguous runs, few and long, in two stages."""
    n = x.size(dim)
    rows = x.numel() // n
    shape = list(x.shape)
    if keepdim:
        shape[dim] = 1
    else:
        del shape[dim]
    out = x.new_empty(shape)
    part_size = (n + 524287) // 524288 * 4096
    parts = x.new_empty((128, rows), dtype=torch.float32)
    max_kernel_grp_golden[(rows * 128,)](
        x, parts, rows, n, part_size, BLOCK_RED=4096, PARTS=128, num_warps=8
    )
    max_combine_kernel_grp_golden[((rows + 63) // 64,)](parts, out, rows, BLOCK=64, PARTS=128)
    return out
