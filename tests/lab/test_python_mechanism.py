"""A mechanism as a Python class, in a lab: the process that runs the switches imports it."""

from pathlib import Path

from labs import chain
from traffic import Stream, mechanism
from warm import hitless

EVERY_NTH = Path(__file__).resolve().parents[2] / "examples/mechanisms/every_nth.py"
ENTRY = """
[[mechanism]]
kind = "every-nth-py"
ports = ["sw1->sw2"]
drop_every = 5
"""


def test_it_drops_packets_of_real_programs_and_a_replay_decides_the_same(lab, tmp_path):
    recording = tmp_path / "lab.recording"
    lab.up(chain(tmp_path, more=ENTRY), "--mechanism", EVERY_NTH, "--record", recording)
    stream = Stream(lab, lab.address("h2"), 200, 500)
    received = stream.received()
    dropped = mechanism(lab, "packets_dropped")
    assert 200 - len(received) <= dropped
    assert 30 <= dropped <= 60
    lab.down()
    replayed = hitless("lab", "replay", recording, "--mechanism", EVERY_NTH, timeout=300)
    assert " 0 equal decisions" not in replayed.stdout


def test_an_error_in_a_hook_is_told_with_its_traceback(lab, tmp_path):
    file = tmp_path / "failing.py"
    file.write_text(EVERY_NTH.read_text().replace("self.dropped += 1", "self.droped += 1"))
    done = lab.up(chain(tmp_path, more=ENTRY), "--mechanism", file, code=1, traceback=True)
    assert "every-nth-py raised AttributeError in egress" in done.stderr
    assert "self.droped += 1" in done.stderr
    assert lab.left_behind() == []
