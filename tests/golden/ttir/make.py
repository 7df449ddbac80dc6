# SPDX-License-Identifier: Apache-2.0
"""Writes the golden Triton IR files from the kernels of kernels.py, with no GPU.

    python make.py              into a folder named for the Triton that is installed, such as 3.6
    python make.py --check CMD  runs `CMD FILE` on each golden file and has Triton's own parser
                                compare what it prints with the file; CMD is the build's
                                ttir_reprint, or "ttir_reprint --generic"

Each kernel gives two files: NAME.ttir as the frontend emits it, NAME.opt.ttir after the passes that
end Triton's `ttir` stage. words.ttir is written by hand and printed by Triton 3.6: each word of
each enumeration once.
"""
from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import triton
from kernels import DEBUG, KERNELS
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend

HERE = Path(__file__).resolve().parent
CAPABILITY = 90
TARGET = GPUTarget("cuda", CAPABILITY, 32)


class NoDevice:
    """Answers the frontend's question for the target; nothing is launched."""

    def get_current_target(self) -> GPUTarget:
        return TARGET


def new_context(backend: object) -> object:
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    return context


def compile_kernel(name: str, optimise: bool) -> str:
    """Triton's text for one kernel; pointers are marked as aligned, as torch's tensors are."""
    kernel, arguments = KERNELS[name]
    backend = make_backend(TARGET)
    options = backend.parse_options({"debug": name in DEBUG})
    names = kernel.arg_names
    signature = {n: a if isinstance(a, str) else "constexpr" for n, a in zip(names, arguments)}
    constants = {(i,): a for i, a in enumerate(arguments) if not isinstance(a, str)}
    aligned = {(i,): [["tt.divisibility", 16]] for i, a in enumerate(arguments)
               if isinstance(a, str) and a.startswith("*")}
    source = ASTSource(kernel, signature, constexprs=constants, attrs=aligned)
    context = new_context(backend)
    functions = backend.get_codegen_implementation(options)
    modules = backend.get_module_map()
    try:
        module = source.make_ir(TARGET, options, functions, modules, context)
    except TypeError:  # before 3.5 the target was no argument
        module = source.make_ir(options, functions, modules, context)
    if optimise:
        module = backend.make_ttir(module, {}, options, CAPABILITY)
    return portable(module.str())


def portable(text: str) -> str:
    """Takes this machine's folders out of the locations."""
    text = text.replace(str(HERE) + "/", "")
    return re.sub(r'"[^"]*/site-packages/', '"', text)


def write_all() -> None:
    triton.runtime.driver.set_active(NoDevice())
    folder = HERE / ".".join(triton.__version__.split(".")[:2])
    folder.mkdir(exist_ok=True)
    for name in KERNELS:
        for suffix, optimise in ((".ttir", False), (".opt.ttir", True)):
            text = compile_kernel(name, optimise)
            (folder / (name + suffix)).write_text(text)


def through_triton(path: Path, locations: bool) -> str:
    backend = make_backend(TARGET)
    context = new_context(backend)
    module = ir.parse_mlir_module(str(path), context)
    return module.str() if locations else module.str_nodebug()


def check_all(command: str) -> int:
    """Counts golden files whose reprint Triton reads as another module."""
    wrong = 0
    files = sorted(HERE.glob(".".join(triton.__version__.split(".")[:2]) + "/*.ttir"))
    for path in files:
        with tempfile.NamedTemporaryFile("w", suffix=".ttir") as reprint:
            subprocess.run([*command.split(), str(path)], stdout=reprint, check=True)
            for locations in (False, True):
                if through_triton(path, locations) != through_triton(reprint.name, locations):
                    print(f"{path.name}: differs ({'with' if locations else 'without'} locations)")
                    wrong += 1
    print(f"{len(files)} files, {wrong} differences")
    return 1 if wrong or not files else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", metavar="CMD")
    options = parser.parse_args()
    if options.check:
        return check_all(options.check)
    write_all()
    return 0


if __name__ == "__main__":
    sys.exit(main())
