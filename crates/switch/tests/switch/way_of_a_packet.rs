//! The way of a packet through a switch: hooks, their order, and what a mechanism may ask for.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use hitless_engine::{PacketHandle, PacketStore};
use hitless_switch::{
    Architecture, BufferPolicy, Context, DropReason, EcnThreshold, Environment, HookSet, Mechanism, PortConfig,
    PortState, QueueConfig, QueueLimit, Report, Resources, Subscriptions, Switch, SwitchEvent, Verdict,
};
use hitless_wire::packet::ETHERNET_OVERHEAD_BYTES;
use hitless_wire::pause::PauseFrame;
use hitless_wire::{BitRate, Duration, Ecn, Packet, PortId, QueueId, Time};
use proptest::prelude::*;

const IN: PortId = PortId(0);
const OUT: PortId = PortId(1);
const LOOP: PortId = PortId(2);

/// Keeps time and events, and writes down what leaves.
#[derive(Default)]
struct World {
    packets: PacketStore,
    events: BTreeMap<(Time, u64), SwitchEvent>,
    count: u64,
    now: Time,
    sent: Vec<(PortId, Time, Packet)>,
    ended: Vec<DropReason>,
    unreachable: bool,
}

impl Environment for World {
    fn packets(&mut self) -> &mut PacketStore {
        &mut self.packets
    }
    fn route(&mut self, _packet: PacketHandle) -> Option<PortId> {
        (!self.unreachable).then_some(OUT)
    }
    fn schedule(&mut self, at: Time, event: SwitchEvent) {
        assert!(at >= self.now);
        self.count += 1;
        self.events.insert((at, self.count), event);
    }
    fn transmit(&mut self, port: PortId, packet: PacketHandle, last_bit_at: Time) {
        self.sent.push((port, last_bit_at, self.packets[packet]));
        self.packets.remove(packet);
    }
    fn created(&mut self, _packet: PacketHandle) {}
    fn ended(&mut self, packet: PacketHandle, reason: DropReason) {
        self.ended.push(reason);
        self.packets.remove(packet);
    }
}

impl World {
    fn arrive<M: Mechanism>(&mut self, switch: &mut Switch<M>, at: Time, packet: Packet) {
        self.run_until(switch, at);
        self.now = at;
        let handle = self.packets.insert(packet);
        switch.receive(at, IN, handle, self);
    }

    fn run_until<M: Mechanism>(&mut self, switch: &mut Switch<M>, limit: Time) {
        while let Some(entry) = self.events.first_entry() {
            if entry.key().0 >= limit {
                break;
            }
            let ((at, _), event) = entry.remove_entry();
            self.now = at;
            switch.handle(at, event, self);
        }
    }
}

fn packet(frame_bytes: u32) -> Packet {
    Packet { frame_bytes, ttl: 3, ecn: Ecn::Capable, ..Packet::default() }
}

fn architecture() -> Architecture {
    Architecture { checked: true, ..Architecture::tofino_like() }
}

const RATE: BitRate = BitRate::from_gbps(10);

fn ports(queues: Vec<QueueConfig>) -> Vec<PortConfig> {
    let port = PortConfig::fifo(RATE, ETHERNET_OVERHEAD_BYTES, queues[0]);
    let out = PortConfig { queues, ..port.clone() };
    vec![port.clone(), out, PortConfig { is_loopback: true, ..port }]
}

fn unlimited() -> QueueConfig {
    QueueConfig::normal(QueueLimit::Unlimited)
}

type Log = Rc<RefCell<Vec<String>>>;

/// A mechanism that writes down every call and does what its plan says.
struct Scribe {
    name: &'static str,
    log: Log,
    hooks: Vec<(PortId, HookSet)>,
    plan: Plan,
}

#[derive(Clone, Copy, PartialEq)]
enum Plan {
    Watch,
    MirrorAtTransmit,
    DropAtIngress,
    GoRoundOnce,
    ReadDepthInIngress,
    TimerAndPause,
    TellTheTime,
    MoveOnce,
    HoldOnce,
    MoveToAFullQueue,
}

