"""A corrupting link under kernel TCP, with and without LinkGuardian.

The assertions cover losses and retransmissions, never times: other programs may occupy the processors.
"""

import re

import pytest

from labs import chain, guardian, losing, require_tool
from traffic import Counted, Iperf, mechanism

RATE = "100 Mbps"
COPIES = {1e-3: 2, 1e-2: 4}
"""LinkGuardian's Equation 2, for a residual loss of 1e-9 and of 1e-10."""
ATTEMPTS = 3
"""Number of attempts: a machine that stalls the lab for a tenth of a second loses frames, or triggers TCP timeouts."""


def lossy_and_guarded(rate):
    """A lossy link, with LinkGuardian configured but off."""
    return losing(rate, "sw1->sw2") + guardian()


@pytest.fixture(params=[1e-3, 1e-2], ids=["1e-3", "1e-2"])
def lossy(request, lab, tmp_path):
    lab.up(chain(tmp_path, RATE, lossy_and_guarded(request.param)), "--congestion", "cubic")
    lab.loss_rate = request.param
    return lab


def protect(lab):
    lab.tell("protect", "sw1->sw2", "--copies", COPIES[lab.loss_rate])


def assert_all_repaired(lab):
    """Assert that every loss was found and repaired, and that buffers are empty."""
    assert mechanism(lab, "packets_missing") > 0
    assert mechanism(lab, "packets_recovered") == mechanism(lab, "packets_missing")
    assert mechanism(lab, "packets_lost") == 0


def test_tcp_sends_nothing_again_over_a_protected_link(lossy):
    iperf = Iperf(lossy)
    try:
        bare_bps, bare_again = iperf.measure()
        assert bare_again > 0
        protect(lossy)
        tries = []
        for _ in range(ATTEMPTS):
            tries.append(iperf.measure())
            if tries[-1][1] == 0:
                break
        print(f"loss {lossy.loss_rate}: {bare_bps / 1e6:.1f} Mb/s, {bare_again} again; protected: {tries}")
        assert tries[-1][1] == 0, (tries, lossy.status())
        assert tries[-1][0] > 0.8 * bare_bps
    finally:
        iperf.end()
    assert_all_repaired(lossy)


def test_bbr_loses_nothing_either(lab, tmp_path):
    with open("/proc/sys/net/ipv4/tcp_available_congestion_control") as file:  # noqa: PTH123 - it is no file
        if "bbr" not in file.read().split():
            pytest.skip("this kernel has no bbr (modprobe tcp_bbr)")
    lab.up(chain(tmp_path, RATE, lossy_and_guarded(1e-2)), "--congestion", "bbr")
    lab.loss_rate = 1e-2
    protect(lab)
    iperf = Iperf(lab)
    try:
        tries = []
        while len(tries) < ATTEMPTS and (not tries or tries[-1][1] > 0):
            tries.append(iperf.measure())
        assert tries[-1][1] == 0, (tries, lab.status())
        connections = lab.run("h2", "ss", "-tino", "state", "all").stdout
        assert "cubic" not in connections
    finally:
        iperf.end()
    assert_all_repaired(lab)


def percentile_ms(text, wanted):
    """Return the first latency in redis-benchmark's distribution that covers this percentage."""
    rows = re.findall(r"([\d.]+)% <= ([\d.]+) milliseconds", text)
    return next(float(latency) for percent, latency in rows if float(percent) >= wanted)


def test_small_requests_to_redis_never_wait_for_a_timeout(lossy):
    require_tool("redis-server", "redis-server")
    require_tool("redis-benchmark", "redis-tools")
    words = [
        "redis-server",
        "--save",
        "",
        "--appendonly",
        "no",
        "--bind",
        lossy.address("h2"),
        "--protected-mode",
        "no",
    ]
    server = lossy.start("h2", *words)
    try:
        lossy.wait_for_port("h2", 6379)
        request = [
            "redis-benchmark",
            "-h",
            lossy.address("h2"),
            "-t",
            "get",
            "-n",
            "6000",
            "-c",
            "4",
            "--precision",
            "3",
        ]
        again = Counted(lossy, "h1")
        bare_ms = percentile_ms(lossy.run("h1", *request).stdout, 99.9)
        bare_again = again["Tcp.RetransSegs"]
        assert bare_again > 0
        protect(lossy)
        for _ in range(ATTEMPTS):
            again = Counted(lossy, "h1")
            guarded_ms = percentile_ms(lossy.run("h1", *request).stdout, 99.9)
            if again["Tcp.RetransSegs"] == 0:
                break
        print(f"loss {lossy.loss_rate}: p99.9 {bare_ms} ms, {bare_again} again; protected: {guarded_ms} ms")
        assert again["Tcp.RetransSegs"] == 0, lossy.status()
        if lossy.loss_rate == 1e-2:
            assert guarded_ms < bare_ms / 2, "a lost request waits for a timeout of 200 ms"
    finally:
        server.kill()
        server.wait()
    assert_all_repaired(lossy)


def test_what_curl_gets_over_a_protected_link_is_whole(lossy, tmp_path):
    require_tool("curl", "curl")
    content = bytes(range(256)) * 2_000
    (tmp_path / "page").write_bytes(content)
    server = lossy.start("h2", "python3", "-m", "http.server", "80", "--directory", tmp_path)
    try:
        lossy.wait_for_port("h2", 80)
        protect(lossy)
        for _ in range(ATTEMPTS):
            # h2 sends the page over a lossless direction; only acknowledgements are at risk.
            again = Counted(lossy, "h1"), Counted(lossy, "h2")
            for number in range(10):
                got = tmp_path / f"got{number}"
                lossy.run("h1", "curl", "--silent", "--fail", "-o", got, f"http://{lossy.address('h2')}/page")
                assert got.read_bytes() == content
            if all(host["Tcp.RetransSegs"] == 0 for host in again):
                break
        assert [host["Tcp.RetransSegs"] for host in again] == [0, 0], lossy.status()
    finally:
        server.kill()
        server.wait()
