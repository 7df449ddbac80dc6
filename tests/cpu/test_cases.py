# SPDX-License-Identifier: Apache-2.0
"""Native code against Triton's interpreter, case by case (cases.py)."""

from __future__ import annotations

import cases
import pytest
import torch


@pytest.mark.parametrize("name", cases.CASES)
def test_agrees_with_the_interpreter(name: str, reference: dict) -> None:
    case = cases.CASES[name]
    expected = reference[name]
    assert not isinstance(expected, str), f"the interpreter failed: {expected}"
    torch.manual_seed(0)
    found = case.run()
    assert len(found) == len(expected)
    for got, wanted in zip(found, expected):
        torch.testing.assert_close(got, wanted, rtol=case.rtol, atol=case.atol, equal_nan=True)
