//! A switch as bytes, for checkpoints.

use hitless_core::state::{Damaged, Reader, State, Writer};

use crate::switch::Switch;

impl Switch {
    /// Returns the names of mechanisms without saved state. A switch with any of them cannot be saved.
    pub fn without_state(&self) -> impl Iterator<Item = &'static str> {
        let named = self.mechanisms.iter().zip(&self.resources);
        named.filter(|(mechanism, _)| mechanism.state().is_none()).map(|(_, resources)| resources.mechanism)
    }
}

/// Valid only between two events.
///
/// # Panics
/// If a mechanism cannot be saved: see [`Switch::without_state`].
impl State for Switch {
    fn save(&self, out: &mut Writer) {
        // The mechanisms' settings rebuild the last three fields, so they are not state.
        let Self { core, mechanisms, outputs, group_owners: _, quiet_roles: _, resources: _ } = self;
        debug_assert!(outputs.is_empty(), "a hook is at work");
        core.save(out);
        for mechanism in mechanisms {
            mechanism.state().expect("every mechanism has a state to save").save(out);
        }
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        let Self { core, mechanisms, outputs: _, group_owners: _, quiet_roles: _, resources: _ } = self;
        core.load(from)?;
        for mechanism in mechanisms {
            mechanism.state_mut().expect("every mechanism has a state to load").load(from)?;
        }
        Ok(())
    }
}
