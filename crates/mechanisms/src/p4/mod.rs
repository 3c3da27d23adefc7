//! P4 programs on the switches of a fabric.
//!
//! Ingress of the program runs in the switch's ingress, on headers that are made of the packet's descriptor, and its
//! egress behind the traffic manager; what it changed goes back into the descriptor then. Between the two the packet's
//! metadata stays here ([`passes`]), and the packet carries the number of the place, as hardware bridges metadata.
//!
//! It is not the language ([`hitless_p4`] is). What a simulated packet has no room for (headers that a program adds, a
//! payload that it changes) ends the packet, and is counted by its name.

mod around;
mod bytes;
mod kind;
mod layers;
mod load;
mod passes;
mod queues;
mod settings;

use std::collections::BTreeMap;
use std::sync::Arc;

use hitless_engine::Stream;
use hitless_p4::action::DROP_PORT;
use hitless_p4::deparse::deparse;
use hitless_p4::observer::Nobody;
use hitless_p4::packet::{Instance, Packet as Frame};
use hitless_p4::pipeline::{Switch, Verdict as Outcome};
use hitless_p4::program::{Instruction, Program};
use hitless_p4::run::Outside;
use hitless_p4::state::Mirror;
use hitless_p4::stf::{GENERATOR_PORT, generated};
use hitless_switch::{Context, DropReason, Event, HookSet, Mechanism, Needs, PortState, Report, Resources, Verdict};
use hitless_wire::packet::MINIMUM_FRAME_BYTES;
use hitless_wire::{Packet, PortId, QueueId, Time};

use around::Around;
use bytes::Written;
use passes::{Bridged, Passes};
use queues::Queues;

pub use settings::{P4Queue, P4Rounds, P4Settings};

/// The role of copies.
const COPY: u8 = 0;
/// The port by which a packet is dropped.
const NOWHERE: PortId = PortId(DROP_PORT as u16);
/// A packet is resubmitted no more often than this.
const RESUBMITS_MAX: u32 = 16;

/// What is counted of one switch.
#[derive(Clone, Copy, Debug, Default, hitless_state::Value)]
struct Counters {
    came: u64,
    left: u64,
    dropped: u64,
    copies: u64,
    moved: u64,
}

/// A program on one switch.
pub struct P4 {
    program: Arc<Program>,
    switch: Switch,
    passes: Passes,
    hosts: u32,
    queues: Queues,
    /// Where packets go that the program recirculates.
    recirculation: Option<PortId>,
    stream: Stream,
    counters: Counters,
    /// What simulated packets had no room for.
    refused: BTreeMap<&'static str, u64>,
    /// It uses functions beyond v1model, so events of the switch are packets to it.
    sees_events: bool,
    after: Vec<u8>,
    room: [Vec<u8>; 2],
}

hitless_state::state!(P4 {
    values: passes, stream, counters, refused;
    parts: switch, queues;
    configured: program, hosts, recirculation, sees_events, after, room
});

fn nanoseconds(time: Time) -> u64 {
    time.as_ps() / 1_000
}

impl P4 {
    fn new(switch: Switch, queues: Queues, recirculation: Option<PortId>, hosts: u32, stream: Stream) -> Self {
        let program = switch.program.clone();
        let sees_events = program.instructions.iter().any(|one| matches!(one, Instruction::Beyond(..)));
        Self {
            program,
            switch,
            passes: Passes::default(),
            hosts,
            queues,
            recirculation,
            stream,
            counters: Counters::default(),
            refused: BTreeMap::new(),
            sees_events,
            after: Vec::new(),
            room: [Vec::new(), Vec::new()],
        }
    }

