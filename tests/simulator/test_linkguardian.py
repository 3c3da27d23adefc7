"""LinkGuardian's exhibits against what must hold of them whatever the paper says."""

import pytest

from hitless.analysis import poisson_interval
from hitless.exhibits.linkguardian.counters import counter
from hitless.exhibits.linkguardian.stress import Case, copies, effective_loss, stress
from hitless.simulation import Simulation


def run(case, packets, repair_loss, seed):
    scenario = stress(case, packets, repair_loss, copies_given=1)
    return Simulation(scenario, file_name="stress", seed=seed).run()


@pytest.mark.parametrize("scheme", ["LG", "LG_NB"])
def test_importance_sampling_agrees_with_direct_counting(scheme):
    """At 1e-2 with one copy a packet in ten thousand is lost for good: enough to count."""
    case = Case(100, 1e-2, scheme)
    direct = run(case, 1_500_000, None, seed=1)
    protected = counter(direct, "sw2", "packets protected")
    counted = poisson_interval(counter(direct, "sw6", "packets lost"), protected, confidence=0.999)
    estimate, interval = effective_loss(run(case, 300_000, 0.5, seed=2), case)
    assert counted.low <= interval.high
    assert interval.low <= counted.high
    assert estimate == pytest.approx(1e-4, rel=0.15)


@pytest.mark.parametrize(("loss", "expected"), [(1e-5, 1), (1e-4, 1), (1e-3, 2), (1.16e-3, 2), (1e-2, 3)])
def test_copies_follow_equation_2(loss, expected):
    done = Simulation(stress(Case(100, loss, "LG"), 100), file_name="stress", seed=1).run()
    assert copies(done) == expected
