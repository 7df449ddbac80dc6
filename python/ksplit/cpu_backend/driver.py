# SPDX-License-Identifier: Apache-2.0
"""The driver half of the backend: devices, loading and launching."""

from __future__ import annotations

import re
import tempfile
import time
from typing import Any, Callable, Sequence

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from ksplit.cpu_backend import access, library
from ksplit.cpu_backend.compiler import ARCHITECTURE, TARGET

# More than any kernel asks for; what Triton checks against has no counterpart here.
_NO_LIMIT = 2**31 - 1


class _Utils:
    """What Triton's compiled-kernel object asks of a driver."""

    def load_binary(self, name: str, kernel: bytes, shared: int, device: int) -> tuple[Any, ...]:
        with tempfile.NamedTemporaryFile(prefix=f"ksplit-{name[:60]}-", suffix=".so") as file:
            file.write(kernel)
            file.flush()
            function = library.native().load(file.name)
        # Triton loads anew on every launch until the module, the first value, is something.
        return function, function, 0, 0, _NO_LIMIT

    def get_device_properties(self, device: int) -> dict[str, int]:
        import torch

        return {
            "max_shared_mem": _NO_LIMIT,
            "multiprocessor_count": torch.get_num_threads(),
            "max_num_regs": _NO_LIMIT,
            "warpSize": 1,
        }


class _Event:
    """A point in time, with the interface of torch.cuda.Event; everything here is synchronous."""

    def __init__(self, enable_timing: bool = True) -> None:
        self.time = 0.0

    def record(self) -> None:
        self.time = time.perf_counter()

    def elapsed_time(self, later: _Event) -> float:
        return max((later.time - self.time) * 1e3, 1e-6)


class _Device:
    """The part of torch.cuda that triton.testing uses."""

    Event = _Event

    @staticmethod
    def synchronize() -> None:
        pass


def _is_compound(kind: Any) -> bool:
    return isinstance(kind, tuple) or kind.startswith("tensordesc")


def _flat_types(kind: Any) -> list[str]:
    """The native arguments that one of the kernel's stands for."""
    if isinstance(kind, tuple):
        return [flat for item in kind for flat in _flat_types(item)]
    if kind.startswith("tensordesc"):
        dtype, shape = re.match(r"tensordesc<([^\[>]*)\[([^\]]*)\]", kind).groups()
        rank = shape.count(",") + 1
        # Triton lowers a descriptor to its parts, then shape and strides again.
        return ["*" + dtype, *["i64"] * 2 * rank, "i1", *["i32"] * rank, *["i64"] * rank]
    return [kind]


def _flat_values(kind: Any, value: Any) -> list[Any]:
    if isinstance(kind, tuple):
        return [flat for item, part in zip(kind, value) for flat in _flat_values(item, part)]
    if kind.startswith("tensordesc"):
        nan = getattr(value, "padding", "zero") == "nan"
        parts = [*value.shape, *value.strides]
        return [value.base, *parts, nan, *parts]
    return [value]


def make_launcher(src: Any, metadata: Any) -> Callable[..., None]:
    """The callable that CompiledKernel.run is: grid, stream, function, metadata and hooks, then the
    kernel's arguments. For plain kernels it is native all the way."""
    kinds = list(src.signature.values())
    flat = [flat for kind in kinds for flat in _flat_types(kind)]
    launch = library.native().launcher(metadata.name, flat)
    if not any(_is_compound(kind) for kind in kinds):
        return launch

    def launch_compound(*args: Any) -> None:
        values = [flat for kind, arg in zip(kinds, args[9:]) for flat in _flat_values(kind, arg)]
        launch(*args[:9], *values)

    return launch_compound


class CPUDriver(DriverBase):
    """Triton's view of the CPU as a device, with one stream, 0. Its number is access.py's."""

    launcher_cls = staticmethod(make_launcher)

    def __init__(self) -> None:
        super().__init__()
        self.utils = _Utils()
        self.get_current_device = access.current_device
        self.set_current_device = lambda device: None
        self.get_current_stream = lambda device: 0
        self._target = GPUTarget(TARGET, ARCHITECTURE, 1)

    @classmethod
    def is_active(cls) -> bool:
        """Whether Triton should choose this driver by itself: never, it is set explicitly."""
        return False

    def map_python_to_cpp_type(self, kind: str) -> str:
        names = {"fp16": "f16", "bf16": "bf16", "fp32": "float", "f32": "float", "fp64": "double"}
        if kind.startswith("*"):
            return "void*"
        return names.get(kind) or re.sub(r"^([iu])(\d+)$", r"\1nt\2_t", kind)

    def get_current_target(self) -> GPUTarget:
        return self._target

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_device_interface(self) -> type[_Device]:
        return _Device

    def get_benchmarker(self) -> Callable[..., Any]:
        from triton.testing import do_bench

        def benchmark(
            call: Callable[[], Any], *, quantiles: Sequence[float], **options: Any
        ) -> Any:
            return do_bench(call, quantiles=quantiles, **options)

        return benchmark

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        return torch.empty(32 * 2**20, dtype=torch.int8)

    def clear_cache(self, cache: Any) -> None:
        cache.zero_()
