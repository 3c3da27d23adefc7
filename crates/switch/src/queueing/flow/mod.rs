//! Per-flow queueing: a third kind of lane, whose discipline knows flows and may drop what it had admitted.
//!
//! The disciplines that approximate fair queueing is measured against (AFQ, sections 2.1 and 6.2.2), one file each:
//!
//! | discipline | queues | next | when the buffer is full | knows flows by |
//! |---|---|---|---|---|
//! | [`ideal`] | one per flow | smallest finish number | largest finish number goes | number and hash, exactly |
//! | [`drr`] | one per flow | deficit round robin | last of the longest queue goes | number and hash, exactly |
//! | [`sfq`] | a fixed number | deficit round robin | last of the longest queue goes | hash |
//! | [`fq_codel`] | a fixed number | new queues, then old, by credit | first half of the longest queue goes | hash |
//!
//! All of them share one buffer per port, which is full when the port's limit is reached, the frame in transmission
//! included. A packet that arrives is queued first, and then packets go until the limit holds: so the packet that
//! arrives may be the one. `chain`, `heap`, `packets` and `flows` are what they are made of; once a port has had its
//! largest number of packets and flows, none of it allocates.

mod chain;
pub mod codel;
pub mod drr;
pub mod flows;
pub mod fq_codel;
mod heap;
pub mod ideal;
mod packets;
mod round_robin;
mod rounds;
pub mod sfq;

use hitless_engine::PacketHandle;
use hitless_wire::{BitRate, Time};

pub use codel::CodelConfig;
pub use drr::DrrConfig;
pub use flows::FlowKey;
pub use fq_codel::FqCodelConfig;
pub use ideal::IdealFqConfig;
pub use sfq::SfqConfig;

use super::marking::EcnMarker;
use super::{EcnThreshold, Entry, QueueLimit};
use crate::mechanism::DropReason;
use drr::Drr;
use fq_codel::FqCodel;
use ideal::IdealFq;
use sfq::Sfq;

/// By class, how much more of the line a flow gets than one of weight 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassWeights(pub [u16; 8]);

impl ClassWeights {
    /// All flows alike.
    pub const EQUAL: Self = Self([1; 8]);

    #[inline]
    fn of(&self, class: u8) -> u32 {
        u32::from(self.0[usize::from(class & 7)]).max(1)
    }
}

/// Which discipline a port has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowQueueing {
    /// Bit-by-bit round robin.
    IdealFq(IdealFqConfig),
    /// Deficit round robin per flow.
    Drr(DrrConfig),
    /// Stochastic fairness queueing.
    Sfq(SfqConfig),
    /// FQ-CoDel.
    FqCodel(FqCodelConfig),
}

/// A packet that reaches the lane.
#[derive(Clone, Copy, Debug)]
pub struct Arriving {
    /// The packet.
    pub entry: Entry,
    /// Its flow.
    pub flow: FlowKey,
    /// Its traffic class.
    pub class: u8,
    /// Whether it is ECN-capable.
    pub can_mark: bool,
}

impl Arriving {
    #[inline]
    fn waiting(&self) -> Waiting {
        Waiting { entry: self.entry, flow: self.flow, can_mark: self.can_mark }
    }
}

/// A packet in the lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The packet.
    pub entry: Entry,
    /// Its flow.
    pub flow: FlowKey,
    /// Whether it is ECN-capable.
    pub can_mark: bool,
}

/// A packet that the lane has given up. It counted as admitted, the one that had just arrived included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The packet.
    pub packet: PacketHandle,
    /// Its length.
    pub frame_bytes: u32,
    /// Why.
    pub reason: DropReason,
}

#[derive(Debug)]
enum Discipline {
    IdealFq(IdealFq),
    Drr(Drr),
    Sfq(Sfq),
    FqCodel(FqCodel),
}

