//! Packet trimming: whether there is anything to cut.

use hitless_network::switch::SchedulerKind;
use hitless_scenario::kind::Surroundings;
use hitless_scenario::{Check, LENGTH_RULE, Protocol, is_length};
use hitless_settings::Problem;
use hitless_wire::packet::MINIMUM_FRAME_BYTES;

use super::settings::TrimmingSettings;

/// Reports what of one entry cannot be meant.
pub fn check_entry(settings: &TrimmingSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
    check.ports_named_once(around.topology, &settings.ports, &format!("{section}.ports"));
    parameters(check, settings, section);
    let why = "it needs hosts whose TCP can tell of a packet that came without its payload";
    check.runs_in_simulations_only("packet trimming", why, section);
}

fn parameters(check: &mut Check<'_>, settings: &TrimmingSettings, section: &str) {
    let field = |name: &str| format!("{section}.{name}");
    let is_frame = settings.trimmed_frame.0 >= u64::from(MINIMUM_FRAME_BYTES);
    check.require(is_frame, &field("trimmed_frame"), "must be at least 64 B, the shortest frame");
    let longest = check.scenario.frame_max();
    check.require_else(settings.trimmed_frame < longest, || {
        let rule = format!("is not below the longest frame of all transports, {longest}: nothing would be cut");
        Problem::new(field("trimmed_frame"), "", rule)
    });
    check.require(is_length(settings.queue), &field("queue"), LENGTH_RULE);
    let has_tcp = check.scenario.transports.iter().any(|transport| matches!(transport.protocol, Protocol::Tcp(_)));
    check.require(has_tcp, section, "has no effect: packets of TCP are trimmed, and no transport is TCP");
    let shares = settings.headers_per_packet > 0;
    check.require_else(!shares || check.scenario.switch.scheduler != SchedulerKind::Strict, || {
        let rule = "headers and data share a port by deficit round robin, and the scheduler is \"strict\"";
        Problem::new(field("headers_per_packet"), "", rule).hint("give 0: then headers always go first")
    });
}
