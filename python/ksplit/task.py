# SPDX-License-Identifier: Apache-2.0
"""The operator under work: reference, generic kernel and cases."""

from __future__ import annotations

import copy
import inspect
import os
import re
import sys
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ksplit.devices import Device
from ksplit.loading import (
    Implementation,
    ImplementationCache,
    build_module,
    forward_parameters,
    load_module,
    module_class,
    seed_everything,
)
from ksplit.protocol import RequestError, user_error
from ksplit.values import copy_arguments, encode_argument, map_tensors, tensors_in

# Cases live on the device while they take at most this share of its memory, else on the host.
_DEVICE_SHARE = 0.3


class Task:
    """A loaded task. Case indices count from 1."""

    def __init__(self, task_path: str, base_path: str, seed: int, device: Device) -> None:
        self.device = device
        self._seed = seed
        self._file = os.path.abspath(task_path)
        self._implementations = ImplementationCache()
        for path in (task_path, base_path):
            folder = os.path.dirname(os.path.abspath(path))
            if folder not in sys.path:
                sys.path.append(folder)  # helper files beside the task, whatever the cwd

        description = load_module(task_path, "input-malformed")
        self.op_name = _op_name(description, Path(self._file))
        reference_class = module_class(description, "Model", "input-malformed")
        self._init_inputs = self._call(description, "get_init_inputs", default=[])
        if not isinstance(self._init_inputs, (list, tuple)):
            self._malformed("get_init_inputs() must return a list of arguments")
        self.reference = build_module(
            reference_class, self._init_inputs, seed, device, "input-malformed"
        )
        self.base = self._build(base_path, "input-malformed")
        self.parameters = forward_parameters(self.base)
        self._cases = self._read_cases(description)
        self.reference64 = self._float64_reference()

    # -- implementations -----------------------------------------------------------------------

    def implementation(self, path: str) -> Implementation:
        """The file's `ModelNew`, built like the reference. Errors: candidate-failed."""
        if os.path.abspath(path) == self.base.path:
            return self.base
        return self._implementations.get(path, lambda: self._build(path, "candidate-failed"))

    def _build(self, path: str, kind: str) -> Implementation:
        namespace = load_module(path, kind)
        cls = module_class(namespace, "ModelNew", kind)
        module = build_module(
            cls, list(self._init_inputs), self._seed, self.device, kind, twin=self.reference
        )
        return Implementation(os.path.abspath(path), namespace, module)

    def _float64_reference(self) -> nn.Module | None:
        """The reference in float64, if it runs there on the smallest case."""
        if not self._cases:
            return None
        sizes = [sum(t.numel() for t in tensors_in(case)) for case in self._cases]
        index = sizes.index(min(sizes)) + 1
        with torch.no_grad():
            try:
                self.reference(*self.inputs(index))
            except BaseException as error:
                raise self.reference_error(error, index) from error
            try:
                module = copy.deepcopy(self.reference).double()
                module(*self.float64_inputs(index))
            except Exception:  # noqa: BLE001
                return None
        return module

    def reference_error(self, error: BaseException, index: int) -> RequestError:
        what = f"the reference `Model` fails on case {index}"
        return user_error("reference-failed", what, error, file=self._file, case=index)

    # -- cases ---------------------------------------------------------------------------------

    @property
    def case_count(self) -> int:
        return len(self._cases)

    def inputs(self, index: int) -> list[Any]:
        """Fresh arguments of a case: the same values every time, in memory of their own."""
        return copy_arguments(self.stored_inputs(index), self.device.torch_device)

    def stored_inputs(self, index: int) -> list[Any]:
        """A case's arguments as they are kept, on the device or the host; never to be changed."""
        if not 1 <= index <= len(self._cases):
            raise RequestError(
                "input-malformed", f"there is no case {index}: the task has {len(self._cases)}"
            )
        return self._cases[index - 1]

    def float64_inputs(self, index: int) -> list[Any]:
        return [upcast(value) for value in self.inputs(index)]

    def describe_case(self, index: int) -> dict[str, Any]:
        return {"index": index, "inputs": self.describe_inputs(self.stored_inputs(index))}

    def describe_inputs(self, values: list[Any]) -> list[dict[str, Any]]:
        """Arguments under the names of forward's parameters; what is left out by its default."""
        names = self.input_names(len(values))
        result = [encode_argument(name, value) for name, value in zip(names, values)]
        signature = inspect.signature(self.base.module.forward)
        for name, parameter in list(signature.parameters.items())[len(values) :]:
            if parameter.default is not inspect.Parameter.empty:
                result.append(encode_argument(name, parameter.default))
        return result

    def input_names(self, count: int) -> list[str]:
        names: list[str] = []
        for parameter in self.parameters:
            if parameter["kind"] == "positional":
                names.append(parameter["name"])
            elif parameter["kind"] == "var_positional":
                extra = count - len(names)
                names += [f"{parameter['name']}[{i}]" for i in range(extra)]
        return names[:count]

    def _read_cases(self, description: Any) -> list[list[Any]]:
        seed_everything(self._seed)
        try:
            # Drawing on the device is faster by orders of magnitude; a task that brings its own
            # generator or arrays draws on the host instead.
            with torch.device(self.device.torch_device):
                groups = self._draw(description)
        except RequestError:
            if self.device.kind == "cpu":
                raise
            seed_everything(self._seed)
            groups = self._draw(description)
        total = sum(t.untyped_storage().nbytes() for case in groups for t in tensors_in(case))
        on_device = total <= _DEVICE_SHARE * self.device.memory_bytes()
        place = self.device.torch_device if on_device else torch.device("cpu")
        cases = []
        while groups:  # one case at a time exists twice
            cases.append(copy_arguments(groups.pop(0), place))
        return cases

    def _draw(self, description: Any) -> list[list[Any]]:
        if hasattr(description, "get_input_groups"):
            name = "get_input_groups"
            groups = self._call(description, name)
        elif hasattr(description, "get_inputs"):
            name = "get_inputs"
            groups = [self._call(description, name)]
        else:
            self._malformed(
                "the task must define get_input_groups() (a list of argument lists, one a case) "
                "or get_inputs() (one case)"
            )
        try:
            groups = list(groups)
        except TypeError:
            self._malformed(f"{name}() must return a list of argument lists")
        return [self._check_case(case, index, name) for index, case in enumerate(groups, 1)]

    def _check_case(self, case: Any, index: int, name: str) -> list[Any]:
        if not isinstance(case, (list, tuple)):
            self._malformed(
                f"{name}() must give a list of arguments for case {index}, not a "
                f"{type(case).__name__}",
                case=index,
            )
        signature = inspect.signature(self.base.module.forward)
        try:
            signature.bind(*case)
        except TypeError as error:
            self._malformed(
                f"case {index} has {len(case)} arguments, which `ModelNew.forward{signature}` "
                f"does not take: {error}",
                case=index,
            )
        return list(case)

    def _call(self, description: Any, name: str, default: Any = None) -> Any:
        function = getattr(description, name, None)
        if function is None:
            return default
        try:
            return function()
        except BaseException as error:
            is_missing = isinstance(error, FileNotFoundError)
            kind = "input-missing" if is_missing else "input-malformed"
            raise user_error(kind, f"{name}() fails", error, file=self._file) from error

    def _malformed(self, message: str, case: int | None = None) -> Any:
        raise RequestError("input-malformed", message, file=self._file, case=case)


def upcast(value: Any) -> Any:
    """`value` with floating tensors in float64 (complex ones in complex128)."""

    def convert(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_floating_point():
            return tensor.double()
        return tensor.to(torch.complex128) if tensor.is_complex() else tensor

    return map_tensors(value, convert)


def _op_name(description: Any, path: Path) -> str:
    name = getattr(description, "op_name", None)
    text = name if isinstance(name, str) and name else path.parent.name
    identifier = re.sub(r"\W+", "_", text).strip("_")
    if not identifier or identifier[0].isdigit():
        identifier = f"op_{identifier}".rstrip("_")
    return identifier
