//! From a frame to the descriptor that the switch model passes around.

use super::flow::FlowHashSeed;
use super::lengths::frame_bytes;
use super::parse::Frame;
use crate::wire::packet::Packet;

impl Frame {
    /// The descriptor of this frame: length, class, ECN and hash. What only a fabric knows (hosts, flow, ports of the
    /// switch) is left as it is by default. Its hops are those of switches and not of routers, so the packet begins
    /// with all of them: a frame whose IP hop limit is 1 crosses a switch like any other.
    pub fn describe(&self, seed: FlowHashSeed) -> Packet {
        Packet {
            frame_bytes: frame_bytes(self.length_bytes),
            flow_hash: self.flow_key().hash(seed),
            class: self.class(),
            ecn: self.ecn(),
            ttl: Packet::INITIAL_TTL,
            ..Packet::default()
        }
    }
}
