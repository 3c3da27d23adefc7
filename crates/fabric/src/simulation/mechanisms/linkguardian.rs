//! LinkGuardian on the switches at both ends of its links.

use hitless_mechanisms::LinkGuardian;
use hitless_mechanisms::linkguardian::{self, Action, Command, FallbackConfig, LinkEnd};
use hitless_wire::PortId;

use super::super::build::recirculation_port_id;
use super::{Kind, Planner};
use crate::scenario::guarded::{GuardedEnd, guarded_ends};
use crate::scenario::{Buffering, LinkGuardianMode, LinkGuardianSettings};
use crate::topology::SwitchId;

/// The ports of one end.
struct End {
    switch: SwitchId,
    port: PortId,
    recirculation_port: PortId,
}

impl Planner<'_> {
    pub(super) fn add_linkguardians(&mut self) -> Result<(), String> {
        for end in guarded_ends(self.scenario, self.topology) {
            let settings = end.settings;
            let at = self.end(&end)?;
            self.command(&at, end.end, settings);
            for (channel, classes) in channels(settings) {
                match end.end {
                    LinkEnd::Sender => {
                        let mode = if channel == 0 { mode(settings) } else { linkguardian::Mode::NonBlocking };
                        let config =
                            linkguardian::SenderConfig { channel, classes, mode, ..sender_config(settings, &at) };
                        self.guardian(at.switch).add_sender(config);
                    }
                    LinkEnd::Receiver => {
                        let paused_classes = self.scenario.switch.classes_of_distinct_queues(classes);
                        // The link's losses are judged once.
                        let fallback = fallback(settings).filter(|_| channel == 0);
                        let config = receiver_config(settings, &at);
                        let config = linkguardian::ReceiverConfig { channel, paused_classes, fallback, ..config };
                        self.guardian(at.switch).add_receiver(config);
                    }
                }
            }
        }
        Ok(())
    }

    fn guardian(&mut self, switch: SwitchId) -> &mut LinkGuardian {
        self.draft(switch).linkguardian.get_or_insert_default()
    }

    fn end(&mut self, end: &GuardedEnd<'_>) -> Result<End, String> {
        if self.scenario.switch.recirculation_ports == 0 {
            return Err("a protected link needs recirculation ports: [switch] recirculation_ports is 0".into());
        }
        let buffer = match end.end {
            LinkEnd::Sender => end.settings.sender_buffer,
            LinkEnd::Receiver => end.settings.reordering_buffer,
        };
        let limit = &mut self.recirculation_limits[end.switch.0 as usize][usize::from(end.recirculation)];
        *limit = Some(limit.map_or(buffer, |limit| limit.max(buffer)));
        Ok(End {
            switch: end.switch,
            port: end.at.port,
            recirculation_port: recirculation_port_id(self.topology, end.switch, end.recirculation),
        })
    }

    fn command(&mut self, at: &End, end: LinkEnd, settings: &LinkGuardianSettings) {
        for change in &settings.activation {
            let action = if change.active { Action::Activate } else { Action::Deactivate };
            let (switch, number) = (at.switch, Command { port: at.port, end, action }.number());
            self.commands.push(super::Command { at: change.at, switch, kind: Kind::LinkGuardian, number });
        }
    }
}

/// The sequence spaces of a link, each with the traffic classes that it numbers, one bit each.
fn channels(settings: &LinkGuardianSettings) -> impl Iterator<Item = (u8, u8)> {
    let unordered = settings.non_blocking_classes.iter().fold(0, |classes: u8, class| classes | 1 << (class & 7));
    let second = (unordered != 0).then_some((1, unordered));
    std::iter::once((0, !unordered)).chain(second)
}

fn mode(settings: &LinkGuardianSettings) -> linkguardian::Mode {
    match settings.mode {
        LinkGuardianMode::Blocking => linkguardian::Mode::Blocking,
        LinkGuardianMode::NonBlocking => linkguardian::Mode::NonBlocking,
    }
}

fn fallback(settings: &LinkGuardianSettings) -> Option<FallbackConfig> {
    settings.fallback.map(|fallback| FallbackConfig {
        period: fallback.period,
        non_blocking_above: fallback.non_blocking_above,
        off_above: fallback.off_above,
        recovery_share: fallback.recovery_share,
        bad_periods: fallback.bad_periods,
        hold: fallback.hold,
        hold_max: fallback.hold_max,
        frames_min: fallback.frames_min,
    })
}

/// Bytes of header on each packet beside the paper's three.
fn header_bytes_more(settings: &LinkGuardianSettings) -> u32 {
    const ETHER_TYPE_BYTES: u32 = 2;
    if settings.original_ether_type { ETHER_TYPE_BYTES } else { 0 }
}

fn activation(settings: &LinkGuardianSettings) -> linkguardian::Activation {
    if settings.activation.is_empty() {
        linkguardian::Activation::FromStart
    } else {
        linkguardian::Activation::OnCommand
    }
}

fn buffering(settings: &LinkGuardianSettings) -> linkguardian::Buffering {
    match settings.buffering {
        Buffering::Recirculation => linkguardian::Buffering::Recirculation,
        Buffering::PausedQueue => linkguardian::Buffering::PausedQueue,
    }
}

fn sender_config(settings: &LinkGuardianSettings, end: &End) -> linkguardian::SenderConfig {
    linkguardian::SenderConfig {
        port: end.port,
        recirculation_port: end.recirculation_port,
        mode: mode(settings),
        copies: settings.copy_count(),
        repair_latency: settings.repair_latency,
        dummies: if settings.tail_detection { settings.dummy_count as u8 } else { 0 },
        request_registers: settings.consecutive_losses_max as usize,
        buffering: buffering(settings),
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

fn receiver_config(settings: &LinkGuardianSettings, end: &End) -> linkguardian::ReceiverConfig {
    let (resume_threshold, pause_threshold) = settings.thresholds();
    linkguardian::ReceiverConfig {
        port: end.port,
        recirculation_port: end.recirculation_port,
        acknowledgements: settings.ack_count as u8,
        acknowledgement_timeout: settings.timeout(),
        timer_period: settings.timer_period,
        resume_threshold,
        pause_threshold,
        backpressure: settings.backpressure,
        buffering: buffering(settings),
        buffer: settings.reordering_buffer,
        activation: activation(settings),
        channel: 0,
        paused_classes: 1,
        control_copies: settings.control_copies.unwrap_or(1),
        deduplicates: settings.deduplicate,
        handshake: settings.handshake,
        fallback: fallback(settings),
        header_bytes_more: header_bytes_more(settings),
    }
}
