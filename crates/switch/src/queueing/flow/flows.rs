//! Numbers of flows, for disciplines with exact state per flow.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use hitless_core::state::{Damaged, Reader, Value, Writer};
use hitless_core::wire::Packet;

/// The exact identity of a flow: number and hash. The number alone is not enough if several flows share it (a live
/// switch knows flows by their hash only); the hash alone is not enough if two flows share it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, hitless_core::state::Value)]
pub struct FlowKey(u64);

impl FlowKey {
    /// Returns the flow of a packet. The two directions of a connection are two flows.
    #[inline]
    pub fn of(packet: &Packet) -> Self {
        Self(u64::from(packet.flow.0) << 32 | u64::from(packet.flow_hash))
    }

    /// Returns the hash of the 5-tuple.
    #[inline]
    pub const fn hash(self) -> u32 {
        self.0 as u32
    }
}

/// A hash function with the same result in every run: one multiplication.
#[derive(Default)]
struct Fixed(u64);

impl Hasher for Fixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        // 2^64 divided by the golden ratio (Knuth, volume 3, section 6.4). The upper half of the product is well mixed.
        let product = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 32;
    }
}

/// Small, reused numbers of flows. The map is never iterated over, because its order must not affect a run.
#[derive(Debug, Default)]
pub(super) struct FlowNumbers {
    numbers: HashMap<FlowKey, u32, BuildHasherDefault<Fixed>>,
    free: Vec<u32>,
    given: u32,
}

impl Value for FlowNumbers {
    fn write(&self, out: &mut Writer) {
        let Self { numbers, free, given } = self;
        // The order of the map is undefined, so entries are sorted to give the same bytes in every run.
        let mut sorted: Vec<(u64, u32)> = numbers.iter().map(|(key, &number)| (key.0, number)).collect();
        sorted.sort_unstable();
        out.value(&sorted);
        out.value(free);
        out.value(given);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damaged> {
        let numbers = from.value::<Vec<(u64, u32)>>()?.into_iter().map(|(key, number)| (FlowKey(key), number));
        Ok(Self { numbers: numbers.collect(), free: from.value()?, given: from.value()? })
    }
}

impl FlowNumbers {
    /// Returns the number of a flow, and whether it is new.
    #[inline]
    pub fn of(&mut self, key: FlowKey) -> (u32, bool) {
        if let Some(&number) = self.numbers.get(&key) {
            return (number, false);
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.given += 1;
            self.given - 1
        });
        self.numbers.insert(key, number);
        (number, true)
    }

    /// Forgets a flow; its number can be reused.
    #[inline]
    pub fn forget(&mut self, key: FlowKey) {
        let number = self.numbers.remove(&key).expect("only a flow that has a number is forgotten");
        self.free.push(number);
    }
}
