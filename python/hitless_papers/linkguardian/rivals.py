"""LinkGuardian and its rivals on the same link: end-to-end recovery alone, Wharf, and Link Layer Retry.

The paper compares only with Wharf, by arithmetic and at 10G (table 3); this exhibit goes beyond it. One link of the
testbed loses 1e-5 to 1e-2 of its frames, at 25G, 100G and 400G. There are three kinds of runs:

- "line rate": full frames at the rate of the link, for its effective speed, the buffers and the order of packets;
- "loss": importance sampling of rare losses. The link loses at least 1e-3 of the frames in their first transmission,
  and half of LinkGuardian's copies and of the first frames of replays. The weight of an unrecovered packet is the
  inverse of the factor by which this raised its probability. A packet is unrecovered if it and its N copies are lost
  (LinkGuardian); if the first frame of a replay is lost ``max_replay_count`` times after its first loss (Link Layer
  Retry, which then loses the whole replay buffer); or if a block loses one frame more than it has parity frames (Wharf,
  to first order in the loss rate);
- "delay": messages of one packet over RDMA at 30 % of the link's rate, with hosts without delays. The added delay of a
  message is the difference from a run with the same arrivals, but without loss and mechanism. End-to-end recovery is
  the card's timeout of 1 ms (section 4).

Wharf has the blocks of table 3: 25 data frames and one parity frame, and at 1e-2 five and one. The paper says "the
parameters that gave their best-reported goodput"; both follow from its numbers (9.13 and 7.91 are 25/26 and 5/6 of
9.49). Link Layer Retry has the profile for its rate (SONiC's samples), but never discards data because of age (SAI's
default), so its losses depend only on the number of replays. Frames wait during its start and after it gave up.
LinkGuardian has the paper's parameters, at 400G those for 100G, and a recirculation port as fast as the link, because
the copies of a 400G link would exceed a port of 100G.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from hitless.checking import Fields
from hitless.drawing.plot import Plot, Series
from hitless.simulation import Run
from hitless_papers import Context, Exhibit, Point, Row, Runs, Shape, Unjudged, close, exhibit
from hitless_papers.estimates import Estimate, curve, percentile_of, rate_of
from hitless_papers.linkguardian import basis, testbed
from hitless_papers.linkguardian.basis import depths_bytes, speed_percent
from hitless_papers.linkguardian.testbed import LinkCase

RATES_GBPS = (25, 100, 400)
LOSSES = (1e-5, 1e-4, 1e-3, 1e-2)
SCHEMES = ("none", "Wharf", "LLR", "LG", "LG_NB")
_IN_ORDER = ("LLR", "LG")

_RAISED_LOSS = 1e-3
_REPAIR_LOSS = 0.5
_REPLAYS_MAX = 3
_LOAD = 0.3
_TIMEOUT_MS = 1
_WHARF_BLOCKS = {1e-5: (25, 1), 1e-4: (25, 1), 1e-3: (25, 1), 1e-2: (5, 1)}
_TABLES = ("mechanisms", "links", "flows", "queues")


def wharf_at(loss: float) -> Mapping[str, Any]:
    """Build Wharf on the testbed's link, with the block of table 3 for a loss rate."""
    data, parity = _WHARF_BLOCKS[loss]
    return {"kind": "wharf", "link": testbed.LINK, "data_frames": data, "parity_frames": parity}


def mechanisms(scheme: str, loss: float) -> list[Mapping[str, Any]]:
    """Return the mechanisms on the link; equation 2 gives LinkGuardian's number of copies at ``loss``."""
    link = {"link": testbed.LINK}
    if scheme == "Wharf":
        return [wharf_at(loss)]
    if scheme == "LLR":
        waits = {"init_action": "block", "flush_action": "block", "data_age_timeout": "0 s", "admission_control": False}
        return [{"kind": "link-layer-retry", **link, "max_replay_count": _REPLAYS_MAX, **waits}]
    if scheme in testbed.MODES:
        return [{"kind": "linkguardian", **link, "mode": testbed.MODES[scheme], "actual_loss_rate": loss}]
    return []


class Cell(LinkCase):
    """One scheme at one rate and loss rate, with runs "line rate", "delay" and "loss"."""

    @property
    def raised_loss(self) -> float:
        return max(self.loss, _RAISED_LOSS)

    def loss_key(self, copies_for: float | None) -> str:
        """Return the key of the "loss" run; cells share it if only their weights differ."""
        what = f", copies for {testbed.exponent(copies_for)}" if copies_for else ""
        return f"{self.scheme} {self.rate_gbps}G loss {testbed.exponent(self.raised_loss)}{what}"


