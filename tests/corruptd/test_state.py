import os
import re
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitless.corruptd import state
from hitless.corruptd.detection import OFF, Setting
from hitless.corruptd.protocol import EPOCH_AHEAD_NS
from hitless.corruptd.service import Service
from hitless.corruptd.state import SavedGuard, SavedWatch, State

SAVED = State(
    switch_id="sw6",
    epoch=7,
    watches={
        "sw2->sw6": SavedWatch(
            phase="protected", setting=Setting(2, "blocking"), held_s=3.5, last=(1_000, 3), samples=[(900, 3), (100, 0)]
        )
    },
    guards={"sw6->sw2": SavedGuard(setting=None, epoch=-1, sequence=-1, remaining_s=None)},
)


def test_a_state_survives_its_file(tmp_path):
    file = tmp_path / "state.json"
    state.save(file, SAVED)
    assert state.load(file) == SAVED
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


def test_no_file_is_no_state(tmp_path):
    assert state.load(tmp_path / "none") is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"version": 2}',
        SAVED.model_dump_json().encode()[:-9],
        re.sub(rb',"mode":"[a-z-]+"', b"", SAVED.model_dump_json().encode()),
    ],
)
def test_a_file_that_cannot_be_read_is_put_aside(tmp_path, content):
    file = tmp_path / "state.json"
    file.write_bytes(content)
    assert state.load(file) is None
    assert (tmp_path / "state.json.unreadable").read_bytes() == content
    assert not file.exists()


def test_a_crash_while_writing_leaves_the_old_state(tmp_path, monkeypatch):
    file = tmp_path / "state.json"
    state.save(file, SAVED)

    def crash(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(OSError, match="No space"):
        state.save(file, SAVED.model_copy(update={"epoch": 8}))
    assert state.load(file) == SAVED


@given(st.binary(max_size=200))
def test_any_bytes_are_a_state_or_the_one_error(content):
    with suppress(ValueError):
        state.parse(content)


@given(st.integers(0, 2**62), st.integers(0, 2**62))
def test_an_epoch_is_higher_than_the_last_unless_that_is_a_day_ahead_of_the_clock(last, unix_ns):
    before = SAVED.model_copy(update={"epoch": last})
    if last <= unix_ns + EPOCH_AHEAD_NS:
        assert state.next_epoch(before, unix_ns) > last
    else:
        assert state.next_epoch(before, unix_ns) == unix_ns, "what follows on it would be refused as implausible"
    assert state.next_epoch(None, unix_ns) == unix_ns


def test_two_starts_within_a_second_without_a_file_have_two_epochs(tmp_path):
    file = tmp_path / "corruptd.toml"
    file.write_text('[corruptd]\nswitch_id = "a"\n[[guard]]\nlink = "a->b"\ndownstream_switch_id = "b"\n')
    first, second = (Service(file).daemon.epoch for _ in range(2))
    assert first < second < 2**63, "and a message holds it"


def test_a_saved_epoch_that_fits_no_message_is_recovered_from(tmp_path):
    file, saved = tmp_path / "corruptd.toml", tmp_path / "state.json"
    file.write_text(
        f'[corruptd]\nswitch_id = "sw6"\nstate_file = "{saved}"\n'
        '[[guard]]\nlink = "sw6->sw2"\ndownstream_switch_id = "sw2"\n'
    )
    taken = SavedGuard(setting=OFF, epoch=2**63 - 1, sequence=1, remaining_s=604_800.0)
    state.save(saved, SAVED.model_copy(update={"epoch": 2**63 - 1, "guards": {"sw6->sw2": taken}}))
    daemon = Service(file).daemon
    assert abs(daemon.epoch - time.time_ns()) < 3_600 * 10**9
    guard = daemon.guards["sw6->sw2"].guard
    assert (guard.wanted, guard.latest, guard.expires_at_s) == (None, (-1, -1), float("inf"))


def test_a_new_epoch_is_saved_before_the_first_message(tmp_path, monkeypatch):
    file, saved = tmp_path / "corruptd.toml", tmp_path / "state.json"
    text = f'[corruptd]\nswitch_id = "a"\nstate_file = "{saved}"\n[metrics]\nport = 0\n'
    file.write_text(text + '[[guard]]\nlink = "a->b"\ndownstream_switch_id = "b"\n')
    service = Service(file)
    seen = []

    def step(_now_s):
        seen.append(state.load(saved).epoch)
        service.stop()
        return 0.0

    monkeypatch.setattr(service.daemon, "step", step)
    service.run()
    assert seen == [service.daemon.epoch]
