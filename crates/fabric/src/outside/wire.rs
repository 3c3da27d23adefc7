//! What of a frame's bytes the fabric needs, and what of a packet the bytes must show.

use hitless_wire::frame::{FlowHashSeed, Frame, MacAddress};
use hitless_wire::{Packet, ServiceKey};

/// What was read in a frame.
pub(crate) struct Read {
    pub destination: MacAddress,
    pub source: MacAddress,
    /// Length, class, ECN and hash.
    pub packet: Packet,
    pub service: ServiceKey,
}

/// Reads a frame of a host; none when it has no Ethernet header.
pub(crate) fn read(bytes: &[u8], seed: FlowHashSeed) -> Option<Read> {
    let frame = Frame::parse(bytes).ok()?;
    // A bridge leaves the time to live of what it forwards alone; the fabric counts its own hops.
    let packet = Packet { ttl: Packet::INITIAL_TTL, ..frame.describe(seed) };
    Some(Read { destination: frame.destination, source: frame.source, packet, service: frame.service_key() })
}
