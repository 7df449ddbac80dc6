# SPDX-License-Identifier: Apache-2.0
"""The compiler half of the backend: Triton IR -> C++ -> shared library."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass, fields
from types import ModuleType
from typing import Any

from triton._C.libtriton import ir, passes
from triton.backends.compiler import BaseBackend, GPUTarget

from ksplit.cpu_backend import access, library, toolchain

# Of other backends for a CPU, the architecture tells this one.
TARGET = "cpu"
ARCHITECTURE = "native"
_FP8 = ("fp8e4b8", "fp8e4nv", "fp8e5", "fp8e5b16")  # fp8e4b15 has no type in the IR


@dataclass(frozen=True)
class CPUOptions:
    """What a launch may say, and what Triton's frontend reads. Those of a GPU have no effect."""

    num_warps: int = 4
    num_ctas: int = 1
    num_stages: int = 3
    warp_size: int = 1
    maxnreg: int | None = None
    cluster_dims: tuple[int, ...] = (1, 1, 1)
    ir_override: str | None = None
    enable_fp_fusion: bool = True
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    supported_fp8_dtypes: tuple[str, ...] = _FP8
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    deprecated_fp8_dtypes: tuple[str, ...] = ()
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = (
        "ieee", "tf32", "tf32x3", "bf16x3", "bf16x6",
    )  # fmt: skip
    max_num_imprecise_acc_default: int = 0
    extern_libs: tuple[tuple[str, str], ...] = ()
    debug: bool = False
    sanitize_overflow: bool = False
    arch: str = ARCHITECTURE
    instrumentation_mode: str = ""
    backend_name: str = TARGET
    check_access: bool = False

    def hash(self) -> str:
        parts = [f"{field.name}={getattr(self, field.name)}" for field in fields(self)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _convert_custom_types(value: Any, to: Any, rounding: Any, _semantic: Any) -> Any:
    import triton.language as tl

    builder = _semantic.builder
    handle = builder.create_fp_to_fp(value.handle, to.to_ir(builder), rounding)
    return tl.tensor(handle, to)


class CPUBackend(BaseBackend):
    """Triton's view of the CPU as a target."""

    binary_ext = "so"
    instrumentation = None

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == TARGET and target.arch == ARCHITECTURE

    @functools.cache  # noqa: B019  Triton keeps one instance for the whole process
    def hash(self) -> str:
        parts = [library.identity(), toolchain.identity()]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def parse_options(self, options: dict[str, Any]) -> CPUOptions:
        known = {field.name for field in fields(CPUOptions)} - {
            "extern_libs",
            "arch",
            "check_access",
        }
        given = {
            name: options[name] for name in known & options.keys() if options[name] is not None
        }
        given["check_access"] = access.is_checked()
        return CPUOptions(**given)

    def pack_metadata(self, metadata: Any) -> tuple[int, ...]:
        return (metadata.num_warps, metadata.num_ctas, metadata.shared)

    def get_codegen_implementation(self, options: CPUOptions) -> dict[str, Any]:
        return {
            "convert_custom_types": _convert_custom_types,
            "min_dot_size": lambda lhs, rhs: (1, 1, 1),
        }

    def get_module_map(self) -> dict[str, ModuleType]:
        # CUDA's names of the elementary functions; the generator knows them.
        from triton.language.extra.cuda import libdevice

        return {"triton.language.extra.libdevice": libdevice}

    def load_dialects(self, context: Any) -> None:
        pass

    def add_stages(self, stages: dict[str, Any], options: CPUOptions, language: Any = None) -> None:
        if language is not None and getattr(language, "name", "TRITON") != "TRITON":
            raise library.native().Unsupported("the CPU backend does not cover Gluon kernels")
        stages["ttir"] = lambda module, metadata: _make_ttir(module)
        stages["cpp"] = lambda module, metadata: _make_cpp(module, metadata, options)
        stages["so"] = lambda source, metadata: toolchain.build(
            source, metadata["name"], options.enable_fp_fusion
        )


def _make_ttir(module: Any) -> Any:
    manager = ir.pass_manager(module.context)
    manager.enable_debug()
    passes.common.add_inliner(manager)
    passes.ttir.add_rewrite_tensor_pointer(manager)
    passes.ttir.add_rewrite_tensor_descriptor_to_pointer(manager)
    passes.common.add_canonicalizer(manager)
    passes.ttir.add_combine(manager)
    passes.ttir.add_reorder_broadcast(manager)
    passes.common.add_cse(manager)
    passes.ttir.add_triton_licm(manager)
    passes.common.add_symbol_dce(manager)
    passes.ttir.add_loop_unroll(manager)
    passes.common.add_canonicalizer(manager)
    passes.common.add_cse(manager)
    try:
        manager.run(module, "make_ttir")
    except TypeError:  # before 3.6
        manager.run(module)
    return module


def _make_cpp(module: Any, metadata: dict[str, Any], options: CPUOptions) -> str:
    metadata["name"] = module.get_entry_func_name()
    metadata["shared"] = 0
    return library.native().generate(str(module), options.check_access)
