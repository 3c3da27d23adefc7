//! The pipeline of a v1model switch: parser, ingress, queues, egress, deparser, and the loops of packets, as in BMv2's
//! simple_switch. Its queues drain at once; a switch with real queues uses [`Pipeline::ingress`] and
//! [`Pipeline::egress`].

use std::collections::VecDeque;
use std::sync::Arc;

use crate::action::DROP_PORT;
use crate::bits;
use crate::commands::Commands;
use crate::deparse::{deparse, deparse_whole};
use crate::fabric::Fabric;
use crate::observer::{Event, Observer, Point};
use crate::packet::{Instance, Packet};
use crate::program::Program;
use crate::replication::Mirror;
use crate::run::{Outside, Run};
use crate::state::State;

/// Maximum number of loops of a packet in a switch.
const ROUNDS_MAX: u32 = 64;
/// The first of the queues that a scenario assigns to the program.
pub const OWN_QUEUE: u32 = 0xE0;

/// The result of ingress or egress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Drop,
    /// Queue it for this port; with a queue if the program selects one.
    Queue(u32, Option<u32>),
    /// Send copies to this multicast group.
    Group(u32),
    /// Restart the packet as it arrived at the parser, with a list of preserved fields.
    Resubmit(u32),
    Send,
    /// Restart the packet as it departs at the parser, with a list of preserved fields.
    Recirculate(u32),
}

/// A packet's stay in a queue, for `queueing_metadata`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stay {
    /// Time of enqueueing in ns.
    pub queued_ns: u64,
    /// Number of packets in the queue at enqueueing.
    pub packets_before: u64,
    /// Number of packets in the queue after dequeueing.
    pub packets_left: u64,
    pub queue: u32,
}

/// A packet in a queue of [`Pipeline::process`].
#[derive(Clone, Debug, hitless_core::state::Value)]
struct Queued {
    port: u32,
    queue: u32,
    packet: Packet,
    rounds: u32,
    since_ns: u64,
    packets_before: u64,
}

impl Queued {
    fn is_at(&self, port: u32, queue: u32) -> bool {
        (self.port, self.queue) == (port, queue)
    }
}

/// A program with its state, and a pool of packets.
#[derive(Debug, hitless_core::state::State)]
pub struct Pipeline {
    #[configured]
    pub program: Arc<Program>,
    #[part]
    pub state: State,
    /// Port and queue of the last packet that [`Pipeline::process`] queued.
    pub last_queue: Option<(u32, u32)>,
    #[configured]
    spare: Vec<Packet>,
    waiting: VecDeque<(Packet, u32)>,
    queued: VecDeque<Queued>,
    /// Packets in queues that only [`Pipeline::serve`] drains.
    held: VecDeque<Queued>,
    #[configured]
    out: Vec<u8>,
}

impl Pipeline {
    /// Creates a pipeline in the program's initial state.
    pub fn new(program: Arc<Program>, seed: u64) -> Self {
        let state = State::new(&program, seed);
        let (waiting, queued) = (VecDeque::with_capacity(4), VecDeque::with_capacity(4));
        Self {
            program,
            state,
            last_queue: None,
            spare: Vec::new(),
            waiting,
            queued,
            held: VecDeque::new(),
            out: Vec::with_capacity(2048),
        }
    }