    /// Runs ingress until the packet has a place to go; a copy that is asked for is sent on its way. None: it ends.
    fn enter(&mut self, frame: Frame, context: &mut Context<'_>, has_packet: bool) -> Option<(PortId, QueueId, Frame)> {
        let mut frame = frame;
        for _ in 0..RESUBMITS_MAX {
            let now_ns = nanoseconds(context.now());
            let (stream, queues) = (&mut self.stream, &self.queues);
            let fabric = &mut Around { context, stream, has_packet, queues };
            let mut outside = Outside { now_ns, fabric, observer: &mut Nobody };
            let outcome = self.switch.ingress(&mut frame, &mut outside);
            if let Some((session, list)) = frame.requests.clone.take() {
                let copy = self.switch.ingress_clone(&frame, list, &mut outside);
                let to = frame.requests.clone_to.take();
                self.send_clone(copy, session, to, context, has_packet);
            }
            match outcome {
                Outcome::Queue(port, queue) => {
                    let class = if has_packet { context.packet().class } else { 0 };
                    let queue = match queue {
                        Some(queue) => self.queues.place(port, queue),
                        None => self.queues.port(port).map(|port| (port, context.ports().class_queue(port, class))),
                    };
                    let Some((port, queue)) = queue else { break };
                    return Some((port, queue, frame));
                }
                Outcome::Group(group) => {
                    self.replicate(&frame, group, context, has_packet);
                    break;
                }
                Outcome::Resubmit(list) => {
                    let again = self.switch.resubmitted(&frame, list);
                    self.switch.give(std::mem::replace(&mut frame, again));
                }
                Outcome::Drop | Outcome::Send | Outcome::Recirculate(_) => break,
            }
        }
        self.switch.give(frame);
        None
    }

    fn send_clone(
        &mut self,
        copy: Frame,
        session: u32,
        to: Option<(u32, u32)>,
        context: &mut Context<'_>,
        has_packet: bool,
    ) {
        match (to, self.switch.state.mirror(session)) {
            (Some((port, queue)), _) => self.send_copy(copy, self.queues.place(port, queue), context, has_packet),
            (None, Some(Mirror::Port(port))) => {
                self.send_copy(copy, self.queues.place(port, 0), context, has_packet);
            }
            (None, Some(Mirror::Group(group))) => {
                self.replicate(&copy, group, context, has_packet);
                self.switch.give(copy);
            }
            (None, None) => {
                self.switch.state.tally.clones_lost += 1;
                self.switch.give(copy);
            }
        }
    }

    fn replicate(&mut self, frame: &Frame, group: u32, context: &mut Context<'_>, has_packet: bool) {
        for number in 0..self.switch.state.replicas(group).len() {
            let replica = self.switch.state.replicas(group)[number];
            let mut copy = self.switch.take();
            copy.copy_from(frame);
            copy.set(self.program.standard.egress_rid, replica.rid.into());
            self.send_copy(copy, self.queues.place(replica.port, 0), context, has_packet);
        }
    }

    /// A copy of the packet at hand, with what the program knows of it, goes to a queue. Without one at hand, it is of
    /// a packet that the switch has made.
    fn send_copy(&mut self, copy: Frame, to: Option<(PortId, QueueId)>, context: &mut Context<'_>, has_packet: bool) {
        let Some(to) = to else {
            self.switch.state.tally.clones_lost += 1;
            return self.switch.give(copy);
        };
        self.counters.copies += 1;
        if !has_packet {
            return self.emit(to, copy, context);
        }
        let bridged = self.passes.put(copy, nanoseconds(context.now()));
        let round = self.queues.round(to, context);
        context.queue(to.0, to.1).mirror(COPY, |packet| {
            packet.round = round;
            packet.remove_shim::<Bridged>();
            // A copy without room for the shim passes egress as a packet that the program does not know.
            let _ = packet.push_shim(bridged);
        });
    }

    /// A packet that the switch has made goes to a queue.
    fn emit(&mut self, to: (PortId, QueueId), frame: Frame, context: &mut Context<'_>) {
        let bridged = self.passes.put(frame, nanoseconds(context.now()));
        let round = self.queues.round(to, context);
        let (frame_bytes, ttl) = (MINIMUM_FRAME_BYTES, Packet::INITIAL_TTL);
        let mut packet = Packet { frame_bytes, ttl, round, ..Packet::default() };
        packet.push_shim(bridged).expect("an empty stack has room");
        context.queue(to.0, to.1).emit(packet, COPY);
    }

    /// The packet goes to a queue, and what the program knows of it waits here. In the queue it has the headers that
    /// the program has given it by then, so that queues are as deep as those of hardware, which deparses before them.
    fn forward(&mut self, to: (PortId, QueueId), frame: Frame, context: &mut Context<'_>) -> Verdict {
        let before = *context.packet();
        deparse(&self.program, &frame, &mut self.after);
        if bytes::carry_headers(&self.after, context.packet()).is_err() {
            // What they are is said when the packet leaves.
            *context.packet() = before;
        }
        self.bridge(to, frame, context)
    }

