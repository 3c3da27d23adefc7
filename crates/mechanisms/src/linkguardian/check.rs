//! LinkGuardian.

use std::collections::BTreeSet;

use hitless_scenario::Check;
use hitless_scenario::kind::Surroundings;
use hitless_settings::Problem;
use hitless_wire::{Bytes, Duration, Time};

use super::protected_ends;
use super::sender::REQUEST_REGISTERS_MAX;
use super::settings::{Buffering, LinkGuardianSettings, Mode};

/// What the least frame takes of a line, with preamble and gap (IEEE 802.3, clauses 3 and 4).
const LINE_BYTES_MIN: u64 = 84;

/// The recirculation ports that protected links share can serve them all.
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

/// Reports what of one entry cannot be meant.
pub fn check_entry(settings: &LinkGuardianSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
    let field = format!("{section}.link");
    let link = check.link_between_switches(around.topology, &settings.link, "LinkGuardian", &field);
    if let Some((link, period)) = link.zip(settings.notification_period) {
        let copies = u64::from(settings.control_copies.unwrap_or(1));
        let least = around.topology.link(link.link).settings.rate.time_for(LINE_BYTES_MIN * (2 * copies).max(16));
        let rule = format!("must be at least {least}, or reports fill the link that they go back on");
        check.require(period >= least, &format!("{section}.notification_period"), &rule);
    }
    parameters(check, settings, section);
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
    let holds = pause.is_none_or(|pause| settings.reordering_buffer >= pause) || !settings.backpressure;
    check.require(holds, &field("reordering_buffer"), "must not be below pause_threshold");
    check.require(settings.sender_buffer > Bytes::ZERO, &field("sender_buffer"), "must be above zero");
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
    let has_ports = settings.buffering != Buffering::Recirculation || check.scenario.switch.recirculation_ports > 0;
    check.require(has_ports, &field("buffering"), "needs a recirculation port: switch.recirculation_ports is 0");
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

/// With a shorter one messages would wait for the link faster than it carries them.
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
