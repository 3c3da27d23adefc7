"""`hitless scenario draw`, and the network in the report of a run."""

import itertools
import re
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import pytest

import hitless as hl
from hitless.topology import draw_topology
from hitless.topology.folding import names_of
from warm import hitless

SVG = "{http://www.w3.org/2000/svg}"
EVERY_NTH = Path(__file__).parents[2] / "examples/mechanisms/every_nth.py"


@dataclass
class Area:
    what: str
    left: float
    right: float
    top: float
    bottom: float

    def meets(self, other):
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


def parsed(svg):
    return ET.fromstring(svg)  # noqa: S314 - our own drawing


def texts(svg):
    """Return the areas of all texts: a character is 7.25 px wide and 12 px high."""
    found = []
    for text in parsed(svg).iter(f"{SVG}text"):
        width, x, y = 7.25 * len(text.text), float(text.get("x")), float(text.get("y"))
        left = x - width / 2 if text.get("text-anchor") == "middle" else x
        found.append(Area(text.text, left, left + width, y - 10, y + 2))
    return found


def boxes(svg):
    """Return the areas of the boxes by their first line."""
    found = {}
    for box in parsed(svg).iter(f"{SVG}rect"):
        if "box" in box.get("class", ""):
            x, y, width, height = (float(box.get(name)) for name in ("x", "y", "width", "height"))
            found[box.find(f"{SVG}title").text] = Area("box", x, x + width, y, y + height)
    return found


def words(svg):
    return [text.text for text in parsed(svg).iter(f"{SVG}text")]


def fat_tree(k):
    return hl.example("fat-tree-permutation").with_("topology.k", k)


@pytest.mark.parametrize("name", hl.examples())
def test_no_text_overlaps_another_or_leaves_the_drawing(name):
    svg = draw_topology(hl.example(name).effective, alone=True)
    areas = texts(svg)
    for one, other in itertools.combinations(areas, 2):
        assert not one.meets(other), (one, other)
    width, height = (float(parsed(svg).get(side)) for side in ("width", "height"))
    assert all(area.left >= 0 and area.right <= width and area.top >= 0 and area.bottom <= height for area in areas)
    assert width <= 1_400
    rectangles = list(boxes(svg).values())
    assert not any(one.meets(other) for one, other in itertools.combinations(rectangles, 2))


def test_four_nodes_show_rates_mechanism_and_loss_at_their_places():
    svg = draw_topology(hl.example("linkguardian-testbed").effective)
    told = words(svg)
    assert {"h4", "sw2", "sw6", "h8"} <= set(told)
    assert told.count("100 Gb/s") == 3
    assert "3 links: 100 Gb/s, 50 ns" in told
    assert "linkguardian on sw2->sw6 (blocking)" in told
    assert "sw2->sw6: frames lost, bernoulli, rate 0.001" in told
    place = boxes(svg)
    assert place["sw2"].right < place["sw6"].left
    first = next(area for area in texts(svg) if area.what == "1")
    assert place["sw2"].right < first.left < (place["sw2"].right + place["sw6"].left) / 2


def test_a_failure_is_marked_once_and_its_link_is_dashed():
    svg = draw_topology(hl.example("link-failure").effective)
    assert words(svg).count("A") == 2, "on the link, and in the legend"
    assert svg.count('class="wire faulty"') == 1
    assert "left<->upper: fails at 20 ms, every 20 ms, outage 5 ms" in words(svg)


def test_a_fat_tree_of_128_hosts_is_two_pods_and_says_so():
    svg = draw_topology(fat_tree(8).effective)
    told = words(svg)
    assert "6 more parts like these" in told
    assert told.count("16 hosts") == 2
    assert told.count("4 switches") == 6
    assert "Equal hosts of a switch are one box." in told
    assert "6 of 8 parts of the network equal the drawn ones and are one box." in told
    assert "384 links: 10 Gb/s, 1 us" in told


def test_what_differs_is_not_folded():
    scenario = fat_tree(8).with_("mechanism", [{"kind": "linkguardian", "link": "edge20->agg20"}])
    told = words(draw_topology(scenario.effective))
    assert "linkguardian on edge20->agg20 (blocking)" in told
    assert told.count("1") == 2
    assert {"edge20", "agg20"} <= set(told)
    assert "5 more parts like these" in told
    loss = {"name": "h3->leaf0", "loss": {"kind": "bernoulli", "rate": 0.1}}
    lossy = hl.example("leaf-spine-lossy").with_("link", [loss])
    assert "h3" in words(draw_topology(lossy.effective))


