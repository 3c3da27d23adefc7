//! Checks of LinkGuardian's settings.

use std::collections::BTreeSet;

use hitless_core::settings::Problem;
use hitless_core::wire::{Bytes, Duration, Time};
use hitless_scenario::Check;
use hitless_scenario::kind::Surroundings;
use hitless_scenario::network::switch::BufferSettings;

use super::headers::SequenceNumber;
use super::parameters::LinkShape;
use super::protected_ends;
use super::sender::REQUEST_REGISTERS_MAX;
use super::settings::{Buffering, LINE_COST_MAX, LinkGuardianSettings, Mode};
use crate::one_link;

/// Minimum size of a frame on the line, with preamble and gap (IEEE 802.3, clauses 3 and 4).
const LINE_BYTES_MIN: u64 = 84;

/// Requires that the shared recirculation ports can serve all protected links.
pub fn admission(around: Surroundings<'_>, check: &mut Check<'_>) {
    let topology = around.topology;
    let Some(overload) = protected_ends::overload(around) else { return };
    let (switch, number) = (&topology.switch(overload.switch).name, overload.recirculation);
    let from = if overload.at == Time::ZERO { String::new() } else { format!(" from {} on", overload.at) };
    let rule = format!("recirculation{number} of {switch} has no room for it{from}: {}", overload.reason);
    let hint = "more recirculation ports (switch.recirculation_ports) or faster ones (recirculation_rate); \
                admission_control = false lets it be tried";
    let field = format!("mechanism[{}].link", overload.mechanism);
    check.report(Problem::new(field, "", rule).hint(hint));
}

pub fn check_entry(settings: &LinkGuardianSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
    let field = format!("{section}.link");
    let link = check.link_between_switches(around.topology, &settings.link, "LinkGuardian", &field);
    if let Some(link) = link {
        room(settings, around, section, check);
        tail(settings, around.scenario.goes_down(around.topology, link), section, check);
    }
    if let Some((link, period)) = link.zip(settings.notification_period) {
        let copies = u64::from(settings.control_copies.unwrap_or(1));
        let least = one_link::range(link, around.topology).lowest_rate.time_for(LINE_BYTES_MIN * (2 * copies).max(16));
        let rule = format!("must be at least {least}, or reports fill the link that they go back on");
        check.require(period >= least, &format!("{section}.notification_period"), &rule);
    }
    parameters(check, settings, section);
}

/// Requires probes on a link that goes down.
fn tail(settings: &LinkGuardianSettings, goes_down: bool, section: &str, check: &mut Check<'_>) {
    check.require_else(!goes_down || settings.tail_probes != Some(false), || {
        let dummies = if settings.tail_detection { settings.dummy_count } else { 0 };
        let rule = format!(
            "must be true on a link that goes down: the outage loses the tail with all its dummies ({dummies}), or \
             its acknowledgements, and the sender then keeps the copies for ever"
        );
        Problem::new(format!("{section}.tail_probes"), "", rule).hint("leave it out: it is then true")
    });
}

fn parameters(check: &mut Check<'_>, settings: &LinkGuardianSettings, section: &str) {
    let field = |name: &str| format!("{section}.{name}");
    let both = settings.copies.is_some() && settings.actual_loss_rate.is_some();
    check.require(!both, &field("actual_loss_rate"), "has no effect when copies are given");
    check.require(settings.timer_period > Duration::ZERO, &field("timer_period"), "must be above zero");
    let waits = settings.ack_no_timeout.is_none_or(|timeout| timeout >= settings.timer_period);
    check.require(waits, &field("ack_no_timeout"), "must be at least one timer_period");
    let period = settings.notification_period;
    let is_in_time = period.zip(settings.ack_no_timeout).is_none_or(|(period, timeout)| period < timeout);
    check.require(is_in_time, &field("notification_period"), "must be below ack_no_timeout, which gives a loss up");
    let pause = settings.pause_threshold;
    let rises = pause.zip(settings.resume_threshold).is_none_or(|(pause, resume)| pause > resume);
    check.require(rises, &field("pause_threshold"), "must be above resume_threshold");
    check.require(settings.sender_buffer != Some(Bytes::ZERO), &field("sender_buffer"), "must be above zero");
    check.times_rise(settings.activation.iter().map(|change| change.at), &field("activation"));
    let mut active = false;
    for (index, change) in settings.activation.iter().enumerate() {
        let field = field(&format!("activation[{index}].active"));
        let changes = change.active != active || index == 0;
        check.require(changes, &field, "it is in this state already");
        active = change.active;
    }
    let begins_known = settings.handshake || settings.first_number == 0;
    check.require(begins_known, &field("first_number"), "needs handshake = true: else the receiver expects 0");
    second_channel(check, settings, section);
    fallback(check, settings, section);
    let registers = settings.consecutive_losses_max as usize <= REQUEST_REGISTERS_MAX;
    check.require_else(registers, || {
        let rule = format!("must be at most {REQUEST_REGISTERS_MAX}: so many registers the model has");
        Problem::new(field("consecutive_losses_max"), "", rule)
    });
    let has_ports = check.scenario.switch.recirculation_ports > 0;
    check.require(has_ports, &field("link"), "needs a recirculation port: switch.recirculation_ports is 0");
}

/// Maximum number of numbers that sender and receiver can compare (section 3.5: 16 bits and an era).
const NUMBERS_MAX: u64 = SequenceNumber::RANGE as u64 / 2;

