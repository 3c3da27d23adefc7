//! Checks of switches, their ports, routing and hosts.

use std::collections::BTreeSet;

use hitless_core::settings::quantity::{Quantity, QueueLength};
use hitless_core::settings::{Problem, suggestion};
use hitless_core::wire::{Bytes, Duration, HostId};
use hitless_hosts::Jitter;

use super::check::{Check, LENGTH_RULE, is_length};
use crate::network::recovery::RecoveryScheme;
use crate::network::routing::PathRule;
use crate::network::switch::{
    BufferSettings, DepthVisible, EcnPoint, EcnSettings, FlowQueueingSettings, FqCodelSettings, PortSettings,
    SchedulerKind, SwitchSettings,
};
use crate::network::topology::select::{fits_pattern, select_hosts_by_pattern, select_switches_by_pattern};
use crate::network::topology::{SwitchId, Topology};

/// Returns whether `a` is above `b`; false for lengths in different units.
fn is_above(a: QueueLength, b: QueueLength) -> bool {
    match (a, b) {
        (QueueLength::Packets(a), QueueLength::Packets(b)) => a > b,
        (QueueLength::Bytes(a), QueueLength::Bytes(b)) => a > b,
        _ => false,
    }
}

impl Check<'_> {
    pub(super) fn switch(&mut self) {
        let scenario = self.scenario;
        self.marking(scenario.switch.ecn, "switch.ecn");
        for (section, switch) in scenario.switch.variants_by_section() {
            // Errors of values from [switch] are reported once.
            let is_base = section == "switch";
            let queues = |switch: &SwitchSettings| (switch.scheduler, switch.queues_per_port, switch.drr_quantum);
            if is_base || switch.buffer != scenario.switch.buffer {
                self.buffer(&switch, &section);
            }
            if is_base || queues(&switch) != queues(&scenario.switch) {
                self.scheduler(&switch, &section);
            }
        }
    }

    fn buffer(&mut self, switch: &SwitchSettings, section: &str) {
        let field = |name: &str| format!("{section}.buffer.{name}");
        match &switch.buffer {
            BufferSettings::Static(buffer) => {
                self.require(is_length(buffer.per_port), &field("per_port"), LENGTH_RULE);
                let threshold = switch.ecn.as_ref().map(|ecn| ecn.threshold);
                let reachable = threshold.is_none_or(|threshold| !is_above(threshold, buffer.per_port));
                let rule = "is above buffer.per_port: nothing would ever be marked";
                let at = if section == "switch" { "switch.ecn.threshold" } else { section };
                self.require(reachable, at, rule);
            }
            BufferSettings::Shared(buffer) => {
                self.require(buffer.total > Bytes::ZERO, &field("total"), "must be above zero");
                let fits = buffer.queue_max.is_none_or(|most| most > Bytes::ZERO && most <= buffer.total);
                self.require(fits, &field("queue_max"), "must be above zero and at most buffer.total");
            }
        }
    }

    /// Two choices compare queue depths, but rerouting around a failed link does not. Flowlets keep a next hop that it
    /// would leave.
    pub(super) fn routing(&mut self) {
        let (choice, gap) = (self.scenario.routing.choice, self.scenario.routing.flowlet_gap);
        let has_effect = gap.is_none() || choice == PathRule::Flowlets;
        self.require(has_effect, "routing.flowlet_gap", "has no effect without choice = \"flowlets\"");
        let (is_two, is_flowlets) = (choice == PathRule::TwoChoices, choice == PathRule::Flowlets);
        self.require(
            !is_flowlets || gap.is_some(),
            "routing.flowlet_gap",
            "has no default: no path connects two hosts",
        );
        let switch = &self.scenario.switch;
        let sees = !is_two || !switch.checked || switch.depth_visible == DepthVisible::IngressAndEgress;
        let rule = "two-choices reads the depths of queues in ingress, where this switch does not show them: \
                    set switch.depth_visible = \"ingress-and-egress\"";
        self.require(sees, "routing.choice", rule);
        let scheme = self.scenario.recovery.as_ref().map(|recovery| &recovery.scheme);
        let reroutes = matches!(scheme, Some(RecoveryScheme::LocalReroute(_)));
        let rule = "two-choices and flowlets know no way round a failed link: choose \"flow-hash\", or recovery.scheme \
                    \"same-port\" or \"withdraw\"";
        self.require(!reroutes || !(is_two || is_flowlets), "routing.choice", rule);
    }

    fn marking(&mut self, ecn: Option<EcnSettings>, section: &str) {
        let Some(ecn) = ecn else { return };
        let field = |name: &str| format!("{section}.{name}");
        self.require(is_length(ecn.threshold), &field("threshold"), LENGTH_RULE);
        let both = ecn.maximum.is_some() == ecn.probability.is_some();
        self.require(both, section, "maximum and probability belong together: give both or neither");
        let Some(maximum) = ecn.maximum else { return };
        let is_same_unit = matches!(
            (ecn.threshold, maximum),
            (QueueLength::Packets(_), QueueLength::Packets(_)) | (QueueLength::Bytes(_), QueueLength::Bytes(_))
        );
        self.require(is_same_unit, &field("maximum"), "must be in the unit of threshold: packets or bytes");
        let rises = !is_same_unit || is_above(maximum, ecn.threshold);
        self.require(rises, &field("maximum"), "must be above threshold");
    }

    pub(super) fn switch_exceptions(&mut self, topology: &Topology) {
        let mut taken = BTreeSet::new();
        for (number, exception) in self.scenario.switch.exceptions.iter().enumerate() {
            let section = format!("switch.exceptions[{number}]");
            let rule = "has no effect: give a preset, a latency, scheduler, queues_per_port, drr_quantum or buffer";
            self.require(exception.changes_something(), &section, rule);
            let field = format!("{section}.switches");
            let name = |switch: SwitchId| topology.switch(switch).name.as_str();
            self.exception_once(select_switches_by_pattern(topology, &exception.switches), &mut taken, name, &field);
        }
    }

    /// Requires nodes that no earlier exception names.
    fn exception_once<'a, T: Copy + Ord>(
        &mut self,
        nodes: Result<Vec<T>, String>,
        taken: &mut BTreeSet<T>,
        name: impl Fn(T) -> &'a str,
        field: &str,
    ) {
        match nodes {
            Ok(nodes) => {
                let again = nodes.into_iter().find(|&node| !taken.insert(node));
                self.report_all(again.map(|node| {
                    Problem::new(field, "", format!("{} is named twice: it has one exception", name(node)))
                }));
            }
            Err(rule) => self.report(Problem::new(field, "", rule)),
        }
    }

    pub(super) fn switch_ports(&mut self, topology: &Topology) {
        for (number, entry) in self.scenario.switch.ports.iter().enumerate() {
            let field = |name: &str| format!("switch.ports[{number}].{name}");
            let says_something = entry.buffer.is_some() || entry.ecn.is_some();
            let rule = "has no effect: give buffer, ecn or both";
            self.require(says_something, &format!("switch.ports[{number}]"), rule);
            self.require(entry.buffer.is_none_or(is_length), &field("buffer"), LENGTH_RULE);
            self.marking(entry.ecn, &field("ecn"));
            let has_port =
                |&id: &SwitchId| topology.switch(id).ports.iter().any(|port| entry.apply_to(topology, id, port));
            let own = self.scenario.switch.variants_at(topology, topology.switch_ids().filter(has_port));
            let is_static = own.iter().all(|switch| matches!(switch.buffer, BufferSettings::Static(_)));
            let rule = "needs a limit for each port: switch.buffer of kind \"static\"";
            self.require(entry.buffer.is_none() || is_static, &field("buffer"), rule);
            self.selected_ports(topology, entry, number);
        }
    }

    /// Checks an entry: its switches exist, it applies to at least one port, and each of these ports marks before it is
    /// full.
    fn selected_ports(&mut self, topology: &Topology, entry: &PortSettings, number: usize) {
        let known = || topology.switches.iter().map(|switch| switch.name.as_str());
        for (place, name) in entry.switches.iter().enumerate() {
            self.require_else(known().any(|switch| fits_pattern(switch, name)), || {
                let field = format!("switch.ports[{number}].switches[{place}]");
                Problem::new(field, "", "there is no switch of this name").maybe_hint(suggestion(name, known()))
            });
        }
        let ports = topology
            .switch_ids()
            .flat_map(|switch| topology.switch(switch).ports.iter().map(move |port| (switch, port)));
        let settings: Vec<_> = ports
            .filter(|(switch, port)| entry.apply_to(topology, *switch, port))
            .map(|(switch, port)| self.scenario.switch.of_port(topology, switch, port))
            .collect();
        let section = format!("switch.ports[{number}]");
        self.require(!settings.is_empty(), &section, "no switch has such a port");
        let marks = |settings: &SwitchSettings| match (settings.ecn, settings.buffer) {
            (Some(ecn), BufferSettings::Static(buffer)) => !is_above(ecn.threshold, buffer.per_port),
            _ => true,
        };
        let rule = "marks above the port's buffer: nothing would ever be marked";
        self.require(settings.iter().all(marks), &section, rule);
    }

    fn scheduler(&mut self, switch: &SwitchSettings, section: &str) {
        let one_queue = switch.scheduler != SchedulerKind::Fifo || switch.queues_per_port == 1;
        self.require_else(one_queue, || {
            let rule = "the scheduler \"fifo\" serves one queue";
            Problem::new(format!("{section}.queues_per_port"), "", rule)
                .hint("choose scheduler = \"strict\" or \"drr\", or queues_per_port = 1")
        });
        let quantum = switch.scheduler != SchedulerKind::Drr || (1..=1_000_000_000).contains(&switch.drr_quantum.0);
        self.require(quantum, &format!("{section}.drr_quantum"), "must be from 1 B to 1 GB");
    }

    pub(super) fn host(&mut self) {
        let host = &self.scenario.host;
        self.require(is_length(host.nic_queue), "host.nic_queue", LENGTH_RULE);
        self.jitter(host.kernel.jitter, "host.kernel");
        self.jitter(host.network_card.jitter, "host.network_card");
        let gap = host.priority_tagger.and_then(|tagger| tagger.flowlet_gap);
        self.require(gap != Some(Duration::ZERO), "host.priority_tagger.flowlet_gap", "must be above zero");
        let Some(reorder_buffer) = host.reorder_buffer else { return };
        self.require(reorder_buffer.timeout > Duration::ZERO, "host.reorder_buffer.timeout", "must be above zero");
        self.require_else(self.scenario.marks_packets(), || {
            Problem::new("host.reorder_buffer", "", "orders packets by their marks, and none has one")
                .hint("give [host] priority_tagger = { by = \"remaining-bytes\" }")
        });
    }

    /// Requires room for the longest frame: a card would drop it each time that its transport repeats it.
    fn network_card_queue(&mut self, topology: &Topology, length: QueueLength, field: &str) {
        let QueueLength::Bytes(capacity) = length else { return };
        let longest = self.scenario.frame_max();
        let overhead_bytes = topology.slowest_specs().map(|link| link.overhead_bytes).max().unwrap_or_default();
        let on_the_wire = Bytes(longest.0.saturating_add(overhead_bytes.into()));
        self.require_else(capacity == Bytes::ZERO || capacity >= on_the_wire, || {
            let rule = format!(
                "must be {} at least: the longest frame has {}, and preamble and gap count too",
                on_the_wire.text(),
                longest.text()
            );
            Problem::new(field, capacity.text(), rule)
        });
    }

    pub(super) fn host_exceptions(&mut self, topology: &Topology) {
        self.network_card_queue(topology, self.scenario.host.nic_queue, "host.nic_queue");
        let mut taken = BTreeSet::new();
        for (number, exception) in self.scenario.host.exceptions.iter().enumerate() {
            let section = format!("host.exceptions[{number}]");
            let field = |name: &str| format!("{section}.{name}");
            let rule = "has no effect: give kernel, network_card, tcp_small_queues or nic_queue";
            self.require(exception.changes_something(), &section, rule);
            self.require(exception.nic_queue.is_none_or(is_length), &field("nic_queue"), LENGTH_RULE);
            exception
                .nic_queue
                .iter()
                .for_each(|&length| self.network_card_queue(topology, length, &field("nic_queue")));
            self.jitter(exception.kernel.unwrap_or_default().jitter, &field("kernel"));
            self.jitter(exception.network_card.unwrap_or_default().jitter, &field("network_card"));
            let name = |host: HostId| topology.host(host).name.as_str();
            let hosts = select_hosts_by_pattern(topology, &exception.hosts);
            self.exception_once(hosts, &mut taken, name, &field("hosts"));
        }
    }

    /// Checks the jitter of the stack described in `section`.
    pub(super) fn jitter(&mut self, jitter: Jitter, section: &str) {
        let field = |name: &str| format!("{section}.jitter.{name}");
        match jitter {
            Jitter::None => {}
            Jitter::Exponential(jitter) => {
                self.require(jitter.mean > Duration::ZERO, &field("mean"), "must be above zero");
            }
            Jitter::Lognormal(jitter) => {
                self.require(jitter.median > Duration::ZERO, &field("median"), "must be above zero");
                self.require(jitter.p999 >= jitter.median, &field("p999"), "must not be below the median");
            }
        }
    }
}

