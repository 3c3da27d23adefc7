//! Exchange between partitions: frames on cut links, by value, and [`Letter`]s.

use std::sync::{Mutex, PoisonError};

use hitless_core::engine::Source;
use hitless_core::wire::{Packet, Time, Transport};
use hitless_scenario::network::topology::{DirectedLink, Division, Topology};

use crate::run::edge::Closed;
use crate::run::event::SimulationEvent;
use crate::run::network::Network;
use crate::run::shared::Letter;

/// A frame on its way across a cut link.
struct Frame {
    at: Time,
    link: u32,
    packet: Packet,
}

/// The mail from one partition to another.
#[derive(Default)]
struct Mailbox {
    frames: Vec<Frame>,
    letters: Vec<Letter>,
}

/// The mailboxes between all partitions.
///
/// A partition collects its mail at the beginning of a window and posts its own at the end. If another partition is
/// ahead, a mailbox can already contain mail of the next window: that is harmless, since it is not due earlier and
/// frames of one link stay in order.
pub struct Post {
    partitions: usize,
    /// By receiver, then by sender.
    boxes: Vec<Mutex<Mailbox>>,
    /// The receiving partition, by directed link and by host.
    of_links: Vec<u32>,
    of_hosts: Vec<u32>,
}

impl Post {
    pub fn new(topology: &Topology, division: &Division) -> Self {
        let partitions = division.parts();
        let links = (0..2 * topology.links.len()).map(DirectedLink::from_index);
        Self {
            partitions,
            boxes: (0..partitions * partitions).map(|_| Mutex::default()).collect(),
            of_links: links.map(|link| division.of_link(topology, link).1).collect(),
            of_hosts: topology.host_ids().map(|host| division.of_host(host)).collect(),
        }
    }

    fn with<T>(&self, to: u32, from: u32, act: impl FnOnce(&mut Mailbox) -> T) -> T {
        let mailbox = &self.boxes[to as usize * self.partitions + from as usize];
        act(&mut mailbox.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Posts the frames that partition `from` has sent on the links `cut`, and its letters. Returns the time of the
    /// first arrival.
    pub fn hand_over(&self, from: u32, cut: &[(u32, u32)], network: &mut Network<Closed>) -> Time {
        let mut first = Time::NEVER;
        let shared = &mut network.shared;
        for &(link, to) in cut {
            let state = shared.links.at(link);
            if !state.has_gathered() {
                continue;
            }
            self.with(to, from, |mailbox| {
                while let Some((at, handle)) = state.take_gathered() {
                    let packet = shared.packets[handle];
                    shared.packets.remove(handle);
                    // The count moves with the packet, so that each partition balances on its own.
                    shared.control_packets -= u64::from(packet.transport == Transport::None);
                    first = first.min(at);
                    mailbox.frames.push(Frame { at, link, packet });
                }
            });
        }
        if !network.shared.outbox.is_empty() {
            first = first.min(self.send_letters(from, network));
        }
        first
    }

    #[cold]
    fn send_letters(&self, from: u32, network: &mut Network<Closed>) -> Time {
        let mut first = Time::NEVER;
        let delay = network.shared.sender_end_delay;
        for letter in std::mem::take(&mut network.shared.outbox) {
            let (to, at) = match letter {
                Letter::OrderedSet { at, link, .. } => (self.of_links[link as usize], at),
                Letter::SenderEnd { receiver, end } => (self.of_hosts[receiver.0 as usize], end.at + delay),
            };
            assert!(to != from, "partition {from} writes to itself");
            first = first.min(at);
            self.with(to, from, |mailbox| mailbox.letters.push(letter));
        }
        first
    }

    /// Collects the mail for partition `to`.
    pub fn collect(&self, to: u32, network: &mut Network<Closed>) {
        for from in (0..self.partitions as u32).filter(|&from| from != to) {
            self.with(to, from, |mailbox| {
                mailbox.frames.drain(..).for_each(|frame| take_frame(network, frame));
                mailbox.letters.drain(..).for_each(|letter| take_letter(network, letter));
            });
        }
    }
}

#[inline]
fn take_frame(network: &mut Network<Closed>, Frame { at, link, packet }: Frame) {
    let shared = &mut network.shared;
    shared.control_packets += u64::from(packet.transport == Transport::None);
    let handle = shared.packets.insert(packet);
    if let Some(at) = shared.links.at(link).land(handle, at) {
        shared.queue.push_source(at, Source::of(link));
    }
}

fn take_letter(network: &mut Network<Closed>, letter: Letter) {
    match letter {
        Letter::OrderedSet { at, order, link, set } => {
            network.shared.queue.push(at, order, SimulationEvent::OrderedSetArrival { link, set });
        }
        Letter::SenderEnd { receiver, end } => {
            network.hosts.note_sender_end(end.at, end);
            network.shared.schedule_sender_end(receiver, end.at, end.flow);
        }
    }
}
