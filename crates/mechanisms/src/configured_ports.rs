//! Values of a mechanism for its configured ports, mostly counters.

use hitless_core::state::{Damaged, Reader, State, Writer};
use hitless_core::wire::PortId;

/// Entries of some ports, in the order of the configuration. Finding an entry by its port takes one step.
#[derive(Clone, Debug)]
pub(crate) struct ConfiguredPorts<T> {
    entries: Vec<(PortId, T)>,
    places: Vec<Option<u16>>,
}

/// Saves the entries only; the ports come from the configuration.
impl<T: State> State for ConfiguredPorts<T> {
    fn save(&self, out: &mut Writer) {
        out.value(&self.entries.len());
        self.entries.iter().for_each(|(_, entry)| entry.save(out));
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        from.expect_count(self.entries.len())?;
        self.entries.iter_mut().try_for_each(|(_, entry)| entry.load(from))
    }
}

impl<T: Default> ConfiguredPorts<T> {
    pub fn with_default(ports: impl IntoIterator<Item = PortId>) -> Self {
        Self::new(ports.into_iter().map(|port| (port, T::default())))
    }
}

impl<T> ConfiguredPorts<T> {
    pub fn new(entries: impl IntoIterator<Item = (PortId, T)>) -> Self {
        let entries: Vec<_> = entries.into_iter().collect();
        let count = entries.iter().map(|(port, _)| usize::from(port.0) + 1).max().unwrap_or(0);
        let mut places = vec![None; count];
        for (place, (port, _)) in entries.iter().enumerate() {
            let before = places[usize::from(port.0)].replace(place as u16);
            assert!(before.is_none(), "port {} is configured once", port.0);
        }
        Self { entries, places }
    }

    #[inline]
    fn place(&self, port: PortId) -> Option<usize> {
        self.places.get(usize::from(port.0)).copied().flatten().map(usize::from)
    }

    #[inline]
    pub fn get_mut(&mut self, port: PortId) -> Option<&mut T> {
        let place = self.place(port)?;
        Some(&mut self.entries[place].1)
    }

    /// The entry of a port.
    #[inline]
    pub fn of(&mut self, port: PortId) -> &mut T {
        self.get_mut(port).expect("only packets of configured ports are looked at")
    }

    pub fn iter(&self) -> impl Iterator<Item = (PortId, &T)> {
        self.entries.iter().map(|(port, entry)| (*port, entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_found_by_its_port_whatever_the_order() {
        let mut ports = ConfiguredPorts::new([5, 0, 3].map(|port| (PortId(port), u32::from(port) * 10)));
        *ports.of(PortId(0)) += 1;
        assert_eq!(
            [0, 1, 3, 4, 5, 6].map(|port| ports.get_mut(PortId(port)).copied()),
            [Some(1), None, Some(30), None, Some(50), None]
        );
        assert_eq!(ports.iter().map(|(port, &entry)| (port.0, entry)).collect::<Vec<_>>(), [(5, 50), (0, 1), (3, 30)]);
        assert_eq!(ConfiguredPorts::<u32>::with_default([]).get_mut(PortId(0)), None);
    }
}
