"""Troubles of a link, and the mechanisms that can help.

The link is agg0 to core0, bad in both directions:

- a loss rate, the same for each frame;
- slow: a tenth of its rate;
- flapping: every 50 us it is down for 10 us, undetected;
- cut: it is down after 50 us, undetected. Rerouted: both ends detect it after 2.755 us (SQR, section VI)
  and use another port.

The times of flapping and cut are chosen: a flow of 2 MB lasts 170 us. LinkGuardian repairs losses only, so it does not
run on a link that flaps. Two-choices routing cannot go around a failed link, so RoCE and TCP are not rerouted.
LinkGuardian and SQR cannot share a switch with trimming: agg0 and core0 then drop instead.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hitless.checking import Fields
from hitless_papers import scenarios
from hitless_papers.field.fabric import RATE_GBPS, Fabric
from hitless_papers.field.transports import Transport, trimming

ENDS = ("agg0", "core0")
_BOTH_WAYS = f"{ENDS[0]}<->{ENDS[1]}"
_DIRECTIONS = (f"{ENDS[0]}->{ENDS[1]}", f"{ENDS[1]}->{ENDS[0]}")
_END_MS = 20
"""End of a run. The time of an unfinished flow is infinite."""
_FLAP_US, _DOWN_US = 50, 10


@dataclass(frozen=True, slots=True)
class Protection:
    """Something that acts on the bad link."""

    name: str
    mechanisms: Sequence[Mapping[str, Any]] = ()
    is_beside_trimming: bool = True
    reroutes: bool = False


def _both(**settings: Any) -> list[Mapping[str, Any]]:
    return [{**settings, "link": link} for link in _DIRECTIONS]


NOTHING = Protection("")
LLR = Protection("LLR", _both(kind="link-layer-retry"))
LINKGUARDIAN = Protection("LinkGuardian", _both(kind="linkguardian"), is_beside_trimming=False)
LG_NB = Protection("LG_NB", _both(kind="linkguardian", mode="non-blocking"), is_beside_trimming=False)
REROUTED = Protection("rerouted", reroutes=True)
_SQR = {"kind": "sqr", "links": [_BOTH_WAYS], "caching": "delay-queue"}
SQR = Protection("SQR", [_SQR], is_beside_trimming=False, reroutes=True)


@dataclass(frozen=True, slots=True)
class Trouble:
    """The state of the link, and the protections that are tried."""

    name: str
    tables: Mapping[str, Any] = field(default_factory=dict)
    protections: Collection[Protection] = (NOTHING,)


def loss(rate: str) -> Trouble:
    """A link that corrupts this share of its frames."""
    link = {"name": _BOTH_WAYS, "loss": {"kind": "bernoulli", "rate": float(rate)}}
    return Trouble(f"loss {rate}", {"link": [link]}, (NOTHING, LLR, LINKGUARDIAN, LG_NB))


def _flapping() -> Trouble:
    begins = range(_FLAP_US, _END_MS * 1_000, _FLAP_US)
    changes = [
        {"at": f"{at} us", "state": state}
        for begin in begins
        for at, state in ((begin, "down"), (begin + _DOWN_US, "up"))
    ]
    return Trouble("flapping", {"link": [{"name": _BOTH_WAYS, "schedule": changes}]}, (NOTHING, LLR))


HEALTHY = Trouble("healthy")
SLOW = Trouble("slow", {"link": [{"name": _BOTH_WAYS, "rate": f"{RATE_GBPS / 10:g} Gbps"}]})
FLAPPING = _flapping()
CUT = Trouble(
    "cut", {"failure": [{"link": _BOTH_WAYS, "first": f"{_FLAP_US} us", "outage": "1 s"}]}, (NOTHING, REROUTED, SQR)
)
_LOCAL_REROUTE = {"scheme": {"kind": "local-reroute"}, "detection": {"kind": "signal-loss"}}


@dataclass(frozen=True, slots=True)
class Cell:
    """A transport, a trouble and a protection."""

    transport: Transport
    trouble: Trouble
    protection: Protection

    @property
    def x(self) -> str:
        """Trouble and protection as rows name them."""
        return ", ".join(filter(None, [self.trouble.name, self.protection.name]))

    @property
    def runs(self) -> bool:
        """Can the protection act at all? Two-choices routing cannot go around a failed link."""
        return self.transport.chooses_paths or not self.protection.reroutes

    def scenario(self, fabric: Fabric, flows: Mapping[str, Any]) -> Fields:
        """Return the scenario with these flows."""
        made = scenarios.scenario(
            "one-bad-link",
            fabric.topology,
            [{"name": "flows", "transport": "hosts", **flows}],
            {"hosts": self.transport.settings},
            duration=f"{_END_MS} ms",
            **self.transport.tables(),
            **self.trouble.tables,
            mechanism=[*self._trimming(fabric), *self.protection.mechanisms],
            recovery=_LOCAL_REROUTE if self.protection.reroutes else None,
        )
        return {**made, "until": "all-flows-done"}

    def _trimming(self, fabric: Fabric) -> list[Mapping[str, Any]]:
        if not self.transport.chooses_paths:
            return []
        others = [name for name in fabric.switches if name not in ENDS]
        return [trimming([] if self.protection.is_beside_trimming else others)]
