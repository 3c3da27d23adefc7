//! Headers of mechanisms in a frame: the shims of a descriptor that a program sees, and the conversion of its bytes
//! back to shims.
//!
//! A frame of a protected link carries the packet behind the link's headers, as in crates/core/src/wire/link. RIMM's
//! three headers follow the Ethernet header under separate types. The priority mark is between IPv4 and the transport.

use crate::linkguardian::headers::{AckHeader, DataHeader, LossNotification};
use crate::rimm::headers::{DetourHeader, MessageHeader, TelemetryHeader};
use hitless_core::wire::mac_control::PauseFrame;
use hitless_core::wire::priority_mark::PriorityMark;
use hitless_core::wire::shim::ShimStackFull;
use hitless_core::wire::{Packet, Shim, ShimId};

pub const ETHERNET_BYTES: usize = 14;
const TYPE_AT: usize = 12;
const LINK_TYPE: u16 = 0x88b5;
const LINK_VERSION: u8 = 1;
const HAS_INNER: u8 = 0x80;
/// The IP protocol of the priority mark (RFC 3692, for experiments).
pub const MARK_PROTOCOL: u8 = 253;
/// Bytes of an IPv4 header without options.
pub const IPV4_BYTES: usize = 20;
/// The mark with the protocol of the following header.
pub const MARK_BYTES: usize = PriorityMark::BYTES + 1;

/// The place of a header, with the value that identifies it there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Link(u8),
    Ethernet(u16),
    /// Behind the IPv4 header.
    Ip,
}

struct Seen {
    id: ShimId,
    wire_bytes: u32,
    place: Place,
    set: fn(&mut Packet, Option<&[u8]>) -> Result<(), ShimStackFull>,
}

impl Seen {
    const fn new<S: Shim>(place: Place) -> Self {
        Self { id: S::ID, wire_bytes: S::WIRE_BYTES, place, set: set::<S> }
    }
}

const SEEN: [Seen; 8] = [
    Seen::new::<DataHeader>(Place::Link(1)),
    Seen::new::<AckHeader>(Place::Link(2)),
    Seen::new::<LossNotification>(Place::Link(3)),
    Seen::new::<PauseFrame>(Place::Link(4)),
    Seen::new::<DetourHeader>(Place::Ethernet(0x9d01)),
    Seen::new::<TelemetryHeader>(Place::Ethernet(0x9d02)),
    Seen::new::<MessageHeader>(Place::Ethernet(0x9d03)),
    Seen::new::<PriorityMark>(Place::Ip),
];

fn set<S: Shim>(packet: &mut Packet, bytes: Option<&[u8]>) -> Result<(), ShimStackFull> {
    let Some(shim) = bytes.map(S::parse) else {
        packet.remove_shim::<S>();
        return Ok(());
    };
    if packet.shims.replace(shim) { Ok(()) } else { packet.push_shim(shim) }
}

fn seen(packet: &Packet) -> impl Iterator<Item = (&'static Seen, &[u8])> {
    packet.shims.iter().filter_map(|(id, bytes)| Some((SEEN.iter().find(|seen| seen.id == id)?, bytes)))
}

/// Whether the frame belongs to a protected link and carries no packet: a dummy, an explicit acknowledgement, a loss
/// notification, or a pause frame.
pub fn carries_nothing(packet: &Packet) -> bool {
    let shims = &packet.shims;
    if shims.is_empty() {
        return false;
    }
    shims.get::<DataHeader>().is_some_and(|data| data.dummy)
        || shims.get::<AckHeader>().is_some_and(|ack| !ack.piggybacked)
        || shims.contains::<PauseFrame>()
}

/// Bytes of the packet without the headers before IPv4 and without check sequence. A priority mark, if any, is between
/// IPv4 and the transport, and counts.
pub fn base_bytes(packet: &Packet) -> u32 {
    let outer = seen(packet).filter(|(seen, _)| seen.place != Place::Ip).map(|(seen, _)| seen.wire_bytes);
    packet.frame_bytes.saturating_sub(4 + outer.sum::<u32>())
}

/// Inserts the headers before IPv4 into `bytes`, which has the packet without them.
pub fn wrap(packet: &Packet, bytes: &mut Vec<u8>, unseen_bytes: usize) -> usize {
    if packet.shims.is_empty() {
        return unseen_bytes;
    }
    for (seen, shim) in seen(packet) {
        if let Place::Ethernet(ether_type) = seen.place {
            // The packet's EtherType moves behind the inserted header, as with a VLAN tag.
            let own = [bytes[TYPE_AT], bytes[TYPE_AT + 1]];
            bytes[TYPE_AT..ETHERNET_BYTES].copy_from_slice(&ether_type.to_be_bytes());
            bytes.splice(ETHERNET_BYTES..ETHERNET_BYTES, shim.iter().copied().chain(own));
        }
    }
    let on_link = || {
        seen(packet).filter_map(|(seen, shim)| match seen.place {
            Place::Link(kind) => Some((kind, shim)),
            _ => None,
        })
    };
    let count = on_link().count() as u8;
    if count == 0 {
        return unseen_bytes;
    }
    let mut outer = vec![0xff; 6];
    outer.extend([0; 6]);
    outer.extend(LINK_TYPE.to_be_bytes());
    let inner = if carries_nothing(packet) { 0 } else { HAS_INNER };
    outer.extend([LINK_VERSION, inner | count]);
    on_link().for_each(|(kind, shim)| outer.extend(std::iter::once(kind).chain(shim.iter().copied())));
    if inner == 0 {
        // The minimum frame without its check sequence.
        outer.resize(outer.len().max(60), 0);
        *bytes = outer;
        return 0;
    }
    outer.extend(((bytes.len() + unseen_bytes) as u16).to_be_bytes());
    bytes.splice(0..0, outer);
    unseen_bytes
}

