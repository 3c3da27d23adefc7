"""Ultra Ethernet's validation experiments, judged against the results of its simulator.

``uet_htsim`` has the connection matrices and results of uet-htsim (revision 40ccb052), with their licence. The results
are an oracle of behaviour: some of them miss the authors' target. They have one seed. The single-path experiments
depend on a hash, so their seeds differ by up to a third.

An experiment is read from the arguments of its command. With ``-failed`` links from cores to the first aggregation
switch run at a quarter of their rate, with a quarter of the buffer and of the marking thresholds. (The names of the
experiments say 10 %; the authors' code has 25 %.) Ten messages that start together on one connection
(``-conn_reuse``) are one message of their total size: the connection sends them one after the other, in whole packets,
and the results have the time of the connection.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from hitless.checking import Fields
from hitless.simulation import PacketSimulation, Run
from hitless_papers import Context, Exact, Exhibit, Point, Row, Runs, exhibit, scenarios
from hitless_papers.field.fabric import FRAME_BYTES, HEADER_BYTES, LINK, RATE_GBPS, Fabric

FOLDER = Path(__file__).with_name("uet_htsim")
_PLACE = str(FOLDER / "validation.toml")
"""Name of the scenarios; their lists of flows are next to it."""
_MATRICES = {
    "one.cm": ("one", 16),
    "bidir.cm": ("bidirectional", 16),
    "incast.cm": ("incast_16", 16),
    "incast_128.cm": ("incast_128", 128),
    "incast_1024_100K.cm": ("incast_1024", 1_024),
    "incast_3-1_overlapped.tm": ("three_to_one", 128),
    "outcast_incast.cm": ("outcast_incast", 128),
    "perm_16n_16c_2MB.cm": ("permutation_16", 16),
    "perm_1024n_1024c_0u_2000000b.cm": ("permutation_1024", 1_024),
    "test_cr_1f1m10p.cm": ("packets_10", 2),
    "test_cr_1f1m100p.cm": ("packets_100", 2),
    "test_cr_1f10m1p.cm": ("packets_10", 2),
    "test_cr_1f10m10p.cm": ("packets_100", 2),
}
"""Connection matrices: the list of flows, and the number of hosts."""
_CONTROLS = {"-sender_cc_only": "NSCC", "-receiver_cc_only": "RCCC", "-sender_cc": "both"}
_LINK = {**LINK, "overhead_bytes": 0}
"""The authors' frames have neither preamble nor gap."""
_LEAF_HOSTS, _LEAVES = 32, 32
_SPINES = {"leaf_spine_1024_oversub.topo": 8, "leaf_spine_1024_oversub_8-1.topo": 4}
_QUICK_HOSTS = 128
_NEAR = 0.05
_FAILED_SHARE = 0.25
"""Rate, buffer and marking thresholds of a link of ``-failed`` relative to the others."""
_QUEUES_OF_TIMEOUT, _WAIT_US = 6, 15
"""The authors' timeout: 15 us and six full queues."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment, and the authors' result."""

    plan: str
    name: str
    matrix: str
    options: Mapping[str, str]
    last_us: float
    first_us: float

    @property
    def series(self) -> str:
        """Name of the congestion control."""
        return next(name for option, name in _CONTROLS.items() if option in self.options)

    @property
    def x(self) -> str:
        """Name without the congestion control, which is the series."""
        if self.plan == "validate_uec_connreuse":
            # Two matrices share a name: 1f1m10p is one flow with one message of ten packets.
            return f"{self.name.rpartition(',')[0]} ({self.matrix.removeprefix('test_cr_').removesuffix('.cm')})"
        return self.name

    @property
    def hosts(self) -> int:
        """Number of hosts."""
        return _MATRICES[self.matrix][1]

    @property
    def _spines(self) -> int | None:
        topology = self.options.get("-topo")
        return None if topology is None else _SPINES[topology.rpartition("/")[2]]

    @property
    def _failed(self) -> list[str]:
        """Links of ``-failed``: from the first cores to the aggregation switches of the first pod."""
        half = Fabric.of_hosts(self.hosts).k // 2
        return [f"core{core}->agg{core // half}" for core in range(int(self.options.get("-failed", 0)))]

    @property
    def _round_trip_ns(self) -> float:
        links = 6 if self._spines is None else 4
        return links * (2_000 + (FRAME_BYTES + HEADER_BYTES) * 8 / RATE_GBPS)

    @property
    def _round_trip_packets(self) -> int:
        """Bandwidth-delay product of the longest path in packets, the size of a buffer."""
        return math.ceil(self._round_trip_ns * RATE_GBPS / 8 / FRAME_BYTES)

    def topology(self) -> Mapping[str, Any]:
        """Return the fabric."""
        if self._spines is None:
            return {**Fabric.of_hosts(self.hosts).topology, "host_link": _LINK, "core_link": _LINK}
        shape = {"kind": "leaf-spine", "leaves": _LEAVES, "spines": self._spines, "hosts_per_leaf": _LEAF_HOSTS}
        return {**shape, "host_link": _LINK, "core_link": _LINK}

    def transport(self) -> Mapping[str, Any]:
        """Return the settings that differ from the defaults, which are the authors' too."""
        made: dict[str, Any] = {"kind": "uet", "congestion": self.series.lower()}
        numbers = {"-paths": "paths", "-cwnd": "initial_window"}
        made |= {name: int(self.options[option]) for option, name in numbers.items() if option in self.options}
        if "-load_balancing_algo" in self.options:
            made["path_choice"] = self.options["-load_balancing_algo"]
        if "-sack_threshold" in self.options:
            made["acknowledge_bytes"] = f"{self.options['-sack_threshold']} B"
        if "-q" in self.options:
            queue_us = int(self.options["-q"]) * FRAME_BYTES * 8 / RATE_GBPS / 1e3
            made["timeout"] = f"{_WAIT_US + _QUEUES_OF_TIMEOUT * queue_us:.3f} us"
        if self._failed:
            # The default follows from the slowest path, and hosts do not know of the slow links.
            made["base_rtt"] = f"{self._round_trip_ns:.2f} ns"
        return made

    def scenario(self) -> Fields:
        """Return the scenario."""
        matrix = {"name": "matrix", "transport": "hosts", "kind": "list", "file": f"{_MATRICES[self.matrix][0]}.flows"}
        trimming = {"kind": "trimming", "trimmed_frame": f"{HEADER_BYTES} B", "queue": f"{2 * self._queue_bytes} B"}
        made = scenarios.scenario(
            self.matrix,
            self.topology(),
            [matrix],
            {"hosts": self.transport()},
            duration="100 ms",
            switch=self._switch(),
            link=[{"name": name, "rate": f"{RATE_GBPS * _FAILED_SHARE:g} Gbps"} for name in self._failed],
            mechanism=[trimming],
        )
        return {**made, "until": "all-flows-done"}

    @property
    def _queue_bytes(self) -> int:
        return int(self.options.get("-q", self._round_trip_packets)) * FRAME_BYTES

    def _switch(self) -> Fields:
        buffer = {"kind": "static", "per_port": f"{self._queue_bytes} B"}
        made: dict[str, Any] = {"preset": "ideal", "buffer": buffer, "ecn": self._marks(1)}
        if self._failed:
            slow_bytes = int(_FAILED_SHARE * self._queue_bytes)
            slow = {"rate": f"{RATE_GBPS * _FAILED_SHARE:g} Gbps", "buffer": f"{slow_bytes} B"}
            made["ports"] = [{**slow, "ecn": self._marks(_FAILED_SHARE)}]
        return made

    def _marks(self, share: float) -> Mapping[str, Any]:
        """Return the marking of a port, with this share of the usual thresholds."""
        packets = self._round_trip_packets
        low, high = (int(share * math.ceil(packets * end) * FRAME_BYTES) for end in (0.2, 0.8))
        return {"threshold": f"{low} B", "maximum": f"{high} B", "probability": 1.0, "at": "dequeue"}


