# SPDX-License-Identifier: Apache-2.0
"""A worker that misbehaves on request: the stem of a `compile` request's file says how.

The device it is started with says how it starts. Answers without misbehaviour follow
docs/protocol.md with made-up values.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, Callable

REQUESTS, ANSWERS = 3, 4
loaded = ""


def send(data: bytes) -> None:
    while data:
        data = data[os.write(ANSWERS, data) :]


def answer(request: dict[str, Any], result: Any) -> None:
    send(json.dumps({"id": request["id"], "ok": True, "result": result}).encode() + b"\n")


def kernel(name: str) -> dict[str, Any]:
    return {"name": name, "case": 1, "registers": None, "spills": 0, "shared_bytes": 1024}


def refuse(
    request: dict[str, Any], kind: str = "candidate-failed", message: str = "no such kernel"
) -> None:
    error = {
        "kind": kind,
        "message": message,
        "case": 3,
        "file": "k.py",
        "line": 7,
        "traceback": "Traceback: line of the candidate\n",
    }
    send(json.dumps({"id": request["id"], "ok": False, "error": error}).encode() + b"\n")


def die(number: int) -> None:
    print("about to die", flush=True)
    os.kill(os.getpid(), number)


def print_much(request: dict[str, Any]) -> None:
    for _ in range(300):
        sys.stdout.write("x" * 9999 + "\n")
        sys.stderr.write("y" * 9999 + "\n")
    print("the end", flush=True)
    answer(request, {"kernels": []})


def close_pipes() -> None:
    os.close(REQUESTS)
    os.close(ANSWERS)
    time.sleep(60)


def leave_child() -> None:
    child = os.fork()
    if child == 0:
        time.sleep(60)  # holds both pipes, stdout and stderr
        os._exit(0)
    print(f"child {child}", flush=True)
    os._exit(5)


def exhaust_pipe(request: dict[str, Any]) -> None:
    send(b"x" * (70 << 20) + b"\n")


def answer_then_die(request: dict[str, Any]) -> None:
    answer(request, {"kernels": [kernel("last words")]})
    os.kill(os.getpid(), signal.SIGKILL)


def answer_partly(request: dict[str, Any]) -> None:
    send(b'{"id": %d, "ok": true, "res' % request["id"])
    os._exit(0)


MISBEHAVIOURS: dict[str, Callable[[dict[str, Any]], None]] = {
    "segv": lambda request: die(signal.SIGSEGV),
    "abort": lambda request: os.abort(),
    "hang": lambda request: time.sleep(60),
    "print": print_much,
    "broken": lambda request: send(b'{"id": 1, "ok": tr\n'),
    "deep": lambda request: send(b"[" * 100000 + b"\n"),
    "list": lambda request: send(b"[1]\n"),
    "close": lambda request: close_pipes(),
    "fork": lambda request: leave_child(),
    "partial": answer_partly,
    "exit": lambda request: os._exit(3),
    "wrong_id": lambda request: answer({"id": request["id"] + 1}, {"kernels": []}),
    "no_field": lambda request: answer(request, {"kernels": [{"name": "k"}]}),
    "long": exhaust_pipe,
    "last_words": answer_then_die,
    "refuse": refuse,
    "lost": lambda request: refuse(request, "worker-failed", "the device is lost"),
    "state": lambda request: answer(
        request, {"kernels": [kernel(loaded), kernel(str(os.getpid()))]}
    ),
}


def hello(request: dict[str, Any], device: str) -> None:
    answer(
        request,
        {
            "protocol": 7 if device == "newer" else 1,
            "python": "3.11.7",
            "torch": "2.13.0",
            "triton": "3.6.0",
            "device": {
                "kind": "cpu",
                "name": "Fake",
                "cores": 2,
                "l2_bytes": 1 << 20,
                "driver": "",
                "capability": None,
            },
            "executor": "interpreter",
        },
    )


def load(request: dict[str, Any]) -> None:
    global loaded
    stem = Path(request["task"]).stem
    if stem == "once" and os.path.exists(request["base"]):
        refuse(request)
        return
    loaded = f"{stem} seed {request['seed']}"
    answer(
        request, {"op_name": stem, "parameters": [], "cases": [], "reference_runs_in_float64": True}
    )


def serve(request: dict[str, Any], device: str) -> None:
    op = request["op"]
    if op == "hello":
        hello(request, device)
    elif op == "load":
        load(request)
    elif op == "compile":
        MISBEHAVIOURS[Path(request["file"]).stem](request)
    elif op == "parse":
        tree = {"type": "Module", "line": 1, "range": None, "fields": [["body", {"nodes": []}]]}
        answer(request, {"text": "", "tree": tree})
    elif op == "bench":
        # The request as it arrived, for a look at what the client sends.
        print("bench " + json.dumps(request, sort_keys=True), flush=True)
        answer(request, {"device_us": [1.5] * len(request["schedule"]), "overhead_us": 0.25})
    else:
        answer(request, {})


def main() -> None:
    device = sys.argv[sys.argv.index("--device") + 1]
    if device == "bare":
        raise ModuleNotFoundError("No module named 'torch'")
    if device == "mute":
        time.sleep(60)
    with os.fdopen(os.dup(REQUESTS), encoding="utf-8") as requests:
        for line in requests:
            serve(json.loads(line), device)


main()
