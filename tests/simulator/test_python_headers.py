"""Headers of mechanisms as Python classes, and the worked example that protects both ends of a link."""

import sys
from pathlib import Path

import pytest
from python_mechanisms import BOTTLENECK, Ports, two_flows

import hitless

ROOT = Path(__file__).resolve().parents[2]
TWIN = ROOT / "examples/mechanisms/twin.py"
LINK = ["sw2->sw6", "sw6->sw2"]


@pytest.fixture
def twin(monkeypatch):
    monkeypatch.syspath_prepend(TWIN.parent)
    monkeypatch.delitem(sys.modules, "twin", raising=False)
    from twin import Twin

    return Twin


def protected(loss):
    fields = {"mechanism": [{"kind": "twin", "ports": LINK}], "link[0].loss.rate": loss}
    scenario = hitless.example("linkguardian-testbed")
    for path, value in fields.items():
        scenario = scenario.with_(path, value)
    return scenario


def counters(run, switch):
    rows = run.mechanisms.filter(run.mechanisms["switch"] == switch).select("counter", "value").rows()
    return {counter: value for counter, value in rows if not counter.startswith("resources")}


@pytest.mark.parametrize("loss", [1e-12, 0.05])
def test_a_packet_is_lost_only_with_both_copies(twin, loss):
    run = hitless.run(protected(loss), mechanisms=[twin], seed=5)
    sent, dropped = counters(run, "sw2")["frames_sent_twice"], counters(run, "sw6")["copies_dropped"]
    corrupted = run.summary.drops.get("corrupted on a link", 0)
    both_lost = int(run.flows["packets_retransmitted"].sum())
    one_lost = corrupted - 2 * both_lost
    assert dropped == sent - one_lost - both_lost
    assert both_lost / sent == pytest.approx(loss**2, rel=0.6, abs=1e-6), "0.0025 of 10,000 frames: 25 +- 5"
    assert run.flows["packets_sent"].sum() - both_lost == run.flows["packets_received"].sum()


def test_the_page_has_the_hooks_of_the_example():
    text = TWIN.read_text()
    hooks = text[text.index("    def egress") : text.index("    def report")].rstrip()
    assert hooks in (ROOT / "docs/how-to/mechanism-in-python.md").read_text()


class Stamp(hitless.Mechanism[Ports], kind="stamp-py", header_bytes=3):
    """Writes a header at one end of the bottleneck, and reads it at the other."""

    lengths: set[tuple[int, int]] = set()  # noqa: RUF012 - the test reads it
    read: list[bytes] = []  # noqa: RUF012

    def egress(self, context):
        before = context.packet.frame_bytes
        context.packet.header = b"abc"
        self.lengths.add((before, context.packet.frame_bytes))
        return hitless.Verdict.CONTINUE

    def rx(self, context):
        if context.packet.header is not None:
            self.read.append((context.packet.header, context.packet.copy().header, context.packet.frame_bytes))
            context.packet.header = None
        return hitless.Verdict.CONTINUE


class Other(Stamp, kind="other-stamp-py", header_bytes=3):
    """Has a header of the same length."""

    lengths, read = set(), []

    def egress(self, context):
        assert context.packet.header is None, "it sees no other class's header"
        context.packet.header = b"xyz"
        return hitless.Verdict.CONTINUE


BOTH_ENDS = [*BOTTLENECK, "right->left"]


def test_a_header_crosses_the_link_and_counts_in_the_frame():
    entries = [{"kind": kind, "ports": BOTH_ENDS} for kind in ("stamp-py", "other-stamp-py")]
    world = hitless.Scenario.from_text(two_flows("stamp-py")).with_("mechanism", entries)
    run = hitless.run(world, mechanisms=[Stamp, Other])
    assert run.flows["delivered_bytes"].sum() > 1_000_000
    assert {after - before for before, after in Stamp.lengths} == {3}
    assert {(header, copied) for header, copied, _ in Stamp.read} == {(b"abc", b"abc")}
    assert {header for header, _, _ in Other.read} == {b"xyz"}
    assert max(length for *_, length in Stamp.read) == max(after for _, after in Stamp.lengths) + 3, "and the other's"


def test_a_run_without_the_header_is_faster_by_its_bytes():
    plain, longer = two_flows("every-nth", drop_every=10**9), two_flows("stamp-py", ports=BOTH_ENDS)
    runs = [hitless.run(world, mechanisms=[Stamp]) for world in (plain, longer)]
    delivered = [run.flows["delivered_bytes"].sum() for run in runs]
    assert delivered[1] / delivered[0] == pytest.approx(1538 / 1541, abs=0.002)


def test_a_header_of_another_length_ends_the_run():
    class Wrong(hitless.Mechanism[Ports], kind="wrong-header-py", header_bytes=2):
        def egress(self, context):
            context.packet.header = b"abc"
            return hitless.Verdict.CONTINUE

    class Undeclared(hitless.Mechanism[Ports], kind="undeclared-header-py"):
        egress = Wrong.egress

    for made, rule in ((Wrong, "header_bytes=2"), (Undeclared, "header_bytes=0")):
        with pytest.raises(hitless.HitlessError, match=f"a header of 3 bytes, and the class declares {rule}"):
            hitless.run(two_flows(made.kind), mechanisms=[made])


@pytest.mark.parametrize("length", [-1, 17, 2.5, "4"])
def test_a_length_that_does_not_fit_is_refused(length):
    with pytest.raises(TypeError, match="header_bytes is a whole number from 0"):

        class Long(hitless.Mechanism[Ports], kind="long-header-py", header_bytes=length):
            """Declares a length that no header has."""


class Idle(hitless.Mechanism[Ports], kind="idle-py"):
    """Waits for a drop that does not come."""

    def on_tm_drop(self, reason, context):
        return hitless.Verdict.CONTINUE


def test_a_run_shows_its_warnings_at_the_line_of_the_caller():
    scenario = hitless.example("linkguardian-testbed").with_("mechanism", [{"kind": "idle-py", "ports": LINK}])
    with pytest.warns(hitless.RunWarning, match="idle-py.* never acted") as seen:
        run = hitless.run(scenario, mechanisms=[Idle])
    assert [str(each.message) for each in seen] == run.summary.warnings
    assert {each.filename for each in seen} == {__file__}
