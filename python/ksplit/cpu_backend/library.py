# SPDX-License-Identifier: Apache-2.0
"""Finds and loads libksplit_cpu.so, the extension module with generator and launcher."""

from __future__ import annotations

import functools
import hashlib
import os
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from ksplit.cpu_backend.errors import Unavailable

_FILE = "libksplit_cpu.so"


def _places() -> list[Path]:
    package = Path(__file__).resolve().parent.parent
    places = [
        Path(place) for place in os.environ.get("KSPLIT_LIBRARY_PATH", "").split(":") if place
    ]
    places.append(package / "lib")
    tree = package.parent.parent / "build"
    places += [tree / preset / "src" / "cpu" for preset in ("release", "dev", "asan")]
    return places


@functools.cache
def path() -> Path:
    """Where the library lies. Raises Unavailable if it is nowhere."""
    for place in _places():
        file = place / _FILE if place.is_dir() else place
        if file.is_file():
            return file
    looked = "".join(f"\n  {place}" for place in _places())
    raise Unavailable(f"{_FILE} not found; looked in:{looked}\nhint: build ksplit_cpu_native")


@functools.cache
def native() -> ModuleType:
    """The library as a Python module, loaded when first asked for."""
    file = path()
    name = "ksplit.cpu._native"
    loader = ExtensionFileLoader(name, str(file))
    spec = spec_from_file_location(name, file, loader=loader)
    try:
        module = module_from_spec(spec)
        loader.exec_module(module)
    except ImportError as error:
        raise Unavailable(f"cannot load {file}: {error}") from error
    return module


def identity() -> str:
    """Changes whenever the library does, so that compiled kernels are not taken for its own."""
    return hashlib.sha256(path().read_bytes()).hexdigest()
