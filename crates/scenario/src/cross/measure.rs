//! What is recorded.

use crate::network::topology::Topology;
use crate::network::topology::select::select_switch_ports;
use hitless_core::settings::{Problem, closest};
use hitless_core::wire::Duration;

use super::check::Check;

impl Check<'_> {
    pub(super) fn measure(&mut self, topology: &Topology) {
        for (index, sampling) in self.scenario.measure.queue.iter().enumerate() {
            let section = format!("measure.queue[{index}]");
            self.require(sampling.period > Duration::ZERO, &format!("{section}.period"), "must be above zero");
            for (number, port) in sampling.ports.iter().enumerate() {
                let found = select_switch_ports(topology, port, self.scenario.switch.recirculation_ports);
                let problem = |rule| Problem::new(format!("{section}.ports[{number}]"), "", rule);
                self.report_all(found.err().map(problem));
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

    fn sampled_group(&mut self, (group, period): (&String, Duration), section: &str) {
        self.require(period > Duration::ZERO, &format!("{section}.period"), "must be above zero");
        let names = || self.scenario.flows.iter().map(|group| group.name.as_str());
        self.require_else(names().any(|name| name == group), || {
            let guess = closest(group, names()).map(|name| format!("did you mean \"{name}\"?"));
            Problem::new(format!("{section}.group"), "", "no [[flows]] has this name").maybe_hint(guess)
        });
    }
}
