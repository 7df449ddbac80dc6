# SPDX-License-Identifier: Apache-2.0
"""`parse`: ranges must cut exactly the node's text out of the file's bytes."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Failure, WorkerProcess


def nodes_of(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for _, value in node["fields"]:
        children = value.get("nodes", [value["node"]] if "node" in value else [])
        for child in children:
            if child is not None:
                yield from nodes_of(child)


def parse(worker: WorkerProcess, path: Path) -> dict[str, Any]:
    return worker.ask("parse", path=str(path))


SOURCES = {
    "unicode": "größe = 'ä' + \"𝒙\"  # ü\ndef f(x, *, y=größe): return x.é[größe:1]\n",
    "crlf": "a = 1\r\nif a:\r\n    b = '''x\r\ny'''; c = (a +\r\n         b)\r\n",
    "decorators": "@deco(1)\n# note\n@two\ndef f(a: int = 3) -> int:\n\t'''doc'''\n\treturn -a\n",
    "form feed": "a = 1\n\x0cb = 'x\x0by'\nc = b\n",
    "empty": "",
}


@pytest.mark.parametrize("name", list(SOURCES))
def test_ranges_are_exact(worker: WorkerProcess, tmp_path: Path, name: str) -> None:
    path = tmp_path / "source.py"
    path.write_bytes(SOURCES[name].encode())
    result = parse(worker, path)
    assert result["text"] == SOURCES[name]
    data = result["text"].encode()
    checked = 0
    for node in nodes_of(result["tree"]):
        # These have a place but are no Python text by themselves.
        if node["range"] is None or node["type"] in ("arg", "keyword", "alias", "Slice"):
            continue
        begin, end = node["range"]
        piece = data[begin:end].decode()
        if issubclass(getattr(ast, node["type"]), ast.expr):
            again: ast.AST = ast.parse(f"({piece})", mode="eval").body
        else:
            again = ast.parse(piece).body[0]
        assert type(again).__name__ == node["type"], piece
        checked += 1
    assert checked > 3 or not data


def test_every_file_of_this_repository_matches_cpython(worker: WorkerProcess) -> None:
    for path in sorted((ROOT / "python" / "ksplit").glob("*.py")):
        tree = ast.parse(path.read_text())
        expected = [type(node).__name__ for node in depth_first(tree)]
        assert [n["type"] for n in nodes_of(parse(worker, path)["tree"])] == expected


def depth_first(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from depth_first(child)


def test_fields_and_constants(worker: WorkerProcess, tmp_path: Path) -> None:
    path = tmp_path / "source.py"
    path.write_text(
        "global_ = [None, True, 3, 1.5, 1e999, 's', b'b', ..., 99999999999999999999]\n"
        "def f(*, a, b=1):\n    global q, r\n"
    )
    tree = parse(worker, path)["tree"]
    constants = [n for n in nodes_of(tree) if n["type"] == "Constant"]
    values = [dict(n["fields"])["value"]["constant"] for n in constants]
    big = "99999999999999999999"
    inf = {"float": "inf"}
    assert values == [None, True, 3, 1.5, inf, "s", "b'b'", "Ellipsis", big, 1]
    arguments = next(n for n in nodes_of(tree) if n["type"] == "arguments")
    defaults = dict(arguments["fields"])["kw_defaults"]["nodes"]
    assert defaults[0] is None and defaults[1]["type"] == "Constant"
    glob = next(n for n in nodes_of(tree) if n["type"] == "Global")
    assert dict(glob["fields"])["names"] == {"constants": ["q", "r"]}
    assert [n["line"] for n in nodes_of(tree) if n["type"] in ("Assign", "FunctionDef")] == [1, 2]


def test_fstring_parts_have_true_positions_or_none(worker: WorkerProcess, tmp_path: Path) -> None:
    path = tmp_path / "source.py"
    path.write_text("a = f'x{name!r:>{width}}y'\n")
    result = parse(worker, path)
    names = [n for n in nodes_of(result["tree"]) if n["type"] == "Name"]
    pieces = [n["range"] and result["text"][slice(*n["range"])] for n in names]
    inner = ["name", "width"] if sys.version_info >= (3, 12) else [None, None]
    assert pieces == ["a", *inner]


def test_encodings(worker: WorkerProcess, tmp_path: Path) -> None:
    path = tmp_path / "source.py"
    path.write_bytes("# coding: latin-1\nä = 1\n".encode("latin-1"))
    assert parse(worker, path)["text"] == "# coding: latin-1\nä = 1\n"
    path.write_bytes(b"\xef\xbb\xbfx = 1\n")
    result = parse(worker, path)
    assert result["text"] == "x = 1\n"
    assert result["tree"]["fields"][0][1]["nodes"][0]["range"] == [0, 5]


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"a = 1\nb = = 2\n", 2, "no valid Python"),
        (b"a = '\xff'\n", None, "no Python text"),
        (b"a\0b", None, "no valid Python"),
        (b"a = " + b"(" * 5000 + b")" * 5000, None, "no valid Python"),
        (b"a = " + b"1+" * 30000 + b"1", None, "Python"),
    ],
)
def test_broken_sources(
    worker: WorkerProcess, tmp_path: Path, data: bytes, line: int | None, message: str
) -> None:
    path = tmp_path / "source.py"
    path.write_bytes(data)
    with pytest.raises(Failure) as failure:
        parse(worker, path)
    error = failure.value.error
    assert error["kind"] == "input-malformed" and error["file"] == str(path)
    assert message in error["message"]
    assert line is None or error["line"] == line
