"""Sum over the last axis, one program per row."""

from __future__ import annotations

import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n_cols", "scale"])
def row_sum(x_ptr, out_ptr, n_cols, stride, scale, BLOCK: tl.constexpr):
    # One row a program.
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n_cols, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * stride + offsets, mask=offsets < n_cols, other=0.0)
    tl.store(out_ptr + row, tl.sum(total) * scale)


class ModelNew(nn.Module):
    SCALE = 1.0

    def __init__(self):
        super().__init__()

    def forward(self, x: torch.Tensor, scale: float = SCALE) -> torch.Tensor:
        """Sums x over its last axis."""
        rows = x.reshape(-1, x.shape[-1]).contiguous()
        out = torch.empty(rows.shape[0], device=x.device, dtype=torch.float32)
        BLOCK = 64  # elements a step
        row_sum[(rows.shape[0],)](rows, out, rows.shape[1], rows.stride(0), scale, BLOCK=BLOCK)
        return out.reshape(x.shape[:-1])


if __name__ == "__main__":
    print(ModelNew()(torch.ones(4, 100)))
