//! P4 programs on the switches of a fabric.
//!
//! The program's ingress runs in the switch's ingress, on headers made from the packet's descriptor. Its egress runs
//! behind the traffic manager, and its changes then go back into the descriptor. In between the packet's metadata stays
//! here ([`passes`]), and the packet carries the number of its place, as hardware bridges metadata.
//!
//! The language is in [`hitless_p4`]. If a program needs more than a simulated packet can carry (added headers, a
//! changed payload), the packet is dropped, and the run is refused with the lines that wrote it ([`told`]). Read
//! `P4::ingress` and `P4::egress` first.

mod around;
mod bytes;
mod kind;
mod layers;
mod load;
mod passes;
mod queues;
mod settings;
mod told;

use std::sync::Arc;

use hitless_core::engine::Stream;
use hitless_core::wire::packet::MINIMUM_FRAME_BYTES;
use hitless_core::wire::{Packet, PortId, QueueId, Time};
use hitless_p4::action::DROP_PORT;
use hitless_p4::deparse::deparse;
use hitless_p4::observer::Nobody;
use hitless_p4::packet::{Instance, Packet as Frame};
use hitless_p4::pipeline::{Pipeline, Stay, Verdict as Outcome};
use hitless_p4::program::{Instruction, Program};
use hitless_p4::replication::Mirror;
use hitless_p4::run::Outside;
use hitless_p4::stf::{GENERATOR_PORT, generated};
use hitless_switch::{Context, DropReason, Event, HookSet, Mechanism, Needs, PortState, Report, Resources, Verdict};

use around::Around;
use bytes::Written;
use passes::{Bridged, Passes};
use queues::Queues;
use told::{InVain, Missing};

pub use settings::{P4Queue, P4Rounds, P4Settings};

const COPY: u8 = 0;
const NOWHERE: PortId = PortId(DROP_PORT as u16);
const RESUBMITS_MAX: u32 = 16;

hitless_switch::counters! {
    struct Counters {
        came as packets_in_ingress = "packets in ingress",
        left as packets_sent = "packets sent",
        dropped as packets_dropped = "packets dropped",
        copies = "copies",
        moved as packets_moved = "packets moved",
    }
}

hitless_switch::counters! {
    struct TallyCounters(tally: &hitless_p4::state::Tally) {
        digests = "digests": tally.digests,
        parser_errors = "packets with a parser error": tally.parser_errors,
        asserts_failed = "asserts failed": tally.asserts_failed,
        packets_that_ran_too_long = "packets that ran too long": tally.ran_too_long,
        accesses_beyond_array = "accesses beyond an array": tally.out_of_bounds,
        copies_to_nowhere = "copies to nowhere": tally.clones_lost,
    }
}

#[derive(hitless_core::state::State)]
pub struct P4 {
    #[configured]
    program: Arc<Program>,
    #[part]
    pipeline: Pipeline,
    passes: Passes,
    #[configured]
    hosts: u32,
    #[part]
    queues: Queues,
    #[configured]
    recirculation: Option<PortId>,
    stream: Stream,
    counters: Counters,
    in_vain: InVain,
    /// Whether the program uses functions beyond v1model, so that it gets events of the switch as packets.
    #[configured]
    sees_events: bool,
    #[configured]
    after: Vec<u8>,
    #[configured]
    room: [Vec<u8>; 2],
}

type Going = ((PortId, QueueId), Frame);

fn nanoseconds(time: Time) -> u64 {
    time.as_ps() / 1_000
}

impl P4 {
    fn new(pipeline: Pipeline, queues: Queues, recirculation: Option<PortId>, hosts: u32, stream: Stream) -> Self {
        let program = pipeline.program.clone();
        let sees_events = program.instructions.iter().any(|one| matches!(one, Instruction::Beyond(..)));
        Self {
            program,
            pipeline,
            passes: Passes::default(),
            hosts,
            queues,
            recirculation,
            stream,
            counters: Counters::default(),
            in_vain: InVain::default(),
            sees_events,
            after: Vec::new(),
            room: [Vec::new(), Vec::new()],
        }
    }

