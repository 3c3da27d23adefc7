"""Fabrics and traffic of `all/live`: one for each system, where a plain switch fails.

Two busy processors can forward the rates, 20 to 100 Mb/s. The times of mechanisms are scaled with them if the paper's
are for fast links: a full frame takes 0.6 ms at 20 Mb/s, and 1.2 us at 10 Gb/s.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hitless.analysis import jain_index
from hitless.lab import control
from hitless.lab.programs import OwnLab, Program
from hitless.live import Status
from hitless_papers.together.lab_work import Counts, Drive

_UDP, _TCP = 9, 5001
_PAYLOAD_BYTES = 1_000
_START_S = 0.8
"""Until the first datagram: by then all programs have started."""
EXPEDITED, DEFAULT = 46, 0
"""Code points: Expedited Forwarding (RFC 3246) and the default."""
ALPHAS = (0.1, 1.0)
"""How much relative priority counts: by default (section 5.4 of the paper), and fully."""

_Wait = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Scene:
    """A fabric, what each variant adds to it, and the traffic."""

    system: str
    x: str
    """The trouble, in words."""
    fabric: str
    variants: Mapping[str, str]
    """By the name of the series: lines of the scenario. The first is the plain switch."""
    drive: Drive
    seconds: float
    settings: str
    """What its counts hang on and is not the default, for the notes of its rows."""

    def scenario(self, variant: str) -> str:
        return self.fabric + self.variants[variant]


PLAIN = "plain switch"


def scenes(bursts: int) -> Sequence[Scene]:
    """All of them, in the order of their rows; ``bursts`` is how often something goes wrong, or for how long."""
    return (_lossy_link(bursts), _cut_link(bursts), _unfair_flow(bursts), _microbursts(bursts), _incast(bursts))


def _lossy_link(bursts: int) -> Scene:
    fabric = """name = "lossy-link"
[topology]
kind = "chain"
hosts_left = ["h1"]
switches = ["sw1", "sw2"]
hosts_right = ["h2"]
host_link = { rate = "50 Mbps", delay = "5 us" }
switch_link = { rate = "50 Mbps", delay = "5 us" }
[[link]]
name = "sw1->sw2"
loss = { kind = "bernoulli", rate = 0.01 }
"""
    guardian = """[[mechanism]]
kind = "linkguardian"
link = "sw1->sw2"
buffering = "paused-queue"
ack_no_timeout = "5 ms"
timer_period = "40 us"
"""
    seconds = bursts * 1.0

    def drive(lab: OwnLab, _: _Wait) -> Counts:
        sink = lab.receive("h2", "tcp-sink", port=_TCP)
        sent = lab.start("h1", "tcp-send", to=lab.address("h2"), port=_TCP, seconds=seconds).result()
        received = sink.result()["connections"][0]
        lab.settle()
        status = lab.status()
        return {
            "lost": lost(status),
            "corrupted": _of_links(status, "frames_corrupted"),
            **_sent_again(sent),
            "out of order": received["out_of_order"],
            "bytes": received["bytes"],
        }

    return Scene(
        "LinkGuardian",
        "1 % of frames lost",
        fabric,
        {PLAIN: "", "LinkGuardian": guardian},
        drive,
        seconds + 3,
        "50 Mb/s; ackNoTimeout of 5 ms and timer packets every 40 us, for a process that is scheduled late",
    )


def _cut_link(bursts: int) -> Scene:
    fabric = """name = "cut-link"
[topology]
kind = "graph"
hosts = ["h1", "h2"]
switches = ["left", "right", "other"]
links = [
    { ends = ["h1", "left"], rate = "50 Mbps", delay = "5 us" },
    { ends = ["h2", "right"], rate = "50 Mbps", delay = "5 us" },
    { ends = ["left", "right"], rate = "100 Mbps", delay = "5 us" },
    { ends = ["left", "other"], rate = "100 Mbps", delay = "5 us" },
    { ends = ["other", "right"], rate = "100 Mbps", delay = "5 us" },
]
[recovery]
detection = { kind = "fixed", delay = "1 ms" }
scheme = { kind = "local-reroute", reconfiguration = "2 ms", backup = "first" }
"""
    sqr = """[[mechanism]]
