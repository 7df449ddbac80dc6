# SPDX-License-Identifier: Apache-2.0
"""Python source as JSON: CPython's own `ast` with exact byte ranges."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from pathlib import Path
from typing import Any

from ksplit.protocol import RequestError, encode_float, user_error

# Before 3.12 CPython gives the parts of an f-string positions that do not lie in the file.
_FSTRING_POSITIONS = sys.version_info >= (3, 12)
_INT64 = range(-(2**63), 2**63)


def read_source(path: Path) -> str:
    """The file's text as its encoding line says, line ends untouched, byte order mark removed."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RequestError(
            "input-missing", f"cannot read {path}: {error.strerror}", file=str(path)
        ) from error
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError) as error:
        raise user_error(
            "input-malformed", f"{path.name} is no Python text", error, file=str(path)
        ) from error


def parse_source(text: str, path: Path) -> ast.Module:
    try:
        return ast.parse(text, filename=str(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise user_error(
            "input-malformed", f"{path.name} is no valid Python", error, file=str(path)
        ) from error


def parse_file(path: Path) -> dict[str, Any]:
    """The `parse` operation."""
    text = read_source(path)
    tree = parse_source(text, path)
    try:
        return {"text": text, "tree": _Encoder(text).node(tree)}
    except RecursionError as error:
        raise RequestError(
            "input-malformed", f"{path.name} nests expressions too deeply", file=str(path)
        ) from error


class _Encoder:
    def __init__(self, text: str) -> None:
        data = text.encode()
        # The tokenizer's idea of a line, which is narrower than str.splitlines().
        self._line_starts = [0] + [m.end() for m in re.finditer(rb"\r\n|\r|\n", data)]

    def node(self, node: ast.AST, positions: bool = True) -> dict[str, Any]:
        inner = positions and (_FSTRING_POSITIONS or not isinstance(node, ast.JoinedStr))
        return {
            "type": type(node).__name__,
            "line": getattr(node, "lineno", 0),
            "range": self._range(node) if positions else None,
            "fields": [[name, self._value(item, inner)] for name, item in ast.iter_fields(node)],
        }

    def _range(self, node: ast.AST) -> list[int] | None:
        end_line = getattr(node, "end_lineno", None)
        if end_line is None:
            return None
        begin = self._line_starts[node.lineno - 1] + node.col_offset
        return [begin, self._line_starts[end_line - 1] + node.end_col_offset]

    def _value(self, value: Any, positions: bool) -> dict[str, Any]:
        if isinstance(value, ast.AST):
            return {"node": self.node(value, positions)}
        if not isinstance(value, list):
            return {"constant": _constant(value)}
        if any(isinstance(item, ast.AST) for item in value) or not value:
            nodes = [None if item is None else self.node(item, positions) for item in value]
            return {"nodes": nodes}
        if all(item is None for item in value):
            return {"nodes": value}  # keyword defaults, all absent
        return {"constants": [_constant(item) for item in value]}


def _constant(value: Any) -> Any:
    """A literal as the protocol spells it; what it cannot spell (bytes, `...`) by its repr."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int) and value in _INT64:
        return value
    if isinstance(value, float):
        return encode_float(value)
    return repr(value)
