# SPDX-License-Identifier: Apache-2.0
"""Requests in, answers out: JSON lines over a private pair of file descriptors."""

from __future__ import annotations

import json
import math
import os
import traceback
from collections.abc import Iterator
from typing import Any

VERSION = 1
REQUEST_FD = 3
ANSWER_FD = 4


class RequestError(Exception):
    """An answer with `ok: false`; `kind` is one of the core's error code names."""

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        case: int | None = None,
        file: str | None = None,
        line: int | None = None,
        trace: str = "",
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.case = case
        self.file = file
        self.line = line
        self.trace = trace

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "message": self.message,
            "case": self.case,
            "file": self.file,
            "line": self.line,
            "traceback": self.trace,
        }


def user_error(
    kind: str,
    what: str,
    error: BaseException,
    *,
    file: str | None = None,
    case: int | None = None,
) -> RequestError:
    """Turns an exception of the user's code into an error that points into the user's file."""
    line = None
    if isinstance(error, SyntaxError) and error.filename == file:
        line = error.lineno
    else:
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.filename == file:
                line = frame.lineno
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return RequestError(kind, f"{what}: {text}", case=case, file=file, line=line, trace=trace)


def encode_float(value: float) -> Any:
    if math.isfinite(value):
        return value
    return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}


def finite_json(value: Any) -> Any:
    """`value` with every float that JSON cannot hold in the protocol's spelling."""
    if isinstance(value, float):
        return encode_float(value)
    if isinstance(value, dict):
        return {key: finite_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite_json(item) for item in value]
    return value


class Channel:
    """The worker's end of the pipes.

    Kernels under test share this process: they may print, close stdout or fork. So the pipes move
    to descriptors that nobody expects, no program started from here inherits them, and a forked
    child loses them at once: it can neither answer in the worker's name nor keep the pipe open
    after the worker's death.
    """

    def __init__(self) -> None:
        self._requests = os.fdopen(os.dup(REQUEST_FD), "r", encoding="utf-8", newline="\n")
        self._answers = os.dup(ANSWER_FD)
        os.close(REQUEST_FD)
        os.close(ANSWER_FD)
        self._owner = os.getpid()
        os.register_at_fork(after_in_child=self._close_in_child)

    def _close_in_child(self) -> None:
        for descriptor in (self._requests.fileno(), self._answers):
            os.close(descriptor)

    def requests(self) -> Iterator[dict[str, Any]]:
        """Yields requests until end of file; a line that is no request ends the worker too."""
        while True:
            line = self._requests.readline()
            if not line:
                return
            yield json.loads(line)

    def answer(self, answer: dict[str, Any]) -> None:
        if os.getpid() != self._owner:
            os._exit(1)  # a child that a kernel forked and that ran on into our loop
        data = (json.dumps(finite_json(answer), allow_nan=False) + "\n").encode()
        while data:
            data = data[os.write(self._answers, data) :]
