# Written by ksplit 0.1.0 on 2026-12-01 for NVIDIA H200 (torch 2.11.0+cu130, triton 3.6.0, driver
# 580.159.04).
#
# base_kernel.py stands first, unchanged but for its class, here ModelBase. Specialised kernels
# follow, one per group of inputs. At the end, ModelNew._route picks one of them by the input;
# ModelBase serves every other input.
#
#   cs_grp_small_shape: 2 of 12 cases, 1.08x the generic kernel
#   cs_grp_unaligned_a: 2 of 12 cases, 1.07x the generic kernel
#   cs_grp_unaligned_b: 2 of 12 cases, 1.03x the generic kernel
#   cs_grp_unaligned_c: 3 of 12 cases, 1.56x the generic kernel

# SPDX-License-Identifier: Apache-2.0
"""Generic cumulative sum: one program per row, block after block with a carry."""

import torch
import triton
import triton.language as tl
from torch import nn


@triton.jit
def cumsum_kernel(x_ptr, out_ptr, length, inner_size, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    row = (pid // inner_size) * length * inner_size + pid % inner_size
    carry = 0.0
    for begin in range(0, length, BLOCK):
        index = begin + tl.arange(0, BLOCK)
        mask = index < length
        place = row + index * inner_size
        value = tl.load(x_ptr + place, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + place, tl.cumsum(value, axis=0) + carry, mask=mask)
        carry += tl.sum(value, axis=0)


class ModelBase(nn.Module):
    def forward(self, x, dim):
        if dim < 0:
            dim += x.dim()
        x = x.contiguous()
        out = torch.empty_like(x)
        length = x.shape[dim]
        inner_size = 1
        for size in x.shape[dim + 1 :]:
            inner_size *= size
        if x.numel() > 0:
            rows = x.numel() // length
            cumsum_kernel[(rows,)](x, out, length, inner_size, BLOCK=1024)
        return out


# grp_small_shape: configure, BLOCK=512
@triton.jit
def cs_kernel_grp_small_shape(x_ptr, out_ptr, length, inner_size, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    row = (pid // inner_size) * length * inner_size + pid % inner_size
    carry = 0.0
    for begin in range(0, length, BLOCK):
        index = begin + tl.arange(0, BLOCK)
        mask = index < length
        place = row + index * inner_size
        value = tl.load(x_ptr + place, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + place, tl.cumsum(value, axis=0) + carry, mask=mask)
        carry += tl.sum(value, axis=0)


def cs_grp_small_shape(self, x, dim):
    if dim < 0:
        dim += x.dim()
    x = x.contiguous()
    out = torch.empty_like(x)
    length = x.shape[dim]
    inner_size = 1
    for size in x.shape[dim + 1 :]:
        inner_size *= size
    if x.numel() > 0:
        rows = x.numel() // length
        cs_kernel_grp_small_shape[(rows,)](x, out, length, inner_size, BLOCK=512)
    return out


# grp_unaligned_a: configure, BLOCK=512
@triton.jit
def cs_kernel_grp_unaligned_a(x_ptr, out_ptr, length, inner_size, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    row = (pid // inner_size) * length * inner_size + pid % inner_size
    carry = 0.0
    for begin in range(0, length, BLOCK):
        index = begin + tl.arange(0, BLOCK)
        mask = index < length
        place = row + index * inner_size
        value = tl.load(x_ptr + place, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + place, tl.cumsum(value, axis=0) + carry, mask=mask)
        carry += tl.sum(value, axis=0)


def cs_grp_unaligned_a(self, x, dim):
    if dim < 0:
        dim += x.dim()
    x = x.contiguous()
    out = torch.empty_like(x)
    length = x.shape[dim]
    inner_size = 1
    for size in x.shape[dim + 1 :]:
        inner_size *= size
    if x.numel() > 0:
        rows = x.numel() // length
        cs_kernel_grp_unaligned_a[(rows,)](x, out, length, inner_size, BLOCK=512)
    return out


# grp_unaligned_b: configure, num_warps=8
@triton.jit
def cs_kernel_grp_unaligned_b(x_ptr, out_ptr, length, inner_size, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    row = (pid // inner_size) * length * inner_size + pid % inner_size
    carry = 0.0
    for begin in range(0, length, BLOCK):
        index = begin + tl.arange(0, BLOCK)
        mask = index < length
        place = row + index * inner_size
        value = tl.load(x_ptr + place, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + place, tl.cumsum(value, axis=0) + carry, mask=mask)
        carry += tl.sum(value, axis=0)


def cs_grp_unaligned_b(self, x, dim):
    if dim < 0:
        dim += x.dim()
    x = x.contiguous()
    out = torch.empty_like(x)
    length = x.shape[dim]
    inner_size = 1
    for size in x.shape[dim + 1 :]:
        inner_size *= size
    if x.numel() > 0:
        rows = x.numel() // length
        cs_kernel_grp_unaligned_b[(rows,)](x, out, length, inner_size, BLOCK=1024, num_warps=8)
    return out


# grp_unaligned_c: configure, BLOCK=4096
@triton.jit
def cs_kernel_grp_unaligned_c(x_ptr, out_ptr, length, inner_size, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    row = (pid // inner_size) * length * inner_size + pid % inner_size
    carry = 0.0
    for begin in range(0, length, BLOCK):
        index = begin + tl.arange(0, BLOCK)
        mask = index < length
        place = row + index * inner_size
        value = tl.load(x_ptr + place, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + place, tl.cumsum(value, axis=0) + carry, mask=mask)
        carry += tl.sum(value, axis=0)


def cs_grp_unaligned_c(self, x, dim):
    if dim < 0:
        dim += x.dim()
    x = x.contiguous()
    out = torch.empty_like(x)
    length = x.shape[dim]
    inner_size = 1
    for size in x.shape[dim + 1 :]:
        inner_size *= size
    if x.numel() > 0:
        rows = x.numel() // length
        cs_kernel_grp_unaligned_c[(rows,)](x, out, length, inner_size, BLOCK=4096)
    return out


class ModelNew(ModelBase):
    """Serves each input by the kernel specialised for it, else by ModelBase."""

    def forward(self, x, dim):
        return self._route(x, dim)

    def _route(self, x, dim):
        if type(x) is torch.Tensor and not x.requires_grad:
            x_shape = x.shape
            x_dim = len(x_shape)
            x_dtype = x.dtype
            x_numel = x.numel()
            if (
                x_dim in (2, 3, 4)
                and type(dim) is int
                and -x_dim <= dim < x_dim
                and x_dtype in (torch.bfloat16, torch.float16, torch.float32)
            ):
                x_size_dim = x_shape[dim]
                if 4096 <= x_size_dim <= 20000 and 40000 <= x_numel <= 80000:
                    return cs_grp_unaligned_c(self, x, dim)
                if 64 <= x_size_dim <= 128 and x_numel == 3072:
                    return cs_grp_unaligned_a(self, x, dim)
                if 700 <= x_size_dim <= 777 and 9324 <= x_numel <= 16800:
                    return cs_grp_unaligned_b(self, x, dim)
            if (
                x_dim in (1, 3)
                and x_dtype in (torch.float16, torch.float32)
                and 500 <= x_numel <= 600
            ):
                return cs_grp_small_shape(self, x, dim)
        return super().forward(x, dim)
