"""Names, states and rates of a lab's links, as people type and read them, without a lab."""

import errno
import fcntl
import os
import re
import threading

import pytest

from hitless.errors import BadInput, HitlessError
from hitless.lab import control, registry
from hitless.lab.links import LinkNames, LinkStates
from hitless.lab.plan import LabLinkPlan
from hitless.lab.rates import require_rates, scaled
from hitless.live import check_live
from labs import CHAIN

LOSSY = """
[[link]]
name = "sw1->sw2"
loss = { kind = "bernoulli", rate = 1e-3 }
[[mechanism]]
kind = "linkguardian"
link = "sw1->sw2"
"""


def links(*names):
    ends = (name.split("->") for name in names)
    return [LabLinkPlan(name=f"{a}->{b}", reverse=f"{b}->{a}", ends=(a, b), rates_bps=(1, 1)) for a, b in ends]


NAMES = LinkNames(links("h1->sw1", "sw1->sw2", "left-a->right-b", "left->a-right-b"))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("sw1-sw2", "sw1->sw2"),
        ("sw2-sw1", "sw2->sw1"),
        ("sw1->sw2", "sw1->sw2"),
        ("sw1<->sw2", "sw1<->sw2"),
        ("left-a->right-b", "left-a->right-b"),
    ],
)
def test_lab_corrupt_sw1_sw2_of_the_help_names_a_link(typed, meant):
    """Regression: "'sw1-sw2' is no name of a link", for the help's own example."""
    assert NAMES.find(typed) == meant


def test_a_name_that_a_hyphen_leaves_open_is_to_be_written_with_its_arrow():
    with pytest.raises(BadInput, match=r"left-a->right-b|left->a-right-b"):
        NAMES.find("left-a-right-b")


def test_a_redirection_that_the_shell_made_of_an_arrow_is_said():
    with pytest.raises(BadInput, match="has created one: type sw1-NODE"):
        NAMES.find("sw1-")


def test_the_state_of_a_link_is_the_scenarios_and_then_what_commands_made_of_it():
    scenario = check_live(CHAIN.format(rate="100 Mbps") + LOSSY, "chain.toml").effective
    states = LinkStates(scenario, links("h1->sw1", "sw1->sw2"))
    assert states.described() == {"sw1->sw2": "loses 0.001; protected (blocking)"}
    states.follow(control.Corrupt(link="sw1-sw2", rate=0.01, mean_burst_frames=4.0), "sw1<->sw2")
    states.follow(control.Protect(link="sw1-sw2", copies=2), "sw1->sw2")
    states.follow(control.Fail(link="h1-sw1"), "h1->sw1")
    assert states.described() == {
        "h1->sw1": "failed",
        "sw1->h1": "failed",
        "sw1->sw2": "loses 0.01 in bursts of 4; protected (blocking, 2 copies)",
        "sw2->sw1": "loses 0.01 in bursts of 4",
    }
    states.follow(control.Repair(link="h1-sw1"), "sw1->h1")
    states.follow(control.Corrupt(link="sw1-sw2", rate=0.0), "sw1<->sw2")
    states.follow(control.Unprotect(link="sw1-sw2"), "sw1->sw2")
    assert states.described() == {}


def test_a_rate_that_the_machine_cannot_forward_is_refused_with_one_that_it_can():
    with pytest.raises(HitlessError, match=r"--scale-rates 0\.001 makes all links 1,000 times slower"):
        require_rates({"self_test": {"asked_per_s": 800_000.0, "forwarded_per_s": 2_000.0}})
    require_rates({"self_test": {"asked_per_s": 800.0, "forwarded_per_s": 2_000.0}})
    require_rates({"self_test": None})


def test_scaled_rates_are_those_of_links_and_nothing_else():
    text = scaled(CHAIN.format(rate="10 Gbps") + LOSSY, 0.01, "chain.toml")
    effective = check_live(text, "chain.toml").effective
    assert effective["topology"]["host_link"]["rate"] == "100 Mbps"
    assert effective["link"][0]["loss"]["rate"] == 1e-3
    assert effective["topology"]["host_link"]["delay"] == "5 us"


def test_a_lock_of_another_user_is_said_with_what_to_do(tmp_path, monkeypatch):
    """Regression: an internal error, "Permission denied"."""

    def refuse(*_arguments):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(registry, "run_folder", lambda: tmp_path)
    monkeypatch.setattr(registry.os, "open", refuse)
    with pytest.raises(BadInput) as caught, registry.lock(registry.Place("mine")):
        pass
    assert re.search(r"cannot be taken: Permission denied\n.*mine\.lock\n.*another user", str(caught.value))


def test_a_lock_that_a_dying_process_still_holds_is_waited_for(tmp_path, monkeypatch):
    """Regression: `lab down` right after `kill -9` said "the lab is up, or about to be", and left the remains."""
    monkeypatch.setattr(registry, "run_folder", lambda: tmp_path)
    place = registry.Place("mine")
    held = os.open(place.lock, os.O_RDWR | os.O_CREAT)
    fcntl.flock(held, fcntl.LOCK_EX)
    release = threading.Timer(0.3, os.close, [held])
    release.start()
    with registry.lock(place):
        assert not release.is_alive()
    assert not place.lock.exists()


def test_a_lock_of_somebody_who_keeps_it_is_not_waited_for_long(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "run_folder", lambda: tmp_path)
    monkeypatch.setattr(registry, "_PATIENCE_S", 0.1)
    place = registry.Place("mine")
    held = os.open(place.lock, os.O_RDWR | os.O_CREAT)
    fcntl.flock(held, fcntl.LOCK_EX)
    with pytest.raises(registry.Held, match="is up, or about to be"), registry.lock(place):
        pass
    os.close(held)
