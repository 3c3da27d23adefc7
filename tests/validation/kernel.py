"""The path of path.c in hitless: kernel.py RATE_MBPS DELAY_US LIMIT LOSS CONGESTION SECONDS; LOSS "blackhole" as there.

The hosts are like Linux 6: SACK, RACK-TLP, delayed acknowledgements, timers on ticks of 4 ms.
"""

import sys

from run import run

rate, delay_us, limit, loss, congestion, seconds = sys.argv[1:7]
seed = int(sys.argv[7]) if len(sys.argv) > 7 else 1
blackhole = loss == "blackhole"
ends = 'sources = ["h0"]\ndestinations = ["h1"]'
flows = f'{ends}\nkind = "long"'
link = f'[[link]]\nname = "left->right"\nloss = {{ kind = "bernoulli", rate = {loss} }}' if loss != "0" else ""
if blackhole:
    # 50 messages, 100 ms apart; the path drops everything from 5.05 s to the end.
    flows = f'{ends}\nkind = "requests"\nsize = "100 B"\ncount = 100\ngap = "89.8 ms"'
    link = '[[link]]\nname = "left->right"\nschedule = [{ at = "5.05 s", state = "down" }]'
    seconds = "9.1"
tables = run(
    f"""
name = "kernel"
duration = "{seconds} s"
[topology]
kind = "dumbbell"
hosts_left = 1
hosts_right = 1
host_link = {{ rate = "10 Gbps", delay = "1 ns" }}
bottleneck = {{ rate = "{rate} Mbps", delay = "{delay_us} us" }}
[switch]
preset = "ideal"
buffer = {{ kind = "static", per_port = "{limit} packets" }}
[host]
timer_tick = "4 ms"
[[transport]]
name = "t"
kind = "tcp"
congestion = "{congestion}"
handshake = true
delayed_ack_segments = 2
quick_acks = {1000 if blackhole else 16}       # Linux answers a lone small segment at once
[[flows]]
name = "f"
transport = "t"
{flows}
{link}
[measure]
throughput = [{{ links = ["h0->left"], period = "100 us" }}]
queue = [{{ ports = ["left->right"], period = "1 ms" }}]
""",
    seed,
)
flow = tables["flows"][0]
if blackhole:
    sent_ms = [sample["time_ps"] / 1e9 for sample in tables["throughput"] if sample["value_bytes"]]
    first_lost = next(ms for ms in sent_ms if ms > 5_050)
    print("sent again at", *(f"{ms - first_lost:.1f}" for ms in sent_ms if ms > first_lost), "ms")
    print({key: flow[key] for key in ("tail_loss_probes", "timeouts", "packets_retransmitted")})
else:
    queue = [sample["value_bytes"] for sample in tables["queues"]]
    print(
        f"goodput {flow['delivered_bytes'] * 8e-6 / float(seconds):.3f} Mb/s retransmits {flow['packets_retransmitted']}",
        f"mean queue {sum(queue) / len(queue) / 1518:.2f} packets, drops {tables['summary']['drops']}",
    )
