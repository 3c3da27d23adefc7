//! The ledger of a packet: the time since its message started, divided into parts.

use hitless_core::wire::{FlowId, Time};

use super::departures::Wait;
use super::kind::Kind;
use super::parts::{Loss, PARTS, Part, Recovery};
use super::rare::{Rare, RareLedgers};

/// The time of a packet's message up to `at`, divided into parts. The parts always add up to `at - origin`, because
/// every step of time is charged to one of them.
///
/// The first 64 bytes are a hop's. Parts that most paths lack are in an entry of the [`RareLedgers`], which ledgers
/// share, so that a packet's cause hands over 96 bytes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Ledger {
    pub at: Time,
    pub propagation_ps: u64,
    pub pipeline_ps: u64,
    pub serialisation_ps: u64,
    pub queue_ps: u64,
    /// The longest time in a queue; 0 without a queue.
    pub longest_queue_ps: u64,
    /// That wait.
    pub longest_wait: Wait,
    /// Kind of the packet. The times of a packet without a flow are not divided.
    pub kind: Kind,
    /// Start of the message.
    pub origin: Time,
    pub stack_ps: u64,
    pub card_ps: u64,
    /// Arrival of the latest packet that `round_trips` counts.
    pub round_began: Time,
    /// Packets on the path that arrived at the data sender: acknowledgements, credits, a request.
    pub round_trips: u32,
    /// Entry of the [`RareLedgers`]; 0 without rare parts.
    pub rare: u32,
}

const _: () = assert!(size_of::<Ledger>() == 96, "a copy of a ledger costs time for each packet");

impl Ledger {
    /// Starts the ledger of a message.
    pub const fn new(origin: Time) -> Self {
        Self {
            at: origin,
            propagation_ps: 0,
            pipeline_ps: 0,
            serialisation_ps: 0,
            queue_ps: 0,
            longest_queue_ps: 0,
            longest_wait: 0,
            kind: Kind::DATA,
            origin,
            stack_ps: 0,
            card_ps: 0,
            round_began: origin,
            round_trips: 0,
            rare: 0,
        }
    }

    /// Charges the time until `until`, if that is later than the ledger, and returns it in picoseconds.
    #[inline(always)]
    pub fn charge(&mut self, until: Time, part: Part, rares: &mut RareLedgers) -> u64 {
        if until <= self.at {
            return 0;
        }
        let time_ps = (until - self.at).as_ps();
        self.at = until;
        match part {
            Part::Propagation => self.propagation_ps += time_ps,
            Part::Pipeline => self.pipeline_ps += time_ps,
            Part::Serialisation => self.serialisation_ps += time_ps,
            Part::Queue => self.queue_ps += time_ps,
            Part::Stack => self.stack_ps += time_ps,
            Part::Card => self.card_ps += time_ps,
            rare if !self.kind.is_void() => self.rare = rares.charged(self.rare, rare, time_ps),
            _ => {}
        }
        time_ps
    }

    /// Returns the ledger with the time until `until` charged.
    pub fn charged(mut self, until: Time, part: Part, rares: &mut RareLedgers) -> Self {
        self.charge(until, part, rares);
        self
    }

    /// Counts a time in a queue, which the caller adds to `at`. `departure` ends it.
    #[inline(always)]
    pub fn wait(&mut self, time_ps: u64, departure: Wait) {
        self.queue_ps += time_ps;
        if time_ps > self.longest_queue_ps {
            (self.longest_queue_ps, self.longest_wait) = (time_ps, departure);
        }
    }

    /// Charges the time until `until` to a recovery.
    pub fn recover(&mut self, until: Time, part: Part, loss: Option<Loss>, rares: &mut RareLedgers) {
        let time_ps = self.charge(until, part, rares);
        self.note_recovery(Recovery { time_ps, part, loss }, rares);
    }

    /// Counts a recovery with its time already charged.
    pub fn note_recovery(&mut self, recovery: Recovery, rares: &mut RareLedgers) {
        self.rare = rares.recovered(self.rare, self.at, recovery);
    }

    /// The time of each part, with the rare ones in `rare`.
    pub fn parts(&self, rare: &Rare) -> [u64; PARTS] {
        let mut parts = rare.parts;
        let own = [
            (Part::Propagation, self.propagation_ps),
            (Part::Pipeline, self.pipeline_ps),
            (Part::Serialisation, self.serialisation_ps),
            (Part::Queue, self.queue_ps),
            (Part::Stack, self.stack_ps),
            (Part::Card, self.card_ps),
        ];
        own.into_iter().for_each(|(part, time_ps)| parts[part as usize] += time_ps);
        parts
    }
}

/// A delivered message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivered {
    pub flow: FlowId,
    pub group: u32,
    pub number: u64,
    pub bytes: u64,
    /// Its longest wait is the number of its front plus one, or 0 without a queue.
    pub ledger: Ledger,
}
