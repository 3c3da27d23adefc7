//! Packet trimming: whether there is anything to cut, and who else has a say in what becomes of a refused packet.

use std::collections::BTreeSet;

use hitless_wire::packet::MINIMUM_FRAME_BYTES;

use super::Check;
use super::fabric::{LENGTH_RULE, is_length};
use crate::scenario::error::Problem;
use crate::scenario::{MechanismSettings, Protocol, SchedulerKind, TrimmingSettings};
use crate::topology::select::select_links;
use crate::topology::{Node, SwitchId, Topology};

impl Check<'_> {
    /// `taken` are the switches that another entry has named.
    pub(super) fn trimming(
        &mut self,
        topology: &Topology,
        settings: &TrimmingSettings,
        section: &str,
        taken: &mut BTreeSet<SwitchId>,
    ) {
        self.trimming_ports(topology, settings, section, taken);
        self.trimming_parameters(settings, section);
        self.trimming_beside_others(topology, settings, section);
        let why = "it needs hosts whose TCP can tell of a packet that came without its payload";
        self.runs_in_simulations_only("packet trimming", why, section);
    }

    fn trimming_ports(
        &mut self,
        topology: &Topology,
        settings: &TrimmingSettings,
        section: &str,
        taken: &mut BTreeSet<SwitchId>,
    ) {
        let field = format!("{section}.ports");
        self.ports_named_once(topology, &settings.ports, &field);
        let by_switch = settings.ports_by_switch(topology);
        if let Some(switch) = by_switch.keys().find(|switch| taken.contains(switch)) {
            let name = &topology.switch(*switch).name;
            let rule = format!("{name} trims packets by another entry, and its ports share one set of parameters");
            self.problems.push(Problem::new(&field, "", rule));
        }
        taken.extend(by_switch.keys());
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

    fn trimming_beside_others(&mut self, topology: &Topology, settings: &TrimmingSettings, section: &str) {
        let own: BTreeSet<SwitchId> = settings.ports_by_switch(topology).into_keys().collect();
        let both = self.scenario.mechanisms.iter().find_map(|mechanism| {
            let (other, why, switches) = rival(mechanism, topology)?;
            let switch = switches.into_iter().find(|switch| own.contains(switch))?;
            Some((other, why, switch))
        });
        if let Some((other, why, switch)) = both {
            let name = &topology.switch(switch).name;
            let rule = format!("{name} runs {other} too, {why}");
            self.problems.push(Problem::new(format!("{section}.ports"), "", rule));
        }
    }
}

/// A mechanism that cannot share a switch with trimming, why, and the switches that run it.
fn rival(mechanism: &MechanismSettings, topology: &Topology) -> Option<(&'static str, &'static str, Vec<SwitchId>)> {
    const ORDER: &str = "which keeps packets in an order that headers do not";
    const EARLY: &str = "which gives packets up before a queue could refuse them";
    match mechanism {
        MechanismSettings::Afq(afq) => {
            let why = "whose queues take the packets of a port in an order of their own";
            Some(("AFQ", why, afq.ports_by_switch(topology).into_keys().collect()))
        }
        MechanismSettings::Vertigo(vertigo) => {
            let why = "and both would decide what becomes of a refused packet";
            Some(("Vertigo", why, vertigo.ports_by_switch(topology).into_keys().collect()))
        }
        MechanismSettings::PreemptiveDeflection(settings) => {
            Some(("Preemptive Deflection", EARLY, settings.ports_by_switch(topology).into_keys().collect()))
        }
        MechanismSettings::Aifo(settings) => {
            Some(("AIFO", EARLY, settings.ports_by_switch(topology).into_keys().collect()))
        }
        MechanismSettings::LinkGuardian(settings) => {
            let why = "which pauses the queues of data, and headers have one of their own";
            let links = select_links(topology, &settings.link).unwrap_or_default();
            let ends = links.into_iter().map(|link| topology.ends(link)).flat_map(|(from, to)| [from, to]);
            let switches = ends.filter_map(|end| if let Node::Switch(id) = end.node { Some(id) } else { None });
            Some(("LinkGuardian", why, switches.collect()))
        }
        MechanismSettings::Sqr(sqr) => Some(("SQR", ORDER, sqr.switches(topology).into_iter().collect())),
        MechanismSettings::Rimm(rimm) => Some(("RIMM", ORDER, rimm.switches(topology).into_iter().collect())),
        _ => None,
    }
}
