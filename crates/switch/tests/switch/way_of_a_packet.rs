//! The path of a packet through a switch: hooks, their order, and the operations of a mechanism.

use std::sync::{Arc, Mutex};

use hitless_core::wire::mac_control::PauseFrame;
use hitless_core::wire::packet::ETHERNET_OVERHEAD_BYTES;
use hitless_core::wire::{BitRate, Duration, Ecn, Packet, PortId, QueueId, Time};
use hitless_switch::testing::{Harness, Left};
use hitless_switch::{
    Architecture, BufferPolicy, Context, DropReason, EcnThreshold, Event, HookSet, MarkingPoint, Mechanism, Needs,
    PortConfig, PortState, QueueConfig, QueueLimit, Report, Resources, Switch, Verdict,
};
use proptest::prelude::*;

const IN: PortId = PortId(0);
const OUT: PortId = PortId(1);
const LOOP: PortId = PortId(2);

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

type Log = Arc<Mutex<Vec<String>>>;

/// A mechanism that records every call and follows its plan.
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

/// A queue of [`OUT`] that admits no packet.
const FULL: QueueId = QueueId(1);

impl Scribe {
    fn note(&self, what: &str) {
        self.log.lock().expect("no other thread").push(format!("{} {what}", self.name));
    }
}

impl Mechanism for Scribe {
    fn needs(&mut self, _: &[usize]) -> Needs {
        Needs { hooks: self.hooks.clone(), ..Needs::default() }
    }
    fn report(&self, _: Time) -> Report {
        Report::new(self.name)
    }
    fn resources(&self) -> Resources {
        Resources { mirror_sessions: 1, ..Resources::new(self.name) }
    }
    fn rx(&mut self, context: &mut Context<'_>) -> Verdict {
        self.note("rx");
        if self.plan == Plan::TellTheTime {
            self.note(&format!(
                "at {} ns, from a switch: {}",
                context.timestamp_ns(),
                context.ports().faces_switch(IN)
            ));
        }
        Verdict::Continue
    }
    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
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
                context.queue(OUT, QueueId(0)).bytes();
                Verdict::Continue
            }
            _ => Verdict::Continue,
        }
    }
    fn egress(&mut self, context: &mut Context<'_>) -> Verdict {
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
    fn on_tm_drop(&mut self, reason: DropReason, context: &mut Context<'_>) -> Verdict {
        self.note(&format!("dropped {reason:?} of role {}", context.packet().role));
        Verdict::Continue
    }
    fn tx(&mut self, context: &mut Context<'_>) -> Verdict {
        self.note("tx");
        if self.plan == Plan::MirrorAtTransmit && !context.is_mine() {
            context.queue(OUT, QueueId(0)).mirror(9, |copy| copy.class = 5);
        }
        Verdict::Continue
    }
    fn on(&mut self, event: Event, context: &mut Context<'_>) {
        match event {
            Event::Start if self.plan == Plan::TimerAndPause => {
                context.queue(OUT, QueueId(0)).pause();
                context.wake_at(Time(Duration::from_us(50).as_ps()), 7);
            }
            Event::Timer(token) => {
                self.note(&format!("timer {token}"));
                context.queue(OUT, QueueId(0)).resume();
            }
            Event::QueueEmpty { port, queue } => self.note(&format!("queue empty {} {}", port.0, queue.0)),
            Event::PortState { port, state } => self.note(&format!("port {} {state:?}", port.0)),
            Event::Command(command) => self.note(&format!("command {command}")),
            Event::Start | Event::FcsError { .. } | Event::OrderedSet { .. } => {}
        }
    }
}

fn all_hooks() -> Vec<(PortId, HookSet)> {
    let leaving = HookSet::EGRESS.with(HookSet::TX).with(HookSet::QUEUE_EMPTY);
    vec![(IN, HookSet::RX), (OUT, HookSet::INGRESS_TOWARDS.with(leaving))]
}

