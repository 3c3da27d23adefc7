"""The coarse map of each mechanism: it never harms, and is refused only with a reason."""

import json
import tomllib
from dataclasses import replace
from itertools import product
from pathlib import Path

import aftermath
import pytest

from hitless.envelope import COARSE, SYSTEMS, Cell, RandomPlaces, judged, system_of
from hitless.envelope.places import Place
from hitless.envelope.systems import Cost
from hitless.envelope.verdicts import Side
from hitless.prototype.kinds import load as load_classes
from hitless.quantities import seconds_of
from hitless.scenario import Scenario
from hitless_papers.envelope.exhibit import Envelope
from warm import hitless


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder for all maps, so that later tests reuse the runs of a map."""
    return tmp_path_factory.mktemp("maps")


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_mechanism_harms_nowhere_on_the_coarse_map(name, folder):
    done = hitless("envelope", name, "--json", cwd=folder, code=None)
    cells = json.loads(done.stdout)["cells"]
    harmed = [cell for cell in cells if cell["colour"] == "harms"]
    assert not harmed, harmed
    assert len(cells) == len(list(Envelope(SYSTEMS[name], COARSE).places()))
    assert all(cell["reason"] for cell in cells if cell["colour"] == "refused")
    assert sum(cell["colour"] == "helps" for cell in cells) > len(cells) / 3


def test_each_colour_is_given_for_its_own_runs():
    place = next(COARSE.places(["udp"]))
    without = [Side(100.0, 10), Side(110.0, 12), Side(90.0, 9)]

    def colour(factor: float, lost: int, cost: float = 0.0) -> str:
        return judged(place, without, [Side(side.service * factor, lost) for side in without], cost).colour

    assert colour(1.0, 0) == "helps"
    assert colour(1.5, 20) == "helps"
    assert colour(1.0, 10) == "no harm"
    assert colour(0.95, 0, cost=0.08) == "no harm"
    assert colour(0.9, 0) == "harms"
    assert colour(0.0, 10, cost=0.3) == "harms"
    assert Cell(place, "refused", reason="the sum").as_json()["reason"] == "the sum"


def test_a_map_shows_a_sign_for_each_place_and_what_the_signs_mean(folder):
    done = hitless("envelope", "afq", cwd=folder)
    assert "100G" in done.stdout
    assert "+ helps (18), = no harm (0), - refused (0), HARM harms (0)" in done.stdout


EVERY_NTH = Path(__file__).parents[2] / "examples/mechanisms/every_nth.py"


def test_a_python_class_has_a_map_against_a_named_trouble(tmp_path):
    asked = ("envelope", "every-nth-py,drop_every=4", "--mechanism", EVERY_NTH, "--random", 3, "--seed", 5)
    refused = hitless(*asked, cwd=tmp_path, code=2)
    assert "name the trouble: --against lossy-link, bursts, cheating-sender, link-failure" in refused.stderr
    done = hitless(*asked, "--against", "lossy-link", "--json", cwd=tmp_path, code=1)
    document = json.loads(done.stdout)
    assert document["mechanism"] == "every-nth-py"
    assert [cell["colour"] for cell in document["cells"]] == ["harms"] * 3
    failing = tmp_path / "failing.py"
    failing.write_text(EVERY_NTH.read_text().replace("self.dropped += 1", "self.droped += 1"))
    failed = hitless(*asked[:3], failing, *asked[4:], "--against", "lossy-link", cwd=tmp_path, code=1, traceback=True)
    assert "9 of 18 runs failed" in failed.stderr
    assert "has no attribute 'droped'" in failed.stderr


@pytest.mark.parametrize(
    ("against", "places", "entry"),
    [
        ("link-failure", "links: list[str]", {"links": ["left->right", "right->left"]}),
        ("lossy-link", "ports: list[str]", {"ports": ["left->right"]}),
        ("bursts", "ports: list[str]", {"ports": ["leaf0->h0"]}),
        ("cheating-sender", "at: list[str]", {"at": ["left->right"]}),
        ("link-failure", "ports: list[str]", {"ports": ["left->right", "right->left"]}),
    ],
)
def test_a_python_class_is_where_the_trouble_is(tmp_path, against, places, entry):
    name = places.partition(":")[0]
    kind = f"{against}-{name}-py"
    (tmp_path / "own.py").write_text(
        "from dataclasses import dataclass\nimport hitless\n\n@dataclass\nclass Settings:\n"
        f'    """Settings."""\n    {places}\n    limit: int = 3\n\n'
        f'class Own(hitless.Mechanism[Settings], kind="{kind}", places="{name}"):\n    """Does nothing."""\n'
        "    def egress(self, context):\n        return hitless.Verdict.CONTINUE\n"
    )
    load_classes([tmp_path / "own.py"])
    system = system_of(kind, {"limit": 7}, against=against, cost=0.25)
    scenario = system.scenario(next(COARSE.places(system.transports)), with_it=True)
    assert scenario["mechanism"] == [{"kind": kind, **entry, "limit": 7}]
    Scenario.from_dict(scenario).check()
    assert system.cost.share == 0.25


def test_settings_and_a_cost_change_a_known_map(tmp_path):
    system = system_of("linkguardian", {"mode": "non-blocking"})
    assert system.mechanism() == [{"kind": "linkguardian", "link": "left->right", "mode": "non-blocking"}]
    assert SYSTEMS["linkguardian"].fields == {}
    assert [one["kind"] for one in SYSTEMS["sqr-local-reroute"].mechanism()] == ["sqr"]
    done = hitless("envelope", "dibs", cwd=tmp_path, code=2)
    assert "there is no map of 'dibs' yet" in done.stderr
    assert "did you mean afq?" in hitless("envelope", "afk", cwd=tmp_path, code=2).stderr
    assert "did you mean linkguardian" in hitless("envelope", "linkgardian", cwd=tmp_path, code=2).stderr


def test_the_nightly_run_draws_the_fine_map_of_each_mechanism():
    nightly = (Path(__file__).parents[2] / ".github/workflows/nightly.yml").read_text()
    listed = nightly.split("mechanism:\n")[1].split("steps:")[0]
    assert listed.split() == [word for name in sorted(SYSTEMS) for word in ("-", name)]


@pytest.mark.parametrize(
    ("rate", "metres", "frame"), [(1, 1, 1_518), (10, 100, 9_018), (100, 2_000, 64), (25, 40_000, 700)]
)
def test_the_pause_of_local_rerouting_follows_the_defaults_of_sqr(rate, metres, frame):
    system, place = SYSTEMS["sqr-local-reroute"], Place(rate, metres, frame, "udp", 0.5)
    scenario = Scenario.from_dict(system.scenario(place, with_it=True))
    settings = tomllib.loads(scenario.effective)["mechanism"][0]
    steady_s, hold_s = (seconds_of(settings[name]) for name in ("steady_delay", "return_hold"))
    assert system.pause_ns(place) == pytest.approx(2e9 * (steady_s + max(hold_s, steady_s)), rel=0.05)


def test_random_places_are_those_of_the_seed_and_off_the_grid(tmp_path):
    done = hitless("envelope", "afq", "--random", "4", "--seed", "5", cwd=tmp_path)
    named = [line.split(maxsplit=1) for line in done.stdout.splitlines() if " tcp" in line]
    places = [place.name for place in RandomPlaces(4, seed=5).places(["tcp"])]
    assert [name for _, name in named] == places
    assert all(sign in {"+", "="} for sign, _ in named)
    assert list(RandomPlaces(4, seed=6).places(["tcp"])) != list(RandomPlaces(4, seed=5).places(["tcp"]))


def test_a_place_that_harms_fails_the_command(tmp_path, monkeypatch):
    monkeypatch.setattr(SYSTEMS["wharf"], "cost", Cost(0.0, "none"))
    grid = replace(COARSE, rates_gbps=[10], cables_m=[1], frames_bytes=[1_518], loads=[0.95])
    monkeypatch.setattr("hitless_papers.cli.envelope.COARSE", grid)
    from hitless_papers.cli.envelope import envelope
    from hitless_papers.cli.reproduce_app import EnvelopeOptions

    found = envelope(EnvelopeOptions("wharf", seed=1, out=tmp_path, jobs=1, fresh=True))
    assert found == 1


@pytest.mark.parametrize("name", ["sqr", "sqr-local-reroute"])
@pytest.mark.parametrize(("transport", "load"), [("udp", 0.5), ("udp", 0.9), ("tcp", 1.0), ("roce", 1.0)])
def test_ten_round_trips_after_a_failure_all_is_as_without_it(name, transport, load):
    for rate, metres in product([10, 100], [100, 2_000]):
        place = Place(rate, metres, 1_518, transport, load)
        aftermath.assert_back_to_normal(aftermath.failure(name, place), place)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(
    ("name", "rate", "metres"),
    list(product(["simple-deflection", "preemptive-deflection", "rimm"], [10, 100], [1, 100])),
)
def test_ten_round_trips_after_bursts_all_is_as_without_them(name, rate, metres, seed):
    for transport, load in (("udp", 0.5), ("tcp", 1.0)):
        place = Place(rate, metres, 1_518, transport, load)
        aftermath.assert_back_to_normal(aftermath.bursts(name, place), place, seed)


def test_a_fabric_that_is_not_back_to_normal_is_found():
    place = Place(100, 100, 1_518, "udp", 0.5)
    event = aftermath.failure("sqr", place)
    with pytest.raises(AssertionError, match="100G"):
        aftermath.assert_back_to_normal(replace(event, ended_ns=event.ended_ns - 400_000), place)