/// The queues of a port that queues by flow, and its server.
#[derive(Debug)]
pub struct FlowLane {
    discipline: Discipline,
    limit: QueueLimit,
    marker: EcnMarker,
    packets: usize,
    bytes: u64,
    peak_bytes: u64,
    is_paused: bool,
    /// The length of the frame last served, which counts until `busy_until`.
    serving_bytes: u32,
    /// When the server falls free.
    pub(crate) busy_until: Time,
    /// Whether an event will look after the queues at `busy_until`.
    pub(crate) service_is_due: bool,
    ended: Vec<Ended>,
}

impl FlowLane {
    /// An empty lane of a port of `rate` on which each frame costs `overhead_bytes` beyond itself.
    pub fn new(config: FlowQueueing, limit: QueueLimit, ecn: EcnThreshold, rate: BitRate, overhead_bytes: u32) -> Self {
        let discipline = match config {
            FlowQueueing::IdealFq(config) => Discipline::IdealFq(IdealFq::new(config, rate, overhead_bytes)),
            FlowQueueing::Drr(config) => Discipline::Drr(Drr::new(config)),
            FlowQueueing::Sfq(config) => Discipline::Sfq(Sfq::new(config)),
            FlowQueueing::FqCodel(config) => Discipline::FqCodel(FqCodel::new(config)),
        };
        Self {
            discipline,
            limit,
            marker: EcnMarker::new(ecn),
            packets: 0,
            bytes: 0,
            peak_bytes: 0,
            is_paused: false,
            serving_bytes: 0,
            busy_until: Time::ZERO,
            service_is_due: false,
            ended: Vec::new(),
        }
    }

    /// Puts a packet into its queue; whether the depth asks for a mark. Calls come in order of time. Afterwards
    /// [`Self::take_ended`] has what there is no room for, which may be this packet.
    #[inline]
    pub fn offer(&mut self, arriving: &Arriving) -> bool {
        if !self.could_hold(arriving) {
            let Entry { packet, frame_bytes, .. } = arriving.entry;
            self.ended.push(Ended { packet, frame_bytes, reason: DropReason::QueueFull });
            return false;
        }
        let mark = match &mut self.discipline {
            Discipline::IdealFq(queues) => queues.push(arriving, &mut self.marker),
            Discipline::Drr(queues) => queues.push(arriving, &mut self.marker),
            Discipline::Sfq(queues) => queues.push(arriving, &mut self.marker),
            Discipline::FqCodel(queues) => {
                queues.push(arriving);
                false
            }
        };
        self.packets += 1;
        self.bytes += u64::from(arriving.entry.frame_bytes);
        if self.is_too_full(arriving.entry.enqueued_at) {
            self.make_room(arriving);
        }
        self.peak_bytes = self.peak_bytes.max(self.bytes);
        mark
    }

    /// Packets and bytes in transmission.
    #[inline]
    const fn in_transmission(&self, now: Time) -> (usize, u64) {
        if self.busy_until.0 > now.0 { (1, self.serving_bytes as u64) } else { (0, 0) }
    }

    /// Whether there would be room if nothing else waited: else room would be made in vain.
    #[inline]
    fn could_hold(&self, arriving: &Arriving) -> bool {
        let (packets, bytes) = self.in_transmission(arriving.entry.enqueued_at);
        self.limit.has_room(packets, bytes, arriving.entry.frame_bytes)
    }

    /// Packets and bytes in all queues, the frame in transmission included.
    #[inline]
    pub(crate) const fn backlog(&self, now: Time) -> (usize, u64) {
        let (packets, bytes) = self.in_transmission(now);
        (packets + self.packets, bytes + self.bytes)
    }

    #[inline]
    fn is_too_full(&self, now: Time) -> bool {
        let (packets, bytes) = self.backlog(now);
        let limit = match &self.discipline {
            Discipline::FqCodel(queues) => queues.limit_packets(),
            _ => usize::MAX,
        };
        packets > limit || !self.limit.holds(packets, bytes)
    }