/// A queue of [`OUT`] that takes nothing.
const FULL: QueueId = QueueId(1);

impl Scribe {
    fn note(&self, what: &str) {
        self.log.borrow_mut().push(format!("{} {what}", self.name));
    }
}

impl Mechanism for Scribe {
    fn subscriptions(&mut self, _: &[usize]) -> Subscriptions {
        Subscriptions { hooks: self.hooks.clone(), ..Subscriptions::default() }
    }
    fn report(&self, _: Time) -> Report {
        Report::new(self.name)
    }
    fn resources(&self) -> Resources {
        Resources { mirror_sessions: 1, ..Resources::new(self.name) }
    }
    fn start<E: Environment>(&mut self, context: &mut Context<'_, E>) {
        if self.plan == Plan::TimerAndPause {
            context.pause(OUT, QueueId(0));
            context.wake_at(Time(Duration::from_us(50).as_ps()), 7);
        }
    }
    fn link_receive<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        self.note("link_receive");
        if self.plan == Plan::TellTheTime {
            self.note(&format!("at {} ns, from a switch: {}", context.timestamp_ns(), context.faces_switch(IN)));
        }
        Verdict::Continue
    }
    fn ingress<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        self.note("ingress");
        match self.plan {
            Plan::DropAtIngress => Verdict::Drop(DropReason::Mechanism),
            Plan::GoRoundOnce if context.packet().class == 0 => {
                context.packet().class = 1;
                context.adopt(1);
                Verdict::Forward { port: LOOP, queue: QueueId(0) }
            }
            Plan::GoRoundOnce => {
                context.release();
                Verdict::Continue
            }
            Plan::ReadDepthInIngress => {
                context.queue_bytes(OUT, QueueId(0));
                Verdict::Continue
            }
            _ => Verdict::Continue,
        }
    }
    fn egress<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        self.note("egress");
        let queue = QueueId(0);
        let verdict = match self.plan {
            Plan::MoveOnce => Verdict::Forward { port: OUT, queue },
            Plan::HoldOnce => Verdict::Hold { port: OUT, queue, duration: Duration::from_us(50) },
            Plan::MoveToAFullQueue => Verdict::Forward { port: OUT, queue: FULL },
            _ => return Verdict::Continue,
        };
        if context.is_mine() {
            context.release();
            return Verdict::Continue;
        }
        context.adopt(1);
        verdict
    }
    fn refused<E: Environment>(&mut self, reason: DropReason, context: &mut Context<'_, E>) -> Verdict {
        self.note(&format!("refused {reason:?} of role {}", context.packet().role));
        Verdict::Continue
    }
    fn link_transmit<E: Environment>(&mut self, context: &mut Context<'_, E>) -> Verdict {
        self.note("link_transmit");
        if self.plan == Plan::MirrorAtTransmit && !context.is_mine() {
            context.mirror(OUT, QueueId(0), 9, |copy| copy.class = 5);
        }
        Verdict::Continue
    }
    fn timer<E: Environment>(&mut self, token: u32, context: &mut Context<'_, E>) {
        self.note(&format!("timer {token}"));
        context.resume(OUT, QueueId(0));
    }
    fn drained<E: Environment>(&mut self, port: PortId, queue: QueueId, _: &mut Context<'_, E>) {
        self.note(&format!("drained {} {}", port.0, queue.0));
    }
    fn port_state<E: Environment>(&mut self, port: PortId, state: PortState, _: &mut Context<'_, E>) {
        self.note(&format!("port {} {state:?}", port.0));
    }
    fn command<E: Environment>(&mut self, command: u32, _: &mut Context<'_, E>) {
        self.note(&format!("command {command}"));
    }
}

fn all_hooks() -> Vec<(PortId, HookSet)> {
    let leaving = HookSet::EGRESS.with(HookSet::LINK_TRANSMIT).with(HookSet::DRAINED);
    vec![(IN, HookSet::LINK_RECEIVE), (OUT, HookSet::INGRESS_TOWARDS.with(leaving))]
}

