//! A switch, its packets and their fate.

use hitless_core::wire::{Packet, PortId};
use hitless_switch::Switch;
use hitless_switch::testing::Harness;

pub const IN: PortId = PortId(0);
/// The egress port of every packet.
pub const OUT: PortId = PortId(1);
pub const ELSEWHERE: PortId = PortId(2);

/// Starts the switch.
pub fn harness(switch: Switch) -> Harness {
    Harness::of_one(switch, |_| OUT)
}

pub fn packet(frame_bytes: u32) -> Packet {
    Packet { frame_bytes, ttl: 9, ..Packet::default() }
}
