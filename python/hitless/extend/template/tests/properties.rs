//! Invariants of Early Drop for any traffic, on one switch that sends everything out of port 1.

use std::collections::BTreeMap;

use early_drop::{EarlyDrop, EarlyDropSettings};
use hitless_core::wire::{BitRate, Bytes, Packet, PortId, TcpHeader, Time, Transport};
use hitless_switch::testing::Harness;
use hitless_switch::{Architecture, BufferPolicy, PortConfig, QueueConfig, QueueLimit, Switch};
use proptest::prelude::*;

const OUT: PortId = PortId(1);

fn switch(threshold: u64) -> Harness {
    let settings = EarlyDropSettings { ports: Vec::new(), threshold: Bytes(threshold) };
    let mechanism = EarlyDrop::new(settings, BTreeMap::from([(OUT, 0)]));
    let port = PortConfig::fifo(BitRate::from_gbps(10), 20, QueueConfig::normal(QueueLimit::Unlimited));
    // Checked: `finish` finds violations of hardware limits and of the declared `resources`.
    let architecture = Architecture { checked: true, ..Architecture::tofino_like() };
    let switch = Switch::new(architecture, vec![port; 2], BufferPolicy::Static, vec![Box::new(mechanism)]);
    Harness::of_one(switch, |_| OUT)
}

fn packet(payload_bytes: u16) -> Packet {
    let transport = Transport::Tcp(TcpHeader { payload_bytes, ..TcpHeader::default() });
    Packet { frame_bytes: u32::from(payload_bytes) + 70, ttl: 9, transport, ..Packet::default() }
}

proptest! {
    /// Each packet leaves once or is dropped once, acknowledgements are never dropped, and the order is kept.
    #[test]
    fn packets_leave_in_order_or_end(gaps in prop::collection::vec((0_u64..2_000, 0_u16..1_400), 1..80)) {
        let mut harness = switch(5_000);
        let mut at = Time::ZERO;
        for &(gap_ns, payload_bytes) in &gaps {
            at = Time(at.as_ps() + gap_ns * 1_000);
            harness.arrive(at, PortId(0), packet(payload_bytes));
        }
        harness.finish();
        let left = harness.left_by(OUT);
        prop_assert!(left.is_sorted());
        prop_assert_eq!(left.len() + harness.ended().len(), gaps.len());
        prop_assert!(harness.world.ended.iter().all(|ended| ended.packet.transport.has_payload()));
        prop_assert_eq!(harness.counter("data_packets_dropped"), Some(harness.ended().len() as u64));
    }

    /// A queue that never exceeds the threshold loses nothing.
    #[test]
    fn nothing_is_dropped_below_the_threshold(payloads in prop::collection::vec(1_u16..1_400, 1..40)) {
        let total: u64 = payloads.iter().map(|&bytes| u64::from(bytes) + 100).sum();
        let mut harness = switch(total);
        payloads.iter().for_each(|&bytes| harness.arrive(Time::ZERO, PortId(0), packet(bytes)));
        harness.finish();
        prop_assert!(harness.ended().is_empty());
    }
}
