//! What a frame of the link may hold, whoever sent it.
//!
//! These are the rules that need no state. How far a number may lie from the last one is for the mechanism to judge.

use super::refusal::Refusal;
use crate::linkguardian::{AckHeader, ControlHeader, DataHeader, LossNotification, Message, SequenceNumber};
use crate::pause::PauseFrame;
use crate::priority_mark::PriorityMark;
use crate::rimm::{DetourHeader, MessageHeader, TelemetryHeader};
use crate::shim::{CheckNumber, DetourCount, Shim, ShimId, ShimStack};

const CLASSES: u8 = 8;

/// A header that goes on links.
struct OnLinks {
    id: ShimId,
    /// Its number on links; it never changes.
    code: u8,
    take: fn(&[u8], &mut ShimStack) -> Result<usize, Refusal>,
}

impl OnLinks {
    const fn new<S: Shim>(code: u8, take: fn(&[u8], &mut ShimStack) -> Result<usize, Refusal>) -> Self {
        Self { id: S::ID, code, take }
    }
}

/// Every header that goes on links. What is not here means nothing outside of a switch.
const ON_LINKS: [OnLinks; 10] = [
    OnLinks::new::<DataHeader>(1, |bytes, stack| take_as(bytes, stack, DataHeader::is_for_links, Refusal::DataHeader)),
    OnLinks::new::<AckHeader>(2, |bytes, stack| take_as::<AckHeader>(bytes, stack, |_| true, Refusal::Acknowledgement)),
    OnLinks::new::<LossNotification>(3, |bytes, stack| {
        take_as(bytes, stack, reports_a_loss, Refusal::LossNotification)
    }),
    OnLinks::new::<PauseFrame>(4, |bytes, stack| take_as(bytes, stack, is_ours, Refusal::Pause)),
    OnLinks::new::<ControlHeader>(5, |bytes, stack| take_as(bytes, stack, is_known, Refusal::Control)),
    OnLinks::new::<DetourHeader>(6, |bytes, stack| take_as::<DetourHeader>(bytes, stack, |_| true, Refusal::Detour)),
    OnLinks::new::<TelemetryHeader>(7, |bytes, stack| {
        take_as::<TelemetryHeader>(bytes, stack, |_| true, Refusal::Detour)
    }),
    OnLinks::new::<MessageHeader>(8, |bytes, stack| take_as::<MessageHeader>(bytes, stack, |_| true, Refusal::Detour)),
    OnLinks::new::<PriorityMark>(9, |bytes, stack| take_as::<PriorityMark>(bytes, stack, |_| true, Refusal::Mark)),
    OnLinks::new::<DetourCount>(10, |bytes, stack| take_as(bytes, stack, has_counted, Refusal::Mark)),
];

/// The number of a header on links; `None` for one that does not go there.
pub fn code_of(id: ShimId) -> Option<u8> {
    ON_LINKS.iter().find(|header| header.id == id).map(|header| header.code)
}

/// The header that has this number on links.
pub fn id_of(code: u8) -> Option<ShimId> {
    ON_LINKS.iter().find(|header| header.code == code).map(|header| header.id)
}

/// Whether it is for checkers and counters of a simulation, and left out of a frame: no room is counted for it.
pub fn is_for_observers(id: ShimId) -> bool {
    id == CheckNumber::ID
}

/// What the two ends of a link must run for a header on it to mean something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Partners {
    /// The link is protected in one direction at least.
    pub protection: bool,
    /// Neighbouring switches lend each other their buffers.
    pub lending: bool,
    /// Packets have a priority.
    pub priority: bool,
}

impl Partners {
    /// Whether all headers on a frame mean something between them.
    pub fn expect(self, shims: &ShimStack) -> bool {
        shims.iter().all(|(id, _)| match id {
            DataHeader::ID | AckHeader::ID | LossNotification::ID | PauseFrame::ID | ControlHeader::ID => {
                self.protection
            }
            DetourHeader::ID | TelemetryHeader::ID | MessageHeader::ID => self.lending,
            PriorityMark::ID => self.priority,
            _ => true,
        })
    }
}

