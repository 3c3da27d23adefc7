"""hitless bench live: the parts that work without a network."""

import json
from typing import Any

import pytest

from hitless.bench_live.devices import devices
from hitless.bench_live.measure import lossless_rate, per_second, read_iperf3
from hitless.bench_live.run import _add_delays, chosen
from hitless.errors import BadInput, HitlessError


def fake_stream(capacity_pps: float, unlucky: int = 0) -> Any:
    """A device that loses everything above its capacity, and a frame in each of the first ``unlucky`` trials."""
    trials = 0

    def stream(rate_pps: float | None, duration_s: float) -> dict[str, Any]:
        nonlocal trials
        trials += 1
        rate = 2 * capacity_pps if rate_pps is None else rate_pps
        sent = round(rate * duration_s)
        lost = max(0, round((rate - capacity_pps) * duration_s)) + (1 if trials <= unlucky else 0)
        return {"frames_sent": sent, "sent_elapsed_ns": round(duration_s * 1e9), "frames_lost": lost}

    return stream


@pytest.mark.parametrize("capacity", [1_000.0, 400_000.0, 1_200_000.0])
def test_the_search_ends_near_the_capacity(capacity: float) -> None:
    found = lossless_rate(fake_stream(capacity), 1.0, capacity * 1.05)
    assert 0.97 * capacity < found <= capacity + 1


def test_one_lost_frame_of_the_machine_does_not_halve_the_rate() -> None:
    assert lossless_rate(fake_stream(1e6, unlucky=1), 1.0, 1e6) > 0.97e6


def test_what_loses_always_has_no_lossless_rate() -> None:
    assert lossless_rate(fake_stream(1e6, unlucky=1000), 1.0, 1e6) == 0.0


def test_a_rate_over_no_time_is_none() -> None:
    assert per_second(0, 0) == 0.0
    assert per_second(5, 500_000_000) == 10.0


def test_iperf3_is_read() -> None:
    end = {"sum_received": {"bits_per_second": 6.3e9}, "sum_sent": {"retransmits": 219}}
    assert read_iperf3(json.dumps({"end": end})) == {"throughput_bps": 6.3e9, "retransmissions": 219}


@pytest.mark.parametrize(
    ("text", "message"), [("", "is unreadable"), ('{"error": "unable to connect"}', "unable to connect")]
)
def test_what_iperf3_could_not_do_is_told(text: str, message: str) -> None:
    with pytest.raises(HitlessError, match=message):
        read_iperf3(text)


def test_names_choose_and_the_wire_is_always_measured() -> None:
    assert [device.name for device in chosen(["BRIDGE"])] == ["wire", "kernel bridge"]
    assert chosen([]) == devices()
    with pytest.raises(BadInput, match="no device matches 'ovs'"):
        chosen(["ovs"])


def test_names_of_devices_are_unique() -> None:
    names = [device.name for device in devices()]
    assert len(names) == len(set(names))


def test_the_delay_of_the_wire_is_taken_off() -> None:
    rows: list[dict[str, Any]] = [
        {"device": "wire", "delay_ns": {"p50": 1000, "p99_9": 4000}},
        {"device": "bridge", "delay_ns": {"p50": 1500, "p99_9": 5000}},
        {"device": "broken", "failed": "no"},
    ]
    _add_delays(rows)
    assert rows[1]["added_delay_ns"] == {"p50": 500, "p99_9": 1000}
    assert "added_delay_ns" not in rows[2]
