//! The packet descriptor that hosts, links and switches exchange.
//!
//! It takes two cache lines. Every hop reads the first (size, addresses, class, ECN, shims); only the two ends read the
//! second. Payload bytes do not exist in a simulation; a live switch keeps the frame elsewhere and refers to it by
//! [`Packet::frame`].

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

/// A queue of a port, counted from 0; the port's discipline decides the order of service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, crate::state::Value)]
pub struct QueueId(pub u8);

/// The fields by which a parser identifies the service of a flow, in addition to the 5-tuple's hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, crate::state::Value)]
pub struct ServiceKey {
    /// The well-known port of the two TCP or UDP ports, at either end; 0 if neither is.
    pub port: u16,
    /// VLAN identifier; 0: untagged.
    pub vlan: u16,
}

/// The ECN field of the IP header (RFC 3168, section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, crate::state::Value)]
#[repr(u8)]
pub enum Ecn {
    /// Not ECN-capable: a switch can only signal congestion by dropping it.
    #[default]
    NotCapable = 0,
    /// ECN-capable transport, ECT(0).
    Capable = 2,
    CongestionExperienced = 3,
}

/// Maximum size of a standard Ethernet frame, including header and frame check sequence.
pub const MTU_FRAME_BYTES: u32 = 1_518;
/// A VLAN tag (IEEE 802.1Q, clause 9.6).
pub const VLAN_TAG_BYTES: u32 = 4;
/// Minimum size of an Ethernet frame, including the frame check sequence.
pub const MINIMUM_FRAME_BYTES: u32 = 64;
/// Preamble, start of frame and inter-packet gap: the overhead of every frame on an Ethernet link.
pub const ETHERNET_OVERHEAD_BYTES: u32 = 20;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, crate::state::Value)]
#[repr(C, align(64))]
pub struct Packet {
    /// Length of the frame with its check sequence and all shims, without preamble and gap.
    pub frame_bytes: u32,
    pub flow: FlowId,
    pub source: HostId,
    pub destination: HostId,
    /// Hash of the 5-tuple, used by ECMP and flow-hashed queues.
    pub flow_hash: u32,
    /// Handle of the real bytes, for a live switch; 0 in a simulation.
    pub frame: u32,
    /// Port at which the packet entered the current switch.
    pub ingress_port: PortId,
    /// Port through which the packet will leave the current switch.
    pub egress_port: PortId,
    pub queue: QueueId,
    /// Traffic class (priority code point or DSCP class), set by the sender.
    pub class: u8,
    pub ecn: Ecn,
    pub ttl: u8,
    /// The mechanism of this switch that owns the packet (a copy, a generated packet): its number plus one, or 0 if the
    /// packet is an ordinary one. Meaningless on a link.
    pub owner: u8,
    /// Role of the packet, defined by its owner.
    pub role: u8,
    /// The packet is a copy from a link-local retransmission; the original was lost on this link.
    pub is_link_retransmission: bool,
    /// For a group of queues that are served in rounds: the low bits of the packet's round, set in ingress. Meaningless
    /// on a link.
    pub round: u8,
    /// Headers that mechanisms have put on the packet.
    pub shims: ShimStack,
    pub transport: Transport,
}

impl Packet {
    pub const INITIAL_TTL: u8 = 64;

    /// Puts a shim on the packet; the frame grows by its bytes on the wire.
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

    /// Returns whether a switch made the packet to inform a sender of congestion. Mechanisms that redirect packets
    /// leave such packets on their path.
    #[inline]
    pub fn is_congestion_notice(&self) -> bool {
        matches!(self.transport, Transport::CongestionNotice(_))
    }

    /// Marks congestion; returns false if the packet is not ECN-capable.
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