/// Reads the shim of this kind from the front of `bytes`, checks it, and puts it on the stack; returns its length.
pub fn take(id: ShimId, bytes: &[u8], stack: &mut ShimStack) -> Result<usize, Refusal> {
    let header = ON_LINKS.iter().find(|header| header.id == id).ok_or(Refusal::UnknownKind)?;
    (header.take)(bytes, stack)
}

/// A shim is taken when it is legal and says nothing beyond what its type keeps: reserved bits are zero.
fn take_as<S: Shim>(
    bytes: &[u8],
    stack: &mut ShimStack,
    is_legal: fn(&S) -> bool,
    refusal: Refusal,
) -> Result<usize, Refusal> {
    let bytes = bytes.get(..S::BYTES).ok_or(Refusal::Truncated)?;
    if stack.contains::<S>() {
        return Err(Refusal::DuplicateKind);
    }
    let shim = S::parse(bytes);
    let mut again = [0; ShimStack::CAPACITY_BYTES];
    shim.emit(&mut again[..S::BYTES]);
    if !is_legal(&shim) || again[..S::BYTES] != *bytes {
        return Err(refusal);
    }
    stack.push(shim).map_err(|_| Refusal::Composition)?;
    Ok(S::BYTES)
}

fn reports_a_loss(loss: &LossNotification) -> bool {
    loss.count > 0
}

fn has_counted(count: &DetourCount) -> bool {
    count.0 > 0
}

fn is_known(header: &ControlHeader) -> bool {
    header.message != Message::Unknown
}

fn is_ours(frame: &PauseFrame) -> bool {
    frame.class < CLASSES && (frame.is_resume() || *frame == PauseFrame::pause(frame.class))
}

/// Whether these shims come together, and with an inner frame or without.
pub fn check_composition(shims: &ShimStack, has_inner: bool) -> Result<(), Refusal> {
    let data: Option<DataHeader> = shims.get();
    let ack: Option<AckHeader> = shims.get();
    let loss: Option<LossNotification> = shims.get();
    let is_alone = shims.iter().count() == 1;
    let of_neighbours =
        [shims.contains::<DetourHeader>(), shims.contains::<TelemetryHeader>(), shims.contains::<MessageHeader>()];
    let about_the_packet = [shims.contains::<PriorityMark>(), shims.contains::<DetourCount>()];
    let is_without_packet = !has_inner && of_neighbours.iter().chain(&about_the_packet).any(|&is_there| is_there);
    if is_without_packet || of_neighbours.iter().filter(|&&is_there| is_there).count() > 1 {
        return Err(Refusal::Composition);
    }
    let is_known = match (data, ack, loss, has_inner) {
        _ if shims.contains::<PauseFrame>() || shims.contains::<ControlHeader>() => is_alone && !has_inner,
        (data, ack, None, true) => data.is_none_or(|data| !data.dummy) && ack.is_none_or(|ack| ack.piggybacked),
        (Some(data), None, None, false) => data.dummy,
        (None, Some(ack), loss, false) => {
            return match loss {
                _ if ack.piggybacked => Err(Refusal::Composition),
                Some(loss) => check_loss(ack, loss),
                None => Ok(()),
            };
        }
        _ => false,
    };
    if is_known { Ok(()) } else { Err(Refusal::Composition) }
}

/// A notification acknowledges its last loss (found by a dummy) or the packet behind it; only a gap longer than it can
/// count may end later, and no gap is longer than half the range of numbers, beyond which none can be told.
fn check_loss(ack: AckHeader, loss: LossNotification) -> Result<(), Refusal> {
    let reach = ack.acknowledged.steps_from(loss.first_lost);
    let count = u32::from(loss.count);
    let is_longer = loss.count == u8::MAX && (count..SequenceNumber::RANGE / 2).contains(&reach);
    let is_consistent = reach == count - 1 || reach == count || is_longer;
    if is_consistent { Ok(()) } else { Err(Refusal::LossNotification) }
}
