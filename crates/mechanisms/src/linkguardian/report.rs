//! Reports of the ends of protected links.

use hitless_core::wire::{PortId, Time};
use hitless_switch::{ProtectionState, Report};

use super::receiver::Receiver;
use super::sender::Sender;
use super::settings::Mode;
use crate::one_link::RECOVERY_DELAY;

hitless_switch::counters! {
    pub struct EndState(is_on: bool) {
        switched_on = "switched on": is_on.into(),
    }
}

hitless_switch::counters! {
    pub struct SenderState(sender: &Sender) {
        copies_per_loss = "copies per lost packet": sender.config.copies.into(),
    }
}

hitless_switch::counters! {
    pub struct ReceiverCounters(receiver: &Receiver, now: Time) {
        packets_delivered = "packets delivered": receiver.counters.delivered - receiver.checker.duplicates,
        packets_lost = "packets lost": receiver.lost(),
        packets_delivered_twice = "packets delivered twice": receiver.checker.duplicates,
        packets_delivered_late = "packets delivered late": receiver.checker.reordered,
        packets_missing = "packets found missing": receiver.counters.losses,
        packets_recovered = "packets recovered": receiver.counters.recovered,
        ack_no_timeouts = "ackNoTimeouts": receiver.counters.timeouts,
        notifications_sent_again = "notifications sent again": receiver.counters.repeated_notifications,
        packets_buffered = "packets buffered": receiver.counters.buffered,
        packets_recirculated = "buffered packets recirculated": receiver.counters.recirculations,
        duplicates_removed = "duplicates removed": receiver.counters.duplicates,
        explicit_acknowledgements = "explicit acknowledgements": receiver.counters.explicit_acknowledgements,
        piggybacked_acknowledgements = "piggybacked acknowledgements": receiver.counters.piggybacked_acknowledgements,
        pauses = "pauses": receiver.counters.pauses,
        numbers_missing = "numbers still missing": receiver.missing_numbers(),
        frames_refused = "frames refused": receiver.counters.refused,
        resynchronisations = "resynchronisations": receiver.counters.resynchronisations,
        numbering_starts = "starts of numbers": receiver.counters.starts,
        order_changes = "order kept or not": receiver.counters.order_changes,
        level_wanted = "level asked for": receiver.wanted_level().0 as u64,
        level_changes = "level changes": receiver.wanted_level().1,
        loss_events = "loss events": receiver.counters.loss_runs.iter().sum(),
        longest_stall_ns = "longest stall (ns)": receiver.counters.longest_stall.as_ps() / 1_000,
        timer_packets = "timer packets": now.as_ps() / receiver.config.timer_period.as_ps(),
    }
}

pub fn report_sender(sender: &Sender, report: &mut Report) {
    let scope = scope(sender.config.port, sender.config.channel, "sender");
    let counters = &sender.counters;
    report.acted |= counters.protected > 0;
    report.count(&scope, EndState::values(sender.is_switched_on()));
    counters.report(&scope, report);
    report.count(&scope, SenderState::values(sender));
}

pub fn state_of_sender(sender: &Sender) -> ProtectionState {
    let counters = &sender.counters;
    ProtectionState {
        is_commanded: sender.is_switched_on(),
        phase: sender.phase(),
        keeps_order: sender.mode() == Mode::Blocking,
        copies: Some(sender.config.copies),
        packets: counters.protected,
        lost_on_link: counters.losses_reported,
        recovered: counters.retransmitted,
        lost: None,
    }
}

pub fn state_of_receiver(receiver: &Receiver) -> ProtectionState {
    let (counters, checker) = (&receiver.counters, &receiver.checker);
    ProtectionState {
        is_commanded: receiver.is_active(),
        phase: receiver.phase(),
        keeps_order: receiver.keeps_order(),
        copies: None,
        packets: counters.delivered - checker.duplicates,
        lost_on_link: counters.losses,
        recovered: counters.recovered,
        lost: Some(receiver.lost()),
    }
}

pub fn report_receiver(receiver: &Receiver, now: Time, report: &mut Report) {
    let scope = scope(receiver.config.port, receiver.config.channel, "receiver");
    report.acted |= receiver.counters.delivered > 0;
    report.count(&scope, EndState::values(receiver.is_active()));
    report.count(&scope, ReceiverCounters::values(receiver, now));
    report.histograms.push((scope.clone(), RECOVERY_DELAY, receiver.recovery_delay_ns.clone()));
    let broken = receiver.violated_invariants(now).into_iter().chain(receiver.broken_order_promises());
    report.violated_invariants.extend(broken.map(|promise| format!("linkguardian {scope}: {promise}")));
}

/// The name of an end; the second channel of a link is named.
fn scope(port: PortId, channel: u8, end: &str) -> String {
    match channel {
        0 => format!("port {} {end}", port.0),
        channel => format!("port {} {end}, channel {channel}", port.0),
    }
}
