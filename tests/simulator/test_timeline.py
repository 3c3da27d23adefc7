"""Timelines for Perfetto, read back with the classes of Perfetto's package."""

from collections import defaultdict

import polars as pl
import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as perfetto

from hitless import _native
from hitless.timeline.write import tables_in
from warm import hitless

BEGIN, END, INSTANT, COUNTER = (
    perfetto.TrackEvent.Type.Value(f"TYPE_{name}") for name in ("SLICE_BEGIN", "SLICE_END", "INSTANT", "COUNTER")
)


SAMPLES = """
[[flows]]
name = "trials"
kind = "requests"
transport = "cubic"
sources = ["a"]
destinations = ["c"]
size = "10 KB"
count = 20
gap = "100 us"

[measure]
queue = [{ ports = ["left->upper"], period = "1 ms" }]
throughput = [{ links = ["left->upper", "left->lower"], period = "1 ms" }]
flow = [{ group = "trials", period = "100 us" }]
goodput = [{ group = "short", period = "1 ms" }]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The results of a run with a failure, flows of several messages, and samples."""
    text = _native.scenario_example("link-failure")
    assert text is not None
    short = text.replace('duration = "100 ms"', 'duration = "30 ms"').replace("load = 0.3", "load = 0.05")
    short += SAMPLES
    place = tmp_path_factory.mktemp("timeline")
    scenario = place / "timeline.toml"
    scenario.write_text(short)
    hitless("run", scenario, "--out", place / "out")
    return place / "out"


class Timeline:
    def __init__(self, path):
        trace = perfetto.Trace.FromString(path.read_bytes())
        self.names, self.parents, self.events = {}, {}, defaultdict(list)
        last = 0
        for packet in trace.packet:
            assert packet.trusted_packet_sequence_id == 1
            if packet.HasField("track_descriptor"):
                about = packet.track_descriptor
                assert about.uuid not in self.names
                assert not about.HasField("parent_uuid") or about.parent_uuid in self.names
                self.names[about.uuid] = about.name
                self.parents[about.uuid] = about.parent_uuid
            else:
                assert packet.timestamp >= last
                last = packet.timestamp
                assert packet.track_event.track_uuid in self.names
                self.events[packet.track_event.track_uuid].append((packet.timestamp, packet.track_event))

    def slices(self, name):
        """Return (track, begin, end, event) of all slices of the tracks with a name; they must nest."""
        for uuid in [uuid for uuid, known in self.names.items() if known == name]:
            opened = []
            for at, event in self.events[uuid]:
                if event.type == BEGIN:
                    assert not opened, "a lane has one slice at a time"
                    opened.append((at, event))
                elif event.type == END:
                    began, begun = opened.pop()
                    yield uuid, began, at, begun
            assert not opened


def written(folder, tmp_path, *options):
    path = tmp_path / "run.pftrace"
    told = hitless("trace", folder, "--perfetto", path, *options).stderr
    return Timeline(path), told


def test_flows_and_failures_are_slices_with_the_times_of_the_tables(folder, tmp_path):
    timeline, told = written(folder, tmp_path)
    flows = tables_in(folder)["flows"]
    slices = list(timeline.slices("flows"))
    assert len(slices) == flows.height > 0
    done = flows.filter(pl.col("finished_ps") >= 0)
    lengths = sorted(ends - begins for _, begins, ends, event in slices if "done" in str(event))
    assert lengths == sorted((done["finished_ps"] // 1000 - done["started_ps"] // 1000).to_list())
    hosts = {timeline.names[timeline.parents[uuid]] for uuid, *_ in slices}
    assert hosts == set(flows["source"])
    failures = tables_in(folder)["failures"]
    [name] = failures["link"].unique().to_list()
    down = sum(ends - begins for _, begins, ends, _ in timeline.slices(f"link {name}"))
    ended = failures.filter(pl.col("up_ps") >= 0)
    assert down >= (ended["up_ps"] // 1000 - ended["down_ps"] // 1000).sum() > 0
    assert "cut" not in told
    assert len([one for one in timeline.slices("messages") if one[3].name.startswith("trials")]) == 20
    assert any(name.startswith("window of trials") for name in timeline.names.values())


def test_each_arrow_starts_at_one_slice_and_ends_at_one_arrival(folder, tmp_path):
    timeline, _ = written(folder, tmp_path)
    events = [event for of in timeline.events.values() for _, event in of]
    starts = [arrow for event in events for arrow in event.flow_ids]
    ends = [arrow for event in events for arrow in event.terminating_flow_ids]
    assert len(set(starts)) == len(starts)
    assert len(set(ends)) == len(ends) > 0
    assert set(ends) <= set(starts)


def test_counters_have_the_values_of_the_samples(folder, tmp_path):
    timeline, _ = written(folder, tmp_path)
    tables = tables_in(folder)
    for name, column, title in (("throughput", "link", "throughput of {}"), ("queues", "port", "queue of {}")):
        for (key,), rows in tables.get(name, pl.DataFrame(schema={column: pl.String})).group_by(column):
            [uuid] = [uuid for uuid, known in timeline.names.items() if known == title.format(key)]
            values = [event.counter_value for _, event in timeline.events[uuid]]
            assert len(values) == rows.height
            if name == "queues":
                assert values == rows.sort("time_ps")["value_bytes"].to_list()


def test_a_timeline_is_cut_by_time_and_number(folder, tmp_path):
    whole, _ = written(folder, tmp_path)
    part, _ = written(folder, tmp_path, "--from", "19 ms", "--until", "22 ms")
    times = [at for of in part.events.values() for at, _ in of]
    assert 19_000_000 <= min(times) <= max(times) <= 22_000_000
    assert len(list(part.slices("flows"))) <= len(list(whole.slices("flows")))
    count = sum(map(len, whole.events.values()))
    limit = len(whole.names) + count // 2
    few, told = written(folder, tmp_path, "--events", limit)
    assert 0 < sum(map(len, few.events.values())) <= limit < count
    assert f"there are {count:,}" in told
    list(few.slices("flows"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--packet", "0", "--perfetto", "x"), "either --packet or --perfetto"),
        ((), "either --packet or --perfetto"),
        (("--perfetto", "x", "--from", "2 ms", "--until", "1 ms"), "ends before it starts"),
        (("--perfetto", "x", "--group", "nobody"), "unknown group 'nobody'"),
        (("--perfetto", "x", "--from", "soon"), "--from"),
    ],
)
def test_options_that_cannot_work_are_refused(folder, options, message, tmp_path):
    assert message in hitless("trace", folder, *options, cwd=tmp_path, code=2).stderr
    assert not (tmp_path / "x").exists()
