//! The state of unfinished flows, to explain why they wait. Nothing here is on a packet's path.

use hitless_core::engine::PacketHandle;
use hitless_core::wire::{FlowId, HostId, Packet, Time};

use super::connection::Connection;
use super::event::Side;
use super::flow_table::FlowSlot;
use super::hosts::Hosts;
use crate::application::FlowOutcome;
use crate::transport::{Receiver, Sender, SenderWait, TimeoutPurpose};

/// The sending end of a flow that has not ended; of its request while that has not arrived.
#[derive(Clone, Debug)]
pub struct FlowWait {
    pub flow: FlowId,
    /// The tag of its configuration.
    pub tag: u32,
    /// Whether this is the flow's request: the packets go from the flow's destination to its source.
    pub is_request: bool,
    /// Whether it sends as much as it can until a deadline.
    pub is_endless: bool,
    pub written_bytes: u64,
    pub acknowledged_bytes: u64,
    /// Whether the host's card holds it back.
    pub waits_for_card: bool,
    /// A packet with the addresses of its data.
    pub data: Packet,
    /// A packet with the addresses of the answers.
    pub answer: Packet,
    /// Whether each packet can take another path.
    pub spreads: bool,
    pub sender: SenderWait,
    /// Deadline of the sender's timer; [`Time::NEVER`] if none is set.
    pub timer: Time,
    pub purpose: TimeoutPurpose,
}

/// The receiving end of a flow.
#[derive(Clone, Debug)]
pub struct ReceiverWait {
    /// Deadline of its timer, for example for a delayed acknowledgement.
    pub timer: Time,
    /// Whether it is in its host's queue for credit.
    pub has_turn: bool,
    /// Packets held by the reorder buffer.
    pub held: Vec<PacketHandle>,
    /// Time when the reorder buffer gives up the gap.
    pub gap_until: Time,
}

impl Connection {
    fn wait(&self) -> Option<FlowWait> {
        if !self.is_here(Side::Sender) || self.outcome_of_run() != FlowOutcome::Unfinished {
            return None;
        }
        let (half, is_request) = self.half_under_way();
        let (endpoints, sender) = (&half.endpoints, half.sender());
        let [data, answer] = endpoints.addresses();
        Some(FlowWait {
            flow: endpoints.id,
            tag: endpoints.tag,
            is_request,
            is_endless: endpoints.progress.is_endless(),
            written_bytes: endpoints.progress.written_bytes(),
            acknowledged_bytes: sender.acknowledged_bytes(),
            waits_for_card: endpoints.waiting,
            data,
            answer,
            spreads: endpoints.spreads,
            sender: sender.wait(),
            timer: sender.next_timeout(),
            purpose: sender.timeout_purpose(),
        })
    }

    fn receiver_wait(&self) -> ReceiverWait {
        let (half, _) = self.half_under_way();
        let receiver = half.receiver();
        let buffer = half.endpoints.reorder_buffer.as_deref();
        ReceiverWait {
            timer: receiver.next_timeout(),
            has_turn: receiver.has_turn_for_credit(),
            held: buffer.map_or(Vec::new(), |buffer| buffer.held().collect()),
            gap_until: buffer.map_or(Time::NEVER, |buffer| buffer.deadline()),
        }
    }
}

impl Hosts {
    /// Returns the flows with an open sending end in this partition, by number.
    pub fn waits(&self) -> impl Iterator<Item = FlowWait> + '_ {
        self.flows.iter().filter_map(|slot| match slot {
            FlowSlot::Active(connection) => connection.wait(),
            FlowSlot::Waiting(_) | FlowSlot::Ended => None,
        })
    }

    /// Returns the receiving end of a flow, or of its request; `None` if it is closed or in another partition.
    pub fn receiver_wait(&self, flow: FlowId) -> Option<ReceiverWait> {
        match self.flows.get(flow.0 as usize)? {
            FlowSlot::Active(connection) if connection.is_here(Side::Receiver) => Some(connection.receiver_wait()),
            FlowSlot::Active(_) | FlowSlot::Waiting(_) | FlowSlot::Ended => None,
        }
    }

    /// Returns since when the link partner has stopped `class` of a host's card, by a pause or without credits; `None`
    /// if it has not.
    pub fn card_stopped_since(&self, host: HostId, class: u8) -> Option<Time> {
        self.hosts[host.0 as usize].class_queues.as_ref()?.stopped_since(class)
    }

    /// Returns the length of the frame of `class` that leaves a host's card next.
    pub fn card_first_frame_bytes(&self, host: HostId, class: u8) -> u32 {
        let queues = self.hosts[host.0 as usize].class_queues.as_ref();
        queues.and_then(|queues| queues.first(class)).map_or(0, |frame| frame.frame_bytes)
    }

    /// Calls `look` for each packet of a stopped class that waits at a host's card.
    pub fn each_stopped(&self, host: HostId, look: impl FnMut(PacketHandle)) {
        let queues = self.hosts[host.0 as usize].class_queues.as_ref();
        queues.into_iter().flat_map(|queues| queues.stopped_packets()).for_each(look);
    }
}
