//! SQR: whether it can keep what it promises. The paper's equation 1 and its kin, with the numbers.

use hitless_mechanisms::sqr::Clock;
use hitless_wire::sqr::CacheMetadata;
use hitless_wire::{Bytes, Duration};

use super::Check;
use super::fabric::Taken;
use crate::routing::{PathChoice, Routing};
use crate::scenario::error::Problem;
use crate::scenario::quantity::Quantity;
use crate::scenario::{BufferSettings, Purpose, SqrCaching, SqrSettings};
use crate::topology::select::select_switch_ports;
use crate::topology::{DirectedLink, Node, Topology};

impl Check<'_> {
    /// `taken` are the switches that another entry has named.
    pub(super) fn sqr(&mut self, topology: &Topology, settings: &SqrSettings, section: &str, taken: &mut Taken) {
        let before = self.problems.len();
        let links = self.sqr_links(topology, settings, section, taken);
        self.sqr_ports(topology, settings, section);
        self.sqr_delays(topology, settings, section);
        self.sqr_hardware(settings, section);
        if self.problems.len() == before {
            let routing = Routing::new(topology, PathChoice::default());
            let failing: Vec<_> = links.iter().copied().filter(|&link| self.fails(topology, link)).collect();
            self.sqr_backups(topology, &routing, &failing, section);
            self.sqr_constant_rates(topology, &routing, settings, &failing, section);
            self.sqr_buffer(topology, settings, &links, section);
        }
    }

    fn sqr_links(
        &mut self,
        topology: &Topology,
        settings: &SqrSettings,
        section: &str,
        taken: &mut Taken,
    ) -> Vec<DirectedLink> {
        let mut links = Vec::new();
        for (number, name) in settings.links.iter().enumerate() {
            let field = format!("{section}.links[{number}]");
            for link in self.links_named(topology, name, &field) {
                self.require(!links.contains(&link), &field, "this direction is in the list already");
                let is_from_host = !topology.ends(link).0.node.is_switch();
                self.require(!is_from_host, &field, "a host is at the sending end, and SQR runs on switches");
                links.push(link);
            }
        }
        self.one_entry_per_switch(topology, "SQR", &settings.switches(topology), (section, "links"), taken);
        links
    }

    fn sqr_ports(&mut self, topology: &Topology, settings: &SqrSettings, section: &str) {
        let switches = settings.switches(topology);
        let mut without = switches.clone();
        for (number, name) in settings.caching_ports.iter().enumerate() {
            let field = format!("{section}.caching_ports[{number}]");
            match select_switch_ports(topology, name, 0) {
                Ok(port) => {
                    let rule = "is at a switch that sends on none of the protected links";
                    self.require(switches.contains(&port.switch), &field, rule);
                    without.remove(&port.switch);
                }
                Err(rule) => self.problems.push(Problem::new(field, "", rule)),
            }
        }
        let counts = switches.iter().map(|&switch| topology.switch(switch).ports.len());
        let fit = counts.max().is_none_or(|count| count <= usize::from(CacheMetadata::PORTS));
        let rule =
            format!("is at a switch of more than {} ports, which a copy cannot tell apart", CacheMetadata::PORTS);
        self.require(fit, &format!("{section}.links"), &rule);
        if let Some(switch) = without.first() {
            let rule = format!("{} has no caching port", topology.switch(*switch).name);
            self.problems.push(Problem::new(format!("{section}.caching_ports"), "", rule));
        }
    }

    fn sqr_delays(&mut self, topology: &Topology, settings: &SqrSettings, section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        let (Some(steady), Some(failure)) = (settings.steady_delay, settings.failure_delay) else { return };
        let failing = settings.protected(topology).into_iter().find(|&link| self.fails(topology, link));
        if let Some(failing) = failing {
            self.sqr_is_told(topology, failing, field("links"));
            let detection = self.scenario.detection().bound();
            let needed = settings.steady_bound(self.scenario, topology);
            self.require_else(steady >= needed, || {
                let flight = needed.saturating_sub(detection).text();
                let (needed, detection) = (needed.text(), detection.text());
                let rule =
                    format!("is too short: detection takes {detection} and a full frame {flight}, {needed} together");
                Problem::new(field("steady_delay"), "", rule)
            });
        }
        let reconfiguration = settings.reconfiguration_bound(self.scenario, topology);
        let needed = Duration(steady.as_ps().saturating_add(reconfiguration.as_ps()));
        self.require_else(failure >= needed, || {
            let (steady, reconfiguration, needed) = (steady.text(), reconfiguration.text(), needed.text());
            let rule = format!(
                "is too short: steady_delay {steady} and reconfiguration {reconfiguration} are {needed} together"
            );
            Problem::new(field("failure_delay"), "", rule)
        });
        let longest = Clock::new(settings.clock_bits).longest();
        for (name, time) in [("failure_delay", failure), ("utilization_window", settings.utilization_window)] {
            self.require_else(time <= longest, || {
                let bits = settings.clock_bits;
                let rule = format!("must be {} at most, half a turn of a clock of {bits} bits", longest.text());
                Problem::new(field(name), time.text(), rule).hint("give more clock_bits")
            });
        }
    }

    fn sqr_is_told(&mut self, topology: &Topology, failing: DirectedLink, field: String) {
        self.require_else(self.scenario.recovery.is_some(), || {
            let rule = format!("{} fails, and nobody detects it", topology.link_name(failing));
            let hint = "give [recovery], or SQR is never told that it has to send its copies";
            Problem::new(field, "", rule).hint(hint)
        });
    }

    fn sqr_hardware(&mut self, settings: &SqrSettings, section: &str) {
        let field = |name: &str| format!("{section}.{name}");
        let has_window = settings.utilization_window > Duration::ZERO;
        self.require(has_window, &field("utilization_window"), "must be above zero");
        let takes_time = settings.caching != SqrCaching::Ring || self.scenario.switch.mirror_latency > Duration::ZERO;
        self.require_else(takes_time, || {
            let rule = "a ring needs a switch.mirror_latency above 0: copies would go round it in no time";
            Problem::new(field("caching"), "", rule)
                .hint("take switch.preset = \"tofino-like\", or caching = \"delay-queue\"")
        });
        if let Some(backstop) = settings.backstop {
            let falls = backstop.resume < backstop.pause;
            self.require(falls, &field("backstop.resume"), "must be below pause");
            if let BufferSettings::Shared(buffer) = self.scenario.switch.buffer {
                let within = backstop.pause <= buffer.total;
                self.require(within, &field("backstop.pause"), "is above switch.buffer.total: it would never act");
            }
        }
    }

    /// Whether the scenario has a failure of `link`, or somebody may cut it.
    pub(super) fn fails(&self, topology: &Topology, link: DirectedLink) -> bool {
        let may_be_cut = self.purpose == Purpose::Live && self.scenario.recovery.is_some();
        may_be_cut || self.scenario.failures_of(topology, link.link).next().is_some()
    }

    /// Local rerouting needs another port.
    fn sqr_backups(&mut self, topology: &Topology, routing: &Routing, links: &[DirectedLink], section: &str) {
        if !self.reroutes() {
            return;
        }
        for &link in links {
            let end = topology.ends(link).0;
            let Node::Switch(switch) = end.node else { continue };
            let is_safe = !routing.detours(topology, switch, end.port).is_empty();
            self.require_else(is_safe, || {
                let (link, name) = (topology.link_name(link), &topology.switch(switch).name);
                let rule =
                    format!("{link} has no backup: from every other neighbour of {name} some of its packets come back");
                Problem::new(format!("{section}.links"), "", rule)
                    .hint("local rerouting needs another way; protect another link, or take the scheme \"same-port\"")
            });
        }
    }

    /// Equation 1: what all protected ports of a switch send during the delay must fit into its buffer.
    fn sqr_buffer(&mut self, topology: &Topology, settings: &SqrSettings, links: &[DirectedLink], section: &str) {
        let BufferSettings::Shared(buffer) = self.scenario.switch.buffer else { return };
        let Some(delay) = settings.failure_delay else { return };
        let (limit, limit_name) = match settings.backstop {
            Some(backstop) => (backstop.pause, "backstop.pause"),
            None => (buffer.total, "switch.buffer.total"),
        };
        for switch in settings.switches(topology) {
            let own = links.iter().filter(|&&link| topology.ends(link).0.node == Node::Switch(switch));
            let rates: Vec<_> = own.map(|link| topology.link(link.link).settings.rate).collect();
            let needed = Bytes(rates.iter().map(|rate| rate.bytes_in(delay).0).fold(0, u64::saturating_add));
            self.require_else(needed <= limit, || {
                let list: Vec<String> = rates.iter().map(|rate| rate.text()).collect();
                let rule = format!(
                    "{} would have to keep ({}) x {} = {}, and {limit_name} is {} (equation 1)",
                    topology.switch(switch).name,
                    list.join(" + "),
                    delay.text(),
                    needed.text(),
                    limit.text(),
                );
                Problem::new(format!("{section}.failure_delay"), delay.text(), rule)
            });
        }
    }
}
