# SPDX-License-Identifier: Apache-2.0
"""`route`, `fuzz`, `bench` and `latency` on a file of the shape that ksplit emits."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import RULES, Failure, Operator, WorkerProcess

EMITTED = """\
import torch
from torch import nn


class ModelBase(nn.Module):
    def forward(self, x, dim=0):
        return torch.sum(x, dim)


def sum_grp_small(self, x, dim=0):
    return {small}


def sum_grp_large(self, x, dim=0):
    return torch.sum(x, dim)


class ModelNew(ModelBase):
    def forward(self, x, dim=0):
        return self._route(x, dim)

    def _route(self, x, dim=0):
        if x.dim() == 2:
            if x.size(1) {test} 32:
                return sum_grp_small(self, x, dim)
            return sum_grp_large(self, x, dim)
        return ModelBase.forward(self, x, dim)
"""
CASES = "[[torch.randn(4, 8), 0], [torch.randn(4, 64), 1], [torch.randn(9), 0]]"


def emitted(operator: Operator, small: str = "torch.sum(x, dim)", test: str = "<=") -> str:
    return operator.write("split_kernel.py", EMITTED.format(small=small, test=test))


@pytest.fixture
def loaded(worker: WorkerProcess, operator: Operator) -> Operator:
    operator.task("x, dim=0: torch.sum(x, dim)", CASES)
    worker.load(operator.folder)
    return operator


def test_routes_and_their_cost(worker: WorkerProcess, loaded: Operator) -> None:
    # Were an implementation run, `small` would raise.
    file = emitted(loaded, small="torch.no_such_function()")
    routes = [worker.ask("route", file=file, case=case, calls=200) for case in (1, 2, 3)]
    assert [r["route"] for r in routes] == ["sum_grp_small", "sum_grp_large", "base"]
    assert all(0 <= r["router_us"] < 1000 for r in routes)
    base = str(loaded.folder / "base_kernel.py")
    assert worker.ask("route", file=base, case=1, calls=9) == {"router_us": 0.0, "route": "base"}
    with pytest.raises(Failure):
        worker.ask("trace", file=file, case=1)  # the stubs are gone


def test_fuzz_accepts_a_right_file(worker: WorkerProcess, loaded: Operator) -> None:
    result = worker.ask("fuzz", file=emitted(loaded), count=60, seed=5, rules=RULES)
    assert result["failures"] == []
    assert result["accepted"] == 60 <= result["tried"]
    assert set(result["routes"]) == {"sum_grp_small", "sum_grp_large", "base"}
    assert sum(result["routes"].values()) == 60


WRONG = {
    "assumes fp32": "torch.sum(x, dim, dtype=torch.float32)",
    "assumes contiguous": "x.new_tensor(x.untyped_storage().tolist()[:0] or 0) + torch.sum("
    "x.as_strided(x.shape, (x.size(1), 1)), dim)",
    "assumes the axis": "torch.sum(x, 0)",
    "raises": "torch.sum(x, dim) if x.size(1) != 7 else 1 / 0",
}


@pytest.mark.parametrize("name", list(WRONG))
def test_fuzz_finds_what_the_cases_do_not_show(
    worker: WorkerProcess, loaded: Operator, name: str
) -> None:
    file = emitted(loaded, small=WRONG[name])
    verified = worker.ask("verify", file=file, cases=[1, 2, 3], rules=RULES)
    assert all(c["outputs"][0]["violations"] == 0 for c in verified["cases"])
    result = worker.ask("fuzz", file=file, count=300, seed=1, rules=RULES)
    assert result["failures"], result
    assert {f["route"] for f in result["failures"]} == {"sum_grp_small"}
    assert all(f["message"] and f["inputs"][0]["kind"] == "tensor" for f in result["failures"])


def test_fuzz_excuses_what_the_base_cannot_do(worker: WorkerProcess, operator: Operator) -> None:
    operator.task("x: x * 2", "[[torch.randn(8)]]", base="x: x * 2 if x.numel() < 9 else x * 3")
    worker.load(operator.folder)
    base = str(operator.folder / "base_kernel.py")
    assert worker.ask("fuzz", file=base, count=40, seed=0, rules=RULES)["failures"] == []
    same = operator.candidate("x: x * 2 if x.numel() < 9 else x * 3")
    assert worker.ask("fuzz", file=same, count=40, seed=0, rules=RULES)["failures"] == []


def test_fuzz_skips_what_the_reference_refuses(worker: WorkerProcess, operator: Operator) -> None:
    operator.task("x: x.view(8) + 1", "[[torch.randn(8)]]")
    worker.load(operator.folder)
    base = str(operator.folder / "base_kernel.py")
    result = worker.ask("fuzz", file=base, count=20, seed=0, rules=RULES)
    assert result["tried"] > result["accepted"] and not result["failures"]


def arms(loaded: Operator) -> list[dict[str, str | None]]:
    base = str(loaded.folder / "base_kernel.py")
    return [{"name": "base", "file": base}, {"name": "torch", "file": None}]


@pytest.mark.parametrize("regime", ["cold", "warm"])
def test_bench_gives_a_sample_per_entry(
    worker: WorkerProcess, loaded: Operator, regime: str
) -> None:
    schedule = ["base", "torch", "torch", "base", "base"]
    result = worker.ask(
        "bench", arms=arms(loaded), case=1, schedule=schedule, launches=2, regime=regime
    )
    assert len(result["device_us"]) == len(schedule)
    assert all(0 < sample < 1e6 for sample in result["device_us"])
    assert result["overhead_us"] == 0.0 and result["clock"] == "steady"


def test_latency_gives_a_sample_per_entry(worker: WorkerProcess, loaded: Operator) -> None:
    result = worker.ask("latency", arms=arms(loaded), case=2, schedule=["torch", "base"], calls=5)
    assert len(result["host_us"]) == 2
    assert all(0 < sample < 1e6 for sample in result["host_us"])


def test_slow_arms_are_seen_as_slow(worker: WorkerProcess, loaded: Operator) -> None:
    slow = (
        Path(emitted(loaded))
        .read_text()
        .replace("return torch", "__import__('time').sleep(0.01); return torch")
    )
    file = loaded.write("slow.py", slow)
    both = [*arms(loaded), {"name": "slow", "file": file}]
    result = worker.ask("latency", arms=both, case=1, schedule=["slow"], calls=3)
    assert result["host_us"][0] >= 10_000


def test_arms_that_fail(worker: WorkerProcess, loaded: Operator) -> None:
    file = loaded.candidate("x, dim=0: x.oops()")
    request = {"case": 1, "schedule": ["bad"], "calls": 1}
    with pytest.raises(Failure) as failure:
        worker.ask("latency", arms=[{"name": "bad", "file": file}], **request)
    error = failure.value.error
    assert (error["kind"], error["case"], error["line"]) == ("candidate-failed", 1, 7)
    with pytest.raises(Failure, match="regime|cannot do"):
        worker.ask("bench", arms=arms(loaded), case=1, schedule=[], launches=0, regime="cold")
