# SPDX-License-Identifier: Apache-2.0
"""How far an implementation's results lie from the reference's."""

from __future__ import annotations

import contextlib
import math
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import torch

from ksplit.devices import poisoned_memory
from ksplit.loading import Implementation
from ksplit.protocol import RequestError, user_error
from ksplit.task import Task
from ksplit.values import dtype_name, refill, same_bits

Rules = dict[str, dict[str, float]]

# Elements compared at a time: on a CPU the float64 temporaries stay in a core's cache (four times
# faster), elsewhere they stay within some hundred MiB.
_CPU_CHUNK = 1 << 16
_DEVICE_CHUNK = 1 << 22
# Reference results kept, as a share of the device's memory.
_STORE_SHARE = 0.15


class CandidateError(Exception):
    """A case on which an implementation gives no results that could be compared."""

    kind = "candidate-failed"


class UnsupportedError(CandidateError):
    """The same, because what runs kernels here does not cover one of them."""

    kind = "unsupported"


@dataclass
class Expected:
    """The reference's results on one case. `golden` holds None where float64 says nothing."""

    native: list[torch.Tensor | None]
    golden: list[torch.Tensor | None]
    # In its own dtype again, on other contents (values.refill); empty where it refuses them.
    refilled: list[torch.Tensor | None]

    def nbytes(self) -> int:
        return sum(t.nbytes for t in self.native + self.golden + self.refilled if t is not None)


class ReferenceStore:
    """Reference results by case, so that many candidates cost one evaluation."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._budget = int(_STORE_SHARE * task.device.memory_bytes())
        self._entries: OrderedDict[int, Expected] = OrderedDict()

    def get(self, case: int) -> Expected:
        if case not in self._entries:
            self._entries[case] = self._evaluate(case)
        self._entries.move_to_end(case)
        expected = self._entries[case]
        while len(self._entries) > 1 and self._used() > self._budget:
            self._entries.popitem(last=False)
        return expected

    def _used(self) -> int:
        return sum(entry.nbytes() for entry in self._entries.values())

    def _evaluate(self, case: int) -> Expected:
        task = self._task
        try:
            native = leaves(task.reference(*task.inputs(case)))
            task.device.synchronize()
        except CandidateError as error:
            message = f"the reference `Model` on case {case}: {error}"
            raise RequestError("reference-failed", message, case=case) from error
        except BaseException as error:
            raise task.reference_error(error, case) from error
        golden: list[torch.Tensor | None] = [None] * len(native)
        if task.reference64 is not None:
            # It ran on the smallest case; where it fails the native result has to do.
            with contextlib.suppress(Exception):
                golden = leaves(task.reference64(*task.float64_inputs(case)))
        usable = [_usable(g, n) for g, n in zip(golden, native)]
        return Expected(native, usable, self._refilled(case))

    def _refilled(self, case: int) -> list[torch.Tensor | None]:
        inputs = self._task.inputs(case)
        if not refill(inputs):
            return []
        with contextlib.suppress(Exception):
            results = leaves(self._task.reference(*inputs))
            self._task.device.synchronize()
            return results
        return []


def _usable(golden: torch.Tensor | None, native: torch.Tensor | None) -> torch.Tensor | None:
    """`golden` if it is `native`'s value in float64: the same shape, and really computed in it."""
    if golden is None or native is None or not native.is_floating_point():
        return None
    fits = golden.dtype == torch.float64 and golden.shape == native.shape
    return golden if fits and native.dtype != torch.float64 else None


