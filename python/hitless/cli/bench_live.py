"""`hitless bench live`: the table."""

from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table

from hitless.bench_live.devices import Device
from hitless.bench_live.measure import DELAY_PPS
from hitless.bench_live.run import bench_live, chosen, require_all
from hitless.terminal.console import print_json, print_note, stdout

_SECONDS_PER_TRIAL = 16
"""Trials that a device takes: the flood, up to 14 of the search less those that succeed, and the rest."""


def bench(only: Sequence[str], *, trial_s: float, tcp_s: float, json: bool) -> None:
    wanted = chosen(only)
    require_all()
    estimate_s = (trial_s + 0.4) * _SECONDS_PER_TRIAL + 2 * tcp_s + 2
    done = 0

    def tell(device: Device) -> None:
        nonlocal done
        left_s = (len(wanted) - done) * estimate_s
        done += 1
        print_note(f"[{done}/{len(wanted)}] {device.name}; about {left_s / 60:.0f} min left")

    rows = bench_live(wanted, trial_s=trial_s, tcp_s=tcp_s, tell=tell)
    if json:
        print_json(rows)
        return
    stdout.print(_table(rows))
    for row in rows:
        if "failed" in row:
            print_note(f"{row['device']}: {row['failed']}")


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    title = "64-byte packets, and one connection of kernel TCP (MTU 1500, offloads off)"
    table = Table(title=title, box=SIMPLE_HEAD, padding=(0, 1), collapse_padding=True, pad_edge=False)
    table.add_column("forwarding", no_wrap=True)
    titles = ["TCP\nGbps", "re-\nsent", "TSO\nGbps", "kpps\nwhole", "kpps\nflood", "of\nkpps", "lost\n80 %"]
    titles += ["plus\nus"]
    for title in titles:
        table.add_column(title, justify="right")
    table.caption = (
        "TSO: TCP with offloads on, so that hosts send buffers (AF_XDP takes none); kpps whole: the highest rate "
        "without loss; flood: what arrived when as much as possible (of kpps) was sent; "
        "lost 80 %: frames lost at 80 % of that rate; plus us: median of the delay at "
        f"{DELAY_PPS:,.0f} packets per second, less the wire's (--json has more percentiles)"
    )
    for row in rows:
        table.add_row(row["device"], *(["failed"] + [""] * 7 if "failed" in row else _cells(row)))
    return table


def _cells(row: dict[str, Any]) -> list[str]:
    at_80, added = row["at_80_percent"], row.get("added_delay_ns")
    return [
        f"{row['tcp']['throughput_bps'] / 1e9:.2f}",
        f"{row['tcp']['retransmissions']:,}",
        f"{row['tcp_with_tso']['throughput_bps'] / 1e9:.2f}" if "tcp_with_tso" in row else "-",
        f"{row['lossless_pps'] / 1e3:.0f}",
        f"{row['flood_pps'] / 1e3:.0f}",
        f"{row['offered_pps'] / 1e3:.0f}",
        f"{at_80['frames_lost']:,}" if at_80 else "-",
        f"{added['p50'] / 1e3:.1f}" if added else "-",
    ]
