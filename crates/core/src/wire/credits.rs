//! Credits of a MAC: the sender of a link counts the credits that its frames consume, and the receiver those that it
//! frees. A frame starts only if its credits are left.
//!
//! After public descriptions of Ultra Ethernet's credit-based flow control (docs/how-to/lossless.md). Counters are
//! cyclic and travel whole, so that the next message repairs a lost one.

use crate::wire::{Duration, Time};

/// Number of values of a counter, which has 20 bits. A link never has as many credits in use.
pub const CREDIT_COUNTS: u32 = 1 << 20;

/// The parameters of credit on a direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, crate::state::Value)]
pub struct CreditRules {
    /// Bytes of the receiver's memory in one credit.
    pub credit_bytes: u32,
    /// Time from the arrival of an update until its credits can be used.
    pub response: Duration,
    /// Minimum time between two updates of a class.
    pub update_interval: Duration,
    /// Time after which a sender with credits in use reports its count; `None` if no link loses a frame.
    pub sync_interval: Option<Duration>,
}

impl CreditRules {
    /// Returns the credits of a frame: it takes whole credits.
    pub const fn credits(&self, frame_bytes: u32) -> u32 {
        frame_bytes.div_ceil(self.credit_bytes)
    }

    /// Returns the bytes of memory that a frame takes.
    pub const fn memory_bytes(&self, frame_bytes: u32) -> u64 {
        self.credits(frame_bytes) as u64 * self.credit_bytes as u64
    }
}

fn difference(newer: u32, older: u32) -> u32 {
    newer.wrapping_sub(older) % CREDIT_COUNTS
}

fn sum(count: u32, credits: u32) -> u32 {
    count.wrapping_add(credits) % CREDIT_COUNTS
}

/// The credits of a class at the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, crate::state::Value)]
pub struct SenderCredits {
    consumed: u32,
    freed: u32,
    /// Whether an event will report the count of consumed credits.
    is_sync_due: bool,
}

impl SenderCredits {
    /// Returns the credits that the receiver has not returned.
    pub fn in_use(&self) -> u32 {
        difference(self.consumed, self.freed)
    }

    /// Returns whether a frame of this many credits may start, with `limit` credits in all.
    pub fn allows(&self, credits: u32, limit: u32) -> bool {
        self.in_use() + credits <= limit
    }

    /// Spends the credits of a frame that starts.
    pub fn consume(&mut self, credits: u32, limit: u32) {
        assert!(self.allows(credits, limit), "a frame starts without credit");
        self.consumed = sum(self.consumed, credits);
    }

    /// Takes the receiver's count of freed credits; returns the credits that it adds.
    pub fn update(&mut self, freed: u32) -> u32 {
        let returned = difference(freed, self.freed);
        assert!(returned <= self.in_use(), "a receiver returned {returned} credits of {} in use", self.in_use());
        self.freed = freed;
        returned
    }

    /// Returns the time until a report of the count is due; `None` if an event will report it, or if no link loses a
    /// frame.
    pub fn arm_sync(&mut self, rules: &CreditRules) -> Option<Duration> {
        let interval = rules.sync_interval.filter(|_| !self.is_sync_due);
        self.is_sync_due |= interval.is_some();
        interval
    }

    /// Returns the count for a report that is due; `None` if all credits have returned, so that nothing can be lost.
    pub fn take_sync(&mut self) -> Option<u32> {
        self.is_sync_due = false;
        (self.in_use() > 0).then_some(self.consumed)
    }
}

/// The credits of a class at the receiver, and its next update.
#[derive(Clone, Copy, Debug, PartialEq, Eq, crate::state::Value)]
pub struct ReceiverCredits {
    consumed: u32,
    freed: u32,
    updated_at: Option<Time>,
    /// Time of the next update; [`Time::NEVER`] without one.
    updates_at: Time,
}

impl Default for ReceiverCredits {
    fn default() -> Self {
        Self { consumed: 0, freed: 0, updated_at: None, updates_at: Time::NEVER }
    }
}

impl ReceiverCredits {
    /// Returns the credits of frames in memory.
    pub fn in_use(&self) -> u32 {
        difference(self.consumed, self.freed)
    }

    /// Counts the credits of a frame that has arrived.
    pub fn admit(&mut self, credits: u32) {
        self.consumed = sum(self.consumed, credits);
    }

    /// Frees the credits of a frame that leaves. Returns the time of the update, unless it is scheduled.
    pub fn free(&mut self, now: Time, credits: u32, rules: &CreditRules) -> Option<Time> {
        assert!(credits <= self.in_use(), "a frame leaves that did not consume its credits");
        self.freed = sum(self.freed, credits);
        self.schedule(now, rules)
    }

