//! Small irregularities of a card's transmitter; without them senders lock into a pattern.
//!
//! With identical clocks and no delays, two senders that fill a port keep their phases, and the same sender takes every
//! free place in the queue. Floyd and Jacobson ("On Traffic Phase Effects in Packet-Switched Gateways", 1992) show the
//! effect and its remedy: a random delay of up to the time of one frame.

use hitless_core::wire::{Duration, LineClock, Time};

/// Maximum delay of the first frame of an idle card.
const IDLE_DELAY_MAX: Duration = Duration::from_ns(10);
/// Number of frame times after its last frame during which a card counts as active.
const ACTIVE_FRAMES: u64 = 16;
/// Bytes that a late card takes from the gap before each frame: 5 of the 12 must remain (IEEE 802.3, clause
/// 46.3.1.4 and its successors).
const GAP_BYTES_SAVED: u32 = 7;
/// A frame of a busy card slips with probability (this number / bytes on the wire): 1/64 for full frames. If slips are
/// much rarer, the pattern remains; if they are much more frequent, the card never catches up.
const SLIP_BYTES: u64 = 24;

/// The clock of a transmitter, and the seed of its irregularities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardClock {
    /// Deviation of the clock in parts per billion; positive is too fast.
    pub offset_ppb: i32,
    pub seed: u64,
}

/// Draws the delays of a card's frames.
///
/// Frames keep their order and the line's rate: a late frame of a backlog is followed by shorter gaps until the card
/// has caught up.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct CardTiming {
    /// A linear congruential generator (Knuth's MMIX): a few instructions per frame; only its upper bits are used.
    state: u64,
    /// Earliest start of the next frame on the line: the end of the last frame in the queue, which can be later than
    /// the queue assumes, minus the time that a frame makes up.
    ready_at: Time,
    /// Time that a late line makes up with each frame.
    catch_up: Duration,
}

impl CardTiming {
    pub fn new(seed: u64, clock: LineClock) -> Self {
        Self { state: seed, ready_at: Time::ZERO, catch_up: clock.time_for(GAP_BYTES_SAVED) }
    }

    /// Draws the time from `now` until a frame is ready to be sent: up to a frame time on an active card.
    #[inline(always)]
    pub fn draw_delay(&mut self, now: Time, busy_until: Time, serialisation: Duration) -> Duration {
        let active_until = busy_until + Duration(serialisation.0 * ACTIVE_FRAMES);
        let is_active = now < active_until && busy_until > Time::ZERO;
        self.draw_below(if is_active { serialisation } else { IDLE_DELAY_MAX })
    }

    /// Draws the start of a frame of `wire_bytes` that is due at `due_at`. Call [`Self::send_until`] next if the queue
    /// has room for it.
    #[inline(always)]
    pub fn draw_start(&mut self, due_at: Time, serialisation: Duration, wire_bytes: u32) -> Time {
        let chance = self.state >> 16 & 0xffff;
        let mut starts_at = self.ready_at.max(due_at);
        if chance * u64::from(wire_bytes) < SLIP_BYTES << 16 {
            starts_at = starts_at.max(due_at + self.draw_below(serialisation));
        }
        starts_at
    }

    /// Records a frame on the line until its last bit leaves at `last_bit_at`.
    #[inline(always)]
    pub fn send_until(&mut self, last_bit_at: Time) {
        self.ready_at = Time(last_bit_at.0 - self.catch_up.0);
    }

    pub fn ready_at(&self) -> Time {
        self.ready_at
    }

    /// Returns when the last bit of the last frame leaves; zero before the first frame.
    pub fn last_bit_at(&self) -> Time {
        if self.ready_at == Time::ZERO { Time::ZERO } else { self.ready_at + self.catch_up }
    }

    /// Takes the clock of another rate for later frames.
    pub fn set_clock(&mut self, clock: LineClock) {
        let last_bit_at = self.last_bit_at();
        self.catch_up = clock.time_for(GAP_BYTES_SAVED);
        self.ready_at = Time(last_bit_at.0.saturating_sub(self.catch_up.0));
    }

    #[inline(always)]
    fn draw_below(&mut self, end: Duration) -> Duration {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // 24 random bits support frame times of up to a second; a longer one would wrap to a shorter delay.
        Duration((self.state >> 40).wrapping_mul(end.0) >> 24)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hitless_core::wire::BitRate;

    const FRAME: u32 = 1_538;

    fn timing(seed: u64) -> (CardTiming, Duration) {
        let clock = LineClock::off_by(BitRate::from_gbps(100), 0);
        (CardTiming::new(seed, clock), clock.time_for(FRAME))
    }

    #[test]
    fn a_card_that_was_idle_starts_within_ten_nanoseconds_and_an_active_one_within_a_frame() {
        let (mut timing, frame) = timing(1);
        let busy_until = Time(1_000_000);
        let mut latest = |now: u64, busy_until| {
            (0..1_000).map(|_| timing.draw_delay(Time(now), busy_until, frame).0).max().unwrap_or_default()
        };
        for (now, busy_until, end) in [
            (0, Time(0), IDLE_DELAY_MAX),
            (500, Time(0), IDLE_DELAY_MAX),
            (1_000_000, busy_until, frame),
            (1_000_000 + 16 * frame.0 - 1, busy_until, frame),
            (1_000_000 + 16 * frame.0, busy_until, IDLE_DELAY_MAX),
        ] {
            let latest = latest(now, busy_until);
            assert!((end.0 * 98 / 100..end.0).contains(&latest), "at {now}: {latest} of {end:?}");
        }
    }

    #[test]
    fn a_busy_card_falls_behind_by_less_than_a_frame_and_catches_up_byte_by_byte() {
        let (mut timing, frame) = timing(7);
        let (mut due_at, mut before, mut slips, mut sum) = (Time(1), Duration::ZERO, 0, 0);
        for _ in 0..64_000 {
            timing.draw_delay(Time(1), Time(1), frame);
            let starts_at = timing.draw_start(due_at, frame, FRAME);
            timing.send_until(starts_at + frame);
            let lag = starts_at - due_at;
            due_at += frame;
            assert!(lag < frame);
            assert!(lag.0 + timing.catch_up.0 >= before.0, "a gap of less than five bytes");
            slips += u64::from(lag > before);
            sum += lag.0;
            before = lag;
        }
        assert!((500..1_100).contains(&slips), "{slips} slips that show");
        let mean = sum / 64_000;
        assert!((frame.0 / 4..frame.0 / 2).contains(&mean), "a mean lag of {mean} ps");
    }

    #[test]
    fn a_pause_is_used_to_catch_up() {
        let (mut timing, frame) = timing(1);
        timing.send_until(Time(1) + frame);
        timing.draw_delay(Time(1), Time(1), frame);
        let due_at = Time(1 + frame.0 / 2);
        assert!(timing.draw_start(due_at, frame, FRAME) - due_at < Duration(frame.0 / 2));
    }
}