def test_a_fat_tree_of_8192_hosts_is_three_boxes_of_switches_and_quick():
    scenario = fat_tree(32).effective
    began = time.monotonic()
    svg = draw_topology(scenario)
    assert time.monotonic() - began < 60
    assert {"core0 .. core255", "agg0 .. agg511", "edge0 .. edge511", "h0 .. h8191"} <= set(words(svg))
    assert len(svg) < 10_000


def test_switches_in_a_chain_are_in_a_row_and_links_pass_above_others():
    link = {"rate": "10 Gbps", "delay": "1 us"}
    chain = {
        "kind": "chain",
        "hosts_left": ["a"],
        "switches": [f"s{number}" for number in range(5)],
        "hosts_right": ["b"],
        "host_link": link,
        "switch_link": link,
    }
    row = boxes(draw_topology(_effective(chain)))
    assert len({row[f"s{number}"].top for number in range(5)}) == 1
    ends = [("a", "s0"), ("b", "s1"), ("c", "s2"), ("s0", "s1"), ("s1", "s2"), ("s0", "s2")]
    graph = {
        "kind": "graph",
        "hosts": ["a", "b", "c"],
        "switches": ["s0", "s1", "s2"],
        "links": [{"ends": list(pair), **link} for pair in ends],
    }
    svg = draw_topology(_effective(graph))
    tops = [float(found) for found in re.findall(r" Q[\d.]+,(-?[\d.]+) ", svg)]
    assert min(tops) < boxes(svg)["s1"].top - 40
    assert min(area.top for area in texts(svg)) >= 0


def _effective(topology):
    fields = {"name": "drawn", "duration": "1 ms", "topology": topology}
    tcp = {"transport": [{"name": "t", "kind": "tcp"}]}
    flow = {"name": "f", "kind": "long", "transport": "t", "sources": ["a"], "destinations": ["b"]}
    return hl.Scenario({**fields, **tcp, "flows": [flow]}).effective


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["h0"], "h0"),
        (["h0", "h1"], "h0, h1"),
        (["h0", "h1", "h2"], "h0 .. h2"),
        (["h9", "h10", "h11", "x"], "h9 .. h11, x"),
        ([f"name{2 * number}" for number in range(20)], "name0 and 19 more"),
    ],
)
def test_several_nodes_have_a_short_name(names, told):
    assert names_of(names) == told


def test_the_command_prints_or_writes_the_drawing(tmp_path):
    text = hl.example("lossy-link").text
    (tmp_path / "mine.toml").write_text(text)
    printed = hitless("scenario", "draw", "mine.toml", cwd=tmp_path).stdout
    assert parsed(printed).get("class") == "topology"
    assert "prefers-color-scheme:dark" in printed
    assert hitless("scenario", "draw", "-", input=text, cwd=tmp_path).stdout == printed
    hitless("scenario", "draw", "mine.toml", "--out", "mine.svg", cwd=tmp_path)
    assert (tmp_path / "mine.svg").read_text() == printed
    assert "it ends in .svg" in hitless("scenario", "draw", "mine.toml", "--out", "a.png", cwd=tmp_path, code=2).stderr
    missing = hitless("scenario", "draw", "mine.toml", "--out", "no/a.svg", cwd=tmp_path, code=2)
    assert "cannot write the drawing" in missing.stderr
    (tmp_path / "bad.toml").write_text(text.replace("sw1->sw2", "sw1->sw9"))
    assert "sw9" in hitless("scenario", "draw", "bad.toml", cwd=tmp_path, code=2).stderr


def test_an_own_mechanism_is_drawn_at_its_ports(tmp_path):
    own = {"kind": "every-nth-py", "ports": ["sw2"], "drop_every": 5}
    scenario = hl.example("linkguardian-testbed").with_("mechanism", [own])
    (tmp_path / "own.toml").write_text(scenario.text)
    drawn = hitless("scenario", "draw", "own.toml", "--mechanism", EVERY_NTH, cwd=tmp_path).stdout
    assert "every-nth-py on sw2" in words(drawn)


def test_the_report_of_a_run_has_the_same_drawing(tmp_path):
    scenario = hl.example("linkguardian-testbed").with_("flows[0].count", 5)
    (tmp_path / "mine.toml").write_text(scenario.text)
    hitless("run", "mine.toml", "--out", "out", cwd=tmp_path)
    assert draw_topology(scenario.effective) in (tmp_path / "out/report.html").read_text()
