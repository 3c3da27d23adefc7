//! Interrupt moderation and generic receive offload: packets wait in the card's ring until the kernel polls it, and
//! consecutive data of a flow goes to TCP as one segment.
//!
//! The model is Linux's (Documentation/networking/napi.rst, net/core/gro.c, net/ipv4/tcp_offload.c). The first packet
//! in an empty ring makes the card raise an interrupt, after a delay or a number of packets (ethtool: rx-usecs,
//! rx-frames). The receive delay of the stack then passes, drawn once, and the poll takes everything that has come by
//! then. What merges is handed over in one piece and answered by one acknowledgement; the end of a poll holds nothing
//! back.
//!
//! Each end of a flow has a ring of its own, as where the card spreads flows over queues by their hash and no two meet.

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::{Duration, Packet, TcpFlags, TcpHeader, Time, Transport};

/// When a card raises the interrupt after which the kernel polls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct GroConfig {
    /// From the first packet to the interrupt.
    pub interrupt_delay: Duration,
    /// So many packets raise it at once. `None`: only time does.
    pub interrupt_packets: Option<u32>,
}

/// What one poll hands to the transport at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The packet, or the first of those that were merged, with the payload of all.
    pub packet: PacketHandle,
    /// How many frames it was on the link.
    pub frames: u32,
}

impl From<PacketHandle> for Segment {
    #[inline]
    fn from(packet: PacketHandle) -> Self {
        Self { packet, frames: 1 }
    }
}

/// The ring of one end of a flow.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub struct ReceiveRing {
    config: GroConfig,
    packets: Vec<PacketHandle>,
    /// When the kernel polls; [`Time::NEVER`] while the ring is empty.
    poll_at: Time,
    /// From the interrupt to the poll, this time.
    stack_delay: Duration,
}

impl ReceiveRing {
    /// An empty ring.
    pub fn new(config: GroConfig) -> Self {
        Self { config, packets: Vec::new(), poll_at: Time::NEVER, stack_delay: Duration::ZERO }
    }

    /// A packet comes off the link; returns when a poll must be scheduled for, if for any. `draw` is asked once
    /// between two polls.
    pub fn arrive(&mut self, now: Time, packet: PacketHandle, draw: impl FnOnce() -> Duration) -> Option<Time> {
        self.packets.push(packet);
        if self.poll_at == Time::NEVER {
            self.stack_delay = draw();
            let interrupt_at = if self.is_enough() { now } else { now + self.config.interrupt_delay };
            self.poll_at = interrupt_at + self.stack_delay;
            return Some(self.poll_at);
        }
        // An interrupt that has been raised already is not raised earlier.
        let at = now + self.stack_delay;
        if !self.is_enough() || at >= self.poll_at {
            return None;
        }
        debug_assert!(now <= at && at < self.poll_at, "a poll is moved later");
        self.poll_at = at;
        Some(at)
    }

    fn is_enough(&self) -> bool {
        self.config.interrupt_packets.is_some_and(|enough| self.packets.len() as u64 >= u64::from(enough))
    }

    /// The event of a poll has come: everything in the ring, unless an interrupt that came earlier has emptied it.
    pub fn poll(&mut self, now: Time) -> Vec<PacketHandle> {
        if self.poll_at == now { self.take() } else { Vec::new() }
    }

    /// Everything in the ring.
    pub fn take(&mut self) -> Vec<PacketHandle> {
        self.poll_at = Time::NEVER;
        std::mem::take(&mut self.packets)
    }

    /// Gives back the room that [`Self::poll`] took.
    pub fn reuse(&mut self, mut room: Vec<PacketHandle>) {
        if self.packets.is_empty() {
            room.clear();
            self.packets = room;
        }
    }
}

/// An IP packet must stay below this (Linux: 65,536 B, whatever the number of frames; beyond 17 fragments they are
/// chained).
const MERGED_BYTES: u32 = 65_536;
/// What a frame has beside the IP packet.
const ETHERNET_BYTES: u32 = 18;
/// Timestamps of RFC 7323 are compared in ticks of about a millisecond, as Linux had them before version 6.7, though
/// here their clock is finer: otherwise data that was not sent at once would never merge.
const TIMESTAMP_SHIFT: u32 = 10;

