"""The control socket of a running service: a Unix socket that only its owner can open, one line of JSON each way.

{"version": 1, "command": "unprotect", "link": "sw1->sw2"} {"version": 1, "ok": true, "answer": {...}} {"version": 1,
"ok": false, "error": {"what": "...", "where": "", "rule": "", "hint": "", "is_input": true}}
"""

import json
import logging
import os
import select
import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from hitless.errors import BadInput, HitlessError, reason
from hitless.service.configuration import Checked

log = logging.getLogger(__name__)

VERSION: Literal[1] = 1
REQUEST_BYTES_MAX = 4_096
ANSWER_BYTES_MAX = 16 << 20
PATIENCE_S = 2.0
"""Timeout for a client to send its whole request, and again to read the whole answer."""
LOOK_S = 1.0
"""Interval at which an idle `Server.serve` checks whether to continue."""
ANSWER_S = 30.0
"""Timeout for a whole answer."""


class Request(Checked):
    """The common part of all requests; each has a ``command``."""

    version: Literal[1] = VERSION


RequestKind = TypeVar("RequestKind", bound=Request)


def made(kind: type[RequestKind], values: dict[str, Any]) -> RequestKind:
    """Return a request with these values. Raises `BadInput`."""
    try:
        return kind(**values)
    except ValidationError as invalid:
        field, rule = _first_fault(invalid)
        raise BadInput(f"{field} {values[field]!r}", rule=rule) from invalid


def _first_fault(invalid: ValidationError) -> tuple[str, str]:
    first = invalid.errors(include_url=False)[0]
    return ".".join(str(part) for part in first["loc"]), first["msg"][:1].lower() + first["msg"][1:]


def ask(path: Path, request: Request, whom: str, *, timeout_s: float | None = None) -> dict[str, Any]:
    """Send a request to the socket at ``path``. Raises `HitlessError`, also if ``whom`` refuses it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC) as service:
        patience_s = ANSWER_S if timeout_s is None else timeout_s
        until_s = time.monotonic() + patience_s
        service.settimeout(patience_s)
        try:
            service.connect(str(path))
            service.sendall(request.model_dump_json().encode() + b"\n")
            answer = json.loads(_line(service, ANSWER_BYTES_MAX, until_s))
        except (OSError, ValueError) as failed:
            raise HitlessError(f"{whom} does not answer: {reason(failed)}", where=str(path)) from failed
    if answer.get("version") != VERSION:
        hint = f"hitless was changed while {whom} was up: end it, and start it again"
        raise HitlessError(f"{whom} uses another version of the protocol", where=str(path), hint=hint)
    if not answer["ok"]:
        raise decoded(answer["error"])
    result: dict[str, Any] = answer["answer"]
    return result


def encoded(error: HitlessError) -> dict[str, Any]:
    parts = {"what": error.what, "where": error.where, "rule": error.rule, "hint": error.hint}
    return parts | {"is_input": isinstance(error, BadInput)}


def decoded(error: dict[str, Any]) -> HitlessError:
    kind = BadInput if error["is_input"] else HitlessError
    return kind(error["what"], where=error["where"], rule=error["rule"], hint=error["hint"])


class Server:
    """Answers one connection after the other; ``wake`` is safe in a signal handler or another thread."""

    def __init__(self, path: Path, requests: Any) -> None:
        """``requests`` is the type of its requests, a union with ``command`` as discriminator."""
        self._adapter: TypeAdapter[Any] = TypeAdapter(requests)
        path.unlink(missing_ok=True)
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        before = os.umask(0o177)
        try:
            self._listening.bind(str(path))
        finally:
            os.umask(before)
        self._listening.listen(16)
        self._woken, self._waker = socket.socketpair()
        self._waker.settimeout(0)

    def wake(self) -> None:
        """Make `serve` check whether to continue."""
        try:
            self._waker.send(b"\0")
        except OSError:
            # It is full, so it will wake anyway; or it is closed, and not serving.
            return

    def serve(self, handle: Callable[[Any], dict[str, Any]], goes_on: Callable[[], bool]) -> None:
        """Pass requests to ``handle`` while ``goes_on``, which is checked after each, when woken, and every second."""
        while goes_on():
            ready, _, _ = select.select([self._listening, self._woken], [], [], LOOK_S)
            if self._woken in ready:
                self._woken.recv(4_096)
            if self._listening in ready:
                self._answer_one(handle)

    def close(self) -> None:
        for one in (self._listening, self._woken, self._waker):
            one.close()

    def _answer_one(self, handle: Callable[[Any], dict[str, Any]]) -> None:
        connection, _ = self._listening.accept()
        with connection:
            try:
                answer = self._answer(_line(connection, REQUEST_BYTES_MAX, time.monotonic() + PATIENCE_S), handle)
                connection.settimeout(PATIENCE_S)  # timeout for everything that is sent, not for a piece
                connection.sendall(json.dumps(answer).encode() + b"\n")
            except (OSError, ValueError) as failed:
                log.debug("process %s: %s", _peer(connection), failed)

    def _answer(self, line: bytes, handle: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        try:
            return {"version": VERSION, "ok": True, "answer": handle(self._parsed(line))}
        except HitlessError as refused:
            return {"version": VERSION, "ok": False, "error": encoded(refused)}

    def _parsed(self, line: bytes) -> Any:
        try:
            return self._adapter.validate_python(json.loads(line))
        except ValidationError as invalid:
            field, rule = _first_fault(invalid)
            raise BadInput(f"an invalid request: {field}: {rule}") from invalid
        except (ValueError, RecursionError) as broken:
            raise BadInput("a request that is not JSON") from broken


def _line(connection: socket.socket, bytes_max: int, until_s: float) -> bytes:
    """Receive up to the first newline, before the monotonic clock reaches ``until_s``.

    Raises ValueError if the line is too long or missing, and OSError if it is late.
    """
    received = bytearray()
    while b"\n" not in received:
        left_s = until_s - time.monotonic()
        if left_s <= 0.0:
            raise TimeoutError("it took too long")
        connection.settimeout(left_s)
        piece = connection.recv(min(65_536, bytes_max + 1 - len(received)))
        if not piece:
            raise ValueError("the connection was closed in the middle of a line")
        received += piece
        if len(received) > bytes_max:
            raise ValueError(f"a line of more than {bytes_max} bytes")
    return bytes(received.partition(b"\n")[0])


def _peer(connection: socket.socket) -> str:
    try:
        pid, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    except OSError:
        return "?"
    return str(pid)
