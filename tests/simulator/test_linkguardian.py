"""LinkGuardian's exhibits compared with invariants that are independent of the paper."""

import polars as pl
import pytest

from hitless.analysis import poisson_interval
from hitless.simulation import Simulation
from hitless_papers import Context, Runs
from hitless_papers.linkguardian import basis, completion, testbed
from hitless_papers.linkguardian.over_time import PARTS, Course, Measured, long_flow
from hitless_papers.linkguardian.recovery import delays_us as delays
from hitless_papers.linkguardian.stress import copies, effective_loss, stress, theory
from hitless_papers.linkguardian.testbed import LinkCase
from hitless_papers.statements import resting_on


def run(case, packets, repair_loss, seed):
    scenario = stress(case, packets, repair_loss, copies=1)
    return Simulation(scenario, file_name="stress", seed=seed).run()


@pytest.mark.parametrize("scheme", ["LG", "LG_NB"])
def test_importance_sampling_agrees_with_direct_counting(scheme):
    """At 1e-2 with one copy, one packet in ten thousand is unrecovered: enough to count."""
    case = LinkCase(100, 1e-2, scheme)
    direct = run(case, 1_500_000, None, seed=1)
    protected = direct.counter("packets_protected", "sw2")
    counted = poisson_interval(direct.counter("packets_lost", "sw6"), protected, confidence=0.999)
    found = effective_loss(run(case, 300_000, 0.5, seed=2), case)
    assert counted.low <= found.interval.high
    assert found.interval.low <= counted.high
    assert found.value == pytest.approx(1e-4, rel=0.15)


@pytest.mark.parametrize(("loss", "expected"), [(1e-5, 1), (1e-4, 1), (1e-3, 2), (1.16e-3, 2), (1e-2, 3)])
def test_copies_follow_equation_2(loss, expected):
    done = Simulation(stress(LinkCase(100, loss, "LG"), 100), file_name="stress", seed=1).run()
    assert copies(done) == expected


def test_theory_is_the_papers_whatever_the_run_retransmits():
    assert [theory(LinkCase(100, loss, "LG")) for loss in testbed.LOSSES] == [
        pytest.approx(x) for x in (1e-10, 1e-8, 1e-9)
    ]


class Few(Context):
    """A few flows of each."""

    def length(self, what, *, full, quick, normal=None):
        return 60


def test_rows_of_completion_times_say_what_they_rest_on():
    exhibit = completion.Figure12()
    context = Few()
    points = list(exhibit.points(context))
    runs = Runs({p.key: Simulation(p.what, file_name=p.key, seed=1).run(keep=p.keep) for p in points})
    rows = list(resting_on(exhibit.rows(runs, context), exhibit.rests_on))
    assert all(row.completed and all(share.is_complete for share in row.completed) for row in rows)
    assert all(basis.KERNEL_NOTE in row.note for row in rows)


@pytest.mark.parametrize("scheme", ["LG", "LG_NB"])
def test_the_latency_of_repairs_delays_repairs_and_nothing_else(scheme):
    """The same losses, repaired 3 us later to within a packet's time, all recovered."""

    def repaired(latency):
        made = stress(LinkCase(25, 1e-3, scheme), 60_000)
        made["mechanism"] = [{**made["mechanism"][0], "repair_latency": latency}]
        done = Simulation(made, file_name="stress", seed=1).run()
        assert done.counter("packets_lost", "sw6") == 0
        delays_us, _ = delays(done)
        return done.counter("packets_recovered", "sw6"), float(delays_us.min())

    (count, soonest), (later_count, later) = repaired("0 s"), repaired("3 us")
    assert count == pytest.approx(later_count, abs=2)
    assert count > 30
    packet_us = testbed.packets_duration_s(1, 25) * 1e6
    assert later - soonest == pytest.approx(3.0, abs=packet_us)


def test_the_parts_of_a_course_are_counted_without_their_first_fifth():
    course = Course(600)
    assert [course.settled_ms(part) for part in PARTS] == [(20, 100), (150, 350), (400, 600)]
    times_ps = [round(1e9 * time_ms) for time_ms in range(1, 601)]
    settled = course.settled(pl.DataFrame({"time_ps": times_ps}), "loss")["time_ps"]
    # The interval that ends at 151 ms is the first inside the part.
    assert (settled.min(), settled.max()) == (151e9, 350e9)


@pytest.mark.parametrize("backpressure", [True, False])
def test_only_without_backpressure_does_a_fast_link_overflow_the_reordering_buffer(backpressure):
    course = Course(120)
    scenario = long_flow(100, testbed.DCTCP, course, backpressure=backpressure)
    measured = Measured(Simulation(scenario, file_name="over time", seed=1).run(), course)
    lost = measured.run.counter("packets_lost", "sw6")
    assert lost <= 3 if backpressure else lost > 20
    assert (measured.depth_kb("sw6.recirculation0", "LG on")[1] > 190) != backpressure
    assert measured.per_second("packets_retransmitted", "loss").value > 0
    assert measured.per_second("packets_retransmitted", "clean").value == 0
