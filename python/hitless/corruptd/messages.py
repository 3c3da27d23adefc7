"""The messages between daemons: JSON objects with the fields of the published program, and our own.

Published: ``event``, ``switch_id``, ``dev_port``, ``mcast_grp`` and ``action``, on the channel ``SWITCH-<switch id>``.
There, ``action`` is 1 for one copy by unicast and 2 for several by multicast; we added 0 to stop.
"""

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from hitless.corruptd.detection import Mode, Setting
from hitless.service.configuration import Checked

PAYLOAD_BYTES_MAX = 4_096
REASON_MAX = 200
"""Maximum characters for the reason why a message is invalid."""

Name = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[!-~]+$")]
"""A switch or a link: printable ASCII without spaces."""
Count = Annotated[int, Field(ge=0, lt=2**63)]
Seconds = Annotated[float, Field(gt=0.0, le=604_800.0)]


class BadMessage(Exception):
    """A payload that is not a valid message; the text says why."""


def channel(switch_id: str) -> str:
    """Return the channel of a switch's daemon."""
    return f"SWITCH-{switch_id}"


class _Message(Checked):
    version: Literal[1] = 1
    switch_id: Name
    """Switch that the message is for."""
    link: Name
    """Link in its corrupting direction, "sw2->sw6"."""
    origin: Name
    """Downstream switch of the link, which sends the request."""
    epoch: Count
    """Number that rises with every start of the requesting daemon."""
    sequence: Count
    """Number that rises with every request in an epoch."""


class Request(_Message):
    """Request from the downstream daemon to the upstream switch: a desired state, not a change."""

    event: Literal["corruption"] = "corruption"
    dev_port: Count
    """Port of ``switch_id`` that sends on the link."""
    mcast_grp: Count
    """Its multicast group, if the switch needs one to send several copies."""
    action: Literal[0, 1, 2]
    copies: Annotated[int, Field(ge=0, le=255)]
    mode: Mode
    loss_rate: Annotated[float, Field(ge=0.0, le=1.0)]
    """Measured loss rate, for information."""
    lifetime_s: Seconds
    """Lifetime of this request without a further one."""

    @model_validator(mode="after")
    def _action_fits_copies(self) -> Self:
        if self.action != action_of(self.copies):
            raise ValueError(f"action {self.action} does not go with {self.copies} copies")
        return self

    @property
    def setting(self) -> Setting:
        return Setting(self.copies, self.mode)


class Acknowledgement(_Message):
    """The upstream daemon has executed a request, or failed."""

    event: Literal["acknowledgement"] = "acknowledgement"
    applied: bool
    detail: Annotated[str, Field(max_length=200)] = ""


Message: TypeAlias = Request | Acknowledgement
_ADAPTER: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="event")])


def action_of(copies: int) -> Literal[0, 1, 2]:
    """Return the published program's code for a number of copies."""
    return 0 if copies == 0 else 1 if copies == 1 else 2


def encode(message: Message) -> bytes:
    return message.model_dump_json().encode()


def decode(payload: bytes) -> Message:
    """Decode the message in ``payload``. Raises `BadMessage` for anything else."""
    if len(payload) > PAYLOAD_BYTES_MAX:
        raise BadMessage(f"{len(payload)} bytes are more than the {PAYLOAD_BYTES_MAX} of any message")
    try:
        return _ADAPTER.validate_json(payload)
    except ValidationError as invalid:
        raise BadMessage(_reason(invalid.errors(include_url=False, include_context=False)[0])) from invalid


def _reason(error: Any) -> str:
    where = ".".join(str(part) for part in error["loc"]) or "message"
    # Names and values come from the sender and go into a log: a line break must not look like one of our lines.
    return repr(f"{where}: {error['msg']}"[:REASON_MAX])[1:-1]
