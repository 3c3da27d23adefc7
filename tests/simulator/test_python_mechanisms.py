"""A mechanism as a Python class: its hooks, its settings, its errors, and the example compared with its Rust twin."""

import re
import types
import typing
from collections import defaultdict
from pathlib import Path

import pytest
from python_mechanisms import Coin, EgressOnly, Ports, Watcher, WithQueue, two_flows

import hitless
import warm
from hitless.errors import BadInput, MechanismFailed, RefusedScenario
from hitless.prototype.kinds import load, register
from hitless.prototype.mechanism import Claim, Stage

ROOT = Path(__file__).resolve().parents[2]
EVERY_NTH = ROOT / "examples/mechanisms/every_nth.py"


def failing(hook, body, *, kind):
    """Return a class with a hook that does what ``body`` does."""
    name = f"Failing{hook.title().replace('_', '')}"
    members = {hook: body, "__module__": __name__}
    return types.new_class(name, (hitless.Mechanism[Ports],), {"kind": kind}, lambda body: body.update(members))


def counted(run):
    """Return (scope, counter, value), without the resources of a real switch."""
    rows = run.table("mechanisms").select("mechanism", "scope", "counter", "value").rows()
    return [row for row in rows if not row[2].startswith("resources_")]


def outcome(run):
    return run.summary["trace_hash"], [row[1:] for row in counted(run)], run.table("flows").rows()


@pytest.mark.parametrize(("drop_every", "mark_every"), [(0, 7), (50, 0), (101, 3), (5, 2)])
def test_the_example_decides_as_the_same_mechanism_in_rust(drop_every, mark_every):
    load([EVERY_NTH])
    in_rust, in_python = (
        hitless.run(two_flows(kind, drop_every=drop_every, mark_every=mark_every))
        for kind in ("every-nth", "every-nth-py")
    )
    assert outcome(in_python) == outcome(in_rust)
    values = {counter: value for _, _, counter, value in counted(in_python)}
    assert (values["packets_dropped"] > 0, values["packets_marked"] > 0) == (drop_every > 0, mark_every > 0)


def test_the_example_is_short_and_the_one_of_the_page():
    assert len(EVERY_NTH.read_text().splitlines()) <= 40
    assert EVERY_NTH.read_text() in (ROOT / "docs/how-to/mechanism-in-python.md").read_text()


def test_a_class_with_its_own_needs_keeps_its_hooks_and_reads_the_depths_of_its_port():
    WithQueue.made.clear()
    hitless.run(two_flows("with-queue-py"), mechanisms=[WithQueue])
    [made] = [each for each in WithQueue.made if each.calls]
    assert made.calls > 1_000
    assert made.deepest_bytes > 1_518


def test_depths_of_a_class_are_those_of_its_ports_or_none():
    with pytest.raises(TypeError, match="depths is"):
        types.new_class("Deep", (hitless.Mechanism[Ports],), {"kind": "deep-py", "depths": "all"})


def test_a_sweep_knows_a_python_class_by_its_argument_and_by_its_option(tmp_path):
    (tmp_path / "nth.toml").write_text(two_flows("every-nth-py", drop_every=50))
    plan = tmp_path / "plan.toml"
    plan.write_text('scenario = "nth.toml"\nseeds = 2\n[axes]\n"mechanism[0].drop_every" = [50, 100]\n')
    # A separate process, which has not loaded the class.
    warm.hitless("sweep", plan, "--mechanism", EVERY_NTH, "--out", tmp_path / "by-option")
    assert hitless.Swept.read(tmp_path / "by-option").is_complete
    scenario = hitless.Scenario.from_text(two_flows("with-queue-py"))
    by_argument = hitless.sweep(
        scenario, {"duration": ["1 ms"]}, mechanisms=[WithQueue], out=tmp_path / "by-argument", progress=False
    )
    assert by_argument.is_complete


def test_every_hook_is_called_with_what_there_is_to_see():
    Watcher.made.clear()
    run = hitless.run(two_flows("watcher-py"), mechanisms=[Watcher])
    [watcher] = [made for made in Watcher.made if made.seen]
    seen = defaultdict(list)
    for name, *rest in watcher.seen:
        seen[name].append(rest)
    assert watcher.switch == "left"
    assert seen["start"] == [[0, None]]
    assert seen["timer"] == [[1_000_000, 5]]
    assert {source for _, source in seen["rx"]} == {2, 3}
    assert all(port in watcher.ports for port, has_payload in seen["ingress"] if has_payload)
    depths = [depth for _, (*depth, _) in seen["egress"]]
    assert all(waiting <= committed for waiting, committed in depths)
    assert max(waiting for waiting, _ in depths) > 10_000
    assert {reason for reason, _ in seen["on_tm_drop"]} == {hitless.DropReason.QUEUE_FULL}
    assert len(seen["tx"]) > 1_000
    assert seen["queue empty"]
    mirrored = sum(mine for _, (_, _, mine) in seen["egress"])
    assert 0 < mirrored < 100
    assert len(seen["tx"]) == len(seen["egress"]) - mirrored
    assert [row[1:] for row in counted(run)] == [("switch", "seen", len(watcher.seen)), ("port", "seen", 1)]


