# SPDX-License-Identifier: Apache-2.0
"""The `verify` operation: an implementation's results, and its conduct, case by case."""

from __future__ import annotations

from typing import Any

from ksplit.accuracy import (
    CandidateError,
    ReferenceStore,
    Rules,
    check_structure,
    compare,
    run_candidate,
)
from ksplit.conduct import aliased_inputs, changed_inputs, first_fault
from ksplit.loading import Implementation
from ksplit.task import Task


def verify(
    task: Task,
    store: ReferenceStore,
    implementation: Implementation,
    cases: list[int],
    rules: Rules,
) -> dict[str, Any]:
    results = []
    for case in cases:
        result: dict[str, Any] = {"case": case, "error": None, "fault": None, "outputs": []}
        try:
            result["outputs"] = _verify_case(task, store, implementation, case, rules)
            result["fault"] = first_fault(task, store, implementation, case, rules)
        except CandidateError as error:
            result["error"] = {"kind": error.kind, "message": str(error)}
        results.append(result)
    return {"cases": results}


def _verify_case(
    task: Task, store: ReferenceStore, implementation: Implementation, case: int, rules: Rules
) -> list[dict[str, Any]]:
    # The candidate comes first: the reference's results do not exist yet.
    inputs = task.inputs(case)
    actual = run_candidate(task, implementation, inputs)
    changed = changed_inputs(task, inputs, case)
    expected = store.get(case)
    check_structure(actual, expected.native)
    results = []
    for got, native, golden in zip(actual, expected.native, expected.golden):
        if got is not None and native is not None:
            result = compare(got, native, golden, rules)
            result["changed_inputs"] = changed
            result["aliased_inputs"] = aliased_inputs(task, got, inputs)
            results.append(result)
    return results
