# SPDX-License-Identifier: Apache-2.0
"""Triton's interpreter as executor: right, slow, and without a clock worth asking."""

from __future__ import annotations

import os
from typing import Any


def enable_interpreter() -> None:
    """Switches Triton to its interpreter. Must come before the first import of triton."""
    os.environ["TRITON_INTERPRET"] = "1"
    from triton.runtime import interpreter
    from triton.runtime.autotuner import Autotuner

    # Every configuration ties, so that the first one wins and none is run for nothing.
    Autotuner.do_bench = property(lambda self: lambda kernel_call, quantiles: (0.0, 0.0, 0.0))

    patch_tensor = interpreter._patch_lang_tensor

    def patch_tensor_and_index(tensor: Any, scope: Any = None) -> None:
        # Scalars are arrays of one element there, which NumPy no longer takes for an index
        # (`range(0, n, BLOCK)` in a kernel); `item()` reads them under every version.
        if scope is None:  # Triton before 3.6
            patch_tensor(tensor)
            tensor.__index__ = _index
        else:
            patch_tensor(tensor, scope)
            scope.set_attr(tensor, "__index__", _index)

    interpreter._patch_lang_tensor = patch_tensor_and_index


def _index(self: Any) -> int:
    return int(self.handle.data.item())
