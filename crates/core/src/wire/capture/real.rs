//! Frames of real hosts, which a lab captures.

use super::headers::{FrameBytes, protocol};
use super::roce;
use crate::wire::frame::{Fragment, Frame};
use crate::wire::link::{LinkHeaderSet, put_captured};
use crate::wire::shim::ShimStack;

/// Both addresses of Ethernet.
const ADDRESSES_BYTES: usize = 12;

/// Writes a real frame of a host, with the headers of mechanisms around it if there are any.
pub fn real_frame(body: &[u8], shims: &ShimStack, spoken: &LinkHeaderSet, is_whole: bool) -> FrameBytes {
    let mut around = body[..body.len().min(ADDRESSES_BYTES)].to_vec();
    if !put_captured(spoken, shims, Some(body.len() as u32), &mut around) {
        return FrameBytes::of(body, header_bytes(body), is_whole);
    }
    let before_bytes = around.len();
    around.extend(body);
    FrameBytes::of(&around, before_bytes + header_bytes(body), is_whole)
}

/// Returns the length of a frame's headers through TCP, UDP or RoCEv2; the frame length for other protocols.
pub fn header_bytes(frame: &[u8]) -> usize {
    let ip = Frame::parse(frame).ok().and_then(|parsed| parsed.ip.map(|ip| (parsed.payload_at, ip)));
    let Some((payload_at, ip)) = ip else { return frame.len() };
    let is_roce = ip.protocol == protocol::UDP && ip.ports.is_some_and(|ports| ports.destination == roce::PORT);
    if ip.ports.is_none() && ip.fragment != Fragment::Later {
        return frame.len();
    }
    payload_at + ip.datagram_bytes - ip.payload_bytes + if is_roce { roce::HEADER_BYTES_MAX } else { 0 }
}
