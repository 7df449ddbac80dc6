# SPDX-License-Identifier: Apache-2.0
"""The `ttir` operation: Triton IR of the kernels that a case launches, for any target."""

from __future__ import annotations

from typing import Any

from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler.compiler import make_backend

from ksplit.loading import Implementation
from ksplit.protocol import RequestError
from ksplit.task import Task
from ksplit.tracing import compiled_for, definition_line

# Lanes that run in step: no target of Triton's IR depends on more of a GPU than this.
_WARP_SIZE = {"cuda": 32, "hip": 64}


def ttir(
    task: Task, implementation: Implementation, case: int, target: str | None
) -> dict[str, Any]:
    if task.device.executor == "interpreter":
        return {"kernels": []}
    kernels = []
    for function, kernel in compiled_for(task, implementation, case):
        if hasattr(kernel, "result"):
            kernel = kernel.result()
        text = kernel.asm["ttir"] if target is None else _lowered(kernel.src, _parsed(target))
        name, line = function.__name__, definition_line(function)
        kernels.append({"name": name, "line": line, "ttir": text})
    return {"kernels": kernels}


def _parsed(target: str) -> GPUTarget:
    """`cuda:90` or `hip:gfx942`; no such device need be present."""
    backend, _, arch = target.partition(":")
    if backend not in _WARP_SIZE or not arch:
        raise RequestError(
            "unsupported", f"no target is called {target!r}: use cuda:90, hip:gfx942"
        )
    return GPUTarget(backend, int(arch) if arch.isdigit() else arch, _WARP_SIZE[backend])


def _lowered(source: Any, target: GPUTarget) -> str:
    """The kernel's source through Triton's frontend and the target's own first stage."""
    backend = make_backend(target)
    options = backend.parse_options({})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    functions = backend.get_codegen_implementation(options)
    modules = backend.get_module_map()
    stages: dict[str, Any] = {}
    try:
        module = source.make_ir(target, options, functions, modules, context)
        backend.add_stages(stages, options, source.language)
    except (TypeError, AttributeError):  # before 3.5 neither was an argument
        module = source.make_ir(options, functions, modules, context)
        backend.add_stages(stages, options)
    return str(stages["ttir"](module, {}))
