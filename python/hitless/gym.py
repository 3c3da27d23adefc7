"""`hitless[gym]`: a link that corrupts frames as an environment of Gymnasium.

At each step a controller sees the counters of the port behind the link, like a control plane, and chooses the number of
copies that LinkGuardian retransmits for each lost packet on this link; zero switches it off. More copies lose fewer
packets, and use more of the link's capacity.
"""

import math
from typing import Any, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from hitless.errors import BadInput
from hitless.scenario import Scenario, example
from hitless.steps import Steps

try:
    import gymnasium
    from gymnasium import spaces
except ImportError as missing:
    raise BadInput("Gymnasium is not installed", hint="pip install 'hitless[gym]'") from missing

Observation = NDArray[np.float32]

LEAST_RATE, MOST_RATE = 1e-5, 0.05
"""Range of the loss rate, drawn uniformly on a logarithmic scale."""
_SEED_MAX = 2**31


class LinkProtection(gymnasium.Env[Observation, np.int64]):
    """Protect one link of a scenario with a changing loss rate at minimum cost.

    **Action**: copies of each lost packet, 0 for no protection, up to ``copies_max``.

    **Observation**, of the last step: the share of corrupted frames, as its logarithm to base 10 over -6 (0: all, 1:
    one in a million or none), and the chosen copies over ``copies_max``.

    **Reward**: minus the cost of the step: ``loss_price`` for each unrecovered packet, 1 for each copy sent, and
    ``upkeep`` if the link is protected.

    An episode is a run of the scenario with a new seed; it is truncated at the scenario's end. The loss rate is drawn
    between 1e-5 and 0.05, and drawn again after each step with probability ``change``. The scenario must configure
    LinkGuardian on ``link``; otherwise `BadInput` is raised.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        scenario: Scenario | None = None,
        *,
        link: str = "sw2->sw6",
        period: str = "2 ms",
        copies_max: int = 3,
        loss_price: float = 100.0,
        upkeep: float = 0.5,
        change: float = 0.1,
    ) -> None:
        given = scenario or example("linkguardian-testbed")
        self._scenario = given.with_("mechanism.linkguardian.activation", [{"at": "0 s", "active": False}]).check()
        self._link, self._period = link, period
        self._copies_max, self._change = copies_max, change
        self._loss_price, self._upkeep = loss_price, upkeep
        self.action_space = spaces.Discrete(copies_max + 1)
        self.observation_space = spaces.Box(0.0, 1.0, (2,), np.float32)
        self._steps: Steps | None = None
        self._copies = 0
        self._seen = (0, 0, 0, 0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start a run with a new seed and a new loss rate, both drawn from ``seed``."""
        super().reset(seed=seed)
        self._steps = self._scenario.start(seed=int(self.np_random.integers(_SEED_MAX)))
        self._copies, self._seen = 0, (0, 0, 0, 0)
        rate = self._draw_rate(self._steps)
        return np.array([1.0, 0.0], dtype=np.float32), {"loss_rate": rate}

    def step(self, action: np.int64) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Choose the copies, and run for a period.

        The info dictionary has the ``lost`` packets, the ``copies`` sent, and the ``loss_rate`` of the next period.
        """
        steps = self._steps
        if steps is None:
            raise BadInput("the environment has not been reset", hint="env.reset() starts a run")
        self._protect(steps, int(action))
        goes_on = steps.advance(self._period)
        good, frames, lost_for_good, sent = self._counted(steps)
        lost = lost_for_good if self._copies else frames - good
        share = (frames - good) / frames if frames else 0.0
        closeness = min(math.log10(share) / -6.0, 1.0) if share > 0.0 else 1.0
        rate = self._draw_rate(steps) if goes_on and self.np_random.random() < self._change else None
        observed = np.array([closeness, self._copies / self._copies_max], dtype=np.float32)
        cost = self._loss_price * lost + sent + (self._upkeep if self._copies else 0.0)
        return observed, -cost, False, not goes_on, {"lost": lost, "copies": sent, "loss_rate": rate}

    def _protect(self, steps: Steps, copies: int) -> None:
        if copies == self._copies:
            return
        if self._copies:
            steps.unprotect(self._link)
        if copies:
            steps.protect(self._link, copies=copies)
        self._copies = copies

    def _counted(self, steps: Steps) -> tuple[int, int, int, int]:
        """Return the counts since the last step: good frames, all frames, unrecovered packets, copies."""
        frames = steps.frames_behind(self._link)
        table = steps.mechanisms
        lost, sent = (int(table["value"].filter(table["counter"] == name).sum()) for name in _COUNTERS)
        now = (frames.ok, frames.all, lost, sent)
        before, self._seen = self._seen, now
        return now[0] - before[0], now[1] - before[1], now[2] - before[2], now[3] - before[3]

    def _draw_rate(self, steps: Steps) -> float:
        exponent = self.np_random.uniform(math.log10(LEAST_RATE), math.log10(MOST_RATE))
        steps.corrupt(self._link, 10.0**exponent)
        return float(10.0**exponent)


_COUNTERS = ("packets_lost", "frames_retransmitted")
