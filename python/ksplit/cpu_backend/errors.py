# SPDX-License-Identifier: Apache-2.0
"""What can go wrong before a kernel runs."""

from __future__ import annotations


class Unavailable(ImportError):
    """The CPU backend cannot work on this machine; the message says what is missing."""


class CacheUnwritable(OSError):
    """Triton's cache of kernels cannot be written; the message says where it is and why."""


class CompilerFailed(RuntimeError):
    """A generated source could not be compiled; the message is the compiler's or the system's."""
