# SPDX-License-Identifier: Apache-2.0
"""Tensors and arguments as the protocol spells them, and copies of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable

import torch

_INT64 = range(-(2**63), 2**63)
_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).replace("torch.", "")


def is_constant(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(is_constant(item) for item in value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value in _INT64
    return value is None or isinstance(value, (bool, float, str))


def encode_tensor(tensor: torch.Tensor) -> dict[str, Any]:
    address = tensor.data_ptr() | 16
    return {
        "dtype": dtype_name(tensor.dtype),
        "shape": list(tensor.shape),
        "strides": list(tensor.stride()),
        "storage_offset": tensor.storage_offset(),
        "alignment": address & -address,
        "contiguous": tensor.is_contiguous(),
    }


def encode_argument(name: str, value: Any) -> dict[str, Any]:
    if isinstance(value, torch.Tensor):
        return {"name": name, "kind": "tensor", "tensor": encode_tensor(value)}
    if is_constant(value):
        return {"name": name, "kind": "constant", "value": value}
    return {"name": name, "kind": "opaque", "repr": repr(value)[:200]}


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """All tensors of nested lists, tuples and dicts, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)


def map_tensors(value: Any, function: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(map_tensors(item, function) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(map_tensors(item, function) for item in value)
    if isinstance(value, dict):
        return {key: map_tensors(item, function) for key, item in value.items()}
    return value


def copy_arguments(values: Any, device: torch.device) -> Any:
    """Copies on `device` that keep strides, offsets and what shares storage with what."""
    storages: dict[int, torch.UntypedStorage] = {}

    def copy(tensor: torch.Tensor) -> torch.Tensor:
        tensor = tensor.detach()
        if tensor.layout != torch.strided:
            return tensor.to(device, copy=True)
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key not in storages:
            raw = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(storage)
            storages[key] = raw.to(device, copy=True).untyped_storage()
        empty = torch.empty(0, dtype=tensor.dtype, device=device)
        return empty.set_(storages[key], tensor.storage_offset(), tensor.size(), tensor.stride())

    return map_tensors(values, copy)


def bits_of(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor's elements as integers of the same width, NaN payloads and signs included."""
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    if tensor.dtype == torch.bool:
        return tensor.to(torch.uint8)
    return tensor.view(_INTEGERS[tensor.element_size()])


def same_bits(left: torch.Tensor, right: torch.Tensor) -> bool:
    return (
        left.dtype == right.dtype
        and left.shape == right.shape
        and torch.equal(bits_of(left), bits_of(right))
    )


def refill(values: Any) -> bool:
    """Reverses the elements of every floating tensor in place and halves each second one; whether
    there was any.

    As legal as the numbers before, and another result: of sums and extremes too, and where scale
    does not matter. Integers may be indices, whose order means something, and stay.
    """
    done = False
    for tensor in tensors_in(values):
        overlaps = any(s == 0 and n > 1 for s, n in zip(tensor.stride(), tensor.shape))
        if tensor.is_floating_point() and tensor.numel() > 0 and not overlaps:
            bits = bits_of(tensor)
            bits.copy_(bits.flip(list(range(bits.dim()))))
            if tensor.element_size() > 1:  # 8-bit floats have no arithmetic
                odd = torch.arange(tensor.numel(), device=tensor.device).view(tensor.shape) % 2
                tensor.mul_(0.5 + 0.5 * odd.to(tensor.dtype))
            done = True
    return done
