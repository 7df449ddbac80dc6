# SPDX-License-Identifier: Apache-2.0
"""Device time and host latency of implementations, sample by sample.

Only raw means are made here; what they prove is decided elsewhere.
"""

from __future__ import annotations

import contextlib
import gc
import statistics
from collections.abc import Iterator
from time import perf_counter_ns
from typing import Any, Callable

import torch

from ksplit.protocol import RequestError, user_error
from ksplit.task import Task

Call = Callable[[], Any]

# Calls of each arm before anything is timed: compilation, autotuning, allocator.
_WARM_UP_CALLS = 3
# Empty intervals from which a GPU's event overhead is estimated.
_EMPTY_INTERVALS = 20


def arm_calls(task: Task, arms: list[dict[str, Any]], case: int) -> dict[str, Call]:
    """One warmed-up call per arm, all on the same inputs. Errors: candidate-failed."""
    if len({arm["name"] for arm in arms}) != len(arms):
        raise RequestError("input-malformed", "two arms have the same name")
    inputs = task.inputs(case)
    calls: dict[str, Call] = {}
    for arm in arms:
        file = arm["file"]
        module = task.reference if file is None else task.implementation(file).module
        call = _bound_call(module, inputs)
        try:
            with torch.no_grad():
                for _ in range(_WARM_UP_CALLS):
                    call()
            task.device.synchronize()
        except BaseException as error:
            if file is None:
                raise task.reference_error(error, case) from error
            what = f"arm {arm['name']!r} fails on case {case}"
            raise user_error("candidate-failed", what, error, file=file, case=case) from error
        calls[arm["name"]] = call
    return calls


def _bound_call(module: torch.nn.Module, inputs: list[Any]) -> Call:
    return lambda: module(*inputs)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """No gradients, no garbage collection in the middle of a sample."""
    gc.collect()
    gc.disable()
    try:
        with torch.no_grad():
            yield
    finally:
        gc.enable()


def bench(
    task: Task,
    arms: list[dict[str, Any]],
    case: int,
    schedule: list[str],
    launches: int,
    regime: str,
) -> dict[str, Any]:
    """The `bench` operation."""
    if launches < 1 or regime not in ("cold", "warm"):
        raise RequestError("input-malformed", f"bench cannot do launches={launches}, {regime!r}")
    calls = arm_calls(task, arms, case)
    cold = regime == "cold"
    with _quiet():
        if task.device.accelerator is None:
            others = arm_calls(task, arms, case) if cold else calls
            samples = [
                _host_sample(task, calls[arm], others[arm], launches, cold) for arm in schedule
            ]
            return {"device_us": samples, "overhead_us": 0.0, "clock": "steady"}
        if task.device.kind == "gpu":
            graphs = _capture_all(task, calls, launches, cold)
            if graphs is not None:
                return _replay(graphs, schedule)
        overhead = _event_overhead(task, cold)
        samples = [_event_sample(task, calls[arm], launches, cold) - overhead for arm in schedule]
        return {"device_us": samples, "overhead_us": overhead, "clock": "events"}


def latency(
    task: Task, arms: list[dict[str, Any]], case: int, schedule: list[str], calls: int
) -> dict[str, Any]:
    """The `latency` operation."""
    if calls < 1:
        raise RequestError("input-malformed", f"latency cannot do calls={calls}")
    arm = arm_calls(task, arms, case)
    samples = []
    with _quiet():
        for name in schedule:
            call = arm[name]
            task.device.synchronize()
            begin = perf_counter_ns()
            for _ in range(calls):
                call()
            samples.append((perf_counter_ns() - begin) / calls / 1e3)
            task.device.synchronize()
    return {"host_us": samples}


def _host_sample(task: Task, call: Call, other: Call, launches: int, cold: bool) -> float:
    """`other` is the same call on other inputs: data shall be cold, not Python and the code."""
    total = 0
    for _ in range(launches):
        if cold:
            task.device.flush_cache()
            other()
        begin = perf_counter_ns()
        call()
        total += perf_counter_ns() - begin
    return total / launches / 1e3


# -- GPU graphs --------------------------------------------------------------------------------


