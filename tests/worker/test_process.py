# SPDX-License-Identifier: Apache-2.0
"""The worker as a process: its pipes, and what user code may do to it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import RULES, Failure, Operator, WorkerProcess


def test_hello_says_what_runs_where(worker: WorkerProcess) -> None:
    hello = worker.ask("hello")
    assert hello["protocol"] == 1
    assert hello["executor"] == "interpreter"
    assert hello["python"] == ".".join(str(n) for n in sys.version_info[:3])
    device = hello["device"]
    assert device["kind"] == "cpu" and device["capability"] is None
    assert device["cores"] == len(os.sched_getaffinity(0))
    assert device["l2_bytes"] >= 1 << 20


def test_unknown_operation_is_an_answer(worker: WorkerProcess) -> None:
    with pytest.raises(Failure) as failure:
        worker.ask("dance")
    assert failure.value.error["kind"] == "unsupported"
    assert "dance" in failure.value.error["message"]


def test_operations_need_a_task() -> None:
    worker = WorkerProcess()
    with pytest.raises(Failure, match="no task is loaded"):
        worker.ask("graph", case=1)
    assert worker.close() == 0


def test_missing_torch_is_told_by_hello_and_parse_still_works(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    (tmp_path / "torch.py").write_text("raise ImportError('no torch for you')\n")
    source = tmp_path / "source.py"
    source.write_text("x = 1\n")
    worker = WorkerProcess({"PYTHONPATH": os.pathsep.join([str(tmp_path), str(root / "python")])})
    with pytest.raises(Failure) as failure:
        worker.ask("hello")
    assert failure.value.error["kind"] == "environment"
    assert "torch" in failure.value.error["message"]
    assert "pip install torch" in failure.value.error["message"]
    assert worker.ask("parse", path=str(source))["text"] == "x = 1\n"
    assert worker.close() == 0


def test_a_cpu_backend_that_fails_late_gives_way_to_the_interpreter(tmp_path: Path) -> None:
    """Triton is imported by then, and its library is interpreted only if told before."""
    root = Path(__file__).resolve().parents[2]
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.abc, importlib.machinery, sys\n\n"
        "class Backend(importlib.abc.MetaPathFinder, importlib.abc.Loader):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'ksplit.cpu':\n"
        "            return importlib.machinery.ModuleSpec(name, self)\n\n"
        "    def exec_module(self, module):\n"
        "        import triton.language\n"
        "        raise RuntimeError('no compiler')\n\n"
        "sys.meta_path.insert(0, Backend())\n"
    )
    paths = os.pathsep.join([str(tmp_path), str(root / "python")])
    worker = WorkerProcess({"KSPLIT_CPU": "", "PYTHONPATH": paths})
    assert worker.ask("hello")["executor"] == "interpreter"
    folder = root / "examples" / "add"
    worker.load(folder)
    base = str(folder / "base_kernel.py")
    case = worker.ask("verify", file=base, cases=[1], rules=RULES)["cases"][0]
    assert case["error"] is None and case["outputs"][0]["violations"] == 0
    assert worker.close() == 0


def test_missing_device_is_an_environment_error() -> None:
    for device, word in (("abacus", "abacus"), ("cuda:99", "cuda")):
        worker = WorkerProcess(device=device)
        with pytest.raises(Failure) as failure:
            worker.ask("hello")
        assert failure.value.error["kind"] == "environment"
        assert word in failure.value.error["message"]
        assert worker.close() == 0


RUDE = {
    "prints": "print('{\"id\": 1}', flush=True)",
    "raises": "raise RuntimeError('no')",
    "exits": "raise SystemExit(3)",
    "interrupts": "raise KeyboardInterrupt",
    "closes stdout": "os.closerange(1, 2)",
    "closes the low descriptors": "os.closerange(3, 5)",
    "forks and returns": "os.fork()",
    "leaves a thread": "threading.Thread(target=threading.Event().wait).start()",
    "replaces sys.stdout": "sys.stdout = None",
}


@pytest.fixture(scope="module")
def suffering_worker() -> Iterator[WorkerProcess]:
    worker = WorkerProcess()
    yield worker
    assert worker.close() == 0  # it ends when told to, whatever was left behind


@pytest.mark.parametrize("deed", list(RUDE))
def test_no_deed_of_a_candidate_reaches_the_protocol(
    suffering_worker: WorkerProcess, operator: Operator, deed: str
) -> None:
    worker = suffering_worker
    base = operator.task("x: x + 1", "[[torch.ones(4)], [torch.ones(5)]]")
    text = Path(base).read_text().replace("return", f"{RUDE[deed]}\n        return")
    rude = operator.write("rude.py", f"import os, sys, threading\n{text}")
    worker.load(operator.folder)
    result = worker.ask("verify", file=rude, cases=[1, 2], rules=RULES)
    failed = deed in ("raises", "exits", "interrupts")
    for case in result["cases"]:
        assert (case["error"] is not None) == failed
        if failed:
            assert case["error"]["kind"] == "candidate-failed"
    good = worker.ask("verify", file=base, cases=[1], rules=RULES)
    assert good["cases"][0]["outputs"][0]["violations"] == 0


def test_an_aborting_candidate_ends_the_worker(operator: Operator) -> None:
    base = operator.task("x: x + 1", "[[torch.ones(4)]]")
    text = Path(base).read_text().replace("return", "os.abort()\n        return")
    worker = WorkerProcess()
    worker.load(operator.folder)
    file = operator.write("aborts.py", f"import os\n{text}")
    assert worker.raw("verify", file=file, cases=[1], rules=RULES) is None
    assert worker.close() == -6
