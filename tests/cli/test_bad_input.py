# SPDX-License-Identifier: Apache-2.0
"""What users get wrong, and what they are told. Every message names the thing and what to do."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest
from conftest import BASE, TASK, perf_result


def test_no_command_is_usage(ksplit):
    done = ksplit()
    assert done.status == 2
    assert "error[usage]" in done.err and "ksplit --help" in done.err


def test_unknown_option_is_usage(ksplit, tmp_path):
    done = ksplit("split", tmp_path, "--trigger", "sometimes")
    assert done.status == 2
    assert "contract" in done.err and "any-case" in done.err and "always" in done.err
    done = ksplit("split", tmp_path, "--frobnicate")
    assert done.status == 2 and "--frobnicate" in done.err


@pytest.mark.parametrize("words", [["--help"], ["split", "--help"], ["--version"]])
def test_help_and_version(ksplit, words):
    done = ksplit(*words)
    assert done.status == 0 and "ksplit" in done.out and done.err == ""


@pytest.mark.parametrize("part, file", [("base", "base_kernel.py"), ("task", "task_desc.py")])
def test_missing_files_are_named(ksplit, work, part, file):
    done = ksplit("split", work(**{part: None}))
    assert done.status == 2
    assert file in done.err and f"--{part} FILE" in done.err


def test_errors_as_json(ksplit, work):
    done = ksplit("split", work(base=None), "--json")
    assert done.status == 2
    assert done.json()["error"]["code"] == "input-missing"


def test_empty_task(ksplit, work):
    folder = work(task=TASK.replace("(40, 96, 300)", "()"))
    done = ksplit("split", folder)
    assert done.status == 2
    assert "no cases" in done.err and "get_input_groups" in done.err
    assert not (folder / "output").exists() or not list((folder / "output").iterdir())


def test_one_case_is_skipped_in_one_line(ksplit, work):
    folder = work(task=TASK.replace("(40, 96, 300)", "(40,)"))
    done = ksplit("split", folder)
    assert done.status == 0
    assert "1 case" in done.out
    assert not (folder / "output" / "split").exists()


@pytest.mark.parametrize(
    "perf, told",
    [
        ('{"op_name": ', "perf_result.json"),
        ("[1, 2]", "perf_result.json"),
        (perf_result([0.1, 0.2]), "2"),
        (perf_result([0.1, 0.2, 0.3], sizes=(40, 97, 300)), "case 2"),
    ],
)
def test_bad_perf_file(ksplit, work, perf, told):
    done = ksplit("split", work(perf=perf))
    assert done.status == 2
    assert told in done.err and "error[input-" in done.err


def test_perf_file_with_nulls_counts_what_it_has(ksplit, work):
    done = ksplit("split", work(perf=perf_result([None, 1.5, 0.4])))
    assert done.status == 0
    assert "0.77x torch" in done.out  # the mean of 1.5 and 0.4


def test_skip_names_the_slow_cases(ksplit, work):
    folder = work(perf=perf_result([0.08, 2.0, 9.0]))
    done = ksplit("split", folder)
    assert done.status == 0
    assert "case 1" in done.out and "0.08" in done.out and "--trigger any-case" in done.out
    assert not (folder / "output" / "split").exists()


def test_base_without_the_class(ksplit, work):
    done = ksplit("split", work(base=BASE.replace("class ModelNew", "class Model2")))
    assert done.status == 2
    assert "ModelNew" in done.err and "Model2" in done.err


def test_base_with_a_syntax_error(ksplit, work):
    done = ksplit("split", work(base=BASE + "\ndef broken(:\n    pass\n"))
    assert done.status == 2
    line = BASE.count("\n") + 2
    assert f"base_kernel.py:{line}" in done.err


def test_base_without_a_kernel(ksplit, work):
    base = (
        "import torch\nfrom torch import nn\n\n\nclass ModelNew(nn.Module):\n"
        "    def forward(self, x):\n        return x + x\n"
    )
    done = ksplit("split", work(base=base), "--trigger", "always")
    assert done.status == 2
    assert "no Triton kernel" in done.err and "@triton.jit" in done.err


def test_task_that_needs_a_missing_file(ksplit, work):
    task = TASK.replace("return [[", "open('cases_of_mine.json')\n    return [[")
    done = ksplit("split", work(task=task))
    assert done.status == 2
    assert "cases_of_mine.json" in done.err


def test_reference_that_raises(ksplit, work):
    task = TASK.replace("return 2 * x", "assert x.numel() != 96, 'odd one'\n        return 2 * x")
    done = ksplit("split", work(task=task))
    assert done.status == 2
    assert "case 2" in done.err and "odd one" in done.err


def test_inaccurate_base_is_refused_by_case(ksplit, work):
    base = BASE.replace("mask=offsets < n)\n\n\n", "mask=offsets < n - 1)\n\n\n")
    assert base != BASE
    folder = work(base=base)
    done = ksplit("split", folder, "--trigger", "always")
    assert done.status == 1
    assert "error[base-inaccurate]" in done.err
    assert all(f"case {index}" in done.err for index in (1, 2, 3))
    assert not (folder / "output" / "split").exists()


def test_base_that_the_cpu_backend_does_not_cover(ksplit, work):
    assembly = (
        "x = tl.inline_asm_elementwise('mov $0, $1;', '=r,r', "
        "[tl.load(x_ptr + offsets, mask=offsets < n)], tl.float32, True, 1)"
    )
    base = BASE.replace("x = tl.load(x_ptr + offsets, mask=offsets < n)", assembly)
    done = ksplit("split", work(base=base))
    assert done.status == 2
    assert "error[unsupported]: the generic kernel cannot run here; case 1: " in done.err
    assert "does not cover tt.elementwise_inline_asm at " in done.err
    assert "KSPLIT_CPU=interpreter" in done.err


def test_unwritable_output(ksplit, work):
    folder = work()
    (folder / "taken").write_text("a file\n")
    done = ksplit("split", folder, "--out", folder / "taken" / "split", "--trigger", "always")
    assert done.status == 2
    assert "error[output-unwritable]" in done.err and "--out" in done.err


def test_no_python(ksplit, work):
    done = ksplit("split", work(), "--python", "/nowhere/python")
    assert done.status == 2
    assert "/nowhere/python" in done.err


def wrapper(tmp_path: Path, *options: str) -> str:
    script = tmp_path / "python-wrapper"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {" ".join(options)} "$@"\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return str(script)


def test_no_torch(ksplit, work, tmp_path):
    done = ksplit("split", work(), python=wrapper(tmp_path, "-S"))
    assert done.status == 2
    assert "error[environment]" in done.err and "torch" in done.err and "pip install" in done.err


def test_no_triton(ksplit, work, tmp_path):
    (tmp_path / "shadow" / "triton").mkdir(parents=True)
    (tmp_path / "shadow" / "triton" / "__init__.py").write_text("raise ImportError('no triton')\n")
    done = ksplit("split", work(), env={"PYTHONPATH": str(tmp_path / "shadow")})
    assert done.status == 2
    assert "error[environment]" in done.err and "triton" in done.err and "pip install" in done.err


def test_unwritable_kernel_cache(ksplit, work, tmp_path):
    (tmp_path / "cache").write_text("a file where a folder should be")
    done = ksplit("split", work(), env={"TRITON_CACHE_DIR": str(tmp_path / "cache")})
    assert done.status == 2
    assert "error[environment]" in done.err and str(tmp_path / "cache") in done.err
    assert "TRITON_CACHE_DIR" in done.err


def test_no_gpu(ksplit, work):
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    done = ksplit("split", work(), "--device", "cuda")
    assert done.status == 2
    assert "error[environment]" in done.err and "--device cpu" in done.err


def test_a_failed_run_leaves_an_earlier_result(ksplit, work):
    folder = work(base=BASE.replace("x + x", "x * 3"))
    earlier = folder / "output" / "split"
    earlier.mkdir(parents=True)
    (earlier / "split_kernel.py").write_text("# earlier\n")
    done = ksplit("split", folder, "--trigger", "always")
    assert done.status == 1
    assert (earlier / "split_kernel.py").read_text() == "# earlier\n"
    assert sorted(os.listdir(folder / "output")) == ["split"]