    /// Runs ingress until the packet has a destination; sends a requested copy. For a multicast the packet itself is
    /// the last copy. An error is the reason of a drop.
    fn enter(&mut self, frame: Frame, context: &mut Context<'_>, has_packet: bool) -> Result<Going, DropReason> {
        let mut frame = frame;
        // A program that resubmits each time would never end.
        for _ in 0..RESUBMITS_MAX {
            let now_ns = nanoseconds(context.now());
            let (stream, queues, in_vain) = (&mut self.stream, &self.queues, &mut self.in_vain);
            let fabric = &mut Around { context, stream, has_packet, queues, in_vain };
            let mut outside = Outside { now_ns, fabric, observer: &mut Nobody };
            let outcome = self.pipeline.ingress(&mut frame, &mut outside);
            if let Some((session, list)) = frame.requests.clone.take() {
                let copy = self.pipeline.ingress_clone(&frame, list, &mut outside);
                let to = frame.requests.clone_to.take();
                self.send_clone(copy, session, to, context, has_packet);
            }
            match outcome {
                Outcome::Queue(port, queue) => match self.place(port, queue, context, has_packet) {
                    Some(to) => return Ok((to, frame)),
                    None => {
                        self.pipeline.give(frame);
                        return Err(DropReason::Nowhere);
                    }
                },
                Outcome::Group(group) => {
                    return self.replicate(frame, group, context, has_packet).ok_or(DropReason::Nowhere);
                }
                Outcome::Resubmit(list) => {
                    let again = self.pipeline.resubmitted(&frame, list);
                    self.pipeline.give(std::mem::replace(&mut frame, again));
                }
                Outcome::Drop | Outcome::Send | Outcome::Recirculate(_) => {
                    self.pipeline.give(frame);
                    return Err(DropReason::Mechanism);
                }
            }
        }
        self.pipeline.state.tally.ran_too_long += 1;
        self.pipeline.give(frame);
        Err(DropReason::Mechanism)
    }

    /// Finds a queue by its numbers; without a number, the queue of the packet's class. `None` if there is no such
    /// queue, which is reported at the end.
    fn place(
        &mut self,
        port: u32,
        queue: Option<u32>,
        context: &mut Context<'_>,
        has_packet: bool,
    ) -> Option<(PortId, QueueId)> {
        let class = if has_packet { context.packet().class } else { 0 };
        let place = match queue {
            Some(queue) => self.queues.place(port, queue),
            None => self.queues.port(port).map(|port| (port, context.ports().class_queue(port, class))),
        };
        if place.is_none() {
            self.in_vain.note_missing(self.queues.missing(port, queue.unwrap_or(0)));
        }
        place
    }

    fn send_clone(
        &mut self,
        copy: Frame,
        session: u32,
        to: Option<(u32, u32)>,
        context: &mut Context<'_>,
        has_packet: bool,
    ) {
        let going = match (to, self.pipeline.state.replication.session(session)) {
            (Some((port, queue)), _) => self.place(port, Some(queue), context, has_packet).map(|to| (to, copy)),
            (None, Some(Mirror::Port(port))) => {
                let queue = self.pipeline.priority_queue(&copy);
                self.place(port, queue, context, has_packet).map(|to| (to, copy))
            }
            (None, Some(Mirror::Group(group))) => self.replicate(copy, group, context, has_packet),
            (None, None) => {
                self.in_vain.note_missing(Missing::Session(session));
                self.pipeline.give(copy);
                None
            }
        };
        match going {
            Some((to, copy)) => self.send_copy(copy, to, context, has_packet),
            None => self.pipeline.state.tally.clones_lost += 1,
        }
    }

    /// Sends a copy to each queue of a group except the last, and returns the last for the caller to send.
    fn replicate(&mut self, frame: Frame, group: u32, context: &mut Context<'_>, has_packet: bool) -> Option<Going> {
        let (mut last, queue) = (None, self.pipeline.priority_queue(&frame));
        for number in 0..self.pipeline.state.replication.replicas(group).len() {
            let replica = self.pipeline.state.replication.replicas(group)[number];
            let Some(to) = self.place(replica.port, queue, context, has_packet) else { continue };
            let mut copy = self.pipeline.take();
            copy.copy_from(&frame);
            copy.set(self.program.standard.egress_rid, replica.rid.into());
            if let Some((to, before)) = last.replace((to, copy)) {
                self.send_copy(before, to, context, has_packet);
            }
        }
        if last.is_none() {
            self.in_vain.note_missing(Missing::Group(group));
        }
        self.pipeline.give(frame);
        last
    }

