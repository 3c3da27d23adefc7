//! Checks of priority flow control.

use hitless_core::settings::Problem;
use hitless_core::wire::{Bytes, Duration};

use super::check::Check;
use crate::Purpose;
use crate::kind::{Claim, Surroundings};
use crate::network::switch::{BufferSettings, PfcSettings};
use crate::network::topology::{SwitchId, Topology};

const SECTION: &str = "switch.pfc";

impl Check<'_> {
    pub(super) fn lossless(&mut self, around: Surroundings<'_>) {
        let Some(pfc) = &around.scenario.switch.pfc else { return };
        self.require(
            self.purpose != Purpose::Live,
            SECTION,
            "runs in simulations only: the live switch sends no pause frames to real network cards",
        );
        let field = |name: &str| format!("{SECTION}.{name}");
        for (name, bytes) in [("xoff", pfc.xoff), ("headroom", pfc.headroom)] {
            self.require(bytes != Some(Bytes::ZERO), &field(name), "must be above zero");
        }
        let below = pfc.xoff.zip(pfc.xon_offset).is_none_or(|(xoff, offset)| offset <= xoff);
        self.require(below, &field("xon_offset"), "must not be above xoff");
        let times =
            pfc.watchdog.iter().flat_map(|dog| [("detection", dog.detection), ("restoration", dog.restoration)]);
        for (name, time) in times {
            self.require(time != Some(Duration::ZERO), &field(&format!("watchdog.{name}")), "must be above zero");
        }
        let has_queues = around.scenario.switch.flow_queueing.is_none();
        self.require(has_queues, SECTION, "needs queues of classes: leave out switch.flow_queueing");
        let has_one_port = !around.topology.has_multi_homed_hosts();
        self.require(has_one_port, SECTION, "needs hosts with one port: cards with several do not obey pause frames");
        let is_constant = around.topology.changing_lines().is_empty();
        self.require(is_constant, SECTION, "needs constant links: the headroom is for their first rate and delay");
        self.lossless_queues(around);
        self.lossless_mechanisms(around);
        self.lossless_buffer(pfc, around.topology);
    }

    /// Requires that no other class of flows shares a queue with a lossless class: a pause would stop it too, and its
    /// packets would fill the headroom.
    fn lossless_queues(&mut self, around: Surroundings<'_>) {
        let switch = &around.scenario.switch;
        let lossless = around.scenario.lossless_classes();
        for (number, group) in around.scenario.flows.iter().enumerate() {
            let class = group.class & 7;
            let shared = (0..8).find(|&other| {
                lossless >> other & 1 == 1 && switch.queue_of_class(other) == switch.queue_of_class(class)
            });
            let Some(other) = shared.filter(|_| lossless >> class & 1 == 0) else { continue };
            let rule = format!(
                "class {class} shares queue {} with class {other}, which is lossless",
                switch.queue_of_class(class)
            );
            self.report(Problem::new(format!("flows[{number}].class"), "", rule).hint(
                "give [switch] queues_per_port = 8 and scheduler = \"strict\" or \"drr\", or add the class to \
                 switch.pfc.classes",
            ));
        }
    }

    /// Requires that no mechanism decides about packets that a queue must neither refuse nor hold.
    fn lossless_mechanisms(&mut self, around: Surroundings<'_>) {
        for (number, entry) in around.scenario.mechanisms.iter().enumerate() {
            let claims = entry.claims(around.topology);
            if claims.iter().all(|claimed| claimed.claim == Claim::OwnsLink) {
                continue;
            }
            let rule = format!(
                "{} chooses, holds or drops packets, and flow control promises that a lossless class is never dropped",
                entry.title()
            );
            self.report(Problem::new(format!("mechanism[{number}].kind"), "", rule).hint("leave out [switch.pfc]"));
        }
    }

    fn lossless_buffer(&mut self, pfc: &PfcSettings, topology: &Topology) {
        let scenario = self.scenario;
        if let BufferSettings::Shared(buffer) = scenario.switch.buffer {
            for switch in topology.switch_ids() {
                let reserved = scenario.headroom_of_switch(topology, switch);
                let needed = reserved.saturating_add(pfc.xoff.map_or(scenario.frame_max().0, |xoff| xoff.0));
                if needed > buffer.total.0 {
                    return self.too_small_a_buffer(topology, switch, reserved, buffer.total);
                }
            }
            return;
        }
        for switch in topology.switch_ids() {
            for port in &topology.switch(switch).ports {
                let Some(share) = scenario.class_share(topology, switch, port) else {
                    let rule = "flow control counts bytes: give the buffer in bytes";
                    return self.require(false, "switch.buffer.per_port", rule);
                };
                let link = topology.incoming(port);
                let headroom = scenario.headroom(pfc, link);
                let xoff = pfc.xoff.map_or(scenario.frame_max().0, |xoff| xoff.0);
                if headroom.saturating_add(xoff) > share {
                    let rule = format!(
                        "gives a class of {} at {} {share} B, and it needs {xoff} B up to XOFF and a headroom of {}",
                        topology.link_name(port.link),
                        topology.switch(switch).name,
                        self.headroom_text(pfc, headroom, scenario.headroom_needed(link).arithmetic())
                    );
                    return self.report(Problem::new("switch.buffer.per_port", "", rule));
                }
            }
        }
    }

    fn headroom_text(&self, pfc: &PfcSettings, bytes: u64, arithmetic: String) -> String {
        if pfc.headroom.is_some() { format!("{bytes} B (switch.pfc.headroom)") } else { arithmetic }
    }

    fn too_small_a_buffer(&mut self, topology: &Topology, switch: SwitchId, reserved: u64, total: Bytes) {
        let scenario = self.scenario;
        let links = topology.switch(switch).ports.iter().map(|port| topology.incoming(port));
        let largest = links.max_by_key(|link| scenario.headroom_needed(*link).bytes());
        let most = largest.map(|link| scenario.headroom_needed(link).arithmetic()).unwrap_or_default();
        let rule = format!(
            "is {} B, and {} reserves {reserved} B of headroom for {} ports with {} lossless classes each; a class of \
             the port with the most needs {most}",
            total.0,
            topology.switch(switch).name,
            topology.switch(switch).ports.len(),
            scenario.lossless_classes().count_ones(),
        );
        self.report(Problem::new("switch.buffer.total", "", rule).hint("give a larger buffer, or switch.pfc.headroom"));
    }
}
