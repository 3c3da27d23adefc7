//! Deparsing: from values back to bytes.

use crate::bits;
use crate::packet::Packet;
use crate::program::Program;

/// Appends `header` in its wire format.
#[inline]
pub fn emit(program: &Program, packet: &Packet, header: u32, to: &mut Vec<u8>) {
    let of = &program.headers[header as usize];
    let Some(varbit) = of.varbit else {
        to.extend_from_slice(&packet.values[of.area()]);
        return;
    };
    let length = packet.var_bits[header as usize] as usize;
    let first = 8 * to.len();
    let fixed = 8 * of.wire_bytes as usize;
    let (start, before) = (8 * of.start as usize, varbit.bits_before as usize);
    assert!(length <= varbit.slot.width as usize, "a field of variable length has at most the bits of its room");
    to.resize(to.len() + (fixed + length).div_ceil(8), 0);
    bits::copy(to, first, &packet.values, start, before);
    bits::copy(to, first + before, &packet.values, varbit.slot.bit as usize, length);
    bits::copy(to, first + before + length, &packet.values, start + before, fixed - before);
}

/// The departing packet: its valid headers in the deparser's order, then the payload, truncated to the length that the
/// program has set.
pub fn deparse(program: &Program, packet: &Packet, to: &mut Vec<u8>) {
    deparse_whole(program, packet, to);
    to.truncate(packet.length_max);
}

/// The departing packet without truncation.
pub fn deparse_whole(program: &Program, packet: &Packet, to: &mut Vec<u8>) {
    to.clear();
    for &header in &program.deparser {
        if packet.valid[header as usize] {
            emit(program, packet, header, to);
        }
    }
    to.extend_from_slice(packet.payload());
}