def leaves(outputs: Any) -> list[torch.Tensor | None]:
    """The results of a forward in order: tensors, numbers as tensors, None as itself."""
    if outputs is None:
        return [None]
    if isinstance(outputs, torch.Tensor):
        # A subclass could compute lazily, in the comparison instead of in its own time.
        if type(outputs) not in (torch.Tensor, torch.nn.Parameter):
            raise CandidateError(f"an output is a {type(outputs).__name__}, not a torch.Tensor")
        return [outputs]
    if isinstance(outputs, (bool, int, float)):
        return [torch.tensor(outputs)]
    if isinstance(outputs, dict):
        outputs = [outputs[key] for key in sorted(outputs)]
    if isinstance(outputs, (list, tuple)):
        return [leaf for item in outputs for leaf in leaves(item)]
    raise CandidateError(f"an output is a {type(outputs).__name__}, neither tensor nor number")


def run_candidate(
    task: Task, implementation: Implementation, inputs: list[Any]
) -> list[torch.Tensor | None]:
    """The implementation's results in poisoned memory; any exception is a CandidateError."""
    try:
        with torch.no_grad(), poisoned_memory():
            outputs = implementation.module(*inputs)
            task.device.synchronize()
    except BaseException as error:
        told = user_error("candidate-failed", "forward fails", error, file=implementation.path)
        where = f" (line {told.line})" if told.line else ""
        # Triton wraps what its frontend raises; ksplit.cpu.Unsupported is a NotImplementedError.
        uncovered = isinstance(error, NotImplementedError)
        kind = UnsupportedError if uncovered else CandidateError
        raise kind(f"{told.message}{where}") from error
    return leaves(outputs)


def check_structure(actual: list[torch.Tensor | None], expected: list[torch.Tensor | None]) -> None:
    if len(actual) != len(expected):
        raise CandidateError(f"forward returns {len(actual)} outputs, expected {len(expected)}")
    for position, (got, wanted) in enumerate(zip(actual, expected)):
        if (got is None) != (wanted is None):
            names = ["None" if item is None else "a tensor" for item in (got, wanted)]
            raise CandidateError(f"output {position} is {names[0]}, expected {names[1]}")
        if got is not None and wanted is not None and got.device != wanted.device:
            raise CandidateError(f"output {position} is on {got.device}, expected {wanted.device}")


def compare(
    actual: torch.Tensor,
    native: torch.Tensor,
    golden: torch.Tensor | None,
    rules: Rules,
) -> dict[str, Any]:
    """The protocol's accuracy record of one output, without `changed_inputs`."""
    record = {
        "dtype": dtype_name(actual.dtype),
        "shape": list(actual.shape),
        "elements": native.numel(),
        "dtype_equal": actual.dtype == native.dtype,
        "shape_equal": actual.shape == native.shape,
        "strides_equal": _effective_strides(actual) == _effective_strides(native),
        "golden": "native" if golden is None else "float64",
        "bit_equal_native": same_bits(actual, native),
    }
    if not record["shape_equal"]:
        unknown = dict.fromkeys(("worst", "mere", "mare", "rmse", "max_error", "golden_rms"))
        flags = {"nan_equal": False, "inf_equal": False}
        return {**record, **unknown, **flags, "violations": max(native.numel(), 1)}
    totals = _Totals()
    exact = not (native.is_floating_point() or native.is_complex())
    rule = _rule(rules, native.dtype)
    flat = [_flat(tensor) for tensor in (actual, native, native if golden is None else golden)]
    chunk = _CPU_CHUNK if native.device.type == "cpu" else _DEVICE_CHUNK
    for begin in range(0, flat[0].numel(), chunk):
        pieces = [tensor[begin : begin + chunk] for tensor in flat]
        totals.add(begin, pieces[0], pieces[1], pieces[2], rule, exact)
    return {**record, **totals.result()}


def _rule(rules: Rules, dtype: torch.dtype) -> dict[str, float]:
    """The dtype's rule; one that has none is judged by float32's, as the published rules do."""
    exact = {"rtol": 0.0, "atol": 0.0, "t": 2.0**-13}
    return rules.get(dtype_name(dtype), rules.get("float32", exact))


def _flat(tensor: torch.Tensor) -> torch.Tensor:
    tensor = tensor.detach()
    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).reshape(-1)


