"""Future work of the paper's section 5, and other experiments beyond the paper.

Most runs send datagrams over protected links and count them at the receivers. Without numbers of the paper, a verdict
says whether an extension serves its purpose.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from hitless.checking import Fields
from hitless.simulation import Run
from hitless_papers import Context, Exhibit, Point, Row, Runs, Shape, Unjudged, exhibit, scenarios
from hitless_papers.linkguardian import basis, testbed
from hitless_papers.linkguardian.basis import speed_percent

_TABLES = ("mechanisms", "links", "flows")
_HUB_LINKS = {25: (2, 4, 8, 9, 10), 100: (1, 2, 3)}
"""Numbers of links on one switch with two recirculation ports, below and above the admitted 200 Gb/s."""
_ADMITTED = {25: 8, 100: 2}
_RECIRCULATION_PORTS = 2
_HOPS = (1, 2, 4, 8)
_BURST_FRAMES = (1, 2, 4, 8)


def _datagrams(name: str, source: str, destination: str, stop: str, **more: Any) -> Mapping[str, Any]:
    ends = {"sources": [source], "destinations": [destination]}
    return {"name": name, "transport": "udp", "kind": "constant-rate", "stop": stop, **ends, **more}


def _chain(
    rate_gbps: int,
    packets: int,
    switches: Iterable[str],
    losses: Mapping[str, Mapping[str, Any]],
    guardians: Iterable[Mapping[str, Any]],
    *,
    flows: Iterable[Mapping[str, Any]] | None = None,
    load: float = 1.0,
    switch: Mapping[str, Any] | None = None,
) -> Fields:
    """Build a chain of switches with a host at each end; by default datagrams go from left to right."""
    stop = testbed.seconds(testbed.packets_duration_s(packets, rate_gbps) / load)
    link = {"rate": f"{rate_gbps} Gbps", "delay": "50 ns"}
    ends = {"hosts_left": ["left"], "hosts_right": ["right"], "host_link": link, "switch_link": link}
    return scenarios.scenario(
        "future",
        {"kind": "chain", "switches": list(switches), **ends},
        [{**flow, "stop": stop} for flow in flows or [_datagrams("right", "left", "right", stop)]],
        {"udp": {"kind": "udp", "rate": f"{round(rate_gbps * 1e9 * load)} bps"}},
        duration=testbed.seconds(testbed.packets_duration_s(packets, rate_gbps) / load + 1e-3),
        switch={"preset": "tofino-like", "recirculation_ports": _RECIRCULATION_PORTS, **(switch or {})},
        link=[{"name": name, "loss": loss} for name, loss in losses.items()],
        mechanism=[{"kind": "linkguardian", **guardian} for guardian in guardians],
    )


def _late(run: Run) -> int:
    messages = run.completed_messages()
    return int((((messages["delivered_ps"] - messages["started_ps"]) / 1e6) > _LATE_US).sum())


def _bernoulli(rate: float) -> Mapping[str, Any]:
    return {"kind": "bernoulli", "rate": rate}


def _missing(run: Run, group: str | None = None) -> tuple[int, int]:
    flows = run.table("flows")
    if group is not None:
        flows = flows.filter(flows["group"] == group)
    sent = int(flows["packets_sent"].sum())
    return sent - int(flows["packets_received"].sum()) + int(flows["packets_duplicate"].sum()), sent


def _count(series: str, x: str, metric: str, count: int, judge: Shape | None = None, *, note: str = "") -> Row:
    return Row(series, x, metric, "", count, judge=judge or Unjudged(), note=note)


@exhibit("lg/future", title="Future work of LinkGuardian's section 5")
class Future(Exhibit):
    """Corruption in both directions, many links, bursts, two simultaneous classes, fallback, 400G."""

    def points(self, context: Context) -> Iterable[Point]:
        self._packets = context.length("packets a run", full=2_000_000, normal=200_000, quick=30_000)
        yield from self._both_ways()
        yield from self._paths()
        yield from self._hubs()
        yield from self._bursts()
        yield from self._classes()
        yield from self._fallback()
        yield from self._fast()

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        yield from self._both_ways_rows(runs)
        yield from self._path_rows(runs)
        yield from self._hub_rows(runs)
        yield from self._burst_rows(runs)
        yield from self._class_rows(runs)
        yield from self._fallback_rows(runs)
        yield from self._fast_rows(runs)

    # Corruption in both directions at once.

    def _both_ways(self) -> Iterator[Point]:
        both = [_datagrams("there", "left", "right", ""), _datagrams("back", "right", "left", "")]
        names = ("a->b", "b->a")
        for loss in (1e-3, 1e-2):
            for label, more in _CONTROL.items():
                guardians = [{"link": name, **more} for name in names]
                losses = {name: _bernoulli(loss) for name in names}
                made = _chain(25, self._packets, ("a", "b"), losses, guardians, flows=both, load=0.9)
                yield Point(f"both ways {loss:g} {label}", made, keep=_TABLES)

    def _both_ways_rows(self, runs: Runs) -> Iterator[Row]:
        found = {(loss, of): runs[f"both ways {loss:g} {of}"] for loss in (1e-3, 1e-2) for of in _CONTROL}
        holds = all(run.counter("packets_lost") == 0 for (_, of), run in found.items() if of == "repeated")
        nothing = Shape(holds, "with repeated control messages no packet is lost in either direction")
        for loss in (1e-3, 1e-2):
            for label in _CONTROL:
                run = found[loss, label]
                lost = run.counter("packets_lost")
                series, x = f"control messages {label}", f"25G both ways {loss:g}"
                note = f"of {run.counter('packets_protected'):,}, both directions"
                judge = nothing if label == "repeated" else None
                yield _count(series, x, "packets lost on the link", lost, judge, note=note)
                missing, sent = _missing(run)
                note = f"of {sent:,}, at 90 % of line rate; the others were dropped at a paused link"
                yield _count(series, x, "datagrams missing", missing, None, note=note)

    # Several protected links on one path.

    def _paths(self) -> Iterator[Point]:
        for hops in _HOPS:
            switches = [f"s{number}" for number in range(hops + 1)]
            links = [f"s{number}->s{number + 1}" for number in range(hops)]
            for scheme in ("none", "LG"):
                guardians = [{"link": link} for link in links] if scheme == "LG" else []
                losses = {link: _bernoulli(1e-3) for link in links}
                made = _chain(25, self._packets, switches, losses, guardians, load=0.9)
                yield Point(f"path {hops} {scheme}", made, keep=_TABLES)

    def _path_rows(self, runs: Runs) -> Iterator[Row]:
        hardly = Shape(
            all(_missing(runs[f"path {hops} LG"])[0] <= 1 for hops in _HOPS),
            "at most one datagram is lost on a path, with any number of links",
        )
        for hops in _HOPS:
            for scheme in ("none", "LG"):
                lost, sent = _missing(runs[f"path {hops} {scheme}"])
                x, judge = f"25G, {hops} links in a row", hardly if scheme == "LG" else None
                yield _count(scheme, x, "datagrams lost", lost, judge, note=f"of {sent:,}, 1e-3 on each link")

    # Several protected links on one switch.

    def _hubs(self) -> Iterator[Point]:
        for rate_gbps, counts in _HUB_LINKS.items():
            for count in counts:
                packets = max(8_000, self._packets // 3)
                yield Point(f"hub {rate_gbps} {count}", _hub(rate_gbps, count, packets), keep=_TABLES)

    def _hub_rows(self, runs: Runs) -> Iterator[Row]:
        admitted = [(rate, n) for rate, counts in _HUB_LINKS.items() for n in counts if n <= _ADMITTED[rate]]
        kept = all(_missing(runs[f"hub {rate} {count}"])[0] == 0 for rate, count in admitted)
        promise = Shape(kept, "no admitted link loses a datagram, at any rate")
        for rate_gbps, counts in _HUB_LINKS.items():
            for count in counts:
                run = runs[f"hub {rate_gbps} {count}"]
                lost, sent = _missing(run)
                unprotected = run.counter("packets_protected", "hub") - _retired(run)
                is_admitted = count <= _ADMITTED[rate_gbps]
                series = "admitted" if is_admitted else "refused by the rule"
                x = f"{rate_gbps}G, {count} links on two recirculation ports"
                judge, note = promise if is_admitted else None, f"of {sent:,}, 1e-3 on each link"
                yield _count(series, x, "datagrams lost", lost, judge, note=note)
                yield _count(series, x, "copies that found no room", unprotected)

    # Bursts.

    def _bursts(self) -> Iterator[Point]:
        for length in _BURST_FRAMES:
            for label, more in _TAILS.items():
                loss = {"kind": "gilbert-elliott", "rate": 1e-2, "mean_burst_frames": length}
                model = _bernoulli(1e-2) if length == 1 else loss
                made = _requests(self._packets // 3, model, more)
                yield Point(f"burst {length} {label}", made, keep=("messages", "mechanisms"))

    def _burst_rows(self, runs: Runs) -> Iterator[Row]:
        late = {(length, of): _late(runs[f"burst {length} {of}"]) for length in _BURST_FRAMES for of in _TAILS}
        better = Shape(
            all(late[length, "12 and probes"] <= late[length, "3 dummies"] for length in _BURST_FRAMES),
            "at most as many as with three dummies, for any burst length",
        )
        for (length, label), count in late.items():
            run = runs[f"burst {length} {label}"]
            x, metric = f"100G, 1e-2 in bursts of {length}", "packets not repaired by the link"
            judge, note = better if label == "12 and probes" else None, f"packets that took {_LATE_US:.0f} us or more"
            yield replace(_count(label, x, metric, count, judge, note=note), completed=(basis.share(label, run),))

    # Two classes.

    def _classes(self) -> Iterator[Point]:
        flows = [
            _datagrams("ordered", "left", "right", "", **{"class": 0}),
            _datagrams("unordered", "left", "right", "", **{"class": 1}),
        ]
        for scheme, guardian in _CLASS_SCHEMES.items():
            made = _chain(
                100,
                self._packets,
                ("a", "b"),
                {"a->b": _bernoulli(1e-3)},
                [{"link": "a->b", **guardian}],
                flows=flows,
                load=0.48,
                switch={"queues_per_port": 2, "scheduler": "drr"},
            )
            yield Point(f"classes {scheme}", made, keep=_TABLES)

    def _class_rows(self, runs: Runs) -> Iterator[Row]:
        for scheme in _CLASS_SCHEMES:
            run = runs[f"classes {scheme}"]
            flows, is_both = run.table("flows"), scheme == "both at once"
            for group in ("ordered", "unordered"):
                of_group = flows.filter(flows["group"] == group)
                lost, sent = _missing(run, group)
                x, note, reordered = f"class {group}", f"of {sent:,}", int(of_group["packets_reordered"].sum())
                kept = Shape(reordered == 0, "the class stays in order") if is_both and group == "ordered" else None
                yield _count(scheme, x, "datagrams out of order", reordered, kept, note=note)
                of_both = Shape(lost == 0, f"two simultaneous classes: class {group} loses no datagram")
                yield _count(scheme, x, "datagrams lost", lost, of_both if is_both else None, note=note)
            yield _count(scheme, "link", "packets that waited", run.counter("packets_buffered"))

    # Fallback.

    def _fallback(self) -> Iterator[Point]:
        for scheme, guardian in _FALLBACK_SCHEMES.items():
            made = _storm(self._packets * 4, guardian)
            yield Point(f"fallback {scheme}", made, keep=_TABLES)

    def _fallback_rows(self, runs: Runs) -> Iterator[Row]:
        for scheme in _FALLBACK_SCHEMES:
            run = runs[f"fallback {scheme}"]
            changes = run.counter("level_changes")
            x = "100G, 1e-4, then 5e-2 for a third of the run, then 1e-4"
            note = "over the whole run and the idle millisecond after it; second copies count too"
            yield Row(scheme, x, "link speed", "%", speed_percent(run, 100, "b->right"), note=note)
            judge = Shape(changes == 2, "one change and back, without flapping") if scheme == "fallback" else None
            yield _count(scheme, x, "changes of level", changes, judge)

    # 400G.

    def _fast(self) -> Iterator[Point]:
        for label, (recirculation, buffering, buffer) in _FAST.items():
            guardian = {"link": "a->b", "buffering": buffering, "admission_control": False}
            guardian |= {"reordering_buffer": buffer, "sender_buffer": buffer}
            switch = {"recirculation_rate": recirculation}
            made = _chain(400, self._packets * 2, ("a", "b"), {"a->b": _bernoulli(1e-3)}, [guardian], switch=switch)
            yield Point(f"400G {label}", made, keep=_TABLES)

    def _fast_rows(self, runs: Runs) -> Iterator[Row]:
        fast = [label for label, (recirculation, _, _) in _FAST.items() if recirculation != "100 Gbps"]
        holds = all(runs[f"400G {label}"].counter("packets_lost") == 0 for label in fast)
        nothing = Shape(holds, "no packet is lost at 400G with recirculation at 400G or without recirculation")
        for label in _FAST:
            run = runs[f"400G {label}"]
            lost, sent = run.counter("packets_lost"), run.counter("packets_protected")
            judge = nothing if label in fast else None
            yield _count(label, "400G 1e-3", "packets lost on the link", lost, judge, note=f"of {sent:,}")
            seconds = testbed.packets_duration_s(self._packets * 2, 400)
            yield Row(label, "400G 1e-3", "link speed", "%", speed_percent(run, 400, "b->right", seconds))
            yield _count(label, "400G 1e-3", "ackNoTimeouts", run.counter("ack_no_timeouts"))


_LATE_US = 100.0
"""Maximum time of a packet that the link repaired; a later one was repaired by its host, or not at all."""

_TAILS: Mapping[str, Mapping[str, Any]] = {
    "3 dummies": {},
    "12 dummies": {"dummy_count": 12},
    "3 and probes": {"tail_probes": True},
    "12 and probes": {"dummy_count": 12, "tail_probes": True},
}

_CONTROL: Mapping[str, Mapping[str, Any]] = {"once": {"control_copies": 1}, "repeated": {"tail_probes": True}}

_CLASS_SCHEMES: Mapping[str, Mapping[str, Any]] = {
    "LG": {},
    "LG_NB": {"mode": "non-blocking"},
    "both at once": {"non_blocking_classes": [1]},
}

_FALLBACK_SCHEMES: Mapping[str, Mapping[str, Any]] = {
    "LG": {},
    "LG_NB": {"mode": "non-blocking"},
    "fallback": {
        "fallback": {"period": "50 us", "hold": "500 us", "hold_max": "50 ms", "frames_min": 200, "bad_periods": 2}
    },
}

_FAST: Mapping[str, tuple[str, str, str]] = {
    "recirculation at 100G": ("100 Gbps", "recirculation", "200 KB"),
    "recirculation at 400G, 200 KB": ("400 Gbps", "recirculation", "200 KB"),
    "recirculation at 400G, 400 KB": ("400 Gbps", "recirculation", "400 KB"),
    "paused queue at 400G, 200 KB": ("400 Gbps", "paused-queue", "200 KB"),
    "paused queue at 400G, 400 KB": ("400 Gbps", "paused-queue", "400 KB"),
}


def _hub(rate_gbps: int, count: int, packets: int) -> Fields:
    """Build ``count`` protected links from one switch with two recirculation ports."""
    leaves = [f"leaf{number}" for number in range(count)]
    sources, sinks = [f"from{number}" for number in range(count)], [f"to{number}" for number in range(count)]
    links = [(source, "hub", rate_gbps) for source in sources] + [("hub", leaf, rate_gbps) for leaf in leaves]
    links += [(leaf, sink, rate_gbps) for leaf, sink in zip(leaves, sinks, strict=True)]
    stop = testbed.seconds(testbed.packets_duration_s(packets, rate_gbps))
    return scenarios.scenario(
        "hub",
        scenarios.graph(sources + sinks, ["hub", *leaves], links),
        [_datagrams(leaf, a, b, stop) for leaf, a, b in zip(leaves, sources, sinks, strict=True)],
        {"udp": {"kind": "udp", "rate": f"{rate_gbps} Gbps"}},
        duration=testbed.seconds(testbed.packets_duration_s(packets, rate_gbps) + 1e-3),
        switch={"preset": "tofino-like", "recirculation_ports": _RECIRCULATION_PORTS},
        link=[{"name": f"hub->{leaf}", "loss": _bernoulli(1e-3)} for leaf in leaves],
        mechanism=[{"kind": "linkguardian", "link": f"hub->{leaf}", "admission_control": False} for leaf in leaves],
    )


def _retired(run: Run) -> int:
    """Count copies that were retired or retransmitted."""
    retired = int(run.summary["retired"].get("copy retired", 0))
    return retired + run.counter("packets_retransmitted", "hub")


def _requests(count: int, loss: Mapping[str, Any], guardian: Mapping[str, Any]) -> Fields:
    """Build single packets over the testbed's link, one after the other."""
    made = testbed.scenario(
        100,
        name="tails",
        transport={"kind": "tcp", "congestion": "dctcp", "rto_min": "1 ms", "rto_formula": "linux"},
        flows={"kind": "requests", "size": "143 B", "count": count, "gap": "10 us"},
    )
    return {
        **made,
        "link": [{"name": testbed.LINK, "loss": loss}],
        "mechanism": [{"kind": "linkguardian", "link": testbed.LINK, **guardian}],
    }


def _storm(packets: int, guardian: Mapping[str, Any]) -> Fields:
    """Build line-rate traffic over a link with heavy corruption for a third of the run."""
    third_s = testbed.packets_duration_s(packets, 100) / 3
    made = _chain(100, packets, ("a", "b"), {}, [{"link": "a->b", "copies": 2, **guardian}])
    changes = [
        {"at": testbed.seconds(third_s), "loss": _bernoulli(5e-2)},
        {"at": testbed.seconds(2 * third_s), "loss": _bernoulli(1e-4)},
    ]
    return {**made, "link": [{"name": "a->b", "loss": _bernoulli(1e-4), "changes": changes}]}
