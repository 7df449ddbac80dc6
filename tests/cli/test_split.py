# SPDX-License-Identifier: Apache-2.0
"""The whole job on the CPU: from examples/sum to a file that stands alone."""

from __future__ import annotations

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import BASE, ROOT, binary

FOLDER = ("groups.json", "kernels", "perf", "split_kernel.py", "split_summary.json", "verify")

# Random inputs through the split file and the base, under whatever runs kernels on this machine.
PROPERTY = """
import importlib.util, json, os, random, sys
split_path, base_path, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
try:
    import ksplit.cpu
except Exception:
    os.environ["TRITON_INTERPRET"] = "1"
    import ksplit.interpreter
    getattr(ksplit.interpreter, "prepare", lambda: None)()
import torch

def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

split, base = load(split_path, "split"), load(base_path, "base")
taken = []
hosts = [n for n in vars(split) if n.startswith("sum_grp_")]
for name in hosts:
    def counted(*args, _name=name, _function=getattr(split, name)):
        taken.append(_name)
        return _function(*args)
    setattr(split, name, counted)
rng = random.Random(seed)
torch.manual_seed(seed)
routes = {}
for step in range(60):
    rank = rng.randint(1, 4)
    shape = [rng.choice([1, 2, 3, 7, 16, 31, 64, 65, 100]) for _ in range(rank)]
    while torch.Size(shape).numel() > 20000:
        shape[shape.index(max(shape))] = rng.randint(1, 8)
    x = torch.randn(shape).to(rng.choice([torch.float16, torch.float32, torch.bfloat16]))
    if rng.random() < 0.25 and rank > 1:
        x = x.transpose(0, rank - 1)
    if rng.random() < 0.2:
        x = x[..., ::2] if x.shape[-1] > 1 else x
    dim, keepdim = rng.randint(-rank, rank - 1), rng.random() < 0.5
    taken.clear()
    with torch.no_grad():
        got, wanted = split.ModelNew()(x, dim, keepdim), base.ModelNew()(x, dim, keepdim)
    assert got.shape == wanted.shape and got.dtype == wanted.dtype, (shape, dim, keepdim)
    rules = {torch.float32: (2**-13, 1e-5), torch.float16: (2**-10, 1e-3)}
    rtol, atol = rules.get(x.dtype, (2**-7, 1e-2))
    torch.testing.assert_close(got, wanted, rtol=rtol, atol=atol)
    assert len(taken) <= 1
    routes[taken[0] if taken else "base"] = routes.get(taken[0] if taken else "base", 0) + 1
print(json.dumps(routes))
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sum")
    for file in (ROOT / "examples" / "sum").iterdir():
        if file.is_file():
            shutil.copy(file, folder)
    done = subprocess.run(
        [str(binary()), "split", str(folder), "--trigger", "always", "--op-name", "sum"],
        env={**os.environ, "KSPLIT_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    return folder, done


def test_it_ends_well_and_tells_the_story(result):
    _, done = result
    assert done.returncode == 0, done.stderr
    words = [line.split()[0] for line in done.stdout.splitlines() if line.strip()]
    for stage in ("task", "groups", "generate", "verify", "bench", "result", "wrote"):
        assert stage in words
    assert done.stderr == ""  # progress is for terminals


def test_the_work_directory_is_as_the_contract_says(result):
    folder, _ = result
    out = folder / "output" / "split"
    assert sorted(os.listdir(out)) == sorted(FOLDER)
    assert os.listdir(folder / "output") == ["split"]
    groups = json.loads((out / "groups.json").read_text())
    assert groups and all(
        list(group)
        == ["group_id", "case_indices", "features", "bottleneck_reason", "baseline_perf"]
        for group in groups
    )
    summary = json.loads((out / "split_summary.json").read_text())
    assert summary["schema"] == "ksplit.split-summary"
    cases = (folder / "cases.jsonl").read_text().splitlines()
    assert len(summary["cases"]) == len(cases)
    assert all(case["status"] == "pass" for case in summary["cases"])
    unseen = summary["unseen_inputs"]
    assert unseen["compared"] >= 100 and unseen["failed"] == 0
    for group in summary["groups"]:
        kind = group["kernel_type"]
        assert kind in ("specialized", "base")
        name = group["group_id"]
        assert (out / "perf" / f"{name}_perf.json").exists()
        assert (out / "verify" / name).exists() == (kind == "specialized")
        assert kind == "specialized" or group["reason"]


def test_the_file_stands_alone(result):
    folder, _ = result
    text = (folder / "output" / "split" / "split_kernel.py").read_text()
    tree = ast.parse(text)
    imported = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").split(".")[0])
    assert imported <= {"torch", "triton", "math"}
    base = (folder / "base_kernel.py").read_text()
    kernel = base[base.index("@triton.jit") : base.index("class ModelNew")]
    assert kernel in text  # the generic kernel verbatim
    model = next(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "ModelNew")
    forward = next(n for n in model.body if isinstance(n, ast.FunctionDef) and n.name == "forward")
    body = [n for n in forward.body if not isinstance(n, ast.Expr)]
    assert len(body) == 1 and ast.unparse(body[0]).startswith("return self._route(")


@pytest.mark.parametrize("seed", [1, 2])
def test_router_and_base_agree_on_random_inputs(result, seed):
    folder, _ = result
    split = folder / "output" / "split" / "split_kernel.py"
    done = subprocess.run(
        [sys.executable, "-c", PROPERTY, str(split), str(folder / "base_kernel.py"), str(seed)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    routes = json.loads(done.stdout)
    assert sum(routes.values()) == 60 and "base" in routes


def test_verify_and_bench_judge_any_file(result, ksplit, tmp_path):
    folder, _ = result
    split = folder / "output" / "split" / "split_kernel.py"
    done = ksplit("verify", folder, split, "--json")
    assert done.status == 0 and done.json()["status"] == "passed"
    wrong = tmp_path / "wrong.py"
    base = (folder / "base_kernel.py").read_text()
    wrong.write_text(base.replace("index < reduce_size", "index < reduce_size - 1"))
    done = ksplit("verify", folder, wrong)
    assert done.status == 1 and "case 1:" in done.out
    done = ksplit("bench", folder, wrong)
    assert done.status == 1 and "error[verification-failed]" in done.err
    done = ksplit("bench", folder, split, "--json")
    assert done.status == 0
    assert done.json()["total_cases"] == len((folder / "cases.jsonl").read_text().splitlines())


def test_an_access_out_of_bounds_is_found_where_results_are_right(ksplit, work, tmp_path):
    folder = work()
    strays = tmp_path / "strays.py"
    loads = "tl.load(x_ptr + offsets, mask=offsets < n)"
    strays.write_text(BASE.replace(loads, "tl.load(x_ptr + offsets)"))
    done = ksplit("verify", folder, strays)
    assert done.status == 1
    assert "case 1: kernel double_kernel at " in done.out
    assert "load of 4 bytes out of bounds in program (0, 0, 0): byte offset 160" in done.out
    # A base that does so is told of, and the same isn't held against what takes its place.
    done = ksplit("verify", folder, strays, "--base", strays)
    assert done.status == 0
    assert "warning   on 3 cases the base itself misbehaves, first on case 1" in done.out


def test_plan_stops_after_groups(result, ksplit, tmp_path):
    folder, _ = result
    done = ksplit("plan", folder, "--out", tmp_path / "plan", "--json")
    assert done.status == 0
    assert os.listdir(tmp_path / "plan") == ["groups.json"]
    assert json.loads((tmp_path / "plan" / "groups.json").read_text()) == done.json()


def session_members(session: int) -> list[str]:
    members = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            members.append(stat.parent.name)
    return members


@pytest.mark.parametrize("after_s", [0.5, 6.0])
def test_an_interrupt_leaves_nothing_behind(tmp_path, after_s):
    for file in (ROOT / "examples" / "sum").iterdir():
        if file.is_file():
            shutil.copy(file, tmp_path)
    run = subprocess.Popen(
        [str(binary()), "split", str(tmp_path), "--trigger", "always"],
        env={**os.environ, "KSPLIT_PYTHON": sys.executable},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(after_s)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 130, err
    assert "error[interrupted]" in err
    deadline = time.monotonic() + 10
    while session_members(run.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert session_members(run.pid) == []
    assert not (tmp_path / "output").exists() or os.listdir(tmp_path / "output") == []
