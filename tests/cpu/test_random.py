# SPDX-License-Identifier: Apache-2.0
"""Random kernels (random_kernels.py): native code and the interpreter agree on 200 seeds."""

from __future__ import annotations

import random_kernels


def test_random_kernels_agree() -> None:
    assert random_kernels.differing(0, 200) == []