def test_a_hook_that_is_not_defined_is_not_subscribed_to():
    EgressOnly.calls = 0
    run = hitless.run(two_flows("egress-only-py"), mechanisms=[EgressOnly])
    assert EgressOnly.calls > 1_000
    assert run.summary.warnings == []


def test_the_same_seed_gives_the_same_run_and_another_seed_another():
    runs = [hitless.run(two_flows("coin-py"), mechanisms=[Coin], seed=seed) for seed in (1, 1, 2)]
    assert outcome(runs[0]) == outcome(runs[1])
    assert outcome(runs[0]) != outcome(runs[2])
    assert runs[0].summary.drops["given up by a mechanism"] > 0


def test_what_is_dropped_before_a_link_is_protected_is_not_repaired():
    load([EVERY_NTH])
    text = (ROOT / "examples/linkguardian-testbed.toml").read_text().replace("count = 10000", "count = 1000")
    alone = hitless.run(text)
    added = '\n[[mechanism]]\nkind = "every-nth-py"\nports = ["sw2->sw6"]\ndrop_every = 100\n'
    both = hitless.run(text + added)
    rows = counted(both)
    [dropped] = [value for name, _, counter, value in rows if (name, counter) == ("every-nth-py", "packets_dropped")]
    assert dropped > 5
    assert both.summary.drops["given up by a mechanism"] == dropped
    assert both.summary["trace_hash"] != alone.summary["trace_hash"]
    found = [value for _, _, counter, value in rows if counter == "packets_missing"]
    recovered = [value for _, _, counter, value in rows if counter == "packets_recovered"]
    assert sum(found) == sum(recovered) > 0


def raise_of_own(*_):
    raise LookupError("nothing is known of it")


@pytest.mark.parametrize("hook", ["__init__", "needs", "ingress", "egress", "tx", "on", "report"])
def test_an_error_in_a_hook_ends_the_run_with_its_traceback(hook):
    failing_class = failing(hook, raise_of_own, kind=f"failing-{hook.strip('_')}-py")
    with pytest.raises(MechanismFailed) as failed:
        hitless.run(two_flows(failing_class.kind), mechanisms=[failing_class])
    assert f"raised LookupError in {hook}: nothing is known of it" in str(failed.value)
    assert "in raise_of_own" in str(failed.value)
    assert isinstance(failed.value.__cause__, LookupError)


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (lambda self, context: None, "Verdict"),
        (lambda self, context: hitless.Verdict.forward(99, 0), "no port 99"),
        (lambda self, context: hitless.Verdict.forward(0, 9), "no queue 9"),
        (lambda self, context: context.queue(context.port, 0).bytes, "was not asked for"),
        (lambda self, context: context.wake_at(0, 1), "is over"),
    ],
)
def test_what_a_switch_cannot_do_is_an_error_of_the_hook(body, wanted):
    failing_class = failing("egress", body, kind="impossible-py")
    with pytest.raises(MechanismFailed, match=wanted):
        hitless.run(two_flows("impossible-py"), mechanisms=[failing_class])


def test_a_context_is_no_good_after_its_hook():
    kept = []

    def egress(self, context):
        if kept:
            kept[0].packet.mark_congestion()
        kept.append(context)
        return hitless.Verdict.CONTINUE

    hitless.run(two_flows("keeping-py"), mechanisms=[failing("egress", egress, kind="keeping-py")])
    with pytest.raises(RuntimeError, match="for its hook only"):
        kept[0].wake_at(10**15, 1)


@pytest.mark.parametrize(
    ("settings", "field", "rule"),
    [
        ({"drop_every": "many"}, "mechanism[0].drop_every", "must be a number"),
        ({"drop_every": -1}, "mechanism[0].drop_every", "must be at least 0"),
        ({"drop_evry": 3}, "mechanism[0].drop_evry", "did you mean `drop_every`?"),
        ({"ports": ["left->nowhere"]}, "mechanism[0].ports[0]", "nowhere"),
        ({"ports": "left"}, "mechanism[0].ports", "must be a list"),
    ],
)
def test_settings_that_cannot_be_are_findings_of_the_scenario(settings, field, rule):
    load([EVERY_NTH])
    with pytest.raises(RefusedScenario) as refused:
        hitless.run(two_flows("every-nth-py", **settings))
    assert field in str(refused.value)
    assert rule in str(refused.value)
    assert "scenario:" in str(refused.value)


