"""The scenario of all five systems, shortened: removed parts are absent, and losses add up."""

from collections.abc import Mapping
from typing import Any

import pytest

from hitless.simulation import PacketSimulation, Run
from hitless_papers.together import outcomes, schemes
from hitless_papers.together.outcomes import TABLES, reduced
from hitless_papers.together.schemes import ALL, BARE, CLEAN, GUARDED, PLAIN, SCHEMES, Scheme


def shortened(scheme: Scheme) -> Mapping[str, Any]:
    """Return traffic of 8 ms with one link failure."""
    made = dict(schemes.scenario(scheme))
    flows = [{**group, "start": "0 ms", "stop": "8 ms"} for group in made["flows"]]
    made |= {"flows": flows, "warmup": "0 ms", "duration": "40 ms"}
    if "failure" in made:
        made["failure"] = [{"link": "leaf0<->spine0", "first": "2 ms", "outage": "3 ms"}]
    return made


def run(scheme: Scheme) -> Run:
    return reduced(PacketSimulation(shortened(scheme)).job(file_name=scheme.name, seed=1).run(TABLES))


def test_a_scheme_has_its_systems_and_nothing_else() -> None:
    for scheme in SCHEMES:
        made = schemes.scenario(scheme)
        kinds = {mechanism["kind"] for mechanism in made["mechanism"]}
        assert kinds == {schemes.SYSTEMS[system] for system in scheme.systems}, scheme
        assert ("reorder_buffer" in made["host"]) == ("PD" in scheme.systems), scheme
        troubles = {"failure", "link"} & made.keys()
        assert troubles == (set() if scheme.is_clean else {"failure", "link"}), scheme
        assert any(group["name"] == "cheat" for group in made["flows"]) != scheme.is_clean, scheme


def test_a_system_in_its_own_trouble_meets_no_other() -> None:
    wrong = {"SQR": "failure", "LinkGuardian": "link", "AFQ": "cheat", "RIMM": "bursts", "PD": "queries"}
    for of in (BARE, GUARDED):
        for system, scheme in of.items():
            made = schemes.scenario(scheme)
            groups = {group["name"] for group in made["flows"]}
            troubles = ({"failure", "link"} & made.keys()) | ({"cheat", "bursts", "queries"} & groups)
            assert troubles == {wrong[system]}, scheme
            assert "web-search" in groups, scheme
            assert ("recovery" in made) == ("failure" in made), scheme


def test_rimm_keeps_every_packet_of_a_burst_that_its_neighbours_can_hold() -> None:
    plain, guarded = run(BARE["RIMM"]), run(GUARDED["RIMM"])
    assert outcomes.DROPPED_OF_BURSTS.of(plain) > 0
    assert outcomes.DROPPED_OF_BURSTS.of(guarded) == 0


def test_each_loss_is_told_by_where_it_happened() -> None:
    plain, together, clean = run(PLAIN), run(ALL), run(CLEAN)
    failures = int(plain.summary.drops["lost on a link that was down"])
    assert outcomes.LOST_TO_FAILURES.of(plain) == failures > 0
    assert outcomes.LOST_TO_CORRUPTION.of(plain) == plain.summary.drops["corrupted on a link"] > 0
    for whole in (together, clean):
        assert (outcomes.LOST_TO_FAILURES.of(whole), outcomes.LOST_TO_CORRUPTION.of(whole)) == (0, 0)
    assert together.summary.drops["lost on a link that was down"] > 0, "it did fail"


@pytest.mark.parametrize("timed", outcomes.PERCENTILES, ids=lambda timed: timed.name)
def test_what_takes_time_is_counted_whether_it_ends_or_not(timed: outcomes.Timed) -> None:
    made = run(ALL)
    times, share = timed.times_ms(made), timed.share("all", [made])
    assert len(times) == share.begun > 0
    assert 0 < times.min() <= times.max() <= 40
