"""`hitless lab list`: a line for each lab at any width."""

from types import SimpleNamespace

import pytest

from hitless.cli import lab
from hitless.lab import client
from hitless.terminal.console import stdout

SCENARIO = "/home/someone/experiments/2026/testbed-of-the-paper/lossy-link-with-linkguardian.toml"


def listed(name, hosts, *, is_up):
    record = SimpleNamespace(
        plan=SimpleNamespace(name=name, hosts=["h"] * hosts),
        started_at="2026-11-28 08:20:00",
        owner="someone",
        scenario=SCENARIO,
    )
    return client.Listed(record, is_up)


@pytest.mark.parametrize("width", [20, 80, 200])
def test_every_lab_has_one_line_and_its_path_stays_whole(width, monkeypatch, capsys):
    monkeypatch.setattr(client, "listed", lambda: [listed("first", 2, is_up=True), listed("b", 320, is_up=False)])
    monkeypatch.setattr(stdout, "_width", width)
    lab.show_list(json=False)
    header, first, second = capsys.readouterr().out.splitlines()
    assert header.split() == ["lab", "state", "since", "owner", "hosts", "scenario"]
    assert first.split()[:2] == ["first", "up"]
    assert second.startswith("b      its process is gone  2026-11-28 08:20:00  someone  320    /home/")
    assert all(line.index(SCENARIO) == header.index("scenario") for line in (first, second))
