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


class ModelNew(torch.nn.Module):
    def _route(self, x, alpha):
        return Scale.apply(x, alpha)

    def forward(self, x, alpha=2.0):
        return self._route(x.contiguous(), alpha)
