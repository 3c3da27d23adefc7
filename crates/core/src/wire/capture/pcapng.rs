//! Blocks of a pcapng file (draft-ietf-opsawg-pcapng), in little-endian order, with times in nanoseconds: readers lose
//! digits of finer ones.

use super::headers::FrameBytes;
use crate::wire::units::{BitRate, Time};

const ETHERNET: u16 = 1;
const PS_PER_NS: u64 = 1_000;
const NANOSECONDS: u8 = 9;

/// Numbers of blocks.
mod block {
    pub const SECTION: u32 = 0x0a0d_0d0a;
    pub const INTERFACE: u32 = 1;
    pub const STATISTICS: u32 = 5;
    pub const PACKET: u32 = 6;
}

/// Numbers of options; those above 1 belong to one block each.
mod option {
    pub const COMMENT: u16 = 1;
    pub const SECTION_APPLICATION: u16 = 4;
    pub const INTERFACE_NAME: u16 = 2;
    pub const INTERFACE_DESCRIPTION: u16 = 3;
    pub const INTERFACE_SPEED: u16 = 8;
    pub const INTERFACE_RESOLUTION: u16 = 9;
    pub const PACKET_FLAGS: u16 = 2;
    pub const PACKET_IDENTITY: u16 = 5;
    pub const PACKET_QUEUE: u16 = 6;
    pub const STATISTICS_ACCEPTED: u16 = 6;
    pub const STATISTICS_DELIVERED: u16 = 8;
}

/// Direction and errors of a packet.
pub mod flag {
    pub const INBOUND: u32 = 1;
    pub const OUTBOUND: u32 = 2;
    pub const CHECK_SEQUENCE_ERROR: u32 = 1 << 24;
}

/// Appends a block of this number with the body that `fill` writes.
fn put_block(out: &mut Vec<u8>, number: u32, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    put(out, number);
    put(out, 0);
    fill(out);
    let length = ((out.len() - start + 4) as u32).to_le_bytes();
    out[start + 4..start + 8].copy_from_slice(&length);
    out.extend(length);
}

fn put(out: &mut Vec<u8>, number: u32) {
    out.extend(number.to_le_bytes());
}

fn align(out: &mut Vec<u8>) {
    // Blocks have lengths of multiples of 4, so the place in the file can replace the place in the block.
    out.resize(out.len().next_multiple_of(4), 0);
}

fn put_option(out: &mut Vec<u8>, number: u16, bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(u16::MAX.into())];
    out.extend(number.to_le_bytes());
    out.extend((bytes.len() as u16).to_le_bytes());
    out.extend_from_slice(bytes);
    align(out);
}

fn end_options(out: &mut Vec<u8>) {
    put(out, 0);
}

fn put_time(out: &mut Vec<u8>, at: Time) {
    let ns = at.as_ps() / PS_PER_NS;
    put(out, (ns >> 32) as u32);
    put(out, ns as u32);
}

pub fn put_section(out: &mut Vec<u8>, application: &str, comment: &str) {
    put_block(out, block::SECTION, |out| {
        put(out, 0x1a2b_3c4d);
        out.extend(1_u16.to_le_bytes());
        out.extend(0_u16.to_le_bytes());
        // The length of the section is not given.
        out.extend(u64::MAX.to_le_bytes());
        put_option(out, option::COMMENT, comment.as_bytes());
        put_option(out, option::SECTION_APPLICATION, application.as_bytes());
        end_options(out);
    });
}

/// Appends an interface; they are numbered from 0.
pub fn put_interface(out: &mut Vec<u8>, name: &str, description: &str, rate: Option<BitRate>) {
    put_block(out, block::INTERFACE, |out| {
        out.extend(ETHERNET.to_le_bytes());
        out.extend(0_u16.to_le_bytes());
        // No limit for the kept bytes.
        put(out, 0);
        put_option(out, option::INTERFACE_NAME, name.as_bytes());
        put_option(out, option::INTERFACE_DESCRIPTION, description.as_bytes());
        if let Some(rate) = rate {
            put_option(out, option::INTERFACE_SPEED, &rate.as_bps().to_le_bytes());
        }
        put_option(out, option::INTERFACE_RESOLUTION, &[NANOSECONDS]);
        end_options(out);
    });
}

/// A captured packet, besides its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Captured<'a> {
    pub interface: u32,
    pub at: Time,
    /// [`flag`]s.
    pub flags: u32,
    /// The same number for a packet at all interfaces.
    pub identity: Option<u64>,
    /// Queue of the interface.
    pub queue: Option<u32>,
    /// Remarks; an empty text is left out.
    pub comment: &'a str,
    /// Whether the payload is kept.
    pub is_whole: bool,
}

pub fn put_packet(out: &mut Vec<u8>, captured: &Captured<'_>, frame: &FrameBytes) {
    put_block(out, block::PACKET, |out| {
        put(out, captured.interface);
        put_time(out, captured.at);
        put(out, frame.kept_bytes(captured.is_whole));
        put(out, frame.length_bytes());
        frame.put(captured.is_whole, out);
        align(out);
        if !captured.comment.is_empty() {
            put_option(out, option::COMMENT, captured.comment.as_bytes());
        }
        if captured.flags != 0 {
            put_option(out, option::PACKET_FLAGS, &captured.flags.to_le_bytes());
        }
        if let Some(identity) = captured.identity {
            put_option(out, option::PACKET_IDENTITY, &identity.to_le_bytes());
        }
        if let Some(queue) = captured.queue {
            put_option(out, option::PACKET_QUEUE, &queue.to_le_bytes());
        }
        end_options(out);
    });
}

/// Appends the counters of an interface at the end of the file: packets that the filter accepted, and packets kept.
pub fn put_statistics(out: &mut Vec<u8>, interface: u32, at: Time, accepted: u64, kept: u64) {
    put_block(out, block::STATISTICS, |out| {
        put(out, interface);
        put_time(out, at);
        put_option(out, option::STATISTICS_ACCEPTED, &accepted.to_le_bytes());
        put_option(out, option::STATISTICS_DELIVERED, &kept.to_le_bytes());
        end_options(out);
    });
}
