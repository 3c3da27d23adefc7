"""The process behind `warm`, which forks for each call: python warm_server.py MODULE REQUESTS ANSWERS IMPORTS..."""

import gc
import importlib
import json
import os
import pkgutil
import sys
from collections.abc import Callable, Sequence
from typing import Any


def main(module: str, requests: int, answers: int, *imports: str) -> None:
    """Execute each request, a line of JSON, in a fork; answer with its exit code."""
    program = importlib.import_module(module).main
    import_all(imports)
    # Exclude existing objects from the cleanup at the end of a fork.
    gc.collect()
    gc.freeze()
    request = in_a_fork(requests, answers)
    if request is not None:
        call(program, **request)


def in_a_fork(requests: int, answers: int) -> dict[str, Any] | None:
    """Return a request in a forked child, which then executes it; return None in this process at the end."""
    for number in (requests, answers):
        os.set_inheritable(number, False)  # noqa: FBT003 - it takes no keyword
    with os.fdopen(requests) as lines:
        for line in lines:
            child = os.fork()
            if child == 0:
                return json.loads(line)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            os.write(answers, str(code).encode())
    return None


def import_all(names: Sequence[str]) -> None:
    """Import modules; ``package.*`` means those of a package."""
    for name in names:
        package = importlib.import_module(name.removesuffix(".*"))
        if name.endswith(".*"):
            for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
                importlib.import_module(found.name)


def call(
    program: Callable[[], None], arguments: list[str], folder: str, environment: dict[str, str], streams: list[str]
) -> None:
    """Run the program to its end in a separate process."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, stream in enumerate(streams):
        opened = os.open(stream, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_APPEND)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = ["hitless", *arguments]
    program()
    sys.exit()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
