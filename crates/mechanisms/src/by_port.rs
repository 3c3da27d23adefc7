//! Values of a mechanism for each port with an active part.

use hitless_core::state::{Damaged, Reader, State, Writer};
use hitless_core::wire::PortId;

/// Values by port, up to the highest port with an entry; ports between have the default.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByPort<T>(Vec<T>);

/// Saved with its length, because entries are made on demand.
impl<T: State> State for ByPort<T> {
    fn save(&self, out: &mut Writer) {
        self.0.save(out);
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        self.0.load(from)
    }
}

impl<T: Default> ByPort<T> {
    /// The entry of a port, created on demand.
    pub fn entry(&mut self, port: PortId) -> &mut T {
        let index = usize::from(port.0);
        if self.0.len() <= index {
            self.0.resize_with(index + 1, T::default);
        }
        &mut self.0[index]
    }

    pub fn get(&self, port: PortId) -> Option<&T> {
        self.0.get(usize::from(port.0))
    }

    #[inline]
    pub fn get_mut(&mut self, port: PortId) -> Option<&mut T> {
        self.0.get_mut(usize::from(port.0))
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut()
    }
}
