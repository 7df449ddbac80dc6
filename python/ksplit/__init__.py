# SPDX-License-Identifier: Apache-2.0
"""The worker side of ksplit: everything that needs torch or Triton. See docs/protocol.md."""

__version__ = "0.1.0"
