//! Invariants of Every Nth for arbitrary arrivals: one switch, with port 1 as the exit.

use std::collections::BTreeMap;

use every_nth_crate::{EveryNth, EveryNthSettings};
use hitless_core::wire::packet::Ecn;
use hitless_core::wire::{BitRate, Packet, PortId, Time};
use hitless_switch::testing::Harness;
use hitless_switch::{Architecture, BufferPolicy, PortConfig, QueueConfig, QueueLimit, Switch};
use proptest::prelude::*;

const OUT: PortId = PortId(1);

fn switch(drop_every: u64, mark_every: u64) -> Harness {
    let settings = EveryNthSettings { ports: Vec::new(), drop_every, mark_every };
    let mechanism = EveryNth::new(settings, BTreeMap::from([(OUT, 0)]));
    let port = PortConfig::fifo(BitRate::from_gbps(10), 20, QueueConfig::normal(QueueLimit::Unlimited));
    let architecture = Architecture { checked: true, ..Architecture::tofino_like() };
    let switch = Switch::new(architecture, vec![port; 2], BufferPolicy::Static, vec![Box::new(mechanism)]);
    Harness::of_one(switch, |_| OUT)
}

proptest! {
    /// Of the packets, counted from 1, exactly the multiples of a period are dropped or marked.
    #[test]
    fn the_period_is_exact(frames in prop::collection::vec(64_u32..1_500, 1..100), drop in 0_u64..9, mark in 0_u64..9) {
        let mut harness = switch(drop, mark);
        for &frame_bytes in &frames {
            let packet = Packet { frame_bytes, ttl: 9, ecn: Ecn::Capable, ..Packet::default() };
            harness.arrive(Time::ZERO, PortId(0), packet);
        }
        harness.finish();
        let is_due = |number: u32, every: u64| (u64::from(number) + 1).is_multiple_of(every);
        let numbers = 0..frames.len() as u32;
        let expected: Vec<u32> = numbers.filter(|&number| !is_due(number, drop)).collect();
        prop_assert_eq!(harness.left_by(OUT), expected);
        for left in &harness.world.left {
            prop_assert_eq!(left.packet.ecn == Ecn::CongestionExperienced, is_due(left.packet.frame, mark));
        }
    }
}
