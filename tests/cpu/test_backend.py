# SPDX-License-Identifier: Apache-2.0
"""The backend as users meet it: activation, errors, checks, caching, threads, launching."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import ksplit.cpu
import pytest
import torch
import triton
import triton.language as tl
from kernels_rows import add, softmax

HERE = Path(__file__).resolve().parent
PYTHON_ROOT = HERE.parents[1] / "python"


@triton.jit
def plain_copy(x, out, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i))


@triton.jit
def scale_all(x, out, n, f, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, mask=i < n) * f, mask=i < n)


@triton.jit
def print_values(x, B: tl.constexpr):
    tl.device_print("x: ", tl.load(x + tl.arange(0, B)))


@triton.jit
def assert_positive(x, B: tl.constexpr):
    tl.device_assert(tl.load(x + tl.arange(0, B)) > 0, "x must be positive")


@triton.jit
def uses_assembly(x, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.inline_asm_elementwise("mov $0, $1;", "=r,r", [i], tl.int32, True, 1)
    tl.store(x + i, v)


@triton.jit
def gather_checked(x, index, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + tl.load(index + i)))


@triton.jit
def scalar_store(x, k):
    tl.store(x + k, 1.0)


def run_python(text: str, **environment: str) -> subprocess.CompletedProcess:
    """Another process, with this folder's modules at hand."""
    path = f"{PYTHON_ROOT}{os.pathsep}{HERE}"
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(text)],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
    )


def launch_add(n: int, block: int = 128) -> None:
    x, y, out = torch.randn(n), torch.randn(n), torch.empty(n)
    add[(triton.cdiv(n, block),)](x, y, out, n, B=block)
    assert torch.equal(out, x + y)


# --- activation -----------------------------------------------------------------------------------