/// How many of `packets`, which is not empty, go to the transport as one segment, from the first on.
pub fn mergeable(packets: &[PacketHandle], store: &PacketStore) -> usize {
    let first = &store[packets[0]];
    let Some(mut run) = Run::new(first) else { return 1 };
    1 + packets[1..].iter().take_while(|&&packet| run.takes(&store[packet])).count()
}

/// Makes one segment of packets that [`mergeable`] has put together; frees all slots but the first.
pub fn merge(packets: &[PacketHandle], store: &mut PacketStore) -> Segment {
    debug_assert!(!packets.is_empty(), "a segment of no packets");
    let (first, others) = (packets[0], &packets[1..]);
    for &other in others {
        if let Transport::Tcp(added) = store[other].transport {
            append(&mut store[first], &added);
        }
        store.remove(other);
    }
    Segment { packet: first, frames: packets.len() as u32 }
}

fn append(packet: &mut Packet, added: &TcpHeader) {
    let Transport::Tcp(header) = &mut packet.transport else { return };
    header.payload_bytes += added.payload_bytes;
    header.flags = header.flags.with(added.flags);
    packet.frame_bytes += u32::from(added.payload_bytes);
}

/// Packets that merge, so far.
struct Run<'a> {
    first: &'a Packet,
    header: &'a TcpHeader,
    /// The sequence number that goes on.
    next: u64,
    ip_bytes: u32,
    is_complete: bool,
}

impl<'a> Run<'a> {
    /// A run that `first` begins; `None` when nothing can be merged with it.
    fn new(first: &'a Packet) -> Option<Self> {
        let header = data_of(first)?;
        let next = header.sequence + u64::from(header.payload_bytes);
        let ip_bytes = first.frame_bytes.saturating_sub(ETHERNET_BYTES);
        Some(Self { first, header, next, ip_bytes, is_complete: ends_run(header.flags) })
    }

    /// Takes the next packet of the flow if it merges.
    fn takes(&mut self, packet: &Packet) -> bool {
        let Some(header) = data_of(packet) else { return false };
        let payload_bytes = u32::from(header.payload_bytes);
        let merges = !self.is_complete
            && self.is_alike(packet, header)
            && header.sequence == self.next
            && header.payload_bytes <= self.header.payload_bytes
            && self.ip_bytes + payload_bytes < MERGED_BYTES;
        if merges {
            self.next += u64::from(payload_bytes);
            self.ip_bytes += payload_bytes;
            self.is_complete = ends_run(header.flags) || header.payload_bytes < self.header.payload_bytes;
        }
        merges
    }

    /// Whether both say the same beside their payload: addresses are those of one flow.
    fn is_alike(&self, packet: &Packet, header: &TcpHeader) -> bool {
        let ip = |packet: &Packet| (packet.ecn, packet.ttl, packet.class);
        let tcp = |header: &TcpHeader| {
            let timestamp = header.timestamp >> TIMESTAMP_SHIFT;
            let flags = header.flags.0 & !(TcpFlags::FIN.0 | TcpFlags::PSH.0 | TcpFlags::CWR.0);
            (header.acknowledgement, header.window_bytes, timestamp, header.timestamp_echo, flags)
        };
        ip(self.first) == ip(packet) && tcp(self.header) == tcp(header) && !header.flags.contains(TcpFlags::CWR)
    }
}

/// The header of plain data. Headers that the kernel does not know (shims), a payload that was cut off, and options
/// that each segment has for itself keep a packet out.
fn data_of(packet: &Packet) -> Option<&TcpHeader> {
    match &packet.transport {
        Transport::Tcp(header)
            if header.payload_bytes > 0
                && packet.shims.is_empty()
                && header.congestion_option == 0
                && !header.flags.contains(TcpFlags::SYN) =>
        {
            Some(header)
        }
        _ => None,
    }
}

fn ends_run(flags: TcpFlags) -> bool {
    flags.contains(TcpFlags::PSH) || flags.contains(TcpFlags::FIN)
}

#[cfg(test)]
mod tests;
