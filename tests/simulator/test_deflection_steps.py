"""Single steps of deflection: figure 15 of its paper, and the fairness of the scan for a free port."""

import pytest

from hitless.deflection import RelativePriorities, ScanCounts
from hitless.errors import BadInput
from hitless.simulation import Work
from hitless_papers.deflection.example import EARLIER, LAST, QUEUE, WINDOW


def test_the_last_packet_of_figure_15_has_these_two_relative_priorities():
    step = RelativePriorities(ranks=(*EARLIER, LAST), window=WINDOW, queue_packets=QUEUE)
    assert isinstance(step, Work)
    last = step.job(file_name="figure 15", seed=1).run().table("relative_priorities").row(-1, named=True)
    assert last == {"rank": 2, "quantile": 0.25, "distribution": pytest.approx(0.486583, abs=1e-6)}


def test_the_scan_counts_each_draw_once_and_repeats_with_its_seed():
    counts = {}
    for start in ("uniform", "five-bit"):
        work = ScanCounts((0.5, 0.5, 0.5, 0.5), draws=10_000, start=start)
        first, second = (work.job(file_name="scan", seed=3).run().table("scan") for _ in range(2))
        assert first.equals(second)
        assert first["chosen"].sum() == 10_000
        counts[start] = dict(first.iter_rows())
    assert counts["uniform"][-1] == pytest.approx(10_000 / 16, abs=100)
    assert counts["uniform"][0] == pytest.approx(10_000 * 15 / 64, abs=170)
    assert counts["five-bit"][0] > 1.5 * counts["uniform"][0]


def test_what_means_nothing_is_refused():
    with pytest.raises(BadInput, match="at least one entry"):
        RelativePriorities((1,), window=0, queue_packets=1).job(file_name="", seed=1).run()
    with pytest.raises(BadInput, match="between 0 and 1"):
        ScanCounts((1.5,), draws=1).job(file_name="", seed=1).run()
