"""The requests to the control socket of a lab (`hitless.service.control`)."""

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field

from hitless.service import control

LinkName = Annotated[str, Field(min_length=1, max_length=256)]


class Status(control.Request):
    command: Literal["status"] = "status"


class Stop(control.Request):
    """Stop the run, keep its results, remove the lab."""

    command: Literal["stop"] = "stop"


class Fail(control.Request):
    command: Literal["fail"] = "fail"
    link: LinkName


class Repair(control.Request):
    command: Literal["repair"] = "repair"
    link: LinkName


class Corrupt(control.Request):
    command: Literal["corrupt"] = "corrupt"
    link: LinkName
    rate: Annotated[float, Field(ge=0.0, le=1.0)]
    mean_burst_frames: Annotated[float, Field(ge=1.0, le=1e12, allow_inf_nan=False)] | None = None


class Protect(control.Request):
    command: Literal["protect"] = "protect"
    link: LinkName
    copies: Annotated[int, Field(ge=1, le=16)] = 1
    mode: Literal["blocking", "non-blocking"] = "blocking"


class Unprotect(control.Request):
    command: Literal["unprotect"] = "unprotect"
    link: LinkName


LinkRequest: TypeAlias = Fail | Repair | Corrupt | Protect | Unprotect
Request: TypeAlias = Status | Stop | LinkRequest

AnyRequest: TypeAlias = Annotated[Request, Field(discriminator="command")]


def ask(path: Path, request: Request) -> dict[str, Any]:
    """Send a request to the lab with a socket at ``path``. Raises `HitlessError`, also if the lab refuses it."""
    return control.ask(path, request, "the lab")
