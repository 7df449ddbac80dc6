# SPDX-License-Identifier: Apache-2.0
"""A real worker process, spoken to over descriptors 3 and 4 as the core does."""

from __future__ import annotations

import fcntl
import json
import os
import sys
from pathlib import Path
from typing import Any, Iterator, Optional

import pytest

ROOT = Path(__file__).resolve().parents[2]
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
        environment: Optional[dict[str, str]] = None,
        device: str = "cpu",
        cwd: Optional[Path] = None,
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

    def raw(self, op: str, **fields: Any) -> Optional[dict[str, Any]]:
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
    worker = WorkerProcess()
    yield worker
    assert worker.close() == 0


@pytest.fixture
def worker(session_worker: WorkerProcess) -> WorkerProcess:
    """The shared worker. Tests load what they need: it holds one task at a time."""
    return session_worker