fn scribes(plans: &[(&'static str, Plan)]) -> (Harness, Log) {
    let log = Log::default();
    let scribe = |&(name, plan): &(&'static str, Plan)| scribe(name, plan, &log);
    let mechanisms = plans.iter().map(scribe).collect();
    let full = QueueConfig::normal(QueueLimit::Packets(0));
    let switch = Switch::new(architecture(), ports(vec![unlimited(), full]), BufferPolicy::Static, mechanisms);
    (Harness::of_one(switch, |_| OUT), log)
}

fn scribe(name: &'static str, plan: Plan, log: &Log) -> Box<dyn Mechanism> {
    Box::new(Scribe { name, log: log.clone(), hooks: all_hooks(), plan })
}

/// Creates a switch without mechanisms, with these queues at its egress port.
fn plain(queues: Vec<QueueConfig>) -> Harness {
    Harness::of_one(Switch::new(architecture(), ports(queues), BufferPolicy::Static, Vec::new()), |_| OUT)
}

fn send_one(plans: &[(&'static str, Plan)]) -> (Harness, Vec<String>) {
    let (mut harness, log) = scribes(plans);
    harness.arrive(Time(0), IN, packet(1_000));
    harness.run_until(Time::NEVER);
    let lines = log.lock().expect("no other thread").clone();
    (harness, lines)
}

fn reasons(harness: &Harness) -> Vec<DropReason> {
    harness.world.ended.iter().map(|ended| ended.reason).collect()
}

#[test]
fn hooks_run_in_the_order_of_the_pipeline_and_of_the_list() {
    let (harness, lines) = send_one(&[("a", Plan::Watch), ("b", Plan::Watch)]);
    let hooks = ["rx", "ingress", "egress", "tx", "queue empty 1 0"];
    let expected: Vec<_> = hooks.iter().flat_map(|hook| [format!("a {hook}"), format!("b {hook}")]).collect();
    assert_eq!(lines, expected);
    assert_eq!(harness.world.left.len(), 1);
}

#[test]
fn a_copy_visits_only_its_owner_and_leaves_after_the_original() {
    let (harness, lines) = send_one(&[("a", Plan::MirrorAtTransmit), ("b", Plan::Watch)]);
    let after_original: Vec<_> = lines.iter().skip(10).map(String::as_str).collect();
    assert_eq!(after_original, ["a egress", "a tx", "a queue empty 1 0", "b queue empty 1 0"]);
    let classes: Vec<_> = harness.world.left.iter().map(|left| left.packet.class).collect();
    assert_eq!(classes, [0, 5]);
}

#[test]
fn egress_can_move_a_packet_or_have_it_held() {
    let latency = architecture().mirror_latency;
    for (plan, on_the_way) in [(Plan::MoveOnce, latency), (Plan::HoldOnce, Duration::from_us(50))] {
        let (harness, lines) = send_one(&[("a", plan), ("b", Plan::Watch)]);
        let first_pass = ["a egress", "a queue empty 1 0", "b queue empty 1 0"];
        let second_pass = ["a egress", "a tx", "b tx", "a queue empty 1 0", "b queue empty 1 0"];
        let expected: Vec<_> = first_pass.iter().chain(&second_pass).collect();
        assert_eq!(lines[4..].iter().collect::<Vec<_>>(), expected);
        let (undisturbed, _) = send_one(&[("a", Plan::Watch)]);
        assert_eq!(harness.world.left[0].at, undisturbed.world.left[0].at + on_the_way);
        assert_eq!(
            (harness.world.left.len(), harness.world.ended.len(), harness.switches[0].packets_created()),
            (1, 0, 0)
        );
        assert_eq!(harness.switches[0].packets_queued(), 0);
    }
}

#[test]
fn a_packet_that_is_taken_back_holds_its_port_while_it_is_read() {
    let (mut harness, _) = scribes(&[("a", Plan::MoveOnce)]);
    harness.arrive(Time(0), IN, packet(1_000));
    harness.arrive(Time(0), IN, packet(1_000));
    harness.run_until(Time::NEVER);
    let line_time = BitRate::from_gbps(10).time_for(1_020);
    let [first, second] = [harness.world.left[0].at, harness.world.left[1].at];
    assert_eq!(second, first + line_time, "the second was moved while the first was on its way back");
}

#[test]
fn the_owner_is_told_of_a_packet_that_the_traffic_manager_refused() {
    let (harness, lines) = send_one(&[("a", Plan::MoveToAFullQueue), ("b", Plan::Watch)]);
    assert_eq!(lines.last().unwrap(), "a dropped QueueFull of role 1");
    assert_eq!((harness.world.left.len(), reasons(&harness)), (0, vec![DropReason::QueueFull]));
}

#[test]
fn a_packet_that_goes_round_takes_one_hop_all_the_same() {
    let (harness, lines) = send_one(&[("a", Plan::GoRoundOnce)]);
    let ingress = lines.iter().filter(|line| line.ends_with("ingress")).count();
    // Once on the way to the loop, once for its owner on the way back, and once when it is routed again.
    assert_eq!(ingress, 3, "{lines:?}");
    assert_eq!(harness.world.left.iter().map(|left| left.packet.ttl).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_dropped_packet_goes_no_further_and_is_counted() {
    let (harness, lines) = send_one(&[("a", Plan::DropAtIngress), ("b", Plan::Watch)]);
    assert_eq!(lines, ["a rx", "b rx", "a ingress"]);
    assert_eq!(reasons(&harness), [DropReason::Mechanism]);
    assert_eq!(harness.switches[0].drops()[DropReason::Mechanism as usize], 1);
    assert_eq!(harness.world.packets.alive(), 0);
}

#[test]
fn the_checked_mode_refuses_a_depth_that_is_not_visible() {
    let (harness, _) = send_one(&[("a", Plan::ReadDepthInIngress)]);
    assert!(harness.switches[0].violation().is_some_and(|violation| violation.what == "queue depth"));
}

#[test]
fn timers_commands_and_port_states_reach_the_mechanism_and_a_resumed_queue_goes_on() {
    let (mut harness, log) = scribes(&[("a", Plan::TimerAndPause)]);
    harness.command(Time(0), 0, 3);
    harness.tell_state(Time(0), 0, OUT, PortState::Down);
    harness.arrive(Time(1), IN, packet(1_000));
    harness.run_until(Time(Duration::from_us(50).as_ps()));
    assert_eq!(harness.world.left.len(), 0);
    harness.run_until(Time::NEVER);
    assert_eq!(harness.world.left.len(), 1);
    let lines = log.lock().expect("no other thread");
    assert_eq!(lines[..2], ["a command 3", "a port 1 Down"]);
    assert!(lines.contains(&"a timer 7".to_owned()));
}

#[test]
fn the_timestamp_of_the_hardware_wraps() {
    let log = Log::default();
    let architecture = Architecture { timestamp_bits: 16, ..architecture() };
    let mechanisms = vec![scribe("a", Plan::TellTheTime, &log)];
    let switch = Switch::new(architecture, ports(vec![unlimited()]), BufferPolicy::Static, mechanisms);
    let mut harness = Harness::of_one(switch, |_| OUT);
    for at_ns in [65_535, 65_536 + 7] {
        harness.arrive(Time(Duration::from_ns(at_ns).as_ps()), IN, packet(100));
    }
    let times: Vec<_> =
        log.lock().expect("no other thread").iter().filter(|line| line.contains("ns,")).cloned().collect();
    assert_eq!(times, ["a at 65535 ns, from a switch: false", "a at 7 ns, from a switch: false"]);
}

#[test]
fn packets_without_a_route_or_a_hop_left_end() {
    let cases =
        [(0, false, DropReason::TimeToLive), (1, false, DropReason::TimeToLive), (3, true, DropReason::NoRoute)];
    for (ttl, unreachable, reason) in cases {
        let switch = Switch::new(architecture(), ports(vec![unlimited()]), BufferPolicy::Static, Vec::new());
        let mut harness = Harness::new(vec![switch], move |_, _| (!unreachable).then_some(OUT));
        harness.arrive(Time(0), IN, Packet { ttl, ..packet(100) });
        assert_eq!(reasons(&harness), [reason]);
    }
}

/// Creates a switch that receives `frame` from the egress port's link partner at time 0, and a packet for that port.
fn paused_by(frame: PauseFrame) -> Harness {
    let mut harness = plain(vec![unlimited(), unlimited()]);
    receive_pause(&mut harness, Time::ZERO, frame);
    harness.arrive(Time(0), IN, packet(1_000));
    harness
}

fn receive_pause(harness: &mut Harness, now: Time, frame: PauseFrame) {
    let mut packet = packet(64);
    packet.push_shim(frame).expect("the packet carries no other shim");
    harness.arrive(now, OUT, packet);
}

fn us(count: u64) -> Time {
    Time(Duration::from_us(count).as_ps())
}

#[test]
fn a_pause_frame_stops_a_managed_queue_until_it_is_resumed() {
    let mut harness = paused_by(PauseFrame::pause(0));
    harness.run_until(us(100));
    assert_eq!((harness.world.left.len(), harness.switches[0].mac(OUT).pause_frames_received), (0, 1));
    receive_pause(&mut harness, us(100), PauseFrame::resume(0));
    harness.run_until(us(200));
    assert_eq!(harness.world.left.len(), 1);
}

#[test]
fn a_pause_whose_resume_frame_is_lost_ends_after_its_quanta() {
    let mut harness = paused_by(PauseFrame { class: 0, quanta: 1_000 });
    harness.run_until(Time::NEVER);
    // The pause, in units of 512 bit times at the port's rate, and then the frame.
    let pause = RATE.time_for(64_000);
    let [Left { at: last_bit_at, .. }] = harness.world.left[..] else {
        panic!("{} frames left", harness.world.left.len())
    };
    assert!(last_bit_at > Time::ZERO + pause && last_bit_at < Time::ZERO + pause + Duration::from_us(2));
}

#[test]
fn a_further_pause_frame_prolongs_the_pause() {
    let mut harness = paused_by(PauseFrame { class: 0, quanta: 1_000 });
    let pause = RATE.time_for(64_000);
    let half = Time::ZERO + Duration::from_ps(pause.as_ps() / 2);
    harness.run_until(half);
    receive_pause(&mut harness, half, PauseFrame { class: 0, quanta: 1_000 });
    harness.run_until(Time::NEVER);
    assert!(harness.world.left[0].at > half + pause, "{:?}", harness.world.left[0].at);
}

/// IEEE 802.3, annex 31B: the newest pause time replaces the previous one, even if it is shorter. The event of the
/// first frame does not end a later pause.
#[test]
fn a_shorter_pause_frame_replaces_a_longer_one() {
    let mut harness = paused_by(PauseFrame { class: 0, quanta: 60_000 });
    harness.run_until(us(1));
    receive_pause(&mut harness, us(1), PauseFrame { class: 0, quanta: 100 });
    let resumes_at = us(1) + RATE.time_for(6_400);
    harness.run_until(resumes_at + Duration::from_us(2));
    let [Left { at: last_bit_at, .. }] = harness.world.left[..] else {
        panic!("{} frames left", harness.world.left.len())
    };
    assert!(last_bit_at > resumes_at, "{last_bit_at}");
    let first_ends_at = Time::ZERO + RATE.time_for(64 * 60_000);
    let again_at = Time(first_ends_at.as_ps() - 1_000);
    harness.run_until(again_at);
    receive_pause(&mut harness, again_at, PauseFrame { class: 0, quanta: 100 });
    harness.arrive(again_at, IN, packet(1_000));
    harness.run_until(Time::NEVER);
    assert!(harness.world.left[1].at > again_at + RATE.time_for(6_400), "{}", harness.world.left[1].at);
}

/// Returns the departure times with the marks, and the number of lost packets.
fn departures(queues: Vec<QueueConfig>, arrivals: &[(u64, u32)]) -> (Vec<(Time, Ecn)>, usize) {
    let mut harness = plain(queues);
    let mut at = Time::ZERO;
    for &(gap_ns, frame_bytes) in arrivals {
        at += Duration::from_ns(gap_ns);
        harness.arrive(at, IN, packet(frame_bytes));
    }
    harness.run_until(Time::NEVER);
    assert_eq!(harness.switches[0].packets_queued(), 0);
    (harness.world.left.iter().map(|left| (left.at, left.packet.ecn)).collect(), harness.world.ended.len())
}

/// Returns which packets are marked, in order of departure; they arrive 1 ns apart.
fn marked(queues: Vec<QueueConfig>, packets: usize) -> Vec<bool> {
    let (left, lost) = departures(queues, &vec![(1, 1_000); packets]);
    assert_eq!((left.len(), lost), (packets, 0));
    left.into_iter().map(|(_, ecn)| ecn == Ecn::CongestionExperienced).collect()
}

#[test]
fn a_mark_at_dequeue_is_for_what_stays_behind() {
    let thresholds = [(EcnThreshold::Packets(2), 2), (EcnThreshold::Bytes(2_000), 2), (EcnThreshold::Off, 9)];
    for (threshold, least) in thresholds {
        let at = |point| QueueConfig { marks_at: point, ..unlimited().with_ecn(threshold) };
        for others in [vec![], vec![unlimited()]] {
            let queues = |point| [vec![at(point)], others.clone()].concat();
            // The first leaves at once. The second leaves four of the six behind.
            let behind = [0, 4, 3, 2, 1, 0].map(|behind| behind >= least);
            assert_eq!(marked(queues(MarkingPoint::Dequeue), 6), behind, "{threshold:?}");
            let before = [0, 1, 2, 3, 4, 5].map(|before| before >= least);
            assert_eq!(marked(queues(MarkingPoint::Enqueue), 6), before, "{threshold:?}");
        }
    }
}

proptest! {
    /// The marking point does not change any time.
    #[test]
    fn marking_at_dequeue_changes_no_time(
        arrivals in prop::collection::vec((1u64..3_000, 64u32..1_519), 1..100),
        limit in (1u32..30).prop_map(QueueLimit::Packets),
        threshold in (0u32..20).prop_map(EcnThreshold::Packets),
    ) {
        let queue = QueueConfig::normal(limit).with_ecn(threshold);
        let times = |queue| {
            let (left, lost) = departures(vec![queue], &arrivals);
            (left.into_iter().map(|(at, _)| at).collect::<Vec<_>>(), lost)
        };
        prop_assert_eq!(times(queue.marking_at(MarkingPoint::Dequeue)), times(queue));
    }
}

proptest! {
    /// A FIFO scheduler, with departures known in advance, and a queued scheduler, which decides when the port becomes
    /// free, behave alike for a single queue.
    #[test]
    fn both_schedulers_send_the_same_packets_at_the_same_times(
        arrivals in prop::collection::vec((1u64..3_000, 64u32..1_519), 1..200),
        limit in prop_oneof![(1u32..30).prop_map(QueueLimit::Packets), (2_000u64..30_000).prop_map(QueueLimit::Bytes)],
        threshold in prop_oneof![(0u32..20).prop_map(EcnThreshold::Packets), (0u64..20_000).prop_map(EcnThreshold::Bytes)],
    ) {
        let queue = QueueConfig::normal(limit).with_ecn(threshold);
        prop_assert_eq!(departures(vec![queue], &arrivals), departures(vec![queue, unlimited()], &arrivals));
    }
}
