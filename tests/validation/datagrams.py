"""RoCE's go-back-N compared with arithmetic, and UDP's counts with the links': python datagrams.py"""

from run import run

SCENARIO = """
name = "datagrams"
duration = "{duration}"
[topology]
kind = "dumbbell"
hosts_left = 2
hosts_right = 2
host_link = {{ rate = "100 Gbps", delay = "1 us" }}
bottleneck = {{ rate = "100 Gbps", delay = "3 us" }}
[switch]
preset = "ideal"
buffer = {{ kind = "static", per_port = "1000 packets" }}
[[transport]]
name = "t"
{transport}
[[flows]]
name = "f"
transport = "t"
{flows}
[[link]]
name = "left->right"
loss = {{ kind = "bernoulli", rate = {loss} }}
"""

SLOT_NS = (1024 + 78 + 20) * 0.08
ACK_NS = (66 + 20) * 0.08
ROUND_TRIP = (10_000 + 3 * SLOT_NS + 3 * ACK_NS) / SLOT_NS
TIMEOUT = 1e6 / SLOT_NS
# Data queued in the card when the negative acknowledgement arrives: between 8 and 16 kB.
CARD = 12_000 / (1024 + 78 + 20)


def expected(loss: float, window: int) -> float:
    """Packets delivered per slot.

    A loss costs the slots from the lost packet until its negative acknowledgement: the next packet (1) shows the gap,
    its answer takes a round trip, and the card's queue drains before the retransmission. A lost retransmission also
    costs the timeout.
    """
    rate = min(1, window / ROUND_TRIP)
    return 1 / (1 / rate + loss * (ROUND_TRIP + 1 + CARD) + loss**2 * TIMEOUT)


def roce() -> None:
    print(f"RoCE: a round trip is {ROUND_TRIP:.1f} packets, a timeout {TIMEOUT:.0f}")
    for loss, window, seconds in [(0, 512, 0.02), (1e-4, 512, 0.2), (1e-3, 512, 0.2), (3e-3, 512, 1), (0, 64, 0.02)]:
        tables = run(
            SCENARIO.format(
                duration=f"{seconds} s",
                transport=f'kind = "roce"\nacknowledge_every = 1\nwindow = {window}',
                flows='kind = "long"\nsources = ["h0"]\ndestinations = ["h2"]',
                loss=loss,
            )
        )
        [flow] = tables["flows"]
        measured = flow["delivered_bytes"] / 1024 / (seconds * 1e9 / SLOT_NS)
        wanted = expected(loss, window)
        print(
            f"p {loss:g} W {window}: delivered {measured:.4f} of the slots, expected {wanted:.4f},",
            f"ratio {measured / wanted:.4f}; timeouts {flow['timeouts']}",
        )


def udp() -> None:
    for rate, loss, sources in [("60 Gbps", 0.01, 1), ("60 Gbps", 0.01, 2)]:
        ends = f'sources = ["h0..h{sources - 1}"]\ndestinations = ["h2..h{1 + sources}"]'
        tables = run(
            SCENARIO.format(
                duration="6 ms",
                transport=f'kind = "udp"\nrate = "{rate}"',
                flows=f'kind = "constant-rate"\nstop = "5 ms"\n{ends}',
                loss=loss,
            )
        )
        links = {link["link"]: link for link in tables["links"]}
        core = links["left->right"]
        flows = tables["flows"]
        sent = sum(flow["packets_sent"] for flow in flows)
        received = sum(flow["packets_received"] for flow in flows)
        payload = sum(flow["delivered_bytes"] for flow in flows)
        full = tables["summary"]["drops"].get("queue full", 0)
        print(
            f"UDP {sources} x {rate}: sent {sent}, full {full}, corrupted {core['frames_corrupted']}, sink {received}"
        )
        assert sent == sum(links[f"h{i}->left"]["frames_sent"] for i in range(sources))
        assert sent == core["frames_sent"] + full
        assert core["frames_sent"] == core["frames_arrived"] + core["frames_corrupted"]
        assert core["frames_arrived"] == received
        assert payload == received * (1518 - 46)


roce()
udp()
