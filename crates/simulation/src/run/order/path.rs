//! The order of packets in one direction of a flow.

use std::collections::{HashSet, VecDeque};

use hitless_core::wire::{Duration, Time, Transport};

use crate::results::OrderCounts;

/// How long delivered packets are remembered, to match them with duplicates.
const WINDOW: Duration = Duration::from_ms(10);

#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Sent {
    /// The packet's number in this direction.
    number: u64,
    at: Time,
    transport: Transport,
    has_arrived: bool,
    exists: bool,
}

/// All packets of one direction of a flow.
#[derive(Debug, Default, hitless_core::state::Value)]
pub(super) struct PathOrder {
    /// The latest packets, consecutive and in order.
    recent: VecDeque<Sent>,
    /// Earlier packets that have not arrived, in order.
    missing: Vec<Sent>,
    sent: u64,
    /// One more than the highest number that has arrived.
    next: u64,
    reordered: u64,
    duplicated: u64,
    last_arrival: Option<Time>,
    longest_gap: Duration,
    /// Transit time of the last arrival.
    last_transit: Option<Duration>,
    /// Sum of the changes of the transit time in ps, and their number.
    transit_changes: (u128, u64),
}

impl PathOrder {
    pub fn sent(&mut self, now: Time, transport: Transport) {
        self.forget_before(Time(now.as_ps().saturating_sub(WINDOW.as_ps())));
        assert!(self.recent.back().is_none_or(|last| last.number + 1 == self.sent), "the latest have gaps");
        self.recent.push_back(Sent { number: self.sent, at: now, transport, has_arrived: false, exists: false });
        self.sent += 1;
    }

    pub fn arrived(&mut self, now: Time, transport: Transport) {
        match self.first_arrival(&transport) {
            None => self.duplicated += 1,
            Some(Sent { number, at, .. }) => {
                self.reordered += u64::from(number < self.next);
                self.next = self.next.max(number + 1);
                assert!(self.next <= self.sent, "a packet arrived that was never sent");
                let gap = self.last_arrival.replace(now).map_or(Duration::ZERO, |before| now - before);
                self.longest_gap = self.longest_gap.max(gap);
                // An arrival may be matched with a packet of the same header that the card has not sent yet; its
                // transit time is then 0.
                self.note_transit(now.saturating_since(at));
            }
        }
    }

    fn note_transit(&mut self, transit: Duration) {
        if let Some(before) = self.last_transit.replace(transit) {
            let (sum_ps, count) = &mut self.transit_changes;
            *sum_ps += u128::from(transit.as_ps().abs_diff(before.as_ps()));
            *count += 1;
        }
    }

    /// Finds the undelivered packet that arrives with this header: the first of those not overtaken by another, or else
    /// the first of all.
    fn first_arrival(&mut self, transport: &Transport) -> Option<Sent> {
        let next = self.next;
        let not_overtaken = self.missing.partition_point(|packet| packet.number < next);
        self.take_missing(not_overtaken, transport)
            .or_else(|| self.take_recent(next, transport))
            .or_else(|| self.take_missing(0, transport))
            .or_else(|| self.take_recent(0, transport))
    }

    fn take_missing(&mut self, from: usize, transport: &Transport) -> Option<Sent> {
        let found = self.missing[from..].iter().position(|packet| packet.transport == *transport)?;
        Some(self.missing.remove(from + found))
    }

    fn take_recent(&mut self, from: u64, transport: &Transport) -> Option<Sent> {
        let first = self.recent.front()?.number;
        let skipped = usize::try_from(from.saturating_sub(first)).expect("the packets of a path fit into memory");
        let mut waiting = self.recent.iter_mut().skip(skipped).filter(|packet| !packet.has_arrived);
        let found = waiting.find(|packet| packet.transport == *transport)?;
        found.has_arrived = true;
        Some(*found)
    }

