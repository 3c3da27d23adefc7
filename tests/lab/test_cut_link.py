"""A link that is cut under load, with and without SQR: counts of a UDP stream and of TCP."""

import json
import time

import pytest

from traffic import Counted, Iperf, Stream, mechanism, settle

SQUARE = """
name = "square"

[topology]
kind = "graph"
hosts = ["h1", "h2"]
switches = ["left", "right", "other"]
links = [
    { ends = ["h1", "left"], rate = "100 Mbps", delay = "5 us" },
    { ends = ["h2", "right"], rate = "100 Mbps", delay = "5 us" },
    { ends = ["left", "right"], rate = "200 Mbps", delay = "5 us" },
    { ends = ["left", "other"], rate = "200 Mbps", delay = "5 us" },
    { ends = ["other", "right"], rate = "200 Mbps", delay = "5 us" },
]

[recovery]
detection = { kind = "fixed", delay = "1 ms" }
scheme = { kind = "local-reroute", reconfiguration = "2 ms", backup = "first" }
"""
SQR = """
[[mechanism]]
kind = "sqr"
links = ["left<->right"]
caching = "delay-queue"
"""
CUTS = 3


def square(folder, more=""):
    file = folder / "square.toml"
    file.write_text(SQUARE + more)
    return file


def cut_and_mend(lab, times):
    for _ in range(times):
        lab.tell("fail", "left<->right")
        time.sleep(0.3)
        lab.tell("repair", "left<->right")
        time.sleep(0.3)


@pytest.fixture
def stream_over_cuts(lab, tmp_path):
    def received(more):
        lab.up(square(tmp_path, more), "--congestion", "cubic")
        # h1's own frames fill a tenth of the link, so that every cut hits some of them.
        stream = Stream(lab, lab.address("h2"), count=8_000, rate_pps=1_000)
        time.sleep(0.5)
        cut_and_mend(lab, CUTS)
        return stream.received()

    return received


def test_without_sqr_each_cut_costs_frames(stream_over_cuts, lab):
    numbers = stream_over_cuts("")
    lost = 8_000 - len(numbers)
    status = lab.status()
    assert lost > 0
    assert sum(link["frames_lost_down"] for link in status["links"]) >= lost
    assert numbers == sorted(numbers)


def test_with_sqr_no_datagram_is_lost_and_none_overtakes_another(stream_over_cuts, lab):
    numbers = stream_over_cuts(SQR)
    status = lab.status()
    assert sum(link["frames_lost_down"] for link in status["links"]) > 0, "the cuts hit nothing"
    overrun = sum(port["frames_overrun"] for port in status["ports"])
    assert overrun == 0, "this machine could not keep up with 1,000 frames a second"
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(8_000))
    # A copy is kept for the flight time of a frame plus the detection time of a failure: packets that had just arrived
    # before the cut arrive twice.
    assert len(numbers) - 8_000 <= CUTS, "a cut sends one frame twice at most, since they are 1 ms apart"


def test_with_sqr_tcp_sees_neither_loss_nor_reordering(lab, tmp_path):
    lab.up(square(tmp_path, SQR), "--congestion", "cubic")
    iperf = Iperf(lab)
    try:
        for _ in range(3):
            at_sender, at_receiver = Counted(lab, "h1"), Counted(lab, "h2")
            client = iperf.start(seconds=4)
            time.sleep(0.8)
            cut_and_mend(lab, 3)
            document = json.loads(client.communicate(timeout=300)[0])
            settle(lab)
            counted = {
                "sent again": at_sender["Tcp.RetransSegs"],
                "out of order": at_receiver["TcpExt.TCPOFOQueue"],
                "reordering seen": at_sender["TcpExt.TCPSACKReorder"] + at_sender["TcpExt.TCPTSReorder"],
            }
            if not any(counted.values()):
                break
        status = lab.status()
        if any(counted.values()) and status["is_overloaded"]:
            pytest.skip(f"this machine could not keep up, so the run is no result: {status['warnings'][0]}")
        assert not any(counted.values()), (counted, status)
        assert document["end"]["sum_received"]["bits_per_second"] > 0
    finally:
        iperf.end()
    assert mechanism(lab, "packets_sent_from_cache") > 0, lab.status()["mechanisms"]
