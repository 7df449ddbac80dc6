# SPDX-License-Identifier: Apache-2.0
"""Whether launches check each load and store against the tensors passed to them.

Checked and plain code of one kernel live side by side: Triton keeps compiled kernels by device, and
the same CPU is device 1 where accesses are checked, else device 0.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_checked = os.environ.get("KSPLIT_CPU_CHECK", "0") not in ("", "0")


def is_checked() -> bool:
    return _checked


def current_device() -> int:
    return int(_checked)


@contextmanager
def checked_access() -> Iterator[None]:
    """Launches within it are checked, as all are with KSPLIT_CPU_CHECK=1 in the environment."""
    global _checked
    before, _checked = _checked, True
    try:
        yield
    finally:
        _checked = before
