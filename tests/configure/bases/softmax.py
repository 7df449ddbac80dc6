# SPDX-License-Identifier: Apache-2.0
"""One block covers the row; block and warps are computed on the host."""

import torch
import triton
import triton.language as tl

op_name = "softmax"


@triton.jit
def softmax_kernel(out_ptr, in_ptr, in_stride, out_stride, n_cols, BLOCK_SIZE: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE)
    x = tl.load(in_ptr + row * in_stride + cols, mask=cols < n_cols, other=-float("inf"))
    x = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * out_stride + cols, x / tl.sum(x, axis=0), mask=cols < n_cols)


def softmax(x):
    n_rows, n_cols = x.shape
    BLOCK_SIZE = triton.next_power_of_2(n_cols)
    num_warps = 4
    if BLOCK_SIZE >= 2048:
        num_warps = 8
    y = torch.empty_like(x)
    softmax_kernel[(n_rows, 1, 1)](
        y, x, x.stride(0), y.stride(0), n_cols, BLOCK_SIZE=BLOCK_SIZE, num_warps=num_warps
    )
    return y


class ModelNew(torch.nn.Module):
    @torch.no_grad()
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return softmax(x)


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)


def get_init_inputs():
    return []


def get_input_groups():
    return [[torch.randn(rows, 50)] for rows in (3, 8)]
