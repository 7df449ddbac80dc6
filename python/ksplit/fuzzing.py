# SPDX-License-Identifier: Apache-2.0
"""Unseen inputs through an implementation, against the reference and the base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Optional

import torch

from ksplit.accuracy import (
    CandidateError,
    Rules,
    check_structure,
    compare,
    leaves,
    run_candidate,
)
from ksplit.conduct import access_fault
from ksplit.loading import Implementation
from ksplit.protocol import encode_float
from ksplit.routing import BASE, Router
from ksplit.task import Task
from ksplit.values import copy_arguments
from ksplit.variation import Variation

Leaves = list[Optional[torch.Tensor]]

# Elements of the largest tensor of an input. The interpreter is that slow.
_MAX_ELEMENTS = {"interpreter": 1 << 10, "native-cpu": 1 << 20}
_DEFAULT_MAX_ELEMENTS = 1 << 22
# Inputs made per input that counts, before giving up on a task that refuses most of them.
_TRIES_PER_INPUT = 5
_MAX_FAILURES = 20


def fuzz(
    task: Task, implementation: Implementation, count: int, seed: int, rules: Rules
) -> dict[str, Any]:
    """The `fuzz` operation."""
    limit = _MAX_ELEMENTS.get(task.device.executor, _DEFAULT_MAX_ELEMENTS)
    variation = Variation(task, seed, limit)
    router = Router(implementation)
    tried = accepted = 0
    routes: dict[str, int] = {}
    failures: list[dict[str, Any]] = []
    while accepted < count and tried < _TRIES_PER_INPUT * count and task.case_count:
        values = variation.draw()
        tried += 1
        outcome = _try_input(task, implementation, router, values, rules)
        if outcome is None:
            continue
        accepted += 1
        routes[outcome.route] = routes.get(outcome.route, 0) + 1
        if outcome.message and len(failures) < _MAX_FAILURES:
            inputs = task.describe_inputs(values)
            failures.append({"inputs": inputs, "route": outcome.route, "message": outcome.message})
    return {"tried": tried, "accepted": accepted, "routes": routes, "failures": failures}


@dataclass
class _Outcome:
    route: str
    message: str  # what is wrong, empty if nothing is


def _try_input(
    task: Task,
    implementation: Implementation,
    router: Router,
    values: list[Any],
    rules: Rules,
) -> _Outcome | None:
    """None if the reference or the base refuses the input."""

    def fresh() -> list[Any]:
        return copy_arguments(values, task.device.torch_device)

    # Here the reference goes first: kernels are not run on inputs that have no meaning.
    try:
        with torch.no_grad():
            expected = leaves(task.reference(*fresh()))
            task.device.synchronize()
        base = run_candidate(task, task.base, fresh())
    except Exception:  # noqa: BLE001
        return None
    taken: list[str] = []

    def note(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            taken.append(name)
            return original(*args, **kwargs)

        return call

    inputs = fresh()
    try:
        with router.replaced(note):
            actual = run_candidate(task, implementation, inputs)
        wrong = _disagreement(actual, expected, rules)
        if not wrong and taken:
            wrong = access_fault(task, implementation, fresh()) or ""
    except CandidateError as error:
        wrong = str(error)
    route = taken[0] if taken else BASE
    if wrong and _disagreement(base, expected, rules):
        # The base does not serve this input right either: who is routed to it is excused, others
        # must do as it does.
        wrong = "" if route == BASE else _disagreement(actual, base, rules)
    return _Outcome(route, wrong)


def _disagreement(actual: Leaves, expected: Leaves, rules: Rules) -> str:
    """How results differ beyond the elementwise rule; empty if they do not."""
    try:
        check_structure(actual, expected)
    except CandidateError as error:
        return str(error)
    for position, (got, wanted) in enumerate(zip(actual, expected)):
        if got is None or wanted is None:
            continue
        record = compare(got, wanted, None, rules)
        if not record["shape_equal"]:
            return f"output {position} has shape {list(got.shape)}, expected {list(wanted.shape)}"
        if not record["dtype_equal"]:
            return f"output {position} is {got.dtype}, expected {wanted.dtype}"
        if record["violations"]:
            worst = record["worst"] or {}
            return (
                f"output {position}: {record['violations']} of {record['elements']} elements "
                f"differ, worst {_number(worst.get('actual'))} instead of "
                f"{_number(worst.get('expected'))} at {worst.get('index')}"
            )
    return ""


def _number(value: float | None) -> str:
    return "?" if value is None else str(encode_float(value))
