//! ackNoTimeout: the deadline of the packet in front (paper, section 3.5).

use crate::linkguardian::headers::SequenceNumber;
use hitless_core::wire::{Duration, Time};
use hitless_switch::Context;

use super::super::timer::TimerKind;
use super::Receiver;

impl Receiver {
    /// Handles the end of a countdown by timer packets: gives up the packet in front if its deadline has passed, and
    /// those behind it that were found missing with it. Their repairs were requested together, so that they are equally
    /// late; waiting for each in turn would stall for milliseconds after an outage.
    pub fn count_down(&mut self, context: &mut Context<'_>) {
        let now = context.now();
        let expected = self.expected.access(context.pass(), 0, |expected| *expected);
        let is_ordered = self.is_ordered;
        let deadline = self.timeout_deadline();
        let missing = &self.missing;
        let last_of_crowd = missing.last_of_crowd();
        let overflow = &mut self.overflow;
        let given_up = self.ack_number.access(context.pass(), 0, |ack_number| {
            // Nothing repairs a packet that the buffer refused, so that it must not wait for the timeout.
            *ack_number = overflow.step_over(*ack_number);
            if *ack_number == expected || !is_ordered {
                return None;
            }
            // "The receiver ignores the lost packet, increments the ackNo, and continues" (section 3.5): without it a
            // lost repair would stall the link for ever.
            let is_due = now >= deadline;
            let first = *ack_number;
            if is_due {
                *ack_number = last_of_crowd.unwrap_or_else(|| missing.last_found_with(first)).plus(1);
            }
            Some(is_due.then(|| (first, ack_number.previous())))
        });
        let Some(given_up) = given_up else {
            self.countdown_is_armed = false;
            return;
        };
        if let Some((first, last)) = given_up {
            self.counters.timeouts += if last_of_crowd.is_some() { 1 } else { last.offset_from(first) as u64 + 1 };
            self.missing.give_up_through(last);
            self.note_progress(now);
            self.release_held(last.plus(1), context);
            if last_of_crowd.is_some() {
                self.let_all_out(context);
            }
            self.settle_reports(None, context);
        }
        self.wake_for_timeout(context);
    }

    /// Starts the countdown when packets begin to wait for the number `first_lost`. It expires lazily and is then
    /// postponed.
    pub(super) fn watch_for_timeout(&mut self, first_lost: SequenceNumber, context: &mut Context<'_>) {
        // A countdown for an earlier gap may still run although nothing has waited since.
        if !self.countdown_is_armed || self.ack_number.peek(0) == first_lost {
            self.countdown_from = context.now();
        }
        if !std::mem::replace(&mut self.countdown_is_armed, true) {
            self.wake_for_timeout(context);
        }
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.is_ordered && self.ack_number.peek(0) != self.expected.peek(0) && self.countdown_is_armed
    }

    pub(super) fn note_progress(&mut self, now: Time) {
        if self.countdown_is_armed {
            let stall = now.saturating_since(self.countdown_from);
            self.counters.longest_stall = self.counters.longest_stall.max(stall);
        }
        self.countdown_from = now;
    }

    /// The `count`-th timer packet after `from`; the packet generator keeps its phase.
    pub(super) fn timer_packet_after(&self, from: Time, count: u64) -> Time {
        let period = self.config.timer_period;
        assert!(period > Duration::ZERO, "timer packets come with a period");
        Time(from.as_ps() / period.as_ps() * period.as_ps()) + period * count
    }

    fn timeout_deadline(&self) -> Time {
        self.timer_packet_after(self.countdown_from, self.config.acknowledgement_timeout / self.config.timer_period)
    }

    fn wake_for_timeout(&self, context: &mut Context<'_>) {
        context.wake_at(self.timeout_deadline(), self.timer(TimerKind::AckNumberTimeout));
    }
}