    /// Sends a copy of the current packet, with the program's metadata, to a queue. Without a current packet the switch
    /// makes one.
    fn send_copy(&mut self, copy: Frame, to: (PortId, QueueId), context: &mut Context<'_>, has_packet: bool) {
        self.counters.copies += 1;
        if !has_packet {
            return self.emit(to, copy, context);
        }
        let bridged = self.passes.put(copy);
        let round = self.queues.round(to, context);
        context.queue(to.0, to.1).mirror(COPY, |packet| {
            packet.round = round;
            packet.remove_shim::<Bridged>();
            // A copy without room for the shim passes egress as a packet unknown to the program.
            let _ = packet.push_shim(bridged);
        });
    }

    /// Sends a packet made by the switch to a queue.
    fn emit(&mut self, to: (PortId, QueueId), frame: Frame, context: &mut Context<'_>) {
        let bridged = self.passes.put(frame);
        let round = self.queues.round(to, context);
        let (frame_bytes, ttl) = (MINIMUM_FRAME_BYTES, Packet::INITIAL_TTL);
        let mut packet = Packet { frame_bytes, ttl, round, ..Packet::default() };
        packet.push_shim(bridged).expect("an empty stack has room");
        context.queue(to.0, to.1).emit(packet, COPY);
    }

    /// Sends the packet to a queue, and keeps the program's metadata here. In the queue it has the headers that the
    /// program has given it so far, so that queues are as deep as in hardware, which deparses before them.
    fn forward(&mut self, to: (PortId, QueueId), frame: Frame, context: &mut Context<'_>) -> Verdict {
        let before = *context.packet();
        deparse(&self.program, &frame, &mut self.after);
        if bytes::carry_headers(&self.after, context.packet()).is_err() {
            // The error is reported when the packet leaves.
            *context.packet() = before;
        }
        self.bridge(to, frame, context)
    }

    /// Sends the packet to a queue unchanged.
    fn bridge(&mut self, to: (PortId, QueueId), frame: Frame, context: &mut Context<'_>) -> Verdict {
        let bridged = self.passes.put(frame);
        let round = self.queues.round(to, context);
        let packet = context.packet();
        packet.round = round;
        if packet.push_shim(bridged).is_ok() {
            return Verdict::Forward { port: to.0, queue: to.1 };
        }
        if let Some(frame) = self.passes.take(bridged) {
            self.in_vain.note_limit("more headers than a packet can have".into(), &self.program, &frame);
            self.pipeline.give(frame);
        }
        Verdict::Drop(DropReason::Mechanism)
    }

    /// Sends the packet from egress to another queue, to enter egress again.
    fn move_on(&mut self, frame: &Frame, to: (PortId, QueueId), context: &mut Context<'_>) -> Verdict {
        let now_ns = nanoseconds(context.now());
        let (stream, queues, in_vain) = (&mut self.stream, &self.queues, &mut self.in_vain);
        let fabric = &mut Around { context, stream, has_packet: true, queues, in_vain };
        let moved = self.pipeline.moved(frame, &mut Outside { now_ns, fabric, observer: &mut Nobody });
        self.counters.moved += 1;
        self.forward(to, moved, context)
    }

    /// Sends the packet to the recirculation port, to start again from there.
    fn recirculate(&mut self, frame: &Frame, list: u32, context: &mut Context<'_>) -> Verdict {
        let Some(port) = self.recirculation else { return Verdict::Drop(DropReason::Mechanism) };
        let again = self.pipeline.recirculated(frame, list);
        self.forward((port, QueueId(0)), again, context)
    }

    /// The queueing data of the current packet.
    fn stay(&self, (port, queue): (PortId, QueueId), context: &mut Context<'_>) -> Stay {
        let (queued_at, packets_before) = context.queued();
        Stay {
            queued_ns: nanoseconds(queued_at),
            packets_before: packets_before.into(),
            packets_left: context.queue(port, queue).packets() as u64,
            queue: self.queues.number(port, queue),
        }
    }