def test_what_is_missing_and_what_the_dataclass_refuses_are_findings_too():
    register([Coin])
    with pytest.raises(RefusedScenario, match=r"mechanism\[0\].*a share is from 0 to 1, and 1.5 is none"):
        hitless.run(two_flows("coin-py", share=1.5))
    with pytest.raises(RefusedScenario, match=r"(?s)mechanism\[0\].ports.*must be given"):
        hitless.run(two_flows("coin-py", ports=None))


def test_a_kind_that_is_taken_is_refused():
    with pytest.raises(BadInput, match='of the kind "linkguardian" already'):
        register([failing("egress", raise_of_own, kind="linkguardian")])
    register([failing("egress", raise_of_own, kind="taken-py")])
    with pytest.raises(BadInput, match='of the kind "taken-py" already'):
        register([failing("ingress", raise_of_own, kind="taken-py")])


@pytest.mark.parametrize(("word", "known"), [("stage", Stage), ("claims", Claim)])
def test_stages_and_claims_are_those_of_the_simulator(word, known):
    wrong = types.new_class("Wrong", (hitless.Mechanism[Ports],), {"kind": "wrong-py", word: ["none"]})
    wrong.stage = wrong.stage[0] if word == "stage" else wrong.stage
    with pytest.raises(BadInput) as refused:
        register([wrong])
    assert re.findall(r"`([a-z-]+)`", str(refused.value)) == ["none", *typing.get_args(known)]


def test_a_class_that_is_defined_again_takes_the_place_of_the_earlier_one():
    for share in (0.0, 1.0):

        def egress(self, context, share=share):
            return hitless.Verdict.drop() if share else hitless.Verdict.CONTINUE

        run = hitless.run(two_flows("again-py"), mechanisms=[failing("egress", egress, kind="again-py")])
        assert (run.summary.drops.get("given up by a mechanism", 0) > 0) == (share == 1.0)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x = 1\n", "defines no mechanism"),
        ("def f(:\n", "line 1"),
        ("\nimport no_such_module\n", "line 2"),
        ("import hitless\nclass A(hitless.Mechanism, kind='a-py'): ...\n", "its settings are missing"),
        ("import hitless\nclass A(hitless.Mechanism[dict], kind='b-py'): ...\n", "dataclass"),
        ("import hitless\nclass A(hitless.Mechanism[dict]): ...\n", "has no kind"),
        (
            "import dataclasses, hitless\n@dataclasses.dataclass\nclass S:\n    ports: dict\n"
            "class A(hitless.Mechanism[S], kind='c-py'): ...\n",
            "a type that a scenario cannot hold",
        ),
        (
            "import dataclasses, hitless\n@dataclasses.dataclass\nclass S:\n    where: str\n"
            "class A(hitless.Mechanism[S], kind='d-py'): ...\n",
            'no list of texts "ports"',
        ),
        (
            "import dataclasses, hitless\n@dataclasses.dataclass\nclass S:\n    ports: list[str]\n"
            "class A(hitless.Mechanism[S], kind='e-py', stage='somewhere'): ...\n",
            "unknown variant `somewhere`",
        ),
    ],
)
def test_a_file_without_a_mechanism_is_refused_with_the_reason(tmp_path, text, wanted):
    file = tmp_path / "mine.py"
    file.write_text(text)
    with pytest.raises(BadInput, match=wanted):
        load([file])


def test_the_command_line_checks_and_runs(tmp_path):
    scenario = tmp_path / "mine.toml"
    scenario.write_text(two_flows("every-nth-py", drop_every=50))
    checked = warm.hitless("scenario", "check", scenario, "--mechanism", EVERY_NTH)
    assert "mark_every = 0" in checked.stdout
    without = warm.hitless("scenario", "check", scenario, code=2)
    assert "must be one of" in without.stderr
    warm.hitless("run", scenario, "--mechanism", EVERY_NTH, "--out", tmp_path / "out")


def test_the_command_line_shows_the_traceback_of_a_hook(tmp_path):
    scenario, mechanism = tmp_path / "mine.toml", tmp_path / "mine.py"
    scenario.write_text(two_flows("every-nth-py", drop_every=50))
    mechanism.write_text(EVERY_NTH.read_text().replace("self.dropped += 1", "self.droped += 1"))
    arguments = ["run", scenario, "--mechanism", mechanism, "--out", tmp_path / "out"]
    done = warm.hitless(*arguments, code=1, traceback=True)
    assert "every-nth-py raised AttributeError in egress" in done.stderr
    assert "self.droped += 1" in done.stderr
    assert "internal error" not in done.stderr
