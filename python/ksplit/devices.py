# SPDX-License-Identifier: Apache-2.0
"""The device that kernels run on, and what executes them there."""

from __future__ import annotations

import importlib
import os
import platform
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from ksplit.interpreter import enable_interpreter
from ksplit.protocol import RequestError

# Written before a cold CPU sample: twice the last-level cache, or where that is a shared one of
# hundreds of MiB, which would take longer to overwrite than the kernels to run, what leaves every
# core's own caches.
_CPU_FLUSH_LIMIT = 16 << 20


class Device:
    """An opened device. `torch` and `triton` are imported when it is, never before."""

    def __init__(self, kind: str, index: int, executor: str, accelerator: ModuleType | None):
        import torch

        self.kind = kind  # "cpu", "gpu" or "npu"
        self.executor = executor  # "triton", "native-cpu" or "interpreter"
        self.accelerator = accelerator  # torch.cuda, torch.npu or None
        names = {"cpu": "cpu", "gpu": f"cuda:{index}", "npu": f"npu:{index}"}
        self.torch_device = torch.device(names[kind])
        self._index = index
        self._flush: Any = None

    def synchronize(self) -> None:
        if self.accelerator is not None:
            self.accelerator.synchronize()

    def flush_cache(self) -> None:
        """Writes a buffer that pushes earlier data out of the caches."""
        import torch

        if self._flush is None:
            size = 2 * self.l2_bytes()
            if self.kind == "cpu":
                size = min(size, _CPU_FLUSH_LIMIT)
            self._flush = torch.empty(size // 4, dtype=torch.int32, device=self.torch_device)
        self._flush.zero_()

    def l2_bytes(self) -> int:
        """The last-level cache."""
        if self.kind == "cpu":
            return _cpu_cache_bytes()
        # torch_npu does not say; no Ascend 910 has more than 192 MiB.
        return int(getattr(self._properties(), "L2_cache_size", 192 << 20))

    def memory_bytes(self) -> int:
        if self.kind == "cpu":
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return int(self._properties().total_memory)

    def describe(self) -> dict[str, Any]:
        """The `device` of a `hello` answer."""
        if self.kind == "cpu":
            return {
                "kind": "cpu",
                "name": _cpu_name(),
                "cores": len(os.sched_getaffinity(0)),
                "l2_bytes": self.l2_bytes(),
                "driver": "",
                "capability": None,
            }
        properties = self._properties()
        cores = getattr(properties, "multi_processor_count", None)
        if cores is None:
            cores = getattr(properties, "vector_core_num", 40)
        is_gpu = self.kind == "gpu"
        return {
            "kind": self.kind,
            "name": properties.name,
            "cores": int(cores),
            "l2_bytes": self.l2_bytes(),
            "driver": _cuda_driver() if is_gpu else "",
            "capability": [properties.major, properties.minor] if is_gpu else None,
        }

    def _properties(self) -> Any:
        assert self.accelerator is not None
        return self.accelerator.get_device_properties(self._index)


def open_device(name: str) -> Device:
    """Opens `cpu`, `cuda[:N]`, `npu[:N]`, or by `auto` a GPU where torch sees one, else the CPU.

    What is missing is an `environment` error.
    """
    if name == "auto":
        name = "cuda" if _require("torch").cuda.is_available() else "cpu"
    kind, _, index_text = name.partition(":")
    if kind not in ("cpu", "cuda", "npu") or (index_text and not index_text.isdigit()):
        raise RequestError("environment", f"no device is called {name!r}: use cpu, cuda:N or npu:N")
    index = int(index_text or 0)
    torch = _require("torch")
    if kind == "cpu":
        executor = _open_cpu_executor()
        return Device("cpu", 0, executor, None)
    if kind == "npu":
        _require("torch_npu")
        accelerator = torch.npu
    else:
        accelerator = torch.cuda
    if not accelerator.is_available():
        raise RequestError(
            "environment",
            f"torch {torch.__version__} sees no {kind} device; check the driver and that torch is "
            f"built for it, or use --device cpu",
        )
    if index >= accelerator.device_count():
        raise RequestError(
            "environment", f"there is no {name}: {accelerator.device_count()} devices are visible"
        )
    _require("triton")
    accelerator.set_device(index)
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    return Device("gpu" if kind == "cuda" else "npu", index, "triton", accelerator)


def _open_cpu_executor() -> str:
    """Starts ksplit's CPU backend, or else Triton's interpreter."""
    if os.environ.get("KSPLIT_CPU") != "interpreter":
        try:
            importlib.import_module("ksplit.cpu")
            return "native-cpu"
        except OSError:
            raise  # a cache that cannot be written: the user's to mend
        except Exception as error:  # noqa: BLE001
            # It is absent, or says why it cannot run here.
            print(f"ksplit.cpu: {error}; using Triton's interpreter", file=sys.stderr, flush=True)
            # Triton decides at import whether its library is interpreted.
            if "triton" in sys.modules:
                os.environ["KSPLIT_CPU"] = "interpreter"
                arguments = [sys.executable, "-m", "ksplit.worker", *sys.argv[1:]]
                os.execv(sys.executable, arguments)
    try:
        enable_interpreter()
    except ImportError as error:
        raise _not_importable("triton", error) from error
    return "interpreter"


def _require(package: str) -> ModuleType:
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise _not_importable(package, error) from error


def _not_importable(package: str, error: ImportError) -> RequestError:
    return RequestError(
        "environment",
        f"{package} cannot be imported by {sys.executable}: {error}; install it with "
        f"`{sys.executable} -m pip install {package}` or name another interpreter with --python",
    )


@contextmanager
def poisoned_memory() -> Iterator[None]:
    """Fills what torch allocates with NaN (integers: the largest value).

    The allocator hands freed blocks out again with their old contents. Without this a kernel that
    writes nothing could return the answer that an earlier, right kernel left behind.
    """
    import torch

    before = torch.are_deterministic_algorithms_enabled()
    warn_before = torch.is_deterministic_algorithms_warn_only_enabled()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.use_deterministic_algorithms(True, warn_only=True)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(before, warn_only=warn_before)


def _cpu_name() -> str:
    try:
        match = re.search(
            r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE
        )
    except OSError:
        match = None
    return match.group(1).strip() if match else platform.processor() or platform.machine()


def _cpu_cache_bytes() -> int:
    sizes = [
        int(path.read_text().strip().rstrip("K")) << 10
        for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")
    ]
    return max(sizes, default=32 << 20)


def _cuda_driver() -> str:
    try:
        text = Path("/proc/driver/nvidia/version").read_text()
    except OSError:
        text = ""
    match = re.search(r"Kernel Module.*?\s(\d+(?:\.\d+)+)", text)
    return match.group(1) if match else ""
