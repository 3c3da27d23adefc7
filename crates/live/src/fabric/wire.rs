//! Conversion between the bytes of frames and packets.

use hitless_core::wire::frame::{FlowHashSeed, Frame, MINIMUM_BYTES, MacAddress, mark_ce};
use hitless_core::wire::link::{ADDED_BYTES_WITH_ALL_SHIMS, LinkFormat, LinkHeaderSet, Refusal};
use hitless_core::wire::packet::MINIMUM_FRAME_BYTES;
use hitless_core::wire::shim::{CheckNumber, DetourCount, ShimStack};
use hitless_core::wire::{Ecn, Packet, PriorityMark, ServiceKey};

use super::frames::FrameInfo;

/// The fields read from a frame of a host.
pub(super) struct Read {
    pub destination: MacAddress,
    pub source: MacAddress,
    /// Length, class, ECN and hash.
    pub packet: Packet,
    /// The urgency given by its code point.
    pub mark: Option<PriorityMark>,
    pub service: ServiceKey,
}

/// Reads a frame of a host; `None` without a whole Ethernet header.
pub(super) fn read(bytes: &[u8], seed: FlowHashSeed) -> Option<Read> {
    let frame = Frame::parse(bytes).ok()?;
    // A bridge does not change the time to live; the fabric counts its own hops.
    let packet = Packet { ttl: Packet::INITIAL_TTL, ..frame.describe(seed) };
    let Frame { destination, source, .. } = frame;
    Some(Read { destination, source, packet, mark: frame.priority_mark(), service: frame.service_key() })
}

/// The contents of a frame from a switch elsewhere.
pub(super) struct FromSwitch {
    pub shims: ShimStack,
    /// Position of the inner host frame in the bytes.
    pub inner: Option<(usize, usize)>,
}

/// Reads a frame of a link between switches.
pub(super) fn read_link(bytes: &[u8], format: &LinkFormat, spoken: &LinkHeaderSet) -> Result<FromSwitch, Refusal> {
    let frame = format.decode(spoken, bytes)?;
    let inner = frame.inner.map(|inner| {
        let start = inner.as_ptr().addr() - bytes.as_ptr().addr();
        (start, start + inner.len())
    });
    Ok(FromSwitch { shims: frame.shims, inner })
}

/// Puts a mark on a packet without lengthening it: the mark's information is already in the frame's bytes.
pub(super) fn with_mark(mut packet: Packet, mark: PriorityMark) -> Packet {
    // A packet without room for it (with all headers of a link) has the highest priority, like all packets without a
    // mark.
    let _ = packet.shims.push(mark);
    packet
}

/// Puts the shims of a link on a packet and lengthens it. A mark from the switch elsewhere replaces the mark read from
/// the bytes; each detour has cost a hop.
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

/// Makes a packet without a host's frame: an acknowledgement, a dummy, a pause frame.
pub(super) fn control_packet(shims: ShimStack, spoken: &LinkHeaderSet) -> Packet {
    let packet = Packet {
        frame_bytes: MINIMUM_FRAME_BYTES.saturating_sub(spoken.wire_bytes(&shims)),
        ttl: Packet::INITIAL_TTL,
        ..Packet::default()
    };
    with_shims(packet, shims, spoken)
}

/// Returns the headers of mechanisms on a packet. A packet for a host has lost them all.
pub(super) fn headers_of_mechanisms(packet: &Packet) -> ShimStack {
    let mut shims = packet.shims;
    shims.remove::<CheckNumber>();
    shims.remove::<DetourCount>();
    shims.remove::<PriorityMark>();
    shims
}

/// Returns the bytes for a host: the received bytes, with the mark of congestion if a switch has set it since.
pub(super) fn write_to_host<'a>(
    packet: &Packet,
    ecn_before: Ecn,
    body: &'a [u8],
    scratch: &'a mut Vec<u8>,
) -> Result<&'a [u8], String> {
    let shims = headers_of_mechanisms(packet);
    if !shims.is_empty() {
        return Err(format!("a packet left for a host with what belongs into the fabric on it: {shims:?}"));
    }
    Ok(marked(packet, ecn_before, body, scratch))
}

/// Returns the bytes for a switch elsewhere, which reads the priority from them unless it has changed; a message takes
/// its packet's headers along. `None` if a header belongs to a mechanism that the other end does not run. This happens
/// after a failure, when packets take links that the scenario did not plan for them.
pub(super) fn write_to_switch<'a>(
    packet: &Packet,
    before: &FrameInfo,
    body: Option<&[u8]>,
    (format, spoken, known): (&LinkFormat, &LinkHeaderSet, &LinkHeaderSet),
    [marking, out]: [&'a mut Vec<u8>; 2],
) -> Result<Option<&'a [u8]>, String> {
    let shims = shims_of(packet, before);
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

/// Returns the headers of a packet, without a priority that its bytes tell.
pub(super) fn shims_of(packet: &Packet, before: &FrameInfo) -> ShimStack {
    let mut shims = packet.shims;
    if shims.get::<PriorityMark>() == before.mark {
        shims.remove::<PriorityMark>();
    }
    shims
}

/// Returns the received bytes, with the mark of congestion if a switch has set it since.
pub(super) fn marked<'a>(packet: &Packet, ecn_before: Ecn, body: &'a [u8], scratch: &'a mut Vec<u8>) -> &'a [u8] {
    if packet.ecn != Ecn::CongestionExperienced || ecn_before == Ecn::CongestionExperienced {
        return body;
    }
    scratch.clear();
    scratch.extend_from_slice(body);
    mark_ce(scratch);
    scratch
}
