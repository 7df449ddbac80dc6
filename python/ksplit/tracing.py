# SPDX-License-Identifier: Apache-2.0
"""What an implementation really launches: hooks on Triton's launch path."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Callable

import torch
from triton.runtime.autotuner import Autotuner
from triton.runtime.jit import JITFunction

from ksplit.loading import Implementation
from ksplit.protocol import user_error
from ksplit.task import Task
from ksplit.values import encode_tensor, is_constant, tensors_in

# Triton's own defaults, for executors that compile nothing and so cannot be asked.
_DEFAULT_WARPS = 4
_DEFAULT_STAGES = 3


@contextmanager
def replaced(owner: Any, name: str, wrap: Callable[[Any], Any]) -> Iterator[None]:
    original = getattr(owner, name)
    setattr(owner, name, wrap(original))
    try:
        yield
    finally:
        setattr(owner, name, original)


def trace(task: Task, implementation: Implementation, case: int) -> dict[str, Any]:
    """The `trace` operation: runs `forward` and records every launch."""
    inputs = task.inputs(case)
    recorder = _Recorder(inputs)
    with recorder.installed():
        run_forward(task, implementation, inputs, case)
    return {"launches": recorder.launches}


def run_forward(task: Task, implementation: Implementation, inputs: list[Any], case: int) -> None:
    """`forward` without gradients, finished; its exceptions point into the implementation."""
    try:
        with torch.no_grad():
            implementation.module(*inputs)
            task.device.synchronize()
    except BaseException as error:
        what = f"forward fails on case {case}"
        raise user_error(
            "candidate-failed", what, error, file=implementation.path, case=case
        ) from error


class _Recorder:
    def __init__(self, inputs: list[Any]) -> None:
        self.launches: list[dict[str, Any]] = []
        self._autotuners = 0  # how many are running, one inside another
        self._benchmarking = 0
        self._inputs: dict[int, int] = {}
        for position, value in enumerate(inputs):
            for tensor in tensors_in(value):
                address = tensor.untyped_storage().data_ptr()
                if address:
                    self._inputs.setdefault(address, position)

    @contextmanager
    def installed(self) -> Iterator[None]:
        with ExitStack() as stack:
            for kernel_class in _kernel_classes():
                stack.enter_context(replaced(kernel_class, "run", self._record_run))
            stack.enter_context(replaced(Autotuner, "run", self._count("_autotuners")))
            stack.enter_context(replaced(Autotuner, "_bench", self._count("_benchmarking")))
            yield

    def _count(self, counter: str) -> Callable[[Any], Any]:
        def wrap(original: Any) -> Any:
            def run(tuner: Any, *args: Any, **kwargs: Any) -> Any:
                setattr(self, counter, getattr(self, counter) + 1)
                try:
                    return original(tuner, *args, **kwargs)
                finally:
                    setattr(self, counter, getattr(self, counter) - 1)

            return run

        return wrap

    def _record_run(self, original: Any) -> Any:
        def run(kernel: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            if warmup or self._benchmarking:
                return original(kernel, *args, grid=grid, warmup=warmup, **kwargs)
            bound = _bind(kernel, args, kwargs)
            sizes = grid(bound) if callable(grid) else grid
            launch = self._launch(kernel, bound, tuple(sizes), kwargs)
            compiled = original(kernel, *args, grid=sizes, warmup=False, **kwargs)
            metadata = getattr(compiled, "metadata", None)
            launch["num_warps"] = getattr(metadata, "num_warps", launch["num_warps"])
            launch["num_stages"] = getattr(metadata, "num_stages", launch["num_stages"])
            self.launches.append(launch)
            return compiled

        return run

    def _launch(
        self, kernel: Any, bound: dict[str, Any], grid: tuple[int, ...], kwargs: dict[str, Any]
    ) -> dict[str, Any]:
        traits = _parameter_traits(kernel)
        return {
            "kernel": kernel.fn.__name__,
            "line": definition_line(kernel.fn),
            "grid": [int(size) for size in grid] + [1] * (3 - len(grid)),
            "arguments": [self._argument(n, v, traits[n]) for n, v in bound.items()],
            "num_warps": kwargs.get("num_warps", _DEFAULT_WARPS),
            "num_stages": kwargs.get("num_stages", _DEFAULT_STAGES),
            "autotuned": self._autotuners > 0,
        }

    def _argument(self, name: str, value: Any, traits: tuple[bool, bool, bool]) -> dict[str, Any]:
        constexpr, specialised, aligned = traits
        entry: dict[str, Any] = {"name": name, "constexpr": constexpr, "input": None}
        number: int | None = None
        if isinstance(value, torch.Tensor):
            entry["tensor"] = encode_tensor(value)
            entry["input"] = self._inputs.get(value.untyped_storage().data_ptr())
            number = value.data_ptr()
        else:
            entry["value"] = value if is_constant(value) else str(value)
            if isinstance(value, int) and not isinstance(value, bool):
                number = value
        is_pointer = "tensor" in entry
        known = number is not None and not constexpr and specialised
        entry["divisible_by_16"] = known and aligned and number % 16 == 0
        entry["equals_1"] = known and not is_pointer and number == 1
        return entry


def _kernel_classes() -> list[type]:
    interpreter = sys.modules.get("triton.runtime.interpreter")
    return [JITFunction] + ([] if interpreter is None else [interpreter.InterpretedFunction])


def _bind(kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Values by parameter name, in the kernel's order; launch options are no parameters."""
    signature = inspect.signature(kernel.fn)
    named = {name: value for name, value in kwargs.items() if name in signature.parameters}
    bound = signature.bind(*args, **named)
    bound.apply_defaults()
    return {name: getattr(value, "value", value) if _is_constexpr(value) else value
            for name, value in bound.arguments.items()}  # fmt: skip


