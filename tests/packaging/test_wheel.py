# SPDX-License-Identifier: Apache-2.0
"""The wheel: what it holds, that it runs once installed, and what its binary needs of a system."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# What a Linux of 2022 has: glibc 2.35 and the libstdc++ of GCC 12.
NEWEST = {"GLIBC": (2, 35), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13)}
SYSTEM = {
    "linux-vdso",
    "ld-linux-x86-64",
    "ld-linux-aarch64",
    "libc",
    "libm",
    "libstdc++",
    "libgcc_s",
}


def run(*command: object, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, **environment},
        cwd="/",  # away from the source tree
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index")
    # What a wheel holds and needs does not depend on optimisation; the objects of the development
    # build then come out of the compiler cache.
    run(*pip, "-C", "cmake.build-type=Debug", "--wheel-dir", folder, ROOT)
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture(scope="session")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh virtual environment with nothing but the wheel."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    run(folder / "bin" / "pip", "install", "--no-deps", "--no-index", wheel)
    return folder


@pytest.fixture(scope="session")
def binary(environment: Path) -> Path:
    return environment / "bin" / "ksplit"


def test_it_serves_every_python_of_the_platform(wheel: Path) -> None:
    assert re.fullmatch(r"kernel_splitter-[\d.]+-py3-none-linux_\w+\.whl", wheel.name)


def test_it_holds_the_command_the_worker_and_the_licence(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    sources = {str(path.relative_to(ROOT / "python")) for path in (ROOT / "python").rglob("*.py")}
    assert sources <= set(names)
    assert any(name.endswith(".data/scripts/ksplit") for name in names)
    assert any(name.endswith("/LICENSE") for name in names)
    allowed = re.compile(r"ksplit/|kernel_splitter-[\d.]+\.(dist-info|data/scripts)/")
    assert [name for name in names if not allowed.match(name)] == []


def test_the_command_runs(binary: Path) -> None:
    assert re.search(r"\d+\.\d+\.\d+", run(binary, "--version"))


def test_the_command_uses_the_environment_it_is_installed_in(binary: Path, tmp_path: Path) -> None:
    # That environment has no torch: the message must be about it, whatever else is around.
    for name in ("base_kernel.py", "task_desc.py"):
        (tmp_path / name).write_text("")
    variables = {k: v for k, v in os.environ.items() if not k.startswith("KSPLIT_")}
    done = subprocess.run(
        [binary, "plan", tmp_path], env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "torch" in done.stderr
    assert str(binary.parent) in done.stderr


def test_the_binary_needs_only_what_every_system_has(binary: Path) -> None:
    needed = {
        line.split()[0].split("/")[-1].split(".so")[0] for line in run("ldd", binary).splitlines()
    }
    assert "libc" in needed
    assert needed - SYSTEM == set()


def test_the_library_finds_the_copy_of_sleef_beside_it(environment: Path) -> None:
    (package,) = environment.glob("lib/python*/site-packages/ksplit")
    library = package / "lib" / "libksplit_cpu.so"
    if "libsleef" not in run("readelf", "-d", library):
        pytest.skip("the CPU backend does without SLEEF on this machine")
    assert f"=> {package}/lib/" in run("ldd", library)


def test_triton_knows_the_cpu_backend_and_does_not_choose_it(environment: Path) -> None:
    pytest.importorskip("triton")
    (packages,) = environment.glob("lib/python*/site-packages")
    text = """
        import sys, triton
        from triton.backends import backends
        backend = backends["ksplit_cpu"]
        assert not backend.driver.is_active()
        assert "ksplit.cpu" not in sys.modules
        assert "torch" not in sys.modules
        from triton.backends.compiler import GPUTarget
        from triton.compiler.compiler import make_backend
        assert type(make_backend(GPUTarget("cpu", "native", 1))) is backend.compiler
        assert not backend.compiler.supports_target(GPUTarget("cpu", "skylake", 1))
        assert type(make_backend(GPUTarget("cuda", 90, 32))) is not backend.compiler
        import ksplit.cpu
        assert triton.runtime.driver.active.get_current_target().backend == "cpu"
        """
    run(sys.executable, "-c", textwrap.dedent(text), PYTHONPATH=str(packages))


def test_the_binary_runs_on_a_linux_of_2022(binary: Path) -> None:
    versions = re.findall(r"Name: (GLIBC|GLIBCXX|CXXABI)_([\d.]+)", run("readelf", "-V", binary))
    assert versions
    for library, text in versions:
        assert tuple(map(int, text.split("."))) <= NEWEST[library], f"{library}_{text}"