    /// Writes the program's result back into the descriptor.
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
            Err(limit) => {
                self.in_vain.note_limit(limit, &self.program, frame);
                Verdict::Drop(DropReason::Mechanism)
            }
        }
    }

    /// Runs a packet of the packet generator, as described in `p4/hitless.p4`.
    fn event(&mut self, (kind, port, token): (u8, u16, u32), context: &mut Context<'_>) {
        let bytes = generated(kind, port, token, nanoseconds(context.now()));
        let mut frame = self.pipeline.take();
        frame.arrive(&self.program, GENERATOR_PORT, &bytes, Instance::Generated);
        if let Ok((to, frame)) = self.enter(frame, context, false) {
            self.emit(to, frame, context);
        }
    }

    /// The current packet in ingress: from a line, or recirculated with its metadata.
    fn frame_of(&mut self, context: &mut Context<'_>) -> Frame {
        let bridged = context.packet().remove_shim::<Bridged>();
        if let Some(again) = bridged.and_then(|bridged| self.passes.take(bridged)) {
            return again;
        }
        self.counters.came += 1;
        let mut frame = self.pipeline.take();
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

    /// Handles a frame without a packet, for which routing has no port.
    fn rx(&mut self, context: &mut Context<'_>) -> Verdict {
        if !layers::carries_nothing(context.packet()) {
            return Verdict::Continue;
        }
        context.packet().egress_port = NOWHERE;
        self.ingress(context)
    }

    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        let frame = self.frame_of(context);
        match self.enter(frame, context, true) {
            // With an unchanged length the queue needs no deparsed headers to be as deep as in hardware.
            Ok((to, frame)) if frame.length == frame.whole_bytes() as i64 => self.bridge(to, frame, context),
            Ok((to, frame)) => self.forward(to, frame, context),
            Err(reason) => {
                self.counters.dropped += 1;
                Verdict::Drop(reason)
            }
        }
    }

    fn egress(&mut self, context: &mut Context<'_>) -> Verdict {
        let bridged = context.packet().remove_shim::<Bridged>();
        let Some(mut frame) = bridged.and_then(|bridged| self.passes.take(bridged)) else {
            return Verdict::Continue;
        };
        let (port, queue, now_ns) = (context.port(), context.packet().queue, nanoseconds(context.now()));
        // The packet leaves the recirculation port: the program sees it next in ingress, not in egress.
        if frame.get(self.program.standard.instance_type) == Instance::Recirculated as u64 {
            let again = self.bridge((port, queue), frame, context);
            return if matches!(again, Verdict::Drop(_)) { again } else { Verdict::Continue };
        }
        let stay = self.stay((port, queue), context);
        let (stream, queues, in_vain) = (&mut self.stream, &self.queues, &mut self.in_vain);
        let fabric = &mut Around { context, stream, has_packet: true, queues, in_vain };
        let mut outside = Outside { now_ns, fabric, observer: &mut Nobody };
        let outcome = self.pipeline.egress(&mut frame, port.0.into(), &stay, &mut outside);
        if let Some((session, list)) = frame.requests.clone.take() {
            let copy = self.pipeline.egress_clone(&frame, list);
            let to = frame.requests.clone_to.take();
            self.send_clone(copy, session, to, context, true);
        }
        let elsewhere = frame.requests.queue.take();
        let verdict = match (outcome, elsewhere) {
            (Outcome::Send, Some((port, queue))) => match self.place(port, Some(queue), context, true) {
                Some(to) => self.move_on(&frame, to, context),
                None => {
                    self.counters.dropped += 1;
                    Verdict::Drop(DropReason::Nowhere)
                }
            },
            (Outcome::Send, None) => self.leave(&mut frame, context),
            (Outcome::Recirculate(list), _) => self.recirculate(&frame, list, context),
            _ => {
                self.counters.dropped += 1;
                Verdict::Drop(DropReason::Mechanism)
            }
        };
        self.pipeline.give(frame);
        verdict
    }

    fn on_tm_drop(&mut self, _: DropReason, context: &mut Context<'_>) -> Verdict {
        let bridged = context.packet().remove_shim::<Bridged>();
        if let Some(frame) = bridged.and_then(|bridged| self.passes.take(bridged)) {
            self.pipeline.give(frame);
        }
        Verdict::Continue
    }

    fn on(&mut self, event: Event, context: &mut Context<'_>) {
        // The switch numbers the queues of a group after `needs`.
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

    /// Only a compiler for hardware knows memory and stages; registers of a program may have any width.
    fn resources(&self) -> Resources {
        Resources::new("p4").not_counting("what the program takes: a compiler for the hardware says it")
    }

    fn report(&self, _: Time) -> Report {
        let mut report = Report::new("p4");
        self.counters.report("switch", &mut report);
        report.count("switch", TallyCounters::values(&self.pipeline.state.tally));
        report.acted = report.counters.iter().any(|(.., value)| *value > 0);
        self.in_vain.report(&self.program, &self.queues, &mut report);
        if !report.acted {
            report.warnings.push("no packet came to the program".to_owned());
            report.acted = true;
        }
        report
    }
}
