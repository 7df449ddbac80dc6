# SPDX-License-Identifier: Apache-2.0
"""New inputs from a task's cases: other sizes, dtypes, layouts and attributes."""

from __future__ import annotations

import math
import random
from collections.abc import Hashable
from typing import Any, Callable

import torch

from ksplit.task import Task
from ksplit.values import is_constant, map_tensors, tensors_in

_SIZES = (2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257,
          511, 512, 513, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097)  # fmt: skip
_FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
# New tensors are drawn from at most this many elements of the case's own.
_POOL = 1 << 16

Shape = list[int]
KeyOf = Callable[[int, Shape], Hashable]


class Variation:
    """Draws inputs. The same seed draws the same inputs."""

    def __init__(self, task: Task, seed: int, max_elements: int) -> None:
        self._cases = [task.stored_inputs(index) for index in range(1, task.case_count + 1)]
        self._device = task.device.torch_device
        self._random = random.Random(seed)
        self._generator = torch.Generator().manual_seed(seed)
        self._max_elements = max_elements
        sizes = {s for case in self._cases for t in tensors_in(case) for s in t.shape if s > 1}
        self._sizes = sorted(sizes | set(_SIZES))

    def draw(self) -> list[Any]:
        case = list(self._random.choice(self._cases))
        if self._chance(0.4):
            self._change_attribute(case)
        resize = self._resizing(case)
        retype = self._retyping(case)
        fresh: dict[int, torch.Tensor] = {}
        smallest = min((s for t in tensors_in(case) for s in resize(list(t.shape)) if s), default=1)

        def redraw(tensor: torch.Tensor) -> torch.Tensor:
            if id(tensor) not in fresh:
                shape = resize(list(tensor.shape))
                elements = self._elements(tensor, retype(tensor), smallest)
                fresh[id(tensor)] = self._lay_out(shape, elements)
            return fresh[id(tensor)]

        tails = [list(t.shape) for t in tensors_in(case)]
        return [_resized_list(map_tensors(v, redraw), tails, resize) for v in case]

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    # -- attributes ----------------------------------------------------------------------------

    def _change_attribute(self, case: list[Any]) -> None:
        positions = [i for i, value in enumerate(case) if not isinstance(value, torch.Tensor)]
        optional = [i for i in range(len(case)) if self._absent_elsewhere(i)]
        if not positions + optional:
            return
        position = self._random.choice(positions + optional)
        value = case[position]
        if isinstance(value, torch.Tensor):
            case[position] = None
            return
        choices = [c[position] for c in self._cases if len(c) > position]
        choices = [c for c in choices if is_constant(c) and (c is not None or value is None)]
        rank = max((t.dim() for t in tensors_in(case)), default=0)
        if isinstance(value, bool):
            choices.append(not value)
        elif isinstance(value, int) and -rank <= value < rank:
            choices += list(range(-rank, rank))  # it may count an axis
        elif isinstance(value, float):
            choices += [0.0, 1.0, -value, value / 2, 2]
        if choices:
            case[position] = self._random.choice(choices)

    def _absent_elsewhere(self, position: int) -> bool:
        return any(len(c) > position and c[position] is None for c in self._cases)

    # -- sizes ---------------------------------------------------------------------------------

    def _resizing(self, case: list[Any]) -> Callable[[Shape], Shape]:
        """A function from old shapes to new ones: what must stay equal does, ones stay ones.

        Either equal sizes are one size, or sizes that meet when shapes are aligned at the right,
        as broadcasting does. The second lets a square become a rectangle, and is wrong for
        operators such as matmul, whose reference then refuses the input.
        """
        shapes = [list(tensor.shape) for tensor in tensors_in(case)]
        aligned = self._chance(0.5)

        def key_of(axis: int, shape: Shape) -> Hashable:
            return (axis - len(shape), shape[axis]) if aligned else shape[axis]

        sizes = {key_of(a, s): s[a] for s in shapes for a in range(len(s)) if s[a] != 1}
        changed = self._random.sample(list(sizes), min(len(sizes), self._random.randint(0, 2)))
        for key in changed:
            sizes[key] = self._other_size(sizes[key])

        def resize(shape: Shape) -> Shape:
            return [sizes.get(key_of(axis, shape), size) for axis, size in enumerate(shape)]

        while sizes and max(math.prod(resize(s)) for s in shapes) > self._max_elements:
            largest = max(sizes, key=lambda key: sizes[key])
            sizes[largest] = self._random.randint(1, max(sizes[largest] // 2, 1))
        return resize

    def _other_size(self, size: int) -> int:
        draw = self._random.random()
        if draw < 0.06:
            return 0
        if draw < 0.14:
            return 1
        if draw < 0.5:
            near = [size - 1, size + 1, size // 2, 2 * size, size + 16, size - size % 16 + 8]
            return max(self._random.choice(near), 0)
        return max(self._random.choice(self._sizes) + self._random.choice((0, 0, -1, 1)), 0)

    # -- dtypes and contents -------------------------------------------------------------------

    def _retyping(self, case: list[Any]) -> Callable[[torch.Tensor], torch.dtype]:
        floating = [t for t in tensors_in(case) if t.dtype in _FLOATS]
        if not floating or not self._chance(0.3):
            return lambda tensor: tensor.dtype
        chosen = self._random.choice(floating)
        dtype = self._random.choice(_FLOATS)
        alone = self._chance(0.3)  # mixed dtypes

        def retype(tensor: torch.Tensor) -> torch.dtype:
            same = tensor is chosen if alone else tensor.dtype == chosen.dtype
            return dtype if same else tensor.dtype

        return retype

    def _elements(
        self, tensor: torch.Tensor, dtype: torch.dtype, smallest: int
    ) -> Callable[[Shape], torch.Tensor]:
        """A source of contiguous tensors with elements drawn from `tensor`'s."""
        pool = _some_elements(tensor).to(dtype)
        if pool.numel() == 0:
            pool = torch.ones(1, dtype=dtype, device=pool.device)
        integral = not (dtype.is_floating_point or dtype.is_complex or dtype == torch.bool)
        if integral and bool((pool >= 0).all()):
            pool = pool % smallest  # it may be an index: inside every axis of the new input

        def make(shape: Shape) -> torch.Tensor:
            picks = torch.randint(pool.numel(), shape, generator=self._generator)
            return pool[picks.to(pool.device)].to(self._device)

        return make

    # -- layouts -------------------------------------------------------------------------------

    def _lay_out(self, shape: Shape, make: Callable[[Shape], torch.Tensor]) -> torch.Tensor:
        """A tensor of `shape`, in about a third of the draws not contiguous or not aligned.

        Its storage is never smaller than a contiguous tensor's: a kernel that ignores strides gets
        wrong numbers, not somebody else's memory.
        """
        numel = math.prod(shape)
        if not self._chance(0.35) or not shape or not numel:
            return make(shape)
        axis = self._random.randrange(len(shape))
        other = self._random.randrange(len(shape))
        layout = self._random.choice(("transposed", "strided", "padded", "offset", "expanded"))
        if layout == "transposed":
            swapped = list(shape)
            swapped[axis], swapped[other] = swapped[other], swapped[axis]
            return make(swapped).transpose(axis, other)
        if layout == "strided":
            wide = shape[:axis] + [2 * shape[axis]] + shape[axis + 1 :]
            return make(wide)[(slice(None),) * axis + (slice(None, None, 2),)]
        if layout == "padded":
            wide = shape[:axis] + [shape[axis] + 3] + shape[axis + 1 :]
            return make(wide).narrow(axis, 0, shape[axis])
        if layout == "offset":
            return make([numel + 1])[1:].view(shape)
        strides = make(shape).select(axis, 0).unsqueeze(axis).contiguous().stride()
        strides = tuple(0 if d == axis else s for d, s in enumerate(strides))
        return make([numel]).as_strided(shape, strides)


def _some_elements(tensor: torch.Tensor) -> torch.Tensor:
    """Up to `_POOL` elements, without copying a large tensor."""
    tensor = tensor.detach()
    while tensor.numel() > _POOL and tensor.dim() > 1:
        keep = max(_POOL * tensor.shape[0] // tensor.numel(), 1)
        tensor = tensor[:keep]
        if keep == 1:
            tensor = tensor[0]
    return tensor.reshape(-1)[:_POOL]


def _resized_list(value: Any, shapes: list[Shape], resize: Callable[[Shape], Shape]) -> Any:
    """A list of sizes that equals the end of a tensor's shape (`normalized_shape`) follows it."""
    if not isinstance(value, (list, tuple)) or not value or not is_constant(value):
        return value
    length = len(value)
    match: Shape | None = next((s for s in shapes if s[-length:] == list(value)), None)
    return value if match is None else type(value)(resize(match)[-length:])
