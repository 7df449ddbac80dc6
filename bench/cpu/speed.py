# SPDX-License-Identifier: Apache-2.0
"""The native CPU backend against torch, hand-written C++ and Triton's interpreter, in one run.

Usage: PYTHONPATH=python .venv/bin/python bench/cpu/speed.py RESULTS.json, with the release preset
built.

Arms of a comparison take turns, into memory that lies ready; a ratio is the median over rounds of
peer / ours (above 1: ours is faster). Every kernel's output is checked before it is timed. Nothing
else should run on the machine.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable

import kernels
import ksplit.cpu  # noqa: F401  Triton's kernels now run natively
import torch
import triton
from ksplit.cpu_backend import library

HERE = Path(__file__).resolve().parent
aten = torch.ops.aten
Arm = Callable[[], object]


def seconds(arm: Arm, calls: int) -> float:
    begin = time.perf_counter()
    for _ in range(calls):
        arm()
    return (time.perf_counter() - begin) / calls


def compare(peer: Arm, ours: Arm, rounds: int = 15, calls: int = 3) -> dict[str, float]:
    """Seconds of each, and how many times as long the peer takes."""
    for arm in (peer, ours, peer, ours):
        arm()
    pairs = []
    for index in range(rounds):
        if index % 2:
            mine, other = seconds(ours, calls), seconds(peer, calls)
        else:
            other, mine = seconds(peer, calls), seconds(ours, calls)
        pairs.append((other, mine))
    return {
        "peer_s": statistics.median(other for other, _ in pairs),
        "ours_s": statistics.median(mine for _, mine in pairs),
        "ratio": statistics.median(other / mine for other, mine in pairs),
    }


def checked(expected: torch.Tensor, found: torch.Tensor, ours: Arm) -> None:
    found.fill_(float("nan"))
    ours()
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-3)


def against_torch() -> dict[str, dict[str, float]]:
    m = n = 4096
    count = m * n
    x, y, out, peer_out = torch.randn(m, n), torch.randn(m, n), torch.empty(m, n), torch.empty(m, n)
    row, peer_row = torch.empty(m), torch.empty(m)
    w, b = torch.randn(n), torch.randn(n)
    stats = torch.empty(m, 1), torch.empty(m, 1)
    flat = (count // 16384,)
    arms: dict[str, tuple[Arm, Arm, torch.Tensor, torch.Tensor]] = {
        "add": (
            lambda: aten.add.out(x, y, out=peer_out),
            lambda: kernels.add[flat](x, y, out, count, B=16384),
            peer_out, out,
        ),
        "gelu": (
            lambda: aten.gelu.out(x, out=peer_out),
            lambda: kernels.gelu[flat](x, out, count, B=16384),
            peer_out, out,
        ),
        "sum last axis": (
            lambda: aten.sum.IntList_out(x, [1], out=peer_row),
            lambda: kernels.sum_rows[(m,)](x, row, n, B=1024),
            peer_row, row,
        ),
        "sum first axis": (
            lambda: aten.sum.IntList_out(x, [0], out=peer_row),
            lambda: kernels.sum_columns[(n // 512,)](x, row, m, n, BN=512),
            peer_row, row,
        ),
        "softmax": (
            lambda: aten._softmax.out(x, 1, False, out=peer_out),
            lambda: kernels.softmax[(m,)](x, out, n, B=n),
            peer_out, out,
        ),
        "layer_norm": (
            lambda: aten.native_layer_norm.out(
                x, [n], w, b, 1e-5, out0=peer_out, out1=stats[0], out2=stats[1]
            ),
            lambda: kernels.layer_norm[(m,)](x, w, b, out, n, 1e-5, B=n),
            peer_out, out,
        ),
    }  # fmt: skip
    results = {}
    for name, (peer, ours, expected, found) in arms.items():
        peer()
        checked(expected, found, ours)
        results[name] = compare(peer, ours)
    return results


def matmul() -> dict[str, float]:
    a, b, c, peer_c = (torch.randn(512, 512) for _ in range(4))

    def ours() -> None:
        kernels.matmul[(8, 8)](a, b, c, 512, 512, 512, BM=64, BN=64, BK=64)

    checked(torch.mm(a, b), c, ours)
    return compare(lambda: torch.mm(a, b, out=peer_c), ours)


def hand_written(folder: Path) -> ctypes.CDLL:
    library = folder / "loops.so"
    flags = ["-std=c++20", "-O3", "-march=native", "-ffast-math", "-fopenmp", "-shared", "-fPIC"]
    compiler = os.environ.get("CXX", "g++")
    subprocess.run([compiler, *flags, str(HERE / "loops.cpp"), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


def against_loops() -> dict[str, dict[str, float]]:
    os.environ["OMP_NUM_THREADS"] = str(torch.get_num_threads())
    m = n = 4096
    count = m * n
    x, y, out, peer_out = torch.randn(m, n), torch.randn(m, n), torch.empty(m, n), torch.empty(m, n)
    with tempfile.TemporaryDirectory() as folder:
        loops = hand_written(Path(folder))

    def pointers(*tensors: torch.Tensor) -> list[ctypes.c_void_p]:
        return [ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors]

    def size(value: int) -> ctypes.c_int64:
        return ctypes.c_int64(value)

    add = compare(
        lambda: loops.add(*pointers(x, y, peer_out), size(count)),
        lambda: kernels.add[(count // 16384,)](x, y, out, count, B=16384),
    )
    assert torch.equal(out, peer_out)
    softmax = compare(
        lambda: loops.softmax(*pointers(x, peer_out), size(m), size(n)),
        lambda: kernels.softmax[(m,)](x, out, n, B=n),
    )
    torch.testing.assert_close(out, peer_out)
    return {"add": add, "softmax": softmax}


def helper(script: str, **environment: str) -> dict:
    done = subprocess.run(
        [sys.executable, str(HERE / script)], env={**os.environ, **environment},
        check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def against_interpreter() -> dict[str, dict[str, float]]:
    interpreted = helper("interpreted.py")
    x, out = torch.randn(1024, 1024), torch.empty(1024, 1024)
    y, out_y = torch.randn(1024, 4096), torch.empty(1024, 4096)
    w, b = torch.randn(4096), torch.randn(4096)
    ours: dict[str, Arm] = {
        "softmax": lambda: kernels.softmax[(1024,)](x, out, 1024, B=1024),
        "layer_norm": lambda: kernels.layer_norm[(1024,)](y, w, b, out_y, 4096, 1e-5, B=4096),
    }
    results = {}
    for name, arm in ours.items():
        arm()
        mine = statistics.median(seconds(arm, 5) for _ in range(9))
        peer = interpreted[name]
        results[name] = {"peer_s": peer, "ours_s": mine, "ratio": peer / mine}
    return results


def launch_overhead() -> dict[str, float]:
    """Microseconds a call on 128 elements: through the JIT, through the JIT with a launcher that
    does nothing, and the compiled kernel's launcher by itself."""
    x, y, out = torch.randn(128), torch.randn(128), torch.empty(128)
    compiled = kernels.add[(1,)](x, y, out, 128, B=128)
    run, function = compiled.run, compiled.function
    metadata = compiled.packed_metadata

    def through_jit() -> None:
        kernels.add[(1,)](x, y, out, 128, B=128)

    def direct() -> None:
        run(1, 1, 1, 0, function, metadata, None, None, None, x, y, out, 128, 128)

    samples: dict[str, list[float]] = {"jit": [], "jit_without_launch": [], "direct": []}
    for _ in range(9):
        samples["jit"].append(seconds(through_jit, 2000))
        compiled._run = lambda *_: None
        samples["jit_without_launch"].append(seconds(through_jit, 2000))
        compiled._run = run
        samples["direct"].append(seconds(direct, 2000))
    return {f"{name}_us": statistics.median(s) * 1e6 for name, s in samples.items()}


