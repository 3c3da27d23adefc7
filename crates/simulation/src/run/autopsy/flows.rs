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

/// Place of a ledger that an end does not have.
const NONE: u8 = 3;

/// One end of a flow.
///
/// A packet sent in return for another has the same ledger, so the two share a place.
#[derive(Debug)]
pub(super) struct End {
    ledgers: [Ledger; NONE as usize],
    /// Place of the ledger of the latest packet that the transport has handled.
    received: u8,
    /// That of the latest packet sent.
    sent: u8,
    /// That of the step after which the sender had to wait for the network card.
    held_back: u8,
    /// How the transport learns of a loss now.
    pub recovery: Part,
    /// The class of the card that it waits for.
    line: Option<Queue>,
}

impl Default for End {
    fn default() -> Self {
        let ledgers = [Ledger::new(Time::ZERO); NONE as usize];
        Self { ledgers, received: NONE, sent: NONE, held_back: NONE, recovery: Part::FastRecovery, line: None }
    }
}

/// A place other than two others.
#[inline(always)]
const fn free_place(one: u8, other: u8) -> u8 {
    (!(1_u32 << one | 1 << other)).trailing_zeros() as u8
}

impl End {
    #[inline(always)]
    fn at(&self, place: u8) -> Option<&Ledger> {
        self.ledgers.get(usize::from(place))
    }

    #[inline(always)]
    pub fn received(&self) -> Option<&Ledger> {
        self.at(self.received)
    }

    pub fn sent(&self) -> Option<&Ledger> {
        self.at(self.sent)
    }

    /// The ledger of a packet that the transport handles.
    #[inline(always)]
    pub fn keep_received(&mut self, ledger: &Ledger) {
        self.received = free_place(self.sent, self.held_back);
        self.ledgers[usize::from(self.received)] = *ledger;
    }

    /// The transport sends a packet in return for the latest that it has handled.
    #[inline(always)]
    pub fn send_in_return(&mut self) {
        self.sent = self.received;
    }

    /// The ledger of a packet that the transport sends.
    pub fn keep_sent(&mut self, ledger: Ledger) {
        self.sent = free_place(self.received, self.held_back);
        self.ledgers[usize::from(self.sent)] = ledger;
    }

    /// Keeps the latest packet sent as the step after which the sender waits again.
    pub fn wait_again(&mut self) {
        self.held_back = self.sent;
    }

    /// Keeps the step after which the sender waits in a line.
    pub fn hold_back(&mut self, ledger: Ledger, line: Queue) {
        self.held_back = free_place(self.received, self.sent);
        self.ledgers[usize::from(self.held_back)] = ledger;
        self.line = Some(line);
    }

    fn ledgers(&mut self) -> impl Iterator<Item = &mut Ledger> {
        let named = [self.received, self.sent, self.held_back];
        let ledgers = (0..).zip(&mut self.ledgers).filter(move |(place, _)| named.contains(place));
        ledgers.map(|(_, ledger)| ledger)
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

    #[inline(always)]
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
        let (received, sent) = (end.received().copied(), end.sent().copied());
        let (latest, part) = match wake {
            Wake::Application => (received.or(sent), Part::Application),
            Wake::Card => (end.at(end.held_back).copied().or(sent), Part::Card),
            Wake::Sender(TimeoutPurpose::Pacing) => (sent.or(received), Part::Pacing),
            Wake::Sender(purpose) => {
                end.recovery = match purpose {
                    TimeoutPurpose::Probe => Part::Probe,
                    TimeoutPurpose::Reordering => Part::ReorderingTimer,
                    TimeoutPurpose::Retransmission | TimeoutPurpose::Pacing => Part::Timeout,
                };
                (sent.or(received), end.recovery)
            }
            Wake::Receiver => (received.or(sent), Part::DelayedAcknowledgement),
            Wake::Credit => (received.or(sent), Part::Credit),
        };
        let line = self.end(side).line.filter(|_| part == Part::Card);
        let of_other = || self.sender.sent().or(self.receiver.sent()).copied();
        let latest = latest.or_else(of_other).unwrap_or_else(|| Ledger::new(started));
        let paused = line.map_or(Duration::ZERO, |line| card_pauses.between(line, latest.at, now));
        latest.charged((latest.at + paused).min(now), Part::Paused, rares).charged(now, part, rares)
    }
}
