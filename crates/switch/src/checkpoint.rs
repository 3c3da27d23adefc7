//! A switch as bytes.

use hitless_core::state::{Damaged, Reader, State, Writer};

use crate::switch::Switch;

impl Switch {
    /// The mechanisms whose state cannot be saved, by name: a switch with any has no checkpoints.
    pub fn without_state(&self) -> impl Iterator<Item = &'static str> {
        let named = self.mechanisms.iter().zip(&self.resources);
        named.filter(|(mechanism, _)| mechanism.state().is_none()).map(|(_, resources)| resources.mechanism)
    }
}

/// Between two events.
///
/// # Panics
/// When a mechanism has no state: see [`Switch::without_state`].
impl State for Switch {
    fn save(&self, out: &mut Writer) {
        let Self { core, mechanisms, outputs, group_owners: _, resources: _ } = self;
        debug_assert!(outputs.is_empty(), "a hook is at work");
        core.save(out);
        for mechanism in mechanisms {
            mechanism.state().expect("every mechanism has a state to save").save(out);
        }
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        let Self { core, mechanisms, outputs: _, group_owners: _, resources: _ } = self;
        core.load(from)?;
        for mechanism in mechanisms {
            mechanism.state_mut().expect("every mechanism has a state to load").load(from)?;
        }
        Ok(())
    }
}
