# SPDX-License-Identifier: Apache-2.0
"""`python -m ksplit.verify`: the workflow's verify.py, done by `ksplit compat-verify`."""

from __future__ import annotations

from ksplit.command import run

if __name__ == "__main__":
    run("compat-verify")
