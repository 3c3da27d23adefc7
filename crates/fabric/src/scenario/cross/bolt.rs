//! Bolt: senders and switches need each other, and switches must see their queues.

use std::collections::BTreeSet;

use hitless_wire::Bytes;

use super::Check;
use super::fabric::Taken;
use crate::scenario::error::Problem;
use crate::scenario::{
    BoltSettings, BoltTransportSettings, Congestion, DepthVisible, MechanismSettings, Protocol, Purpose, TcpSettings,
};
use crate::topology::{SwitchId, Topology};

impl Check<'_> {
    /// The senders' side.
    pub(super) fn bolt_transport(&mut self, tcp: &TcpSettings, section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        if let Some(BoltTransportSettings { min_cwnd, max_cwnd, .. }) = &tcp.bolt {
            let is_used = tcp.congestion == Congestion::Bolt;
            self.require(is_used, &field("bolt"), "has no effect without congestion = \"bolt\"");
            let ordered = *min_cwnd <= max_cwnd.unwrap_or(f64::INFINITY);
            self.require(ordered, &field("bolt.min_cwnd"), "must not be above max_cwnd");
        }
        if tcp.congestion == Congestion::Bolt {
            self.require(!tcp.ecn, &field("ecn"), "has no effect: Bolt reacts to what its switches say, not to marks");
            let runs = self.scenario.mechanisms.iter().any(|it| matches!(it, MechanismSettings::Bolt(_)));
            self.require_else(runs, || {
                Problem::new(field("congestion"), "", "Bolt needs switches that tell it what to do, and these do not")
                    .hint("add a [[mechanism]] of kind = \"bolt\"")
            });
        }
    }

    /// The switches' side. `taken` are the switches that another entry has named.
    pub(super) fn bolt(&mut self, topology: &Topology, settings: &BoltSettings, section: &str, taken: &mut Taken) {
        let field = |name: &str| format!("{section}.{name}");
        self.ports_named_once(topology, &settings.ports, &field("ports"));
        let own = settings.ports_by_switch(topology).into_keys().collect();
        self.one_entry_per_switch(topology, "Bolt", &own, (section, "ports"), taken);
        self.require(settings.threshold > Bytes::ZERO, &field("threshold"), "must be above zero");
        let parts = [("segment", settings.segment), ("notice_bytes", settings.notice_bytes)];
        for (name, bytes) in parts {
            let fits = (64..=9_216).contains(&bytes.0);
            self.require(fits, &field(name), "must be from 64 to 9216 B: it is an Ethernet frame");
        }
        let remembers = settings.supply_max >= settings.segment && settings.supply_max <= Bytes(1 << 30);
        self.require(remembers, &field("supply_max"), "must be at least segment and at most 1 GiB");
        let is_bolt =
            |protocol: &Protocol| matches!(protocol, Protocol::Tcp(tcp) if tcp.congestion == Congestion::Bolt);
        let is_asked = self.scenario.transports.iter().any(|transport| is_bolt(&transport.protocol));
        self.require_else(is_asked, || {
            Problem::new(section, "", "has no effect: no flow sends with Bolt")
                .hint("give a [[transport]] of kind = \"tcp\" congestion = \"bolt\"")
        });
        self.bolt_switch(section);
        self.bolt_beside_others(topology, &own, section);
    }

    fn bolt_switch(&mut self, section: &str) {
        let switch = &self.scenario.switch;
        let sees = !switch.checked || switch.depth_visible == DepthVisible::IngressAndEgress;
        self.require_else(sees, || {
            let rule = "Bolt reads the depths of queues in ingress, and switch.depth_visible is \"egress\"";
            Problem::new(section, "", rule)
                .hint("take depth_visible = \"ingress-and-egress\", or leave out switch.checked")
        });
        let rule = "Bolt asks for a queue of its own for notices, which a port that queues by flow does not have";
        self.require(switch.flow_queueing.is_none(), "switch.flow_queueing", rule);
        let rule = "has no effect live: only simulated hosts send with Bolt";
        self.require(self.purpose != Purpose::Live, section, rule);
    }

    /// AFQ chooses a queue that Bolt does not look at; what protects a link takes a notice for a frame of the link.
    fn bolt_beside_others(&mut self, topology: &Topology, own: &BTreeSet<SwitchId>, section: &str) {
        let others = self.scenario.mechanisms.iter().find_map(|mechanism| match mechanism {
            MechanismSettings::Afq(afq) => {
                let both = afq.ports_by_switch(topology).into_keys().any(|switch| own.contains(&switch));
                both.then_some("AFQ runs on one of these switches too, and chooses queues that Bolt does not look at")
            }
            MechanismSettings::LinkGuardian(_) | MechanismSettings::LinkLayerRetry(_) | MechanismSettings::Wharf(_) => {
                Some("a link is protected, and the protection would take notices for frames of the link")
            }
            _ => None,
        });
        self.problems.extend(others.map(|rule| Problem::new(section, "", rule)));
    }
}
