"""A recorded lab is repeated in simulation: the same decisions, packet by packet."""

import json

import pytest

from labs import chain
from test_cut_link import SQR, square
from test_fairness import dumbbell
from test_lossy_link import lossy_and_guarded
from traffic import Iperf, Stream
from warm import hitless


def replayed(file):
    return json.loads(hitless("lab", "replay", file, "--json", code=None).stdout)


def guarded(lab, folder, recording):
    lab.up(chain(folder, "100 Mbps", lossy_and_guarded(1e-2)), "--record", recording)
    lab.tell("protect", "sw1->sw2", "--copies", 3)
    lab.tell("corrupt", "sw1->sw2", 0.05)


def cut(lab, folder, recording):
    lab.up(square(folder, SQR), "--record", recording)
    lab.tell("fail", "left<->right")


def fair(lab, folder, recording):
    lab.up(dumbbell(folder, fair=True), "--record", recording)


@pytest.mark.parametrize("begin", [guarded, cut, fair])
def test_a_replay_decides_as_the_lab_did(lab, tmp_path, begin):
    recording = tmp_path / "recording"
    begin(lab, tmp_path, recording)
    iperf = Iperf(lab)
    stream = Stream(lab, lab.address("h2"), count=500, rate_pps=500)
    iperf.measure(1)
    stream.received()
    iperf.end()
    status = lab.status()
    lab.down()
    found = replayed(recording)
    assert found["divergence"] is None
    assert found["is_complete"]
    assert found["arrivals"] >= status["frames_entered"] > 1_000
    assert found["equal_decisions"] > found["arrivals"], "a frame is decided on more than once"
    assert found["commands"] == {guarded: 2, cut: 1, fair: 0}[begin]


def test_a_changed_recording_is_found_out(lab, tmp_path):
    """This shows that the comparison can fail."""
    recording = tmp_path / "recording"
    guarded(lab, tmp_path, recording)
    Stream(lab, lab.address("h2"), count=300, rate_pps=500).received()
    lab.down()
    whole = recording.read_bytes()
    # Another seed of the random streams, in the scenario at the start of the recording: other frames are lost.
    assert b"seed = 1\\n" in whole
    recording.write_bytes(whole.replace(b"seed = 1\\n", b"seed = 2\\n", 1))
    assert replayed(recording)["divergence"] is not None


def test_what_is_no_recording_is_told(tmp_path):
    file = tmp_path / "file"
    file.write_text("something else")
    for path in (file, tmp_path / "none"):
        done = hitless("lab", "replay", path, code=2)
        assert str(path) in done.stderr
