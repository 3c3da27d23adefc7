//! LinkGuardian's headers on links between processes.

use hitless_core::wire::link::{LinkHeader, LinkHeaders, parse};
use hitless_core::wire::mac_control::PauseFrame;
use hitless_core::wire::shim::ShimStack;

use super::{AckHeader, ControlHeader, DataHeader, LossNotification, Message, SequenceNumber};

const CLASSES: u8 = 8;

/// The headers that the two ends of a protected link exchange.
pub static ON_LINKS: LinkHeaders = LinkHeaders {
    headers: &[
        LinkHeader::new::<DataHeader>(1, |bytes, stack| parse(bytes, stack, DataHeader::is_for_links)),
        LinkHeader::new::<AckHeader>(2, |bytes, stack| parse(bytes, stack, |_: &AckHeader| true)),
        LinkHeader::new::<LossNotification>(3, |bytes, stack| {
            parse(bytes, stack, |loss: &LossNotification| loss.count > 0)
        }),
        LinkHeader::new::<PauseFrame>(4, |bytes, stack| parse(bytes, stack, is_ours)),
        LinkHeader::new::<ControlHeader>(5, |bytes, stack| {
            parse(bytes, stack, |header: &ControlHeader| header.message != Message::Unknown)
        }),
    ],
    may_combine,
    is_retransmission: |shims| shims.get::<DataHeader>().is_some_and(|header| header.retransmitted),
};

fn is_ours(frame: &PauseFrame) -> bool {
    frame.class < CLASSES && (frame.is_resume() || *frame == PauseFrame::pause(frame.class))
}

fn may_combine(shims: &ShimStack, has_packet: bool) -> bool {
    if shims.contains::<PauseFrame>() || shims.contains::<ControlHeader>() {
        return shims.iter().count() == 1 && !has_packet;
    }
    // With a packet an acknowledgement is piggybacked; all other frames carry no packet.
    match (shims.get::<DataHeader>(), shims.get::<AckHeader>(), shims.get::<LossNotification>(), has_packet) {
        (data, ack, None, true) => data.is_none_or(|data| !data.dummy) && ack.is_none_or(|ack| ack.piggybacked),
        (Some(data), None, None, false) => data.dummy,
        (None, Some(ack), loss, false) => !ack.piggybacked && loss.is_none_or(|loss| agree(ack, loss)),
        _ => false,
    }
}

/// Whether a notification and its acknowledgement are consistent. The notification acknowledges its last loss (found by
/// a dummy) or the packet behind it. Only a gap longer than its count can end later, and no gap exceeds half the range
/// of numbers, beyond which numbers cannot be compared.
fn agree(ack: AckHeader, loss: LossNotification) -> bool {
    let reach = ack.acknowledged.steps_from(loss.first_lost);
    let count = u32::from(loss.count);
    let is_longer = loss.count == u8::MAX && (count..SequenceNumber::RANGE / 2).contains(&reach);
    reach == count - 1 || reach == count || is_longer
}
