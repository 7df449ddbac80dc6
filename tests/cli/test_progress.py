# SPDX-License-Identifier: Apache-2.0
"""The one line of progress: on a terminal it overwrites itself and is gone at the end."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

from conftest import binary


def run_on_terminal(folder, term: str) -> tuple[int, str]:
    """Exit status of `ksplit plan`, and what it wrote to a terminal as standard error."""
    master, slave = pty.openpty()
    run = subprocess.Popen(
        [str(binary()), "plan", str(folder)],
        env={**os.environ, "KSPLIT_PYTHON": sys.executable, "TERM": term},
        stdout=subprocess.DEVNULL,
        stderr=slave,
    )
    os.close(slave)
    written = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        written += piece
    os.close(master)
    return run.wait(timeout=300), written.decode()


def test_one_line_that_goes_away(work):
    status, written = run_on_terminal(work(), "xterm")
    assert status == 0
    assert "[0/3 0:" in written and "baseline" in written and "trace" in written
    assert "\n" not in written  # never a second line
    assert written.endswith("\r\x1b[K")


def test_a_dumb_terminal_stays_quiet(work):
    assert run_on_terminal(work(), "dumb") == (0, "")
