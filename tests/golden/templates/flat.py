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
#   and x.shape == y.shape
import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel_grp_golden(x_ptr, y_ptr, out_ptr, alpha, n_elements, BLOCK_SIZE: tl.constexpr):
    """One block of x + y * alpha, contiguous and flat."""
    tile = tl.program_id(0)
    offsets = tile * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(out_ptr + offsets, x + y * alpha, mask=mask)


def add_grp_golden(self, x, y, alpha):
    """x + y * alpha, in memory order."""
    out = torch.empty_like(x)
    n = out.numel()
    add_kernel_grp_golden[((n + 255) // 256,)](x, y, out, alpha, n, BLOCK_SIZE=256, num_warps=1)
    return out
