"""The configuration file of `hitless link`, for an end that runs as a service."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from hitless.errors import BadInput
from hitless.service import metrics as service_metrics
from hitless.service.configuration import Checked, parse
from hitless.switch.configuration import InterfaceName, Metrics
from hitless.whole_file import read_text


class Link(Checked):
    inside: InterfaceName
    """Interface to the hosts."""
    outside: InterfaceName
    """Interface to the other machine: the lossy link."""
    rate: str
    """Rate of the link, such as "1 Gbps": queues build here, not in the link."""
    delay: str = "100 us"
    """One-way delay of the link; "0 s" or more."""
    answer: str = "5 ms"
    """Maximum time for the processes at both ends to answer each other, in addition to the delay; "0 s" or more."""
    loss_rate: Annotated[float, Field(ge=1e-12, le=0.4)] = 1e-3
    """Expected loss rate, as a share of frames."""
    target: Annotated[float, Field(ge=1e-18, le=0.4)] = 1e-8
    """Target residual loss rate: with `loss_rate`, it gives the number of copies."""
    mode: Literal["blocking", "non-blocking"] = "blocking"
    """Keep frames in order, or not."""
    active: bool = True
    """Protect; else only forward."""
    set_mtu: bool = False
    """Raise the MTU of the outside interface as needed, while this end runs."""
    fail_open: bool = True
    """Let the kernel forward, unprotected, while this end or the other does not."""
    vlan_tags: Annotated[int, Field(ge=0, le=2)] = 0
    """Maximum number of VLAN tags on a frame."""
    strict: bool = False
    """Exit with code 1 if a deadline was missed."""
    busy_poll: bool = False
    """Never sleep: occupies a processor for minimum jitter."""


class LinkMetrics(Metrics):
    port: service_metrics.PortNumber = 0
    """TCP port for Prometheus; 0 for no metrics."""


class Config(Checked):
    link: Link
    metrics: LinkMetrics = LinkMetrics()


CHANGEABLE = frozenset({"loss_rate", "target", "mode", "active", "strict"})
"""Fields that a running end accepts when it reads its file again."""


def read_link_file(path: Path) -> Config:
    return parse(Config, read_text(path), str(path), hint="hitless link --example prints an example file")


def require_changeable(before: Config, after: Config) -> None:
    """Require that fixed fields are unchanged. Raises `BadInput` naming the changed ones."""
    names = set(type(before.link).model_fields) - CHANGEABLE
    fixed = sorted(f"link.{name}" for name in names if getattr(before.link, name) != getattr(after.link, name))
    fixed += ["metrics"] if before.metrics != after.metrics else []
    if fixed:
        rule = "a running link keeps it: restart it to change that"
        raise BadInput(f"{', '.join(fixed)}: changed in the file, and {rule}")


EXAMPLE = """\
# One end of a protected link: hitless link FILE. The other box has the same values.

[link]
inside = "eth1"                 # the interface to the hosts
outside = "eth2"                # the interface to the other box: the lossy link
rate = "1 Gbps"                 # rate of the link: queues build here, not in the link
# delay = "100 us"              # one way
# answer = "5 ms"               # maximum time for both processes to answer, without the delay
# loss_rate = 1e-3              # expected loss rate
# target = 1e-8                 # target residual loss rate
# mode = "blocking"             # keep the order of frames; or "non-blocking"
# active = true                 # false: only forward
# set_mtu = true                # raise the MTU of eth2 as needed
# fail_open = true              # the kernel forwards, unprotected, while this end or the other does not
# vlan_tags = 0                 # that frames may carry

[metrics]
port = 9472                     # http://127.0.0.1:9472/metrics; 0 for none
"""