const SECTION: &str = "switch.flow_queueing";

impl Check<'_> {
    pub(super) fn flow_queueing(&mut self) {
        let Some(settings) = &self.scenario.switch.flow_queueing else { return };
        self.goes_with_the_switch();
        let quantum = match settings {
            FlowQueueingSettings::IdealFq(ideal) => (ideal.bytes_per_round, "bytes_per_round"),
            FlowQueueingSettings::Drr(drr) => (drr.quantum, "quantum"),
            FlowQueueingSettings::Sfq(sfq) => (sfq.quantum, "quantum"),
            FlowQueueingSettings::FqCodel(codel) => (codel.quantum, "quantum"),
        };
        let (bytes, field) = quantum;
        let is_amount = (1..=1_000_000_000).contains(&bytes.0);
        self.require(is_amount, &format!("{SECTION}.{field}"), "must be from 1 B to 1 GB");
        for (class, &weight) in settings.weights().iter().enumerate() {
            let field = format!("{SECTION}.weights[{class}]");
            self.require((1..=1_000).contains(&weight), &field, "must be from 1 to 1000");
        }
        match settings {
            FlowQueueingSettings::FqCodel(codel) => self.fq_codel(codel),
            FlowQueueingSettings::Sfq(sfq) => {
                let takes_time = sfq.perturbation.is_none_or(|period| period > Duration::ZERO);
                self.require(takes_time, &format!("{SECTION}.perturbation"), "must be above zero");
            }
            FlowQueueingSettings::IdealFq(_) | FlowQueueingSettings::Drr(_) => {}
        }
    }

    fn goes_with_the_switch(&mut self) {
        let switch = &self.scenario.switch;
        let has_limits = switch.variants().all(|switch| matches!(switch.buffer, BufferSettings::Static(_)));
        self.require_else(has_limits, || {
            Problem::new("switch.buffer", "", "queues of flows share the buffer of one port, not that of a switch")
                .hint("give buffer = { kind = \"static\", per_port = \"512 KB\" }")
        });
        self.require_else(switch.variants().all(|switch| switch.queues_per_port == 1), || {
            Problem::new("switch.queues_per_port", "", "a port that queues by flow has no queues for classes")
                .hint("leave it out; flow_queueing.weights (ideal-fq, drr) tells classes apart")
        });
        self.require_else(switch.variants().all(|switch| switch.scheduler != SchedulerKind::Drr), || {
            Problem::new("switch.scheduler", "", "flow_queueing decides what is served next")
                .hint("leave it out; deficit round robin by flow is flow_queueing = { kind = \"drr\" }")
        });
        let marks = switch.ecn.iter().chain(switch.ports.iter().filter_map(|entry| entry.ecn.as_ref()));
        self.require_else(marks.into_iter().all(|ecn| ecn.at == EcnPoint::Enqueue), || {
            Problem::new("switch.ecn.at", "", "a port that queues by flow marks at enqueue, by the depth of a flow")
                .hint("leave it out; flow_queueing = { kind = \"fq-codel\" } marks by delay when packets leave")
        });
        if !self.scenario.mechanisms.is_empty() {
            let rule = "mechanisms ask for queues of their own, and ports that queue by flow have none to give";
            self.report(Problem::new(SECTION, "", rule).hint("leave out [[mechanism]] or flow_queueing"));
        }
    }

    fn fq_codel(&mut self, codel: &FqCodelSettings) {
        let field = |name: &str| format!("{SECTION}.{name}");
        self.require(codel.target > Duration::ZERO, &field("target"), "must be above zero");
        self.require(codel.interval > codel.target, &field("interval"), "must be above target");
        let switch = &self.scenario.switch;
        let marks_by_depth = switch.ecn.is_some() || switch.ports.iter().any(|entry| entry.ecn.is_some());
        self.require_else(!marks_by_depth, || {
            Problem::new("switch.ecn", "", "FQ-CoDel marks by delay, never by depth")
                .hint("leave it out; flow_queueing.ecn says whether it marks")
        });
        let is_frame = codel.quantum >= Bytes(64);
        self.require(is_frame, &field("quantum"), "must be at least 64 B, the shortest frame");
    }
}
