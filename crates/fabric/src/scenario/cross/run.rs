//! The run as a whole: its name, its end.

use hitless_wire::Time;

use super::Check;
use crate::scenario::Until;
use crate::scenario::error::Problem;
use crate::scenario::quantity::Quantity;

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
        if scenario.until == Until::Duration {
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
    }
}
