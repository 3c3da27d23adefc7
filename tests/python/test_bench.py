"""Reading callgrind's output."""

import pytest

from hitless import bench
from hitless.errors import HitlessError


@pytest.mark.parametrize("text", ["events: Ir\nfn=(1)\n1 2\ntotals: 123456\n", "summary: 123456\nevents: Ir\n"])
def test_the_total_is_found(text):
    assert bench.parse_callgrind_total(text) == 123_456


def test_output_without_a_total_is_an_error():
    with pytest.raises(HitlessError):
        bench.parse_callgrind_total("events: Ir\n")


def test_start_up_cancels(monkeypatch):
    monkeypatch.setattr(bench, "require_valgrind", lambda: None)

    def counted(call, what):
        fraction = float(call.split(", ")[1])
        return 5_000_000 + int(fraction * 200_000_000), {"transmissions": int(fraction * 1e6)}

    monkeypatch.setattr(bench, "_counted", counted)
    assert bench.instructions_per_transmission("A", 1) == pytest.approx(200.0)
