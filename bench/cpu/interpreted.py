# SPDX-License-Identifier: Apache-2.0
"""Times two kernels under Triton's interpreter and prints the seconds as JSON; speed.py runs it."""

from __future__ import annotations

import json
import time

from ksplit.interpreter import enable_interpreter

enable_interpreter()

import kernels  # noqa: E402
import torch  # noqa: E402

x, out = torch.randn(1024, 1024), torch.empty(1024, 1024)
begin = time.perf_counter()
kernels.softmax[(1024,)](x, out, 1024, B=1024)
softmax = time.perf_counter() - begin
assert torch.allclose(out, x.softmax(1), atol=1e-6)

x, out = torch.randn(1024, 4096), torch.empty(1024, 4096)
w, b = torch.randn(4096), torch.randn(4096)
begin = time.perf_counter()
kernels.layer_norm[(1024,)](x, w, b, out, 4096, 1e-5, B=4096)
layer_norm = time.perf_counter() - begin
assert torch.allclose(out, torch.layer_norm(x, [4096], w, b), atol=1e-4)
print(json.dumps({"softmax": softmax, "layer_norm": layer_norm}))