    /// Moves undelivered packets sent before `time` to `missing`, and drops delivered ones.
    fn forget_before(&mut self, time: Time) {
        while self.recent.front().is_some_and(|packet| packet.at < time) {
            self.missing.extend(self.recent.pop_front().filter(|packet| !packet.has_arrived));
        }
    }

    /// Keeps only undelivered packets, and releases the rest of the memory.
    pub fn forget(&mut self) {
        self.forget_before(Time::NEVER);
        self.recent.shrink_to_fit();
    }

    /// Marks the undelivered packets with these headers as existing, all others as lost.
    pub fn still_exist(&mut self, transports: &HashSet<Transport>) {
        let waiting = self.missing.iter_mut().chain(self.recent.iter_mut().filter(|packet| !packet.has_arrived));
        for packet in waiting {
            packet.exists = transports.contains(&packet.transport);
        }
    }

    pub fn counts(&self) -> OrderCounts {
        let waiting = || self.missing.iter().chain(self.recent.iter().filter(|packet| !packet.has_arrived));
        let under_way = waiting().filter(|packet| packet.exists).count() as u64;
        OrderCounts {
            packets_sent: self.sent,
            packets_lost: waiting().count() as u64 - under_way,
            packets_reordered: self.reordered,
            packets_duplicated: self.duplicated,
            packets_under_way: under_way,
        }
    }

    pub fn longest_gap(&self) -> Duration {
        self.longest_gap
    }

    pub fn jitter(&self) -> Duration {
        let (sum_ps, count) = self.transit_changes;
        Duration((sum_ps / u128::from(count.max(1))) as u64)
    }
}

#[cfg(test)]
mod tests {
    use hitless_core::wire::UdpHeader;
    use proptest::prelude::*;

    use super::*;

    fn packet(number: u64) -> Transport {
        Transport::Udp(UdpHeader { number, ..UdpHeader::default() })
    }

    /// Sends packets with the headers `sent` in order and lets those with the headers `arrived` arrive. Returns the
    /// counts lost, reordered, duplicated.
    fn judge(sent: &[u64], arrived: &[u64]) -> (u64, u64, u64) {
        let mut path = PathOrder::default();
        sent.iter().for_each(|&number| path.sent(Time(0), packet(number)));
        arrived.iter().for_each(|&number| path.arrived(Time(0), packet(number)));
        let counts = path.counts();
        (counts.packets_lost, counts.packets_reordered, counts.packets_duplicated)
    }

    #[test]
    fn verdicts() {
        let table: [(&str, &[u64], &[u64], _); 8] = [
            ("all in order", &[1, 2, 3], &[1, 2, 3], (0, 0, 0)),
            ("one lost", &[1, 2, 3], &[1, 3], (1, 0, 0)),
            ("one late", &[1, 2, 3], &[1, 3, 2], (0, 1, 0)),
            ("two behind a third", &[1, 2, 3], &[3, 1, 2], (0, 2, 0)),
            ("a second copy", &[1, 2, 3], &[1, 2, 2, 3, 1], (0, 0, 2)),
            ("equal headers, both arrive", &[1, 2, 1], &[1, 2, 1], (0, 0, 0)),
            ("equal headers, the first is lost", &[1, 2, 1], &[2, 1], (1, 0, 0)),
            ("sent again, both copies late", &[1, 2, 1, 3], &[2, 3, 1, 1], (0, 2, 0)),
        ];
        for (name, sent, arrived, expected) in table {
            assert_eq!(judge(sent, arrived), expected, "{name}");
        }
    }

