"""corruptd (paper, appendix C): from counters to activation, with the daemons of `hitless.corruptd`.

The daemons and their messages are real. They use Redis if a redis-server is installed, and otherwise an in-process bus;
the rows say which. Switches, counters and time are simulated.
"""

import math
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from hitless.checking import Fields
from hitless.corruptd.bus import Bus, LocalBus, LocalHub
from hitless.corruptd.detection import Detector, Policy
from hitless.corruptd.lab import DaemonLabPlan, Lab
from hitless.corruptd.messages import channel
from hitless.corruptd.redis_bus import RedisBus, RedisSettings
from hitless.corruptd.window import Reading, Sample, Window
from hitless_papers import Context, Exact, Exhibit, Row, Runs, Shape, exhibit
from hitless_papers.estimates import rate_of
from hitless_papers.linkguardian import testbed

POLL_S = 1e-3
"""Polling period: a simulated millisecond instead of a second. The window shrinks by at least the same factor, because
the results are numbers of polls and frames."""


def scenario(loss: float, *, begins_s: float, ends_s: float, duration_s: float, rate_gbps: int = 25) -> Fields:
    """Build full frames at 80 % of line rate over a link that corrupts from ``begins_s`` to ``ends_s``.

    LinkGuardian is configured on the link but inactive, with one copy until a daemon changes that.
    """
    made: dict[str, Any] = dict(
        testbed.scenario(
            rate_gbps,
            name="corruptd",
            transport={"kind": "udp", "rate": f"{0.8 * rate_gbps:g} Gbps"},
            flows={"kind": "constant-rate"},
            duration_s=duration_s,
            scheme="LG",
            settings={"copies": 1},
            kernel=None,
        )
    )
    changes = [
        {"at": testbed.seconds(begins_s), "loss": testbed.loss_model(loss, None)},
        {"at": testbed.seconds(ends_s), "loss": {"kind": "none"}},
    ]
    made["link"] = [{"name": testbed.LINK, "changes": changes}]
    made["mechanism"][0]["activation"] = [{"at": "0 s", "active": False}]
    return made


def policy(window_frames: int, **more: Any) -> Policy:
    """Return the default policy, with a window and a hold time for polls of a simulated millisecond.

    The thresholds scale with the window, so a window at the threshold has one bad frame, as in the paper.
    """
    threshold = 1.0 / window_frames
    return Policy(
        window_frames=window_frames, threshold=threshold, clear_below=threshold / 10, hold_s=5 * POLL_S, **more
    )


def lab_plan(scenario_: Fields, policy_: Policy, *, seed: int = 1, settle_s: float = 0.0) -> DaemonLabPlan:
    return DaemonLabPlan(scenario_, testbed.LINK, "sw2", "sw6", policy_, POLL_S, seed, settle_s)


RATE_GBPS = 100
LOSSES = (1e-3, 5e-3, 1e-2)
"""Loss rates with six or more bad frames per poll: a simulated poll of a millisecond has 6,500 frames; the paper's poll
of a second would have thousands of bad frames. Lower rates need several polls for three bad frames."""
WINDOW_FRAMES = 40_000
QUIET_POLLS = 10
SETTLE_S = 2e-3

COUNTABLE_TARGET = 1e-4
"""Target loss rate that a run of this length can measure; the paper's 1e-8 would need about 10^9 packets."""

COPIES = ((1e-5, 1), (1e-4, 1), (1e-3, 2), (1e-2, 3))
"""Loss rate and N of the paper for a target of 1e-8: 1e-4 in section 3.4, the others in section 4.1."""


@dataclass(frozen=True, slots=True)
class Episode:
    """Observations of a link that started to corrupt and was repaired."""

    loss: float
    polls_to_activation: int
    copies: int
    polls_to_deactivation: int
    protected: int
    lost: int
    recovered: int


@exhibit("lg/corruptd", title="corruptd: from counters to activation over publish-subscribe")
class Corruptd(Exhibit):
    """Statements of appendix C, and the deactivation after a repair, which the paper does not cover."""

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        yield from window_rows()
        yield from copies_rows()
        polls = context.length("polls of corruption", full=200, normal=100, quick=50)
        with _buses() as (make_buses, note):
            yield from episode_rows([watch(loss, polls, context.seed or 1, make_buses()) for loss in LOSSES], note)
            yield countable_row(watch(5e-3, polls, context.seed or 1, make_buses(), COUNTABLE_TARGET), note)