    #[cold]
    fn make_room(&mut self, arriving: &Arriving) {
        while self.packets > 0 && self.is_too_full(arriving.entry.enqueued_at) {
            let before = self.ended.len();
            let ended = &mut self.ended;
            let mut end = |packet: Waiting| {
                let Entry { packet, frame_bytes, .. } = packet.entry;
                let has_waited = packet != arriving.entry.packet;
                let reason = if has_waited { DropReason::Evicted } else { DropReason::QueueFull };
                ended.push(Ended { packet, frame_bytes, reason });
            };
            match &mut self.discipline {
                Discipline::IdealFq(queues) => queues.evict().into_iter().for_each(&mut end),
                Discipline::Drr(queues) => queues.evict().into_iter().for_each(&mut end),
                Discipline::Sfq(queues) => queues.evict().into_iter().for_each(&mut end),
                Discipline::FqCodel(queues) => queues.evict(&mut end),
            }
            self.discount(before);
        }
    }

    fn discount(&mut self, ended_before: usize) {
        let ended = &self.ended[ended_before..];
        self.packets -= ended.len();
        self.bytes -= ended.iter().map(|ended| u64::from(ended.frame_bytes)).sum::<u64>();
    }

    /// Takes the next packet to send, and whether it is to be marked. Afterwards [`Self::take_ended`] has what was
    /// dropped instead.
    #[inline]
    pub fn take(&mut self, now: Time) -> Option<(Entry, bool)> {
        if self.is_paused {
            return None;
        }
        let taken = match &mut self.discipline {
            Discipline::IdealFq(queues) => queues.pop().map(|packet| (packet, false)),
            Discipline::Drr(queues) => queues.pop().map(|packet| (packet, false)),
            Discipline::Sfq(queues) => queues.pop().map(|packet| (packet, false)),
            Discipline::FqCodel(queues) => {
                let before = self.ended.len();
                let ended = &mut self.ended;
                let taken = queues.pop(now, |packet| {
                    let Entry { packet, frame_bytes, .. } = packet.entry;
                    ended.push(Ended { packet, frame_bytes, reason: DropReason::QueueingDelay });
                });
                self.discount(before);
                taken
            }
        };
        let (Waiting { entry, .. }, mark) = taken?;
        self.packets -= 1;
        self.bytes -= u64::from(entry.frame_bytes);
        self.serving_bytes = entry.frame_bytes;
        Some((entry, mark))
    }

    /// Whether the lane has given up packets.
    #[inline]
    pub const fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// The packets that the lane has given up; [`Self::put_back`] takes the empty list again.
    #[inline]
    pub fn take_ended(&mut self) -> Vec<Ended> {
        std::mem::take(&mut self.ended)
    }

    /// Gives back the memory of [`Self::take_ended`].
    #[inline]
    pub fn put_back(&mut self, mut list: Vec<Ended>) {
        list.clear();
        self.ended = list;
    }

    /// Whether a packet could be served.
    #[inline]
    pub const fn has_ready(&self) -> bool {
        self.packets > 0 && !self.is_paused
    }

    /// Stops serving.
    pub fn pause(&mut self) {
        self.is_paused = true;
    }

    /// Serves again.
    pub fn resume(&mut self) {
        self.is_paused = false;
    }

    /// Packets waiting (the frame in transmission has left).
    pub const fn packets(&self) -> usize {
        self.packets
    }

    /// Bytes waiting.
    pub const fn depth_bytes(&self) -> u64 {
        self.bytes
    }

    /// The most bytes that ever waited.
    pub const fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }

    /// Calls `look` for each packet that waits, in no order that means anything.
    pub fn each_waiting(&self, look: impl FnMut(&Waiting)) {
        match &self.discipline {
            Discipline::IdealFq(queues) => queues.waiting().for_each(look),
            Discipline::Drr(queues) => queues.waiting().for_each(look),
            Discipline::Sfq(queues) => queues.waiting().for_each(look),
            Discipline::FqCodel(queues) => queues.waiting().for_each(look),
        }
    }
}

/// A number below `count` for a flow: the salted hash, mixed (the last step of MurmurHash3, 32 bits) and scaled.
#[inline]
fn spread(flow_hash: u32, salt: u32, count: u32) -> u32 {
    let mut hash = flow_hash ^ salt.wrapping_mul(0x9e37_79b9);
    hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
    hash ^= hash >> 16;
    ((u64::from(hash) * u64::from(count)) >> 32) as u32
}
