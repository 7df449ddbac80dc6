# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy on the project's sources, side by side.

A source is passed over if it was clean before under the same checks and preprocesses to the same
text: clang-tidy takes many times as long as the preprocessor. What was clean is remembered under
$XDG_CACHE_HOME (~/.cache), so that fresh clones profit too.

    .venv/bin/python tools/tidy.py build/dev

The clang-tidy is the one that lies beside the interpreter.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CLANG_TIDY = Path(sys.executable).parent / "clang-tidy"  # unresolved: a venv links to its python
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ksplit-tidy"


class Source(NamedTuple):
    path: Path
    folder: str  # where its compiler runs
    command: list[str]


def sources(build: Path) -> list[Source]:
    entries = json.loads((build / "compile_commands.json").read_text())
    ours = ROOT / "src"
    found = {
        path: Source(path, entry["directory"], shlex.split(entry["command"]))
        for entry in entries
        if (path := Path(entry["file"])).is_relative_to(ours)
    }
    return list(found.values())


def preprocessed(source: Source) -> bytes:
    command = [word for word in source.command if not word.endswith("/ccache")]
    output = command.index("-o")
    command[output : output + 2] = []
    command[command.index("-c")] = "-E"
    text = subprocess.run(command, cwd=source.folder, check=True, capture_output=True).stdout
    return text.replace(str(ROOT).encode(), b"")  # the same in every clone


def check(build: Path, source: Source, checks: bytes) -> str:
    """What clang-tidy has to say, empty if nothing."""
    mark = CACHE / hashlib.sha256(checks + preprocessed(source)).hexdigest()
    if mark.exists():
        return ""
    command = [CLANG_TIDY, "--quiet", "-p", str(build), str(source.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return done.stdout or done.stderr
    mark.touch()
    return ""


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    version = subprocess.run([CLANG_TIDY, "--version"], check=True, capture_output=True).stdout
    checks = (ROOT / ".clang-tidy").read_bytes() + version
    CACHE.mkdir(parents=True, exist_ok=True)
    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        todo = sources(build)
        for report in pool.map(lambda source: check(build, source, checks), todo):
            failed += bool(report)
            sys.stdout.write(report)
    print(f"clang-tidy: {len(todo) - failed} sources clean, {failed} not")
    return 1 if failed or not todo else 0


if __name__ == "__main__":
    sys.exit(main())
