# SPDX-License-Identifier: Apache-2.0
"""Sizes and strides passed with `*`, kernels under `if`, arguments that are None."""

import torch
import triton
import triton.language as tl

op_name = "add"

if hasattr(tl, "load"):

    @triton.jit(do_not_specialize=["numel", 4])
    def add_kernel(
        x_ptr, y_ptr, out_ptr,  # pointers
        numel, size1, x_stride0, x_stride1, y_stride0, y_stride1,
        BLOCK: tl.constexpr,
    ):  # fmt: skip
        offset = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = offset < numel
        i1 = offset % size1
        i0 = offset // size1
        x = tl.load(x_ptr + i0 * x_stride0 + i1 * x_stride1, mask=mask)
        if y_ptr is not None:
            x += tl.load(y_ptr + i0 * y_stride0 + i1 * y_stride1, mask=mask)
        tl.store(out_ptr + offset, x, mask=mask)


class ModelNew(torch.nn.Module):
    def forward(self, x, y=None):
        shape = x.shape if y is None else torch.broadcast_shapes(x.shape, y.shape)
        out = torch.empty(shape, dtype=x.dtype)
        numel = out.numel()
        x_strides = x.expand(shape).stride()
        y_strides = (0, 0) if y is None else y.expand(shape).stride()
        BLOCK = 128
        grid = (triton.cdiv(numel, BLOCK),)
        add_kernel[grid](x, y, out, numel, shape[1], *x_strides, *y_strides, BLOCK=BLOCK)
        return out


class Model(torch.nn.Module):
    def forward(self, x, y=None):
        return x.clone() if y is None else x + y


def get_init_inputs():
    return []


def get_input_groups():
    return [
        [torch.randn(9, 20), torch.randn(9, 20)],
        [torch.randn(9, 20), torch.randn(1, 20)],
        [torch.randn(9, 20), None],
    ]