def cells() -> Iterator[Cell]:
    for rate_gbps in RATES_GBPS:
        for loss in LOSSES:
            for scheme in SCHEMES:
                yield Cell(rate_gbps, loss, scheme)


def _copies_for(cell: Cell) -> float | None:
    """Return the loss rate that decides LinkGuardian's copies: 1e-5 and 1e-4 need one copy, and share a run."""
    return max(cell.loss, 1e-4) if cell.scheme in testbed.MODES else None


def line_rate(cell: Cell, packets: int) -> Fields:
    return _datagrams(cell, packets, cell.loss, mechanisms(cell.scheme, cell.loss), measure=testbed.SAMPLED)


def rare_losses(cell: Cell, packets: int) -> Fields:
    """Build a "loss" run with raised loss rates."""
    protection = mechanisms(cell.scheme, _copies_for(cell) or cell.loss)
    repair_loss = None if cell.scheme == "Wharf" else _REPAIR_LOSS
    return _datagrams(cell, packets, cell.raised_loss, protection, repair_loss=repair_loss)


def _datagrams(
    cell: Cell,
    packets: int,
    loss: float,
    protection: list[Mapping[str, Any]],
    *,
    repair_loss: float | None = None,
    measure: Mapping[str, Any] | None = None,
) -> Fields:
    rate_gbps = cell.rate_gbps
    made = testbed.line_rate(rate_gbps, packets, name="stress", loss=loss, repair_loss=repair_loss, measure=measure)
    return _on_link(made, rate_gbps, protection)


def messages(rate_gbps: int, loss: float, protection: list[Mapping[str, Any]], count: int) -> Fields:
    """Build messages of one full packet at random times, without delays of hosts."""
    payload_bytes = 1_440
    flows = {
        "kind": "poisson",
        "sizes": {"kind": "fixed", "bytes": f"{payload_bytes} B"},
        "flows_per_second": _LOAD * rate_gbps * 1e9 / (8 * testbed.WIRE_BYTES),
        "count": count,
    }
    transport = {"kind": "roce", "mtu": f"{payload_bytes} B", "timeout": f"{_TIMEOUT_MS} ms"}
    made = testbed.scenario(rate_gbps, name="messages", transport=transport, flows=flows, loss=loss)
    return _on_link(made, rate_gbps, protection)


def _on_link(made: Fields, rate_gbps: int, protection: list[Mapping[str, Any]]) -> Fields:
    recirculation_gbps = max(100, rate_gbps)
    switch = {**made["switch"], "recirculation_rate": f"{recirculation_gbps} Gbps"}
    return {**made, "host": {}, "switch": switch, "mechanism": protection}


def effective_loss(run: Run, cell: Cell) -> Estimate:
    """Return the share of unrecovered packets, divided by the factor that raised their probability."""
    raised = cell.loss / cell.raised_loss
    if cell.scheme == "none":
        links = run.table("links").filter(pl.col("link") == testbed.LINK)
        return rate_of(int(links["frames_corrupted"].sum()), int(links["frames_sent"].sum()))
    lost = run.counter("packets_lost", "sw6")
    if cell.scheme == "Wharf":
        weight = raised ** (1 + _WHARF_BLOCKS[cell.loss][1])
        return rate_of(lost, run.counter("data_frames_sent", "sw2")).scaled(weight)
    if cell.scheme == "LLR":
        weight = raised * (cell.loss / _REPAIR_LOSS) ** _REPLAYS_MAX
        flushes = run.counter("flushes", "sw2")
        # A flush loses several packets at once; the rare and independent event is the flush.
        each = lost / flushes if flushes else 1.0
        return rate_of(flushes, run.counter("frames_numbered", "sw2")).scaled(weight * each)
    copies = run.counter("copies_per_loss", "sw2")
    weight = raised * (cell.loss / _REPAIR_LOSS) ** copies
    return rate_of(lost, run.counter("packets_protected", "sw2")).scaled(weight)


def wharf_theory(loss: float) -> float:
    """Return the residual loss of a code: the frame is lost, and at least ``parity`` other frames of its block."""
    data, parity = _WHARF_BLOCKS[loss]
    others = data + parity - 1
    chance, restored = (1.0 - loss) ** others, 0.0
    for lost in range(parity):
        restored += chance
        chance *= (others - lost) / (lost + 1) * loss / (1.0 - loss)
    return loss * (1.0 - restored)


