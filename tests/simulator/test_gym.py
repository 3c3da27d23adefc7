"""The environment of Gymnasium: its own checker, and the costs of actions."""

import pytest

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed")

from gymnasium.utils.env_checker import check_env  # noqa: E402

import hitless as hl  # noqa: E402
from hitless.gym import LinkProtection  # noqa: E402


def _env(**options):
    return LinkProtection(hl.example("linkguardian-testbed").with_("flows[0].count", 1_500), **options)


def _episode(env, controller, seed=3):
    observation, _ = env.reset(seed=seed)
    seen, is_over = [], False
    while not is_over:
        observation, reward, terminated, is_over, info = env.step(controller(observation))
        assert not terminated
        assert env.observation_space.contains(observation)
        seen.append((tuple(observation), reward, info["lost"], info["copies"]))
    return seen


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gymnasiums_own_checker_has_nothing_to_say():
    check_env(_env(), skip_render_check=True)


def test_an_episode_repeats_with_its_seed_and_differs_with_another():
    assert _episode(_env(), lambda _: 1) == _episode(_env(), lambda _: 1)
    assert _episode(_env(), lambda _: 1) != _episode(_env(), lambda _: 1, seed=4)


def test_copies_save_packets_and_cost_frames():
    """In the same scenario: without protection every corrupted frame is lost, and each extra copy is one more frame."""
    lost, sent = {}, {}
    for copies in (0, 1, 3):
        seen = _episode(_env(change=0.9), lambda _, copies=copies: copies)
        lost[copies], sent[copies] = sum(one[2] for one in seen), sum(one[3] for one in seen)
    assert lost[0] > 3
    assert sent[0] == 0
    assert lost[1] < lost[0] / 2
    assert 0 < sent[1] < sent[3]


def test_the_reward_is_what_its_prices_say():
    for _, reward, lost, sent in _episode(_env(loss_price=7.0, upkeep=0.25), lambda _: 2):
        assert reward == pytest.approx(-(7.0 * lost + sent + 0.25))


def test_a_scenario_that_has_no_linkguardian_is_refused():
    with pytest.raises(hl.BadInput, match="linkguardian"):
        LinkProtection(hl.example("dumbbell"))
