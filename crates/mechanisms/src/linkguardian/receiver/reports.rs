//! Losses that are reported until the sender answers, for links whose reverse direction loses frames too.
//!
//! The paper sends several copies of a notification back to back (section 5). If all of them are lost, the next
//! acknowledgement releases the sender's copies, and the packet is lost. Here nothing behind a gap is acknowledged
//! until the gap has a repair or is given up, so that the sender still has the copies when the notification is
//! repeated. Gaps are reported one after another, because a notification acknowledges the numbers that it reports.

use crate::linkguardian::headers::SequenceNumber;
use hitless_core::wire::{Duration, Time};
use hitless_switch::Context;

use super::super::timer::TimerKind;
use super::Receiver;
use super::gaps::Gap;

impl Receiver {
    /// Reports a gap, at once or after the earlier ones have been answered.
    pub(super) fn report(&mut self, gap: Gap, period: Duration, context: &mut Context<'_>) {
        let is_behind = |last: &Gap| last.first_lost.offset_from(gap.first_lost) < 0;
        assert!(self.reports.gaps.back().is_none_or(is_behind), "gaps are reported in the order of their numbers");
        self.reports.gaps.push_back(gap);
        if self.reports.gaps.len() == 1 {
            self.report_first(period, context);
        }
    }

    fn report_first(&mut self, period: Duration, context: &mut Context<'_>) {
        let now = context.now();
        let Some(gap) = self.reports.gaps.front_mut() else { return };
        // The patience of a gap runs from its first report: repetitions do not extend it.
        gap.reported_since.get_or_insert(now);
        let gap = *gap;
        self.reports.reported_at = now;
        self.send_notifications(gap, context);
        if !std::mem::replace(&mut self.reports.is_armed, true) {
            context.wake_at(now + period, self.timer(TimerKind::Report));
        }
    }

    /// Removes gaps that a repair has answered or that were given up, and reports the next one.
    pub(super) fn settle_reports(&mut self, repaired: Option<SequenceNumber>, context: &mut Context<'_>) {
        let Some(period) = self.config.notification_period else { return };
        let before = self.reports.gaps.len();
        while let Some(gap) = self.reports.gaps.front().copied() {
            if !self.is_settled(&gap, repaired, context.now()) {
                break;
            }
            self.reports.gaps.pop_front();
        }
        // Nothing was settled: the number that may be acknowledged is still the one before the first gap.
        if self.reports.gaps.len() == before {
            return;
        }
        let until = self.reports.acknowledged_until().unwrap_or_else(|| self.expected.peek(0).previous());
        self.acknowledge_until(until, context);
        self.report_first(period, context);
    }

    /// Whether a gap needs no more reports. In ordered mode the countdown gives up missing packets; without order no
    /// packet waits, and a gap has the same time.
    fn is_settled(&self, gap: &Gap, repaired: Option<SequenceNumber>, now: Time) -> bool {
        let is_answered = repaired.is_some_and(|sequence| gap.contains(sequence));
        let patience = self.config.acknowledgement_timeout;
        let is_hopeless =
            !self.is_ordered && gap.reported_since.is_some_and(|since| now.saturating_since(since) >= patience);
        is_answered || is_hopeless || !self.missing.any(|sequence| gap.contains(sequence))
    }

    pub fn repeat_report(&mut self, context: &mut Context<'_>) {
        self.reports.is_armed = false;
        self.settle_reports(None, context);
        let Some(period) = self.config.notification_period else { return };
        if self.reports.gaps.is_empty() || self.reports.is_armed {
            return;
        }
        let due = self.reports.reported_at + period;
        if due <= context.now() {
            self.counters.repeated_notifications += 1;
            self.report_first(period, context);
        } else {
            self.reports.is_armed = true;
            context.wake_at(due, self.timer(TimerKind::Report));
        }
    }
}
