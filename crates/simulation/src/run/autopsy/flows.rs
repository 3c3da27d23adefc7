//! The ledgers of a flow's two ends, and of its lost packets.

use std::collections::BTreeMap;

use hitless_core::wire::{
    Duration, HostId, Packet, PacketPairHeader, RoceOpcode, TcpFlags, Time, Transport, UetHeader,
};
use hitless_hosts::{Side, TimeoutPurpose, Wake};

use super::ledger::Ledger;
use super::parts::{Loss, Part};
use super::pauses::{Pauses, Queue};
use super::rare::RareLedgers;

/// Identifies a packet of a flow, to find it again after its loss: its source, and its number or its kind.
pub(super) type Key = (HostId, u64);

/// The number for the opening of a connection.
const OPENING: u64 = u64::MAX;

/// Returns the key of a packet that is sent again when it is lost; `None` for acknowledgements and datagrams.
pub(super) fn key(packet: &Packet) -> Option<Key> {
    let number = match &packet.transport {
        Transport::Tcp(header) if header.payload_bytes > 0 => header.sequence,
        Transport::Tcp(header) if header.flags.contains(TcpFlags::SYN) => OPENING,
        Transport::Roce(header) if header.opcode == RoceOpcode::Write => header.packet_sequence,
        Transport::PacketPair(PacketPairHeader::Data(data)) => data.sequence,
        Transport::Uet(UetHeader::Data(data)) => data.sequence,
        _ => return None,
    };
    Some((packet.source, number))
}

/// A lost packet: its ledger up to the loss.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lost {
    pub ledger: Ledger,
    pub loss: Loss,
}

/// One end of a flow.
#[derive(Debug)]
pub(super) struct End {
    /// The latest packet that the transport has handled.
    pub received: Option<Ledger>,
    /// The latest packet sent.
    pub sent: Option<Ledger>,
    /// The step after which the sender had to wait for the network card.
    pub held_back: Option<Ledger>,
    /// The class of the card that it waits for.
    line: Option<Queue>,
    /// How the transport learns of a loss now.
    pub recovery: Part,
}

impl Default for End {
    fn default() -> Self {
        Self { received: None, sent: None, held_back: None, line: None, recovery: Part::FastRecovery }
    }
}

impl End {
    /// Keeps the step after which the sender waits in a line.
    pub fn hold_back(&mut self, ledger: Ledger, line: Queue) {
        (self.held_back, self.line) = (Some(ledger), Some(line));
    }

    fn ledgers(&mut self) -> impl Iterator<Item = &mut Ledger> {
        [&mut self.received, &mut self.sent, &mut self.held_back].into_iter().flatten()
    }
}

/// The state of a flow that has not ended.
#[derive(Debug)]
pub(super) struct Flow {
    /// Start of the current message.
    pub started: Time,
    sender: End,
    receiver: End,
    /// Lost packets that have not been repeated.
    pub lost: BTreeMap<Key, Lost>,
}

impl Flow {
    pub fn new(started: Time) -> Self {
        Self { started, sender: End::default(), receiver: End::default(), lost: BTreeMap::new() }
    }

    pub fn end(&mut self, side: Side) -> &mut End {
        match side {
            Side::Sender => &mut self.sender,
            Side::Receiver => &mut self.receiver,
        }
    }

    /// Forgets the loss of a packet that has arrived after all.
    #[cold]
    #[inline(never)]
    pub fn found(&mut self, packet: &Packet) {
        if let Some(key) = key(packet) {
            self.lost.remove(&key);
        }
    }

    /// All ledgers of the flow.
    pub fn ledgers(&mut self) -> impl Iterator<Item = &mut Ledger> {
        let Self { sender, receiver, lost, .. } = self;
        let of_ends = [sender, receiver].into_iter().flat_map(End::ledgers);
        of_ends.chain(lost.values_mut().map(|lost| &mut lost.ledger))
    }

    /// Returns a ledger that begins with the current message.
    #[inline(always)]
    pub fn of_message(&self, ledger: Ledger, rares: &mut RareLedgers) -> Ledger {
        if ledger.origin >= self.started { ledger } else { self.of_later_message(ledger.at, rares) }
    }

    #[cold]
    #[inline(never)]
    fn of_later_message(&self, at: Time, rares: &mut RareLedgers) -> Ledger {
        Ledger::new(self.started).charged(at, Part::EarlierMessages, rares)
    }

    /// Returns the ledger of a step of this end that no packet causes.
    ///
    /// The step follows from the latest event that its time depends on: a pacing gap starts with the packet before, a
    /// retransmission timeout with the latest packet sent, the wait for the card with the step that joined its line.
    pub fn woken(
        &mut self,
        now: Time,
        (side, wake): (Side, Wake),
        card_pauses: &Pauses,
        rares: &mut RareLedgers,
    ) -> Ledger {
        let started = self.started;
        let end = self.end(side);
        let (latest, part) = match wake {
            Wake::Application => (end.received.or(end.sent), Part::Application),
            Wake::Card => (end.held_back.or(end.sent), Part::Card),
            Wake::Sender(TimeoutPurpose::Pacing) => (end.sent.or(end.received), Part::Pacing),
            Wake::Sender(purpose) => {
                end.recovery = match purpose {
                    TimeoutPurpose::Probe => Part::Probe,
                    TimeoutPurpose::Reordering => Part::ReorderingTimer,
                    TimeoutPurpose::Retransmission | TimeoutPurpose::Pacing => Part::Timeout,
                };
                (end.sent.or(end.received), end.recovery)
            }
            Wake::Receiver => (end.received.or(end.sent), Part::DelayedAcknowledgement),
            Wake::Credit => (end.received.or(end.sent), Part::Credit),
        };
        let line = self.end(side).line.filter(|_| part == Part::Card);
        let latest = latest.or(self.sender.sent).or(self.receiver.sent).unwrap_or_else(|| Ledger::new(started));
        let paused = line.map_or(Duration::ZERO, |line| card_pauses.between(line, latest.at, now));
        latest.charged((latest.at + paused).min(now), Part::Paused, rares).charged(now, part, rares)
    }
}
