# SPDX-License-Identifier: Apache-2.0
"""The CPU as a backend of Triton: what the package's entry point names, and `ksplit.cpu` activates.

Triton imports `compiler` and `driver` whenever it is imported itself, in every process: they load
nothing and need nothing until the backend is used, and Triton never chooses it by itself.
"""
