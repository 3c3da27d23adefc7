"""Lists of flows that wait for others, compared with their definition."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

import hitless as hl

FABRIC = """
name = "waiting"
until = "all-flows-done"
duration = "10 s"
[topology]
kind = "dumbbell"
hosts_left = 2
hosts_right = 2
host_link = { rate = "10 Gbps", delay = "1 us" }
bottleneck = { rate = "10 Gbps", delay = "2 us" }
[[transport]]
name = "roce"
kind = "roce"
recovery = "selective-repeat"
[[flows]]
name = "flows"
kind = "dependency-list"
transport = "roce"
file = "mine.flows"
"""


@st.composite
def lists(draw):
    """Draw flows: size, start or delay in ns, earlier flows to wait for, and the number of them that must end."""
    flows = []
    for position in range(draw(st.integers(1, 8))):
        after = draw(st.sets(st.integers(0, position - 1), max_size=3)) if position else set()
        needed = draw(st.integers(1, len(after))) if after else 0
        flows.append((draw(st.integers(1, 50_000)), draw(st.integers(0, 20_000)), sorted(after), needed))
    return flows


def line(position, flow):
    size, start_ns, after, needed = flow
    waits = f" after {needed} of {' '.join(map(str, after))}" if after else ""
    return f"{position % 4} {(position + 1) % 4} {size} {start_ns}{waits}"


@given(lists())
@settings(max_examples=60)
def test_a_flow_starts_its_delay_after_the_last_end_that_it_needs(flows):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "mine.flows").write_text("\n".join(line(*each) for each in enumerate(flows)))
        Path(folder, "mine.toml").write_text(FABRIC)
        run = hl.Scenario.from_file(Path(folder, "mine.toml")).run()
    rows = run.flows.sort("position")
    starts, ends = rows["started_ps"].to_list(), rows["finished_ps"].to_list()
    assert rows["message_bytes"].to_list() == [size for size, *_ in flows]
    for start, (_, start_ns, after, needed) in zip(starts, flows, strict=True):
        earliest = sorted(ends[other] for other in after)[needed - 1] if after else 0
        # 1 ps later if the draws of the moment are over.
        assert 0 <= start - (earliest + 1000 * start_ns) <= 1
