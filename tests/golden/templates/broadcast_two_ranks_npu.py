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
#   and x.dim() == 4
#   and y.dim() == 4
#   and y.size(-1) == 1
#   and y.size(-2) == 1
#   and x.size(-3) == y.size(-3)
#   and y.size(-4) == 1
# or
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
#   and x.dim() == 3
#   and y.dim() == 3
#   and y.size(-1) == 1
#   and x.size(-2) == y.size(-2)
#   and y.size(-3) == 1
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
    row_tiles,
    col_tiles,
    n_tiles,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """One tile of x + y * alpha.

    Who spans the collapsed dimensions, outer to inner: x only, both, x only.
    """
    share = tl.cdiv(n_tiles, tl.num_programs(0))
    first_tile = tl.program_id(0) * share
    for tile in range(first_tile, tl.minimum(first_tile + share, n_tiles)):
        row_tile = tile // col_tiles
        cols = (tile - row_tile * col_tiles) * BLOCK_N + tl.arange(0, BLOCK_N)
        outer = row_tile // row_tiles
        rows = (row_tile - outer * row_tiles) * BLOCK_M + tl.arange(0, BLOCK_M)
        row_mask = (rows < n_rows)[:, None]
        col_mask = (cols < n_cols)[None, :]
        mask = row_mask & col_mask
        offsets = (outer * n_rows + rows[:, None]) * n_cols + cols[None, :]
        x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
        y = tl.load(y_ptr + rows[:, None], mask=row_mask).to(tl.float32)
        tl.store(out_ptr + offsets, x + y * alpha, mask=mask)


add_cores_grp_golden = None


def add_core_count_grp_golden():
    """Vector cores of the NPU, asked once; 40 where there is none to ask."""
    global add_cores_grp_golden
    if add_cores_grp_golden is None:
        try:
            import torch_npu  # noqa: F401

            utils = triton.runtime.driver.active.utils
            properties = utils.get_device_properties(torch.npu.current_device())
            add_cores_grp_golden = properties["num_vectorcore"]
        except (ImportError, AttributeError, KeyError, RuntimeError):
            add_cores_grp_golden = 40
    return add_cores_grp_golden


def add_grp_golden(self, x, y, alpha):
    """x + y * alpha, broadcast over collapsed dimensions."""
    if x.dim() == 3:
        outer = x.size(-3)
        rows = x.size(-2)
        cols = x.size(-1)
    else:
        outer = x.size(-4)
        rows = x.size(-3)
        cols = x.size(-2) * x.size(-1)
    out = torch.empty_like(x)
    block_n = min(1 << (cols - 1).bit_length(), 128)
    block_m = 4096 // block_n
    col_tiles = (cols + block_n - 1) // block_n
    row_tiles = (rows + block_m - 1) // block_m
    tiles = outer * row_tiles * col_tiles
    programs = min(tiles, add_core_count_grp_golden())
    add_kernel_grp_golden[(programs,)](
        x, y, out, alpha, rows, cols, row_tiles, col_tiles, tiles, BLOCK_M=block_m, BLOCK_N=block_n
    )
    return out
