//! What a mechanism keeps for each port at which it has a part.

use hitless_core::state::{Damaged, Reader, State, Writer};
use hitless_core::wire::PortId;

/// By port, as far as the highest one that has an entry; those between have a default.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByPort<T>(Vec<T>);

/// As many ports as were built.
impl<T: State> State for ByPort<T> {
    fn save(&self, out: &mut Writer) {
        self.0.save(out);
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        self.0.load(from)
    }
}

impl<T: Default> ByPort<T> {
    /// The entry of a port, made when there is none.
    pub fn entry(&mut self, port: PortId) -> &mut T {
        let index = usize::from(port.0);
        if self.0.len() <= index {
            self.0.resize_with(index + 1, T::default);
        }
        &mut self.0[index]
    }

    /// The entry of a port, if there is one.
    pub fn get(&self, port: PortId) -> Option<&T> {
        self.0.get(usize::from(port.0))
    }

    /// The entry of a port, to be changed, if there is one.
    #[inline]
    pub fn get_mut(&mut self, port: PortId) -> Option<&mut T> {
        self.0.get_mut(usize::from(port.0))
    }

    /// All, in the order of the ports.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }

    /// All, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut()
    }
}
