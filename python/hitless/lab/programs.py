"""A lab started by this process, with programs of `hitless.lab.traffic` in its hosts: for exhibits and tests."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hitless.errors import HitlessError
from hitless.lab import client, control, kernel, registry, traffic
from hitless.lab.process import Launch
from hitless.live import Status

_PATIENCE_S = 60.0
"""Timeout for a program to end, in addition to its own duration."""


class Program:
    """One of `traffic.PROGRAMS` in a host."""

    def __init__(self, namespace: str, name: str, settings: dict[str, Any]) -> None:
        self._name = f"{name} in {namespace}"
        words = ["ip", "netns", "exec", namespace, sys.executable, "-I", str(Path(traffic.__file__)), name]
        self._process = subprocess.Popen(
            [*words, json.dumps(settings)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def wait_until_ready(self) -> None:
        """Wait until a receiver is ready. Raises `HitlessError`."""
        assert self._process.stdout is not None
        if self._process.stdout.readline() != b"ready\n":
            raise self._failed()

    def result(self) -> dict[str, Any]:
        """Let it end, and wait for its result. Raises `HitlessError`."""
        try:
            told, _ = self._process.communicate(b"", timeout=_PATIENCE_S)
            document: dict[str, Any] = json.loads(told)
        except (subprocess.TimeoutExpired, ValueError) as silent:
            raise self._failed() from silent
        return document

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()

    def _failed(self) -> HitlessError:
        self.kill()
        assert self._process.stderr is not None
        told = "" if self._process.stderr.closed else self._process.stderr.read().decode(errors="replace")
        return HitlessError(f"{self._name} failed", hint=told.strip()[-500:])


class OwnLab:
    """A lab that is up; made by `running`."""

    def __init__(self, name: str) -> None:
        record = registry.require(registry.Place(name))
        self._name = name
        self._hosts = {host.name: host for host in record.plan.hosts}
        self._programs: list[Program] = []

    def address(self, host: str) -> str:
        return self._hosts[host].address

    def start(self, host: str, program: str, **settings: Any) -> Program:
        made = Program(self._hosts[host].namespace, program, settings)
        self._programs.append(made)
        return made

    def receive(self, host: str, program: str, **settings: Any) -> Program:
        """Start a receiver, and wait until it is ready."""
        made = self.start(host, program, **settings)
        made.wait_until_ready()
        return made

    def execute(self, host: str, *command: str) -> str:
        """Run a system program in a host to its end; return its output. Raises `HitlessError`."""
        return kernel.run("ip", "netns", "exec", self._hosts[host].namespace, *command)

    def tell(self, request: control.Request) -> None:
        client.ask(self._name, request)

    def status(self) -> Status:
        return Status(client.ask(self._name, control.Status()))

    def settle(self) -> None:
        """Wait until the fabric is empty, or for the maximum time for packets to leave it."""
        until = time.monotonic() + _PATIENCE_S / 10
        while self.status().values["frames_inside"] and time.monotonic() < until:
            time.sleep(0.05)

    def end_programs(self) -> None:
        for program in self._programs:
            program.kill()


@contextmanager
def running(launch: Launch) -> Iterator[OwnLab]:
    """Run a lab while the block does, and remove everything afterwards. Raises `HitlessError`."""
    client.start(launch, lambda _: None)
    try:
        lab = OwnLab(launch.name)
        try:
            yield lab
        finally:
            lab.end_programs()
    finally:
        client.end(launch.name)
