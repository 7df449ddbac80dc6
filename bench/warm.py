# SPDX-License-Identifier: Apache-2.0
"""Device time with a warm L2, by another clock than ksplit's own: Triton's do_bench_cudagraph.

Usage: python3 bench/warm.py WORKDIR OUT.json. WORKDIR holds task_desc.py, base_kernel.py and
output/split/split_kernel.py. Times are microseconds, medians of graph replays.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Callable

import torch
import triton


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def device_us(call: Callable[[], object]) -> float:
    with torch.cuda.stream(torch.cuda.Stream()):
        median_ms = triton.testing.do_bench_cudagraph(call, rep=20, return_mode="median")
    return median_ms * 1000


def main(work: Path, out: Path) -> None:
    task = load(work / "task_desc.py")
    init = task.get_init_inputs()
    arms = {
        "torch": task.Model(*init),
        "base": load(work / "base_kernel.py").ModelNew(*init),
        "split": load(work / "output/split/split_kernel.py").ModelNew(*init),
    }
    rows = []
    for index, inputs in enumerate(task.get_input_groups(), start=1):
        moved = [x.cuda() if isinstance(x, torch.Tensor) else x for x in inputs]
        row = {"case": index}
        for name, model in arms.items():
            row[name] = device_us(functools.partial(model, *moved))
        rows.append(row)
    out.write_text(json.dumps({"command": "bench/warm.py", "us": rows}, indent=1) + "\n")


if __name__ == "__main__":
    with torch.no_grad():
        main(Path(sys.argv[1]), Path(sys.argv[2]))