@cache
def experiments() -> list[Experiment]:
    """Return all experiments with their results."""
    lines = (FOLDER / "results.tsv").read_text(encoding="utf-8").splitlines()[2:]
    return [_experiment(*line.split("\t")) for line in lines]


def _experiment(plan: str, name: str, arguments: str, last_us: str, first_us: str) -> Experiment:
    matrix, *words = arguments.split()
    options: dict[str, str] = {}
    for word in words:
        if word.startswith("-"):
            options[word] = ""
        else:
            options[next(reversed(options))] = word
    return Experiment(plan, name, matrix, options, float(last_us), float(first_us))


def times_us(run: Run) -> pl.Series:
    """Return the times, from the start of the run, when senders have all acknowledgements, as the authors do."""
    done = run.table("flows").filter(pl.col("outcome") == "completed")
    return done["finished_ps"].cast(pl.Int64) / 1e6


@exhibit("field/validation", title="Ultra Ethernet's validation experiments, against its own simulator")
class Validation(Exhibit):
    """Last and first flow of each experiment."""

    def points(self, context: Context) -> Iterable[Point]:
        for one in _chosen(context):
            yield Point(_key(one), PacketSimulation(one.scenario(), place=_PLACE), keep=("flows",))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        for one in _chosen(context):
            yield from _rows(one, runs[_key(one)])


def _rows(one: Experiment, run: Run) -> Iterator[Row]:
    papers = {"last flow": one.last_us, "first flow": one.first_us}
    times = times_us(run)
    is_whole = len(times) == len(run.table("flows"))
    measured = {"last flow": times.max() if is_whole else math.inf, "first flow": times.min()}
    for name, paper in papers.items():
        yield Row(one.series, one.x, name, "us", float(measured[name]), paper, judge=Exact(_NEAR))  # type: ignore[arg-type]


def _chosen(context: Context) -> list[Experiment]:
    hosts = context.length("hosts at most", full=1_024, quick=_QUICK_HOSTS)
    return [one for one in experiments() if one.hosts <= hosts]


def _key(one: Experiment) -> str:
    return f"{one.series}, {one.x}"