def wharf_speed_percent(loss: float) -> float:
    """Return the link speed after headers (6 bytes per frame) and parity (22 bytes more than its longest frame)."""
    data, parity = _WHARF_BLOCKS[loss]
    block_bytes = data * (testbed.WIRE_BYTES + 6) + parity * (testbed.WIRE_BYTES + 22)
    return 100 * data * testbed.WIRE_BYTES / block_bytes


def _known(runs: Runs) -> Mapping[str, Shape]:
    """Return the statements that must hold in all cells of a scheme, each judged once for all cells."""
    of = {scheme: [cell for cell in cells() if cell.scheme == scheme] for scheme in SCHEMES}
    made = {}
    for scheme in _IN_ORDER:
        in_order = all(reordered_percent(runs[cell.key("line rate")]) == 0.0 for cell in of[scheme])
        made[scheme] = Shape(in_order, f"{scheme} keeps the order of packets, at any rate and loss")
    speeds = [(speed_percent(runs[c.key("line rate")], c.rate_gbps), c.loss) for c in of["Wharf"]]
    holds = all(close(percent, wharf_speed_percent(loss), 0.02) for percent, loss in speeds)
    made["Wharf"] = Shape(holds, "Wharf's speed is within 2 % of the arithmetic of its headers and parity, at any loss")
    return made


def buffers_bytes(run: Run, scheme: str) -> tuple[float, float]:
    """Return the maximum bytes that sender and receiver buffered for recovery."""
    if scheme == "Wharf":
        return run.counter("encoder_buffer_peak_bytes", "sw2"), run.counter("decoder_buffer_peak_bytes", "sw6")
    if scheme == "LLR":
        return run.counter("replay_buffer_peak_bytes", "sw2"), 0.0
    if scheme in testbed.MODES:
        return max(depths_bytes(run, "sw2.recirculation0")), max(depths_bytes(run, "sw6.recirculation0"))
    return 0.0, 0.0


def reordered_percent(run: Run) -> float:
    """Return the percentage of received packets that arrived after a later one."""
    flows = run.table("flows")
    return 100 * float(flows["packets_reordered"].sum()) / max(1, int(flows["packets_received"].sum()))


def added_ns(run: Run, clean: Run) -> list[float]:
    """Return the delay of each complete message, minus its delay in the run without losses and mechanisms."""
    both = _delivery(run).join(_delivery(clean), on=["group", "position"], suffix="_clean")
    added: list[float] = ((both["delivered_ps"] - both["delivered_ps_clean"]) / 1e3).to_list()
    return added


def _delivery(run: Run) -> pl.DataFrame:
    times = run.completed_messages().select("group", "position", "delivered_ps")
    return times.with_columns(pl.col("delivered_ps").cast(pl.Int64))


