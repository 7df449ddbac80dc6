# SPDX-License-Identifier: Apache-2.0
"""What can go wrong before a kernel runs."""

from __future__ import annotations


class Unavailable(ImportError):
    """The CPU backend cannot work on this machine; the message says what is missing."""


class CompilerFailed(RuntimeError):
    """The system's C++ compiler refused the generated source; the message is the compiler's."""
