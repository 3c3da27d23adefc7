//! The sender's record of packets that are not acknowledged in order.

use std::collections::{BTreeSet, VecDeque};

use hitless_core::wire::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
enum PacketState {
    InFlight,
    /// To be retransmitted.
    Lost,
    Arrived,
}

/// A packet that has been sent.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
pub(super) struct Record {
    pub sent_at: Time,
    pub payload_bytes: u32,
    pub entropy: u16,
    retransmissions: u8,
    state: PacketState,
}

/// All packets from the first that is not acknowledged in order.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(super) struct Flight {
    first: u64,
    records: VecDeque<Record>,
    /// Transmissions in order of time. Entries of packets that were sent again or have left the flight are skipped; the
    /// front is always valid.
    sent: VecDeque<(Time, u64)>,
    lost: BTreeSet<u64>,
}

impl Flight {
    /// Returns the number of the next new packet.
    pub fn next(&self) -> u64 {
        self.first + self.records.len() as u64
    }

    fn get(&self, packet: u64) -> Option<&Record> {
        self.records.get(usize::try_from(packet.checked_sub(self.first)?).ok()?)
    }

    fn get_mut(&mut self, packet: u64) -> Option<&mut Record> {
        self.records.get_mut(usize::try_from(packet.checked_sub(self.first)?).ok()?)
    }

    /// Adds a new packet; returns its number.
    pub fn send(&mut self, now: Time, payload_bytes: u32, entropy: u16) -> u64 {
        let packet = self.next();
        let state = PacketState::InFlight;
        self.records.push_back(Record { sent_at: now, payload_bytes, entropy, retransmissions: 0, state });
        self.sent.push_back((now, packet));
        packet
    }

    /// Returns the first lost packet, and its payload.
    pub fn next_lost(&self) -> Option<(u64, u32)> {
        let packet = *self.lost.first()?;
        Some((packet, self.get(packet)?.payload_bytes))
    }

    /// Returns the payload bytes and the number of lost packets.
    pub fn lost(&self) -> (u64, u64) {
        let bytes =
            self.lost.iter().filter_map(|&packet| self.get(packet)).map(|record| u64::from(record.payload_bytes));
        (bytes.sum(), self.lost.len() as u64)
    }

    /// Sends a lost packet again.
    pub fn resend(&mut self, now: Time, packet: u64, entropy: u16) {
        self.lost.remove(&packet);
        let Some(record) = self.get_mut(packet) else { return };
        record.sent_at = now;
        record.entropy = entropy;
        record.state = PacketState::InFlight;
        record.retransmissions = record.retransmissions.saturating_add(1);
        self.sent.push_back((now, packet));
    }

    /// Returns when a packet was sent, if its acknowledgement can belong to this transmission only.
    pub fn sample(&self, packet: u64, is_retransmission: bool) -> Option<Time> {
        let record = self.get(packet).filter(|record| record.state == PacketState::InFlight)?;
        // The flag distinguishes the original from a retransmission, but not two retransmissions (Karn's rule).
        (record.retransmissions == u8::from(is_retransmission)).then_some(record.sent_at)
    }

    /// Returns whether these fields belong to the latest transmission of a packet. On a single path two retransmissions
    /// look alike.
    pub fn is_latest(&self, packet: u64, entropy: u16, is_retransmission: bool) -> bool {
        self.get(packet)
            .is_some_and(|record| record.entropy == entropy && (record.retransmissions > 0) == is_retransmission)
    }

    /// Handles the arrival of a packet; returns its payload if it counted as lost.
    pub fn arrived(&mut self, packet: u64) -> Option<u32> {
        let record = self.get_mut(packet)?;
        let (was, payload_bytes) = (record.state, record.payload_bytes);
        record.state = PacketState::Arrived;
        (was == PacketState::Lost && self.lost.remove(&packet)).then_some(payload_bytes)
    }

    /// Removes the first packet, which has arrived in order; returns its payload, and whether it counted as lost.
    pub fn pop_below(&mut self, cumulative: u64) -> Option<(u32, bool)> {
        if self.first >= cumulative {
            return None;
        }
        let record = self.records.pop_front()?;
        let was_lost = self.lost.remove(&self.first);
        self.first += 1;
        Some((record.payload_bytes, was_lost))
    }

    /// Marks a packet as lost; returns its record if it was in flight.
    pub fn lose(&mut self, packet: u64) -> Option<Record> {
        let record = self.get_mut(packet).filter(|record| record.state == PacketState::InFlight)?;
        record.state = PacketState::Lost;
        let record = *record;
        self.lost.insert(packet);
        Some(record)
    }

    /// Returns whether the last transmission of a packet was at this time or earlier.
    pub fn was_sent_by(&self, packet: u64, at: Time) -> bool {
        self.get(packet).is_some_and(|record| record.sent_at <= at)
    }

    /// Removes outdated entries from the front of the transmissions. Call it after changes.
    pub fn settle(&mut self) {
        while let Some(&(sent_at, packet)) = self.sent.front() {
            let is_valid = |record: &Record| record.state == PacketState::InFlight && record.sent_at == sent_at;
            if self.get(packet).is_some_and(is_valid) {
                return;
            }
            self.sent.pop_front();
        }
    }

    /// Returns the packet in flight with the earliest transmission.
    pub fn oldest(&self) -> Option<(Time, u64)> {
        self.sent.front().copied()
    }
}
