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
mod load;
mod passes;
mod settings;

use std::collections::BTreeMap;
use std::sync::Arc;

use hitless_engine::Stream;
use hitless_p4::deparse::deparse;
use hitless_p4::observer::Nobody;
use hitless_p4::packet::{Instance, Packet as Frame};
use hitless_p4::pipeline::{Switch, Verdict as Outcome, keep};
use hitless_p4::program::{Instruction, Program};
use hitless_p4::run::Run;
use hitless_p4::state::Mirror;
use hitless_p4::stf::{GENERATOR_PORT, generated};
use hitless_switch::{Context, DropReason, Event, HookSet, Mechanism, Needs, PortState, Report, Resources, Verdict};
use hitless_wire::{PortId, QueueId, Time};

use around::{Around, place};
use passes::{Bridged, Passes};

pub use settings::P4Settings;

/// The role of copies.
const COPY: u8 = 0;
/// A packet is resubmitted no more often than this.
const RESUBMITS_MAX: u32 = 16;
/// The list of fields that a packet keeps which egress moves to another queue.
const MOVED_LIST: u32 = 7;

/// What is counted of one switch.
#[derive(Clone, Copy, Debug, Default)]
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
    ports: usize,
    hosts: u32,
    queues: Vec<usize>,
    stream: Stream,
    counters: Counters,
    /// What simulated packets had no room for.
    refused: BTreeMap<&'static str, u64>,
    /// It uses functions beyond v1model, so events of the switch are packets to it.
    sees_events: bool,
    before: Vec<u8>,
    after: Vec<u8>,
}

fn nanoseconds(time: Time) -> u64 {
    time.as_ps() / 1_000
}

impl P4 {
    fn new(switch: Switch, ports: usize, hosts: u32, stream: Stream) -> Self {
        let program = switch.program.clone();
        let sees_events = program.instructions.iter().any(|one| matches!(one, Instruction::Beyond(..)));
        Self {
            program,
            switch,
            passes: Passes::default(),
            ports,
            hosts,
            queues: Vec::new(),
            stream,
            counters: Counters::default(),
            refused: BTreeMap::new(),
            sees_events,
            before: Vec::new(),
            after: Vec::new(),
        }
    }

