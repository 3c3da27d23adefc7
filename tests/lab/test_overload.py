"""The state of a service that could not keep up for a while, and warnings in terms of its settings."""

from hitless.live import Status
from hitless.switch import status as module
from hitless.switch.link import LinkPlan, with_settings

PORT = {"departures": {"misses": 0}, "frames_overrun": 0, "frames_refused": 0, "frames_merged": 0, "returns": 0}


def status(misses, **of_port):
    return Status({"is_overloaded": True, "timers": {"misses": misses}, "ports": [PORT | of_port]})


def test_an_overload_ends_after_a_quiet_minute_and_the_count_stays(monkeypatch):
    now_s = 1_000.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now_s)
    followed = module.Overload()
    assert followed.settled(status(5)).is_overloaded
    now_s += module.QUIET_S + 1
    settled = followed.settled(status(5))
    assert (settled.is_overloaded, settled.misses) == (False, 5)
    assert followed.settled(status(6)).is_overloaded, "another one was missed"
    now_s += module.QUIET_S + 1
    assert followed.settled(status(6, failed="eth1: gone")).is_overloaded, "an interface is gone"


def test_the_warning_of_a_slow_machine_names_a_setting_of_the_link():
    plan = LinkPlan("eth1", "eth2", 10**9, 100.0, 1e-3, 1e-8, "blocking")
    foreign = "ack_no_timeout of here->there is 5.2 ms, and crosses a real link twice; this machine wakes up to ..."
    test = {"warnings": [foreign, "other"], "wake_up": {"worst_ns": 5_128_000}}
    told = with_settings(Status({"warnings": ["late", foreign, "other"], "self_test": test}), plan).warnings
    assert told[:2] == ["late", "other"]
    assert told[2].endswith('both ends have 5 ms to answer: --answer "11 ms" at both ends')
    unchanged = Status({"warnings": ["late"], "self_test": None})
    assert with_settings(unchanged, plan) is unchanged
