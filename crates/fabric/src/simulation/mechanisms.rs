//! Which switch runs which mechanisms, and what the control plane tells them when.

use hitless_mechanisms::linkguardian::{self, Command};
use hitless_mechanisms::{AnyMechanism, LinkGuardian};
use hitless_wire::{Bytes, PortId, Time};

use super::build::recirculation_port_id;
use super::changes::Change;
use crate::scenario::{Buffering, LinkGuardianMode, LinkGuardianSettings, MechanismSettings, Scenario};
use crate::topology::select::select_links;
use crate::topology::{Endpoint, Node, SwitchId, Topology};

/// What mechanisms need of a fabric.
pub(super) struct Plan {
    /// By switch.
    pub mechanisms: Vec<Vec<AnyMechanism>>,
    /// By switch and recirculation port: what its queue may hold.
    pub recirculation_limits: Vec<Vec<Option<Bytes>>>,
    /// Commands of the control plane.
    pub commands: Vec<(Time, Change)>,
}

/// One end of a protected link, with a recirculation port of its own as far as there are enough.
struct End {
    switch: SwitchId,
    port: PortId,
    recirculation_port: PortId,
}

struct Planner<'a> {
    scenario: &'a Scenario,
    topology: &'a Topology,
    linkguardians: Vec<Option<LinkGuardian>>,
    ends_by_switch: Vec<u16>,
    plan: Plan,
}

/// Reads the scenario's mechanisms.
///
/// # Errors
/// A sentence, when a link that a mechanism names cannot be found; a checked scenario has none.
pub(super) fn plan(scenario: &Scenario, topology: &Topology) -> Result<Plan, String> {
    let switches = topology.switches.len();
    let ports = usize::from(scenario.switch.recirculation_ports);
    let mut planner = Planner {
        scenario,
        topology,
        linkguardians: (0..switches).map(|_| None).collect(),
        ends_by_switch: vec![0; switches],
        plan: Plan {
            mechanisms: (0..switches).map(|_| Vec::new()).collect(),
            recirculation_limits: vec![vec![None; ports]; switches],
            commands: Vec::new(),
        },
    };
    for settings in &scenario.mechanisms {
        match settings {
            MechanismSettings::LinkGuardian(settings) => planner.protect(settings)?,
        }
    }
    Ok(planner.finish())
}

impl Planner<'_> {
    fn protect(&mut self, settings: &LinkGuardianSettings) -> Result<(), String> {
        for link in select_links(self.topology, &settings.link)? {
            let (from, to) = self.topology.ends(link);
            let sender = self.end(from, settings.sender_buffer)?;
            let receiver = self.end(to, settings.reordering_buffer)?;
            self.command(&sender, settings);
            self.command(&receiver, settings);
            let guardian = |slot: &mut Option<LinkGuardian>| slot.take().unwrap_or_default();
            let slot = &mut self.linkguardians[sender.switch.0 as usize];
            let mut mechanism = guardian(slot);
            mechanism.add_sender(sender_config(settings, &sender));
            *slot = Some(mechanism);
            let slot = &mut self.linkguardians[receiver.switch.0 as usize];
            let mut mechanism = guardian(slot);
            mechanism.add_receiver(receiver_config(settings, &receiver));
            *slot = Some(mechanism);
        }
        Ok(())
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
        let used = &mut self.ends_by_switch[switch.0 as usize];
        let number = *used % ports;
        *used += 1;
        let limit = &mut self.plan.recirculation_limits[switch.0 as usize][usize::from(number)];
        *limit = Some(limit.map_or(buffer, |limit| limit.max(buffer)));
        Ok(End {
            switch,
            port: endpoint.port,
            recirculation_port: recirculation_port_id(self.topology, switch, number),
        })
    }

    /// LinkGuardian is the only mechanism so far, hence the first of its switch.
    fn command(&mut self, end: &End, settings: &LinkGuardianSettings) {
        for change in &settings.activation {
            let command = if change.active { Command::Activate(end.port) } else { Command::Deactivate(end.port) };
            let change_at = Change::Command { switch: end.switch.0, mechanism: 0, command: command.number() };
            self.plan.commands.push((change.at, change_at));
        }
    }

    fn finish(mut self) -> Plan {
        for (mechanisms, guardian) in self.plan.mechanisms.iter_mut().zip(self.linkguardians) {
            mechanisms.extend(guardian.map(AnyMechanism::from));
        }
        self.plan
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
