//! Packet trimming: whether there is anything to cut, and who else has a say in what becomes of a refused packet.

use std::collections::BTreeSet;

use hitless_wire::packet::MINIMUM_FRAME_BYTES;

use super::Check;
use super::composition::Rival;
use super::fabric::{LENGTH_RULE, Taken, is_length};
use crate::scenario::error::Problem;
use crate::scenario::{MechanismSettings, Protocol, SchedulerKind, TrimmingSettings};
use crate::topology::{SwitchId, Topology};

impl Check<'_> {
    /// `taken` are the switches that another entry has named.
    pub(super) fn trimming(
        &mut self,
        topology: &Topology,
        settings: &TrimmingSettings,
        section: &str,
        taken: &mut Taken,
    ) {
        self.ports_named_once(topology, &settings.ports, &format!("{section}.ports"));
        let own = settings.ports_by_switch(topology).into_keys().collect();
        self.one_entry_per_switch(topology, "packet trimming", &own, (section, "ports"), taken);
        self.trimming_parameters(settings, section);
        self.trimming_beside_others(topology, &own, section);
        let why = "it needs hosts whose TCP can tell of a packet that came without its payload";
        self.runs_in_simulations_only("packet trimming", why, section);
    }

    fn trimming_parameters(&mut self, settings: &TrimmingSettings, section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        let is_frame = settings.trimmed_frame.0 >= u64::from(MINIMUM_FRAME_BYTES);
        self.require(is_frame, &field("trimmed_frame"), "must be at least 64 B, the shortest frame");
        let longest = self.scenario.frame_max();
        self.require_else(settings.trimmed_frame < longest, || {
            let rule = format!("is not below the longest frame of all transports, {longest}: nothing would be cut");
            Problem::new(field("trimmed_frame"), "", rule)
        });
        self.require(is_length(settings.queue), &field("queue"), LENGTH_RULE);
        let has_tcp = self.scenario.transports.iter().any(|transport| matches!(transport.protocol, Protocol::Tcp(_)));
        self.require(has_tcp, section, "has no effect: packets of TCP are trimmed, and no transport is TCP");
        let shares = settings.headers_per_packet > 0;
        self.require_else(!shares || self.scenario.switch.scheduler != SchedulerKind::Strict, || {
            let rule = "headers and data share a port by deficit round robin, and the scheduler is \"strict\"";
            Problem::new(field("headers_per_packet"), "", rule).hint("give 0: then headers always go first")
        });
    }

    fn trimming_beside_others(&mut self, topology: &Topology, own: &BTreeSet<SwitchId>, section: &str) {
        if let Some(Rival { switch, name, why }) = self.rival_on(topology, own, why_not_beside) {
            let rule = format!("{switch} runs {name} too, {why}");
            self.problems.push(Problem::new(format!("{section}.ports"), "", rule));
        }
    }
}

/// Why `mechanism` cannot share a switch with trimming, if it cannot.
fn why_not_beside(mechanism: &MechanismSettings) -> Option<&'static str> {
    match mechanism {
        MechanismSettings::Afq(_) => Some("whose queues take the packets of a port in an order of their own"),
        MechanismSettings::Vertigo(_) => Some("and both would decide what becomes of a refused packet"),
        MechanismSettings::PreemptiveDeflection(_) | MechanismSettings::Aifo(_) => {
            Some("which gives packets up before a queue could refuse them")
        }
        MechanismSettings::LinkGuardian(_) => {
            Some("which pauses the queues of data, and headers have one of their own")
        }
        MechanismSettings::Sqr(_) | MechanismSettings::Rimm(_) => {
            Some("which keeps packets in an order that headers do not")
        }
        _ => None,
    }
}
