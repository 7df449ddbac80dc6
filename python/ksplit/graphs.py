# SPDX-License-Identifier: Apache-2.0
"""The reference as a list of ATen operations."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ksplit.task import Task
from ksplit.values import encode_tensor, is_constant, tensors_in

# A tensor that forward builds from Python numbers is spelled out up to this size.
_MAX_LITERAL = 64


def reference_graph(task: Task, case: int) -> dict[str, Any]:
    """The `graph` operation."""
    inputs = task.inputs(case)
    recorder = _Recorder(inputs, task.reference)
    try:
        with torch.no_grad(), recorder:
            outputs = task.reference(*inputs)
    except BaseException as error:
        raise task.reference_error(error, case) from error
    values = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    return {"nodes": recorder.nodes, "outputs": [recorder.operand(value) for value in values]}


class _Recorder(TorchDispatchMode):
    def __init__(self, inputs: list[Any], module: torch.nn.Module) -> None:
        super().__init__()
        self.nodes: list[dict[str, Any]] = []
        # Tensors are told apart by their Python objects, which stay alive as long as we do.
        self._alive: list[torch.Tensor] = []
        self._operands: dict[int, dict[str, Any]] = {}
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            self._remember(tensor, {"state": name})
        for position, value in enumerate(inputs):
            for tensor in tensors_in(value):
                self._remember(tensor, {"input": position})

    def _remember(self, tensor: torch.Tensor, operand: dict[str, Any]) -> None:
        self._alive.append(tensor)
        self._operands[id(tensor)] = operand

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        # Before the call: an in-place operation's result is the very object it read.
        arguments = [self.operand(value) for value in _complete(func, args)]
        keywords = {name: self.operand(value) for name, value in kwargs.items()}
        result = func(*args, **kwargs)
        outputs = list(tensors_in(result))
        node = len(self.nodes)
        self.nodes.append(
            {
                "op": str(func),
                "arguments": arguments,
                "keywords": keywords,
                "outputs": [encode_tensor(tensor) for tensor in outputs],
            }
        )
        for position, tensor in enumerate(outputs):
            self._remember(tensor, {"node": node, "output": position})
        return result

    def operand(self, value: Any) -> dict[str, Any]:
        if isinstance(value, torch.Tensor):
            known = self._operands.get(id(value))
            if known is not None:
                return known
            if value.numel() <= _MAX_LITERAL and is_constant(value.tolist()):
                return {"constant": value.tolist()}
            return {"constant": f"tensor of shape {list(value.shape)}"}
        if isinstance(value, (list, tuple)) and any(True for _ in tensors_in(value)):
            return {"list": [self.operand(item) for item in value]}
        return {"constant": value if is_constant(value) else str(value)}


def _complete(func: Any, args: tuple[Any, ...]) -> list[Any]:
    """Positional arguments with the defaults that the caller left out."""
    schema = [argument for argument in func._schema.arguments if not argument.kwarg_only]
    missing = schema[len(args) :]
    defaults = [a.default_value if a.has_default_value() else None for a in missing]
    return [*args, *defaults]
