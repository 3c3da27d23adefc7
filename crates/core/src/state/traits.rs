//! The two traits.

use crate::state::reader::{Damaged, Reader};
use crate::state::writer::Writer;

/// What is made from its bytes alone.
pub trait Value: Sized {
    /// Writes it.
    fn write(&self, out: &mut Writer);

    /// Reads what [`Self::write`] has written.
    ///
    /// # Errors
    /// [`Damaged`], when the bytes are no value of this type.
    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged>;
}

/// What has been built from a scenario, and changes while it runs.
pub trait State {
    /// Writes what has changed since it was built, and what could have.
    fn save(&self, out: &mut Writer);

    /// Takes what [`Self::save`] has written of another that was built from the same scenario.
    ///
    /// # Errors
    /// [`Damaged`], when the bytes do not fit this one; it is of no use then.
    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged>;
}
