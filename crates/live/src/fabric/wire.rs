//! What of a frame's bytes the fabric needs, and what of a packet the bytes must show.

use hitless_core::wire::frame::{FlowHashSeed, Frame, MINIMUM_BYTES, MacAddress, mark_ce};
use hitless_core::wire::link::{ADDED_BYTES_WITH_ALL_SHIMS, LinkFormat, LinkHeaderSet, Refusal};
use hitless_core::wire::packet::MINIMUM_FRAME_BYTES;
use hitless_core::wire::shim::{CheckNumber, DetourCount, ShimStack};
use hitless_core::wire::{Ecn, Packet, PriorityMark, ServiceKey};

use super::frames::FrameInfo;

/// What was read in a frame of a host.
pub(super) struct Read {
    pub destination: MacAddress,
    pub source: MacAddress,
    /// Length, class, ECN and hash.
    pub packet: Packet,
    /// What its code point says of its urgency.
    pub mark: Option<PriorityMark>,
    pub service: ServiceKey,
}

/// Reads a frame of a host; none when it has no Ethernet header.
pub(super) fn read(bytes: &[u8], seed: FlowHashSeed) -> Option<Read> {
    let frame = Frame::parse(bytes).ok()?;
    // A bridge leaves the time to live of what it forwards alone; the fabric counts its own hops.
    let packet = Packet { ttl: Packet::INITIAL_TTL, ..frame.describe(seed) };
    let Frame { destination, source, .. } = frame;
    Some(Read { destination, source, packet, mark: frame.priority_mark(), service: frame.service_key() })
}

/// What came over a link from a switch elsewhere.
pub(super) struct FromSwitch {
    pub shims: ShimStack,
    /// Where in the bytes the frame of a host lies that it carries.
    pub inner: Option<(usize, usize)>,
}

/// Reads a frame of a link between switches.
///
/// # Errors
/// [`Refusal`], also of headers that nothing here and there has written.
pub(super) fn read_link(bytes: &[u8], format: &LinkFormat, spoken: &LinkHeaderSet) -> Result<FromSwitch, Refusal> {
    let frame = format.decode(spoken, bytes)?;
    let inner = frame.inner.map(|inner| {
        let start = inner.as_ptr().addr() - bytes.as_ptr().addr();
        (start, start + inner.len())
    });
    Ok(FromSwitch { shims: frame.shims, inner })
}

/// Puts a mark on a packet, which does not grow by it: what it says is in the bytes that came.
pub(super) fn with_mark(mut packet: Packet, mark: PriorityMark) -> Packet {
    // One that has no room for it (a frame of a link with all headers) counts as the most urgent, as all without a
    // mark.
    let _ = packet.shims.push(mark);
    packet
}

/// Puts the shims of a link on a packet, which grows by them. What was read in its bytes stays, unless a switch
/// elsewhere knows better; and each detour has cost a hop.
pub(super) fn with_shims(packet: Packet, mut shims: ShimStack, spoken: &LinkHeaderSet) -> Packet {
    let mark = shims.remove::<PriorityMark>().or(packet.shims.get::<PriorityMark>());
    let detours = shims.get::<DetourCount>().map_or(0, |count| count.0);
    let packet = Packet { ttl: packet.ttl.saturating_sub(detours), ..grown_by(packet, shims, spoken) };
    mark.map_or(packet, |mark| with_mark(packet, mark))
}

fn grown_by(mut packet: Packet, shims: ShimStack, spoken: &LinkHeaderSet) -> Packet {
    packet.is_link_retransmission = spoken.is_retransmission(&shims);
    packet.frame_bytes += spoken.wire_bytes(&shims);
    packet.shims = shims;
    packet
}

/// A packet that carries no frame of a host: an acknowledgement, a dummy, a pause frame.
pub(super) fn control_packet(shims: ShimStack, spoken: &LinkHeaderSet) -> Packet {
    let packet = Packet {
        frame_bytes: MINIMUM_FRAME_BYTES.saturating_sub(spoken.wire_bytes(&shims)),
        ttl: Packet::INITIAL_TTL,
        ..Packet::default()
    };
    with_shims(packet, shims, spoken)
}

/// The bytes that leave for a host: those that came, with the mark of congestion when a switch has set it since.
///
/// # Errors
/// A sentence, when something of a switch's own is still on the packet.
pub(super) fn write_to_host<'a>(
    packet: &Packet,
    ecn_before: Ecn,
    body: &'a [u8],
    scratch: &'a mut Vec<u8>,
) -> Result<&'a [u8], String> {
    let mut shims = packet.shims;
    shims.remove::<CheckNumber>();
    shims.remove::<DetourCount>();
    shims.remove::<PriorityMark>();
    if !shims.is_empty() {
        return Err(format!("a packet left for a host with what belongs into the fabric on it: {shims:?}"));
    }
    Ok(marked(packet, ecn_before, body, scratch))
}

/// The bytes that leave for a switch elsewhere, which reads its priority in them again, if none has changed it; a
/// message takes the headers of its packet along. None for one with a header of something that the other end does not
/// run, as after a failure, which has other packets take this link than the scenario meant.
///
/// # Errors
/// A sentence, when something is on the packet that must not cross a link.
pub(super) fn write_to_switch<'a>(
    packet: &Packet,
    before: &FrameInfo,
    body: Option<&[u8]>,
    (format, spoken, known): (&LinkFormat, &LinkHeaderSet, &LinkHeaderSet),
    [marking, out]: [&'a mut Vec<u8>; 2],
) -> Result<Option<&'a [u8]>, String> {
    let mut shims = packet.shims;
    if shims.get::<PriorityMark>() == before.mark {
        shims.remove::<PriorityMark>();
    }
    if spoken.lacks(&shims, known) {
        return Ok(None);
    }
    let body = body.map(|body| marked(packet, before.ecn, body, marking));
    let is_cut = spoken.truncates_payload(&shims);
    let body = body.map(|body| if is_cut { &body[..body.len().min(MINIMUM_BYTES)] } else { body });
    out.resize(body.map_or(0, <[u8]>::len) + ADDED_BYTES_WITH_ALL_SHIMS + MINIMUM_BYTES, 0);
    let length = format.encode(spoken, &shims, body, out).map_err(|error| error.to_string())?;
    Ok(Some(&out[..length]))
}

fn marked<'a>(packet: &Packet, ecn_before: Ecn, body: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
    if packet.ecn != Ecn::CongestionExperienced || ecn_before == Ecn::CongestionExperienced {
        return body;
    }
    scratch.clear();
    scratch.extend_from_slice(body);
    mark_ce(scratch);
    scratch
}