fn scribes(plans: &[(&'static str, Plan)]) -> (Switch<Scribe>, World, Log) {
    let log = Log::default();
    let scribe = |&(name, plan): &(&'static str, Plan)| Scribe { name, log: log.clone(), hooks: all_hooks(), plan };
    let mechanisms = plans.iter().map(scribe).collect();
    let full = QueueConfig::normal(QueueLimit::Packets(0));
    let mut switch = Switch::new(architecture(), ports(vec![unlimited(), full]), BufferPolicy::Static, mechanisms);
    let mut world = World::default();
    switch.start(Time::ZERO, &mut world);
    (switch, world, log)
}

fn send_one(plans: &[(&'static str, Plan)]) -> (Switch<Scribe>, World, Vec<String>) {
    let (mut switch, mut world, log) = scribes(plans);
    world.arrive(&mut switch, Time(0), packet(1_000));
    world.run_until(&mut switch, Time::NEVER);
    let lines = log.borrow().clone();
    (switch, world, lines)
}

#[test]
fn hooks_run_in_the_order_of_the_pipeline_and_of_the_list() {
    let (_, world, lines) = send_one(&[("a", Plan::Watch), ("b", Plan::Watch)]);
    let hooks = ["link_receive", "ingress", "egress", "link_transmit", "drained 1 0"];
    let expected: Vec<_> = hooks.iter().flat_map(|hook| [format!("a {hook}"), format!("b {hook}")]).collect();
    assert_eq!(lines, expected);
    assert_eq!(world.sent.len(), 1);
}

#[test]
fn a_copy_visits_only_its_owner_and_leaves_after_the_original() {
    let (_, world, lines) = send_one(&[("a", Plan::MirrorAtTransmit), ("b", Plan::Watch)]);
    let after_original: Vec<_> = lines.iter().skip(10).map(String::as_str).collect();
    assert_eq!(after_original, ["a egress", "a link_transmit", "a drained 1 0", "b drained 1 0"]);
    let classes: Vec<_> = world.sent.iter().map(|(_, _, packet)| packet.class).collect();
    assert_eq!(classes, [0, 5]);
}

#[test]
fn egress_can_move_a_packet_or_have_it_held() {
    let latency = architecture().mirror_latency;
    for (plan, on_the_way) in [(Plan::MoveOnce, latency), (Plan::HoldOnce, Duration::from_us(50))] {
        let (switch, world, lines) = send_one(&[("a", plan), ("b", Plan::Watch)]);
        let first_pass = ["a egress", "a drained 1 0", "b drained 1 0"];
        let second_pass = ["a egress", "a link_transmit", "b link_transmit", "a drained 1 0", "b drained 1 0"];
        let expected: Vec<_> = first_pass.iter().chain(&second_pass).collect();
        assert_eq!(lines[4..].iter().collect::<Vec<_>>(), expected);
        let (_, undisturbed, _) = send_one(&[("a", Plan::Watch)]);
        assert_eq!(world.sent[0].1, undisturbed.sent[0].1 + on_the_way);
        assert_eq!((world.sent.len(), world.ended.len(), switch.packets_created()), (1, 0, 0));
        assert_eq!(switch.packets_queued(), 0);
    }
}

#[test]
fn a_packet_that_is_taken_back_holds_its_port_while_it_is_read() {
    let (mut switch, mut world, _) = scribes(&[("a", Plan::MoveOnce)]);
    world.arrive(&mut switch, Time(0), packet(1_000));
    world.arrive(&mut switch, Time(0), packet(1_000));
    world.run_until(&mut switch, Time::NEVER);
    let line_time = BitRate::from_gbps(10).time_for(1_020);
    let [first, second] = [world.sent[0].1, world.sent[1].1];
    assert_eq!(second, first + line_time, "the second was moved while the first was on its way back");
}

#[test]
fn the_owner_is_told_of_a_packet_that_the_traffic_manager_refused() {
    let (_, world, lines) = send_one(&[("a", Plan::MoveToAFullQueue), ("b", Plan::Watch)]);
    assert_eq!(lines.last().unwrap(), "a refused QueueFull of role 1");
    assert_eq!((world.sent.len(), world.ended), (0, vec![DropReason::QueueFull]));
}

#[test]
fn a_packet_that_goes_round_takes_one_hop_all_the_same() {
    let (_, world, lines) = send_one(&[("a", Plan::GoRoundOnce)]);
    let ingress = lines.iter().filter(|line| line.ends_with("ingress")).count();
    // Once towards the loop, once back from it for its owner, once when it is routed again.
    assert_eq!(ingress, 3, "{lines:?}");
    assert_eq!(world.sent.iter().map(|(_, _, packet)| packet.ttl).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_dropped_packet_goes_no_further_and_is_counted() {
    let (switch, world, lines) = send_one(&[("a", Plan::DropAtIngress), ("b", Plan::Watch)]);
    assert_eq!(lines, ["a link_receive", "b link_receive", "a ingress"]);
    assert_eq!(world.ended, [DropReason::Mechanism]);
    assert_eq!(switch.drops()[DropReason::Mechanism as usize], 1);
    assert_eq!(world.packets.alive(), 0);
}

#[test]
fn the_checked_mode_refuses_a_depth_that_is_not_visible() {
    let (switch, ..) = send_one(&[("a", Plan::ReadDepthInIngress)]);
    assert!(switch.violation().is_some_and(|violation| violation.what == "queue depth"));
}

#[test]
fn timers_commands_and_port_states_reach_the_mechanism_and_a_resumed_queue_goes_on() {
    let (mut switch, mut world, log) = scribes(&[("a", Plan::TimerAndPause)]);
    switch.command(Time(0), 0, 3, &mut world);
    switch.port_state(Time(0), OUT, PortState::Down, &mut world);
    world.arrive(&mut switch, Time(0), packet(1_000));
    world.run_until(&mut switch, Time(Duration::from_us(50).as_ps()));
    assert_eq!(world.sent.len(), 0);
    world.run_until(&mut switch, Time::NEVER);
    assert_eq!(world.sent.len(), 1);
    let lines = log.borrow();
    assert_eq!(lines[..2], ["a command 3", "a port 1 Down"]);
    assert!(lines.contains(&"a timer 7".to_owned()));
}

#[test]
fn the_timestamp_of_the_hardware_wraps() {
    let log = Log::default();
    let plan = Plan::TellTheTime;
    let scribe = Scribe { name: "a", log: log.clone(), hooks: all_hooks(), plan };
    let architecture = Architecture { timestamp_bits: 16, ..architecture() };
    let mut switch = Switch::new(architecture, ports(vec![unlimited()]), BufferPolicy::Static, vec![scribe]);
    let mut world = World::default();
    for at_ns in [65_535, 65_536 + 7] {
        world.arrive(&mut switch, Time(Duration::from_ns(at_ns).as_ps()), packet(100));
    }
    let times: Vec<_> = log.borrow().iter().filter(|line| line.contains("ns,")).cloned().collect();
    assert_eq!(times, ["a at 65535 ns, from a switch: false", "a at 7 ns, from a switch: false"]);
}

#[test]
fn packets_without_a_route_or_a_hop_left_end() {
    for (ttl, unreachable, reason) in [(0, false, DropReason::TimeToLive), (3, true, DropReason::NoRoute)] {
        let mut switch = Switch::<Scribe>::new(architecture(), ports(vec![unlimited()]), BufferPolicy::Static, vec![]);
        let mut world = World { unreachable, ..World::default() };
        world.arrive(&mut switch, Time(0), Packet { ttl, ..packet(100) });
        assert_eq!(world.ended, [reason]);
    }
}

/// A switch that has got `frame` from the partner of the outgoing port at 0, and a packet that is to leave there.
fn paused_by(frame: PauseFrame) -> (Switch<Scribe>, World) {
    let queues = ports(vec![unlimited(), unlimited()]);
    let mut switch = Switch::<Scribe>::new(architecture(), queues, BufferPolicy::Static, vec![]);
    let mut world = World::default();
    receive_pause(&mut switch, &mut world, Time::ZERO, frame);
    world.arrive(&mut switch, Time(0), packet(1_000));
    (switch, world)
}

fn receive_pause(switch: &mut Switch<Scribe>, world: &mut World, now: Time, frame: PauseFrame) {
    let mut packet = packet(64);
    packet.push_shim(frame).expect("the packet carries no other shim");
    let handle = world.packets.insert(packet);
    world.now = now;
    switch.receive(now, OUT, handle, world);
}

fn us(count: u64) -> Time {
    Time(Duration::from_us(count).as_ps())
}

#[test]
fn a_pause_frame_stops_a_managed_queue_until_it_is_resumed() {
    let (mut switch, mut world) = paused_by(PauseFrame::pause(0));
    world.run_until(&mut switch, us(100));
    assert_eq!((world.sent.len(), switch.mac(OUT).pause_frames_received), (0, 1));
    receive_pause(&mut switch, &mut world, us(100), PauseFrame::resume(0));
    world.run_until(&mut switch, us(200));
    assert_eq!(world.sent.len(), 1);
}

#[test]
fn a_pause_whose_resume_frame_is_lost_ends_after_its_quanta() {
    let (mut switch, mut world) = paused_by(PauseFrame { class: 0, quanta: 1_000 });
    world.run_until(&mut switch, Time::NEVER);
    // 512 bit times at the rate of the port, and then the frame.
    let pause = RATE.time_for(64_000);
    let [(_, last_bit_at, _)] = world.sent[..] else { panic!("{} frames left", world.sent.len()) };
    assert!(last_bit_at > Time::ZERO + pause && last_bit_at < Time::ZERO + pause + Duration::from_us(2));
}

#[test]
fn a_further_pause_frame_prolongs_the_pause() {
    let (mut switch, mut world) = paused_by(PauseFrame { class: 0, quanta: 1_000 });
    let pause = RATE.time_for(64_000);
    let half = Time::ZERO + Duration::from_ps(pause.as_ps() / 2);
    world.run_until(&mut switch, half);
    receive_pause(&mut switch, &mut world, half, PauseFrame { class: 0, quanta: 1_000 });
    world.run_until(&mut switch, Time::NEVER);
    assert!(world.sent[0].1 > half + pause, "{:?}", world.sent[0].1);
}

/// What left: when, and whether it was marked.
fn departures(queues: Vec<QueueConfig>, arrivals: &[(u64, u32)]) -> (Vec<(Time, Ecn)>, usize) {
    let mut switch = Switch::<Scribe>::new(architecture(), ports(queues), BufferPolicy::Static, vec![]);
    let mut world = World::default();
    let mut at = Time::ZERO;
    for &(gap_ns, frame_bytes) in arrivals {
        at += Duration::from_ns(gap_ns);
        world.arrive(&mut switch, at, packet(frame_bytes));
    }
    world.run_until(&mut switch, Time::NEVER);
    assert_eq!(switch.packets_queued(), 0);
    (world.sent.iter().map(|(_, at, packet)| (*at, packet.ecn)).collect(), world.ended.len())
}

proptest! {
    /// The lane that knows departures in advance and the one that decides when the port falls free are one FIFO queue.
    #[test]
    fn both_lanes_send_the_same_packets_at_the_same_times(
        arrivals in prop::collection::vec((1u64..3_000, 64u32..1_519), 1..200),
        limit in prop_oneof![(1u32..30).prop_map(QueueLimit::Packets), (2_000u64..30_000).prop_map(QueueLimit::Bytes)],
        threshold in prop_oneof![(0u32..20).prop_map(EcnThreshold::Packets), (0u64..20_000).prop_map(EcnThreshold::Bytes)],
    ) {
        let queue = QueueConfig::normal(limit).with_ecn(threshold);
        prop_assert_eq!(departures(vec![queue], &arrivals), departures(vec![queue, unlimited()], &arrivals));
    }
}