def _is_constexpr(value: Any) -> bool:
    return type(value).__name__ == "constexpr"


def _parameter_traits(kernel: Any) -> dict[str, tuple[bool, bool, bool]]:
    """Per parameter: declared constexpr, specialised on its value, specialised on alignment."""
    parameters = getattr(kernel, "params", None)
    if parameters is not None:
        return {
            p.name: (
                p.is_constexpr,
                not p.do_not_specialize,
                not p.do_not_specialize_on_alignment,
            )
            for p in parameters
        }
    annotations = {n: p.annotation for n, p in inspect.signature(kernel.fn).parameters.items()}
    return {name: ("constexpr" in str(a), True, True) for name, a in annotations.items()}


def definition_line(function: Any) -> int:
    """The line of `def`, below the decorators."""
    lines, first = inspect.getsourcelines(function)
    for offset, line in enumerate(lines):
        if line.lstrip().startswith("def "):
            return first + offset
    return first


def compile_kernels(task: Task, implementation: Implementation, cases: list[int]) -> dict[str, Any]:
    """The `compile` operation: `forward` with every launch turned into a compilation."""
    if task.device.executor == "interpreter":
        return {"kernels": []}
    on_cpu = task.device.kind == "cpu"
    return {
        "kernels": [
            {"name": function.__name__, "case": case, **_resources(kernel, on_cpu)}
            for case in cases
            for function, kernel in compiled_for(task, implementation, case)
        ]
    }


def compiled_for(task: Task, implementation: Implementation, case: int) -> list[tuple[Any, Any]]:
    """The compiled kernels of one call, each once, behind the Python functions they come from."""
    found: dict[int, tuple[Any, Any]] = {}

    def only_compile(original: Any) -> Any:
        def run(kernel: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
            result = original(kernel, *args, grid=grid, warmup=True, **kwargs)
            if result is not None:
                found[id(result)] = (kernel.fn, result)
            return result

        return run

    with ExitStack() as stack:
        stack.enter_context(replaced(JITFunction, "run", only_compile))
        stack.enter_context(replaced(Autotuner, "run", _compile_every_configuration))
        run_forward(task, implementation, task.inputs(case), case)
    return list(found.values())


def _compile_every_configuration(_: Any) -> Any:
    def run(tuner: Any, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> Any:
        return tuner.warmup(*args, grid=grid, **kwargs)

    return run


def _resources(kernel: Any, on_cpu: bool) -> dict[str, int | None]:
    """What ptxas and the like report once the binary is loaded; null where nothing is known."""
    if on_cpu:
        return {"registers": None, "spills": None, "shared_bytes": None}
    if hasattr(kernel, "result"):
        kernel = kernel.result()
    load = getattr(kernel, "_init_handles", None)
    if load is not None:
        load()
    return {
        "registers": _whole(getattr(kernel, "n_regs", None)),
        "spills": _whole(getattr(kernel, "n_spills", None)),
        "shared_bytes": _whole(getattr(getattr(kernel, "metadata", None), "shared", None)),
    }


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, int) else None
