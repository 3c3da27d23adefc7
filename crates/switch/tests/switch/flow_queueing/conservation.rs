//! All disciplines in a switch: every packet leaves or ends with a reason, and the buffer returns to zero.

use hitless_core::wire::mac_control::PauseFrame;
use hitless_core::wire::{BitRate, Ecn, FlowId, Packet, PortId, QueueId, Time};
use hitless_switch::testing::Harness;
use hitless_switch::{
    Architecture, BufferPolicy, DropReason, FlowQueueing, PortConfig, QueueConfig, QueueLimit, Switch,
};
use proptest::prelude::*;

use super::scheduler::{DRR, disciplines};

const IN: PortId = PortId(0);
const OUT: PortId = PortId(1);

fn harness(config: FlowQueueing, limit: QueueLimit) -> Harness {
    let queue = QueueConfig::normal(limit);
    let port = PortConfig::fifo(BitRate::from_gbps(10), 20, queue);
    let out = PortConfig { flow_queueing: Some(config), ..port.clone() };
    Harness::of_one(Switch::new(Architecture::ideal(), vec![port, out], BufferPolicy::Static, Vec::new()), |_| OUT)
}

fn limits() -> impl Strategy<Value = QueueLimit> {
    prop_oneof![
        Just(QueueLimit::Unlimited),
        (1u32..40).prop_map(QueueLimit::Packets),
        (64u64..40_000).prop_map(QueueLimit::Bytes)
    ]
}

#[derive(Clone, Copy, Debug)]
struct Step {
    gap_ps: u64,
    flow: u32,
    frame_bytes: u32,
    can_mark: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0u64..2_000_000, 0u32..20, 64u32..=1_518, any::<bool>());
    let step = step.prop_map(|(gap_ps, flow, frame_bytes, can_mark)| Step { gap_ps, flow, frame_bytes, can_mark });
    prop::collection::vec(step, 1..300)
}

fn packet_of(step: &Step, number: u32) -> Packet {
    Packet {
        frame_bytes: step.frame_bytes,
        flow: FlowId(step.flow),
        flow_hash: step.flow.wrapping_mul(0x85eb_ca6b),
        frame: number,
        ecn: if step.can_mark { Ecn::Capable } else { Ecn::NotCapable },
        ttl: 3,
        ..Packet::default()
    }
}

/// Creates the pause or resume frame that a port's link partner sends.
fn control(frame: PauseFrame) -> Packet {
    let mut packet = Packet { frame_bytes: 64, ttl: 3, ..Packet::default() };
    packet.push_shim(frame).expect("a packet has room for one shim");
    packet
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_comes_in_leaves_or_ends_for_a_reason(
        config in disciplines(),
        limit in limits(),
        steps in steps(),
        pause_at in prop::option::of(0usize..300),
    ) {
        let mut harness = harness(config, limit);
        let mut now = Time::ZERO;
        for (number, step) in steps.iter().enumerate() {
            now.0 += step.gap_ps;
            for (at, frame) in [(pause_at, PauseFrame::pause(0)), (pause_at.map(|at| at + 20), PauseFrame::resume(0))] {
                if at == Some(number) {
                    harness.arrive(now, OUT, control(frame));
                }
            }
            harness.arrive(now, IN, packet_of(step, number as u32));
            let absorbed = harness.world.ended.iter().filter(|ended| ended.reason == DropReason::ControlAbsorbed).count();
            let accounted = harness.world.left.len() + harness.world.ended.len() - absorbed + harness.world.packets.alive();
            prop_assert_eq!(accounted, number + 1);
        }
        if pause_at.is_some() {
            harness.arrive(now, OUT, control(PauseFrame::resume(0)));
        }
        harness.run_until(Time::NEVER);
        prop_assert_eq!((harness.switches[0].packets_queued(), harness.world.packets.alive(), harness.switches[0].buffer_bytes()), (0, 0, 0));
        let drops: u64 = harness.switches[0].drops().iter().sum();
        prop_assert_eq!(drops as usize, harness.world.ended.len());
        // Packets leave one after the other at the line's rate.
        for pair in harness.world.left.windows(2) {
            let takes = BitRate::from_gbps(10).time_for(u64::from(pair[1].packet.frame_bytes + 20));
            prop_assert!(pair[1].at >= pair[0].at + takes);
        }
    }

    #[test]
    fn a_run_repeats_exactly(config in disciplines(), limit in limits(), steps in steps()) {
        let run = || {
            let mut harness = harness(config, limit);
            let mut now = Time::ZERO;
            for (number, step) in steps.iter().enumerate() {
                now.0 += step.gap_ps;
                harness.arrive(now, IN, packet_of(step, number as u32));
            }
            harness.run_until(Time::NEVER);
            (harness.world.left, harness.world.ended)
        };
        prop_assert_eq!(run(), run());
    }
}

#[test]
fn a_paused_port_sends_nothing_until_it_is_resumed() {
    let mut harness = harness(FlowQueueing::Drr(DRR), QueueLimit::Unlimited);
    let step = Step { gap_ps: 0, flow: 0, frame_bytes: 1_000, can_mark: false };
    harness.arrive(Time(1), OUT, control(PauseFrame::pause(0)));
    harness.arrive(Time(2), IN, packet_of(&step, 1));
    harness.run_until(Time(3));
    assert_eq!((harness.world.left.len(), harness.switches[0].queue_bytes(Time(3), OUT, QueueId(0))), (0, 1_000));
    harness.arrive(Time(4), OUT, control(PauseFrame::resume(0)));
    harness.run_until(Time::NEVER);
    assert_eq!((harness.world.left.len(), harness.switches[0].port_bytes(Time(5), OUT)), (1, 0));
}

#[test]
fn a_port_that_two_classes_pause_waits_for_both() {
    let mut harness = harness(FlowQueueing::Drr(DRR), QueueLimit::Unlimited);
    let step = Step { gap_ps: 0, flow: 0, frame_bytes: 1_000, can_mark: false };
    harness.arrive(Time(1), OUT, control(PauseFrame::pause(0)));
    harness.arrive(Time(2), OUT, control(PauseFrame::pause(1)));
    harness.arrive(Time(3), IN, packet_of(&step, 1));
    harness.arrive(Time(4), OUT, control(PauseFrame::resume(0)));
    harness.run_until(Time(5_000_000));
    assert_eq!(harness.world.left.len(), 0, "class 1 is still paused");
    harness.arrive(Time(6_000_000), OUT, control(PauseFrame::resume(1)));
    harness.run_until(Time(20_000_000));
    assert_eq!(harness.world.left.len(), 1);
}
