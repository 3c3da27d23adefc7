use crate::bits;
use crate::deparse::emit;
use crate::packet::Packet;
use crate::program::{Calculation, Input, Program};

/// Appends the fields of `calculation` to `buffer` bit by bit; invalid headers are skipped.
#[inline]
pub fn collect(program: &Program, packet: &Packet, calculation: &Calculation, buffer: &mut Vec<u8>) {
    buffer.clear();
    let mut end = 0;
    for input in &calculation.input {
        match input {
            &Input::Bits(header, bit, count) => {
                if packet.valid[header as usize] {
                    append(buffer, &mut end, &packet.values, bit as usize, count as usize);
                }
            }
            Input::Constant(bytes, width) => {
                append(buffer, &mut end, bytes, 8 * bytes.len() - *width as usize, *width as usize);
            }
            &Input::Varbit(header) => {
                if packet.valid[header as usize]
                    && let Some(varbit) = program.headers[header as usize].varbit
                {
                    let count = packet.var_bits[header as usize] as usize;
                    append(buffer, &mut end, &packet.values, varbit.slot.bit as usize, count);
                }
            }
            &Input::Header(header) => {
                if packet.valid[header as usize] {
                    let at = buffer.len();
                    emit(program, packet, header, buffer);
                    end += 8 * (buffer.len() - at);
                }
            }
        }
    }
    if calculation.with_payload {
        buffer.extend_from_slice(packet.payload());
    }
}

fn append(buffer: &mut Vec<u8>, end: &mut usize, from: &[u8], from_bit: usize, count: usize) {
    buffer.resize((*end + count).div_ceil(8), 0);
    bits::copy(buffer, *end, from, from_bit, count);
    *end += count;
}
