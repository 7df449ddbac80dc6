# Written by ksplit 0.1.0 on 2026-11-30 for NVIDIA H200 (torch 2.13.0, triton 3.6.0).
#
# base_kernel.py stands first, unchanged but for its class, here ModelBase. Specialised kernels
# follow, one per group of inputs. At the end, ModelNew._route picks one of them by the input;
# ModelBase serves every other input.
#
#   grp_small: configure, relu_kernel.num_warps=2

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


class ModelBase(nn.Module):
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


# grp_small: configure, relu_kernel.num_warps=2
@triton.jit
def bias_relu_kernel_grp_small(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(out_ptr + offsets, x + y, mask=inside)


@triton.jit
def bias_relu_relu_kernel_grp_small(
    x_ptr,
    out_ptr,
    n,  # elements
    BLOCK: tl.constexpr,
):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    tl.store(out_ptr + offsets, clip(tl.load(x_ptr + offsets, mask=inside)), mask=inside)


def add_grp_small(x, y):
    out = torch.empty_like(x)
    n = x.numel()
    bias_relu_kernel_grp_small[grid_for(n)](x, y, out, n, BLOCK_SIZE)
    return out


def Relu_forward_grp_small(self, x):
    out = torch.empty_like(x)
    bias_relu_relu_kernel_grp_small[(triton.cdiv(x.numel(), 256),)](
        x,
        out,
        x.numel(),
        BLOCK=256,
        num_warps=2,
    )
    return out


def combine_grp_small(self, x, y):
    return add_grp_small(self.prepare(x), self.prepare(y))


def bias_relu_grp_small(self, x, y, *, activate):
    out = combine_grp_small(self, x, y)
    if activate:
        out = Relu_forward_grp_small(self.relu, out)
    return out


class ModelNew(ModelBase):
    """Serves each input by the kernel specialised for it, else by ModelBase."""

    def forward(self, x, y, *, activate=True):
        return self._route(x, y, activate=activate)

    def _route(self, x, y, *, activate=True):
        return bias_relu_grp_small(self, x, y, activate=activate)
