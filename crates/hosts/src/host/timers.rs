//! Lazy timers: the pending timer events of one end of a flow.
//!
//! A transport moves its deadline with nearly every packet, nearly always to a later time. So an event is scheduled
//! only if no pending event comes early enough. An event that comes too early does nothing, and a new one is scheduled
//! then. Usually one event is pending per end of a flow.

use hitless_core::wire::Time;

const SLOTS: usize = 3;

/// The pending timer events of one end.
///
/// There can be several after a deadline was moved closer (a paced packet before a retransmission timeout). The later
/// event cannot be cancelled, but it is remembered for reuse instead of scheduling another.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
#[repr(C)]
pub struct PendingTimers {
    /// Earliest event: the only field read per packet.
    earliest: Time,
    /// Other events, latest first.
    later: [Time; SLOTS - 1],
    later_count: usize,
}

impl PendingTimers {
    pub const NONE: PendingTimers =
        PendingTimers { earliest: Time::NEVER, later: [Time::NEVER; SLOTS - 1], later_count: 0 };

    /// Sets the transport's `deadline`; returns when an event must be scheduled for it, if any.
    #[inline]
    pub fn arm(&mut self, now: Time, deadline: Time) -> Option<Time> {
        if deadline >= self.earliest { None } else { Some(self.add(now, deadline)) }
    }

    #[inline(never)]
    fn add(&mut self, now: Time, deadline: Time) -> Time {
        // With all slots in use the earliest is forgotten; its event will be ignored.
        if self.earliest != Time::NEVER && self.later_count < self.later.len() {
            self.later[self.later_count] = self.earliest;
            self.later_count += 1;
        }
        self.earliest = deadline.max(now);
        debug_assert!(
            self.later[..self.later_count].is_sorted_by(|before, after| before >= after),
            "timers out of order"
        );
        self.earliest
    }

    /// Handles a timer event; returns whether it is still relevant.
    #[inline]
    pub fn fire(&mut self, now: Time) -> bool {
        if self.earliest != now {
            return false;
        }
        self.earliest = Time::NEVER;
        if self.later_count > 0 {
            self.later_count -= 1;
            self.earliest = self.later[self.later_count];
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_that_moves_away_schedules_nothing() {
        let mut timers = PendingTimers::NONE;
        assert_eq!(timers.arm(Time(0), Time(10)), Some(Time(10)));
        for deadline in 10..20 {
            assert_eq!(timers.arm(Time(5), Time(deadline)), None);
        }
        assert!(timers.fire(Time(10)));
        assert_eq!(timers.arm(Time(10), Time(19)), Some(Time(19)));
    }

    #[test]
    fn a_deadline_that_moves_closer_keeps_the_later_event() {
        let mut timers = PendingTimers::NONE;
        assert_eq!(timers.arm(Time(0), Time(100)), Some(Time(100)));
        assert_eq!(timers.arm(Time(1), Time(2)), Some(Time(2)));
        assert!(timers.fire(Time(2)));
        assert_eq!(timers.arm(Time(2), Time(102)), None);
        assert!(timers.fire(Time(100)));
        assert_eq!(timers.arm(Time(100), Time::NEVER), None);
    }

    #[test]
    fn a_forgotten_event_is_ignored() {
        let mut timers = PendingTimers::NONE;
        for deadline in [50, 40, 30, 20] {
            assert_eq!(timers.arm(Time(0), Time(deadline)), Some(Time(deadline)));
        }
        assert!(timers.fire(Time(20)));
        assert!(!timers.fire(Time(30)));
        assert!(timers.fire(Time(40)));
        assert!(timers.fire(Time(50)));
    }

    #[test]
    fn a_deadline_in_the_past_is_due_now() {
        let mut timers = PendingTimers::NONE;
        assert_eq!(timers.arm(Time(7), Time(3)), Some(Time(7)));
    }
}
