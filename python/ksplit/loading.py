# SPDX-License-Identifier: Apache-2.0
"""Python files of the user and of generators, loaded as modules and kept by content."""

from __future__ import annotations

import ast
import hashlib
import inspect
import linecache
import os
import random
import sys
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Callable

import torch
from torch import nn

from ksplit.devices import Device
from ksplit.protocol import RequestError, user_error
from ksplit.sources import parse_source, read_source

_MAX_IMPLEMENTATIONS = 64


@dataclass
class Implementation:
    """A loaded file with its module built: ready to call."""

    path: str
    namespace: ModuleType
    module: nn.Module


def load_module(path: str, kind: str) -> ModuleType:
    """Runs a Python file as a module of its own.

    `kind` is the error for a file that does not load: `input-malformed` for the user's files, of
    which one that needs a missing file is `input-missing`, and `candidate-failed` for others. A
    file that is not there is `input-missing` in any case.
    """
    source = Path(os.path.abspath(path))
    file = str(source)
    try:
        text = read_source(source)
        parse_source(text, source)
    except RequestError as error:
        error.kind = error.kind if error.kind == "input-missing" else kind
        raise
    digest = hashlib.sha256(f"{file}\0{text}".encode()).hexdigest()[:16]
    module = ModuleType(f"ksplit_{source.stem}_{digest}")
    module.__file__ = file
    # Triton reads a kernel's source through linecache, at once or at the first launch: give it this
    # text even if the file changes meanwhile.
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    sys.modules[module.__name__] = module
    try:
        exec(compile(text, file, "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    except BaseException as error:
        del sys.modules[module.__name__]
        is_missing = isinstance(error, (FileNotFoundError, ModuleNotFoundError))
        if is_missing and kind == "input-malformed":
            kind = "input-missing"
        raise user_error(kind, f"{source.name} does not load", error, file=file) from error
    return module


def module_class(module: ModuleType, name: str, kind: str) -> type[nn.Module]:
    """The class `name` of a loaded file; `kind` is the error if it has no such module class."""
    found = getattr(module, name, None)
    if isinstance(found, type) and issubclass(found, nn.Module):
        return found
    file = str(module.__file__)
    if found is not None:
        reason = f"`{name}` of {Path(file).name} is no subclass of torch.nn.Module"
        raise RequestError(kind, reason, file=file, line=getattr(found, "__firstlineno__", None))
    classes = [key for key, value in vars(module).items() if isinstance(value, type)]
    hint = f"; its classes are {', '.join(classes)}" if classes else ""
    expected = f"{Path(file).name} must define `class {name}(torch.nn.Module)`{hint}"
    raise RequestError(kind, expected, file=file)


def build_module(
    cls: type[nn.Module],
    init_inputs: list[Any],
    seed: int,
    device: Device,
    kind: str,
    twin: nn.Module | None = None,
) -> nn.Module:
    """`cls(*init_inputs)` on the device, in eval mode, with `twin`'s parameters where names match.

    Every module of a task is built under the same seed, so that even parameters under other names
    start alike.
    """
    file = inspect.getmodule(cls).__file__ if inspect.getmodule(cls) else None
    seed_everything(seed)
    try:
        module = cls(*init_inputs).to(device.torch_device).eval()
        if twin is not None and module.state_dict().keys() == twin.state_dict().keys():
            module.load_state_dict(twin.state_dict())
    except BaseException as error:
        what = f"`{cls.__name__}` cannot be built from get_init_inputs()"
        raise user_error(kind, what, error, file=file) from error
    module.requires_grad_(False)
    return module


def seed_everything(seed: int) -> None:
    random.seed(seed)
    torch.manual_seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)


def forward_parameters(implementation: Implementation) -> list[dict[str, Any]]:
    """The parameters of `ModelNew.forward` without `self`, defaults as source text."""
    signature = inspect.signature(implementation.module.forward)
    defaults = _default_texts(implementation)
    kinds = {
        inspect.Parameter.KEYWORD_ONLY: "keyword_only",
        inspect.Parameter.VAR_POSITIONAL: "var_positional",
        inspect.Parameter.VAR_KEYWORD: "var_keyword",
    }
    result = []
    for name, parameter in signature.parameters.items():
        default = None
        if parameter.default is not inspect.Parameter.empty:
            default = defaults.get(name, repr(parameter.default))
        kind = kinds.get(parameter.kind, "positional")
        result.append({"name": name, "kind": kind, "default": default})
    return result


def _default_texts(implementation: Implementation) -> dict[str, str]:
    function = implementation.module.forward.__func__.__code__
    text = "".join(linecache.getlines(implementation.path))
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef) or node.name != "forward":
            continue
        first_line = min([node.lineno] + [item.lineno for item in node.decorator_list])
        if first_line != function.co_firstlineno:
            continue
        arguments = node.args
        positional = arguments.posonlyargs + arguments.args
        tail = positional[len(positional) - len(arguments.defaults) :]
        pairs = list(zip(tail, arguments.defaults))
        pairs += list(zip(arguments.kwonlyargs, arguments.kw_defaults))
        texts = ((arg.arg, ast.get_source_segment(text, value)) for arg, value in pairs if value)
        return {name: segment for name, segment in texts if segment}
    return {}


class ImplementationCache:
    """Loaded implementations by path and content, evicted least recently used."""

    def __init__(self) -> None:
        self._entries: OrderedDict[tuple[str, str], Implementation] = OrderedDict()

    def get(self, path: str, build: Callable[[], Implementation]) -> Implementation:
        """The implementation of the file at `path`, made by `build` if its text is new."""
        try:
            digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        except OSError:
            digest = ""  # build() says what is wrong
        key = (os.path.abspath(path), digest)
        if key not in self._entries:
            self._entries[key] = build()
            while len(self._entries) > _MAX_IMPLEMENTATIONS:
                _, oldest = self._entries.popitem(last=False)
                sys.modules.pop(oldest.namespace.__name__, None)
        self._entries.move_to_end(key)
        return self._entries[key]
