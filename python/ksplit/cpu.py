# SPDX-License-Identifier: Apache-2.0
"""Triton kernels on the CPU, compiled to native code.

    import ksplit.cpu          # from here on, Triton's active driver is the CPU
    kernel[grid](x, y, n)      # with torch tensors on the CPU

Importing activates the backend; `deactivate()` gives Triton back to the driver of its own choice.
Nothing of a GPU is touched. `Unavailable` is raised where torch, a supported Triton, the native
library or a C++ compiler is missing; `CacheUnwritable` where compiled kernels could not be kept;
`Unsupported` by a kernel that uses what is not covered, with
the operation and its line; `KernelFault` by a launch that fails an assertion, or, with
KSPLIT_CPU_CHECK=1 in the environment or within `checked_access()`, touches memory outside the
tensors passed to it.
"""

from __future__ import annotations

from ksplit.cpu_backend.errors import CacheUnwritable, CompilerFailed, Unavailable

__all__ = [
    "CacheUnwritable",
    "CompilerFailed",
    "KernelFault",
    "Unavailable",
    "Unsupported",
    "activate",
    "checked_access",
    "deactivate",
]

_SUPPORTED = ((3, 4), (3, 5), (3, 6))


def _check_triton() -> None:
    try:
        import torch  # noqa: F401
        import triton
    except ImportError as error:
        raise Unavailable(f"the CPU backend needs torch and Triton: {error}") from error
    version = tuple(int(part) for part in triton.__version__.split(".")[:2])
    if version not in _SUPPORTED:
        names = ", ".join(f"{major}.{minor}" for major, minor in _SUPPORTED)
        raise Unavailable(f"the CPU backend supports Triton {names}, not {triton.__version__}")


_check_triton()

from ksplit.cpu_backend import library, toolchain  # noqa: E402

native = library.native()
toolchain.compiler()
toolchain.check_cache()
Unsupported = native.Unsupported
KernelFault = native.KernelFault

from ksplit.cpu_backend.access import checked_access  # noqa: E402
from ksplit.cpu_backend.compiler import CPUBackend  # noqa: E402
from ksplit.cpu_backend.driver import CPUDriver  # noqa: E402

_NAME = "ksplit_cpu"


def activate() -> None:
    """Makes the CPU Triton's active device in this process."""
    import torch
    from triton.backends import Backend, backends
    from triton.runtime import driver

    # Where the package is installed its entry point has registered it already.
    backends.setdefault(_NAME, Backend(compiler=CPUBackend, driver=CPUDriver))
    native.set_thread_count(torch.get_num_threads)
    driver.set_active(CPUDriver())


def deactivate() -> None:
    """Gives Triton back to its own choice; kernels compiled for the CPU can still be launched."""
    from triton.runtime import driver

    driver._active = None


activate()
