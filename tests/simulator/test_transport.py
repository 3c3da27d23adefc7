"""Congestion controls that are Python classes."""

import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import hitless
from hitless import _native
from hitless.cli.main import main
from hitless.prototype.kinds import load, loaded, register

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples/transports/newreno.py"
PAGE = ROOT / "docs/how-to/transport-in-python.md"

SCENARIO = {
    "name": "own-transport",
    "duration": "10 ms",
    "topology": {
        "kind": "dumbbell",
        "hosts_left": 2,
        "hosts_right": 2,
        "host_link": {"rate": "10 Gbps", "delay": "1 us"},
        "bottleneck": {"rate": "10 Gbps", "delay": "5 us"},
    },
    "switch": {"preset": "ideal", "buffer": {"kind": "static", "per_port": "60 KB"}},
    "transport": [{"name": "t", "kind": "tcp", "rto_min": "1 ms", "congestion": "newreno"}],
    "flows": [
        {"name": "long", "kind": "long", "transport": "t", "sources": ["h0", "h1"], "destinations": ["h2", "h3"]},
        {
            "name": "messages",
            "kind": "poisson",
            "transport": "t",
            "sizes": {"kind": "fixed", "bytes": "50 KB"},
            "load": 0.05,
            "load_of": "host-links",
        },
    ],
    "link": [{"name": "left->right", "loss": {"kind": "bernoulli", "rate": 1e-3}}],
}


def scenario(congestion, **transport):
    return {**SCENARIO, "transport": [{**SCENARIO["transport"][0], "congestion": congestion, **transport}]}


def example():
    load([], [EXAMPLE])
    return sys.modules[str(EXAMPLE)].NewReno


@dataclass
class Settings:
    """Parameters.

    segments: Window in segments.
    """

    segments: int = field(default=4, metadata={"minimum": 1})
    rate: float | None = None
    draws: bool = False

    def __post_init__(self):
        if self.segments == 13:
            raise ValueError("13 segments bring bad luck")


class Constant(hitless.Transport[Settings], kind="constant-py", sets_cwnd=True):
    def on_ack(self, ack):
        assert ack.in_flight_bytes >= 0
        assert ack.smoothed_rtt_ps > 0
        assert ack.state in {"open", "cwr", "recovery", "loss"}
        self.cwnd = (self.random.randint(1, 9) if self.settings.draws else self.settings.segments) * self.mss
        self.pacing_rate = self.settings.rate


def rate_of(run):
    flows = run.table("flows").filter(run.table("flows")["group"] == "long")
    return flows["delivered_bytes"].sum() * 8 / 10e-3


def test_newreno_in_python_gives_the_trace_of_the_packaged_one():
    new_reno = example()
    runs = [
        hitless.run(scenario(congestion), transports=[new_reno], seed=3)
        for congestion in ("newreno", "newreno-py", {"kind": "newreno-py", "divisor": 3.0})
    ]
    packaged, same, other = (run.summary["trace_hash"] for run in runs)
    assert same == packaged != other
    assert runs[0].table("messages").equals(runs[1].table("messages"))


def test_a_class_that_sets_the_window_decides_at_every_acknowledgement():
    two, four = (
        hitless.run(scenario({"kind": "constant-py", "segments": count}), transports=[Constant]) for count in (2, 4)
    )
    assert rate_of(four) / rate_of(two) == pytest.approx(2, rel=0.2)


def test_the_pacing_rate_holds():
    congestion = {"kind": "constant-py", "segments": 40, "rate": 1e9}
    paced = hitless.run(scenario(congestion, pacing=True), transports=[Constant])
    assert rate_of(paced) == pytest.approx(2e9, rel=0.05)


