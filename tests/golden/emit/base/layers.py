# Adds a bias and applies ReLU: helpers, a submodule, two kernels, a module-level block size.
import torch
import torch.nn as nn
import triton
import triton.language as tl

BLOCK_SIZE = 128


@triton.jit
def clip(value):
    return tl.maximum(value, 0.0)


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, x + y, mask=inside)


@triton.jit
def relu_kernel(
    x_ptr,
    out_ptr,
    n,  # elements
    BLOCK: tl.constexpr,
):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(out_ptr + offsets, clip(tl.load(x_ptr + offsets, mask=inside)), mask=inside)


def grid_for(n):
    return (triton.cdiv(n, BLOCK_SIZE),)


def add(x, y):
    out = torch.empty_like(x)
    n = x.numel()
    add_kernel[grid_for(n)](x, y, out, n, BLOCK_SIZE)
    return out


class Relu(nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        relu_kernel[(triton.cdiv(x.numel(), 256),)](
            x,
            out,
            x.numel(),
            BLOCK=256,
        )
        return out


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.relu = Relu()

    @staticmethod
    def prepare(x):
        return x.contiguous()

    def combine(self, x, y):
        return add(self.prepare(x), self.prepare(y))

    def forward(self, x, y, *, activate=True):
        out = self.combine(x, y)
        if activate:
            out = self.relu(out)
        return out
