"""The dumbbell of dumbbell.cc in hitless: python dumbbell.py --congestion newreno --flows 8 [--loss 1e-3] ..."""

import argparse

from run import run

SCENARIO = """
name = "dumbbell"
duration = "{duration} s"
until = "{until}"
[topology]
kind = "dumbbell"
hosts_left = {flows}
hosts_right = {flows}
host_link = {{ rate = "40 Gbps", delay = "5 us", overhead_bytes = 0 }}
bottleneck = {{ rate = "{rate}", delay = "{delay} us", overhead_bytes = 0 }}
[switch]
preset = "ideal"
buffer = {{ kind = "static", per_port = "{limit} packets" }}
{ecn}
[host]
nic_queue = "100000 packets"
tcp_small_queues = false
[[transport]]
name = "t"
kind = "tcp"
congestion = "{congestion}"
header_bytes = "54 B"       # PPP 2, IPv4 20, TCP 20, timestamps 12
ack_bytes = "64 B"          # Ethernet's least
rto_formula = "rfc6298"
rto_min = "10 ms"
rack_tlp = {rack}
sack = {sack}
handshake = true
[[flows]]
name = "f"
transport = "t"
{group}
{link}
[measure]
queue = [{{ ports = ["left->right"], period = "{period} us" }}]
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--congestion", default="newreno")
    parser.add_argument("--rate", default="10 Gbps")
    parser.add_argument("--delay", type=float, default=40)
    parser.add_argument("--flows", type=int, default=1)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--mark", type=int, default=0)
    parser.add_argument("--loss", type=float, default=0)
    parser.add_argument("--size", type=int, default=0)
    parser.add_argument("--duration", type=float, default=1)
    parser.add_argument("--spacing", default="1 ms")
    parser.add_argument("--no-sack", dest="sack", action="store_false")
    parser.add_argument("--rack", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    ends = f'sources = ["h0..h{a.flows - 1}"]\ndestinations = ["h{a.flows}..h{2 * a.flows - 1}"]\n'
    group = f'{ends}spacing = "{a.spacing}"\nkind = "long"'
    if a.size:
        group = f'{ends}spacing = "{a.spacing}"\nkind = "requests"\ncount = 1\nsize = "{a.size} B"'
    link = f'[[link]]\nname = "left->right"\nloss = {{ kind = "bernoulli", rate = {a.loss} }}' if a.loss else ""
    tables = run(
        SCENARIO.format(
            until="all-flows-done" if a.size else "duration",
            ecn=f'ecn = {{ threshold = "{a.mark} packets" }}' if a.mark else "",
            group=group,
            period=max(10, int(a.duration * 10)),
            link=link,
            rack=str(a.rack).lower(),
            **{k: str(v).lower() for k, v in vars(a).items() if k == "sack"},
            **{k: v for k, v in vars(a).items() if k in ["duration", "flows", "rate", "delay", "limit", "congestion"]},
        ),
        a.seed,
    )
    flows = tables["flows"]
    goodput = [flow["delivered_bytes"] * 8e-9 / a.duration for flow in flows]
    total = sum(goodput)
    queue = [sample["value_bytes"] for sample in tables["queues"]]
    print("goodput", *(f"{x:.4f}" for x in goodput))
    print(
        f"sum {total:.4f} jain {total**2 / (len(flows) * sum(x * x for x in goodput)):.4f}",
        f"drops {tables['summary']['drops']} marks {sum(flow['packets_marked'] for flow in flows)}",
        f"queue {sum(queue) / max(len(queue), 1) / 1502:.2f}",
        f"timeouts {sum(flow['timeouts'] for flow in flows)}",
        f"recoveries {sum(flow['fast_recoveries'] for flow in flows)}",
    )
    if a.size:
        arrived = {link["link"]: link["last_arrival_ps"] for link in tables["links"]}
        for flow in flows:
            last_ps = arrived[f"right->{flow['destination']}"]
            acknowledged_us = (flow["finished_ps"] - flow["started_ps"]) / 1e6
            print(f"done_us {(last_ps - flow['started_ps']) / 1e6:.2f} acknowledged_us {acknowledged_us:.2f}")


main()
