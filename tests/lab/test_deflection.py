"""An incast of datagrams into a slow port: the number that deflection delivers of those marked by a kernel's DSCP."""

import time

import pytest

from hitless_papers.together.scenes import EXPEDITED, PLAIN, counted
from scene_labs import counts

IPV6_PORT = 10
PREEMPTIVE = "Preemptive Deflection, alpha 1"
URGENT_SHARE = 0.98
"""Minimum share: a packet that meets only full queues is dropped once its hops are used up, even if urgent."""


def test_a_plain_switch_loses_urgent_packets_like_all_others(make_lab, tmp_path):
    found, status, _ = counts(make_lab, tmp_path, "deflection", PLAIN)
    assert found["share of the urgent"] < 0.9
    assert found["share of the others"] < 0.9
    assert status.values["drops"]["queue full"] > found["urgent lost"]


def test_preemptive_deflection_delivers_what_is_urgent(make_lab, tmp_path):
    how = {"record": True, "again_if": lambda found: found["share of the urgent"] < URGENT_SHARE}
    found, status, types = counts(make_lab, tmp_path, "deflection", PREEMPTIVE, **how)
    assert found["share of the urgent"] >= URGENT_SHARE, status.values["drops"]
    assert found["share of the others"] < URGENT_SHARE, "there was room for all, so this shows nothing"
    assert counted(status, "preemptive-deflection", "packets_detoured") > 0
    assert set(types) == {"0800"}


def test_simple_deflection_delivers_more_than_a_plain_switch(make_lab, tmp_path):
    plain, _, _ = counts(make_lab, tmp_path, "deflection", PLAIN)
    found, _, _ = counts(make_lab, tmp_path, "deflection", "Simple Deflection", record=True)
    assert found["share of the urgent"] > plain["share of the urgent"]
    assert found["share of the others"] > plain["share of the others"]


@pytest.mark.parametrize("urgent", ["h1", "h3"])
def test_the_traffic_class_of_ipv6_counts_like_that_of_ipv4(make_lab, tmp_path, urgent):
    burst = 60
    # A sender that the machine delayed catches up at once, with more urgent packets than two ports can hold. If the
    # class were ignored, every attempt would fail.
    least = URGENT_SHARE * 2 * burst

    def drive(lab, _):
        for number, host in enumerate(("h1", "h2", "h3", "h4", "slow"), start=1):
            lab.execute(host, "sysctl", "-qw", "net.ipv6.conf.eth0.disable_ipv6=0")
            lab.execute(host, "ip", "address", "add", f"fd00::{number}/64", "dev", "eth0", "nodad")
        sink = lab.receive("slow", "udp-sink", port=IPV6_PORT, is_ipv6=True)
        at_ns = time.monotonic_ns() + 1_500_000_000
        how = {"to": "fd00::5", "port": IPV6_PORT, "bursts": 2, "burst": burst, "payload": 1_000, "every_s": 0.4}
        programs = [
            lab.start(host, "udp-send", sender=number, dscp=EXPEDITED if host == urgent else 0, at_ns=at_ns, **how)
            for number, host in enumerate(("h1", "h2", "h3", "h4"), start=1)
        ]
        for program in programs:
            program.result()
        lab.settle()
        arrived = [sender for sender, _ in sink.result()["arrivals"]]
        return {f"h{number}": arrived.count(number) for number in range(1, 5)}

    how = {"drive": drive, "again_if": lambda found: found[urgent] < least}
    found, status, types = counts(make_lab, tmp_path, "deflection", PREEMPTIVE, **how)
    assert found[urgent] >= least, (found, status.values["drops"])
    others = [count for host, count in found.items() if host != urgent]
    assert sum(others) < URGENT_SHARE * 6 * burst, "there was room for all, so this shows nothing"
    assert set(types) == {"86dd"}
