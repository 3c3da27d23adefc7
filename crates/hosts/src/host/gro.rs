//! Interrupt moderation and generic receive offload: packets wait in the card's ring until the kernel polls it, and
//! consecutive data of a flow goes to TCP as one segment.
//!
//! The model is Linux's (Documentation/networking/napi.rst, net/core/gro.c, net/ipv4/tcp_offload.c). The first packet
//! in an empty ring makes the card raise an interrupt, after a delay or a number of packets (ethtool: rx-usecs,
//! rx-frames). The receive delay of the stack, drawn once, then passes, and the poll takes everything that has arrived
//! by then. Merged data is delivered in one piece and gets one acknowledgement. Nothing is held back at the end of a
//! poll.
//!
//! Each end of a flow has a separate ring, as if the card spread flows over queues by their hash without collisions.

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::{Duration, Packet, TcpFlags, TcpHeader, Time, Transport};

/// Interrupt moderation of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct GroConfig {
    /// Time from the first packet to the interrupt.
    pub interrupt_delay: Duration,
    /// Number of packets that raises it at once. `None` means that only time counts.
    pub interrupt_packets: Option<u32>,
}

/// A unit that a poll passes to the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The packet, or the first of the merged packets with the payload of all.
    pub packet: PacketHandle,
    /// Number of frames that it had on the link.
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
    /// Time of the kernel's poll; [`Time::NEVER`] while the ring is empty.
    poll_at: Time,
    /// Time from the current interrupt to the poll.
    stack_delay: Duration,
}

impl ReceiveRing {
    pub fn new(config: GroConfig) -> Self {
        Self { config, packets: Vec::new(), poll_at: Time::NEVER, stack_delay: Duration::ZERO }
    }

    /// Adds a packet from the link; returns when to schedule a poll, if one is needed. `draw` is called once between
    /// two polls.
    pub fn arrive(&mut self, now: Time, packet: PacketHandle, draw: impl FnOnce() -> Duration) -> Option<Time> {
        self.packets.push(packet);
        if self.poll_at == Time::NEVER {
            self.stack_delay = draw();
            let interrupt_at = if self.is_enough() { now } else { now + self.config.interrupt_delay };
            self.poll_at = interrupt_at + self.stack_delay;
            return Some(self.poll_at);
        }
        // An interrupt that has already been raised cannot be raised earlier.
        let at = now + self.stack_delay;
        if !self.is_enough() || at >= self.poll_at {
            return None;
        }
        assert!(now <= at && at < self.poll_at, "a poll is moved later");
        self.poll_at = at;
        Some(at)
    }

    fn is_enough(&self) -> bool {
        self.config.interrupt_packets.is_some_and(|enough| self.packets.len() as u64 >= u64::from(enough))
    }

    /// Handles a poll event: returns all packets in the ring, or none if an earlier interrupt has emptied it.
    pub fn poll(&mut self, now: Time) -> Vec<PacketHandle> {
        if self.poll_at == now { self.take() } else { Vec::new() }
    }

    pub fn take(&mut self) -> Vec<PacketHandle> {
        self.poll_at = Time::NEVER;
        std::mem::take(&mut self.packets)
    }

    /// Takes back the vector of [`Self::poll`], to reuse its memory.
    pub fn reuse(&mut self, mut room: Vec<PacketHandle>) {
        if self.packets.is_empty() {
            room.clear();
            self.packets = room;
        }
    }
}

/// Limit of a merged IP packet (Linux: 65,536 B, regardless of the number of frames; beyond 17 fragments they are
/// chained).
const MERGED_BYTES: u32 = 65_536;
/// Frame length minus IP packet length.
const ETHERNET_BYTES: u32 = 18;
/// Timestamps of RFC 7323 are compared in ticks of about a millisecond, like Linux's before version 6.7, although the
/// clock here is finer: otherwise only data sent at the same instant would merge.
const TIMESTAMP_SHIFT: u32 = 10;

/// Returns how many of `packets`, which must not be empty, form one segment, counted from the first.
pub fn mergeable(packets: &[PacketHandle], store: &PacketStore) -> usize {
    let first = &store[packets[0]];
    let Some(mut run) = Run::new(first) else { return 1 };
    1 + packets[1..].iter().take_while(|&&packet| run.takes(&store[packet])).count()
}

/// Merges packets selected by [`mergeable`] into one segment; frees all slots but the first.
pub fn merge(packets: &[PacketHandle], store: &mut PacketStore) -> Segment {
    assert!(!packets.is_empty(), "a segment of no packets");
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

/// Packets merged so far.
struct Run<'a> {
    first: &'a Packet,
    header: &'a TcpHeader,
    /// Sequence number of the next packet.
    next: u64,
    ip_bytes: u32,
    is_complete: bool,
}

impl<'a> Run<'a> {
    /// Starts a run with `first`; `None` if nothing can be merged with it.
    fn new(first: &'a Packet) -> Option<Self> {
        let header = data_of(first)?;
        let next = header.sequence + u64::from(header.payload_bytes);
        let ip_bytes = first.frame_bytes.saturating_sub(ETHERNET_BYTES);
        Some(Self { first, header, next, ip_bytes, is_complete: ends_run(header.flags) })
    }

    /// Adds the flow's next packet to the run if it merges.
    fn takes(&mut self, packet: &Packet) -> bool {
        let Some(header) = data_of(packet) else { return false };
        let payload_bytes = u32::from(header.payload_bytes);
        let merges = !self.is_complete
            && self.is_alike(packet, header)
            && header.sequence == self.next
            // Only full segments precede the last one, so TCP sees the same boundaries as without offload.
            && header.payload_bytes <= self.header.payload_bytes
            && self.ip_bytes + payload_bytes < MERGED_BYTES;
        if merges {
            self.next += u64::from(payload_bytes);
            self.ip_bytes += payload_bytes;
            self.is_complete = ends_run(header.flags) || header.payload_bytes < self.header.payload_bytes;
        }
        merges
    }

    /// Returns whether both packets are equal except for their payload; they belong to the same flow.
    fn is_alike(&self, packet: &Packet, header: &TcpHeader) -> bool {
        let ip = |packet: &Packet| (packet.ecn, packet.ttl, packet.class);
        let tcp = |header: &TcpHeader| {
            let timestamp = header.timestamp >> TIMESTAMP_SHIFT;
            // As in Linux's tcp_gro_receive: CWR is possible on the first packet only, FIN and PSH on the last only.
            let flags = header.flags.0 & !(TcpFlags::FIN.0 | TcpFlags::PSH.0 | TcpFlags::CWR.0);
            (header.acknowledgement, header.window_bytes, timestamp, header.timestamp_echo, flags)
        };
        ip(self.first) == ip(packet) && tcp(self.header) == tcp(header) && !header.flags.contains(TcpFlags::CWR)
    }
}

/// Returns the header of plain data. Headers unknown to the kernel (shims), a trimmed payload, and options that differ
/// per segment exclude a packet.
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
