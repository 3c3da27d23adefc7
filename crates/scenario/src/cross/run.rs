//! The run as a whole: its name, its end.

use hitless_core::settings::Problem;
use hitless_core::settings::quantity::Quantity;
use hitless_core::wire::{Duration, Time};

use super::check::Check;
use crate::{Purpose, Until};

impl Check<'_> {
    pub(super) fn run(&mut self) {
        let scenario = self.scenario;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let name_fits = scenario.name.chars().all(is_plain) && scenario.name.starts_with(|c: char| c != '.');
        self.require(
            name_fits,
            "name",
            "must be letters, digits, '-', '_' and '.', because a folder is named after it",
        );
        if self.purpose == Purpose::Simulation {
            self.has_flows();
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

    fn has_flows(&mut self) {
        self.require_else(!self.scenario.flows.is_empty(), || {
            let hint = "hitless lab up runs a scenario without flows: there your programs send";
            Problem::new("flows", "", "must be given, because nothing else sends").hint(hint)
        });
    }

    /// Samples stay in memory until the run ends.
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
