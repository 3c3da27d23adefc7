//! What each mechanism has to say of its own entries.

use super::check::Check;
use crate::kind::Surroundings;

impl Check<'_> {
    pub(super) fn mechanisms(&mut self, around: Surroundings<'_>) {
        let mut kinds = Vec::new();
        for (number, entry) in around.scenario.mechanisms.iter().enumerate() {
            entry.check(around, &format!("mechanism[{number}]"), self);
            if !kinds.contains(&entry.name()) {
                kinds.push(entry.name());
                entry.check_together(around, self);
            }
        }
    }
}