class _Graph:
    """A captured sequence of timed intervals, each over `divisor` forwards."""

    def __init__(self, divisor: int) -> None:
        self.graph = torch.cuda.CUDAGraph()
        self.divisor = divisor
        self.intervals: list[tuple[torch.cuda.Event, torch.cuda.Event]] = []

    def capture(
        self, task: Task, call: Call, count: int, cold: bool, stream: Any, pool: Any
    ) -> None:
        """Records `count` intervals; inside one, `call` runs `divisor` times."""
        with torch.cuda.graph(self.graph, stream=stream, pool=pool):
            for _ in range(count):
                if cold:
                    task.device.flush_cache()
                begin, end = (torch.cuda.Event(enable_timing=True, external=True) for _ in range(2))
                begin.record(stream)
                for _ in range(self.divisor):
                    call()
                end.record(stream)
                self.intervals.append((begin, end))

    def replay(self) -> list[float]:
        """Microseconds of each interval."""
        self.graph.replay()
        torch.cuda.synchronize()
        return [begin.elapsed_time(end) * 1e3 for begin, end in self.intervals]


def _capture_all(
    task: Task, calls: dict[str, Call], launches: int, cold: bool
) -> dict[str | None, _Graph] | None:
    """A graph per arm, and under None one of empty intervals; None if any cannot be captured.

    The graphs share one memory pool: they never run at the same time and nobody reads their
    results.
    """
    before, stream = torch.cuda.current_stream(), torch.cuda.Stream()
    pool = torch.cuda.graph_pool_handle()
    graphs: dict[str | None, _Graph] = {}
    task.device.flush_cache()  # allocates the buffer outside any capture
    if any(_synchronises(call) for call in calls.values()):
        return None
    try:
        graphs[None] = _Graph(1)
        graphs[None].capture(task, lambda: None, _EMPTY_INTERVALS, cold, stream, pool)
        for name, call in calls.items():
            # Libraries set up per stream (handles, workspaces), which a capture would refuse.
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                for _ in range(_WARM_UP_CALLS):
                    call()
            torch.cuda.synchronize()
            graph = _Graph(1 if cold else launches)
            graph.capture(task, call, launches if cold else 1, cold, stream, pool)
            graphs[name] = graph
        torch.cuda.synchronize()
    except Exception:  # noqa: BLE001
        # Work on another stream, a library that allocates, a kernel that raises.
        _abandon_capture(before, pool)
        return None
    return graphs


def _synchronises(call: Call) -> bool:
    """Whether the host waits for the device inside, which ends a capture in failure.

    Asked first because torch cleans up behind a failed capture only in part.
    """
    torch.cuda.set_sync_debug_mode("error")
    try:
        call()
    except RuntimeError:
        return True
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return False


def _abandon_capture(stream: Any, pool: Any) -> None:
    """Undoes what a failed capture leaves behind, so that later ones work.

    `torch.cuda.graph` does not restore the stream when ending the capture fails, and before 2.12
    the allocator goes on believing that it is under way (pytorch/pytorch#180395).
    """
    torch.cuda.set_stream(stream)
    with contextlib.suppress(Exception):  # it knows already, or is a torch without this function
        torch._C._cuda_endAllocateToPool(torch.cuda.current_device(), pool)
    torch.cuda.synchronize()


def _replay(graphs: dict[str | None, _Graph], schedule: list[str]) -> dict[str, Any]:
    for graph in graphs.values():
        graph.replay()  # the first replay uploads the graph
    overhead = statistics.median(graphs[None].replay())
    samples = []
    for name in schedule:
        graph = graphs[name]
        samples.append((statistics.fmean(graph.replay()) - overhead) / graph.divisor)
    for graph in graphs.values():
        graph.graph.reset()
    return {"device_us": samples, "overhead_us": overhead, "clock": "graph"}


# -- events outside graphs ---------------------------------------------------------------------


def _event_sample(task: Task, call: Call, launches: int, cold: bool) -> float:
    accelerator: Any = task.device.accelerator
    intervals = []
    for _ in range(launches):
        if cold:
            task.device.flush_cache()  # also keeps the device busy while the host enqueues
        begin, end = (accelerator.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        intervals.append((begin, end))
    accelerator.synchronize()
    return statistics.fmean(begin.elapsed_time(end) * 1e3 for begin, end in intervals)


def _event_overhead(task: Task, cold: bool) -> float:
    return statistics.median(
        _event_sample(task, lambda: None, 1, cold) for _ in range(_EMPTY_INTERVALS)
    )
