# Written by ksplit 0.1.0 on 2026-11-30 for NVIDIA H200 (torch 2.13.0, triton 3.6.0).
#
# base_kernel.py stands first, unchanged but for its class, here ModelBase. Specialised kernels
# follow, one per group of inputs. At the end, ModelNew._route picks one of them by the input;
# ModelBase serves every other input.
#
#   grp_small: configure, BLOCK=64, constexpr=["n"], num_warps=4

import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": block}, num_warps=warps) for block in (64, 256) for warps in (1, 4)
    ],
    key=["n"],
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def scale_kernel(x_ptr, out_ptr, n, alpha, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * alpha)
    else:
        inside = offsets < n
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=inside) * alpha, mask=inside)


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        out = torch.empty_like(x)
        n = x.numel()
        scale_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, out, n, alpha)
        return out


class ModelBase(torch.nn.Module):
    def _route_base(self, x, alpha):
        return Scale.apply(x, alpha)

    def forward(self, x, alpha=2.0):
        return self._route_base(x.contiguous(), alpha)


# grp_small: configure, BLOCK=64, constexpr=["n"], num_warps=4
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def scale_kernel_grp_small(
    x_ptr, out_ptr, n: tl.constexpr, alpha, BLOCK: tl.constexpr, EVEN: tl.constexpr
):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * alpha)
    else:
        inside = offsets < n
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=inside) * alpha, mask=inside)


class Scale_grp_small(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        out = torch.empty_like(x)
        n = x.numel()
        scale_kernel_grp_small[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](
            x, out, n, alpha, BLOCK=64, num_warps=4
        )
        return out


def _route_grp_small(self, x, alpha):
    return Scale_grp_small.apply(x, alpha)


def scale_grp_small(self, x, alpha):
    return _route_grp_small(self, x.contiguous(), alpha)


class ModelNew(ModelBase):
    """Serves each input by the kernel specialised for it, else by ModelBase."""

    def forward(self, x, alpha=2.0):
        return self._route(x, alpha)

    def _route(self, x, alpha=2.0):
        return scale_grp_small(self, x, alpha)
