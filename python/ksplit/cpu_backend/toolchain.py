# SPDX-License-Identifier: Apache-2.0
"""The system's C++ compiler: finding it, and building a kernel's library with it."""

from __future__ import annotations

import functools
import os
import platform
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from ksplit.cpu_backend import library
from ksplit.cpu_backend.errors import CacheUnwritable, CompilerFailed, Unavailable

_FLAGS = [
    "-x", "c++", "-std=gnu++20", "-O3", "-march=native", "-shared", "-fPIC", "-fvisibility=hidden",
    # Integers wrap around; memory may be seen as several types.
    "-fwrapv", "-fno-strict-aliasing",
    # Neither errno nor floating-point traps are looked at, so that loops with maths vectorise.
    "-fno-math-errno", "-fno-trapping-math", "-w",
]  # fmt: skip


@functools.cache
def compiler() -> tuple[str, ...]:
    """The compiler's command: $CXX, else the first of g++, c++ and clang++ on the path."""
    chosen = os.environ.get("CXX")
    if chosen:
        command = shlex.split(chosen)
        if command and shutil.which(command[0]):
            return tuple(command)
        raise Unavailable(f"no C++ compiler: CXX is {chosen!r}, which cannot be run")
    for name in ("g++", "c++", "clang++"):
        if shutil.which(name):
            return (name,)
    raise Unavailable("no C++ compiler: none of g++, c++ and clang++ is on the path; set CXX")


def _cpu_features() -> str:
    """What -march=native depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), "")


@functools.cache
def _version() -> str:
    command = [*compiler(), "--version"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


@functools.cache
def identity() -> str:
    """The compiler's version, its options and the machine's instruction set."""
    return "\n".join([*compiler(), _version(), *_flags(), _cpu_features()])


@functools.cache
def _flags() -> tuple[str, ...]:
    flags = list(_FLAGS)
    if "clang" not in _version():
        # GCC would split `min(x, c)` where x == c has a known outcome later on; a vector minimum
        # then becomes four masks: 5 % of softmax.
        flags.append("-fno-thread-jumps")
    if "avx512f" in _cpu_features():
        # Vectors as wide as the machine has: the loops are long and do little else.
        flags.append("-mprefer-vector-width=512")
    return tuple(flags)


def check_cache() -> None:
    """Raises CacheUnwritable where Triton's own cache, a folder of files, could not keep a file."""
    from triton import knobs

    if knobs.cache.manager_class is not None:  # a cache of the user's
        return
    folder = knobs.cache.dir
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise CacheUnwritable(
            f"Triton's cache {folder} cannot be written: {error.strerror}; "
            f"name another folder with TRITON_CACHE_DIR"
        ) from error


def build(source: str, name: str, fuse_multiply_add: bool) -> bytes:
    """The library made from a generated source."""
    try:
        return _build(source, name, fuse_multiply_add)
    except OSError as error:  # no room for temporary files, a compiler that has gone
        raise CompilerFailed(f"compiling kernel {name} failed: {error}") from error


def _build(source: str, name: str, fuse_multiply_add: bool) -> bytes:
    with tempfile.TemporaryDirectory(prefix="ksplit-cpu-") as folder:
        for file, text in library.native().headers().items():
            Path(folder, file).write_text(text)
        source_file = Path(folder, f"{name[:100]}.cpp")
        source_file.write_text(source)
        built = Path(folder, "kernel.so")
        contract = "fast" if fuse_multiply_add else "off"
        command = [*compiler(), *_flags(), f"-ffp-contract={contract}"]
        command += ["-o", str(built), str(source_file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            shown = shlex.join(command)
            raise CompilerFailed(f"compiling kernel {name} failed:\n{shown}\n{done.stderr}")
        return built.read_bytes()
