"""Captures of packets, read by an independent reader, by tshark and by tcpdump."""

import shutil
import struct
import subprocess
import zlib
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import hitless as hl
import pcapng
from hitless import _native
from warm import hitless
from worlds import dumbbell, ideal, world

DISSECTOR = Path(__file__).parents[2] / "packaging" / "wireshark" / "hitless.lua"
TSHARK, TCPDUMP = shutil.which("tshark"), shutil.which("tcpdump")
needs_tshark = pytest.mark.skipif(TSHARK is None, reason="tshark is not installed (Debian: apt-get install tshark)")
needs_tcpdump = pytest.mark.skipif(TCPDUMP is None, reason="tcpdump is not installed (Debian: apt-get install tcpdump)")

GROUPS = ("Malformed", "Checksum", "Protocol")
COMPLAINTS = " || ".join(["_ws.malformed", *(f'_ws.expert.group == "{group}"' for group in GROUPS)])

TRANSPORTS = {
    "tcp": {"kind": "tcp", "congestion": "dctcp", "handshake": True},
    "bolt": {"kind": "tcp", "congestion": "bolt"},
    "udp": {"kind": "udp", "rate": "3 Gbps"},
    "roce": {"kind": "roce", "dcqcn": {}},
    "packet-pair": {"kind": "packet-pair"},
    "uet": {"kind": "uet"},
}


def capture(**settings):
    return {"measure": {"capture": [settings]}}


def lossy(transport, size="200 KB", **settings):
    mechanisms = {"mechanism": [{"kind": "bolt"}]} if transport == "bolt" else {}
    kind = "constant-rate" if transport == "udp" else "requests"
    sizes = {} if transport == "udp" else {"size": size, "count": 2, "gap": "0 s"}
    return world(
        f"captured-{transport}",
        dumbbell(1, 1),
        ideal("200 KB", ecn={"threshold": "20 KB"}),
        {"transport": [{"name": transport, **TRANSPORTS[transport]}]},
        {
            "flows": [
                {
                    "name": "all",
                    "kind": kind,
                    "transport": transport,
                    "sources": ["h0"],
                    "destinations": ["h1"],
                    **sizes,
                }
            ]
        },
        {"link": [{"name": "left->right", "loss": {"kind": "bernoulli", "rate": 3e-2}}]},
        mechanisms,
        capture(**{"hosts": ["*"], "links": ["*"], **settings}),
        duration="2 ms",
    )


def captured(text, name="packets"):
    """Run a scenario and return its run, the content of a capture, and the same read."""
    run = hl.Scenario.from_text(text).run()
    content = run.captures[name]
    return run, content, pcapng.read(content)


