//! Resources of a switch that the ends of protected links use.

use crate::linkguardian::headers::SequenceNumber;
use hitless_switch::{Half, RegisterUse, Resources};

use super::receiver::Receiver;
use super::sender::Sender;
use super::settings::Buffering;

pub(super) fn of_ends(ends: impl Iterator<Item = Resources>) -> Resources {
    let mut resources = Resources::new("linkguardian");
    ends.for_each(|end| resources.add(end));
    // A single generator serves all ports.
    resources.generator_streams = resources.generator_streams.min(1);
    resources
        .not_counting("the tables that compare numbers of two eras, and that switch a port's protection on")
        .not_counting("the multicast group of each number of copies, here counted as one mirror session")
        .not_counting("the packet buffers of copies and of packets that wait for their turn")
        .not_counting("the share of the pipeline that recirculation and 10 million timer packets a second take")
}

/// Mirror sessions of a sender: copies to the recirculation port, retransmissions and the next dummy to the link.
pub(super) fn of_sender(sender: &Sender) -> Resources {
    Resources {
        registers: sender.stated(),
        mirror_sessions: 3,
        recirculation_ports: vec![sender.config.recirculation_port.0],
        ..Resources::new("linkguardian")
    }
}

/// Mirror sessions of a receiver: loss notifications and the next acknowledgement to the link.
pub(super) fn of_receiver(receiver: &Receiver) -> Resources {
    let mut registers = receiver.stated();
    let outside = [
        RegisterUse::outside::<SequenceNumber>("latestRxSeqNo (egress)", Half::Egress, 2, 1),
        RegisterUse::outside::<u16>("ackNoTimeout", Half::Ingress, 5, 1),
    ];
    registers.extend(outside);
    // The model remembers missing numbers, so that a second copy is recognised in either mode.
    registers.push(RegisterUse::outside::<bool>("missing numbers", Half::Ingress, 5, u64::from(SequenceNumber::RANGE)));
    let recirculates = receiver.config.buffering == Buffering::Recirculation;
    let ports = recirculates.then_some(receiver.config.recirculation_port.0);
    Resources {
        registers,
        mirror_sessions: 2,
        recirculation_ports: ports.into_iter().collect(),
        generator_streams: 1,
        ..Resources::new("linkguardian")
    }
}
