# SPDX-License-Identifier: Apache-2.0
"""Two kernels, parameters of the model, a float argument, a device function with a scalar."""

import torch
import torch.nn as nn
import triton
import triton.language as tl

op_name = "layer_norm"


@triton.jit
def mean_of(total, count):
    return total / count


@triton.jit
def stats_kernel(x_ptr, mean_ptr, rstd_ptr, stride, N, eps, BLOCK: tl.constexpr = 32):
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * stride
    total = tl.zeros([BLOCK], tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + cols, mask=cols < N, other=0.0)
    mean = mean_of(tl.sum(total, axis=0), N)
    total = tl.zeros([BLOCK], tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < N, other=0.0)
        total += tl.where(cols < N, (x - mean) * (x - mean), 0.0)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, 1 / tl.sqrt(mean_of(tl.sum(total, axis=0), N) + eps))


@triton.jit
def apply_kernel(
    x_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, out_ptr, N, HAS_BIAS, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = cols < N
    x = tl.load(x_ptr + row * N + cols, mask=mask)
    y = (x - tl.load(mean_ptr + row)) * tl.load(rstd_ptr + row) * tl.load(w_ptr + cols, mask=mask)
    if HAS_BIAS:
        y += tl.load(b_ptr + cols, mask=mask)
    tl.store(out_ptr + row * N + cols, y, mask=mask)


class ModelNew(nn.Module):
    tile = 16

    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(0.5, 1.5, size))
        self.bias = nn.Parameter(torch.linspace(-1, 1, size))
        self.eps = 1e-5

    def _stats(self, rows):
        mean = torch.empty(rows.shape[0])
        rstd = torch.empty_like(mean)
        stats_kernel[(rows.shape[0],)](rows, mean, rstd, rows.stride(0), rows.shape[1], self.eps)
        return mean, rstd

    def _grid(self, rows):
        return rows.shape[0], triton.cdiv(rows.shape[1], self.tile)

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        mean, rstd = self._stats(rows)
        out = torch.empty_like(rows)
        apply_kernel[self._grid(rows)](
            rows, self.weight, self.bias, mean, rstd, out, rows.shape[1], 1, self.tile
        )
        return out.view_as(x)


class Model(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(0.5, 1.5, size))
        self.bias = nn.Parameter(torch.linspace(-1, 1, size))

    def forward(self, x):
        return nn.functional.layer_norm(x, x.shape[-1:], self.weight, self.bias)


def get_init_inputs():
    return [40]


def get_input_groups():
    return [[torch.randn(5, 40)], [torch.randn(2, 3, 40)]]
