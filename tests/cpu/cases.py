# SPDX-License-Identifier: Apache-2.0
"""The cases that native code and Triton's interpreter must agree on.

A case is a function without arguments that launches kernels and returns tensors.
`python reference.py FILE` runs all of them under the interpreter and saves what they return;
test_cases.py runs them natively and compares: bit for bit unless a case says otherwise.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import torch

sys.path.insert(0, str(Path(__file__).parent))

import op_kernels as ops  # noqa: E402
import triton.language as tl  # noqa: E402


@dataclass(frozen=True)
class Case:
    run: Callable[[], list[torch.Tensor]]
    rtol: float = 0.0
    atol: float = 0.0


CASES: dict[str, Case] = {}


def case(name: str, rtol: float = 0.0, atol: float = 0.0) -> Callable[[Callable], Callable]:
    def add(run: Callable[[], list[torch.Tensor]]) -> Callable[[], list[torch.Tensor]]:
        CASES[name] = Case(run, rtol, atol)
        return run

    return add


def _binary(
    name: str,
    kernel: object,
    inputs: Callable,
    dtype: torch.dtype,
    rows: int,
    out: torch.dtype | None = None,
    rtol: float = 0.0,
    **constants: object,
) -> None:
    def run() -> list[torch.Tensor]:
        x, y = inputs(dtype, len(name))
        result = torch.zeros(rows, ops.LANES, dtype=out or dtype)
        kernel[(1,)](x, y, result, N=ops.LANES, enable_fp_fusion=False, **constants)
        return [ops.comparable(result)]

    CASES[name] = Case(run, rtol, rtol)


for _name, _type in ops.INTEGERS.items():
    _bits = torch.iinfo(_type).bits
    if _type.is_signed:  # the interpreter has no ~ and - for others; see test_numbers.py
        _binary(f"integer_arithmetic/{_name}", ops.integer_arithmetic, ops.integer_inputs, _type,
                13)  # fmt: skip
    _binary(f"integer_division/{_name}", ops.integer_division, ops.integer_inputs, _type, 5)
    _binary(f"integer_shifts/{_name}", ops.integer_shifts, ops.integer_inputs, _type, 4, BITS=_bits)
    _binary(f"comparisons/{_name}", ops.comparisons, ops.integer_inputs, _type, 10, torch.int32)


def _numbers(dtype: torch.dtype, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Without NaN: the interpreter gives it another meaning in minimum, maximum and clamp."""
    return ops.float_inputs(dtype, seed, nan=4.0)


for _name, _type in ops.FLOATS.items():
    if _type is torch.bfloat16:
        continue  # the interpreter does not compute in it; test_numbers.py compares with torch
    _binary(f"float_arithmetic/{_name}", ops.float_arithmetic, _numbers, _type, 12)
    _binary(f"float_clamp/{_name}", ops.float_clamp, _numbers, _type, 2)
    _binary(f"comparisons/{_name}", ops.comparisons, ops.float_inputs, _type, 10, torch.int32)
    _binary(f"float_remainder/{_name}", ops.float_remainder, ops.float_inputs, _type, 1)

for _name in ("float32", "float64"):
    _type = ops.FLOATS[_name]
    _small = 2e-7 if _name == "float32" else 4e-16
    _binary(f"float_rounding/{_name}", ops.float_rounding, ops.float_inputs, _type, 6, rtol=_small)
    _binary(f"float_functions/{_name}", ops.float_functions, ops.float_inputs, _type, 8,
            rtol=4 * _small)  # fmt: skip
_binary("float_single/float32", ops.float_single, ops.float_inputs, torch.float32, 2)

_CAST_TO = {
    "int1": (tl.int1, torch.bool), "int8": (tl.int8, torch.int8), "int16": (tl.int16, torch.int16),
    "int32": (tl.int32, torch.int32), "int64": (tl.int64, torch.int64),
    "uint8": (tl.uint8, torch.uint8), "uint16": (tl.uint16, torch.uint16),
    "uint32": (tl.uint32, torch.uint32), "uint64": (tl.uint64, torch.uint64),
    "float16": (tl.float16, torch.float16),
    "float32": (tl.float32, torch.float32), "float64": (tl.float64, torch.float64),
}  # fmt: skip


def _cast(source: str, target: str) -> None:
    def run() -> list[torch.Tensor]:
        from_type = {**ops.INTEGERS, **ops.FLOATS}[source]
        if from_type.is_floating_point:
            x, _ = ops.float_inputs(from_type, 5)
            if not _CAST_TO[target][1].is_floating_point:
                x = (
                    x.nan_to_num(0.0, 100.0, 0.0).abs()
                    if target.startswith("uint")
                    else x.nan_to_num(0, 9, 9)
                )
        else:
            x, _ = ops.integer_inputs(from_type, 5)
        kind, dtype = _CAST_TO[target]
        result = torch.zeros(ops.LANES, dtype=dtype)
        ops.cast[(1,)](x, result, TO=kind, N=ops.LANES)
        return [ops.comparable(result)]

    CASES[f"cast/{source}-{target}"] = Case(run)


for _source in (*ops.INTEGERS, "float16", "float32", "float64"):
    for _target in _CAST_TO:
        if _target != _source:
            _cast(_source, _target)


@case("bits/int32")
def _bits32() -> list[torch.Tensor]:
    x, _ = ops.integer_inputs(torch.int32, 3)
    out = torch.zeros(5, ops.LANES, dtype=torch.int32)
    ops.bit_views[(1,)](x, out, N=ops.LANES)
    return [out]


@case("bits/int64")
def _bits64() -> list[torch.Tensor]:
    x, _ = ops.integer_inputs(torch.int64, 3)
    out = torch.zeros(4, ops.LANES, dtype=torch.int64)
    ops.bit_views64[(1,)](x, out, N=ops.LANES)
    return [out]


def run_all(names: list[str]) -> dict[str, list[torch.Tensor] | str]:
    results: dict[str, list[torch.Tensor] | str] = {}
    for name in names:
        torch.manual_seed(0)
        try:
            results[name] = [tensor.clone() for tensor in CASES[name].run()]
        except Exception as error:  # noqa: BLE001 - a case that fails must not hide the others
            results[name] = f"{type(error).__name__}: {error}"
    return results


import cases_kernels  # noqa: E402, F401 - adds the whole kernels
import cases_tiles  # noqa: E402, F401 - adds the tile operations
