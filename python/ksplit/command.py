# SPDX-License-Identifier: Apache-2.0
"""Hands a Python entry point over to the `ksplit` command, with this interpreter's torch."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn, Optional


def run(command: str) -> NoReturn:
    """Becomes `ksplit COMMAND` with the arguments of this process; its exit status is ours."""
    binary = find_binary()
    if binary is None:
        sys.exit("error[environment]: found no `ksplit` command; name it with KSPLIT_BINARY")
    environment = {**os.environ, "KSPLIT_PYTHON": sys.executable}
    try:
        os.execve(binary, [str(binary), command, *sys.argv[1:]], environment)
    except OSError as error:
        sys.exit(f"error[environment]: `{binary}` does not run: {error.strerror}")


def find_binary() -> Optional[Path]:
    """What KSPLIT_BINARY names, whatever it is; else the first that can be run."""
    named = os.environ.get("KSPLIT_BINARY")
    if named:
        return Path(named)
    return next((path for path in _places() if path.is_file() and os.access(path, os.X_OK)), None)


def _places() -> Iterator[Path]:
    yield Path(sys.executable).parent / "ksplit"
    on_path = shutil.which("ksplit")
    if on_path:
        yield Path(on_path)
    source_tree = Path(__file__).resolve().parents[2]
    for preset in ("release", "dev"):
        yield source_tree / "build" / preset / "ksplit"
