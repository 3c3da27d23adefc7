"""Flows of 24,387 B of this kernel over a corrupting link, with LinkGuardian in order, out of order and without it.

kernel_corruption.py SLICES [LOSS]: h1 - sw1 - sw2 - h2 at 1 Gb/s, the middle link with a delay of 100 us, so that a
repair arrives after the rest of the flow, as at 100G (table 2 of LinkGuardian). Slices of 2 s in turn; times come from
slices without a late lab. As root.
"""

import sys

import polars as pl
from kernel_lab import Lab

from hitless.analysis import percentile, percentile_interval, percentile_ratio, proportion_interval

LINK = "sw1->sw2"
MODES = {"LG_NB": "non-blocking", "LG": "blocking", "No Loss": None, "Loss": None}
SCENARIO = """
name = "corruption"
duration = "1 s"
[topology]
kind = "chain"
hosts_left = ["h1"]
switches = ["sw1", "sw2"]
hosts_right = ["h2"]
host_link = { rate = "1 Gbps", delay = "5 us" }
switch_link = { rate = "1 Gbps", delay = "100 us" }
[[transport]]
name = "t"
kind = "tcp"
congestion = "cubic"
rto_min = "4 ms"
[[flows]]
name = "f"
transport = "t"
kind = "long"
sources = ["h1"]
destinations = ["h2"]
[[mechanism]]
kind = "linkguardian"
link = "sw1->sw2"
copies = 2
activation = [{ at = "0 s", active = false }]
buffering = "paused-queue"
ack_no_timeout = "1 ms"
timer_period = "20 us"
"""


def show(name, table):
    times_us = ((table["came_ns"] - table["opened_ns"]) / 1e3).to_numpy()
    print(f"{name}: {len(table)} flows")
    for rank in (50, 99, 99.9):
        interval = percentile_interval(times_us, rank)
        print(f"  p{rank} {percentile(times_us, rank):.0f} [{interval.low:.0f}, {interval.high:.0f}] us")
    for what, column in (
        ("a retransmission", "retransmitted"),
        ("a timeout", "timeouts"),
        ("a DSACK", "dsack_dups"),
        ("reordering seen", "reord_seen"),
        ("disorder at the receiver", "ooo_received_receiver"),
    ):
        count = int((table[column] > 0).sum())
        share = proportion_interval(count, len(table))
        print(f"  {what}: {count} = {100 * count / len(table):.2f} [{100 * share.low:.2f}, {100 * share.high:.2f}] %")
    return times_us


def compare(found):
    times = {name: show(name, table) for name, table in found.items() if not table.is_empty()}
    for rank in (99, 99.9):
        if {"LG_NB", "LG"} <= times.keys():
            ratio, interval = percentile_ratio(times["LG_NB"], times["LG"], rank)
            print(f"LG_NB over LG, p{rank}: {ratio:.3f} [{interval.low:.3f}, {interval.high:.3f}]")


def main():
    slices, loss = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "1e-2"
    lab, found = Lab(SCENARIO), {name: [] for name in MODES}
    try:
        # Like the authors' scripts; DSACK therefore finds needless retransmissions.
        for host in ("h1", "h2"):
            lab.run(host, "sysctl", "-qw", "net.ipv4.tcp_timestamps=0")
        for _ in range(slices):
            for name, mode in MODES.items():
                lab.tell("corrupt", LINK, "0" if name == "No Loss" else loss)
                lab.tell(*(("protect", LINK, "--copies", "2", "--mode", mode) if mode else ("unprotect", LINK)))
                found[name].append(lab.send([24_387], threads=1, slices=1, seconds=2))
        status = lab.status()
    finally:
        lab.down()
    print(status["warnings"], [row for row in status["mechanisms"] if row[5]])
    for kept in (True, False):
        print("slices in which the lab kept up" if kept else "all slices: counts, not times")
        compare(
            {
                name: pl.concat([t for t in tables if not (kept and t["late"][0])] or [tables[0].clear()])
                for name, tables in found.items()
            }
        )


main()
