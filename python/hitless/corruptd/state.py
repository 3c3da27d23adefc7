"""State that survives a restart: a versioned JSON file, written atomically."""

import json
import logging
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from hitless.corruptd.daemon import Daemon, Guarded, Watch
from hitless.corruptd.detection import Decision, Phase, Setting
from hitless.corruptd.protocol import is_plausible
from hitless.corruptd.window import Reading, Sample, Window
from hitless.service.configuration import Checked
from hitless.whole_file import write_whole

log = logging.getLogger(__name__)

Count = Annotated[int, Field(ge=0)]
Samples = Annotated[list[tuple[Count, Count]], Field(max_length=100_000)]


class SavedWatch(Checked):
    phase: Literal["unknown", "clear", "protected", "fallback"]
    setting: Setting | None
    held_s: Annotated[float, Field(ge=0.0)]
    """Time since the decision was made."""
    counters: str = ""
    """Identity of the counters; see `hitless.corruptd.daemon.WatchPlan`."""
    last: tuple[Count, Count] | None
    basis: str = ""
    """Counters of the last reading."""
    samples: Samples
    clearing: Samples = Field(default_factory=list)
    """The longer window; empty in files of a version without it, so it must fill again."""


class SavedGuard(Checked):
    setting: Setting | None
    epoch: int
    sequence: int
    remaining_s: float | None
    """Remaining lifetime; None if it had expired."""


class State(Checked):
    version: Literal[1] = 1
    switch_id: str
    epoch: Count
    watches: dict[str, SavedWatch]
    guards: dict[str, SavedGuard]


def snapshot(daemon: Daemon, now_s: float) -> State:
    """Return the daemon's state. Times are saved as durations: a clock can differ after a restart."""
    return State(
        switch_id=daemon.plan.switch_id,
        epoch=daemon.epoch,
        watches={link: _save_watch(watch, now_s) for link, watch in daemon.watches.items()},
        guards={link: _save_guard(guarded, now_s) for link, guarded in daemon.guards.items()},
    )


def restore(daemon: Daemon, state: State, now_s: float) -> None:
    """Restore a daemon's state after a restart. Links that are no longer configured are forgotten."""
    if state.switch_id != daemon.plan.switch_id:
        log.warning("the state is of switch %s, not of %s: left aside", state.switch_id, daemon.plan.switch_id)
        return
    for link, watch in daemon.watches.items():
        if link in state.watches:
            _restore_watch(watch, state.watches[link], now_s)
    for link, guarded in daemon.guards.items():
        if link in state.guards:
            _restore_guard(guarded, state.guards[link], now_s, daemon.wall_ns())


def next_epoch(state: State | None, unix_ns: int) -> int:
    """Return an epoch above any earlier one, even if the file was lost and only the clock is left.

    It counts nanoseconds, so that two starts within a second differ; they fit into the 63 bits of a message until the
    year 2262. A saved epoch far ahead of the clock came from a wrong clock; others would refuse its successors.
    """
    if state is None:
        return unix_ns
    if not is_plausible(state.epoch, unix_ns):
        log.warning("the saved epoch %d is more than a day ahead of the clock: starting over", state.epoch)
        return unix_ns
    return max(unix_ns, state.epoch + 1)


def save(path: Path, state: State) -> None:
    """Write the file atomically: a crash leaves the old one or the new one. Raises OSError."""
    write_whole(path, state.model_dump_json())


def load(path: Path) -> State | None:
    """Return the saved state; None if it is missing. An unreadable file is moved aside with a warning."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        return parse(content)
    except ValueError as bad:
        aside = path.with_name(f"{path.name}.unreadable")
        log.warning("the state in %s cannot be read, and is kept as %s: %s", path, aside.name, bad)
        path.replace(aside)
        return None


def parse(content: bytes) -> State:
    """Parse the state in the bytes of a file. Raises ValueError."""
    try:
        return State.model_validate_json(content)
    except ValidationError as invalid:
        raise ValueError(json.dumps(invalid.errors(include_url=False, include_input=False)[0]["msg"])) from invalid


def _save_watch(watch: Watch, now_s: float) -> SavedWatch:
    detector = watch.detector
    last = detector.last
    return SavedWatch(
        phase=detector.decision.phase.value,
        setting=detector.decision.setting,
        held_s=max(0.0, now_s - detector.changed_at_s),
        counters=watch.plan.counters,
        last=None if last is None else (last.frames_ok, last.frames_bad),
        basis="" if last is None else last.basis,
        samples=_save_window(detector.window),
        clearing=_save_window(detector.clearing),
    )


def _save_window(window: Window) -> Samples:
    return [(sample.frames, sample.bad) for sample in window.samples]


def _restore_window(window: Window, samples: Samples) -> None:
    for frames, bad in samples:
        window.add(Sample(frames, min(bad, frames)))


def _restore_watch(watch: Watch, saved: SavedWatch, now_s: float) -> None:
    detector = watch.detector
    if saved.counters == watch.plan.counters:
        _restore_window(detector.window, saved.samples)
        _restore_window(detector.clearing, saved.clearing)
        detector.last = None if saved.last is None else Reading(*saved.last, basis=saved.basis)
    else:
        log.warning("%s: its counters have changed: the window starts over, the decision stays", watch.link)
    detector.decision = Decision(Phase(saved.phase), saved.setting)
    detector.changed_at_s = now_s - saved.held_s


def _save_guard(guarded: Guarded, now_s: float) -> SavedGuard:
    guard = guarded.guard
    epoch, sequence = guard.latest
    remaining_s = guard.expires_at_s - now_s
    return SavedGuard(
        setting=guard.wanted,
        epoch=epoch,
        sequence=sequence,
        remaining_s=None if remaining_s == float("inf") else remaining_s,
    )


def _restore_guard(guarded: Guarded, saved: SavedGuard, now_s: float, wall_ns: int) -> None:
    guard = guarded.guard
    if not is_plausible(saved.epoch, wall_ns):
        text = "%s: the saved request is forgotten: its epoch %d is more than a day ahead of the clock"
        log.warning(text, guard.link, saved.epoch)
        return
    guard.wanted = saved.setting
    guard.latest = (saved.epoch, saved.sequence)
    guarded.answered = guard.latest
    if saved.remaining_s is not None:
        guard.expires_at_s = now_s + min(saved.remaining_s, guard.lifetime_s_max)
