//! What partitions send each other: frames on cut links, by value, and [`Letter`]s.

use std::sync::{Mutex, PoisonError};

use hitless_core::engine::Source;
use hitless_core::wire::{Packet, Time, Transport};
use hitless_scenario::network::topology::{DirectedLink, Division, Topology};

use crate::run::edge::Closed;
use crate::run::event::SimulationEvent;
use crate::run::network::Network;
use crate::run::shared::Letter;

/// A frame that arrives at the end of a cut link.
struct Frame {
    at: Time,
    link: u32,
    packet: Packet,
}

/// What one partition has sent to another and that has not taken.
#[derive(Default)]
struct Mailbox {
    frames: Vec<Frame>,
    letters: Vec<Letter>,
}

/// Where partitions leave what they send.
///
/// A partition takes what it finds at the beginning of a window, and leaves what it sends at the end of one. Some of
/// the next window may be found already when another partition is ahead: it is not due before its time, and frames of
/// one link stay in their order.
pub struct Post {
    partitions: usize,
    /// By receiver and then by sender.
    boxes: Vec<Mutex<Mailbox>>,
    /// By directed link and by host: the partition that receives.
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

    /// Leaves what `network`, the partition of number `from`, has sent to others on the links `cut`; returns when the
    /// first of it arrives.
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
            first = first.min(at);
            self.with(to, from, |mailbox| mailbox.letters.push(letter));
        }
        first
    }

    /// Takes what others have sent to `network`, the partition of number `to`.
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
