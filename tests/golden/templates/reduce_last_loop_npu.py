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
def sum_kernel_grp_golden(
    x_ptr, out_ptr, n_rows, n_cols, n_tiles, BLOCK_ROWS: tl.constexpr, BLOCK_RED: tl.constexpr
):
    """Sum over contiguous runs, block by block."""
    share = tl.cdiv(n_tiles, tl.num_programs(0))
    first_tile = tl.program_id(0) * share
    for tile in range(first_tile, tl.minimum(first_tile + share, n_tiles)):
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

        tl.store(out_ptr + rows, total, mask=rows < n_rows)


sum_cores_grp_golden = None


def sum_core_count_grp_golden():
    """Vector cores of the NPU, asked once; 40 where there is none to ask."""
    global sum_cores_grp_golden
    if sum_cores_grp_golden is None:
        try:
            import torch_npu  # noqa: F401

            utils = triton.runtime.driver.active.utils
            properties = utils.get_device_properties(torch.npu.current_device())
            sum_cores_grp_golden = properties["num_vectorcore"]
        except (ImportError, AttributeError, KeyError, RuntimeError):
            sum_cores_grp_golden = 40
    return sum_cores_grp_golden


def sum_grp_golden(self, x, dim, keepdim):
    """Sum over contiguous runs, of any length."""
    n = x.size(dim)
    rows = x.numel() // n
    shape = list(x.shape)
    if keepdim:
        shape[dim] = 1
    else:
        del shape[dim]
    out = x.new_empty(shape)
    tiles = (rows + 3) // 4
    programs = min(tiles, sum_core_count_grp_golden())
    sum_kernel_grp_golden[(programs,)](x, out, rows, n, tiles, BLOCK_ROWS=4, BLOCK_RED=256)
    return out
