"""The links and loads of a map."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias

Transport: TypeAlias = Literal["udp", "tcp", "roce", "uet"]
_NS_PER_M = 5
_PIPELINES_NS = 3_500
"""Latency of the switches in both directions."""
_OVERHEAD_BYTES = 20
HEADERS_BYTES = 78
"""Non-payload bytes of a full frame of TCP, RoCE or UET."""


@dataclass(frozen=True, slots=True)
class Place:
    """A link, the frames on it and its load."""

    rate_gbps: int
    cable_m: int
    frame_bytes: int
    transport: Transport
    load: float
    """Offered load relative to the line rate; 1 for long flows of all others, which take all available capacity."""

    @property
    def name(self) -> str:
        """For people: "100G 2 km 1518 B udp 95 %"."""
        load = f" {self.load:.0%}".replace("%", " %") if self.transport == "udp" else ""
        return f"{self.rate_gbps}G {cable(self.cable_m)} {self.frame_bytes} B {self.transport}{load}"

    @property
    def delay_ns(self) -> int:
        """Of the cable, one way: 5 ns/m in fibre."""
        return self.cable_m * _NS_PER_M

    @property
    def frame_ns(self) -> float:
        return (self.frame_bytes + _OVERHEAD_BYTES) * 8 / self.rate_gbps

    @property
    def round_trip_ns(self) -> float:
        """From host to host and back, without queues."""
        return 2 * self.delay_ns + _PIPELINES_NS + 8 * self.frame_ns

    @property
    def payload_bytes(self) -> int:
        """Of a full frame of TCP, RoCE or UET."""
        return self.frame_bytes - HEADERS_BYTES


def cable(metres: int) -> str:
    """A length: "1 m", "2 km"."""
    return f"{metres // 1000} km" if metres >= 1000 else f"{metres} m"


@dataclass(frozen=True, slots=True)
class Grid:
    rates_gbps: Sequence[int]
    cables_m: Sequence[int]
    frames_bytes: Sequence[int]
    loads: Sequence[float]
    seeds: int

    def places(self, transports: Sequence[Transport]) -> Iterator[Place]:
        """Yield all places. All but UDP skip frames of 64 B, which cannot hold a payload."""
        for transport in transports:
            loads = self.loads if transport == "udp" else [1.0]
            for rate, metres, frame, load in product(self.rates_gbps, self.cables_m, self.frames_bytes, loads):
                if transport == "udp" or frame > 2 * HEADERS_BYTES:
                    yield Place(rate, metres, frame, transport, load)


@dataclass(frozen=True, slots=True)
class RandomPlaces:
    """Places drawn at random, most of them off the grids: a mechanism must not suit only the points of a grid."""

    count: int
    seed: int
    seeds: int = 3

    _RATES_GBPS = (1, 2, 5, 10, 25, 40, 50, 60, 100, 200, 400, 800)
    _CABLES_M = (1, 3, 10, 30, 60, 200, 500, 1_000, 5_000, 10_000, 40_000)
    _FRAMES_BYTES = (64, 128, 300, 700, 1_518, 2_500, 4_096, 9_018)
    _FRAMES_MAX = 10_000
    """Maximum frames in a round trip: longer runs take minutes."""

    def places(self, transports: Sequence[Transport]) -> Iterator[Place]:
        dice = random.Random(self.seed)  # noqa: S311 (no secret)
        found: set[Place] = set()
        while len(found) < self.count:
            transport = dice.choice(transports)
            load = round(dice.uniform(0.1, 0.95), 2) if transport == "udp" else 1.0
            rate, cable_m = dice.choice(self._RATES_GBPS), dice.choice(self._CABLES_M)
            place = Place(rate, cable_m, dice.choice(self._FRAMES_BYTES), transport, load)
            holds_payload = transport == "udp" or place.frame_bytes > 2 * HEADERS_BYTES
            is_short = place.round_trip_ns < self._FRAMES_MAX * place.frame_ns
            if holds_payload and is_short and place not in found:
                found.add(place)
                yield place


COARSE = Grid([10, 100, 400], [1, 100, 2_000], [64, 1_518, 9_018], [0.5, 0.95], seeds=3)
FINE = Grid(
    [1, 10, 25, 100, 400, 800],
    [1, 100, 2_000, 40_000],
    [64, 256, 1_518, 4_096, 9_018],
    [0.1, 0.3, 0.5, 0.7, 0.95],
    seeds=5,
)