def test_nothing_happens_without_the_import() -> None:
    done = run_python(
        """
        import triton.backends, ksplit
        assert "ksplit_cpu" not in triton.backends.backends
        import ksplit.cpu
        assert "ksplit_cpu" in triton.backends.backends
        from triton.runtime import driver
        assert driver.active.get_current_target().backend == "cpu"
        ksplit.cpu.deactivate()
        try:
            driver.active.get_current_target()
        except RuntimeError as error:
            print(error)  # no GPU
        else:
            assert driver.active.get_current_target().backend != "cpu"
        """
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"CXX": "/nowhere/g++"}, "no C++ compiler: CXX is '/nowhere/g++'"),
        ({"PATH": "/nowhere", "CXX": ""}, "none of g++, c++ and clang++"),
    ],
)
def test_missing_compiler_makes_it_unavailable(environment: dict, message: str) -> None:
    done = run_python("import ksplit.cpu", **environment)
    assert done.returncode == 1
    assert "ksplit.cpu_backend.errors.Unavailable" in done.stderr
    assert message in done.stderr


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_unwritable_cache_is_told_with_its_place(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / place
    done = run_python("import ksplit.cpu", TRITON_CACHE_DIR=str(folder))
    assert done.returncode == 1
    assert f"CacheUnwritable: Triton's cache {folder} cannot be written: " in done.stderr
    assert "TRITON_CACHE_DIR" in done.stderr


def test_no_room_for_temporary_files_is_the_compilers_failure(tmp_path: Path) -> None:
    done = run_python(
        """
        import tempfile, torch, ksplit.cpu
        from kernels_rows import add
        tempfile.tempdir = "/nowhere"
        x = torch.ones(8)
        add[(1,)](x, x, x, 8, B=8)
        """,
        TRITON_CACHE_DIR=str(tmp_path),
    )
    assert "CompilerFailed: compiling kernel add failed: " in done.stderr
    assert "/nowhere" in done.stderr


def test_unsupported_triton_is_refused_by_name() -> None:
    done = run_python("import triton; triton.__version__ = '3.1.0'; import ksplit.cpu")
    assert "the CPU backend supports Triton 3.4, 3.5, 3.6, not 3.1.0" in done.stderr


def test_unavailable_is_an_import_error() -> None:
    assert issubclass(ksplit.cpu.Unavailable, ImportError)


# --- errors ---------------------------------------------------------------------------------------


def test_failing_compiler_shows_its_message(tmp_path: Path) -> None:
    fake = tmp_path / "c++"
    fake.write_text("#!/bin/sh\n[ $1 = --version ] && exit 0\necho 'disk on fire' >&2\nexit 3\n")
    fake.chmod(0o755)
    done = run_python(
        """
        import torch, ksplit.cpu
        from kernels_rows import add
        x = torch.ones(8)
        try:
            add[(1,)](x, x, x, 8, B=8)
        except ksplit.cpu.CompilerFailed as error:
            print(error)
        """,
        CXX=str(fake),
        TRITON_CACHE_DIR=str(tmp_path / "cache"),
    )
    assert "compiling kernel add failed" in done.stdout, done.stderr
    assert "disk on fire" in done.stdout


def test_unsupported_operation_is_named_with_its_line() -> None:
    with pytest.raises(
        ksplit.cpu.Unsupported, match=r"tt.elementwise_inline_asm at .*test_backend"
    ):
        uses_assembly[(1,)](torch.zeros(8, dtype=torch.int32), B=8)


def test_tensor_on_another_device_is_refused() -> None:
    x = torch.zeros(128)
    with pytest.raises(ValueError, match=r"kernel plain_copy: argument 1 is a tensor on meta"):
        plain_copy[(1,)](x, torch.empty(128, device="meta"), B=128)


def test_argument_that_is_no_tensor_is_refused() -> None:
    compiled = plain_copy[(1,)](torch.zeros(128), torch.zeros(128), B=128)
    with pytest.raises(TypeError, match="argument 0 must be a tensor"):
        compiled[(1, 1, 1)]("x", torch.zeros(128), 128)


def test_failed_assertion_ends_the_launch() -> None:
    assert_positive[(1,)](torch.ones(8), B=8, debug=True)
    with pytest.raises(ksplit.cpu.KernelFault, match=r"assert_positive at .*: x must be positive"):
        assert_positive[(1,)](torch.zeros(8), B=8, debug=True)
    launch_add(100)


# --- printing -------------------------------------------------------------------------------------


def test_device_print(capfd: pytest.CaptureFixture) -> None:
    print_values[(1,)](torch.tensor([1, -2], dtype=torch.int32), B=2)
    lines = capfd.readouterr().out.splitlines()
    assert [line.replace("  ", " ") for line in lines] == [
        "pid (0, 0, 0) idx (0) x: 1",
        "pid (0, 0, 0) idx (1) x: -2",
    ]


# --- launching ------------------------------------------------------------------------------------


def test_grid_of_zero_does_nothing() -> None:
    x = torch.ones(128)
    plain_copy[(0,)](x, x, B=128)


def test_many_programs_on_threads() -> None:
    before = torch.get_num_threads()
    try:
        for threads in (1, 2, 4):
            torch.set_num_threads(threads)
            launch_add(1_000_003, 1024)
    finally:
        torch.set_num_threads(before)


def test_launches_from_several_python_threads() -> None:
    launch_add(200_000)
    failures = []

    def work() -> None:
        try:
            for _ in range(20):
                launch_add(200_000)
        except Exception as error:  # noqa: BLE001 - reported by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_fork_after_launch() -> None:
    done = run_python(
        """
        import os, torch, ksplit.cpu, test_backend
        test_backend.launch_add(1_000_000)
        child = os.fork()
        if child == 0:
            torch.set_num_threads(1)  # torch's own threads don't survive a fork
            x, out = torch.ones(2**20), torch.empty(2**20)
            torch.get_num_threads = lambda: 2
            ksplit.cpu.activate()
            test_backend.add[(2**10,)](x, x, out, 2**20, B=2**10)
            os._exit(0 if out.sum().item() == 2**21 else 1)
        assert os.waitpid(child, 0)[1] == 0
        """
    )
    assert done.returncode == 0, done.stderr


def test_views_none_and_integers_as_pointers() -> None:
    x, out = torch.arange(256.0), torch.zeros(256)
    plain_copy[(1,)](x[64:], out[128:], B=128)
    assert torch.equal(out[128:], x[64:192])
    compiled = plain_copy[(1,)](x, out, B=128)
    compiled[(2, 1, 1)](x.data_ptr(), out.data_ptr(), 128)
    assert torch.equal(out, x)


def test_float_arguments_keep_their_precision() -> None:
    x, out = torch.ones(4), torch.zeros(4)
    scale_all[(1,)](x, out, 4, 1 / 3, B=4)
    assert out[0].item() == torch.tensor(1 / 3).item()


def test_launch_hooks_are_called() -> None:
    from triton import knobs

    seen = []
    knobs.runtime.launch_enter_hook = lambda metadata: seen.append(metadata.get()["name"])
    try:
        launch_add(100)
    finally:
        knobs.runtime.launch_enter_hook = None
    assert seen == ["add"]
    if not hasattr(knobs, "HookChain"):
        return
    chain = knobs.HookChain()
    chain.add(lambda metadata: seen.append("chained"))
    for hook in (chain, knobs.HookChain()):
        knobs.runtime.launch_enter_hook = hook
        try:
            launch_add(100)
        finally:
            knobs.runtime.launch_enter_hook = None
    assert seen == ["add", "chained"]


def test_autotuner_runs() -> None:
    tuned = triton.autotune([triton.Config({"B": 64}), triton.Config({"B": 256})], key=["n"])(add)
    x, y, out = torch.randn(500), torch.randn(500), torch.empty(500)
    tuned[lambda meta: (triton.cdiv(500, meta["B"]),)](x, y, out, 500)
    assert torch.equal(out, x + y)


def test_second_process_compiles_nothing(tmp_path: Path) -> None:
    text = """
        import torch, ksplit.cpu
        from ksplit.cpu_backend import toolchain
        from kernels_rows import add
        builds, build = [], toolchain.build
        toolchain.build = lambda *a: builds.append(a) or build(*a)
        x, out = torch.ones(8), torch.zeros(8)
        add[(1,)](x, x, out, 8, B=8)
        assert out.sum() == 16
        print(len(builds))
        """
    counts = [run_python(text, TRITON_CACHE_DIR=str(tmp_path)).stdout.strip() for _ in range(2)]
    assert counts == ["1", "0"]


def test_generated_source_is_kept() -> None:
    x = torch.zeros(4, 100)
    compiled = softmax[(4,)](x, x.clone(), 100, 100, B=128)
    assert "void softmax(Program& p" in compiled.asm["cpp"]
    assert {"ttir", "cpp", "so"} <= set(compiled.asm)


# --- KSPLIT_CPU_CHECK -----------------------------------------------------------------------------


@pytest.fixture
def checking() -> None:
    with ksplit.cpu.checked_access():
        yield


def test_checked_and_plain_code_live_side_by_side() -> None:
    x, out = torch.arange(128.0), torch.zeros(128)
    for _ in range(2):
        plain_copy[(1,)](x, out, B=128)
        with ksplit.cpu.checked_access(), pytest.raises(ksplit.cpu.KernelFault):
            plain_copy[(1,)](x[:100], out, B=128)
    assert torch.equal(out, x)


@pytest.mark.parametrize(("value", "checks"), [("1", True), ("0", False), ("", False)])
def test_the_environment_switches_checks_on(value: str, checks: bool) -> None:
    done = run_python(
        """
        import ksplit.cpu, test_backend, torch
        test_backend.scalar_store[(1,)](torch.zeros(16)[:8], 8)
        """,
        KSPLIT_CPU_CHECK=value,
    )
    assert ("store of 4 bytes out of bounds" in done.stderr) == checks
    assert done.returncode == int(checks)


def test_check_accepts_what_is_inside(checking: None) -> None:
    launch_add(100)
    base = torch.zeros(50, 20)
    plain_copy[(1,)](torch.zeros(128), base.view(-1)[:128], B=128)


@pytest.mark.parametrize(("size", "offset"), [(100, 400), (127, 508)])
def test_check_finds_a_load_beyond_the_end(checking: None, size: int, offset: int) -> None:
    storage = torch.zeros(1000)
    with pytest.raises(
        ksplit.cpu.KernelFault,
        match=rf"kernel plain_copy at .*test_backend.py:\d+: load of 4 bytes out of bounds in "
        rf"program \(0, 0, 0\): byte offset {offset} of argument 0, which has {4 * size} bytes",
    ):
        plain_copy[(1,)](storage[:size], torch.zeros(128), B=128)


def test_check_finds_a_store_and_its_program(checking: None) -> None:
    with pytest.raises(ksplit.cpu.KernelFault, match=r"store .* program \(2, 0, 0\): byte offset"):
        plain_copy[(3,)](torch.zeros(384), torch.zeros(1000)[:300], B=128)


def test_check_finds_a_bad_index(checking: None) -> None:
    index = torch.zeros(8, dtype=torch.int64)
    index[3] = -1
    with pytest.raises(ksplit.cpu.KernelFault, match=r"byte offset -4 of argument 0"):
        gather_checked[(1,)](torch.zeros(8), index, torch.zeros(8), B=8)


def test_check_covers_scalars(checking: None) -> None:
    scalar_store[(1,)](torch.zeros(8), 7)
    with pytest.raises(ksplit.cpu.KernelFault, match=r"store of 4 bytes out of bounds"):
        scalar_store[(1,)](torch.zeros(8), 8)
