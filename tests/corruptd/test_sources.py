"""Counters of this machine's kernel, recorded answers of others, SONiC's hashes in a real Redis."""

import os
import shutil
import struct
import subprocess
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitless.corruptd.redis_bus import RedisSettings
from hitless.corruptd.sources import NoReading, SwitchSource, netlink
from hitless.corruptd.sources.linux import LinuxSource, SysfsSource, parse_number
from hitless.corruptd.sources.netlink import BadNetlink, EthtoolNetlink, attribute
from hitless.corruptd.sources.sonic import SonicSource, parse_counters
from hitless.corruptd.window import Reading

# The answer to STATS_GET, laid out by hand from linux/ethtool_netlink.h: generic header; header with index and name;
# the group eth-mac with its number, its string set, and the statistics 3 (frames), 6 (errors) and 14.
MAC_ANSWER = bytes.fromhex(
    "21010000"
    "18000280" "0800010002000000" "090002006574683000000000"
    "44000480" "0800020001000000" "0800030011000000"
    "10000480" "0c000300" "141a99be1c000000"
    "10000480" "0c0006002a00000000000000"
    "10000480" "0c000e000f27000000000000"
)  # fmt: skip
FEC_ANSWER = bytes.fromhex(
    "1e010000"
    "24000580"
    "0c0002000700000000000000"
    "14000300" "0300000000000000" "0100000000000000"
)  # fmt: skip


def test_frames_and_errors_are_found_in_an_answer():
    assert netlink.parse_mac_statistics(MAC_ANSWER) == netlink.MacStatistics(123_456_789_012, 42)
    assert netlink.parse_fec_uncorrectable(FEC_ANSWER) == 3, "the total; the lanes follow"


def test_a_driver_without_these_counters_answers_with_an_empty_group():
    group = attribute(4, attribute(2, struct.pack("=I", 1)), nested=True)
    assert netlink.parse_mac_statistics(bytes(4) + group) == netlink.MacStatistics(None, None)


def test_another_group_is_not_taken_for_the_mac():
    group = attribute(2, struct.pack("=I", 3)) + attribute(4, attribute(3, struct.pack("=Q", 1)), nested=True)
    assert netlink.parse_mac_statistics(bytes(4) + attribute(4, group, nested=True)) == netlink.MacStatistics()


@pytest.mark.parametrize(
    "parse",
    [
        netlink.parse_mac_statistics,
        netlink.parse_fec_uncorrectable,
        netlink.parse_family,
        netlink.refuse_error,
        lambda data: list(netlink.messages(data)),
        lambda data: list(netlink.attributes(data)),
    ],
)
@given(data=st.data())
def test_any_bytes_give_a_result_or_the_one_error(parse, data):
    """Random bytes, and valid answers with a few bytes changed or cut off."""
    whole = data.draw(st.sampled_from([MAC_ANSWER, FEC_ANSWER, b""]) | st.binary(max_size=100))
    changed = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for at, value in data.draw(st.dictionaries(st.integers(0, 99), st.integers(0, 255), max_size=4)).items():
        if at < len(changed):
            changed[at] = value
    with suppress(BadNetlink):
        parse(bytes(changed))


def test_the_kernel_of_this_machine_answers():
    """lo lacks MAC counters, so the answer omits them; a missing interface is an error."""
    try:
        with EthtoolNetlink() as kernel:
            found = kernel.mac_statistics("lo")
            assert found == netlink.MacStatistics(None, None)
            assert kernel.fec_uncorrectable("lo") is None
            with pytest.raises(BadNetlink, match="No such device"):
                kernel.mac_statistics("nosuch0")
            assert kernel.mac_statistics("lo") == found, "and the socket still works"
    except OSError as failed:
        pytest.skip(f"no generic netlink here: {failed}")
    except BadNetlink as refused:
        pytest.skip(f"this kernel has no such statistics: {refused}")


@pytest.fixture
def veth():
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("making an interface needs root and the program ip")
    name = f"hl{os.getpid() % 100_000}"
    made = subprocess.run(["ip", "link", "add", name, "type", "veth", "peer", "name", f"{name}p"], check=False)
    if made.returncode != 0:
        pytest.skip("this machine lets nobody make interfaces")
    yield name
    subprocess.run(["ip", "link", "del", name], check=True)