def tshark(path, *arguments):
    command = [TSHARK, "-X", f"lua_script:{DISSECTOR}", "-r", str(path), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    return done.stdout.splitlines()


def ones_sum(content):
    content += b"\0" * (len(content) % 2)
    total = sum(struct.unpack(f">{len(content) // 2}H", content))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def datagram_of(packet):
    """Return the IPv4 packet of a frame with its payload, after a check of its checksums; None for other frames."""
    whole = packet.data + b"\0" * (packet.length - len(packet.data))
    if whole[12:14] != b"\x08\x00":
        return None
    header, length = whole[14:34], int.from_bytes(whole[16:18], "big")
    assert header[0] == 0x45
    assert 14 + length <= packet.length
    assert ones_sum(header) == 0xFFFF
    payload = whole[34 : 14 + length]
    pseudo = header[12:20] + bytes([0, header[9]]) + len(payload).to_bytes(2, "big")
    if header[9] == 6 or payload[6:8] != b"\0\0":
        assert ones_sum(pseudo + payload) == 0xFFFF
    return whole[14 : 14 + length]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_headers_and_checksums_of_each_transport_are_right(transport):
    run, _, file = captured(lossy(transport))
    datagrams = [datagram_of(packet) for packet in file.packets]
    assert len(datagrams) > 100
    assert None not in datagrams
    ends = Counter((one[12:16], one[16:20]) for one in datagrams)
    assert set(ends) == {(b"\x0a\0\0\x01", b"\x0a\0\0\x02"), (b"\x0a\0\0\x02", b"\x0a\0\0\x01")} or transport == "udp"
    assert file.interfaces[:2] == ["h0", "h1"]
    assert "left->right" in file.interfaces
    assert file.speeds[:2] == [10**10] * 2
    sent = run.table("links").filter(pl.col("link") == "h0->left")["frames_sent"].item()
    seen = [one for one in file.packets if one.interface == "h0" and one.flags == 2]
    assert abs(len(seen) - sent) <= 3, "some are in flight when the run ends"
    corrupted = run.table("links").filter(pl.col("link") == "left->right")["frames_corrupted"].item()
    marked = [one for one in file.packets if one.comment.startswith("corrupted on the link")]
    assert len(marked) == corrupted > 0
    assert {(one.interface, one.flags) for one in marked} == {("left->right", 1 << 24)}


def test_a_packet_has_one_identity_at_all_places():
    _, _, file = captured(lossy("tcp"))
    of = {}
    for packet in file.packets:
        of.setdefault(packet.identity, []).append(packet.interface)
    assert {identity >> 32 for identity in of} == {0}
    way = ["h0->left", "h0", "left->right", "right->h1", "h1"]
    assert any(set(places) == set(way) for places in of.values())


def test_roce_has_the_invariant_check_of_its_whole_packet():
    _, _, file = captured(lossy("roce", payload=True))
    datagrams = [datagram_of(packet) for packet in file.packets]
    assert all(packet.length == len(packet.data) for packet in file.packets)
    for one in datagrams[:200]:
        masked = bytearray(b"\xff" * 8 + one[:-4])
        for at in (1, 8, 10, 11, 26, 27, 32):
            masked[8 + at] = 0xFF
        assert zlib.crc32(bytes(masked)).to_bytes(4, "little") == one[-4:]
    opcodes = Counter(one[28] for one in datagrams)
    assert opcodes[0x0A] > opcodes[0x11] > 0


@needs_tshark
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_tshark_reads_each_transport_without_a_complaint(transport, tmp_path):
    path = tmp_path / "packets.pcapng"
    path.write_bytes(captured(lossy(transport, payload=True))[1])
    checks = ["-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
    assert tshark(path, *checks, "-Y", COMPLAINTS) == []
    protocols = {"tcp": "tcp", "bolt": "tcp", "udp": "udp", "roce": "infiniband"}
    known = protocols.get(transport, "hitless_transport")
    frames = len(tshark(path))
    notices = len(tshark(path, "-Y", "hitless_transport")) if transport == "bolt" else 0
    assert len(tshark(path, "-Y", known)) == frames - notices > 100


@needs_tshark
def test_tshark_counts_our_retransmissions(tmp_path):
    run, content, _ = captured(lossy("tcp", hosts=["h0"], links=[]))
    path = tmp_path / "packets.pcapng"
    path.write_bytes(content)
    ours = run.flows["packets_retransmitted"].sum()
    again = "tcp.analysis.retransmission || tcp.analysis.fast_retransmission || tcp.analysis.out_of_order"
    assert len(tshark(path, "-Y", f"({again}) && ip.src == 10.0.0.1")) == ours > 0
    assert tshark(path, "-Y", "tcp.analysis.zero_window || tcp.analysis.window_full") == []
    assert len(tshark(path, "-Y", "tcp.flags.syn == 1")) == 2


@needs_tshark
def test_headers_of_linkguardian_are_dissected(tmp_path):
    text = lossy("tcp") + '\n[[mechanism]]\nkind = "linkguardian"\nlink = "left->right"\n'
    run, content, file = captured(text)
    path = tmp_path / "packets.pcapng"
    path.write_bytes(content)
    assert tshark(path, "-Y", COMPLAINTS) == []
    repairs = tshark(path, "-Y", 'hitless.data.retransmitted == 1 && frame.interface_name == "left->right"')
    assert len(repairs) >= run.counter("packets_recovered", default=0)
    assert len(tshark(path, "-Y", "hitless.data.sequence && tcp.dstport == 5001")) > 50
    assert any("B in the simulation" in packet.comment for packet in file.packets)


@needs_tcpdump
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_tcpdump_reads_each_transport(transport, tmp_path):
    path = tmp_path / "packets.pcapng"
    _, content, file = captured(lossy(transport, payload=True, links=["left->right"], hosts=[]))
    path.write_bytes(content)
    command = [str(TCPDUMP), "-n", "-vv", "--number", "-r", str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    assert not [word for word in ("incorrect", "bad hdr", "[bad", "trunc") if word in done.stdout]
    assert len([line for line in done.stdout.splitlines() if " IP " in line]) == len(file.packets)


def test_a_run_writes_its_captures(tmp_path):
    scenario = tmp_path / "captured.toml"
    scenario.write_text(lossy("tcp", name="first", limit=10))
    done = hitless("run", str(scenario), "--out", str(tmp_path / "out"), "--json", code=0)
    assert "the capture first has the first 10 of" in done.stdout
    [path] = (tmp_path / "out").glob("**/*.pcapng")
    assert path.name == "first.pcapng"
    assert len(pcapng.read(path.read_bytes()).packets) == 10


def test_a_sweep_and_a_comparison_write_the_captures_of_each_run(tmp_path):
    scenario = hl.Scenario.from_text(lossy("tcp", limit=10))
    hl.sweep(scenario, {}, seeds=2, out=tmp_path / "sweep", progress=False)
    found = [path.relative_to(tmp_path).parts for path in sorted(tmp_path.glob("**/*.pcapng"))]
    assert found == [("sweep", "captures", f"point000000-seed{seed}", "packets.pcapng") for seed in (1, 2)]
    file = tmp_path / "captured.toml"
    file.write_text(lossy("tcp", limit=10))
    hitless("compare", file, file, "--seeds", "1", "--out", tmp_path / "compared", code=None)
    assert len(list((tmp_path / "compared").glob("**/packets.pcapng"))) == 2


def test_a_trimmed_packet_is_a_header_with_a_comment():
    text = lossy("uet", links=["right->h1"], hosts=[], protocols=["uet"])
    crowded = text.replace('"200 KB"', '"5 KB"', 1).replace("20 KB", "4 KB")
    trimming = '[[mechanism]]\nkind = "trimming"\ntrimmed_frame = "64 B"\nqueue = "20 KB"\n'
    run, _, file = captured(f"{crowded}\n{trimming}")
    trimmed = [one for one in file.packets if one.comment.startswith("payload trimmed by a switch; the frame had ")]
    assert len(trimmed) == run.flows["packets_trimmed"].sum() > 0
    assert all(one.length == 60 for one in trimmed)


def test_the_capture_of_an_example_is_complete():
    text = _native.scenario_example("incast")
    assert text is not None
    short = text.replace('duration = "50 ms"', 'duration = "1 ms"')
    run, _, file = captured(f'{short}\n[[measure.capture]]\nswitches = ["*"]\n')
    lost = sum(run.summary.drops.values())
    assert len([one for one in file.packets if one.comment.startswith("dropped: ")]) == lost


def test_a_packet_is_followed_from_place_to_place(tmp_path):
    scenario, out = tmp_path / "captured.toml", tmp_path / "out"
    scenario.write_text(lossy("tcp"))
    hitless("run", scenario, "--out", out)
    packets = hitless("trace", out, "--packet", "0").stdout.splitlines()
    assert "TCP 10.0.0.1:1024 > 10.0.0.2:5001, sequence 0" in packets[0], "the SYN"
    corrupted = next(line for line in packets if line.endswith(": corrupted on the link"))
    way = hitless("trace", out, "--packet", f"0:{int(corrupted.split()[0])}").stdout.splitlines()
    assert way[0].startswith("flow 0, packet ")
    assert [line.split("us  ")[-1].split() for line in way[1:]] == [
        ["h0", "sent"],
        ["h0->left", "arrived"],
        ["left->right", "corrupted", "on", "the", "link"],
    ]


@pytest.mark.parametrize(
    ("packet", "message"),
    [
        ("7", "no packet of flow 7 in the capture"),
        ("0:99999", "packet 99999 does not exist"),
        ("web:1", "'web:1' does not name a packet"),
        ("0:", "'0:' does not name a packet"),
    ],
)
def test_a_packet_that_is_not_there_is_refused(packet, message, tmp_path):
    path = tmp_path / "packets.pcapng"
    path.write_bytes(captured(lossy("tcp", limit=50))[1])
    assert message in hitless("trace", path, "--packet", packet, code=2).stderr
    path.write_bytes(b"nothing of the kind")
    assert "not a capture of a run" in hitless("trace", path, "--packet", "0", code=2).stderr
    path.unlink()
    assert "no capture of packets found" in hitless("trace", tmp_path, "--packet", "0", code=2).stderr