@exhibit("lg/rivals", title="LinkGuardian and its rivals on the same link")
class Rivals(Exhibit):
    """Rows beyond the paper, judged by arithmetic and by the guarantees of the schemes where these exist."""

    def __init__(self) -> None:
        self._added: dict[str, list[float]] = {}

    def points(self, context: Context) -> Iterable[Point]:
        packets = context.length("packets at line rate", full=2_000_000, normal=500_000, quick=60_000)
        rare = context.length("packets for the effective loss", full=10_000_000, normal=1_000_000, quick=100_000)
        count = context.length("messages for the delay", full=1_000_000, normal=200_000, quick=40_000)
        keys = set()
        for cell in cells():
            yield Point(cell.key("line rate"), line_rate(cell, packets), keep=_TABLES)
            key = cell.loss_key(_copies_for(cell))
            if cell.scheme != "none" and key not in keys:
                keys.add(key)
                # Two losses in a block of Wharf are rarer than failed repairs of the other schemes.
                factor = 4 if cell.scheme == "Wharf" else 1
                yield Point(key, rare_losses(cell, rare * factor), keep=("mechanisms", "links"))
            protection = mechanisms(cell.scheme, cell.loss)
            yield Point(cell.key("delay"), messages(cell.rate_gbps, cell.loss, protection, count), keep=("messages",))
        for rate_gbps in RATES_GBPS:
            yield Point(f"clean {rate_gbps}G delay", messages(rate_gbps, 0.0, [], count), keep=("messages",))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        known = _known(runs)
        for cell in cells():
            yield from self._cell(cell, runs, known)

    def _cell(self, cell: Cell, runs: Runs, known: Mapping[str, Shape]) -> Iterator[Row]:
        line_rate = runs[cell.key("line rate")]
        loss_run = line_rate if cell.scheme == "none" else runs[cell.loss_key(_copies_for(cell))]
        note = f"arithmetic: {wharf_theory(cell.loss):.1e}" if cell.scheme == "Wharf" else ""
        loss = effective_loss(loss_run, cell)
        yield loss.row(cell.scheme, cell.x, "effective loss rate", unit="", note=note)
        yield self._speed(cell, line_rate, known)
        added = self._delays(cell, runs)
        done = (basis.share(cell.scheme, runs[cell.key("delay")]),)
        for name, percent in (("median", 50.0), ("p99.9", 99.9)):
            note = "" if cell.scheme == "none" else "interval too narrow: one loss delays several messages in a row"
            metric = f"{name} of the delay added"
            delay = percentile_of(added, percent)
            yield delay.row(cell.scheme, cell.x, metric, unit="ns", note=note, completed=done)
        sender, receiver = buffers_bytes(line_rate, cell.scheme)
        yield Row(cell.scheme, cell.x, "largest buffer of the sender", "KB", sender / 1e3)
        yield Row(cell.scheme, cell.x, "largest buffer of the receiver", "KB", receiver / 1e3)
        reordered = reordered_percent(line_rate)
        judge = known[cell.scheme] if cell.scheme in _IN_ORDER else Unjudged()
        yield Row(cell.scheme, cell.x, "packets out of order", "%", reordered, judge=judge)

    def _speed(self, cell: Cell, run: Run, known: Mapping[str, Shape]) -> Row:
        percent = speed_percent(run, cell.rate_gbps)
        if cell.scheme != "Wharf":
            return Row(cell.scheme, cell.x, "effective speed", "%", percent)
        data, parity = _WHARF_BLOCKS[cell.loss]
        note = f"blocks of {data} and {parity}; arithmetic: {wharf_speed_percent(cell.loss):.2f} %"
        return Row(cell.scheme, cell.x, "effective speed", "%", percent, judge=known[cell.scheme], note=note)

    def _delays(self, cell: Cell, runs: Runs) -> list[float]:
        key = cell.key("delay")
        if key not in self._added:
            self._added[key] = added_ns(runs[key], runs[f"clean {cell.rate_gbps}G delay"])
        return self._added[key]

    def plots(self, runs: Runs, context: Context) -> Iterable[Plot]:
        for rate_gbps in RATES_GBPS:
            of_rate = [cell for cell in cells() if cell.rate_gbps == rate_gbps]
            title, x_title = f"Effective loss rate, {rate_gbps}G", "loss rate of the link"
            losses = [self._losses(scheme, of_rate, runs) for scheme in SCHEMES]
            yield Plot(title, x_title, "effective loss rate", losses, "log", "log")
            speeds = [self._speeds(scheme, of_rate, runs) for scheme in SCHEMES]
            yield Plot(f"Effective speed, {rate_gbps}G", x_title, "speed (% of the line rate)", speeds, "log")

    def _losses(self, scheme: str, of_rate: list[Cell], runs: Runs) -> Series:
        found = []
        for cell in (cell for cell in of_rate if cell.scheme == scheme):
            key = cell.key("line rate") if scheme == "none" else cell.loss_key(_copies_for(cell))
            found.append(effective_loss(runs[key], cell))
        return curve(scheme, list(LOSSES), found)

    def _speeds(self, scheme: str, of_rate: list[Cell], runs: Runs) -> Series:
        of_scheme = [cell for cell in of_rate if cell.scheme == scheme]
        speeds = [speed_percent(runs[cell.key("line rate")], cell.rate_gbps) for cell in of_scheme]
        return Series(scheme, list(LOSSES), speeds)

    def tables(self, runs: Runs, context: Context) -> Mapping[str, pl.DataFrame]:
        return {"rivals": pl.DataFrame([self._summary(cell, runs) for cell in cells()])}

    def _summary(self, cell: Cell, runs: Runs) -> dict[str, Any]:
        rows = self._cell(cell, runs, _known(runs))
        values = {f"{row.metric} ({row.unit})".replace(" ()", ""): row.measured for row in rows}
        return {"rate_gbps": cell.rate_gbps, "loss": cell.loss, "scheme": cell.scheme, **values}