/// Requires that timeouts, buffers and numbers suffice for the link; otherwise a loss would cost more than its packet.
fn room(settings: &LinkGuardianSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
    let field = |name: &str| format!("{section}.{name}");
    let link = settings.shape(around);
    let (timeout, (_, pause), (sender, reordering)) = (settings.timeout(), settings.thresholds(), settings.buffers());
    check.require_else(timeout >= link.round_trip(), || {
        let rule = format!("must be at least {}: no repair comes back sooner on this link", link.round_trip());
        Problem::new(field("ack_no_timeout"), "", rule)
    });
    if !settings.admission_control {
        return;
    }
    let numbers = link.rate.bytes_in(timeout).0 / around.scenario.data_frame_min().0.max(1);
    check.require_else(numbers <= NUMBERS_MAX, || {
        let frame = around.scenario.data_frame_min();
        let rule = format!(
            "the link sends {numbers} frames of {frame} until a repair has come ({timeout}), and numbers of 16 bits \
             tell {NUMBERS_MAX} apart"
        );
        Problem::new(field("link"), "", rule).hint("larger frames, a slower or a shorter link")
    });
    let needed = link.unacknowledged_bytes_max(link.acknowledgement_timeout(settings.copy_count()).min(timeout));
    check.require_else(sender >= needed, || {
        let rule = format!("must be at least {needed}, which the link sends until a repair has come");
        Problem::new(field("sender_buffer"), "", rule).hint("leave it out: it then follows from the link")
    });
    let needed = link.reordering_bytes_max(pause);
    let is_enough = reordering >= needed || !settings.backpressure;
    check.require_else(is_enough, || {
        let coming = link.coming_until_pause();
        let flight = link.resume_flight();
        let rule = format!(
            "must be at least {needed}: pause_threshold ({pause}), and {coming} that arrive until a pause has an \
             effect ({flight})"
        );
        Problem::new(field("reordering_buffer"), "", rule).hint("leave it out: it then follows from the link")
    });
    cost(settings, link, section, check);
    let topology = around.topology;
    let ends = around.links(&settings.link).into_iter().flat_map(|link| [link, link.reversed()]);
    let ends = ends.filter_map(|link| topology.ends(link).0.node.switch());
    for switch in around.scenario.switch.variants_at(topology, ends) {
        let BufferSettings::Shared(shared) = &switch.buffer else { continue };
        check.require_else(sender.max(reordering) <= shared.total, || {
            let total = shared.total;
            let rule = format!("needs buffers of {sender} and {reordering}, and switch.buffer.total is {total}");
            Problem::new(field("link"), "", rule).hint("a slower or a shorter link, or more memory")
        });
    }
}

/// Requires that losses cost an acceptable share of the line.
fn cost(settings: &LinkGuardianSettings, link: LinkShape, section: &str, check: &mut Check<'_>) {
    let (copies, loss_rate) = (settings.copy_count(), settings.loss_rate_or_usual());
    let is_ring = settings.waiting_place() == Buffering::Recirculation && settings.mode == Mode::Blocking;
    let cost = link.cost_of_recirculation(copies, loss_rate);
    check.require_else(!is_ring || cost <= LINE_COST_MAX, || {
        let (time, frame) = (link.time_of_loss(copies), link.frame_max);
        let rule = format!(
            "costs about {:.0} % of the line: at a loss rate of {loss_rate} one frame of {frame} in {:.0} is lost, and \
             packets wait about {time} for each",
            cost * 100.0,
            1.0 / loss_rate,
        );
        let hint = "buffering = \"paused-queue\", or mode = \"non-blocking\"";
        Problem::new(format!("{section}.buffering"), "", rule).hint(hint)
    });
}

fn second_channel(check: &mut Check<'_>, settings: &LinkGuardianSettings, section: &str) {
    let (classes, field) = (&settings.non_blocking_classes, format!("{section}.non_blocking_classes"));
    check.require(classes.iter().all(|&class| class < 8), &field, "a traffic class is a number from 0 to 7");
    let distinct: BTreeSet<_> = classes.iter().collect();
    check.require(distinct.len() == classes.len(), &field, "names a class twice");
    check.require(distinct.len() < 8, &field, "must leave a class: mode = \"non-blocking\" is for all of them");
    let is_needed = classes.is_empty() || settings.mode == Mode::Blocking;
    check.require(is_needed, &field, "has no effect with mode = \"non-blocking\": no class is kept in order");
}

/// With a shorter period messages would arrive faster than the link can carry them.
const FALLBACK_PERIOD_MIN: Duration = Duration::from_us(10);

fn fallback(check: &mut Check<'_>, settings: &LinkGuardianSettings, section: &str) {
    let Some(fallback) = &settings.fallback else { return };
    let field = |name: &str| format!("{section}.fallback.{name}");
    let is_slow = fallback.period >= FALLBACK_PERIOD_MIN;
    check.require(is_slow, &field("period"), "must be at least 10 us: each time a message crosses the link");
    check.require(fallback.hold > Duration::ZERO, &field("hold"), "must be above zero");
    check.require(fallback.hold_max >= fallback.hold, &field("hold_max"), "must not be below hold");
    let rises = fallback.off_above >= fallback.non_blocking_above;
    check.require(rises, &field("off_above"), "must not be below non_blocking_above");
}
