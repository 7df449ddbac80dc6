# SPDX-License-Identifier: Apache-2.0
"""How an implementation behaves beside its first results: what it keeps, and where it reaches."""

from __future__ import annotations

from typing import Any

import torch

from ksplit.accuracy import (
    CandidateError,
    ReferenceStore,
    Rules,
    check_structure,
    compare,
    run_candidate,
)
from ksplit.loading import Implementation
from ksplit.task import Task
from ksplit.values import refill, same_bits, tensors_in

Leaves = "list[torch.Tensor | None]"

# Results of old contents are wrong all over. A result that rounding has pushed a little beyond its
# tolerance on the second contents is none of those.
_LOOSE = 8


def first_fault(
    task: Task, store: ReferenceStore, implementation: Implementation, case: int, rules: Rules
) -> str | None:
    """The first thing wrong with how it behaves on a case; None if nothing was found."""
    fault = state_fault(task, store, implementation, case, rules)
    return fault or access_fault(task, implementation, task.inputs(case))


def state_fault(
    task: Task, store: ReferenceStore, implementation: Implementation, case: int, rules: Rules
) -> str | None:
    """What a second call shows, on other contents at the addresses of the first.

    A result must not be memory that a later call writes to again, and must be computed from what
    the inputs hold, not remembered by their addresses.
    """
    inputs = task.inputs(case)
    first = run_candidate(task, implementation, inputs)
    held = [(k, t, t.clone()) for k, t in enumerate(first) if t is not None]
    held = [item for item in held if not aliased_inputs(task, item[1], inputs)]
    refilled = task.inputs(case)
    refill(refilled)
    if not _overwrite(inputs, refilled):
        return None
    second = run_candidate(task, implementation, inputs)
    for position, tensor, before in held:
        if not same_bits(tensor, before):
            return f"output {position} of a call changes when forward is called again"
    expected = store.get(case).refilled
    if not expected:
        return None
    check_structure(second, expected)
    for position, (got, wanted) in enumerate(zip(second, expected)):
        if got is None or wanted is None:
            continue
        if compare(got, wanted, None, _loosened(rules))["violations"]:
            return f"output {position} is wrong when the inputs hold other values than before"
    return None


def access_fault(task: Task, implementation: Implementation, inputs: list[Any]) -> str | None:
    """What a kernel touches outside the tensors passed to it; None also where none can tell."""
    if task.device.executor != "native-cpu":
        return None
    from ksplit.cpu import KernelFault, checked_access

    try:
        with checked_access():
            run_candidate(task, implementation, inputs)
    except CandidateError as error:
        if isinstance(error.__cause__, KernelFault):
            return str(error.__cause__)
        raise
    return None


def changed_inputs(task: Task, inputs: list[Any], case: int) -> list[str]:
    """Names of the arguments that no longer hold the case's values."""
    names = task.input_names(len(inputs))
    triples = zip(names, inputs, task.stored_inputs(case))
    return [name for name, value, original in triples if not _same_tensors(value, original)]


def aliased_inputs(task: Task, output: torch.Tensor, inputs: list[Any]) -> list[str]:
    """Names of the arguments in whose memory an output lies."""
    names = task.input_names(len(inputs))
    return [name for name, value in zip(names, inputs) if _shares_memory(value, output)]


def _shares_memory(value: Any, output: torch.Tensor) -> bool:
    storage = output.untyped_storage()
    return storage.nbytes() > 0 and any(
        tensor.untyped_storage().data_ptr() == storage.data_ptr() for tensor in tensors_in(value)
    )


def _same_tensors(value: Any, original: Any) -> bool:
    pairs = zip(tensors_in(value), tensors_in(original))
    return all(same_bits(new, old.to(new.device)) for new, old in pairs)


def _overwrite(values: list[Any], contents: list[Any]) -> bool:
    """Puts other contents into the same memory; False where a tensor overlaps itself."""
    try:
        for tensor, other in zip(tensors_in(values), tensors_in(contents)):
            tensor.copy_(other)
    except RuntimeError:
        return False
    return True


def _loosened(rules: Rules) -> Rules:
    return {
        dtype: {name: _LOOSE * value for name, value in rule.items()}
        for dtype, rule in rules.items()
    }
