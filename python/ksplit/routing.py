# SPDX-License-Identifier: Apache-2.0
"""The router of an emitted file: which way an input goes, and what the decision costs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from time import perf_counter_ns
from types import CodeType, FunctionType
from typing import Any, Callable

import torch

from ksplit.loading import Implementation
from ksplit.protocol import user_error
from ksplit.task import Task

BASE = "base"
_ROUNDS = 7


class Router:
    """`ModelNew._route` and the implementations it chooses from."""

    def __init__(self, implementation: Implementation) -> None:
        self.module = implementation.module
        cls = type(self.module)
        self.route: FunctionType | None = vars(cls).get("_route")
        self._hosts: dict[str, FunctionType] = {}
        self._base: type[torch.nn.Module] | None = cls.__mro__[1]
        if self._base is torch.nn.Module:
            self._base = None
        if self.route is not None:
            names = set(_names(self.route.__code__))
            # The host functions it calls; a helper of the base has no reason to be there.
            self._hosts = {
                name: value
                for name, value in self.route.__globals__.items()
                if name in names and isinstance(value, FunctionType)
            }

    @contextmanager
    def replaced(self, wrap: Callable[[str, Callable[..., Any]], Callable[..., Any]]) -> Iterator:
        """Every implementation behind the router is `wrap(name, original)` in this scope."""
        if self.route is None:
            yield
            return
        forward = None if self._base is None else self._base.forward
        scope = self.route.__globals__
        try:
            for name, function in self._hosts.items():
                scope[name] = wrap(name, function)
            if self._base is not None:
                self._base.forward = wrap(BASE, forward)
            yield
        finally:
            scope.update(self._hosts)
            if self._base is not None:
                self._base.forward = forward


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def route(task: Task, implementation: Implementation, case: int, calls: int) -> dict[str, Any]:
    """The `route` operation. The least of a few rounds counts: noise only ever adds."""
    router = Router(implementation)
    if router.route is None:
        return {"router_us": 0.0, "route": BASE}
    inputs = task.inputs(case)
    taken: list[str] = []

    def note(name: str, _: Any) -> Callable[..., Any]:
        return lambda *args, **kwargs: taken.append(name)

    def stub(*args: Any, **kwargs: Any) -> None:
        return None

    module = router.module
    try:
        with torch.no_grad(), router.replaced(note):
            module._route(*inputs)
        with torch.no_grad(), router.replaced(lambda name, original: stub):
            routed = _least(module._route, inputs, calls)
            direct = _least(partial(stub, module), inputs, calls)
    except BaseException as error:
        what = f"_route fails on case {case}"
        raise user_error(
            "candidate-failed", what, error, file=implementation.path, case=case
        ) from error
    return {"router_us": max(routed - direct, 0.0), "route": taken[0] if taken else BASE}


def _least(function: Callable[..., Any], inputs: list[Any], calls: int) -> float:
    """Microseconds per call in the fastest of several rounds."""
    best = float("inf")
    for _ in range(_ROUNDS):
        begin = perf_counter_ns()
        for _ in range(calls):
            function(*inputs)
        best = min(best, perf_counter_ns() - begin)
    return best / max(calls, 1) / 1e3