kind = "sqr"
links = ["left<->right"]
caching = "delay-queue"
"""
    down_s, up_s = 0.2, 0.25
    seconds = 0.5 + bursts * (down_s + up_s)

    def drive(lab: OwnLab, wait: _Wait) -> Counts:
        sink = lab.receive("h2", "tcp-sink", port=_TCP)
        stream = lab.start("h1", "tcp-send", to=lab.address("h2"), port=_TCP, seconds=_START_S + seconds)
        wait(_START_S)
        for _ in range(bursts):
            lab.tell(control.Fail(link="left<->right"))
            wait(down_s)
            lab.tell(control.Repair(link="left<->right"))
            wait(up_s)
        sent, received = stream.result(), sink.result()["connections"][0]
        lab.settle()
        status = lab.status()
        return {
            "lost": lost(status),
            "lost on the link": _of_links(status, "frames_lost_down"),
            **_sent_again(sent),
            "out of order": received["out_of_order"],
            "longest gap ms": received["longest_gap_ns"] / 1e6,
        }

    x, variants = f"a link cut {bursts} times", {PLAIN: "", "SQR": sqr}
    settings = "50 Mb/s; a cut is detected after 1 ms and rerouted 2 ms later; copies in a delay queue"
    return Scene("SQR", x, fabric, variants, drive, seconds + 4, settings)


def _unfair_flow(bursts: int) -> Scene:
    fabric = """name = "unfair-flow"
[topology]
kind = "dumbbell"
hosts_left = 3
hosts_right = 3
host_link = { rate = "100 Mbps", delay = "5 us" }
bottleneck = { rate = "20 Mbps", delay = "5 us" }
[switch]
preset = "ideal"
buffer = { kind = "static", per_port = "200 KB" }
"""
    afq = """[[mechanism]]
kind = "afq"
ports = ["left->right"]
queues = 32
"""
    seconds = 0.7 * bursts
    pairs = (("h0", "h3"), ("h1", "h4"), ("h2", "h5"))

    def arrived(status: Status) -> list[float]:
        by_link = {link["link"]: link["arrived_bytes"] for link in status.values["links"]}
        return [float(by_link[f"right->{to}"]) for _, to in pairs]

    def drive(lab: OwnLab, wait: _Wait) -> Counts:
        all_s = _START_S + 1.0 + seconds
        for _, to in pairs[:2]:
            lab.receive(to, "tcp-sink", port=_TCP)
        # Datagrams that nobody takes are answered: one port unreachable each, by a kernel that limits their rate.
        lab.receive(pairs[2][1], "udp-sink", port=_UDP)
        senders = [
            lab.start(host, "tcp-send", to=lab.address(to), port=_TCP, seconds=all_s, window=262_144)
            for host, to in pairs[:2]
        ]
        senders.append(
            lab.start("h2", "udp-flood", to=lab.address("h5"), port=_UDP, payload=1_400, rate_bps=40e6, seconds=all_s)
        )
        wait(_START_S + 0.5)
        before = arrived(lab.status())
        wait(seconds)
        shares = [after - first for first, after in zip(before, arrived(lab.status()), strict=True)]
        for sender in senders:
            sender.kill()
        return {"share of TCP": sum(shares[:2]) / sum(shares), "Jain's index": jain_index(shares)}

    x = "two TCP flows beside UDP at twice the rate"
    settings = "20 Mb/s, 200 KB of buffer; AFQ with 32 queues"
    return Scene("AFQ", x, fabric, {PLAIN: "", "AFQ": afq}, drive, seconds + 5, settings)


_LEAF_SPINE = """name = "leaf-spine"
[topology]
kind = "graph"
hosts = ["h1", "h2", "h3", "h4", "slow"]
switches = ["leaf1", "leaf2", "spine1", "spine2"]
links = [
    { ends = ["h1", "leaf1"], rate = "100 Mbps", delay = "5 us" },
    { ends = ["h2", "leaf1"], rate = "100 Mbps", delay = "5 us" },
    { ends = ["h3", "leaf1"], rate = "100 Mbps", delay = "5 us" },
    { ends = ["h4", "leaf1"], rate = "100 Mbps", delay = "5 us" },
    { ends = ["slow", "leaf2"], rate = "20 Mbps", delay = "5 us" },
    { ends = ["leaf1", "spine1"], rate = "100 Mbps", delay = "5 us" },
    { ends = ["leaf1", "spine2"], rate = "100 Mbps", delay = "5 us" },
    { ends = ["leaf2", "spine1"], rate = "100 Mbps", delay = "5 us" },
    { ends = ["leaf2", "spine2"], rate = "100 Mbps", delay = "5 us" },
]
[switch]
depth_visible = "ingress-and-egress"
buffer = { kind = "static", per_port = "300 KB" }
"""
_BURST_EVERY_S = 0.4


def _microbursts(bursts: int) -> Scene:
    fabric = f"""{_LEAF_SPINE}[[switch.ports]]
rate = "20 Mbps"
buffer = "60 KB"
"""
    rimm = """[[mechanism]]
