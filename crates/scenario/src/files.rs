//! Files that a scenario names: failures and loss traces.

use hitless_core::settings::Problem;

use crate::Scenario;
use crate::network::link::read_failures;
use crate::network::loss::LossModel;

/// Appends the failures in the file to the scenario's failures; reports an unreadable file.
pub(crate) fn failures(scenario: &mut Scenario) -> Option<Problem> {
    let file = scenario.failure_file.take()?;
    match read_failures(&scenario.folder, &file) {
        Ok(failures) => scenario.failures.extend(failures),
        Err(rule) => return Some(Problem::new("failure_file", "", rule)),
    }
    None
}

/// Reads the loss traces; reports unreadable ones.
pub(crate) fn loss_traces(scenario: &mut Scenario) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, link) in scenario.links.iter_mut().enumerate() {
        let of_start = (format!("link[{index}].loss"), &mut link.loss);
        let field_of = |number| format!("link[{index}].changes[{number}].loss");
        let of_changes = link.changes.iter_mut().enumerate();
        let of_changes = of_changes.filter_map(|(n, change)| Some((field_of(n), change.loss.as_mut()?)));
        for (field, model) in std::iter::once(of_start).chain(of_changes) {
            let LossModel::Trace(loss) = model else { continue };
            let read = loss.read(&scenario.folder);
            problems.extend(read.err().map(|(name, rule)| Problem::new(format!("{field}.{name}"), "", rule)));
        }
    }
    problems
}