def test_a_software_interface_is_refused_because_it_cannot_count_bad_frames(veth):
    """Its file rx_crc_errors always says 0, which would look like a perfect link."""
    assert Path(f"/sys/class/net/{veth}/statistics/rx_crc_errors").read_text() == "0\n"
    with pytest.raises(NoReading, match="software interface"):
        LinuxSource(veth).read()


def test_an_interface_of_hardware_is_read():
    hardware = sorted(path.name for path in Path("/sys/class/net").iterdir() if (path / "device").exists())
    if not hardware:
        pytest.skip("this machine has no network card")
    before, after = LinuxSource(hardware[0]).read(), LinuxSource(hardware[0]).read()
    assert after.frames_ok >= before.frames_ok >= 0


def make_interface(folder, packets="1000\n", errors="3\n", *, device=True):
    statistics = folder / "eth7" / "statistics"
    statistics.mkdir(parents=True)
    (statistics / "rx_packets").write_text(packets)
    (statistics / "rx_crc_errors").write_text(errors)
    if device:
        (folder / "eth7" / "device").mkdir()


def test_without_netlink_the_files_are_read(tmp_path):
    make_interface(tmp_path)
    assert SysfsSource("eth7", tmp_path).read() == Reading(1_000, 3, basis="files")


class Driver:
    """Replaces the kernel's answers over netlink; None is a driver without such counters."""

    def __init__(self, monkeypatch):
        self.mac, self.blocks = netlink.MacStatistics(2_000, 5), 7
        monkeypatch.setattr("hitless.corruptd.sources.linux.EthtoolNetlink", lambda: self)

    def __enter__(self):
        return self

    def __exit__(self, *_raised):
        pass

    def mac_statistics(self, interface):
        return self.mac

    def fec_uncorrectable(self, interface):
        return self.blocks


def test_a_driver_that_stops_telling_does_not_change_what_is_counted(tmp_path, monkeypatch):
    """The files start counting at another time: the difference would look like received frames."""
    make_interface(tmp_path)
    driver, source = Driver(monkeypatch), LinuxSource("eth7", sysfs=tmp_path)
    assert source.read() == Reading(2_000, 5, 7, "netlink")
    told, driver.mac = driver.mac, netlink.MacStatistics()
    with pytest.raises(NoReading, match="no longer reports"):
        source.read()
    driver.mac = told
    assert source.read() == Reading(2_000, 5, 7, "netlink")


def test_a_driver_that_begins_to_tell_does_not_change_what_is_counted(tmp_path, monkeypatch):
    make_interface(tmp_path)
    driver, source = Driver(monkeypatch), LinuxSource("eth7", sysfs=tmp_path)
    told, driver.mac = driver.mac, netlink.MacStatistics()
    assert source.read().basis == "files"
    driver.mac = told
    assert source.read().basis == "files"


def test_uncorrectable_blocks_are_never_left_out_unsaid(tmp_path, monkeypatch):
    make_interface(tmp_path)
    driver, source = Driver(monkeypatch), LinuxSource("eth7", count_fec=True, sysfs=tmp_path)
    assert source.read() == Reading(2_000, 12, 7, "netlink")
    driver.blocks = None
    with pytest.raises(NoReading, match="count_fec is set"):
        source.read()
    driver.mac = netlink.MacStatistics()
    with pytest.raises(NoReading, match="count_fec has no effect"):
        LinuxSource("eth7", count_fec=True, sysfs=tmp_path).read()


@pytest.mark.parametrize(("packets", "reason"), [("many\n", "not a counter"), ("-5\n", "not a counter")])
def test_files_with_something_else_are_no_reading(tmp_path, packets, reason):
    make_interface(tmp_path, packets)
    with pytest.raises(NoReading, match=reason):
        SysfsSource("eth7", tmp_path).read()


def test_an_interface_that_is_gone_is_no_reading(tmp_path):
    with pytest.raises(NoReading, match="there is no interface eth7"):
        SysfsSource("eth7", tmp_path).read()


@given(st.binary(max_size=40))
def test_any_content_of_a_file_is_a_counter_or_an_error(content):
    with suppress(ValueError):
        assert 0 <= parse_number(content) < 10**20


class Switch:
    def __init__(self, answer):
        self.answer = answer

    def receive_counters(self, link):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_a_switch_in_this_process_is_read():
    assert SwitchSource(Switch((90, 100)), "a->b").read() == Reading(90, 10)
    for answer in (ValueError("there is no node called 'a'"), (101, 100)):
        with pytest.raises(NoReading):
            SwitchSource(Switch(answer), "a->b").read()


