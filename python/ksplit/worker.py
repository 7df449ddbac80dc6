# SPDX-License-Identifier: Apache-2.0
"""The worker process: answers requests until its pipe ends. docs/protocol.md is the contract."""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from ksplit.protocol import VERSION, Channel, RequestError, user_error

if TYPE_CHECKING:  # these import torch, without which the worker must still start
    from ksplit.accuracy import ReferenceStore
    from ksplit.devices import Device
    from ksplit.loading import Implementation
    from ksplit.task import Task

Request = dict[str, Any]


class Worker:
    """State of one worker: a device and at most one task."""

    def __init__(self, device: Device | None, trouble: RequestError | None) -> None:
        self._device = device
        self._trouble = trouble  # why there is no device
        self._task: Task | None = None
        self._store: ReferenceStore | None = None
        self._operations: dict[str, Callable[[Request], dict[str, Any]]] = {
            "hello": self._hello,
            "load": self._load,
            "parse": self._parse,
            "graph": self._graph,
            "trace": self._trace,
            "compile": self._compile,
            "ttir": self._ttir,
            "verify": self._verify,
            "bench": self._bench,
            "latency": self._latency,
            "route": self._route,
            "fuzz": self._fuzz,
        }

    def answer(self, request: Request) -> dict[str, Any]:
        """The answer to a request, whatever the user's code does meanwhile."""
        number = request.get("id")
        try:
            operation = self._operations.get(request.get("op", ""))
            if operation is None:
                raise RequestError("unsupported", f"there is no operation {request.get('op')!r}")
            return {"id": number, "ok": True, "result": operation(request)}
        except RequestError as error:
            return {"id": number, "ok": False, "error": error.to_json()}
        except BaseException as error:  # noqa: BLE001
            wrapped = user_error("worker-failed", f"{request.get('op')} fails", error)
            return {"id": number, "ok": False, "error": wrapped.to_json()}

    def device_is_lost(self) -> bool:
        """Whether a kernel has left the device unusable for this process."""
        try:
            if self._device is not None:
                self._device.synchronize()
        except Exception:  # noqa: BLE001
            return True
        return False

    # -- operations ----------------------------------------------------------------------------

    def _hello(self, _: Request) -> dict[str, Any]:
        device = self._opened()
        import torch
        import triton

        return {
            "protocol": VERSION,
            "python": platform.python_version(),
            "torch": torch.__version__,
            "triton": triton.__version__,
            "device": device.describe(),
            "executor": device.executor,
        }

    def _load(self, request: Request) -> dict[str, Any]:
        device = self._opened()
        from ksplit.accuracy import ReferenceStore
        from ksplit.task import Task

        self._task = self._store = None  # frees the old task's memory first
        task = Task(request["task"], request["base"], int(request.get("seed", 0)), device)
        self._task = task
        self._store = ReferenceStore(task)
        return {
            "op_name": task.op_name,
            "parameters": task.parameters,
            "cases": [task.describe_case(index) for index in range(1, task.case_count + 1)],
            "reference_runs_in_float64": task.reference64 is not None,
        }

    def _parse(self, request: Request) -> dict[str, Any]:
        from ksplit.sources import parse_file

        return parse_file(Path(request["path"]))

    def _graph(self, request: Request) -> dict[str, Any]:
        task = self._loaded()
        from ksplit.graphs import reference_graph

        return reference_graph(task, request["case"])

    def _trace(self, request: Request) -> dict[str, Any]:
        task = self._loaded()
        from ksplit.tracing import trace

        return trace(task, self._file(request), request["case"])

    def _compile(self, request: Request) -> dict[str, Any]:
        task = self._loaded()
        from ksplit.tracing import compile_kernels

        return compile_kernels(task, self._file(request), request["cases"])

    def _ttir(self, request: Request) -> dict[str, Any]:
        task = self._loaded()
        from ksplit.lowering import ttir

        return ttir(task, self._file(request), request["case"], request["target"])

    def _verify(self, request: Request) -> dict[str, Any]:
        task = self._loaded()
        from ksplit.verifying import verify

        assert self._store is not None
        implementation = self._file(request)
        return verify(task, self._store, implementation, request["cases"], request["rules"])

    def _bench(self, request: Request) -> dict[str, Any]:
        task = self._loaded()
        from ksplit.timing import bench

        names = ("arms", "case", "schedule", "launches", "regime")
        return bench(task, *(request[name] for name in names))

    def _latency(self, request: Request) -> dict[str, Any]:
        task = self._loaded()
        from ksplit.timing import latency

        return latency(task, *(request[name] for name in ("arms", "case", "schedule", "calls")))

    def _route(self, request: Request) -> dict[str, Any]:
        task = self._loaded()
        from ksplit.routing import route

        return route(task, self._file(request), request["case"], request["calls"])

    def _fuzz(self, request: Request) -> dict[str, Any]:
        task = self._loaded()
        from ksplit.fuzzing import fuzz

        implementation = self._file(request)
        return fuzz(task, implementation, request["count"], request["seed"], request["rules"])

    # -- what they need ------------------------------------------------------------------------

    def _opened(self) -> Device:
        if self._device is None:
            assert self._trouble is not None
            raise self._trouble
        return self._device

    def _loaded(self) -> Task:
        self._opened()
        if self._task is None:
            raise RequestError("worker-failed", "no task is loaded")
        return self._task

    def _file(self, request: Request) -> Implementation:
        return self._loaded().implementation(request["file"])


def open_named_device(name: str) -> tuple[Device | None, RequestError | None]:
    try:
        from ksplit.devices import open_device

        return open_device(name), None
    except RequestError as error:
        return None, error
    except Exception as error:  # noqa: BLE001
        # A broken torch or Triton, a driver that does not start.
        return None, user_error("environment", f"device {name} does not open", error)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m ksplit.worker")
    parser.add_argument("--device", default="cpu", help="cpu, cuda[:N], npu[:N] or auto")
    arguments = parser.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the core decides what an interrupt ends
    worker = Worker(*open_named_device(arguments.device))
    channel = Channel()
    for request in channel.requests():
        answer = worker.answer(request)
        lost = worker.device_is_lost()
        if lost and not answer["ok"]:
            answer["error"]["kind"] = "worker-failed"
        channel.answer(answer)
        if lost:
            return 1
    return 0


if __name__ == "__main__":
    status = main()
    with contextlib.suppress(Exception):  # a kernel may have closed it
        sys.stdout.flush()
    os._exit(status)  # threads and exit handlers that kernels left behind do not hold us up
