# SPDX-License-Identifier: Apache-2.0
"""Generic broadcasting x + alpha * y, up to four dimensions."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def add_kernel(
    x_ptr, y_ptr, out_ptr, alpha, numel,
    size1, size2, size3,
    x_stride0, x_stride1, x_stride2, x_stride3,
    y_stride0, y_stride1, y_stride2, y_stride3,
    BLOCK: tl.constexpr,
):  # fmt: skip
    offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offset < numel
    i3 = offset % size3
    rest = offset // size3
    i2 = rest % size2
    rest = rest // size2
    i1 = rest % size1
    i0 = rest // size1
    x_offset = i0 * x_stride0 + i1 * x_stride1 + i2 * x_stride2 + i3 * x_stride3
    y_offset = i0 * y_stride0 + i1 * y_stride1 + i2 * y_stride2 + i3 * y_stride3
    x = tl.load(x_ptr + x_offset, mask=mask).to(tl.float32)
    y = tl.load(y_ptr + y_offset, mask=mask).to(tl.float32)
    tl.store(out_ptr + offset, x + alpha * y, mask=mask)


class ModelNew(nn.Module):
    def forward(self, x, y, alpha=1.0):
        shape = torch.broadcast_shapes(x.shape, y.shape)
        if len(shape) > 4:
            raise ValueError(f"at most four dimensions, got {len(shape)}")
        out = torch.empty(shape, dtype=torch.result_type(x, y), device=x.device)
        numel = out.numel()
        if numel == 0:
            return out
        sizes = [1] * (4 - len(shape)) + list(shape)
        x_strides = x.expand(sizes).stride()
        y_strides = y.expand(sizes).stride()
        BLOCK = 1024
        grid = (triton.cdiv(numel, BLOCK),)
        add_kernel[grid](x, y, out, alpha, numel, *sizes[1:], *x_strides, *y_strides, BLOCK=BLOCK)
        return out
