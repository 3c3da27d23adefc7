"""Hosts with several ports, and hosts and switches that differ: ideal times and drawings."""

import pytest

import hitless as hl
from hitless.outcome.times import times_of
from hitless.topology import draw_topology
from worlds import fixed, flows, ideal, leaf_spine, world

FABRIC = leaf_spine(2, 2, ("100 Gbps", "1 us"), ("100 Gbps", "1 us"))["topology"]


def one_flow(kind, topology, *more, size="8 MB"):
    """A flow of 8 MB, or of another size, in an empty fabric."""
    to = "h2" if "leaves_per_host" not in topology else "h1"
    group = flows("schedule", ["h0"], [to], name="one", transport="t", sizes=fixed(size), period="1 ms", count=1)
    transport = {"transport": [{"name": "t", "kind": kind}]}
    text = world("one", {"topology": FABRIC | topology}, ideal("300 KB"), transport, group, *more, duration="10 ms")
    return hl.Scenario.from_text(text).run()


@pytest.mark.parametrize(("kind", "speedup"), [("uet", 4.0), ("roce", 1.0)])
def test_the_ideal_of_a_spraying_connection_has_the_rate_of_all_ports(kind, speedup):
    one, four = (times_of(one_flow(kind, {"planes": planes}))[0] for planes in (1, 4))
    for times in (one, four):
        assert 1.0 <= times.slowdowns[0] < 1.1
    assert one.us[0] / four.us[0] == pytest.approx(speedup, rel=0.05)


def test_the_ideal_includes_the_delays_of_exceptional_hosts():
    exception = {"hosts": ["h2..h3"], "network_card": {"receive": "300 us"}}
    slow = times_of(one_flow("roce", {}, {"host": {"exceptions": [exception]}}, size="1 KB"))[0]
    plain = times_of(one_flow("roce", {}, size="1 KB"))[0]
    assert slow.us[0] - plain.us[0] == pytest.approx(300)
    assert slow.slowdowns[0] == pytest.approx(1.0, abs=0.01)
    assert plain.slowdowns[0] == pytest.approx(1.0, abs=0.01)


def test_the_ideal_includes_the_latencies_of_exceptional_switches():
    leaves = {"switches": ["leaf0..leaf1"], "ingress_latency": "100 us", "phy_latency": "40 us"}
    spines = {"switches": ["spine*"], "egress_latency": "30 us"}
    plain = times_of(one_flow("roce", {}, size="1 KB"))[0]
    for exceptions in ([leaves], [leaves, spines]):
        slow = times_of(one_flow("roce", {}, {"switch": {"preset": "ideal", "exceptions": exceptions}}, size="1 KB"))[0]
        # h0, leaf0, a spine, leaf1, h2: two links have the coding of a leaf, and two a half of it.
        expected_us = 2 * 100 + 2 * 40 + 2 * 20 + 30 * (len(exceptions) - 1)
        assert slow.us[0] - plain.us[0] == pytest.approx(expected_us)
        assert slow.slowdowns[0] == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("topology", [{"planes": 2}, {"leaves_per_host": 2}, {"leaves_per_host": 2, "planes": 3}])
def test_a_host_with_several_links_is_drawn_once(topology):
    svg = draw_topology(one_flow("uet", topology, size="1 KB").effective)
    assert svg.count(">h0</text>") == 1
