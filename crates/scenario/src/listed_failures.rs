//! The file of failures that a scenario names.

use crate::network::failure::read_failures;
use hitless_core::settings::Problem;

use crate::Scenario;

/// Adds its failures to those of the scenario, or reports that it cannot be read.
pub(crate) fn read(scenario: &mut Scenario) -> Option<Problem> {
    let file = scenario.failure_file.take()?;
    match read_failures(&scenario.folder, &file) {
        Ok(failures) => scenario.failures.extend(failures),
        Err(rule) => return Some(Problem::new("failure_file", "", rule)),
    }
    None
}
