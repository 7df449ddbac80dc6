# SPDX-License-Identifier: Apache-2.0
"""Tests of the CPU backend. They need torch, Triton, a C++ compiler and the built library."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PYTHON_ROOT = HERE.parent.parent / "python"
sys.path[:0] = [str(HERE), str(PYTHON_ROOT)]

try:
    import ksplit.cpu  # noqa: F401
except ImportError as error:  # ksplit.cpu.Unavailable says what is missing
    collect_ignore_glob = ["test_*.py"]
    print(f"[SKIP] tests/cpu: {error}")


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """What Triton's interpreter gives for every case, from another process."""
    import torch

    file = tmp_path_factory.mktemp("reference") / "results.pt"
    environment = {**os.environ, "PYTHONPATH": str(PYTHON_ROOT)}
    subprocess.run(
        [sys.executable, str(HERE / "reference.py"), str(file)], env=environment, check=True
    )
    return torch.load(file)
