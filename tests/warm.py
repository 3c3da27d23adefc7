"""`hitless` as a separate process without the cost of imports.

Imports take most of the time of a short command, and tests run hundreds of them. So one process imports everything
once, and each call forks it, with its own arguments, folder, environment, exit code and streams. Tests about startup,
terminals or signals start the program itself.
"""

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

HERE = Path(__file__).parent
PROGRAM = Path(sys.executable).with_name("hitless")
"""Program for tests that need a freshly started process: signals, terminals, environment."""


class Program:
    """A program started by the first call, which ends with the tests."""

    def __init__(self, module: str, *imports: str, path: Path | None = None) -> None:
        """The program is the function ``main`` of ``module``, which can be in ``path``; it will need ``imports``."""
        self._module = module
        self._imports = imports
        self._path = path
        self._server: subprocess.Popen[bytes] | None = None
        self._requests = self._answers = -1
        atexit.register(self._end)

    def __call__(
        self,
        *arguments: object,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        input: str = "",
        timeout: float = 300.0,
        code: int | None = 0,
        traceback: bool = False,
    ) -> subprocess.CompletedProcess[str]:
        """Call it like `subprocess.run`, with text captured; it must exit with ``code`` unless that is None."""
        words = [str(argument) for argument in arguments]
        with ExitStack() as files:
            streams = [files.enter_context(tempfile.TemporaryFile("w+")) for _ in range(3)]
            streams[0].write(input)
            streams[0].flush()
            request = {
                "arguments": words,
                "folder": str(cwd or Path.cwd()),
                "environment": dict(os.environ if env is None else env),
                "streams": [f"/proc/{os.getpid()}/fd/{stream.fileno()}" for stream in streams],
            }
            ended = self._ask(request, timeout)
            _, stdout, stderr = (stream.seek(0) or stream.read() for stream in streams)
        assert code in {None, ended}, (words, ended, stdout, stderr)
        assert traceback or "Traceback" not in stderr, stderr
        return subprocess.CompletedProcess(words, ended, stdout, stderr)

    def _ask(self, request: dict[str, object], timeout: float) -> int:
        if self._server is None:
            self._start()
        os.write(self._requests, json.dumps(request).encode() + b"\n")
        if not select.select([self._answers], [], [], timeout)[0]:
            os.killpg(self._server.pid, signal.SIGKILL)
            self._end()
            raise subprocess.TimeoutExpired(request["arguments"], timeout)
        answer = os.read(self._answers, 64)
        assert answer, "the process that forks has ended, see its stderr"
        return int(answer)

    def _start(self) -> None:
        theirs, self._requests = os.pipe()
        self._answers, back = os.pipe()
        command = [sys.executable, HERE / "warm_server.py", self._module, str(theirs), str(back), *self._imports]
        path = os.pathsep.join(filter(None, [self._path and str(self._path), os.environ.get("PYTHONPATH")]))
        self._server = subprocess.Popen(
            command,
            pass_fds=(theirs, back),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            env=os.environ | ({"PYTHONPATH": path} if path else {}),
        )
        os.close(theirs)
        os.close(back)

    def _end(self) -> None:
        """Wait for it, so that its CPU time counts."""
        if self._server is not None:
            os.close(self._requests)
            os.close(self._answers)
            self._server.wait()
            self._server = None


hitless = Program("hitless.cli.main", "hitless.cli.*", "hitless_papers.*", "hitless_papers.cli.*")
fake_hitless = Program(
    "fake_hitless", "hitless.cli.run", "hitless_papers.cli.reproduce", "hitless.cli.bench", path=HERE / "python"
)
