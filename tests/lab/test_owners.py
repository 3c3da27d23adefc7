"""Without --name, a command only uses a lab that the same user started."""

import json
import os
import re

import pytest

from hitless.errors import BadInput
from hitless.lab import registry
from hitless.lab.plan import make_plan
from labs import chain
from warm import hitless


@pytest.fixture
def records(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "run_folder", lambda: tmp_path)
    monkeypatch.setattr(registry, "current_user", lambda: "alice")

    def write(**owners):
        for name, owner in owners.items():
            plan = make_plan(name, ["h1", "h2"], [], [])
            more = {} if owner is None else {"owner": owner}
            record = registry.Record(
                plan=plan, pid=1, process_start_ticks=1, started_at="now", scenario="mine.toml", **more
            )
            registry.write(registry.Place(name), record)

    return write


def test_the_only_own_lab_is_the_default_whatever_others_run(records):
    records(mine="alice", other="bob")
    assert registry.choose(None) == "mine"
    assert registry.own_names() == ["mine"]
    assert registry.choose("other") == "other"


@pytest.mark.parametrize(
    ("owners", "told"),
    [
        ({}, "no lab is up"),
        ({"other": "bob"}, r"no lab of alice is up, but labs of other users: other \(of bob\)"),
        ({"old": None}, r"labs of other users: old \(of unknown\)"),
        ({"one": "alice", "other": "bob", "two": "alice"}, "several labs are up: one, two"),
    ],
)
def test_a_lab_of_another_user_is_named_and_not_used(records, owners, told):
    records(**owners)
    with pytest.raises(BadInput, match=told):
        registry.choose(None)


def test_a_record_that_is_not_valid_is_nobodys(records, tmp_path):
    records(mine="alice", broken="alice")
    (tmp_path / "broken" / "lab.json").write_text("{}")
    assert registry.choose(None) == "mine"


def test_with_sudo_the_owner_is_who_called_it(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("SUDO_USER", "carol")
    assert registry.current_user() == "carol"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert registry.current_user() != "carol"


def test_a_lab_belongs_to_the_user_who_started_it(lab, tmp_path):
    alice, bob = ({**os.environ, "SUDO_USER": f"{name}{os.getpid()}"} for name in ("alice", "bob"))
    lab.up(chain(tmp_path), env=alice)
    owner = alice["SUDO_USER"]
    assert "h1" in hitless("lab", "status", "--all", env=alice).stdout
    refused = hitless("lab", "status", env=bob, code=2)
    assert f"{lab.name} (of {owner})" in refused.stderr
    kept = hitless("lab", "down", "--all", env=bob)
    # Other tests may hold labs at the same time.
    assert re.search(rf"labs of other users stay: [^;]*\b{lab.name}\b", " ".join(kept.stderr.split()))
    listed = json.loads(hitless("lab", "list", "--json").stdout)
    assert [one["owner"] for one in listed if one["plan"]["name"] == lab.name] == [owner]
    hitless("lab", "down", env=alice)
    assert lab.left_behind() == []
