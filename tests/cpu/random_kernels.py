# SPDX-License-Identifier: Apache-2.0
"""Random well-typed kernels, the same for the same seeds.

    python random_kernels.py 0 5000      # native code against the interpreter, seeds 0 to 4999

A seed makes a few lines of arithmetic, comparisons, casts, loads, reductions, reshapes, loops and
branches over vectors of 16 and tiles of 16 x 16. All of it is exact (integers, and floats that stay
small whole numbers), so both must agree bit for bit. Many seeds share one kernel, to compile once.
"""

from __future__ import annotations

import importlib.util
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

PER_KERNEL = 20
_ROWS = 24  # results of one seed

_HEADER = '''# Made by random_kernels.py
import triton
import triton.language as tl


@triton.jit
def keep(out, row, value):
    tile = tl.broadcast_to(value, (16, 16))
    tl.store(out + row * 256 + tl.arange(0, 256), tl.reshape(tile, (256,)).to(tl.int64))


@triton.jit
def whole(x):
    """A float brought back to a small whole number."""
    return tl.where((x > -1000.0) & (x < 1000.0), x, 7.0)


'''

Kind = "tuple[str, str]"  # element type, and "v" for [16] or "t" for [16, 16]


class _Seed:
    """Writes the lines of one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.depth = 1
        self.count = 0
        self.values: dict[Kind, list[str]] = {}
        self.scalars: list[str] = []

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def new(self, kind: Kind, expression: str) -> str:
        self.count += 1
        name = f"v{self.count}"
        self.line(f"{name} = {expression}")
        self.values.setdefault(kind, []).append(name)
        return name

    def pick(self, kind: Kind) -> str:
        return self.random.choice(self.values[kind][-8:])

    def kind(self, *types: str, shape: str = "vt") -> Kind:
        kinds = [k for k in self.values if (not types or k[0] in types) and k[1] in shape]
        return self.random.choice(kinds)

    def condition(self, shape: str) -> str:
        kind = self.kind(shape=shape)
        sign = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
        other = self.pick(kind) if self.random.random() < 0.6 else str(self.random.randint(-5, 5))
        text = f"({self.pick(kind)} {sign} {other})"
        if self.random.random() < 0.3:
            text = f"({text} {self.random.choice('&|^')} {self.condition(shape)})"
        return text

    def start(self) -> None:
        self.line("c = tl.arange(0, 16)")
        self.line("cc = c[:, None] * 16 + c[None, :]")
        self.new(("i32", "v"), "tl.load(xi + c)")
        self.new(("i32", "t"), "tl.load(xi + cc)")
        self.new(("f32", "v"), "tl.load(xf + c)")
        self.new(("f32", "t"), "tl.load(xf + cc)")
        self.new(("i64", "t"), "tl.load(xl + cc)")
        self.new(("i32", "v"), "c + 3")

    def step(self) -> None:
        steps = [self.binary, self.binary, self.binary, self.choose, self.cast, self.load,
                 self.reduce, self.spread, self.turn, self.scalar, self.stored,
                 self.scan]  # fmt: skip
        if self.depth == 1:
            steps += [self.loop, self.branch]
        self.random.choice(steps)()

    def binary(self) -> None:
        kind = self.kind()
        a, b = self.pick(kind), self.pick(kind)
        if kind[0] == "f32":
            form = self.random.choice(["{} + {}", "{} - {}", "{} * {}", "tl.minimum({}, {})",
                                       "tl.maximum({}, {})", "tl.abs({}) + {}"])  # fmt: skip
            self.new(kind, f"whole({form.format(a, b)})")
            return
        form = self.random.choice(["{} + {}", "{} - {}", "{} * {}", "{} & {}", "{} | {}", "{} ^ {}",
                                   "tl.minimum({}, {})", "tl.maximum({}, {})", "({} >> 3) + {}",
                                   "({} << 2) - {}", "{} // ({} & 7 | 1)",
                                   "{} % ({} & 15 | 1)"])  # fmt: skip
        self.new(kind, form.format(a, b))

    def choose(self) -> None:
        kind = self.kind()
        condition = self.condition(kind[1])
        self.new(kind, f"tl.where({condition}, {self.pick(kind)}, {self.pick(kind)})")

    def cast(self) -> None:
        kind = self.kind()
        to = self.random.choice(["i16", "i32", "i64", "f32"])
        value = self.pick(kind)
        names = {"i16": "int16", "i32": "int32", "i64": "int64", "f32": "float32"}
        if to == "f32" and kind[0] != "f32":
            value = f"({value} & 255)"
        self.new((to, kind[1]), f"{value}.to(tl.{names[to]})")

    def index(self, shape: str) -> str:
        plain = {
            "v": ["c", "15 - c", "c * 3"],
            "t": ["cc", "255 - cc", "c[None, :] * 16 + c[:, None]"],
        }
        if self.random.random() < 0.5:
            return self.random.choice(plain[shape])
        return f"({self.pick(self.kind('i32', 'i64', shape=shape))} & 255)"

    def load(self) -> None:
        shape = self.random.choice("vt")
        source, kind = self.random.choice([("xi", "i32"), ("xf", "f32"), ("xl", "i64")])
        text = f"{source} + {self.index(shape)}"
        if self.random.random() < 0.6:
            edge = f"{'c' if shape == 'v' else 'cc'} < {self.random.randint(0, 260)}"
            mask = edge if self.random.random() < 0.5 else self.condition(shape)
            text += f", mask={mask}, other={self.random.randint(-9, 9)}"
        self.new((kind, shape), f"tl.load({text})")

    def reduce(self) -> None:
        kind = self.kind(shape="t")
        value, axis = self.pick(kind), self.random.randint(0, 1)
        function = self.random.choice(["max", "min", "sum"] if kind[0] != "i16" else ["max", "min"])
        text = f"tl.{function}({value}, {axis})"
        if self.random.random() < 0.2 and kind[0] == "i32":
            self.new(("i32", "v"), f"tl.argmax({value}, {axis})")
        elif kind[0] == "f32":
            self.new((kind[0], "v"), f"whole({text})")
        else:
            self.new((kind[0], "v"), text)

    def scan(self) -> None:
        kind = self.kind("i32", "i64")
        axis = 0 if kind[1] == "v" else self.random.randint(0, 1)
        reverse = self.random.choice(["True", "False"])
        self.new(kind, f"tl.cumsum({self.pick(kind)}, {axis}, reverse={reverse})")

    def spread(self) -> None:
        vectors = [k for k in self.values if k[1] == "v" and (k[0], "t") in self.values]
        kind = self.random.choice(vectors)
        at = self.random.choice(["[:, None]", "[None, :]"])
        text = f"{self.pick(kind)}{at} + {self.pick((kind[0], 't'))}"
        self.new((kind[0], "t"), f"whole({text})" if kind[0] == "f32" else text)

    def turn(self) -> None:
        kind = self.kind(shape="t")
        value = self.pick(kind)
        form = self.random.choice(["tl.trans({})", "tl.reshape({}, (16, 16))",
                                   "tl.reshape(tl.trans(tl.reshape({}, (4, 64))), (16, 16))",
                                   "tl.reshape(tl.permute(tl.reshape({}, (4, 4, 16)), (1, 0, 2)), "
                                   "(16, 16))"])  # fmt: skip
        self.new(kind, form.format(value))

    def scalar(self) -> None:
        self.count += 1
        name = f"s{self.count}"
        function = self.random.choice(["max", "min", "sum"])
        # Kept small: the interpreter refuses a sum that overflows.
        self.line(f"{name} = tl.{function}({self.pick(('i32', 'v'))} & 0xFFFFF, 0)")
        self.scalars.append(name)
        self.new(("i32", "v"), f"c * {name}")

    def stored(self) -> None:
        self.line(f"tl.store(scratch + cc, {self.pick(('i32', 't'))})")
        self.new(("i32", "t"), f"tl.load(scratch + {self.index('t')})")

    def inner(self, carried: list[tuple[str, Kind]]) -> None:
        saved = {kind: list(names) for kind, names in self.values.items()}
        saved_scalars = list(self.scalars)
        self.depth += 1
        for _ in range(self.random.randint(1, 4)):
            self.step()
        for name, kind in carried:
            self.line(f"{name} = {self.pick(kind)}")
        self.depth -= 1
        self.values, self.scalars = saved, saved_scalars

    def carried(self) -> list[tuple[str, Kind]]:
        names = []
        for _ in range(self.random.randint(1, 3)):
            kind = self.kind("i32", "i64", "f32")
            # A value of its own: where two variables start as one value, and the body assigns one
            # to the other, Triton's frontend takes the latter for one that does not change.
            names.append((self.new(kind, f"{self.pick(kind)} + 0"), kind))
        return names

    def loop(self) -> None:
        carried = self.carried()
        self.line(f"for k{self.count} in range(trips + {self.random.randint(0, 2)}):")
        self.inner(carried)

    def branch(self) -> None:
        carried = self.carried()
        if not self.scalars:
            self.scalar()
        self.line(f"if {self.random.choice(self.scalars)} > {self.random.randint(-50, 50)}:")
        self.inner(carried)
        if self.random.random() < 0.6:
            self.line("else:")
            self.inner(carried)

    def finish(self) -> list[str]:
        row = 0
        for (_, shape), names in self.values.items():
            for name in names[-3:]:
                if row < _ROWS:
                    shown = name if shape == "t" else f"{name}[None, :]"
                    self.line(f"keep(out, {row}, {shown})")
                    row += 1
        return self.lines


def source(seeds: range) -> str:
    """A module with one kernel that runs all of the seeds."""
    text = _HEADER
    for seed in seeds:
        writer = _Seed(seed)
        writer.start()
        for _ in range(writer.random.randint(4, 14)):
            writer.step()
        text += f"@triton.jit\ndef seed_{seed}(xi, xf, xl, scratch, out, trips):\n"
        text += "\n".join(writer.finish()) + "\n\n\n"
    text += "@triton.jit\ndef kernel(xi, xf, xl, scratch, out, trips):\n"
    for k, seed in enumerate(seeds):
        text += f"    seed_{seed}(xi, xf, xl, scratch, out + {k * _ROWS * 256}, trips)\n"
    return text


def run(seeds: range, folder: Path) -> object:
    """What the kernel of these seeds stores: [seeds, rows, 256]."""
    import torch

    file = folder / f"random_{seeds.start}_{seeds.stop}.py"
    file.write_text(source(seeds))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    generator = torch.Generator().manual_seed(seeds.start)
    xi = torch.randint(-1000, 1000, (256,), generator=generator, dtype=torch.int32)
    xf = torch.randint(-20, 20, (256,), generator=generator).float()
    xl = torch.randint(-(2**40), 2**40, (256,), generator=generator)
    scratch = torch.zeros(256, dtype=torch.int32)
    out = torch.zeros(len(seeds), _ROWS, 256, dtype=torch.int64)
    module.kernel[(1,)](xi, xf, xl, scratch, out, 2, enable_fp_fusion=False)
    return out


def pieces(first: int, last: int) -> list[range]:
    return [range(at, min(at + PER_KERNEL, last)) for at in range(first, last, PER_KERNEL)]


def differing(first: int, last: int) -> list[int]:
    """The seeds on which native code and the interpreter, in a process beside this one, differ."""
    import ksplit.cpu  # noqa: F401
    import torch

    here = Path(__file__).resolve()
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "interpreted.pt"
        command = [sys.executable, str(here), "--interpret", str(first), str(last), str(file)]
        environment = {**os.environ, "PYTHONPATH": str(here.parents[2] / "python")}
        with subprocess.Popen(command, env=environment) as interpreter:
            found = {seeds: run(seeds, Path(name)) for seeds in pieces(first, last)}
        if interpreter.returncode != 0:
            raise RuntimeError("the interpreter failed")
        expected = torch.load(file)  # by the first seed of each kernel
    return [
        seed
        for seeds, results in found.items()
        for k, seed in enumerate(seeds)
        if not results[k].equal(expected[seeds.start][k])
    ]


def _interpret(first: int, last: int, file: str) -> None:
    import warnings

    from ksplit.interpreter import enable_interpreter

    warnings.simplefilter("ignore")
    enable_interpreter()
    import torch

    with tempfile.TemporaryDirectory() as name:
        results = {seeds.start: run(seeds, Path(name)) for seeds in pieces(first, last)}
    torch.save(results, file)


if __name__ == "__main__":
    if sys.argv[1] == "--interpret":
        _interpret(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    else:
        sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
        first_seed, last_seed = int(sys.argv[1]), int(sys.argv[2])
        bad_seeds = differing(first_seed, last_seed)
        print(f"{last_seed - first_seed} seeds, {len(bad_seeds)} differ: {bad_seeds}")
        sys.exit(1 if bad_seeds else 0)
