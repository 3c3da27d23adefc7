"""Rates and delays of `[[link]]` in results and drawings."""

import pytest

import hitless as hl
from hitless.checking import fabric_of
from hitless.outcome.times import times_of
from hitless.topology import draw_topology

WIRE = {"rate": "100 Gbps", "delay": "1 us"}


def chain(*links):
    """One datagram flow from a to b over two switches, at the full rate of its host."""
    return {
        "name": "links",
        "until": "all-flows-done",
        "duration": "1 s",
        "clocks": "ideal",
        "topology": {
            "kind": "chain",
            "hosts_left": ["a"],
            "switches": ["s", "t"],
            "hosts_right": ["b"],
            "host_link": WIRE,
            "switch_link": WIRE,
        },
        "switch": {"preset": "ideal", "buffer": {"kind": "static", "per_port": "1 MB"}},
        "host": {"nic_queue": "1 GB"},
        "transport": [{"name": "u", "kind": "udp", "rate": "100 Gbps"}],
        "flows": [
            {
                "name": "f",
                "kind": "schedule",
                "transport": "u",
                "sources": ["a"],
                "destinations": ["b"],
                "sizes": {"kind": "fixed", "bytes": f"{100 * 1472} B"},
                "period": "1 ms",
                "count": 1,
            }
        ],
        **({"link": list(links)} if links else {}),
    }


@pytest.mark.parametrize(
    "links",
    [
        [],
        [{"name": "s->t", "rate": "10 Gbps"}],
        [{"name": "s<->t", "rate": "25 Gbps", "delay": "7 us"}],
        [{"name": "t->b", "delay": "3 us", "rate": "50 Gbps"}, {"name": "t->s", "rate": "1 Gbps"}],
    ],
)
def test_the_ideal_time_of_a_message_follows_the_direction_that_it_takes(links):
    (times,) = times_of(hl.Scenario(chain(*links)).run())
    assert times.slowdowns.tolist() == pytest.approx([1.0], abs=1e-6)


def test_the_fabric_has_each_direction_of_a_link():
    links = fabric_of(chain({"name": "t->s", "rate": "1 Gbps", "delay": "2 us"}))["links"]
    directions = {link["name"]: link["directions"] for link in links}
    assert [one["rate_bps"] for one in directions["s->t"]] == [100_000_000_000, 1_000_000_000]
    assert [one["delay_ps"] for one in directions["s->t"]] == [1_000_000, 2_000_000]


def test_the_drawing_marks_links_with_other_rates_and_their_changes():
    changes = [{"at": "1 ms", "rate": "5 Gbps"}, {"at": "2 ms", "loss": {"kind": "periodic", "every": 9, "first": 1}}]
    svg = draw_topology(hl.Scenario(chain({"name": "s->t", "delay": "3 us", "changes": changes})).effective, alone=True)
    for words in ("delay 3 us", "rate 5 Gbps from 1 ms", "frames lost from 2 ms"):
        assert words in svg, words


def test_a_path_with_a_tenth_of_the_rate_gets_a_tenth_as_many_flows():
    fields = {
        **chain(),
        "topology": {
            "kind": "leaf-spine",
            "leaves": 2,
            "spines": 3,
            "hosts_per_leaf": 1,
            "host_link": WIRE,
            "core_link": WIRE,
        },
        "routing": {"choice": "weighted-hash"},
        "link": [{"name": "spine1->leaf1", "rate": "10 Gbps"}],
        "transport": [{"name": "u", "kind": "roce"}],
    }
    (group,) = fields["flows"]
    size = {"kind": "fixed", "bytes": "1 KB"}
    fields["flows"] = [
        {**group, "sources": ["h0"], "destinations": ["h1"], "sizes": size, "period": "1 us", "count": 4_200}
    ]
    links = hl.Scenario(fields).run().tables["links"]
    frames = dict(zip(links["link"], links["frames_sent"], strict=True))
    sent = [frames[f"leaf0->spine{spine}"] for spine in range(3)]
    assert sum(sent) == 4_200
    # 2,000 of 4,200, 200, and 2,000: five standard deviations are 162 and 69.
    assert sent == [pytest.approx(2_000, abs=162), pytest.approx(200, abs=69), pytest.approx(2_000, abs=162)], sent
