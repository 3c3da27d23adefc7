//! A switch with packets in it, and what becomes of them.

use hitless_core::wire::{Packet, PortId};
use hitless_switch::Switch;
use hitless_switch::testing::Harness;

pub const IN: PortId = PortId(0);
/// Where routing sends every packet.
pub const OUT: PortId = PortId(1);
pub const ELSEWHERE: PortId = PortId(2);

/// The switch, started.
pub fn harness(switch: Switch) -> Harness {
    Harness::of_one(switch, |_| OUT)
}

pub fn packet(frame_bytes: u32) -> Packet {
    Packet { frame_bytes, ttl: 9, ..Packet::default() }
}
