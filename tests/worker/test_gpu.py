# SPDX-License-Identifier: Apache-2.0
"""What only a CUDA device can show: Triton proper, graph timing, compiled resources."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

import pytest
import torch
from conftest import ROOT, RULES, Operator, WorkerProcess

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@pytest.fixture(scope="module")
def gpu() -> Iterator[WorkerProcess]:
    cases = ROOT / "examples" / "sum" / "cases.jsonl"
    worker = WorkerProcess({"KSPLIT_CASES": str(cases)}, device="cuda:0")
    yield worker
    assert worker.close() == 0


def test_hello(gpu: WorkerProcess) -> None:
    hello = gpu.ask("hello")
    assert hello["executor"] == "triton"
    device = hello["device"]
    assert device["kind"] == "gpu" and device["name"] == torch.cuda.get_device_name(0)
    assert device["l2_bytes"] > 0 and device["cores"] > 0
    assert device["capability"] == list(torch.cuda.get_device_capability(0))


@pytest.mark.parametrize("name", ["sum", "add", "cumsum"])
def test_examples(gpu: WorkerProcess, name: str) -> None:
    folder = ROOT / "examples" / name
    cases = list(range(1, len(gpu.load(folder)["cases"]) + 1))
    base = str(folder / "base_kernel.py")
    kernels = gpu.ask("compile", file=base, cases=cases[:2])["kernels"]
    assert {k["name"] for k in kernels} == {f"{name}_kernel"}
    assert all(k["registers"] > 0 and k["spills"] >= 0 for k in kernels)
    for case in gpu.ask("verify", file=base, cases=cases, rules=RULES)["cases"]:
        assert case["error"] is None
        (output,) = case["outputs"]
        assert output["golden"] == "float64"
        assert output["rmse"] <= RULES[output["dtype"]]["t"] * output["golden_rms"]
        # Running sums cross zero, where a relative rule on another order of sums says little.
        assert output["violations"] == 0 or name == "cumsum"
    launch = gpu.ask("trace", file=base, case=2)["launches"][0]
    assert launch["num_warps"] == 4 and launch["arguments"][0]["input"] == 0
    result = gpu.ask("fuzz", file=base, count=50, seed=1, rules=RULES)
    assert result["failures"] == [] and result["accepted"] == 50


SCHEDULE = ["small", "large", "torch"] * 5


def bench(gpu: WorkerProcess, operator: Operator, small: str, regime: str) -> dict[str, object]:
    arms = [
        {"name": "small", "file": operator.candidate(small, "small.py")},
        {"name": "large", "file": operator.candidate("x: x.sqrt().sqrt().sqrt()", "large.py")},
        {"name": "torch", "file": None},
    ]
    return gpu.ask("bench", arms=arms, case=1, schedule=SCHEDULE, launches=10, regime=regime)


@pytest.mark.parametrize("regime", ["cold", "warm"])
def test_graph_times_are_device_times(gpu: WorkerProcess, operator: Operator, regime: str) -> None:
    operator.task("x: x.sqrt()", "[[torch.rand(1 << 24)]]")
    gpu.load(operator.folder)
    result = bench(gpu, operator, "x: x.sqrt()", regime)
    assert result["clock"] == "graph"
    names = SCHEDULE[:3]  # in each round
    samples = result["device_us"]
    medians = {name: statistics.median(samples[at::3]) for at, name in enumerate(names)}
    bytes_moved = 2 * 4 * (1 << 24)
    assert medians["torch"] > bytes_moved / 10e6  # no device moves 10 TB/s
    assert medians["torch"] == pytest.approx(medians["small"], rel=0.2)
    assert 2 < medians["large"] / medians["small"] < 4.5


HOSTILE = {
    "waits in an operation": "x.sqrt() * (1 if float(x.sum()) > 0 else 2)",
    "waits for the device": "torch.cuda.synchronize() or x.sqrt()",
}


@pytest.mark.parametrize("name", list(HOSTILE))
def test_what_cannot_be_captured_is_timed_with_events(
    gpu: WorkerProcess, operator: Operator, name: str
) -> None:
    operator.task("x: x.sqrt()", "[[torch.rand(1 << 20)]]")
    gpu.load(operator.folder)
    result = bench(gpu, operator, f"x: {HOSTILE[name]}", "cold")
    assert result["clock"] == "events"
    assert all(sample > 0 for sample in result["device_us"])
    # A failed capture leaves nothing behind.
    assert bench(gpu, operator, "x: x.sqrt()", "cold")["clock"] == "graph"


def test_a_lost_device_ends_the_worker(operator: Operator) -> None:
    operator.task("x: x + 1", "[[torch.ones(4)]]")
    worker = WorkerProcess(device="cuda:0")
    worker.load(operator.folder)
    file = operator.write(
        "candidate.py",
        """
        import torch
        import triton
        import triton.language as tl
        from torch import nn

        @triton.jit
        def wild_kernel(x_ptr):
            tl.store(x_ptr + (1 << 40), 1.0)

        class ModelNew(nn.Module):
            def forward(self, x):
                wild_kernel[(1,)](x)
                return x + 1
        """,
    )
    answer = worker.raw("verify", file=file, cases=[1], rules=RULES)
    assert answer is not None
    error = answer["result"]["cases"][0]["error"] if answer["ok"] else answer["error"]
    assert error["kind"] in ("candidate-failed", "worker-failed")
    assert worker.close() == 1
