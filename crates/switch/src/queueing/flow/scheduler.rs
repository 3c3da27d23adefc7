//! The scheduler of a port that queues by flow, for any discipline.

use hitless_core::wire::{BitRate, Time};

use super::drr::{Drr, DrrConfig};
use super::entry::{Arriving, Ended, Waiting};
use super::fq_codel::{FqCodel, FqCodelConfig};
use super::ideal::{IdealFq, IdealFqConfig};
use super::sfq::{Sfq, SfqConfig};
use crate::drop_reason::DropReason;
use crate::queueing::config::QueueLimit;
use crate::queueing::entry::Entry;
use crate::queueing::marking::{EcnMarker, EcnThreshold};

/// The discipline of a port.
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

#[derive(Debug, hitless_core::state::State)]
enum Discipline {
    IdealFq(IdealFq),
    Drr(Drr),
    Sfq(Sfq),
    FqCodel(FqCodel),
}

/// The queues of a port that queues by flow, and its server.
#[derive(Debug, hitless_core::state::State)]
pub struct FlowScheduler {
    #[part]
    discipline: Discipline,
    #[configured]
    limit: QueueLimit,
    #[part]
    marker: EcnMarker,
    packets: usize,
    bytes: u64,
    peak_bytes: u64,
    is_paused: bool,
    /// Length of the frame served last, which counts until `busy_until`.
    serving_bytes: u32,
    /// Time when the server becomes free.
    pub(crate) busy_until: Time,
    /// Whether an event will serve the queues at `busy_until`.
    pub(crate) service_is_due: bool,
    ended: Vec<Ended>,
}

impl FlowScheduler {
    /// Creates an empty scheduler for a port of `rate` with `overhead_bytes` per frame.
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

    /// Queues a packet; returns whether the depth requires a mark. Calls must be in order of time. Afterwards
    /// [`Self::take_ended`] returns the packets without room, which can include this one.
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
        // The packet is queued first and room is made afterwards, so that it can be the one that the discipline drops.
        if self.is_too_full(arriving.entry.enqueued_at) {
            self.make_room(arriving);
        }
        self.peak_bytes = self.peak_bytes.max(self.bytes);
        mark
    }

    /// Returns the packets and bytes in transmission.
    #[inline]
    const fn in_transmission(&self, now: Time) -> (usize, u64) {
        if self.busy_until.0 > now.0 { (1, self.serving_bytes as u64) } else { (0, 0) }
    }

    /// Returns whether the packet would fit if nothing else waited; if not, dropping other packets would be useless.
    #[inline]
    fn could_hold(&self, arriving: &Arriving) -> bool {
        let (packets, bytes) = self.in_transmission(arriving.entry.enqueued_at);
        self.limit.has_room(packets, bytes, arriving.entry.frame_bytes)
    }

    /// Returns the packets and bytes in all queues, including the frame in transmission.
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
        // A large packet can displace several small ones.
        while self.packets > 0 && self.is_too_full(arriving.entry.enqueued_at) {
            let before = self.ended.len();
            let ended = &mut self.ended;
            let mut end = |packet: Waiting| {
                let Entry { packet, frame_bytes, .. } = packet.entry;
                // The drop reason tells a packet refused on arrival from one that made room for another.
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
        assert!(ended.len() <= self.packets, "more packets are given up than wait");
        self.packets -= ended.len();
        self.bytes -= ended.iter().map(|ended| u64::from(ended.frame_bytes)).sum::<u64>();
    }

    /// Takes the next packet to send; returns whether to mark it. Afterwards [`Self::take_ended`] returns the packets
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

    /// Returns whether the scheduler has dropped packets.
    #[inline]
    pub const fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// Returns the dropped packets; [`Self::put_back`] takes the list back.
    #[inline]
    pub fn take_ended(&mut self) -> Vec<Ended> {
        std::mem::take(&mut self.ended)
    }

    /// Takes the list of [`Self::take_ended`] back, to reuse its memory.
    #[inline]
    pub fn put_back(&mut self, mut list: Vec<Ended>) {
        list.clear();
        self.ended = list;
    }

    /// Returns whether a packet can be served.
    #[inline]
    pub const fn has_ready(&self) -> bool {
        self.packets > 0 && !self.is_paused
    }

    /// Stops service.
    pub fn pause(&mut self) {
        self.is_paused = true;
    }

    /// Resumes service.
    pub fn resume(&mut self) {
        self.is_paused = false;
    }

    /// Returns whether service is stopped.
    pub const fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Packets waiting, without the frame in transmission.
    pub const fn packets(&self) -> usize {
        self.packets
    }

    /// Bytes waiting, without the frame in transmission.
    pub const fn depth_bytes(&self) -> u64 {
        self.bytes
    }

    /// Maximum number of bytes that ever waited.
    pub const fn peak_bytes(&self) -> u64 {
        self.peak_bytes
    }

    /// Calls `look` for each waiting packet, in unspecified order.
    pub fn each_waiting(&self, look: impl FnMut(&Waiting)) {
        match &self.discipline {
            Discipline::IdealFq(queues) => queues.waiting().for_each(look),
            Discipline::Drr(queues) => queues.waiting().for_each(look),
            Discipline::Sfq(queues) => queues.waiting().for_each(look),
            Discipline::FqCodel(queues) => queues.waiting().for_each(look),
        }
    }
}