    /// The packet goes to a queue as it is.
    fn bridge(&mut self, to: (PortId, QueueId), frame: Frame, context: &mut Context<'_>) -> Verdict {
        let bridged = self.passes.put(frame, nanoseconds(context.now()));
        let round = self.queues.round(to, context);
        let packet = context.packet();
        packet.round = round;
        match packet.push_shim(bridged) {
            Ok(()) => Verdict::Forward { port: to.0, queue: to.1 },
            Err(_) => Verdict::Drop(DropReason::Mechanism),
        }
    }

    /// The packet leaves egress for another queue, to come to egress once more.
    fn move_on(&mut self, frame: &Frame, to: (PortId, QueueId), context: &mut Context<'_>) -> Verdict {
        let now_ns = nanoseconds(context.now());
        let fabric = &mut Around { context, stream: &mut self.stream, has_packet: true, queues: &self.queues };
        let moved = self.switch.moved(frame, &mut Outside { now_ns, fabric, observer: &mut Nobody });
        self.counters.moved += 1;
        self.forward(to, moved, context)
    }

    /// The packet goes to the recirculation port, to begin again from there.
    fn recirculate(&mut self, frame: &Frame, list: u32, context: &mut Context<'_>) -> Verdict {
        let Some(port) = self.recirculation else { return Verdict::Drop(DropReason::Mechanism) };
        let again = self.switch.recirculated(frame, list);
        self.forward((port, QueueId(0)), again, context)
    }

    /// What the packet has become goes back into its descriptor.
    fn leave(&mut self, frame: &mut Frame, context: &mut Context<'_>) -> Verdict {
        let bytes_max = std::mem::replace(&mut frame.length_max, usize::MAX);
        deparse(&self.program, frame, &mut self.after);
        let is_cut = self.after.len() + frame.unseen_bytes > bytes_max;
        self.after.truncate(bytes_max);
        let unseen_bytes = if is_cut { 0 } else { frame.unseen_bytes };
        let written = Written { bytes: &self.after, unseen_bytes, is_cut };
        match bytes::carry_back(written, self.hosts, context.packet(), &mut self.room) {
            Ok(()) => {
                self.counters.left += 1;
                if context.is_mine() {
                    context.release();
                }
                Verdict::Continue
            }
            Err(what) => {
                *self.refused.entry(what).or_default() += 1;
                Verdict::Drop(DropReason::Mechanism)
            }
        }
    }

    /// A packet of the packet generator, as `p4/hitless.p4` describes it.
    fn event(&mut self, (kind, port, token): (u8, u16, u32), context: &mut Context<'_>) {
        let bytes = generated(kind, port, token, nanoseconds(context.now()));
        let mut frame = self.switch.take();
        frame.arrive(&self.program, GENERATOR_PORT, &bytes, Instance::Generated);
        if let Some((port, queue, frame)) = self.enter(frame, context, false) {
            self.emit((port, queue), frame, context);
        }
    }

    /// The packet at hand as it comes to ingress: from a line, or once more with what it was recirculated as.
    fn frame_of(&mut self, context: &mut Context<'_>) -> Frame {
        let bridged = context.packet().remove_shim::<Bridged>();
        if let Some((again, _)) = bridged.and_then(|bridged| self.passes.take(bridged)) {
            return again;
        }
        self.counters.came += 1;
        let mut frame = self.switch.take();
        frame.unseen_bytes = bytes::build(context.packet(), &mut frame.bytes);
        frame.begin(&self.program, context.port().0.into(), Instance::Normal);
        frame
    }
}

impl Mechanism for P4 {
    hitless_switch::is_its_own_state!();

    fn needs(&mut self, queue_counts: &[usize]) -> Needs {
        self.queues.note_others(queue_counts);
        let hooks = HookSet::RX.with(HookSet::INGRESS_FROM).with(HookSet::EGRESS).with(HookSet::TM_DROP);
        Needs {
            hooks: self.queues.ports().map(|port| (port, hooks)).collect(),
            queues: self.queues.own(),
            groups: self.queues.groups(),
            ..Needs::default()
        }
    }

