//! Reports of the ends of protected links.

use hitless_core::wire::{PortId, Time};
use hitless_switch::{ProtectionState, Report};

use super::receiver::Receiver;
use super::sender::Sender;
use super::settings::Mode;

pub fn report_sender(sender: &Sender, report: &mut Report) {
    let scope = scope(sender.config.port, sender.config.channel, "sender");
    let counters = &sender.counters;
    report.acted |= counters.protected > 0;
    report.count(&scope, "switched on", u64::from(sender.is_switched_on()));
    counters.report(&scope, report);
    report.count(&scope, "copies per lost packet", u64::from(sender.config.copies));
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
    let (counters, checker) = (&receiver.counters, &receiver.checker);
    let (level, level_changes) = receiver.wanted_level();
    report.acted |= counters.delivered > 0;
    for (name, value) in [
        ("switched on", u64::from(receiver.is_active())),
        ("packets delivered", counters.delivered - checker.duplicates),
        ("packets lost", receiver.lost()),
        ("packets delivered twice", checker.duplicates),
        ("packets delivered late", checker.reordered),
        ("packets found missing", counters.losses),
        ("packets recovered", counters.recovered),
        ("ackNoTimeouts", counters.timeouts),
        ("notifications sent again", counters.repeated_notifications),
        ("packets buffered", counters.buffered),
        ("buffered packets recirculated", counters.recirculations),
        ("duplicates removed", counters.duplicates),
        ("explicit acknowledgements", counters.explicit_acknowledgements),
        ("piggybacked acknowledgements", counters.piggybacked_acknowledgements),
        ("pauses", counters.pauses),
        ("numbers still missing", receiver.missing_numbers()),
        ("frames refused", counters.refused),
        ("resynchronisations", counters.resynchronisations),
        ("starts of numbers", counters.starts),
        ("order kept or not", counters.order_changes),
        ("level asked for", level as u64),
        ("level changes", level_changes),
        ("loss events", counters.loss_runs.iter().sum()),
        ("longest stall (ns)", counters.longest_stall.as_ps() / 1_000),
        ("timer packets", now.as_ps() / receiver.config.timer_period.as_ps()),
    ] {
        report.count(&scope, name, value);
    }
    report.histograms.push((scope.clone(), "recovery delay (ns)", receiver.recovery_delay_ns.clone()));
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
