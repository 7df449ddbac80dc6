# SPDX-License-Identifier: Apache-2.0
"""Candidates from the C++ side as functions that run here, and inputs to run them on."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import torch

ROOT = Path(__file__).resolve().parents[2]
HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n\n"

#: (rtol, atol) of the contract's elementwise rule, a quarter of it: kernels must not live on it.
TOLERANCE = {
    torch.float32: (2.0**-15, 2.5e-6),
    torch.float16: (2.0**-10, 2.5e-4),
    torch.bfloat16: (2.0**-7, 2.5e-3),
}


def find_tool() -> Optional[Path]:
    named = os.environ.get("KSPLIT_TEMPLATE_TOOL")
    if named:
        return Path(named)
    built = ROOT.glob("build/*/tests/unit/generate/template_tool")
    return max(built, key=lambda path: path.stat().st_mtime, default=None)


@dataclass
class Candidate:
    generator: str
    parameters: dict[str, Any]
    definitions: str
    host: str
    preconditions: list[list[str]]
    envelope: list[str]
    accepts: list[bool]

    @property
    def form(self) -> str:
        return f"{self.generator.removeprefix('template/')}/{self.parameters['form']}"

    def function(self) -> Callable[..., torch.Tensor]:
        """The host function, as the emitted file would define it."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "emitted.py"
            path.write_text(HEAD + self.definitions)
            spec = importlib.util.spec_from_file_location("emitted", path)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return getattr(module, self.host)

    def admits(self, names: Sequence[str], arguments: Sequence[Any]) -> bool:
        """Whether the emitted tests hold: as a router evaluates them, in order."""
        scope = {"torch": torch, **dict(zip(names, arguments))}
        return any(all(eval(test, scope) for test in guard) for guard in self.preconditions)


class Tool:
    def __init__(self, binary: Path) -> None:
        self._binary = binary

    def ask(self, request: dict[str, Any]) -> tuple[list[Candidate], list[str]]:
        """Candidates and refusals of one request; arguments may be tensors."""
        line = json.dumps(request, default=describe) + "\n"
        done = subprocess.run(
            [self._binary], input=line, capture_output=True, text=True, check=True, timeout=60
        )
        answer = json.loads(done.stdout)
        fields = Candidate.__dataclass_fields__
        candidates = [
            Candidate(**{name: value for name, value in one.items() if name in fields})
            for one in answer["candidates"]
        ]
        return candidates, answer["refusals"]


def describe(value: Any) -> dict[str, Any]:
    assert isinstance(value, torch.Tensor)
    return {
        "shape": list(value.shape),
        "strides": list(value.stride()),
        "dtype": str(value.dtype).removeprefix("torch."),
        "contiguous": value.is_contiguous(),
    }


def random_tensor(shape: Sequence[int], dtype: torch.dtype, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed + sum(shape))
    return torch.randn(shape, generator=generator).to(dtype)


def assert_close(actual: torch.Tensor, golden: torch.Tensor, what: str) -> None:
    """The contract's rule, with shape, NaN and Inf in the same places."""
    assert actual.shape == golden.shape, what
    assert actual.is_contiguous(), what
    rtol, atol = TOLERANCE[actual.dtype]
    torch.testing.assert_close(
        actual.double(),
        golden.double(),
        rtol=rtol,
        atol=atol,
        equal_nan=True,
        msg=lambda m: f"{what}: {m}",
    )


def one_of_each_form(candidates: list[Candidate], per_form: int = 1) -> list[Candidate]:
    """The first and other well-spread candidates of each form."""
    by_form: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_form.setdefault(candidate.form, []).append(candidate)
    chosen = []
    for group in by_form.values():
        step = max(1, len(group) // per_form)
        chosen += group[::step][:per_form]
    return chosen


def smallest_of_each_form(candidates: list[Candidate]) -> list[Candidate]:
    """Those with the smallest tiles: the interpreter folds tiles element by element, in Python,
    where a kernel brings its own combine function."""

    def tile(candidate: Candidate) -> int:
        sizes = [v for k, v in candidate.parameters.items() if k == "TILE" or k.startswith("BLOCK")]
        return max(sizes) if "TILE" in candidate.parameters else math.prod(sizes)

    return one_of_each_form(sorted(candidates, key=tile))
