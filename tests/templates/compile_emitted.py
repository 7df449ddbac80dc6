# SPDX-License-Identifier: Apache-2.0
"""Compiles what emitted host functions launch, for a GPU that need not be here.

Reads {"file", "host", "arguments"} a line from standard input; writes an error or an empty line
for each. A process of its own, since the interpreter must be off.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction

TARGET = GPUTarget("cuda", 90, 32)
TYPES = {torch.float32: "*fp32", torch.float16: "*fp16", torch.bfloat16: "*bf16"}


def run(kernel: JITFunction, *args: Any, grid: Any, warmup: bool, **options: Any) -> None:
    """Stands in for a launch: compiles for the arguments' types, as the JIT would."""
    names = kernel.arg_names
    values = {**dict(zip(names, args)), **{k: v for k, v in options.items() if k in names}}
    signature, constants = {}, {}
    for parameter in kernel.params:
        value = values[parameter.name]
        if parameter.is_constexpr or (type(value) is int and value == 1):
            signature[parameter.name] = "constexpr"
            constants[parameter.name] = value
        elif isinstance(value, torch.Tensor):
            signature[parameter.name] = TYPES[value.dtype]
        else:
            signature[parameter.name] = "fp32" if isinstance(value, float) else "i32"
    source = ASTSource(kernel, signature, constants, {})
    triton.compile(source, target=TARGET, options={"num_warps": options.get("num_warps", 4)})


def tensor(value: Any) -> Any:
    if isinstance(value, dict):
        return torch.zeros(value["shape"], dtype=getattr(torch, value["dtype"]))
    return value


def main() -> None:
    JITFunction.run = run
    for line in sys.stdin:
        request = json.loads(line)
        spec = importlib.util.spec_from_file_location("emitted", request["file"])
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        try:
            getattr(module, request["host"])(None, *map(tensor, request["arguments"]))
            print(json.dumps(""), flush=True)
        except Exception as error:  # noqa: BLE001 - whatever the compiler raises is the answer
            print(json.dumps(f"{type(error).__name__}: {error}"), flush=True)


main()
