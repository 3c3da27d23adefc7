"""Loss rate over the last W frames, from readings of counters (LinkGuardian, appendix C)."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

CounterBits = Literal[32, 64]


@dataclass(frozen=True, slots=True)
class Reading:
    """Counters of a port, since their last reset."""

    frames_ok: int
    """framesRxOk: frames received without an error."""
    frames_bad: int
    """framesRxAll - framesRxOk: frames with a wrong check sequence."""
    fec_uncorrectable: int | None = None
    """Blocks that forward error correction could not correct; None if the port does not report them."""
    basis: str = ""
    """Counters behind the numbers, if a source has a choice: readings of different ones are not comparable."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Frames received between two readings, or several such samples merged."""

    frames: int
    bad: int


def frames_between(before: Reading, after: Reading, bits: CounterBits = 64) -> Sample | None:
    """Return the frames received in between, or None if the counters were reset or replaced.

    A 64-bit counter never wraps, so a decrease means a reset, such as a reload of the driver. A 32-bit counter wraps;
    it was reset if it would have counted more than half of its range between two readings.
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
    """The last ``frames_wanted`` frames, as samples; the oldest are dropped.

    Once full, it holds ``frames_wanted`` frames or up to one sample more. Small samples are merged, so that an idle
    link needs no more memory than a busy one: about ``SAMPLES_MAX`` samples.
    """

    SAMPLES_MAX = 1_024

    def __init__(self, frames_wanted: int, samples: Iterable[Sample] = ()) -> None:
        if frames_wanted < 1:
            raise ValueError("a window holds one frame or more")
        self.frames_wanted = frames_wanted
        self.frames = 0
        self.bad = 0
        self._least = max(1, frames_wanted // self.SAMPLES_MAX)
        self._samples: deque[Sample] = deque()
        for sample in samples:
            self.add(sample)

    @property
    def samples(self) -> Sequence[Sample]:
        """The samples from oldest to newest."""
        return tuple(self._samples)

    @property
    def loss_rate(self) -> float:
        """Bad frames over all frames; 0 without frames.

        The paper prints the ratio of good frames and means this.
        """
        return self.bad / self.frames if self.frames else 0.0

    @property
    def is_full(self) -> bool:
        return self.frames >= self.frames_wanted

    def add(self, sample: Sample) -> None:
        """Add the frames received since the last call, and drop old samples."""
        assert 0 <= sample.bad <= sample.frames
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
        assert 0 <= self.bad <= self.frames, "the sums are those of the samples"

    def recent_loss_rate(self, bad_frames: int) -> float:
        """Return the loss rate over the newest samples that contain ``bad_frames`` bad ones, or over all of them.

        The loss rate of the whole window hides a loss that has just begun; this one does not.
        """
        wanted = min(bad_frames, self.bad)
        frames = bad = 0
        for sample in reversed(self._samples):
            if bad >= wanted:
                break
            frames += sample.frames
            bad += sample.bad
        return bad / frames if frames else 0.0
