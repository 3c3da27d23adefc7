"""From readings of counters to a loss rate over the last W frames (LinkGuardian, appendix C)."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

CounterBits = Literal[32, 64]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a port's counters say, since whenever they began to count."""

    frames_ok: int
    """framesRxOk: frames received whole."""
    frames_bad: int
    """framesRxAll - framesRxOk: frames whose check sequence was wrong."""
    fec_uncorrectable: int | None = None
    """Blocks that forward error correction could not mend; None where the port does not tell."""
    basis: str = ""
    """Which counters the numbers are made of, where a source has a choice: readings of others cannot be compared."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What was received between two readings, or several of them taken together."""

    frames: int
    bad: int


def frames_between(before: Reading, after: Reading, bits: CounterBits = 64) -> Sample | None:
    """What was received in between, or None when the counters began anew or are others than before.

    A counter of 64 bits never comes round, so one that goes back was reset, as by a reload of the driver. One of 32
    bits comes round; it was reset when it would have had to count more than half of its range between two readings.
    """
    if before.basis != after.basis:
        return None
    ok = _counted(before.frames_ok, after.frames_ok, bits)
    bad = _counted(before.frames_bad, after.frames_bad, bits)
    return None if ok is None or bad is None else Sample(ok + bad, bad)


def _counted(before: int, after: int, bits: CounterBits) -> int | None:
    if bits == 64:
        return after - before if after >= before else None
    counted = (after - before) % 2**32
    return counted if counted < 2**31 else None


class Window:
    """The last ``frames_wanted`` frames, as samples of which the oldest are dropped.

    It holds at least that many once so many were seen, and at most one sample more. Small samples are put together,
    so that an idle link needs no more memory than a busy one: about ``SAMPLES_MAX`` samples.
    """

    SAMPLES_MAX = 1_024

    def __init__(self, frames_wanted: int, samples: Iterable[Sample] = ()) -> None:
        if frames_wanted < 1:
            raise ValueError("a window holds one frame at least")
        self.frames_wanted = frames_wanted
        self.frames = 0
        self.bad = 0
        self._least = max(1, frames_wanted // self.SAMPLES_MAX)
        self._samples: deque[Sample] = deque()
        for sample in samples:
            self.add(sample)

    @property
    def samples(self) -> Sequence[Sample]:
        """From the oldest to the newest."""
        return tuple(self._samples)

    @property
    def loss_rate(self) -> float:
        """Bad frames over all frames; 0 when there were none.

        The paper prints the ratio of good frames and means this.
        """
        return self.bad / self.frames if self.frames else 0.0

    @property
    def is_full(self) -> bool:
        """Are there as many frames as were wanted?"""
        return self.frames >= self.frames_wanted

    def add(self, sample: Sample) -> None:
        """Take in what was received since the last call, and drop what is too old."""
        if sample.frames == 0:
            return
        if self._samples and self._samples[-1].frames < self._least:
            newest = self._samples.pop()
            self._samples.append(Sample(newest.frames + sample.frames, newest.bad + sample.bad))
        else:
            self._samples.append(sample)
        self.frames += sample.frames
        self.bad += sample.bad
        while self.frames - self._samples[0].frames >= self.frames_wanted:
            oldest = self._samples.popleft()
            self.frames -= oldest.frames
            self.bad -= oldest.bad

    def recent_loss_rate(self, bad_frames: int) -> float:
        """The loss rate over the newest samples that hold ``bad_frames`` bad ones, or all of them when there are fewer.

        A window that was clean until now dilutes a loss that has just begun; this does not.
        """
        wanted = min(bad_frames, self.bad)
        frames = bad = 0
        for sample in reversed(self._samples):
            if bad >= wanted:
                break
            frames += sample.frames
            bad += sample.bad
        return bad / frames if frames else 0.0