    /// Runs ingress until the packet has a place to go; a copy that is asked for is sent on its way. None: it ends.
    fn enter(&mut self, frame: Frame, context: &mut Context<'_>, has_packet: bool) -> Option<(PortId, QueueId, Frame)> {
        let mut frame = frame;
        for _ in 0..RESUBMITS_MAX {
            let now_ns = nanoseconds(context.now());
            let (stream, queues) = (&mut self.stream, &self.queues[..]);
            let mut around = Around { context, stream, has_packet, queues };
            let outcome = self.switch.ingress(&mut frame, now_ns, &mut around, &mut Nobody);
            if let Some((session, list)) = frame.requests.clone.take() {
                let program = self.program.clone();
                let copy = self.switch.ingress_clone(&program, &frame, list, now_ns, &mut around, &mut Nobody);
                let to = frame.requests.clone_to.take();
                self.send_clone(copy, session, to, context, has_packet);
            }
            match outcome {
                Outcome::Queue(port, queue) => {
                    let class = if has_packet { context.packet().class } else { 0 };
                    let queue = match queue {
                        Some(queue) => place(&self.queues, port, queue),
                        None => place(&self.queues, port, 0)
                            .map(|(port, _)| (port, context.ports().class_queue(port, class))),
                    };
                    let Some((port, queue)) = queue else { break };
                    return Some((port, queue, frame));
                }
                Outcome::Group(group) => {
                    self.replicate(&frame, group, context, has_packet);
                    break;
                }
                Outcome::Resubmit(list) => {
                    let program = self.program.clone();
                    let again = self.switch.begin_again(&program, &frame, list, Instance::Resubmitted);
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
            (Some((port, queue)), _) => self.send_copy(copy, place(&self.queues, port, queue), context, has_packet),
            (None, Some(Mirror::Port(port))) => {
                self.send_copy(copy, place(&self.queues, port, 0), context, has_packet);
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
            self.send_copy(copy, place(&self.queues, replica.port, 0), context, has_packet);
        }
    }

    /// A copy of the packet at hand, with what the program knows of it, to a queue.
    fn send_copy(&mut self, copy: Frame, to: Option<(PortId, QueueId)>, context: &mut Context<'_>, has_packet: bool) {
        let Some((port, queue)) = to.filter(|_| has_packet) else {
            self.switch.state.tally.clones_lost += 1;
            return self.switch.give(copy);
        };
        self.counters.copies += 1;
        let bridged = self.passes.put(copy, nanoseconds(context.now()));
        context.queue(port, queue).mirror(COPY, |packet| {
            packet.remove_shim::<Bridged>();
            // A copy without room for the shim passes egress as a packet that the program does not know.
            let _ = packet.push_shim(bridged);
        });
    }

    /// The packet leaves egress for another queue, to come to egress once more.
    fn move_on(&mut self, frame: &Frame, (port, queue): (PortId, QueueId), context: &mut Context<'_>) -> Verdict {
        let program = self.program.clone();
        let mut moved = self.switch.take();
        deparse(&program, frame, &mut moved.bytes);
        moved.unseen_bytes = frame.unseen_bytes;
        moved.begin(&program, frame.ingress_port, Instance::Moved);
        let now_ns = nanoseconds(context.now());
        let mut around = Around { context, stream: &mut self.stream, has_packet: true, queues: &self.queues };
        let state = &mut self.switch.state;
        Run { program: &program, state, now_ns, fabric: &mut around, observer: &mut Nobody }.parse(&mut moved);
        moved.reset_metadata(&program);
        keep(&program, MOVED_LIST, frame, &mut moved);
        moved.set(program.standard.instance_type, Instance::Moved as u64);
        self.counters.moved += 1;
        let bridged = self.passes.put(moved, now_ns);
        match context.packet().push_shim(bridged) {
            Ok(()) => Verdict::Forward { port, queue },
            Err(_) => Verdict::Drop(DropReason::Mechanism),
        }
    }

    /// What the packet has become goes back into its descriptor.
    fn leave(&mut self, frame: &Frame, context: &mut Context<'_>) -> Verdict {
        deparse(&self.program, frame, &mut self.after);
        let packet = context.packet();
        let ttl = packet.ttl;
        bytes::build(packet, &mut self.before);
        match bytes::carry_back(&self.before, &self.after, self.hosts, packet) {
            Ok(()) => {
                // The switch has counted the hop; a program that does so too agrees, and one that does not changes
                // nothing of it.
                packet.ttl = packet.ttl.min(ttl);
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
        if let Some((_, _, frame)) = self.enter(frame, context, false) {
            *self.refused.entry("a generated packet that is sent").or_default() += 1;
            self.switch.give(frame);
        }
    }
}

impl Mechanism for P4 {
    fn needs(&mut self, queue_counts: &[usize]) -> Needs {
        self.queues = queue_counts[..self.ports.min(queue_counts.len())].to_vec();
        let hooks = HookSet::INGRESS_FROM.with(HookSet::EGRESS).with(HookSet::TM_DROP);
        let ports = (0..self.queues.len() as u16).map(PortId);
        Needs { hooks: ports.map(|port| (port, hooks)).collect(), ..Needs::default() }
    }

    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        self.counters.came += 1;
        let port = context.port();
        let mut frame = self.switch.take();
        frame.unseen_bytes = bytes::build(context.packet(), &mut frame.bytes);
        frame.begin(&self.program, port.0.into(), Instance::Normal);
        let Some((port, queue, frame)) = self.enter(frame, context, true) else {
            self.counters.dropped += 1;
            return Verdict::Drop(DropReason::Mechanism);
        };
        let bridged = self.passes.put(frame, nanoseconds(context.now()));
        match context.packet().push_shim(bridged) {
            Ok(()) => Verdict::Forward { port, queue },
            Err(_) => Verdict::Drop(DropReason::Mechanism),
        }
    }

    fn egress(&mut self, context: &mut Context<'_>) -> Verdict {
        let bridged = context.packet().remove_shim::<Bridged>();
        let Some((mut frame, since_ns)) = bridged.and_then(|bridged| self.passes.take(bridged)) else {
            return Verdict::Continue;
        };
        let (port, queue, now_ns) = (context.port(), context.packet().queue, nanoseconds(context.now()));
        let standard = self.program.standard;
        let depth = context.queue(port, queue).bytes().min(0x7_ffff);
        frame.set(standard.enq_timestamp, since_ns / 1000);
        frame.set(standard.deq_timedelta, (now_ns - since_ns) / 1000);
        frame.set(standard.deq_qdepth, depth);
        frame.set(standard.qid, queue.0.into());
        let mut around = Around { context, stream: &mut self.stream, has_packet: true, queues: &self.queues };
        let outcome = self.switch.egress(&mut frame, port.0.into(), now_ns, &mut around, &mut Nobody);
        if let Some((session, list)) = frame.requests.clone.take() {
            let program = self.program.clone();
            let copy = self.switch.egress_clone(&program, &frame, list);
            let to = frame.requests.clone_to.take();
            self.send_clone(copy, session, to, context, true);
        }
        let elsewhere = frame.requests.queue.take().and_then(|(port, queue)| place(&self.queues, port, queue));
        let verdict = match (outcome, elsewhere) {
            (Outcome::Send, Some(to)) => self.move_on(&frame, to, context),
            (Outcome::Send, None) => self.leave(&frame, context),
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