def window_rows() -> Iterator[Row]:
    """Yield rows about window and threshold, with the frames of 100G and polls of a second."""
    frames = round(100e9 / 8 / 1_538)
    window = Window(Policy().window_frames)
    for _ in range(60):
        window.add(Sample(frames, 0))
    yield Row("corruptd", "defaults", "window", "frames", float(Policy().window_frames), 1e8, judge=Exact(0.0))
    yield Row("corruptd", "defaults", "threshold", "", Policy().threshold, 1e-8, judge=Exact(0.0))
    held = Shape(
        Policy().window_frames <= window.frames < Policy().window_frames + frames,
        "the window holds the newest frames: its size plus at most one poll",
    )
    note = "after 60 polls of 1 s at line rate"
    yield Row("corruptd", "100G", "frames in the window", "frames", float(window.frames), judge=held, note=note)
    yield Row("corruptd", "100G", "samples in memory", "samples", float(len(window.samples)), note=note)
    idle = Window(Policy().window_frames)
    for _ in range(100_000):
        idle.add(Sample(10, 0))
    bounded = Shape(len(idle.samples) <= 2 * Window.SAMPLES_MAX, "memory is also bounded on an idle link")
    note = "after 100,000 polls of 10 frames"
    yield Row("corruptd", "idle", "samples in memory", "samples", float(len(idle.samples)), judge=bounded, note=note)


def copies_rows() -> Iterator[Row]:
    """Yield N for a full window at each loss rate, and the number of bad frames that activate."""
    for loss, copies in COPIES:
        window = Policy().window_frames
        detector = Detector(Policy())
        detector.observe(0.0, Reading(0, 0))
        detector.observe(1.0, Reading(window - round(window * loss), round(window * loss)))
        setting = detector.decision.setting
        measured = float(setting.copies) if setting else 0.0
        yield Row("corruptd", f"loss {loss:.0e}", "copies N", "", measured, copies, judge=Exact(0.0))
    paper, ours = _bad_frames(Policy(confidence=0.0, bad_frames_min=1)), _bad_frames(Policy())
    yield Row("paper's rule", "full window", "bad frames that activate", "frames", paper, 1.0, judge=Exact(0.0))
    note = "with 95 % confidence the rate is 1e-8 or more; the paper uses the measured rate without an interval"
    yield Row("corruptd", "full window", "bad frames that activate", "frames", ours, note=note)


def episode_rows(episodes: Sequence[Episode], note: str) -> Iterator[Row]:
    """Yield the rows of each corrupting link; each invariant is judged once, for all links."""
    target = Policy().target_loss_rate
    soon = Shape(
        all(1 <= episode.polls_to_activation <= 2 for episode in episodes),
        "activated within two polls of the first corrupted frame, at any loss rate",
    )
    masked = Shape(
        all(episode.lost / episode.protected <= target and episode.recovered > 0 for episode in episodes),
        "no protected packet was lost while the link corrupted, at any loss rate",
    )
    back = Shape(
        all(0 < episode.polls_to_deactivation < 100 for episode in episodes),
        "deactivated after the repair, at any loss rate",
    )
    clean = policy(WINDOW_FRAMES).clear_frames
    more = f"{note}; needs {clean:,} consecutive good frames first; the published program never deactivates"
    for episode in episodes:
        x = f"loss {episode.loss:.0e}"
        polls = float(episode.polls_to_activation)
        yield Row("corruptd", x, "polls from corruption to activation", "polls", polls, judge=soon, note=note)
        counted = f"{episode.protected:,} packets protected, {episode.recovered:,} recovered, N = {episode.copies}"
        notes = f"{note}; {counted}; too few packets to show a rate of 1e-8, see the interval"
        lost = rate_of(episode.lost, episode.protected)
        yield lost.row("corruptd", x, "effective loss rate", None, masked, unit="", note=notes)
        polls = float(episode.polls_to_deactivation)
        yield Row("corruptd", x, "polls from repair to deactivation", "polls", polls, judge=back, note=more)


