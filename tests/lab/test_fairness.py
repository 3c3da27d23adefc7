"""An aggressive UDP flow competing with TCP flows, with a FIFO queue and with AFQ."""

import time

import pytest

from labs import require_tool

RATE_BPS = 50_000_000
DUMBBELL = """
name = "neighbours"

[topology]
kind = "dumbbell"
hosts_left = 3
hosts_right = 3
host_link = { rate = "200 Mbps", delay = "5 us" }
bottleneck = { rate = "50 Mbps", delay = "5 us" }

[switch]
preset = "ideal"
buffer = { kind = "static", per_port = "200 KB" }
"""
AFQ = """
[[mechanism]]
kind = "afq"
ports = ["left->right"]
queues = 32
"""


def dumbbell(folder, *, fair):
    file = folder / "dumbbell.toml"
    file.write_text(DUMBBELL + (AFQ if fair else ""))
    return file


def shares(lab):
    """Return bits per second of two TCP flows and a UDP flow at twice the bottleneck's rate, to different hosts."""
    require_tool("iperf3", "iperf3")
    pairs = [("h0", "h3"), ("h1", "h4"), ("h2", "h5")]
    servers = [lab.start(to, "iperf3", "--server", "--one-off") for _, to in pairs]
    for _, to in pairs:
        lab.wait_for_port(to, 5201)
    udp = ["--udp", "--bitrate", str(2 * RATE_BPS), "--length", "1400"]
    clients = []
    for (host, to), more in zip(pairs, [[], [], udp], strict=True):
        words = ["iperf3", "--client", lab.address(to), "--time", "8", *more]
        clients.append(lab.start(host, *words))
    time.sleep(3)
    before = lab.status()
    time.sleep(4)
    after = lab.status()
    for process in clients + servers:
        process.kill()
        process.wait()
    elapsed_s = after["elapsed_s"] - before["elapsed_s"]
    *tcp, datagrams = [(arrived(after, to) - arrived(before, to)) * 8 / elapsed_s for _, to in pairs]
    return tcp, datagrams


def arrived(status, host):
    return next(link["arrived_bytes"] for link in status["links"] if link["link"] == f"right->{host}")


@pytest.fixture
def fabric(lab, tmp_path):
    def up(*, fair):
        lab.up(dumbbell(tmp_path, fair=fair), "--congestion", "cubic")
        return lab

    return up


def test_in_a_fifo_queue_the_udp_flow_takes_nearly_all(fabric):
    tcp, udp = shares(fabric(fair=False))
    print(f"TCP {[round(each / 1e6, 1) for each in tcp]}, UDP {udp / 1e6:.1f} Mb/s")
    assert udp > 5 * sum(tcp)


def test_with_afq_each_gets_its_share(fabric):
    tcp, udp = shares(fabric(fair=True))
    print(f"TCP {[round(each / 1e6, 1) for each in tcp]}, UDP {udp / 1e6:.1f} Mb/s")
    fair = sum([*tcp, udp]) / 3
    assert all(0.6 * fair < each < 1.4 * fair for each in [*tcp, udp])
