//! All disciplines in a switch: what comes in leaves or ends for a reason, and the buffer returns to zero.

use std::collections::BTreeMap;

use hitless_engine::{PacketHandle, PacketStore};
use hitless_switch::mechanism::NoMechanism;
use hitless_switch::queueing::flow::{CodelConfig, FqCodelConfig, IdealFqConfig};
use hitless_switch::{
    Architecture, BufferPolicy, DropReason, Environment, FlowQueueing, PortConfig, QueueConfig, QueueLimit, Switch,
    SwitchEvent,
};
use hitless_wire::pause::PauseFrame;
use hitless_wire::{BitRate, Duration, Ecn, FlowId, Packet, PortId, QueueId, Time};
use proptest::prelude::*;

use super::lane::{DRR, IDEAL, SFQ};

const IN: PortId = PortId(0);
const OUT: PortId = PortId(1);

/// Keeps time and events, and counts what leaves.
#[derive(Default)]
struct World {
    packets: PacketStore,
    events: BTreeMap<(Time, u64), SwitchEvent>,
    count: u64,
    sent: Vec<(Time, Packet)>,
    ended: Vec<DropReason>,
}

impl Environment for World {
    fn packets(&mut self) -> &mut PacketStore {
        &mut self.packets
    }
    fn route(&mut self, _packet: PacketHandle) -> Option<PortId> {
        Some(OUT)
    }
    fn schedule(&mut self, at: Time, event: SwitchEvent) {
        self.count += 1;
        self.events.insert((at, self.count), event);
    }
    fn transmit(&mut self, _port: PortId, packet: PacketHandle, last_bit_at: Time) {
        self.sent.push((last_bit_at, self.packets[packet]));
        self.packets.remove(packet);
    }
    fn created(&mut self, _packet: PacketHandle) {}
    fn ended(&mut self, packet: PacketHandle, reason: DropReason) {
        self.ended.push(reason);
        self.packets.remove(packet);
    }
}

impl World {
    fn arrive(&mut self, switch: &mut Switch<NoMechanism>, at: Time, port: PortId, packet: Packet) {
        self.run_until(switch, at);
        let handle = self.packets.insert(packet);
        switch.receive(at, port, handle, self);
    }

    fn run_until(&mut self, switch: &mut Switch<NoMechanism>, limit: Time) {
        while let Some(entry) = self.events.first_entry().filter(|entry| entry.key().0 < limit) {
            let ((at, _), event) = entry.remove_entry();
            switch.handle(at, event, self);
        }
    }
}

fn switch(config: FlowQueueing, limit: QueueLimit) -> Switch<NoMechanism> {
    let queue = QueueConfig::normal(limit);
    let port = PortConfig::fifo(BitRate::from_gbps(10), 20, queue);
    let out = PortConfig { flow_queueing: Some(config), ..port.clone() };
    Switch::new(Architecture::ideal(), vec![port, out], BufferPolicy::Static, Vec::new())
}

