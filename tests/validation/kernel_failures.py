"""Short flows hit by a link failure, on this kernel and in the simulator: is there a cluster at 100 ms?

kernel_failures.py VARIANT SLICES [SEED]: a small sqr/fig3, h1 - sw1 - sw2 - h2 at 1 Gb/s; the middle link is dead for
760 us every 20 to 32 ms. Flows are web search flows up to 100 KB, four at a time, in slices of 2 s; slices with a late
lab are excluded. VARIANT: "both" has RTOmin 4 ms at both ends, "sender" only at the sender (the receiver keeps 200 ms,
and with it delayed acknowledgements of 40 ms), "metrics" keeps what connections learn about the path for the next ones,
as Linux does by default, "no-probes" disables tail loss probes and RACK, like the exhibit. As root.
"""

import sys

import polars as pl
from kernel_lab import Lab
from run import run

from hitless.analysis import percentile, proportion_interval

BANDS_MS = {"4-40 ms": (4, 40), "40-400 ms": (40, 400), "0.4-4 s": (400, 4_000), "more": (4e3, 1e9)}
SCENARIO = """
name = "failures"
until = "all-flows-done"
[topology]
kind = "chain"
hosts_left = ["h1"]
switches = ["sw1", "sw2"]
hosts_right = ["h2"]
host_link = {{ rate = "1 Gbps", delay = "5 us" }}
switch_link = {{ rate = "1 Gbps", delay = "5 us" }}
[host]
timer_tick = "4 ms"
kernel = {{ send = "22 us", receive = "22 us", jitter = {{ kind = "lognormal", median = "1 us", p999 = "20 us" }} }}
[[transport]]
name = "t"
kind = "tcp"
congestion = "cubic"
handshake = true
rto_min = "4 ms"
rto_formula = "linux"
syn_timeout = "1 s"
rack_tlp = {rack}
delayed_ack_segments = {delayed}
quick_acks = 16
[[flows]]
name = "short"
transport = "t"
kind = "schedule"
sources = ["h1"]
destinations = ["h2"]
period = "4.1 ms"
count = 10_000
sizes = {{ kind = "cdf", table = "websearch_dctcp_pias", largest = "100 KB" }}
[recovery]
detection = {{ kind = "fixed", delay = "30 us" }}
scheme = {{ kind = "same-port", reconfiguration = "730 us" }}
[[failure]]
link = "sw1<->sw2"
first = "20 ms"
every = "20 ms"
jitter = "12 ms"
[measure]
order = true
"""


def show(who, times_ms, flows):
    """Shares are relative to the hit flows of 4 ms or more: below that only acknowledgements were lost."""
    hit, times_ms = len(times_ms), [time for time in times_ms if time >= 4]
    print(f"{who}: {hit} of {flows} flows were hit, {len(times_ms)} took 4 ms and more")
    if not times_ms:
        return
    for name, (low, high) in BANDS_MS.items():
        inside = [time for time in times_ms if low <= time < high]
        if inside:
            share = proportion_interval(len(inside), len(times_ms))
            middle = ", ".join(f"p{rank} {percentile(inside, rank):.1f}" for rank in (5, 50, 95))
            print(
                f"  {name:10} {len(inside):5} = {100 * len(inside) / len(times_ms):5.1f} "
                f"[{100 * share.low:.1f}, {100 * share.high:.1f}] %  {middle} ms"
            )
    none = proportion_interval(sum(40 <= time < 400 for time in times_ms), len(times_ms))
    print(f"  at 100 ms: {100 * none.low:.2f} to {100 * none.high:.2f} %")


def in_kernel(variant, sizes, slices, scenario):
    lab = Lab(scenario)
    try:
        if "sender" in variant:
            lab.run("h2", "ip", "route", "change", "10.0.0.0/16", "dev", "eth0", "proto", "kernel", "src", "10.0.0.2")
        for host in ("h1", "h2"):
            if "metrics" in variant:
                lab.run(host, "sysctl", "-qw", "net.ipv4.tcp_no_metrics_save=0")
            if variant == "no-probes":
                lab.run(host, "sysctl", "-qw", "net.ipv4.tcp_early_retrans=0", "net.ipv4.tcp_recovery=0")
        table = lab.send(sizes, threads=4, slices=slices, seconds=2)
        status = lab.status()
    finally:
        lab.down()
    lost = sum(link["frames_lost_down"] for link in status["links"])
    late = table.filter("late")["slice"].n_unique()
    print(f"{late} of {slices} slices of 2 s left out: {status['warnings']}; lost on the dead link in all: {lost}")
    table = table.filter(~pl.col("late"))
    if table.is_empty():
        return
    again = table["retransmitted"] + table["retransmitted_receiver"] > 0
    for who, end in (("delivered", "came_ns"), ("answered", "done_ns")):
        times = ((table[end] - table["began_ns"]) / 1e6).filter(again).to_list()
        show(f"kernel, {who}", times, len(table))
    whole = ((table["came_ns"] - table["began_ns"]) / 1e6).filter(~again)
    print(f"  others: median {whole.median():.3f}, longest {whole.max():.1f} ms")
    odd = table.filter(again & ((table["done_ns"] - table["began_ns"]) / 1e6).is_between(40, 400))
    print(odd.head(12).to_dicts())


def main():
    variant, slices = sys.argv[1], int(sys.argv[2])
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    delayed = 2 if "sender" in variant else 1
    scenario = SCENARIO.format(rack="false" if variant == "no-probes" else "true", delayed=delayed)
    tables = run(scenario, seed)
    flows, delivered = tables["flows"], {entry["flow"]: entry["delivered_ps"] for entry in tables["messages"]}
    in_kernel(variant, [flow["message_bytes"] for flow in flows], slices, scenario)
    # Like the exhibit: the paper's flows follow each other, so that none begins in an outage.
    outages = [(entry["down_ps"], entry["to_recovered_ps"]) for entry in tables["failures"]]
    hit = [flow for flow in flows if flow["frames_lost_to_failures"]]
    hit = [flow for flow in hit if not any(down <= flow["started_ps"] < up for down, up in outages)]
    show("simulator", [(delivered[flow["flow"]] - flow["started_ps"]) / 1e9 for flow in hit], len(flows))


main()
