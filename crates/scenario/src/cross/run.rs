//! Checks of the run as a whole: its name, its end, its records.

use hitless_core::settings::Problem;
use hitless_core::settings::quantity::Quantity;
use hitless_core::wire::{Duration, Time};

use super::check::Check;
use crate::network::topology::Topology;
use crate::network::topology::select::select_switch_ports;
use crate::{FlowGroup, FlowPattern, Purpose, Until};

impl Check<'_> {
    pub(super) fn run(&mut self) {
        let scenario = self.scenario;
        self.require_file_name(&scenario.name, "folder", "name");
        if self.purpose == Purpose::Simulation {
            self.require_else(!scenario.flows.is_empty(), || {
                let hint = "hitless lab up runs a scenario without flows: there your programs send";
                Problem::new("flows", "", "must be given, because nothing else sends").hint(hint)
            });
        }
        if self.purpose == Purpose::Simulation && scenario.until == Until::Duration {
            self.require_else(scenario.duration.is_some(), || {
                Problem::new("duration", "", "must be given, because nothing else ends the run")
                    .hint("give duration = \"100 ms\", or until = \"all-flows-done\"")
            });
        }
        let Some(duration) = scenario.duration else { return };
        self.require(duration > Time::ZERO, "duration", "must be above zero");
        self.require_else(scenario.warmup < duration || duration == Time::ZERO, || {
            let rule = format!("must end before the run does (duration = {})", duration.text());
            Problem::new("warmup", "", rule)
        });
        self.samples(duration);
    }

    /// Limits the number of samples, because samples stay in memory until the run ends.
    fn samples(&mut self, duration: Time) {
        const SAMPLES_MAX: u64 = 50_000_000;
        let measure = &self.scenario.measure;
        let queues = measure.queue.iter().map(|sampling| ("queue", sampling.period, sampling.ports.len()));
        let links = measure.throughput.iter().map(|sampling| ("throughput", sampling.period, sampling.links.len()));
        let count = |period: Duration, places: usize| duration.as_ps() / period.as_ps() * places as u64;
        let has_period = |(_, period, _): &(_, Duration, _)| *period > Duration::ZERO;
        let goodput = measure.goodput.iter().map(|sampling| ("goodput", sampling.period, 1));
        let mut sampled = queues.chain(links).chain(goodput).filter(has_period);
        let too_many = sampled.find(|&(_, period, places)| count(period, places) > SAMPLES_MAX);
        let Some((what, period, places)) = too_many else { return };
        self.require_else(false, || {
            let rule = format!("takes {} samples, and at most {SAMPLES_MAX} are kept", count(period, places));
            Problem::new(format!("measure.{what}"), "", rule).hint("make the period longer or the run shorter")
        });
    }
}

impl Check<'_> {
    pub(super) fn measure(&mut self, topology: &Topology) {
        self.autopsy(topology);
        for (index, sampling) in self.scenario.measure.queue.iter().enumerate() {
            let section = format!("measure.queue[{index}]");
            self.require(sampling.period > Duration::ZERO, &format!("{section}.period"), "must be above zero");
            for (number, port) in sampling.ports.iter().enumerate() {
                let found = select_switch_ports(topology, port, self.scenario.switch.recirculation_ports);
                if let Err(rule) = found {
                    self.no_such_place(topology, port, &format!("{section}.ports[{number}]"), rule);
                }
            }
        }
        for (index, sampling) in self.scenario.measure.throughput.iter().enumerate() {
            let section = format!("measure.throughput[{index}]");
            self.require(sampling.period > Duration::ZERO, &format!("{section}.period"), "must be above zero");
            for (number, link) in sampling.links.iter().enumerate() {
                self.one_link(topology, link, &format!("{section}.links[{number}]"));
            }
        }
        let measure = &self.scenario.measure;
        let flows = measure.flow.iter().map(|sampling| (&sampling.group, sampling.period));
        flows.enumerate().for_each(|(index, of)| self.sampled_group(of, &format!("measure.flow[{index}]")));
        let goodput = measure.goodput.iter().map(|sampling| (&sampling.group, sampling.period));
        goodput.enumerate().for_each(|(index, of)| self.sampled_group(of, &format!("measure.goodput[{index}]")));
    }

    /// Refuses the autopsy of messages that share the bytes of a connection: a packet can carry parts of two.
    fn autopsy(&mut self, topology: &Topology) {
        if !self.scenario.measure.autopsy {
            return;
        }
        let is_constant = topology.changing_lines().is_empty();
        self.require(is_constant, "measure.autopsy", "needs links with a constant rate and delay");
        let has_one_port = !topology.has_multi_homed_hosts();
        self.require(has_one_port, "measure.autopsy", "needs hosts with one port: it knows one line for each host");
        let rule = "divides the times of simulated flows, and a live run has none: remove it";
        self.require(self.purpose != Purpose::Live, "measure.autopsy", rule);
        let shares = |group: &FlowGroup| matches!(&group.pattern, FlowPattern::Poisson(of) if of.connections.is_some());
        let Some(group) = self.scenario.flows.iter().find(|group| shares(group)) else { return };
        let rule = format!("cannot divide the times of {}: its messages share open connections", group.name);
        let hint = "remove connections from the group, or autopsy from [measure]";
        self.require_else(false, || Problem::new("measure.autopsy", "", rule).hint(hint));
    }

    fn sampled_group(&mut self, (group, period): (&String, Duration), section: &str) {
        self.require(period > Duration::ZERO, &format!("{section}.period"), "must be above zero");
        self.require_group(group, &format!("{section}.group"));
    }
}
