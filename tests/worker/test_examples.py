# SPDX-License-Identifier: Apache-2.0
"""The example operators: generic kernels that are right on all their cases."""

from __future__ import annotations

import pytest
from conftest import ROOT, RULES, WorkerProcess


@pytest.mark.parametrize("name", ["sum", "add", "cumsum"])
def test_examples_are_right_on_every_case(worker: WorkerProcess, name: str) -> None:
    folder = ROOT / "examples" / name
    loaded = worker.load(folder)
    assert loaded["op_name"] == name
    count = len(loaded["cases"])
    assert 10 <= count <= 14
    base = str(folder / "base_kernel.py")
    cases = list(range(1, count + 1))
    answer = worker.ask("verify", file=base, cases=cases, rules=RULES)
    for case in answer["cases"]:
        assert case["error"] is None
        (output,) = case["outputs"]
        assert output["violations"] == 0 and output["dtype_equal"] and output["shape_equal"]
        assert output["mere"] < RULES[output["dtype"]]["t"]
        assert output["golden"] == "float64" and output["changed_inputs"] == []
    launches = worker.ask("trace", file=base, case=2)["launches"]
    assert [launch["kernel"] for launch in launches] == [f"{name}_kernel"]


@pytest.mark.parametrize("name", ["sum", "add"])
def test_bench_tasks_use_the_examples_kernels(name: str) -> None:
    example = ROOT / "examples" / name / "base_kernel.py"
    assert (ROOT / "bench" / "tasks" / name / "base_kernel.py").read_text() == example.read_text()


def test_bench_tasks_read_the_cases_they_are_given(worker: WorkerProcess) -> None:
    loaded = worker.load(ROOT / "bench" / "tasks" / "sum")  # KSPLIT_CASES names the example's
    assert loaded["cases"] == worker.load(ROOT / "examples" / "sum")["cases"]