def countable_row(episode: Episode, note: str) -> Row:
    """Return the effective loss of a run with enough packets to measure it."""
    lost = rate_of(episode.lost, episode.protected)
    high = lost.interval.high if lost.interval else math.inf
    below = Shape(high <= COUNTABLE_TARGET, f"below the target of {COUNTABLE_TARGET:g}, with 95 % confidence")
    expected = episode.loss ** (episode.copies + 1)
    notes = f"{note}; N = {episode.copies}, for which equation 1 gives {expected:.1e}"
    x = f"loss {episode.loss:.0e}, target {COUNTABLE_TARGET:.0e}"
    return lost.row("corruptd", x, "effective loss rate", None, below, unit="", note=notes)


def watch(loss: float, polls: int, seed: int, buses: Mapping[str, Bus], target: float | None = None) -> Episode:
    """Run one episode on the simulated testbed; ``target`` replaces the default target loss rate."""
    begins_s, ends_s = QUIET_POLLS * POLL_S, (QUIET_POLLS + polls) * POLL_S
    made = scenario(loss, begins_s=begins_s, ends_s=ends_s, duration_s=ends_s + 100 * POLL_S, rate_gbps=RATE_GBPS)
    chosen = policy(WINDOW_FRAMES, **({} if target is None else {"target_loss_rate": target}))
    settle_s = 0.0 if isinstance(buses["sw2"], LocalBus) else SETTLE_S
    lab = Lab(lab_plan(made, chosen, seed=seed, settle_s=settle_s), buses)
    lab.run_to(begins_s)
    activation = _polls_until(lab, is_on=True)
    lab.run_to(ends_s)
    copies = lab.copies
    deactivation = _polls_until(lab, is_on=False)
    episode = Episode(
        loss,
        activation,
        copies,
        deactivation,
        lab.counter("sw2", "packets_protected"),
        lab.counter("sw6", "packets_lost"),
        lab.counter("sw6", "packets_recovered"),
    )
    lab.receiver.bus.close()
    lab.sender.bus.close()
    return episode


def _polls_until(lab: Lab, *, is_on: bool) -> int:
    """Count the polls until LinkGuardian is on or off; at most 100."""
    polls = 0
    while (lab.copies > 0) is not is_on and polls < 100:
        lab.step()
        polls += 1
    return polls


def _bad_frames(of: Policy) -> float:
    """Return the minimum number of bad frames in a full window that activates the policy."""
    for bad in range(100):
        detector = Detector(of)
        detector.observe(0.0, Reading(0, 0))
        detector.observe(1.0, Reading(of.window_frames - bad, bad))
        setting = detector.decision.setting
        if setting is not None and setting.is_on:
            return float(bad)
    return float("inf")


@contextmanager
def _buses() -> Iterator[tuple[Callable[[], Mapping[str, Bus]], str]]:
    """Yield a factory of the two daemons' buses, and a note for the rows."""
    program = shutil.which("redis-server")
    if program is None:
        yield _local_buses, "over an in-process bus, because redis-server is not installed"
        return
    with tempfile.TemporaryDirectory() as folder:
        address = f"{folder}/redis.sock"
        command = [program, "--port", "0", "--unixsocket", address, "--save", "", "--dir", folder]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            if _listens(address):
                yield lambda: _redis_buses(address), "over a separate redis-server"
            else:
                yield _local_buses, "over an in-process bus, because redis-server did not start"
        finally:
            server.terminate()
            server.wait()


def _local_buses() -> Mapping[str, Bus]:
    hub = LocalHub()
    return {switch: hub.join(channel(switch)) for switch in ("sw2", "sw6")}


def _redis_buses(address: str) -> Mapping[str, Bus]:
    settings = RedisSettings(f"unix://{address}?db=0")
    buses = {switch: RedisBus(settings, channel(switch)) for switch in ("sw2", "sw6")}
    for bus in buses.values():
        bus.receive(float("-inf"))
    return buses


def _listens(address: str) -> bool:
    for _ in range(200):
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(address) == 0:
                return True
        time.sleep(0.02)
    return False
