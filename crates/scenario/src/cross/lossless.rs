//! Checks of flow control: by pauses or by credits.

use hitless_core::settings::Problem;
use hitless_core::wire::credits::CREDIT_COUNTS;
use hitless_core::wire::mac_control::{CREDIT_SYNC_BYTES, ORDERED_SET_BYTES};
use hitless_core::wire::{Bytes, Duration};

use super::check::Check;
use crate::Purpose;
use crate::kind::{Claim, Surroundings};
use crate::network::switch::{BufferSettings, CbfcSettings, PfcSettings, PfcWatchdogAction, PfcWatchdogSettings};
use crate::network::topology::{Port, SwitchId, Topology};

const PFC: &str = "switch.pfc";
const CBFC: &str = "switch.cbfc";
/// Reciprocal of the maximum share of a line for counts of consumed credits (chosen).
const SYNCS_IN_LINE: u64 = 16;

impl Check<'_> {
    pub(super) fn lossless(&mut self, around: Surroundings<'_>) {
        let switch = &around.scenario.switch;
        if let Some(pfc) = &switch.pfc {
            self.pauses(pfc);
            self.lossless_classes(PFC, around);
        }
        if let Some(cbfc) = &switch.cbfc {
            self.require(switch.pfc.is_none(), CBFC, "replaces pause frames by credits: leave out switch.pfc");
            self.credits(cbfc, around.topology);
            self.lossless_classes(CBFC, around);
        }
    }

    fn pauses(&mut self, pfc: &PfcSettings) {
        let field = |name: &str| format!("{PFC}.{name}");
        for (name, bytes) in [("xoff", pfc.xoff), ("headroom", pfc.headroom)] {
            self.require(bytes != Some(Bytes::ZERO), &field(name), "must be above zero");
        }
        let below = pfc.xoff.zip(pfc.xon_offset).is_none_or(|(xoff, offset)| offset <= xoff);
        self.require(below, &field("xon_offset"), "must not be above xoff");
        self.watchdog(PFC, pfc.watchdog);
    }

    fn watchdog(&mut self, section: &str, watchdog: Option<PfcWatchdogSettings>) {
        let times = watchdog.iter().flat_map(|dog| [("detection", dog.detection), ("restoration", dog.restoration)]);
        for (name, time) in times {
            let field = format!("{section}.watchdog.{name}");
            self.require(time != Some(Duration::ZERO), &field, "must be above zero");
        }
    }

    /// Requires that each receiver has memory for the longest frame, and that counters of credits can count the memory.
    fn credits(&mut self, cbfc: &CbfcSettings, topology: &Topology) {
        let field = |name: &str| format!("{CBFC}.{name}");
        self.watchdog(CBFC, cbfc.watchdog);
        let drops = cbfc.watchdog.is_none_or(|watchdog| watchdog.action == PfcWatchdogAction::Drop);
        let rule = "must be \"drop\": a frame without credit has no room at the receiver";
        self.require(drops, &field("watchdog.action"), rule);
        let credit = cbfc.credit.map_or(cbfc.credit_bytes(), |credit| credit.0);
        if !(1..=u64::from(u16::MAX)).contains(&credit) {
            return self.require(false, &field("credit"), "must be from 1 to 65535 B");
        }
        let spaced = cbfc.update_spacing.is_none_or(|spacing| spacing.0 >= ORDERED_SET_BYTES.into());
        self.require(spaced, &field("update_spacing"), "must be at least 8 B, the length of an update");
        self.sync_spacing(cbfc, topology);
        let scenario = self.scenario;
        let links = topology.switches.iter().flat_map(|switch| &switch.ports);
        for link in links.flat_map(|port| [port.link, port.link.reversed()]) {
            let (parts, memory) =
                (scenario.credit_loop(cbfc, topology, link), scenario.credit_memory(cbfc, topology, link));
            if memory < parts.frame_memory_bytes {
                let rule = format!(
                    "holds {memory} B in credits of {credit} B, and the longest frame takes {} B: it would never start",
                    parts.frame_memory_bytes
                );
                return self.require(false, &field("buffer"), &rule);
            }
            if memory / credit >= CREDIT_COUNTS.into() {
                let rule = format!(
                    "counts {} credits of {credit} B for {}, and a counter has 20 bits: at most {}",
                    memory / credit,
                    topology.link_name(link),
                    CREDIT_COUNTS - 1
                );
                let problem = Problem::new(field("credit"), "", rule);
                let least = memory.div_ceil(u64::from(CREDIT_COUNTS) - 1).next_multiple_of(64);
                return self.report(problem.hint(format!("give larger credits, such as credit = \"{least} B\"")));
            }
        }
    }

    /// Requires that the counts of consumed credits of all classes leave most of each line to frames.
    fn sync_spacing(&mut self, cbfc: &CbfcSettings, topology: &Topology) {
        let overhead_bytes = topology.slowest_specs().map(|link| link.overhead_bytes).max().unwrap_or(0);
        let count_bytes = u64::from(CREDIT_SYNC_BYTES + overhead_bytes);
        let classes = self.scenario.classes_with_credits();
        let least = count_bytes * classes * SYNCS_IN_LINE;
        let rule = format!(
            "must be at least {least} B, {SYNCS_IN_LINE} counts of {count_bytes} B for each lossless class \
             ({classes}): then counts take at most 1/{SYNCS_IN_LINE} of a line"
        );
        let is_spaced = cbfc.sync_spacing.is_none_or(|spacing| spacing.0 >= least);
        self.require(is_spaced, &format!("{CBFC}.sync_spacing"), &rule);
    }

    fn lossless_classes(&mut self, section: &'static str, around: Surroundings<'_>) {
        let is_live = self.purpose == Purpose::Live;
        self.require(!is_live, section, "runs in simulations only: the live switch does not limit real network cards");
        let has_queues = around.scenario.switch.flow_queueing.is_none();
        self.require(has_queues, section, "needs queues of classes: leave out switch.flow_queueing");
        let has_one_port = !around.topology.has_multi_homed_hosts();
        self.require(has_one_port, section, "needs hosts with one port: cards with several have no flow control");
        let is_constant = around.topology.changing_lines().is_empty();
        self.require(is_constant, section, "needs constant links: the memory is for their first rate and delay");
        self.lossless_queues(section, around);
        self.lossless_mechanisms(section, around);
        self.lossless_buffer(around.topology);
    }

    /// Requires that no other class of flows shares a queue with a lossless class: a pause would stop it too, and its
    /// packets would fill the headroom.
    fn lossless_queues(&mut self, section: &str, around: Surroundings<'_>) {
        let topology = around.topology;
        let switches = around.scenario.switch.variants_at(topology, topology.switch_ids());
        let lossless = around.scenario.lossless_classes();
        for (number, group) in around.scenario.flows.iter().enumerate() {
            let class = group.class & 7;
            let with = |other| {
                let queues = switches.iter().map(|switch| [other, class].map(|class| switch.queue_of_class(class)));
                queues.filter(|[of_other, own]| of_other == own).map(|[queue, _]| (other, queue)).next()
            };
            let shared = (0..8).filter(|other| lossless >> other & 1 == 1).find_map(with);
            let Some((other, queue)) = shared.filter(|_| lossless >> class & 1 == 0) else { continue };
            let rule = format!("class {class} shares queue {queue} with class {other}, which is lossless");
            self.report(Problem::new(format!("flows[{number}].class"), "", rule).hint(format!(
                "give [switch] queues_per_port = 8 and scheduler = \"strict\" or \"drr\", or add the class to \
                 {section}.classes"
            )));
        }
    }

    /// Requires that no mechanism decides about packets that a queue must neither refuse nor hold.
    fn lossless_mechanisms(&mut self, section: &str, around: Surroundings<'_>) {
        for (number, entry) in around.scenario.mechanisms.iter().enumerate() {
            let claims = entry.claims(around.topology);
            let owns_link = claims.iter().all(|claimed| claimed.claim == Claim::OwnsLink);
            let rule = match (owns_link, section == CBFC) {
                (true, false) => continue,
                (true, true) => format!(
                    "{} repeats or repairs frames of its link, which arrive out of the order in which credits count \
                     them",
                    entry.title()
                ),
                (false, _) => format!(
                    "{} chooses, holds or drops packets, and flow control promises that a lossless class is never \
                     dropped",
                    entry.title()
                ),
            };
            let problem = Problem::new(format!("mechanism[{number}].kind"), "", rule);
            self.report(problem.hint(format!("leave out [{section}]")));
        }
    }

    fn lossless_buffer(&mut self, topology: &Topology) {
        let scenario = self.scenario;
        // Memory that a class needs outside of what is reserved: up to XOFF, or for packets of other classes.
        let xoff = scenario.switch.pfc.as_ref().and_then(|pfc| pfc.xoff).map_or(scenario.frame_max().0, |xoff| xoff.0);
        for switch in topology.switch_ids() {
            if let BufferSettings::Shared(buffer) = scenario.switch.of_switch(topology, switch).buffer {
                let reserved = scenario.headroom_of_switch(topology, switch);
                if reserved.saturating_add(xoff) > buffer.total.0 {
                    return self.too_small_a_buffer(topology, switch, reserved, buffer.total);
                }
                continue;
            }
            for port in &topology.switch(switch).ports {
                let Some(share) = scenario.class_share(topology, switch, port) else {
                    let rule = "flow control counts bytes: give the buffer in bytes";
                    return self.require(false, "switch.buffer.per_port", rule);
                };
                if scenario.reserved(topology, port).saturating_add(xoff) > share {
                    let rest = if scenario.switch.pfc.is_some() { "up to XOFF" } else { "for other packets" };
                    let rule = format!(
                        "gives a class of {} at {} {share} B, and it needs {xoff} B {rest} and reserves {}",
                        topology.link_name(port.link),
                        topology.switch(switch).name,
                        self.reserved_text(topology, port)
                    );
                    return self.report(Problem::new("switch.buffer.per_port", "", rule));
                }
            }
        }
    }

    /// Writes out why a class of `port` has its memory.
    fn reserved_text(&self, topology: &Topology, port: &Port) -> String {
        let (scenario, bytes) = (self.scenario, self.scenario.reserved(topology, port));
        match (&scenario.switch.pfc, &scenario.switch.cbfc) {
            (Some(PfcSettings { headroom: Some(_), .. }), _) => format!("{bytes} B (switch.pfc.headroom)"),
            (_, Some(CbfcSettings { buffer: Some(_), .. })) => format!("{bytes} B (switch.cbfc.buffer)"),
            (_, Some(cbfc)) => scenario.credit_loop(cbfc, topology, port.link.reversed()).arithmetic(),
            (_, None) => scenario.headroom_needed(topology, port).arithmetic(),
        }
    }

    fn too_small_a_buffer(&mut self, topology: &Topology, switch: SwitchId, reserved: u64, total: Bytes) {
        let scenario = self.scenario;
        let largest = topology.switch(switch).ports.iter().max_by_key(|port| scenario.reserved(topology, port));
        let most = largest.map(|port| self.reserved_text(topology, port)).unwrap_or_default();
        let what = if scenario.switch.pfc.is_some() { "headroom" } else { "memory for credits" };
        let rule = format!(
            "is {} B, and {} reserves {reserved} B of {what} for {} ports with {} lossless classes each; a class of \
             the port with the most needs {most}",
            total.0,
            topology.switch(switch).name,
            topology.switch(switch).ports.len(),
            scenario.lossless_classes().count_ones(),
        );
        let given = if scenario.switch.pfc.is_some() { "switch.pfc.headroom" } else { "switch.cbfc.buffer" };
        let hint = format!("give a larger buffer, or {given}");
        self.report(Problem::new("switch.buffer.total", "", rule).hint(hint));
    }
}