def compile_times() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as cache:
        first = helper("compile_times.py", TRITON_CACHE_DIR=cache)
        second = helper("compile_times.py", TRITON_CACHE_DIR=cache)
    return {
        "whole_kernel_cases": first["cases"],
        "compilations": len(first["seconds"]),
        "median_s": statistics.median(first["seconds"]),
        "max_s": max(first["seconds"]),
        "compilations_on_a_second_run": len(second["seconds"]),
    }


def processor() -> str:
    names = [line for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return names[0].split(":")[1].strip() if names else platform.processor()


def main(file: Path) -> None:
    native = library.path()
    if "release" not in native.parts:
        sys.exit(f"{native} is not the release build: cmake --build --preset release")
    results: dict[str, object] = {
        "machine": {
            "processor": processor(),
            "threads": torch.get_num_threads(),
            "torch": torch.__version__,
            "triton": triton.__version__,
        }
    }
    parts: dict[str, Callable[[], dict]] = {
        "torch, 4096 x 4096 fp32": against_torch,
        "torch, matmul 512 x 512 x 512 fp32": matmul,
        "hand-written C++, 4096 x 4096 fp32": against_loops,
        "launch": launch_overhead,
        "interpreter": against_interpreter,
        "compilation": compile_times,
    }
    for name, part in parts.items():
        results[name] = part()
        print(name, json.dumps(results[name], indent=1), flush=True)
    ratios = [arm["ratio"] for arm in results["torch, 4096 x 4096 fp32"].values()]
    results["geomean of torch ratios"] = statistics.geometric_mean(ratios)
    print("geomean of torch ratios", results["geomean of torch ratios"])
    scratch = file.with_suffix(".part")
    scratch.write_text(json.dumps(results, indent=1) + "\n")
    scratch.rename(file)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
