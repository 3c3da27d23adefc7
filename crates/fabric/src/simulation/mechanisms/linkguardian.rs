//! LinkGuardian on the switches at both ends of its links.

use hitless_mechanisms::LinkGuardian;
use hitless_mechanisms::linkguardian::{self, Action, Command, LinkEnd};
use hitless_wire::{Bytes, PortId};

use super::super::build::recirculation_port_id;
use super::{Kind, Planner};
use crate::scenario::{Buffering, LinkGuardianMode, LinkGuardianSettings};
use crate::topology::select::select_links;
use crate::topology::{Endpoint, Node, SwitchId};

/// One end of a protected link, with a recirculation port of its own as far as there are enough.
struct End {
    switch: SwitchId,
    port: PortId,
    recirculation_port: PortId,
}

impl Planner<'_> {
    pub(super) fn add_linkguardian(&mut self, settings: &LinkGuardianSettings) -> Result<(), String> {
        for link in select_links(self.topology, &settings.link)? {
            let (from, to) = self.topology.ends(link);
            let sender = self.end(from, settings.sender_buffer)?;
            let receiver = self.end(to, settings.reordering_buffer)?;
            self.command(&sender, LinkEnd::Sender, settings);
            self.command(&receiver, LinkEnd::Receiver, settings);
            self.guardian(sender.switch).add_sender(sender_config(settings, &sender));
            self.guardian(receiver.switch).add_receiver(receiver_config(settings, &receiver));
        }
        Ok(())
    }

    fn guardian(&mut self, switch: SwitchId) -> &mut LinkGuardian {
        self.draft(switch).linkguardian.get_or_insert_default()
    }

    fn end(&mut self, endpoint: Endpoint, buffer: Bytes) -> Result<End, String> {
        let Node::Switch(switch) = endpoint.node else {
            return Err(format!(
                "{} is a host: both ends of a protected link are switches",
                self.topology.name(endpoint.node)
            ));
        };
        let ports = self.scenario.switch.recirculation_ports;
        if ports == 0 {
            return Err("a protected link needs recirculation ports: [switch] recirculation_ports is 0".into());
        }
        let used = &mut self.guarded_ends[switch.0 as usize];
        let number = *used % ports;
        *used += 1;
        let limit = &mut self.recirculation_limits[switch.0 as usize][usize::from(number)];
        *limit = Some(limit.map_or(buffer, |limit| limit.max(buffer)));
        Ok(End {
            switch,
            port: endpoint.port,
            recirculation_port: recirculation_port_id(self.topology, switch, number),
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
        mode: match settings.mode {
            LinkGuardianMode::Blocking => linkguardian::Mode::Blocking,
            LinkGuardianMode::NonBlocking => linkguardian::Mode::NonBlocking,
        },
        copies: settings.copy_count(),
        dummies: if settings.tail_detection { settings.dummy_count as u8 } else { 0 },
        request_registers: settings.consecutive_losses_max as usize,
        buffering: buffering(settings),
        buffer: settings.sender_buffer,
        activation: activation(settings),
    }
}

fn receiver_config(settings: &LinkGuardianSettings, end: &End) -> linkguardian::ReceiverConfig {
    linkguardian::ReceiverConfig {
        port: end.port,
        recirculation_port: end.recirculation_port,
        acknowledgements: settings.ack_count as u8,
        acknowledgement_timeout: settings.ack_no_timeout,
        timer_period: settings.timer_period,
        resume_threshold: settings.resume_threshold,
        pause_threshold: settings.pause_threshold,
        backpressure: settings.backpressure,
        buffering: buffering(settings),
        buffer: settings.reordering_buffer,
        activation: activation(settings),
    }
}
