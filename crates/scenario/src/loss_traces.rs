//! Files of loss traces that a scenario names.

use crate::network::loss::LossModel;
use hitless_core::settings::Problem;

use crate::Scenario;

/// Reads them, and reports those that cannot be read.
pub(crate) fn read(scenario: &mut Scenario) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, link) in scenario.links.iter_mut().enumerate() {
        let of_start = (format!("link[{index}].loss"), &mut link.loss);
        let field_of = |number| format!("link[{index}].changes[{number}].loss");
        let of_changes = link.changes.iter_mut().enumerate().map(|(n, change)| (field_of(n), &mut change.loss));
        for (field, model) in std::iter::once(of_start).chain(of_changes) {
            let LossModel::Trace(loss) = model else { continue };
            let read = loss.read(&scenario.folder);
            problems.extend(read.err().map(|(name, rule)| Problem::new(format!("{field}.{name}"), "", rule)));
        }
    }
    problems
}
