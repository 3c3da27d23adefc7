//! LinkGuardian on the switches at both ends of its links.

use std::collections::BTreeMap;

use hitless_network::topology::SwitchId;
use hitless_scenario::kind::{RecirculationLimit, Surroundings};
use hitless_switch::LinkEnd;
use hitless_wire::PortId;

use super::protected_ends::{ProtectedEnd, protected_ends};
use super::{Activation, LinkGuardian, LinkGuardianSettings, Mode, ReceiverConfig, SenderConfig};

/// The ports of one end.
struct End {
    port: PortId,
    recirculation_port: PortId,
}

/// What all entries describe, by switch.
///
/// # Errors
/// A sentence: the switches have no recirculation ports.
pub fn build(around: Surroundings<'_>) -> Result<BTreeMap<SwitchId, LinkGuardian>, String> {
    if around.scenario.switch.recirculation_ports == 0 {
        return Err("a protected link needs recirculation ports: [switch] recirculation_ports is 0".into());
    }
    let mut guardians = BTreeMap::<SwitchId, LinkGuardian>::new();
    for end in protected_ends(around) {
        add_end(guardians.entry(end.switch).or_default(), &end, around);
    }
    Ok(guardians)
}

fn add_end(guardian: &mut LinkGuardian, protected: &ProtectedEnd<'_>, around: Surroundings<'_>) {
    let settings = protected.settings;
    let recirculation_port = around.topology.recirculation_port(protected.switch, protected.recirculation);
    let end = End { port: protected.at.port, recirculation_port };
    for (channel, classes) in channels(settings) {
        match protected.end {
            LinkEnd::Sender => {
                let mode = if channel == 0 { settings.mode } else { Mode::NonBlocking };
                guardian.add_sender(SenderConfig { channel, classes, mode, ..sender_config(settings, &end) });
            }
            LinkEnd::Receiver => {
                let paused_classes = around.scenario.switch.classes_of_distinct_queues(classes);
                // The link's losses are judged once.
                let fallback = settings.fallback.filter(|_| channel == 0);
                let config = receiver_config(settings, &end);
                guardian.add_receiver(ReceiverConfig { channel, paused_classes, fallback, ..config });
            }
        }
    }
}

/// What the recirculation ports of both ends may hold.
pub fn recirculation_limits(around: Surroundings<'_>) -> Vec<RecirculationLimit> {
    let limit =
        |end: ProtectedEnd<'_>| RecirculationLimit { switch: end.switch, port: end.recirculation, most: end.room() };
    protected_ends(around).into_iter().map(limit).collect()
}

/// The sequence spaces of a link, each with the traffic classes that it numbers, one bit each.
fn channels(settings: &LinkGuardianSettings) -> impl Iterator<Item = (u8, u8)> {
    let unordered = settings.non_blocking_classes.iter().fold(0, |classes: u8, class| classes | 1 << (class & 7));
    let second = (unordered != 0).then_some((1, unordered));
    std::iter::once((0, !unordered)).chain(second)
}

/// Bytes of header on each packet beside the paper's three.
fn header_bytes_more(settings: &LinkGuardianSettings) -> u32 {
    const ETHER_TYPE_BYTES: u32 = 2;
    if settings.original_ether_type { ETHER_TYPE_BYTES } else { 0 }
}

fn activation(settings: &LinkGuardianSettings) -> Activation {
    if settings.activation.is_empty() { Activation::FromStart } else { Activation::OnCommand }
}

fn sender_config(settings: &LinkGuardianSettings, end: &End) -> SenderConfig {
    SenderConfig {
        port: end.port,
        recirculation_port: end.recirculation_port,
        mode: settings.mode,
        copies: settings.copy_count(),
        repair_latency: settings.repair_latency,
        dummies: if settings.tail_detection { settings.dummy_count as u8 } else { 0 },
        request_registers: settings.consecutive_losses_max as usize,
        buffering: settings.buffering,
        buffer: settings.sender_buffer,
        activation: activation(settings),
        channel: 0,
        classes: u8::MAX,
        first_number: settings.first_number as u16,
        handshake: settings.handshake,
        follows_requests: settings.fallback.is_some(),
        tail_probes: settings.tail_probes,
        probe_period: settings.timeout(),
        header_bytes_more: header_bytes_more(settings),
    }
}

fn receiver_config(settings: &LinkGuardianSettings, end: &End) -> ReceiverConfig {
    let (resume_threshold, pause_threshold) = settings.thresholds();
    ReceiverConfig {
        port: end.port,
        recirculation_port: end.recirculation_port,
        acknowledgements: settings.ack_count as u8,
        acknowledgement_timeout: settings.timeout(),
        timer_period: settings.timer_period,
        resume_threshold,
        pause_threshold,
        backpressure: settings.backpressure,
        buffering: settings.buffering,
        buffer: settings.reordering_buffer,
        activation: activation(settings),
        channel: 0,
        paused_classes: 1,
        control_copies: settings.control_copies.unwrap_or(1),
        notification_period: settings.notification_period,
        deduplicates: settings.deduplicate,
        handshake: settings.handshake,
        fallback: settings.fallback,
        header_bytes_more: header_bytes_more(settings),
    }
}