    pub fn commands(&mut self, now_ns: u64) -> Commands<'_> {
        Commands { program: &self.program, state: &mut self.state, now_ns }
    }

    pub fn take(&mut self) -> Packet {
        self.spare.pop().unwrap_or_else(|| Packet::new(&self.program))
    }

    pub fn give(&mut self, packet: Packet) {
        assert_eq!(
            packet.values.len(),
            self.program.values_bytes,
            "a packet is given back to the pipeline of its program"
        );
        self.spare.push(packet);
    }

    #[inline]
    fn run<'r, 'a, O>(&'r mut self, outside: &'r mut Outside<'a, O>) -> Run<'r, 'a, O> {
        Run { program: &self.program, state: &mut self.state, outside }
    }

    fn observe<O: Observer>(&self, outside: &mut Outside<'_, O>, point: Point) {
        if O::WATCHES {
            outside.observer.see(&self.program, Event::At(point));
        }
    }

    #[inline]
    pub fn ingress<O: Observer>(&mut self, packet: &mut Packet, outside: &mut Outside<'_, O>) -> Verdict {
        let now_ns = outside.now_ns;
        let mut run = self.run(outside);
        let program = run.program;
        let standard = &program.standard;
        packet.set(standard.ingress_timestamp, now_ns / 1000);
        run.parse(packet);
        packet.set(standard.parser_error, packet.error);
        packet.set(standard.checksum_error, u64::from(packet.has_checksum_error));
        run.see(Event::At(Point::Ingress));
        run.control(program.ingress, packet);
        // The order of simple_switch at the end of ingress: digest, resubmission, multicast, drop, unicast. A clone
        // does not depend on it, because it is a copy of the packet at its arrival.
        if let Some(list) = packet.requests.digest.take() {
            run.digest(list, packet);
        }
        if let Some(list) = packet.requests.resubmit.take() {
            return Verdict::Resubmit(list);
        }
        if packet.failed_assert.is_some() || packet.ran_too_long {
            run.state.tally.ran_too_long += u64::from(packet.ran_too_long);
            return Verdict::Drop;
        }
        let group = packet.get(standard.mcast_grp);
        let port = packet.get(standard.egress_spec);
        if group != 0 {
            packet.set(standard.instance_type, Instance::Replica as u64);
            return Verdict::Group(group as u32);
        }
        if port == DROP_PORT {
            return Verdict::Drop;
        }
        packet.set(standard.instance_type, Instance::Normal as u64);
        // A later table can choose another port, and the selected queue belongs to the first one.
        let queue = packet.requests.queue.filter(|&(to, _)| u64::from(to) == port).map(|(_, queue)| queue);
        Verdict::Queue(port as u32, queue.or_else(|| self.priority_queue(packet)))
    }

    /// The queue selected by `standard_metadata.priority`, which is the queue's number. `None` if it is 0: the queue
    /// then follows from the packet's class.
    #[inline]
    pub fn priority_queue(&self, packet: &Packet) -> Option<u32> {
        let slot = self.program.standard.priority?;
        Some(packet.get(Some(slot)) as u32).filter(|&priority| priority > 0)
    }

    /// Runs egress for a packet that departs through `port` after its stay in a queue.
    #[inline]
    pub fn egress<O: Observer>(
        &mut self,
        packet: &mut Packet,
        port: u32,
        stay: &Stay,
        outside: &mut Outside<'_, O>,
    ) -> Verdict {
        let now_ns = outside.now_ns;
        self.tell_stay(packet, stay, now_ns);
        let mut run = self.run(outside);
        let program = run.program;
        let standard = &program.standard;
        // Requests of ingress are over: a queue selected in egress moves the packet there.
        packet.requests.queue = None;
        packet.set(standard.egress_timestamp, now_ns / 1000);
        packet.set(standard.egress_port, port.into());
        // One above the drop port; in its field of 9 bits, BMv2 stores this as 0.
        packet.set(standard.egress_spec, DROP_PORT + 1);
        packet.set(standard.packet_length, packet.length.max(0) as u64);
        run.see(Event::At(Point::Egress(port)));
        run.control(program.egress, packet);
        if packet.failed_assert.is_some() || packet.ran_too_long {
            run.state.tally.ran_too_long += u64::from(packet.ran_too_long);
            return Verdict::Drop;
        }
        if packet.get(standard.egress_spec) == DROP_PORT {
            return Verdict::Drop;
        }
        run.update_checksums(packet);
        if O::WATCHES {
            for &header in program.deparser.iter().filter(|&&header| packet.valid[header as usize]) {
                run.see(Event::Emitted(header, packet));
            }
        }
        match packet.requests.recirculate.take() {
            Some(list) => Verdict::Recirculate(list),
            None => Verdict::Send,
        }
    }

    /// Sets the queueing metadata as BMv2 does: times in microseconds, depths in packets.
    #[inline]
    fn tell_stay(&self, packet: &mut Packet, stay: &Stay, now_ns: u64) {
        let standard = &self.program.standard;
        let (from_us, to_us) = (stay.queued_ns / 1000, now_ns / 1000);
        assert!(from_us <= to_us, "a packet leaves its queue after it came there");
        packet.set(standard.enq_timestamp, from_us);
        packet.set_at_most(standard.enq_qdepth, stay.packets_before);
        packet.set(standard.deq_timedelta, to_us - from_us);
        packet.set_at_most(standard.deq_qdepth, stay.packets_left);
        packet.set(standard.qid, stay.queue.into());
    }

    /// Processes a packet completely, with queues that drain at once. The arguments are the port of arrival, the bytes
    /// and the origin; `send` receives the departing packets by port.
    pub fn process<O: Observer>(
        &mut self,
        (port, bytes, instance): (u32, &[u8], Instance),
        now_ns: u64,
        fabric: &mut dyn Fabric,
        observer: &mut O,
        send: &mut dyn FnMut(u32, &[u8]),
    ) {
        let mut outside = Outside { now_ns, fabric, observer };
        let mut packet = self.take();
        packet.arrive(&self.program, port, bytes, instance);
        self.observe(&mut outside, Point::Arrival(port));
        self.enter(packet, 0, &mut outside);
        loop {
            if let Some(queued) = self.queued.pop_front() {
                self.leave(queued, &mut outside, send);
            } else if let Some((packet, rounds)) = self.waiting.pop_front() {
                self.enter(packet, rounds, &mut outside);
            } else {
                break;
            }
        }
    }

    fn enter<O: Observer>(&mut self, mut packet: Packet, rounds: u32, outside: &mut Outside<'_, O>) {
        let verdict = self.ingress(&mut packet, outside);
        if let Some((session, list)) = packet.requests.clone.take() {
            let to = packet.requests.clone_to.take();
            let copy = self.ingress_clone(&packet, list, outside);
            self.send_clone(copy, session, to, rounds, outside);
        }
        match verdict {
            Verdict::Queue(port, queue) => {
                self.last_queue = Some((port, queue.unwrap_or(0)));
                self.observe(outside, Point::Queued(port));
                return self.put((port, queue.unwrap_or(0)), packet, rounds, outside.now_ns);
            }
            Verdict::Group(group) => self.replicate(&packet, group, rounds, outside),
            Verdict::Resubmit(list) if rounds < ROUNDS_MAX => {
                self.observe(outside, Point::Resubmitted);
                let again = self.resubmitted(&packet, list);
                self.waiting.push_front((again, rounds + 1));
            }
            _ => self.observe(outside, Point::IngressDrop),
        }
        self.give(packet);
    }

    fn leave<O: Observer>(&mut self, queued: Queued, outside: &mut Outside<'_, O>, send: &mut dyn FnMut(u32, &[u8])) {
        let packets_left = self.waiting_at(queued.port, queued.queue) as u64;
        let Queued { port, queue, mut packet, rounds, since_ns: queued_ns, packets_before } = queued;
        let stay = Stay { queued_ns, packets_before, packets_left, queue };
        let verdict = self.egress(&mut packet, port, &stay, outside);
        if let Some((session, list)) = packet.requests.clone.take()
            && rounds < ROUNDS_MAX
        {
            let to = packet.requests.clone_to.take();
            let copy = self.egress_clone(&packet, list);
            self.send_clone(copy, session, to, rounds + 1, outside);
        }
        let elsewhere = packet.requests.queue.take();
        match verdict {
            Verdict::Send if elsewhere.is_some() && rounds < ROUNDS_MAX => {
                let (to, queue) = elsewhere.unwrap_or_default();
                let moved = self.moved(&packet, outside);
                self.put((to, queue), moved, rounds + 1, outside.now_ns);
            }
            Verdict::Send => {
                deparse(&self.program, &packet, &mut self.out);
                self.observe(outside, Point::Departure(port));
                send(port, &self.out);
            }
            Verdict::Recirculate(list) if rounds < ROUNDS_MAX => {
                self.observe(outside, Point::Recirculated);
                let again = self.recirculated(&packet, list);
                self.waiting.push_back((again, rounds + 1));
            }
            _ => self.observe(outside, Point::EgressDrop),
        }
        self.give(packet);
    }

    /// Queues a packet. The program's own queues hold packets until they are served; all others drain at once.
    fn put(&mut self, (port, queue): (u32, u32), packet: Packet, rounds: u32, now_ns: u64) {
        let packets_before = self.waiting_at(port, queue) as u64;
        let queued = Queued { port, queue, packet, rounds, since_ns: now_ns, packets_before };
        if queue >= OWN_QUEUE {
            self.held.push_back(queued);
        } else {
            self.queued.push_back(queued);
        }
    }

    fn waiting_at(&self, port: u32, queue: u32) -> usize {
        let all = if queue >= OWN_QUEUE { &self.held } else { &self.queued };
        all.iter().filter(|queued| queued.is_at(port, queue)).count()
    }

    /// Number of packets in a queue of the program's own.
    pub fn held(&self, port: u32, queue: u32) -> usize {
        self.held.iter().filter(|queued| queued.is_at(port, queue)).count()
    }

    /// Sends the first packet of a queue of the program through egress; false if it is empty.
    pub fn serve<O: Observer>(
        &mut self,
        (port, queue): (u32, u32),
        now_ns: u64,
        fabric: &mut dyn Fabric,
        observer: &mut O,
        send: &mut dyn FnMut(u32, &[u8]),
    ) -> bool {
        let place = self.held.iter().position(|held| held.is_at(port, queue));
        let Some(held) = place.and_then(|place| self.held.remove(place)) else { return false };
        let mut outside = Outside { now_ns, fabric, observer };
        self.leave(Queued { rounds: 0, ..held }, &mut outside, send);
        while let Some(queued) = self.queued.pop_front() {
            self.leave(queued, &mut outside, send);
        }
        true
    }

    /// A new packet with the bytes of another at its arrival.
    fn as_it_came(&mut self, packet: &Packet, instance: Instance) -> Packet {
        let mut copy = self.take();
        copy.bytes.clone_from(&packet.bytes);
        copy.unseen_bytes = packet.unseen_bytes;
        copy.begin(&self.program, packet.ingress_port, instance);
        copy
    }

    /// A new packet with the bytes of another at its departure, without truncation.
    fn as_it_leaves(&mut self, packet: &Packet, instance: Instance) -> Packet {
        let mut copy = self.take();
        deparse_whole(&self.program, packet, &mut copy.bytes);
        copy.unseen_bytes = packet.unseen_bytes;
        copy.begin(&self.program, packet.ingress_port, instance);
        copy
    }

    /// Copies the fields of a list, and sets the copy's origin.
    fn keep(&self, list: Option<u32>, from: &Packet, to: &mut Packet, instance: Instance) {
        let list = self.program.field_lists.iter().find(|of| Some(of.id) == list);
        for slot in list.map_or(&[][..], |of| &of.fields) {
            bits::copy(&mut to.values, slot.bit as usize, &from.values, slot.bit as usize, slot.width as usize);
        }
        to.set(self.program.standard.instance_type, instance as u64);
    }

    /// The departing packet for another pass through egress, with the metadata that a moved packet keeps.
    pub fn moved<O: Observer>(&mut self, packet: &Packet, outside: &mut Outside<'_, O>) -> Packet {
        let mut moved = self.as_it_leaves(packet, Instance::Moved);
        moved.length_max = packet.length_max;
        self.run(outside).parse(&mut moved);
        moved.reset_metadata(&self.program);
        self.keep(self.program.moved_list, packet, &mut moved, Instance::Moved);
        moved
    }

    /// The clone of a packet as it arrived, for egress, with the fields of a list.
    pub fn ingress_clone<O: Observer>(&mut self, packet: &Packet, list: u32, outside: &mut Outside<'_, O>) -> Packet {
        let mut copy = self.as_it_came(packet, Instance::Normal);
        self.run(outside).parse(&mut copy);
        copy.reset_metadata(&self.program);
        self.keep(Some(list), packet, &mut copy, Instance::IngressClone);
        copy
    }

    /// The clone of a packet at the end of egress.
    pub fn egress_clone(&mut self, packet: &Packet, list: u32) -> Packet {
        let mut copy = self.take();
        copy.copy_from(packet);
        copy.reset_metadata(&self.program);
        self.keep(Some(list), packet, &mut copy, Instance::EgressClone);
        copy
    }

    /// The packet as it arrived, for another pass through ingress, with the fields of a list.
    pub fn resubmitted(&mut self, packet: &Packet, list: u32) -> Packet {
        let again = self.as_it_came(packet, Instance::Resubmitted);
        self.begin_again(again, packet, list, Instance::Resubmitted)
    }

    /// The departing packet, for another pass through ingress, with the fields of a list. As in BMv2, it is not
    /// truncated: `truncate` affects only a packet that leaves.
    pub fn recirculated(&mut self, packet: &Packet, list: u32) -> Packet {
        let again = self.as_it_leaves(packet, Instance::Recirculated);
        self.begin_again(again, packet, list, Instance::Recirculated)
    }

    /// Like BMv2's simple_switch, it keeps no metadata except the list; `ingress_port` is 0 unless listed.
    fn begin_again(&self, mut again: Packet, packet: &Packet, list: u32, instance: Instance) -> Packet {
        again.set(self.program.standard.ingress_port, 0);
        self.keep(Some(list), packet, &mut again, instance);
        again.set(self.program.standard.packet_length, again.whole_bytes() as u64);
        again
    }

    /// Sends a clone to the queue selected by the program, or to its session.
    fn send_clone<O: Observer>(
        &mut self,
        copy: Packet,
        session: u32,
        to: Option<(u32, u32)>,
        rounds: u32,
        outside: &mut Outside<'_, O>,
    ) {
        match (to, self.state.replication.session(session)) {
            (Some(to), _) => return self.put(to, copy, rounds, outside.now_ns),
            (None, Some(Mirror::Port(port))) => {
                self.observe(outside, Point::Cloned(port));
                let queue = self.priority_queue(&copy).unwrap_or(0);
                return self.put((port, queue), copy, rounds, outside.now_ns);
            }
            (None, Some(Mirror::Group(group))) => self.replicate(&copy, group, rounds, outside),
            (None, None) => self.state.tally.clones_lost += 1,
        }
        self.give(copy);
    }

    fn replicate<O: Observer>(&mut self, packet: &Packet, group: u32, rounds: u32, outside: &mut Outside<'_, O>) {
        for number in 0..self.state.replication.replicas(group).len() {
            let replica = self.state.replication.replicas(group)[number];
            let mut copy = self.take();
            copy.copy_from(packet);
            copy.set(self.program.standard.egress_rid, replica.rid.into());
            self.observe(outside, Point::Replicated(replica.port));
            let queue = self.priority_queue(&copy).unwrap_or(0);
            self.put((replica.port, queue), copy, rounds, outside.now_ns);
        }
    }
}
