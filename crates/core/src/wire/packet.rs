//! The packet descriptor: what hosts, links and switches pass around.
//!
//! Two cache lines. The first holds what every hop reads (size, addresses, class, ECN, shims), the second what
//! only the two ends read. Payload bytes do not exist in a simulation; a live switch keeps the frame elsewhere and
//! names it in [`Packet::frame`].

use crate::wire::shim::{Shim, ShimStack, ShimStackFull};
use crate::wire::transport::Transport;

/// A host of the fabric, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, crate::state::Value)]
pub struct HostId(pub u32);

/// A flow (connection) of the run, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, crate::state::Value)]
pub struct FlowId(pub u32);

/// A port of a switch, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, crate::state::Value)]
pub struct PortId(pub u16);

/// A queue of a port, counted from 0; which one is served first is the port's discipline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, crate::state::Value)]
pub struct QueueId(pub u8);

/// What a parser finds in a packet about the service that its flow belongs to, beside the 5-tuple's hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, crate::state::Value)]
pub struct ServiceKey {
    /// The well-known one of the two TCP or UDP ports, whichever end it is on; 0: none.
    pub port: u16,
    /// VLAN identifier; 0: untagged.
    pub vlan: u16,
}

/// The ECN field of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, crate::state::Value)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable: a full queue may only drop it.
    #[default]
    NotCapable = 0,
    /// ECN-capable transport, ECT(0).
    Capable = 2,
    /// Congestion experienced.
    CongestionExperienced = 3,
}

/// The size of the largest standard Ethernet frame, header and frame check sequence included.
pub const MTU_FRAME_BYTES: u32 = 1_518;
/// A VLAN tag (IEEE 802.1Q, clause 9.6).
pub const VLAN_TAG_BYTES: u32 = 4;
/// The size of the smallest Ethernet frame, frame check sequence included.
pub const MINIMUM_FRAME_BYTES: u32 = 64;
/// Preamble, start of frame and inter-packet gap: what every frame costs on an Ethernet link beyond itself.
pub const ETHERNET_OVERHEAD_BYTES: u32 = 20;

/// A packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, crate::state::Value)]
#[repr(C, align(64))]
pub struct Packet {
    /// Length of the frame with its check sequence and all shims, without preamble and gap.
    pub frame_bytes: u32,
    /// The flow it belongs to.
    pub flow: FlowId,
    /// Where it comes from.
    pub source: HostId,
    /// Where it goes.
    pub destination: HostId,
    /// Hash of the 5-tuple; what ECMP and flow-hashed queues go by.
    pub flow_hash: u32,
    /// Handle of the real bytes, for a live switch; 0 in a simulation.
    pub frame: u32,
    /// The port by which it entered the switch it is in.
    pub ingress_port: PortId,
    /// The port by which it will leave the switch it is in.
    pub egress_port: PortId,
    /// The queue of the egress port.
    pub queue: QueueId,
    /// Traffic class (priority code point or DSCP class), set by the sender.
    pub class: u8,
    /// ECN field.
    pub ecn: Ecn,
    /// Hops it may still take.
    pub ttl: u8,
    /// The mechanism of this switch that keeps the packet to itself (a copy, a generated packet): its number plus
    /// one, or 0 for a packet that anybody may handle. Means nothing on a link.
    pub owner: u8,
    /// What the packet is to its owner.
    pub role: u8,
    /// A copy that a link-local retransmission sent; the original was lost on this link.
    pub is_link_retransmission: bool,
    /// Of a packet for a group of queues that are served in rounds: the low bits of the round that it is meant for,
    /// set in ingress. Means nothing on a link.
    pub round: u8,
    /// Headers that mechanisms have put on it.
    pub shims: ShimStack,
    /// Transport header.
    pub transport: Transport,
}

impl Packet {
    /// The time to live that hosts give their packets.
    pub const INITIAL_TTL: u8 = 64;

    /// Puts a shim on the packet; the frame grows by its bytes on the wire.
    ///
    /// # Errors
    /// [`ShimStackFull`]; the packet is unchanged.
    pub fn push_shim<S: Shim>(&mut self, shim: S) -> Result<(), ShimStackFull> {
        self.shims.push(shim)?;
        self.frame_bytes += S::WIRE_BYTES;
        Ok(())
    }

    /// Takes the shim of type `S` off; the frame shrinks by its bytes on the wire.
    pub fn remove_shim<S: Shim>(&mut self) -> Option<S> {
        let shim = self.shims.remove::<S>()?;
        self.frame_bytes -= S::WIRE_BYTES;
        Some(shim)
    }

    /// Whether a switch has made it to tell a sender of congestion. Mechanisms that send packets elsewhere leave it
    /// on its way.
    #[inline]
    pub fn is_congestion_notice(&self) -> bool {
        matches!(self.transport, Transport::CongestionNotice(_))
    }

    /// Marks congestion; false when the packet is not ECN-capable.
    #[inline]
    pub fn mark_congestion(&mut self) -> bool {
        if self.ecn == Ecn::NotCapable {
            return false;
        }
        self.ecn = Ecn::CongestionExperienced;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::priority_mark::PriorityMark;
    use crate::wire::shim::CheckNumber;

    #[test]
    fn a_packet_is_two_cache_lines_and_hops_read_only_the_first() {
        assert_eq!(size_of::<Packet>(), 128);
        assert!(std::mem::offset_of!(Packet, transport) >= 64);
    }

    #[test]
    fn shims_change_the_length_of_the_frame_by_their_wire_bytes() {
        let mut packet = Packet { frame_bytes: 64, ..Packet::default() };
        packet.push_shim(PriorityMark::default()).unwrap();
        packet.push_shim(CheckNumber(1)).unwrap();
        assert_eq!(packet.frame_bytes, 64 + PriorityMark::WIRE_BYTES);
        packet.remove_shim::<PriorityMark>();
        packet.remove_shim::<CheckNumber>();
        assert_eq!(packet.frame_bytes, 64);
    }

    #[test]
    fn only_capable_packets_are_marked() {
        let mut packet = Packet::default();
        assert!(!packet.mark_congestion());
        packet.ecn = Ecn::Capable;
        assert!(packet.mark_congestion());
        assert_eq!(packet.ecn, Ecn::CongestionExperienced);
    }
}