SAI = {
    b"SAI_PORT_STAT_IF_IN_UCAST_PKTS": b"1000",
    b"SAI_PORT_STAT_IF_IN_NON_UCAST_PKTS": b"20",
    b"SAI_PORT_STAT_IF_IN_ERRORS": b"9",
    b"SAI_PORT_STAT_ETHER_STATS_CRC_ALIGN_ERRORS": b"7",
    b"SAI_PORT_STAT_IF_IN_FEC_NOT_CORRECTABLE_FRAMES": b"2",
}


@pytest.mark.parametrize(
    ("without", "count_fec", "expected"),
    [
        ([], False, Reading(1_020, 7, 2)),
        ([], True, Reading(1_020, 9, 2)),
        ([b"SAI_PORT_STAT_ETHER_STATS_CRC_ALIGN_ERRORS"], False, Reading(1_020, 9, 2)),
        ([b"SAI_PORT_STAT_IF_IN_NON_UCAST_PKTS"], False, Reading(1_000, 7, 2)),
    ],
)
def test_sonics_statistics_become_a_reading(without, count_fec, expected):
    fields = {name: value for name, value in SAI.items() if name not in without}
    assert without_basis(parse_counters("Ethernet0", fields, count_fec=count_fec)) == expected


def without_basis(reading):
    return replace(reading, basis="")


@pytest.mark.parametrize("name", [name for name in SAI if name != b"SAI_PORT_STAT_IF_IN_ERRORS"])
def test_a_counter_that_is_missing_once_does_not_change_what_is_counted(name):
    """Readings of 1,000 bad frames, then none, then 1,000 would count as 1,000 new ones."""
    before = parse_counters("Ethernet0", SAI, count_fec=True)
    fields = {**SAI, name: b"N/A"}
    with pytest.raises(NoReading, match=f"{name.decode()} and no longer has it"):
        parse_counters("Ethernet0", fields, count_fec=True, before=before.basis)


def test_a_counter_that_nobody_reads_may_come_and_go():
    before = parse_counters("Ethernet0", SAI, count_fec=False)
    fields = {**SAI, b"SAI_PORT_STAT_IF_IN_ERRORS": b"N/A", b"SAI_PORT_STAT_IF_IN_FEC_NOT_CORRECTABLE_FRAMES": b"N/A"}
    after = parse_counters("Ethernet0", fields, count_fec=False, before=before.basis)
    assert after == replace(before, fec_uncorrectable=None)


def test_sonic_without_uncorrectable_blocks_cannot_count_them():
    fields = {name: value for name, value in SAI.items() if b"FEC" not in name}
    with pytest.raises(NoReading, match="count_fec is set"):
        parse_counters("Ethernet0", fields, count_fec=True)


@given(st.dictionaries(st.sampled_from(sorted(SAI)), st.binary(max_size=25) | st.just(b"N/A")), st.booleans())
def test_any_hash_is_a_reading_or_the_one_error(fields, count_fec):
    with suppress(NoReading):
        assert parse_counters("Ethernet0", fields, count_fec=count_fec).frames_ok >= 0


def test_sonics_database_is_read_over_redis(redis_server):
    settings = RedisSettings(redis_server.url.removesuffix("0") + "2", password=redis_server.settings().password)
    source = SonicSource("Ethernet0", settings)
    with pytest.raises(NoReading, match="no port Ethernet0"):
        source.read()
    database = redis_server.client(database=2)
    database.hset("COUNTERS_PORT_NAME_MAP", "Ethernet0", "oid:0x1000000000012")
    with pytest.raises(NoReading, match="UCAST_PKTS"):
        source.read()
    database.hset("COUNTERS:oid:0x1000000000012", mapping=SAI)
    assert without_basis(source.read()) == Reading(1_020, 7, 2)
    database.hdel("COUNTERS:oid:0x1000000000012", "SAI_PORT_STAT_ETHER_STATS_CRC_ALIGN_ERRORS")
    with pytest.raises(NoReading, match="no longer has it"):
        source.read()
    redis_server.stop()
    with pytest.raises(NoReading, match="COUNTERS_DB"):
        source.read()
    redis_server.start()
    database.hset("COUNTERS_PORT_NAME_MAP", "Ethernet0", "oid:0x1000000000099")
    database.hset("COUNTERS:oid:0x1000000000099", mapping=SAI)
    assert without_basis(source.read()) == Reading(1_020, 7, 2), "by the object that the name means now"
