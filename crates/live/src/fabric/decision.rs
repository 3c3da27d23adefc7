//! What a switch decided about packets, one record each: what a replay is compared by.

use std::fmt;

use hitless_core::wire::{PortId, QueueId, Time};
use hitless_switch::{DropReason, Half, Verdict};

/// A decision about one packet at one switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// When.
    pub at: Time,
    /// Which arrival the packet was, or is a copy of; 0 for one that a mechanism made.
    pub packet: u64,
    /// The switch.
    pub switch: u32,
    /// What was decided.
    pub action: Action,
    /// The port that the packet is sent to, or that a hook sent it to last; of one that leaves the number of the point.
    pub port: PortId,
    /// The queue there.
    pub queue: QueueId,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Its last bit leaves by the port.
    Transmit,
    /// A hook of the ingress half sent it to the queue.
    Forward,
    /// A hook of the egress half took it back and sent it to the queue.
    Move,
    /// A hook of the egress half had the queue hold it.
    Hold,
    /// It was made: a copy, or a mechanism's own packet.
    Create,
    /// It ended.
    End(DropReason),
    /// It was copied to one more port because nobody knows, or because it is meant for all.
    Flood,
    /// The link spoilt it.
    Corrupted,
    /// The link was down.
    LostDown,
    /// It left the fabric.
    Leave,
}

impl Action {
    /// What a hook's verdict comes to; none for going on, and for a drop, which is told when the packet ends.
    pub const fn of(half: Half, verdict: Verdict) -> Option<Self> {
        match (half, verdict) {
            (_, Verdict::Continue | Verdict::Drop(_)) => None,
            (_, Verdict::Hold { .. }) => Some(Action::Hold),
            (Half::Ingress, Verdict::Forward { .. }) => Some(Action::Forward),
            (Half::Egress, Verdict::Forward { .. }) => Some(Action::Move),
        }
    }

    /// Whether it is what becomes of a packet, and not how: it leaves the fabric, ends, or is lost. A port without
    /// hooks hands a packet over as soon as it knows when it leaves, so that [`Action::Transmit`] is none of these.
    pub const fn is_fate(self) -> bool {
        use Action::{Corrupted, End, Flood, Leave, LostDown};
        matches!(self, End(_) | Flood | Corrupted | LostDown | Leave)
    }

    const WITHOUT_REASON: [Action; 9] = [
        Action::Transmit,
        Action::Forward,
        Action::Move,
        Action::Hold,
        Action::Create,
        Action::Flood,
        Action::Corrupted,
        Action::LostDown,
        Action::Leave,
    ];
    /// From here on the number is that of a reason.
    const FIRST_END: u8 = 64;

    /// Its number in a recording.
    pub fn number(self) -> u8 {
        match self {
            Action::End(reason) => Self::FIRST_END + reason as u8,
            other => {
                Self::WITHOUT_REASON.iter().position(|&known| known == other).expect("all others are listed") as u8
            }
        }
    }

    /// The action of that number.
    pub fn from_number(number: u8) -> Option<Self> {
        match number.checked_sub(Self::FIRST_END) {
            Some(reason) => DropReason::ALL.get(usize::from(reason)).copied().map(Action::End),
            None => Self::WITHOUT_REASON.get(usize::from(number)).copied(),
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Action::Transmit => "transmit",
            Action::Forward => "forward",
            Action::Move => "move",
            Action::Hold => "hold",
            Action::Create => "create",
            Action::End(reason) => return write!(f, "end: {}", reason.name()),
            Action::Flood => "flood",
            Action::Corrupted => "corrupted on the link",
            Action::LostDown => "lost on a link that was down",
            Action::Leave => "leave",
        };
        f.write_str(name)
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, packet, switch, action, port, queue } = self;
        let at_ps = at.as_ps();
        write!(f, "{at_ps} ps, packet {packet}, switch {switch}, port {}, queue {}: {action}", port.0, queue.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_survives_its_number() {
        let ends = DropReason::ALL.into_iter().map(Action::End);
        for action in Action::WITHOUT_REASON.into_iter().chain(ends) {
            assert_eq!(Action::from_number(action.number()), Some(action));
        }
        assert_eq!((Action::from_number(63), Action::from_number(255)), (None, None));
    }
}