def _effective_strides(tensor: torch.Tensor) -> list[int]:
    """Strides of the axes along which one can step."""
    if tensor.numel() == 0:
        return []
    return [stride for size, stride in zip(tensor.shape, tensor.stride()) if size > 1]


class _Totals:
    """Sums over the chunks of one comparison."""

    def __init__(self) -> None:
        self.nan_equal = True
        self.inf_equal = True
        self.violations = 0
        self.worst_score = 0.0
        self.worst: dict[str, Any] | None = None
        self.relative_sum = 0.0
        self.relative_max = 0.0
        self.compared = 0
        self.square_sum = 0.0
        self.error_max = 0.0
        self.golden_square_sum = 0.0
        self.golden_count = 0
        self.golden_compared = 0

    def add(
        self,
        begin: int,
        actual: torch.Tensor,
        native: torch.Tensor,
        golden: torch.Tensor,
        rule: dict[str, float],
        exact: bool,
    ) -> None:
        a, r, g = actual.double(), native.double(), golden.double()
        both = torch.isfinite(a) & torch.isfinite(r)
        nan_same = torch.isnan(a) == torch.isnan(r)
        inf_same = (torch.isinf(a) == torch.isinf(r)) & ((a == r) | ~torch.isinf(r))
        difference = torch.where(both, (a - r).abs(), 0.0)
        limit = rule["atol"] + rule["rtol"] * r.abs()
        wrong = actual != native if exact else difference > limit
        wrong = torch.where(both, wrong, ~(nan_same & inf_same))
        # Where the limit is zero any difference is worst; nothing else is worse than a misplaced
        # NaN or infinity.
        score = torch.where(both, difference / limit.clamp_min(1e-300), wrong * math.inf)
        score = torch.nan_to_num(score, nan=0.0, posinf=math.inf)
        relative = difference / r.abs().clamp_min(rule["t"])
        relative = torch.where(difference > 0.0, relative, 0.0)  # t may be 0, and so may r
        judged = torch.isfinite(a) & torch.isfinite(g)
        error = torch.where(judged, (a - g).abs(), 0.0)
        sound = torch.isfinite(g)
        square = torch.where(sound, g * g, 0.0)
        worst_score, worst_at = score.max(dim=0)
        # One transfer for all figures of the chunk.
        figures = torch.stack(
            [
                nan_same.all().double(), inf_same.all().double(), wrong.sum().double(),
                worst_score, worst_at.double(), a[worst_at], r[worst_at],
                relative.sum(), relative.max(), both.sum().double(),
                (error * error).sum(), error.max(), judged.sum().double(),
                square.sum(), sound.sum().double(),
            ]
        ).tolist()  # fmt: skip
        self._merge(begin, figures)

    def _merge(self, begin: int, figures: list[float]) -> None:
        self.nan_equal &= figures[0] != 0.0
        self.inf_equal &= figures[1] != 0.0
        self.violations += int(figures[2])
        if figures[3] > self.worst_score:
            self.worst_score = figures[3]
            index = begin + int(figures[4])
            self.worst = {"index": index, "actual": figures[5], "expected": figures[6]}
        self.relative_sum += figures[7]
        self.relative_max = max(self.relative_max, figures[8])
        self.compared += int(figures[9])
        self.square_sum += figures[10]
        self.error_max = max(self.error_max, figures[11])
        self.golden_compared += int(figures[12])
        self.golden_square_sum += figures[13]
        self.golden_count += int(figures[14])

    def result(self) -> dict[str, Any]:
        return {
            "nan_equal": self.nan_equal,
            "inf_equal": self.inf_equal,
            "violations": self.violations,
            "worst": self.worst,
            "mere": self.relative_sum / max(self.compared, 1),
            "mare": self.relative_max,
            "rmse": math.sqrt(self.square_sum / max(self.golden_compared, 1)),
            "max_error": self.error_max,
            "golden_rms": math.sqrt(self.golden_square_sum / max(self.golden_count, 1)),
        }