/// A departing frame of a program, split into its parts.
#[derive(Debug, Default)]
pub struct Unwrapped<'b> {
    /// The bytes of each header, by its number in [`SEEN`].
    shims: [Option<&'b [u8]>; SEEN.len()],
    /// The packet from its Ethernet header, in two parts: the addresses, and the bytes behind the last EtherType of a
    /// header. `None` if the frame carries no packet.
    pub base: Option<(&'b [u8], &'b [u8])>,
}

/// Splits a frame.
///
/// # Errors The part that is no header of a simulated packet.
pub fn unwrap(bytes: &[u8]) -> Result<Unwrapped<'_>, &'static str> {
    let mut all = Unwrapped::default();
    let mut frame = bytes;
    if type_of(frame)? == LINK_TYPE {
        let Some(inner) = unwrap_link(&frame[ETHERNET_BYTES..], &mut all)? else { return Ok(all) };
        frame = inner;
    }
    let (addresses, mut rest) = frame.split_at(TYPE_AT);
    while let Some(number) = named(|place| place == Place::Ethernet(type_at(rest))) {
        let behind = take(number, &rest[2..], &mut all)?;
        rest = Some(behind).filter(|behind| behind.len() >= 2).ok_or("half a header")?;
    }
    all.base = Some((addresses, rest));
    // Behind the two bytes of the EtherType, IPv4 has its protocol in byte 9 (RFC 791, section 3.1).
    let is_marked = rest.get(2 + 9) == Some(&MARK_PROTOCOL) && type_at(rest) == 0x0800;
    if let Some(number) = named(|place| place == Place::Ip && is_marked) {
        take(number, rest.get(2 + IPV4_BYTES..).ok_or("half a header")?, &mut all)?;
    }
    Ok(all)
}

fn unwrap_link<'b>(bytes: &'b [u8], all: &mut Unwrapped<'b>) -> Result<Option<&'b [u8]>, &'static str> {
    let &[LINK_VERSION, flags, ref rest @ ..] = bytes else { return Err("another version of the link's header") };
    let mut rest = rest;
    for _ in 0..flags & 0x0f {
        let (&kind, behind) = rest.split_first().ok_or("half a header")?;
        let number = named(|place| place == Place::Link(kind)).ok_or("a header of the link that is not known")?;
        rest = take(number, behind, all)?;
    }
    if flags & HAS_INNER == 0 {
        return Ok(None);
    }
    let inner = rest.get(2..).filter(|inner| inner.len() >= ETHERNET_BYTES).ok_or("half a header")?;
    Ok(Some(inner))
}

fn type_of(frame: &[u8]) -> Result<u16, &'static str> {
    if frame.len() < ETHERNET_BYTES { Err("half a header") } else { Ok(type_at(&frame[TYPE_AT..])) }
}

fn type_at(bytes: &[u8]) -> u16 {
    u16::from_be_bytes([bytes[0], bytes[1]])
}

fn named(is_meant: impl Fn(Place) -> bool) -> Option<usize> {
    SEEN.iter().position(|seen| is_meant(seen.place))
}

fn take<'b>(number: usize, bytes: &'b [u8], all: &mut Unwrapped<'b>) -> Result<&'b [u8], &'static str> {
    let (own, behind) = bytes.split_at_checked(SEEN[number].id.bytes()).ok_or("half a header")?;
    if all.shims[number].replace(own).is_some() { Err("a header twice") } else { Ok(behind) }
}

impl Unwrapped<'_> {
    /// Gives the packet these headers, and removes all other visible ones.
    ///
    /// # Errors If there is no room for them.
    pub fn put_on(&self, packet: &mut Packet) -> Result<(), &'static str> {
        if packet.shims.is_empty() && self.shims.iter().all(Option::is_none) {
            return Ok(());
        }
        let both = || SEEN.iter().zip(self.shims);
        // Removals come first: they make room for new headers.
        let mut all = both().filter(|(_, bytes)| bytes.is_none()).chain(both().filter(|(_, bytes)| bytes.is_some()));
        all.try_for_each(|(seen, bytes)| (seen.set)(packet, bytes))
            .map_err(|_| "more headers than a packet can have")?;
        packet.is_link_retransmission = packet.shims.get::<DataHeader>().is_some_and(|data| data.retransmitted);
        Ok(())
    }
}