    /// Takes the sender's count of consumed credits: it has spent the difference on frames that the link lost. Returns
    /// the time of the answer, unless an update is scheduled.
    pub fn reconcile(&mut self, now: Time, consumed: u32, rules: &CreditRules) -> Option<Time> {
        self.freed = sum(self.freed, difference(consumed, self.consumed));
        self.consumed = consumed;
        self.schedule(now, rules)
    }

    fn schedule(&mut self, now: Time, rules: &CreditRules) -> Option<Time> {
        if self.updates_at != Time::NEVER {
            return None;
        }
        self.updates_at = self.updated_at.map_or(now, |at| now.max(at + rules.update_interval));
        Some(self.updates_at)
    }

    /// Returns the count of freed credits for the update that is due now.
    pub fn take_update(&mut self, now: Time) -> u32 {
        assert!(self.updates_at == now, "an update of credits comes at another time than scheduled");
        self.updates_at = Time::NEVER;
        self.updated_at = Some(now);
        self.freed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: CreditRules =
        CreditRules { credit_bytes: 64, response: Duration::ZERO, update_interval: Duration(100), sync_interval: None };

    #[test]
    fn frames_take_whole_credits() {
        let cases = [(1, 1), (64, 1), (65, 2), (1_518, 24), (9_018, 141)];
        for (frame_bytes, credits) in cases {
            assert_eq!(RULES.credits(frame_bytes), credits, "{frame_bytes} B");
            assert_eq!(RULES.memory_bytes(frame_bytes), u64::from(credits) * 64);
        }
    }

    #[test]
    fn updates_keep_their_distance_and_cover_all_that_was_freed() {
        let mut receiver = ReceiverCredits::default();
        receiver.admit(30);
        assert_eq!(receiver.free(Time(5), 10, &RULES), Some(Time(5)));
        assert_eq!(receiver.free(Time(5), 5, &RULES), None, "the update is scheduled");
        assert_eq!(receiver.take_update(Time(5)), 15);
        assert_eq!(receiver.free(Time(50), 5, &RULES), Some(Time(105)));
        assert_eq!(receiver.free(Time(60), 10, &RULES), None);
        assert_eq!(receiver.take_update(Time(105)), 30);
        receiver.admit(1);
        assert_eq!(receiver.free(Time(400), 1, &RULES), Some(Time(400)));
    }

    #[test]
    fn a_count_is_reported_while_credits_are_in_use() {
        let rules = CreditRules { sync_interval: Some(Duration(700)), ..RULES };
        let mut sender = SenderCredits::default();
        assert_eq!((sender.arm_sync(&RULES), sender.take_sync()), (None, None));
        sender.consume(30, 40);
        assert_eq!(sender.arm_sync(&rules), Some(Duration(700)));
        assert_eq!(sender.arm_sync(&rules), None, "the report is scheduled");
        assert_eq!(sender.take_sync(), Some(30));
        assert_eq!(sender.arm_sync(&rules), Some(Duration(700)));
        assert_eq!([sender.update(10), sender.update(10), sender.update(30)], [10, 0, 20]);
        assert_eq!(sender.take_sync(), None);
    }

    /// Any loss of frames and messages: the receiver never has more than the limit in memory, and all credits return.
    #[test]
    fn lost_frames_and_messages_never_overrun_the_memory_and_are_repaired() {
        const LIMIT: u32 = 100;
        let mut state = 7_u64;
        let mut draw = |range: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32 % range
        };
        let (mut sender, mut receiver) = (SenderCredits::default(), ReceiverCredits::default());
        let (mut memory, mut now) = (Vec::new(), Time::ZERO);
        let mut spent = 0_u64;
        // The counters wrap several times.
        for _ in 0..200_000 {
            now += Duration(1_000);
            let credits = 1 + draw(60);
            if sender.allows(credits, LIMIT) {
                sender.consume(credits, LIMIT);
                spent += u64::from(credits);
                if draw(10) > 0 {
                    receiver.admit(credits);
                    memory.push(credits);
                }
            }
            assert!(memory.iter().sum::<u32>() <= LIMIT);
            let leaves = draw(3) > 0;
            if leaves
                && let Some(credits) = memory.pop()
                && let Some(at) = receiver.free(now, credits, &RULES)
            {
                let freed = receiver.take_update(at);
                if draw(10) > 0 {
                    sender.update(freed);
                }
            }
            if draw(20) == 0
                && let Some(consumed) = sender.take_sync()
                && let Some(at) = receiver.reconcile(now, consumed, &RULES)
            {
                sender.update(receiver.take_update(at));
                assert_eq!(sender.in_use(), receiver.in_use());
            }
        }
        assert!(spent > 2 * u64::from(CREDIT_COUNTS), "{spent}");
    }
}