fn disciplines() -> impl Strategy<Value = FlowQueueing> {
    let codel = CodelConfig {
        target: Duration::from_us(20),
        interval: Duration::from_us(100),
        small_queue_bytes: 1_518,
        marks: true,
    };
    let fq_codel = FqCodelConfig { flows: 16, quantum_bytes: 1_518, limit_packets: 30, drop_batch: 8, codel, salt: 1 };
    prop_oneof![
        Just(FlowQueueing::IdealFq(IDEAL)),
        Just(FlowQueueing::IdealFq(IdealFqConfig { charge_drops: true, ..IDEAL })),
        Just(FlowQueueing::Drr(DRR)),
        Just(FlowQueueing::Sfq(SFQ)),
        Just(FlowQueueing::FqCodel(fq_codel)),
    ]
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_comes_in_leaves_or_ends_for_a_reason(
        config in disciplines(),
        limit in limits(),
        steps in steps(),
        pause_at in prop::option::of(0usize..300),
    ) {
        let (mut world, mut switch) = (World::default(), switch(config, limit));
        let mut now = Time::ZERO;
        for (number, step) in steps.iter().enumerate() {
            now.0 += step.gap_ps;
            for (at, frame) in [(pause_at, PauseFrame::pause(0)), (pause_at.map(|at| at + 20), PauseFrame::resume(0))] {
                if at == Some(number) {
                    let mut packet = packet_of(step, 0);
                    packet.push_shim(frame).map_err(|_| TestCaseError::fail("no room for a shim"))?;
                    world.arrive(&mut switch, now, OUT, packet);
                }
            }
            world.arrive(&mut switch, now, IN, packet_of(step, number as u32));
            let absorbed = world.ended.iter().filter(|&&reason| reason == DropReason::ControlAbsorbed).count();
            let enqueued = world.events.values().filter(|event| matches!(event, SwitchEvent::Enqueue { .. })).count();
            let accounted = world.sent.len() + world.ended.len() - absorbed + switch.packets_queued() + enqueued;
            prop_assert_eq!(accounted, number + 1);
        }
        if pause_at.is_some() {
            let mut packet = packet_of(&steps[0], 0);
            packet.push_shim(PauseFrame::resume(0)).map_err(|_| TestCaseError::fail("no room for a shim"))?;
            world.arrive(&mut switch, now, OUT, packet);
        }
        world.run_until(&mut switch, Time::NEVER);
        prop_assert_eq!((switch.packets_queued(), world.packets.alive(), switch.buffer_bytes()), (0, 0, 0));
        let drops: u64 = switch.drops().iter().sum();
        prop_assert_eq!(drops as usize, world.ended.len());
        // One after the other, at the line's rate, and never two at once.
        for pair in world.sent.windows(2) {
            let takes = BitRate::from_gbps(10).time_for(u64::from(pair[1].1.frame_bytes + 20));
            prop_assert!(pair[1].0 >= pair[0].0 + takes);
        }
    }

    #[test]
    fn a_run_repeats_exactly(config in disciplines(), limit in limits(), steps in steps()) {
        let run = || {
            let (mut world, mut switch) = (World::default(), switch(config, limit));
            let mut now = Time::ZERO;
            for (number, step) in steps.iter().enumerate() {
                now.0 += step.gap_ps;
                world.arrive(&mut switch, now, IN, packet_of(step, number as u32));
            }
            world.run_until(&mut switch, Time::NEVER);
            (world.sent, world.ended)
        };
        prop_assert_eq!(run(), run());
    }
}

#[test]
fn a_paused_port_sends_nothing_until_it_is_resumed() {
    let (mut world, mut switch) = (World::default(), switch(FlowQueueing::Drr(DRR), QueueLimit::Unlimited));
    let step = Step { gap_ps: 0, flow: 0, frame_bytes: 1_000, can_mark: false };
    let mut pause = packet_of(&step, 0);
    pause.push_shim(PauseFrame::pause(0)).expect("a packet has room for one shim");
    world.arrive(&mut switch, Time(1), OUT, pause);
    world.arrive(&mut switch, Time(2), IN, packet_of(&step, 1));
    world.run_until(&mut switch, Time(3));
    assert_eq!((world.sent.len(), switch.queue_bytes(Time(3), OUT, QueueId(0))), (0, 1_000));
    let mut resume = packet_of(&step, 0);
    resume.push_shim(PauseFrame::resume(0)).expect("a packet has room for one shim");
    world.arrive(&mut switch, Time(4), OUT, resume);
    world.run_until(&mut switch, Time::NEVER);
    assert_eq!((world.sent.len(), switch.port_bytes(Time(5), OUT)), (1, 0));
}

#[test]
fn a_port_that_two_classes_pause_waits_for_both() {
    let (mut world, mut switch) = (World::default(), switch(FlowQueueing::Drr(DRR), QueueLimit::Unlimited));
    let step = Step { gap_ps: 0, flow: 0, frame_bytes: 1_000, can_mark: false };
    let control = |frame| {
        let mut packet = packet_of(&step, 0);
        packet.push_shim(frame).expect("a packet has room for one shim");
        packet
    };
    world.arrive(&mut switch, Time(1), OUT, control(PauseFrame::pause(0)));
    world.arrive(&mut switch, Time(2), OUT, control(PauseFrame::pause(1)));
    world.arrive(&mut switch, Time(3), IN, packet_of(&step, 1));
    world.arrive(&mut switch, Time(4), OUT, control(PauseFrame::resume(0)));
    world.run_until(&mut switch, Time(5_000_000));
    assert_eq!(world.sent.len(), 0, "class 1 is still paused");
    world.arrive(&mut switch, Time(6_000_000), OUT, control(PauseFrame::resume(1)));
    world.run_until(&mut switch, Time(20_000_000));
    assert_eq!(world.sent.len(), 1);
}
