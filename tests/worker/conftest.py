# SPDX-License-Identifier: Apache-2.0
"""A real worker process, spoken to over descriptors 3 and 4 as the core does."""

from __future__ import annotations

import fcntl
import json
import os
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
RULES = {
    "float32": {"rtol": 2.0**-13, "atol": 1e-5, "t": 2.0**-13},
    "float16": {"rtol": 2.0**-10, "atol": 1e-3, "t": 2.0**-10},
    "bfloat16": {"rtol": 2.0**-7, "atol": 1e-2, "t": 2.0**-7},
}


class Failure(Exception):
    """An answer that is not ok; `error` is its error object."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error['kind']}: {error['message']}\n{error['traceback']}")
        self.error = error


class WorkerProcess:
    def __init__(
        self,
        environment: dict[str, str] | None = None,
        device: str = "cpu",
        cwd: Path | None = None,
    ) -> None:
        request_read, request_write = os.pipe()
        answer_read, answer_write = os.pipe()
        # Above 10, so that moving them to 3 and 4 in the child cannot overwrite one another.
        child = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (request_read, answer_write)]
        variables = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "KSPLIT_CPU": "interpreter"}
        variables.update(environment or {})
        before = os.getcwd()
        os.chdir(cwd or before)
        try:
            self.pid = os.posix_spawn(
                sys.executable,
                [sys.executable, "-m", "ksplit.worker", "--device", device],
                variables,
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, child[0], 3),
                    (os.POSIX_SPAWN_DUP2, child[1], 4),
                    (os.POSIX_SPAWN_CLOSE, child[0]),
                    (os.POSIX_SPAWN_CLOSE, child[1]),
                ],
            )
        finally:
            os.chdir(before)
        for descriptor in (request_read, answer_write, *child):
            os.close(descriptor)
        self._requests = os.fdopen(request_write, "w")
        self._answers = os.fdopen(answer_read, "r")
        self._next_id = 0
        self.last_base = ""  # of the task loaded last

    def raw(self, op: str, **fields: Any) -> dict[str, Any] | None:
        """The whole answer; None if the worker died."""
        self._next_id += 1
        self._requests.write(json.dumps({"id": self._next_id, "op": op, **fields}) + "\n")
        self._requests.flush()
        line = self._answers.readline()
        answer = json.loads(line) if line else None
        assert answer is None or answer["id"] == self._next_id
        return answer

    def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        answer = self.raw(op, **fields)
        assert answer is not None, "the worker died"
        if not answer["ok"]:
            raise Failure(answer["error"])
        return answer["result"]

    def load(self, folder: Path, seed: int = 0) -> dict[str, Any]:
        self.last_base = str(folder / "base_kernel.py")
        task, base = folder / "task_desc.py", folder / "base_kernel.py"
        return self.ask("load", task=str(task), base=str(base), seed=seed, timeout=60)

    def close(self) -> int:
        """Ends the worker by closing its pipe; its exit status."""
        self._requests.close()
        _, status = os.waitpid(self.pid, 0)
        self._answers.close()
        return os.waitstatus_to_exitcode(status)


@pytest.fixture(scope="session")
def session_worker() -> Iterator[WorkerProcess]:
    cases = ROOT / "examples" / "sum" / "cases.jsonl"  # for the tasks under bench/
    worker = WorkerProcess({"KSPLIT_CASES": str(cases)})
    yield worker
    assert worker.close() == 0


@pytest.fixture
def worker(session_worker: WorkerProcess) -> WorkerProcess:
    """The shared worker. Tests load what they need: it holds one task at a time."""
    return session_worker


@pytest.fixture(scope="module")
def native() -> Iterator[WorkerProcess]:
    """A worker with the native CPU backend."""
    worker = WorkerProcess({"KSPLIT_CPU": ""})
    if worker.ask("hello")["executor"] != "native-cpu":
        worker.close()
        pytest.skip("the CPU backend is not built")
    yield worker
    assert worker.close() == 0


class Operator:
    """A task in a folder of its own, written by a test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.write_text(textwrap.dedent(text))
        return str(path)

    def task(self, forward: str, cases: str, base: str | None = None) -> str:
        """Writes reference, cases and a base that does as the reference; the base's path.

        `forward` is `parameters: expression`, `cases` the body of get_input_groups().
        """
        model = self.module("Model", forward)
        self.write("task_desc.py", f"{model}\n\ndef get_input_groups():\n    return {cases}\n")
        return self.write("base_kernel.py", self.module("ModelNew", base or forward))

    def candidate(self, forward: str, name: str = "candidate.py") -> str:
        return self.write(name, self.module("ModelNew", forward))

    @staticmethod
    def module(name: str, forward: str) -> str:
        parameters, expression = forward.split(":", 1)
        return (
            "import torch\nfrom torch import nn\n\n\n"
            f"class {name}(nn.Module):\n"
            f"    def forward(self, {parameters}):\n"
            f"        return {expression.strip()}\n"
        )


@pytest.fixture
def operator(tmp_path: Path) -> Operator:
    folder = tmp_path / "my-op"
    folder.mkdir()
    return Operator(folder)
