# SPDX-License-Identifier: Apache-2.0
"""python reference.py FILE: runs all cases under Triton's interpreter and saves their results."""

from __future__ import annotations

import sys
import warnings

from ksplit.interpreter import enable_interpreter

if __name__ == "__main__":
    warnings.simplefilter("ignore")  # overflows that the cases provoke
    enable_interpreter()
    import cases
    import torch

    torch.save(cases.run_all(list(cases.CASES)), sys.argv[1])
