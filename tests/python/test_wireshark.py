"""The dissector on frames from our encoder."""

import shutil
import struct
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DISSECTOR = ROOT / "packaging" / "wireshark" / "hitless.lua"
FRAMES = ROOT / "fuzz" / "corpus" / "link"
TSHARK = shutil.which("tshark")

SUMMARIES = {
    "acknowledgement": "Ack 9",
    "data_and_acknowledgement": "Data 7, Ack 9",
    "dummy": "Dummy 7",
    "longest_gap": "Ack 3000, Lost 255 from 8",
    "pause": "Pause class 7",
    "resume": "Resume class 0",
    "retransmission": "Repair 7",
}


def capture(frames: list[bytes], path: Path) -> None:
    """Write a pcap file with Ethernet frames."""
    records = [struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame for frame in frames]
    path.write_bytes(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 1) + b"".join(records))


def dissect(path: Path, *arguments: str) -> list[str]:
    """Return the output of tshark for each frame."""
    assert TSHARK is not None
    command = [TSHARK, "-X", f"lua_script:{DISSECTOR}", "-r", str(path), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout.splitlines()


@pytest.mark.skipif(TSHARK is None, reason="tshark is not installed (Debian: apt-get install tshark)")
def test_every_shape_of_a_link_frame_is_dissected(tmp_path: Path) -> None:
    names = sorted(path.name for path in FRAMES.iterdir() if len(path.name) < 40)
    file = tmp_path / "link.pcap"
    capture([(FRAMES / name).read_bytes() for name in names], file)
    lines = dissect(file, "-T", "fields", "-e", "_ws.col.Info", "-e", "hitless.version")
    assert len(lines) == len(names)
    for name, line in zip(names, lines, strict=True):
        info, version = line.rsplit("\t", 1)
        assert version == "1", name
        assert info.startswith(SUMMARIES.get(name, "")), name
    assert dissect(file, "-Y", "hitless.malformed") == []


@pytest.mark.skipif(TSHARK is None, reason="tshark is not installed (Debian: apt-get install tshark)")
def test_what_is_not_version_1_is_marked(tmp_path: Path) -> None:
    good = (FRAMES / "data").read_bytes()
    damaged = [
        good[:14] + b"\x02" + good[15:],
        good[:18],
        good[:16] + b"\x0b" + good[17:],
        good[:21] + b"\xff" + good[22:],
    ]
    file = tmp_path / "damaged.pcap"
    capture([good, *damaged], file)
    marked = dissect(file, "-Y", "hitless.malformed", "-T", "fields", "-e", "frame.number")
    assert marked == ["2", "3", "4", "5"]