def test_the_seed_decides_on_a_run():
    random = scenario({"kind": "constant-py", "draws": True})
    hashes = [hitless.run(random, transports=[Constant], seed=seed).summary["trace_hash"] for seed in (1, 1, 2)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_a_comparison_takes_the_class(tmp_path):
    found = hitless.compare(
        scenario("newreno"), scenario("newreno-py"), seeds=3, out=tmp_path, progress=False, transports=[example()]
    )
    assert len(found.seeds) == 3
    assert set(found.intervals()["finding"]) == {"equal"}


def test_a_sweep_takes_the_class(tmp_path):
    grid = {"transport.t.congestion.segments": [2, 4]}
    swept = hitless.sweep(
        scenario({"kind": "constant-py"}), grid, transports=[Constant], out=tmp_path / "out", progress=False
    )
    assert swept.is_complete
    assert swept.rows["point"].n_unique() == 2


@pytest.mark.parametrize(
    ("congestion", "message"),
    [
        ({"kind": "constant-py", "segment": 3}, "segments"),
        ({"kind": "constant-py", "segments": 0}, "congestion.segments = 0"),
        ({"kind": "constant-py", "segments": "many"}, "congestion.segments"),
        ({"kind": "constant-py", "segments": 13}, "bad luck"),
        ("constant-pie", "constant-py"),
    ],
)
def test_settings_are_checked_like_those_of_packaged_controls(congestion, message):
    register([], [Constant])
    with pytest.raises(hitless.RefusedScenario) as refused:
        hitless.Scenario.from_dict(scenario(congestion)).check()
    assert message in str(refused.value)
    assert "transport[0].congestion" in str(refused.value)
    assert "^" in str(refused.value)


def faulty(name, **hooks):
    return type(name, (hitless.Transport,), {"__module__": __name__, **hooks}, kind=name.lower())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("self.cwnd = 1 / 0", "ZeroDivisionError in on_ack"),
        ("self.cwnd = float('nan')", "cwnd must be a positive number of bytes, not NaN"),
        ("self.cwnd = 'wide'", "TypeError in on_ack"),
        ("self.pacing_rate = -1", "pacing_rate must be a positive number of bits per second"),
        ("ack.in_flight_bytes", "in_flight_bytes needs sets_cwnd=True"),
    ],
)
def test_an_exception_ends_the_run_with_the_line_of_the_class(tmp_path, body, message):
    file = tmp_path / "broken.py"
    head = (
        "import hitless\nclass Broken(hitless.Transport, kind='broken-{}'):\n    def on_ack(self, ack):\n        {}\n"
    )
    kind = abs(hash(body)) % 1_000_000
    file.write_text(head.format(kind, body))
    path = tmp_path / "scenario.toml"
    path.write_text(hitless.Scenario.from_dict(scenario(f"broken-{kind}")).text)
    load([], [file])
    with pytest.raises(hitless.MechanismFailed) as failed:
        hitless.run(path)
    assert message in str(failed.value)
    assert 'broken.py", line 4' in str(failed.value)
    assert body in str(failed.value)


def test_the_command_line_takes_a_file(tmp_path, capsys, monkeypatch):
    path = tmp_path / "scenario.toml"
    path.write_text(hitless.Scenario.from_dict(scenario("newreno-py")).text)
    monkeypatch.setattr(
        sys,
        "argv",
        ["hitless", "run", str(path), "--transport", str(EXAMPLE), "--out", str(tmp_path / "out"), "--json"],
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in {0, None}
    assert '"trace_hash"' in capsys.readouterr().out
    assert [each["sha256"] is not None for each in loaded() if each["kind"] == "newreno-py"] == [True]


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: faulty("Idle"), "it has no on_ack"),
        (lambda: faulty("NewReno", on_ack=lambda *_: None), "there is a congestion control"),
        (lambda: type("Unnamed", (hitless.Transport,), {"on_ack": lambda *_: None}), "has no kind"),
    ],
)
def test_an_invalid_class_is_refused_with_the_reason(made, message):
    with pytest.raises(hitless.BadInput, match=message):
        register([], [made()])


def test_there_are_no_checkpoints(tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(hitless.Scenario.from_dict(scenario("newreno-py")).text)
    register([], [example()])
    refusal = _native.Simulation(_native.CheckedScenario(path.read_text(), "scenario.toml")).checkpoint_refusal()
    assert refusal == ('there are no checkpoints of a run with "newreno-py": what changes in it is not saved')


def test_the_page_has_the_example_and_its_second_class_keeps_a_short_queue():
    page = PAGE.read_text()
    assert EXAMPLE.read_text() in page
    [source] = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "sets_cwnd" in block]
    names = {"hitless": hitless, "__name__": "page"}
    exec(source, names)  # noqa: S102 - of the page
    queues = {}
    for congestion in ("newreno", "short-queue-py"):
        base = {**scenario(congestion), "measure": {"queue": [{"ports": ["left->right"], "period": "10 us"}]}}
        run = hitless.run(base, transports=[names["ShortQueue"]])
        queues[congestion] = run.queues["value_bytes"].mean()
    assert queues["short-queue-py"] < 0.8 * queues["newreno"], queues


def test_the_host_stack_of_the_page_is_a_scenario():
    page = (ROOT / "docs/how-to/hosts.md").read_text()
    section = page.partition("## Host stacks\n")[2].partition("\n## ")[0]
    written = tomllib.loads("\n".join(line[4:] for line in section.splitlines() if line.startswith("    ")))
    [transport] = written["transport"]
    assert transport["burst_segments"] == 44
    base = {**SCENARIO, "host": written["host"], "transport": [{**SCENARIO["transport"][0], **transport, "name": "t"}]}
    slow, fast = hitless.run(base), hitless.run(SCENARIO)
    assert slow.messages["fct_us"].median() > fast.messages["fct_us"].median() + 2 * (4 + 6)