kind = "rimm"
ports = ["leaf2->slow"]
flowlet_gap = "100 ms"
congestion_after = "200 ms"
"""
    burst = 150
    seconds = bursts * _BURST_EVERY_S

    def drive(lab: OwnLab, _: _Wait) -> Counts:
        datagram_sink, sink = lab.receive("slow", "udp-sink", port=_UDP), lab.receive("slow", "tcp-sink", port=_TCP)
        at_ns = time.monotonic_ns() + round(_START_S * 1e9)
        all_s = _START_S + seconds
        stream = lab.start("h2", "tcp-send", to=lab.address("slow"), port=_TCP, seconds=all_s, rate_bps=4e6)
        how = {"bursts": bursts, "burst": burst, "every_s": _BURST_EVERY_S, "at_ns": at_ns}
        bursty = _datagrams(lab, "h1", "slow", sender=1, dscp=DEFAULT, **how)
        sent, again = bursty.result()["sent"], stream.result()
        lab.settle()
        received, arrivals = sink.result()["connections"][0], datagram_sink.result()["arrivals"]
        numbers = [number for _, number in arrivals]
        return {
            "lost": sent - len(numbers),
            "reordered": overtaken(numbers),
            **_sent_again(again),
            "out of order": received["out_of_order"],
            "acted": counted(lab.status(), "rimm", "packets_detoured"),
        }

    x = f"{bursts} microbursts of {burst} datagrams beside TCP"
    settings = (
        "20 Mb/s, 60 KB of buffer; flowlet gap of 100 ms and congestion after 200 ms, scaled by hand to these rates"
    )
    return Scene("RIMM", x, fabric, {PLAIN: "", "RIMM": rimm}, drive, seconds + 4, settings)


def _incast(bursts: int) -> Scene:
    fabric = f"""{_LEAF_SPINE}[[switch.ports]]
switches = ["leaf2", "spine1", "spine2"]
buffer = "30 KB"
"""
    simple = """[[mechanism]]
kind = "simple-deflection"
"""
    burst = 60
    seconds = bursts * _BURST_EVERY_S
    senders = {"h1": EXPEDITED, "h2": DEFAULT, "h3": DEFAULT, "h4": DEFAULT}

    def drive(lab: OwnLab, _: _Wait) -> Counts:
        sink = lab.receive("slow", "udp-sink", port=_UDP)
        at_ns = time.monotonic_ns() + round(_START_S * 1e9)
        how = {"bursts": bursts, "burst": burst, "every_s": _BURST_EVERY_S, "at_ns": at_ns}
        programs = [_datagrams(lab, host, "slow", sender=dscp, dscp=dscp, **how) for host, dscp in senders.items()]
        for program in programs:
            program.result()
        lab.settle()
        arrived = [dscp for dscp, _ in sink.result()["arrivals"]]
        of_one = bursts * burst
        return {
            "share of the urgent": arrived.count(EXPEDITED) / of_one,
            "share of the others": arrived.count(DEFAULT) / (3 * of_one),
            "urgent lost": of_one - arrived.count(EXPEDITED),
        }

    preemptive = {f"Preemptive Deflection, alpha {alpha:g}": _preemptive(alpha) for alpha in ALPHAS}
    variants = {PLAIN: "", "Simple Deflection": simple, **preemptive}
    x = f"incast of 4 senders, {bursts} times {burst} datagrams each"
    settings = (
        "20 Mb/s, 30 KB of buffer; every packet enters the window of ranks (by default one in 20): a burst has few; "
        "alpha 1 was added after 0.1 had been measured"
    )
    return Scene("deflection", x, fabric, variants, drive, seconds + 4, settings)


def _preemptive(alpha: float) -> str:
    """Every packet enters the window: a burst here has too few for one in 20 of them to fill it."""
    return f"""[host]
priority_tagger = {{ by = "dscp" }}
[[mechanism]]
kind = "preemptive-deflection"
alpha = {alpha:g}
relative_priority = {{ kind = "quantile", sample_every = 1 }}
"""


def _datagrams(lab: OwnLab, host: str, to: str, *, sender: int, dscp: int, **how: float) -> Program:
    return lab.start(
        host, "udp-send", to=lab.address(to), port=_UDP, sender=sender, dscp=dscp, payload=_PAYLOAD_BYTES, **how
    )


def _sent_again(told: Mapping[str, Any]) -> Counts:
    """A kernel that the machine keeps waiting sends a probe (RFC 8985, section 7); the receiver tells it had it."""
    needless = told["duplicates_reported"]
    return {"sent again": told["retransmitted"] - needless, "sent needlessly": needless}


def overtaken(numbers: Sequence[int]) -> int:
    highest, late = -1, 0
    for number in numbers:
        late += number < highest
        highest = max(highest, number)
    return late


def lost(status: Status) -> int:
    """Frames that came in and did not leave, whatever the reason; to be asked when nothing is under way."""
    values = status.values
    missing: int = values["frames_entered"] - values["frames_left"] - values["frames_inside"]
    return missing


def counted(status: Status, mechanism: str, counter: str) -> int:
    rows = status.values["mechanisms"]
    return sum(int(value) for _, name, _, key, _, value in rows if (name, key) == (mechanism, counter))


def _of_links(status: Status, counter: str) -> int:
    return sum(int(link[counter]) for link in status.values["links"])