    /// A frame that carries no packet has no way for routing to propose.
    fn rx(&mut self, context: &mut Context<'_>) -> Verdict {
        if !layers::carries_nothing(context.packet()) {
            return Verdict::Continue;
        }
        context.packet().egress_port = NOWHERE;
        self.ingress(context)
    }

    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        let frame = self.frame_of(context);
        let Some((port, queue, frame)) = self.enter(frame, context, true) else {
            self.counters.dropped += 1;
            return Verdict::Drop(DropReason::Mechanism);
        };
        if frame.length == frame.whole_bytes() as i64 {
            return self.bridge((port, queue), frame, context);
        }
        self.forward((port, queue), frame, context)
    }

    fn egress(&mut self, context: &mut Context<'_>) -> Verdict {
        let bridged = context.packet().remove_shim::<Bridged>();
        let Some((mut frame, since_ns)) = bridged.and_then(|bridged| self.passes.take(bridged)) else {
            return Verdict::Continue;
        };
        let (port, queue, now_ns) = (context.port(), context.packet().queue, nanoseconds(context.now()));
        let standard = self.program.standard;
        if frame.get(standard.instance_type) == Instance::Recirculated as u64 {
            let again = self.bridge((port, queue), frame, context);
            return if matches!(again, Verdict::Drop(_)) { again } else { Verdict::Continue };
        }
        let depth = context.queue(port, queue).bytes().min(0x7_ffff);
        frame.set(standard.enq_timestamp, since_ns / 1000);
        frame.set(standard.deq_timedelta, (now_ns - since_ns) / 1000);
        frame.set(standard.deq_qdepth, depth);
        frame.set(standard.qid, self.queues.number(port, queue).into());
        let fabric = &mut Around { context, stream: &mut self.stream, has_packet: true, queues: &self.queues };
        let mut outside = Outside { now_ns, fabric, observer: &mut Nobody };
        let outcome = self.switch.egress(&mut frame, port.0.into(), &mut outside);
        if let Some((session, list)) = frame.requests.clone.take() {
            let copy = self.switch.egress_clone(&frame, list);
            let to = frame.requests.clone_to.take();
            self.send_clone(copy, session, to, context, true);
        }
        let elsewhere = frame.requests.queue.take().and_then(|(port, queue)| self.queues.place(port, queue));
        let verdict = match (outcome, elsewhere) {
            (Outcome::Send, Some(to)) => self.move_on(&frame, to, context),
            (Outcome::Send, None) => self.leave(&mut frame, context),
            (Outcome::Recirculate(list), _) => self.recirculate(&frame, list, context),
            _ => {
                self.counters.dropped += 1;
                Verdict::Drop(DropReason::Mechanism)
            }
        };
        self.switch.give(frame);
        verdict
    }

    fn on_tm_drop(&mut self, _: DropReason, context: &mut Context<'_>) -> Verdict {
        let bridged = context.packet().remove_shim::<Bridged>();
        if let Some((frame, _)) = bridged.and_then(|bridged| self.passes.take(bridged)) {
            self.switch.give(frame);
        }
        Verdict::Continue
    }

    fn on(&mut self, event: Event, context: &mut Context<'_>) {
        if event == Event::Start {
            self.queues.note_groups(context);
        }
        let told = match event {
            Event::Start => (0, 0, 0),
            Event::Timer(token) => (1, 0, token),
            Event::PortState { port, state: PortState::Down } => (2, port.0, 0),
            Event::PortState { port, state: PortState::Up } => (3, port.0, 0),
            Event::PortState { port, state: PortState::Rerouted { backup } } => (4, port.0, backup.0.into()),
            Event::Command(number) => (5, 0, number),
            _ => return,
        };
        if self.sees_events {
            self.event(told, context);
        }
    }

    /// Memory and stages are what a compiler for hardware says; registers of a program may have any width.
    fn resources(&self) -> Resources {
        Resources::new("p4").not_counting("what the program takes: a compiler for the hardware says it")
    }

    fn report(&self, _: Time) -> Report {
        let Counters { came, left, dropped, copies, moved } = self.counters;
        let tally = self.switch.state.tally;
        let counters = [
            ("packets in ingress", came),
            ("packets sent", left),
            ("packets dropped", dropped),
            ("copies", copies),
            ("packets moved", moved),
            ("digests", tally.digests),
            ("packets with a parser error", tally.parser_errors),
            ("asserts failed", tally.asserts_failed),
            ("packets that ran too long", tally.ran_too_long),
            ("accesses beyond an array", tally.out_of_bounds),
            ("copies to nowhere", tally.clones_lost),
        ];
        let mut report = Report::of_counters("p4", counters);
        for (what, packets) in &self.refused {
            let text = format!("{packets} packets could not be carried: the program wrote {what}");
            report.violated_invariants.push(text);
        }
        report
    }
}
