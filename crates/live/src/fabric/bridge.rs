//! The learning table of addresses: the point of each station.
//!
//! The table has a fixed size and is set-associative, as in a hardware bridge: an attacker who sends from a million
//! addresses evicts learned entries, the oldest of a set first, but takes no memory. Configured entries stay. VLANs
//! share one table (shared learning; IEEE 802.1Q, clause 8.8.8).

use hitless_core::wire::frame::MacAddress;
use hitless_core::wire::{Duration, Time};

const WAYS: usize = 4;

#[derive(Clone, Copy, Debug)]
struct Entry {
    address: MacAddress,
    point: u16,
    seen: Time,
    is_given: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BridgeCounters {
    pub learned: u64,
    /// Stations that moved to another point.
    pub moved: u64,
    /// Entries evicted before their age limit.
    pub pushed_out: u64,
}

#[derive(Debug)]
pub struct Bridge {
    sets: Vec<[Option<Entry>; WAYS]>,
    given: Vec<Entry>,
    maximum_age: Duration,
    pub counters: BridgeCounters,
}

impl Bridge {
    /// Makes an empty table for up to `capacity` learned addresses with an age limit of `maximum_age`.
    pub fn new(capacity: usize, maximum_age: Duration) -> Self {
        let sets = capacity.div_ceil(WAYS).next_power_of_two();
        Self { sets: vec![[None; WAYS]; sets], given: Vec::new(), maximum_age, counters: BridgeCounters::default() }
    }

    /// Adds a configured station, which never moves and is never forgotten.
    pub fn give(&mut self, address: MacAddress, point: u16) {
        self.given.push(Entry { address, point, seen: Time::ZERO, is_given: true });
        self.given.sort_unstable_by_key(|entry| entry.address);
    }

    /// Learns from a frame from `address` at `point`.
    pub fn learn(&mut self, now: Time, address: MacAddress, point: u16) {
        if address.is_group() || self.given(address).is_some() {
            return;
        }
        let maximum_age = self.maximum_age;
        let set = self.set(address);
        let counters = &mut self.counters;
        let ways = &mut self.sets[set];
        if let Some(entry) = ways.iter_mut().flatten().find(|entry| entry.address == address) {
            counters.moved += u64::from(entry.point != point);
            (entry.point, entry.seen) = (point, now);
            return;
        }
        // An expired entry is free: replacing it is not an eviction.
        let is_free = |way: &Option<Entry>| way.is_none_or(|entry| now.saturating_since(entry.seen) > maximum_age);
        let oldest = || (0..WAYS).min_by_key(|&way| ways[way].map(|entry| entry.seen)).expect("a set has ways");
        let free = ways.iter().position(is_free);
        let way = free.unwrap_or_else(oldest);
        counters.learned += 1;
        counters.pushed_out += u64::from(free.is_none());
        ways[way] = Some(Entry { address, point, seen: now, is_given: false });
    }

    /// Returns the point of `address`; `None` if it is unknown or a group address.
    pub fn find(&self, now: Time, address: MacAddress) -> Option<u16> {
        if let Some(entry) = self.given(address) {
            return Some(entry.point);
        }
        let entry = self.sets[self.set(address)].iter().flatten().find(|entry| entry.address == address)?;
        (now.saturating_since(entry.seen) <= self.maximum_age).then_some(entry.point)
    }

    /// Returns all stations: address, point, whether it was configured.
    pub fn stations(&self) -> impl Iterator<Item = (MacAddress, u16, bool)> + '_ {
        let entries = self.given.iter().chain(self.sets.iter().flatten().flatten());
        entries.map(|entry| (entry.address, entry.point, entry.is_given))
    }

    fn given(&self, address: MacAddress) -> Option<&Entry> {
        let found = self.given.binary_search_by_key(&address, |entry| entry.address).ok()?;
        Some(&self.given[found])
    }

    /// Hashes an address. Addresses of one manufacturer differ only in their last bytes; multiplying by an odd number
    /// spreads these over the upper bits.
    fn set(&self, address: MacAddress) -> usize {
        let [a, b, c, d, e, f] = address.0;
        let number = u64::from_be_bytes([0, 0, a, b, c, d, e, f]).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (number >> 32) as usize & (self.sets.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000_000;

    fn station(number: u32) -> MacAddress {
        let [a, b, c, d] = number.to_be_bytes();
        MacAddress([2, 0, a, b, c, d])
    }

    fn bridge() -> Bridge {
        Bridge::new(64, Duration::from_seconds(300))
    }

    #[test]
    fn a_station_is_where_it_was_seen_last_until_it_is_forgotten() {
        let mut bridge = bridge();
        assert_eq!(bridge.find(Time(0), station(1)), None);
        bridge.learn(Time(0), station(1), 3);
        bridge.learn(Time(SECOND), station(1), 4);
        assert_eq!(bridge.find(Time(301 * SECOND), station(1)), Some(4));
        assert_eq!(bridge.find(Time(301 * SECOND + 1), station(1)), None);
        assert_eq!(bridge.counters, BridgeCounters { learned: 1, moved: 1, pushed_out: 0 });
    }

    #[test]
    fn what_is_given_neither_moves_nor_ages_and_groups_are_not_learned() {
        let mut bridge = bridge();
        bridge.give(station(1), 3);
        bridge.learn(Time(0), station(1), 4);
        bridge.learn(Time(0), MacAddress::BROADCAST, 4);
        assert_eq!(bridge.find(Time(u64::MAX), station(1)), Some(3));
        assert_eq!(bridge.find(Time(0), MacAddress::BROADCAST), None);
    }

    #[test]
    fn a_flood_of_addresses_pushes_out_the_oldest_and_never_what_is_given() {
        let mut bridge = bridge();
        bridge.give(station(0), 7);
        (1..=10_000).for_each(|number| bridge.learn(Time(u64::from(number)), station(number), 1));
        assert_eq!(bridge.stations().count(), 65);
        assert_eq!(bridge.counters.pushed_out, 10_000 - 64);
        assert_eq!(bridge.find(Time(10_000), station(10_000)), Some(1));
        assert_eq!(bridge.find(Time(10_000), station(1)), None);
        assert_eq!(bridge.find(Time(10_000), station(0)), Some(7));
    }
}