    #[test]
    fn a_packet_may_come_at_any_time_later() {
        let mut path = PathOrder::default();
        let at = |ms| Time(Duration::from_ms(ms).as_ps());
        path.sent(at(0), packet(1));
        path.sent(at(0), packet(2));
        path.arrived(at(1), packet(2));
        path.sent(at(100), packet(3));
        assert_eq!((path.recent.len(), path.missing.len()), (1, 1), "the window is short");
        path.forget();
        path.arrived(at(101), packet(3));
        path.arrived(at(102), packet(1));
        path.arrived(at(103), packet(2));
        let counts = path.counts();
        assert_eq!((counts.packets_lost, counts.packets_reordered, counts.packets_duplicated), (0, 1, 1));
        assert_eq!(path.longest_gap(), Duration::from_ms(100));
        assert_eq!((path.recent.len(), path.missing.len()), (0, 0));
    }

    /// Transit times of 10, 40, 40, 35 and, overtaken, 90 us; a second copy does not count.
    #[test]
    fn jitter_is_the_mean_change_of_the_time_on_the_way() {
        let mut path = PathOrder::default();
        let us = |us| Time(Duration::from_us(us).as_ps());
        (1..=5).for_each(|number| path.sent(us(number * 10), packet(number)));
        for (number, transit) in [(2, 10), (3, 40), (4, 40), (5, 35), (5, 40), (1, 90)] {
            path.arrived(us(number * 10 + transit), packet(number));
        }
        assert_eq!(path.jitter(), Duration::from_ns((30_000 + 5_000 + 55_000) / 4));
        assert_eq!(PathOrder::default().jitter(), Duration::ZERO);
    }

    /// Found with copies that LinkGuardian lets through: the arrival of a second copy was matched with a packet of the
    /// same header that the card had not sent yet.
    #[test]
    fn an_arrival_before_the_packet_that_it_is_taken_for_is_no_time_on_the_way() {
        let mut path = PathOrder::default();
        let us = |us| Time(Duration::from_us(us).as_ps());
        path.sent(us(1), packet(1));
        path.arrived(us(3), packet(1));
        path.sent(us(9), packet(1));
        path.arrived(us(4), packet(1));
        assert_eq!(path.jitter(), Duration::from_us(2));
    }

    #[test]
    fn what_exists_at_the_end_is_not_lost() {
        let mut path = PathOrder::default();
        (1..=3).for_each(|number| path.sent(Time(0), packet(number)));
        path.arrived(Time(1), packet(1));
        path.still_exist(&HashSet::from([packet(1), packet(3)]));
        let counts = path.counts();
        assert_eq!((counts.packets_sent, counts.packets_lost, counts.packets_under_way), (3, 1, 1));
    }

    /// One lookup for each packet: comparing all pairs takes minutes if many are in flight.
    #[test]
    fn a_hundred_thousand_packets_under_way_are_settled_in_one_pass() {
        let mut path = PathOrder::default();
        (0..100_000).for_each(|number| path.sent(Time(0), packet(number)));
        path.still_exist(&(0..100_000).filter(|number| number % 2 == 0).map(packet).collect());
        let counts = path.counts();
        assert_eq!((counts.packets_lost, counts.packets_under_way), (50_000, 50_000));
    }

    proptest! {
        /// The simplest definition, for packets with distinct headers.
        #[test]
        fn the_counts_are_those_of_the_definition(
            arrivals in proptest::collection::vec(0u64..40, 0..80),
            window_ms in 0u64..3,
        ) {
            let mut path = PathOrder::default();
            for number in 0..40 {
                path.sent(Time(Duration::from_ms(number * window_ms).as_ps()), packet(number));
            }
            let (mut first, mut reordered) = (Vec::new(), 0);
            for &number in &arrivals {
                path.arrived(Time(Duration::from_ms(200).as_ps()), packet(number));
                if !first.contains(&number) {
                    reordered += u64::from(first.iter().any(|&other| other > number));
                    first.push(number);
                }
            }
            let counts = path.counts();
            prop_assert_eq!(counts.packets_lost, 40 - first.len() as u64);
            prop_assert_eq!(counts.packets_reordered, reordered);
            prop_assert_eq!(counts.packets_duplicated, (arrivals.len() - first.len()) as u64);
        }
    }
}
