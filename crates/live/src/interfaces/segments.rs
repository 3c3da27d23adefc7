//! Buffers of TCP that a kernel left to its network card (TSO), or that a receiver merged (GRO), and the frames that
//! the card would have sent.

use std::ops::Range;

use hitless_core::wire::checksum::ones_complement_sum;

use crate::interfaces::frame::{HEADER_BYTES, TAG_BYTES};

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const TAGS: [u16; 2] = [0x8100, 0x88a8];
const TCP: u8 = 6;
const IPV6_HEADER_BYTES: usize = 40;
const MINIMUM_HEADER_BYTES: usize = 20;
/// More fragments, or a fragment's offset.
const FRAGMENT_MASK: u16 = 0x3fff;
const FIN_AND_PSH: u8 = 0x09;
const CWR: u8 = 0x80;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Headers {
    ip_at: usize,
    is_ipv6: bool,
    tcp_at: usize,
    payload_at: usize,
}

impl Headers {
    /// Finds the headers of a frame with its TCP header at `tcp_at`; `None` for fragments, tunnels and extension
    /// headers.
    fn find(frame: &[u8], tcp_at: usize) -> Option<Self> {
        let (mut kind, mut ip_at) = (word(frame, HEADER_BYTES - 2)?, HEADER_BYTES);
        while TAGS.contains(&kind) {
            kind = word(frame, ip_at + 2)?;
            ip_at += TAG_BYTES;
        }
        let (header_bytes, protocol) = match kind {
            IPV4 if word(frame, ip_at + 6)? & FRAGMENT_MASK == 0 => {
                (4 * usize::from(frame.get(ip_at)? & 0xf), *frame.get(ip_at + 9)?)
            }
            IPV6 => (IPV6_HEADER_BYTES, *frame.get(ip_at + 6)?),
            _ => return None,
        };
        let payload_at = tcp_at + 4 * usize::from(frame.get(tcp_at + 12)? >> 4);
        let is_plain = protocol == TCP && header_bytes >= MINIMUM_HEADER_BYTES && ip_at + header_bytes == tcp_at;
        let has_payload = payload_at >= tcp_at + MINIMUM_HEADER_BYTES && payload_at < frame.len();
        (is_plain && has_payload).then_some(Self { ip_at, is_ipv6: kind == IPV6, tcp_at, payload_at })
    }

    /// Corrects the headers of frame `number`, or of several frames from there: `total_bytes` in all, at `offset` from
    /// the first frame. Sets the checksum to 0; returns the sum of the pseudo-header.
    fn correct(self, frame: &mut [u8], total_bytes: usize, number: usize, offset: usize, is_last: bool) -> u16 {
        let Self { ip_at, is_ipv6, tcp_at, .. } = self;
        let (ip_bytes, tcp_bytes) = ((total_bytes - ip_at) as u16, (total_bytes - tcp_at) as u16);
        let addresses = if is_ipv6 {
            put(frame, ip_at + 4, ip_bytes - IPV6_HEADER_BYTES as u16);
            ip_at + 8..ip_at + 40
        } else {
            let identification = word(frame, ip_at + 4).unwrap_or_default();
            put(frame, ip_at + 2, ip_bytes);
            put(frame, ip_at + 4, identification.wrapping_add(number as u16));
            put(frame, ip_at + 10, 0);
            put(frame, ip_at + 10, !ones_complement_sum(&frame[ip_at..tcp_at]));
            ip_at + 12..ip_at + 20
        };
        let sequence = [0, 1, 2, 3].map(|at| frame[tcp_at + 4 + at]);
        let sequence = u32::from_be_bytes(sequence).wrapping_add(offset as u32);
        frame[tcp_at + 4..tcp_at + 8].copy_from_slice(&sequence.to_be_bytes());
        let cleared = if is_last { 0 } else { FIN_AND_PSH } | if number > 0 { CWR } else { 0 };
        frame[tcp_at + 13] &= !cleared;
        put(frame, tcp_at + 16, 0);
        [u16::from(TCP), tcp_bytes].into_iter().fold(ones_complement_sum(&frame[addresses]), add)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    headers: Headers,
    buffer_bytes: usize,
    /// Payload of each frame; the last one can be shorter.
    payload_bytes: usize,
}

impl Segments {
    /// Finds the frames of `buffer`, with its TCP header at `tcp_at` and `payload_bytes` each. `None` if it cannot be
    /// split.
    pub(crate) fn find(buffer: &[u8], tcp_at: usize, payload_bytes: usize) -> Option<Self> {
        let headers = Headers::find(buffer, tcp_at)?;
        let fits = buffer.len() - headers.ip_at <= usize::from(u16::MAX);
        (payload_bytes > 0 && fits).then_some(Self { headers, buffer_bytes: buffer.len(), payload_bytes })
    }

    pub fn count(self) -> usize {
        (self.buffer_bytes - self.headers.payload_at).div_ceil(self.payload_bytes)
    }

    /// Length of frame `number`, headers included.
    pub fn frame_bytes(self, number: usize) -> usize {
        self.headers.payload_at + self.payload(number..number + 1).len()
    }

    pub(crate) fn tcp_at(self) -> usize {
        self.headers.tcp_at
    }

    pub(crate) fn payload_bytes(self) -> usize {
        self.payload_bytes
    }

    pub(crate) fn is_tagged(self) -> bool {
        self.headers.ip_at > HEADER_BYTES
    }

    pub(crate) fn is_ipv6(self) -> bool {
        self.headers.is_ipv6
    }

    /// Returns whether the frames begin with the mark "congestion window reduced", which only the first one has.
    pub(crate) fn has_cwr(self, headers: &[u8]) -> bool {
        headers[self.headers.tcp_at + 13] & CWR != 0
    }

    pub fn write(self, buffer: &[u8], number: usize, frame: &mut Vec<u8>) {
        let pseudo = self.begin(buffer, number..number + 1, frame);
        frame.extend_from_slice(&buffer[self.payload(number..number + 1)]);
        let tcp_at = self.headers.tcp_at;
        let sum = add(pseudo, ones_complement_sum(&frame[tcp_at..]));
        put(frame, tcp_at + 16, !sum);
    }

    /// Writes the headers of the frames `numbers` over `headers`, for a kernel that splits them and completes each
    /// checksum; returns the place of their payload in `buffer`.
    pub(crate) fn write_headers(self, buffer: &[u8], numbers: Range<usize>, headers: &mut Vec<u8>) -> Range<usize> {
        let pseudo = self.begin(buffer, numbers.clone(), headers);
        put(headers, self.headers.tcp_at + 16, pseudo);
        self.payload(numbers)
    }

    /// Writes the headers of the frames `numbers` without checksum over `headers`; returns the pseudo-header's sum.
    fn begin(self, buffer: &[u8], numbers: Range<usize>, headers: &mut Vec<u8>) -> u16 {
        let start = self.headers.payload_at;
        headers.clear();
        headers.extend_from_slice(&buffer[..start]);
        let total_bytes = start + self.payload(numbers.clone()).len();
        let is_last = numbers.end == self.count();
        self.headers.correct(headers, total_bytes, numbers.start, numbers.start * self.payload_bytes, is_last)
    }

    fn payload(self, numbers: Range<usize>) -> Range<usize> {
        let at = |number: usize| (self.headers.payload_at + number * self.payload_bytes).min(self.buffer_bytes);
        at(numbers.start)..at(numbers.end)
    }
}

/// Adds in ones' complement.
fn add(left: u16, right: u16) -> u16 {
    let (sum, carry) = left.overflowing_add(right);
    sum + u16::from(carry)
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

fn put(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SEQUENCE: u32 = u32::MAX - 1_000;

    /// A frame of TCP with `tags` VLAN tags and four bytes of options, and the place of its TCP header.
    fn buffer(is_ipv6: bool, tags: usize, payload: &[u8]) -> (Vec<u8>, usize) {
        let mut frame = vec![2; 12];
        (0..tags).for_each(|_| frame.extend([0x81, 0, 0, 7]));
        let ip = if is_ipv6 {
            frame.extend(IPV6.to_be_bytes());
            let mut ip = [9; IPV6_HEADER_BYTES];
            ip[6] = TCP;
            ip.to_vec()
        } else {
            frame.extend(IPV4.to_be_bytes());
            vec![0x45, 0, 0, 0, 0xff, 0xff, 0x40, 0, 64, TCP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]
        };
        frame.extend(ip);
        let tcp_at = frame.len();
        frame.extend([0, 80, 0, 81]);
        frame.extend(SEQUENCE.to_be_bytes());
        frame.extend([0, 0, 0, 0, 0x60, 0x99, 0, 9, 0, 0, 0, 0, 1, 1, 1, 1]);
        frame.extend(payload);
        (frame, tcp_at)
    }

    fn segments(frame: &[u8], tcp_at: usize, segment_bytes: usize) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        let Some(segments) = Segments::find(frame, tcp_at, segment_bytes) else { return found };
        for number in 0..segments.count() {
            let mut segment = Vec::new();
            segments.write(frame, number, &mut segment);
            assert_eq!(segment.len(), segments.frame_bytes(number));
            found.push(segment);
        }
        found
    }

    proptest! {
        #[test]
        fn segments_carry_the_payload_in_order_with_correct_headers(
            is_ipv6: bool, tags in 0_usize..3, payload in prop::collection::vec(any::<u8>(), 1..4_000),
            segment_bytes in 1_usize..1_500,
        ) {
            let (frame, tcp_at) = buffer(is_ipv6, tags, &payload);
            let (mut joined, mut identifications) = (Vec::<u8>::new(), Vec::new());
            let all = segments(&frame, tcp_at, segment_bytes);
            for (number, segment) in all.iter().enumerate() {
                let ip_at = HEADER_BYTES + 4 * tags;
                let sequence = [4, 5, 6, 7].map(|at| segment[tcp_at + at]);
                prop_assert_eq!(u32::from_be_bytes(sequence), SEQUENCE.wrapping_add(joined.len() as u32));
                let flags = segment[tcp_at + 13];
                prop_assert_eq!(flags & FIN_AND_PSH != 0, number + 1 == all.len());
                prop_assert_eq!(flags & CWR != 0, number == 0);
                // A receiver's sums, checksums included, are all ones.
                let (addresses, length) = if is_ipv6 {
                    (&segment[ip_at + 8..ip_at + 40], word(segment, ip_at + 4).unwrap_or_default() as usize + 40)
                } else {
                    identifications.push(word(segment, ip_at + 4).unwrap_or_default());
                    prop_assert_eq!(ones_complement_sum(&segment[ip_at..tcp_at]), 0xffff);
                    (&segment[ip_at + 12..ip_at + 20], word(segment, ip_at + 2).unwrap_or_default() as usize)
                };
                prop_assert_eq!(length, segment.len() - ip_at);
                let mut pseudo = addresses.to_vec();
                pseudo.extend([0, TCP]);
                pseudo.extend(((segment.len() - tcp_at) as u16).to_be_bytes());
                pseudo.extend(&segment[tcp_at..]);
                prop_assert_eq!(ones_complement_sum(&pseudo), 0xffff);
                joined.extend(&segment[tcp_at + 24..]);
            }
            prop_assert_eq!(joined, payload);
            identifications.dedup();
            prop_assert_eq!(identifications.len(), if is_ipv6 { 0 } else { all.len() });
        }

        #[test]
        fn any_bytes_are_split_or_refused(frame in prop::collection::vec(any::<u8>(), 0..200), tcp_at in 0_usize..200) {
            segments(&frame, tcp_at, 10);
        }

        /// Frames that stay together are a buffer of the same frames.
        #[test]
        fn a_part_of_a_buffer_is_a_buffer_of_the_same_frames(
            is_ipv6: bool, payload in prop::collection::vec(any::<u8>(), 1..4_000), segment_bytes in 1_usize..1_500,
            first in 0_usize..5, count in 1_usize..5,
        ) {
            let (frame, tcp_at) = buffer(is_ipv6, 0, &payload);
            let all = segments(&frame, tcp_at, segment_bytes);
            let numbers = first.min(all.len() - 1)..(first + count).min(all.len()).max(first.min(all.len() - 1) + 1);
            let mut part = Vec::new();
            let found = Segments::find(&frame, tcp_at, segment_bytes).expect("it can be split");
            let payload = found.write_headers(&frame, numbers.clone(), &mut part);
            part.extend_from_slice(&frame[payload]);
            prop_assert_eq!(&segments(&part, tcp_at, segment_bytes)[..], &all[numbers]);
        }
    }

    #[test]
    fn other_frames_are_refused() {
        let (frame, tcp_at) = buffer(false, 0, &[1; 3_000]);
        let (mut udp, mut fragment, mut tunnel) = (frame.clone(), frame.clone(), frame.clone());
        udp[23] = 17;
        fragment[20] = 0x20;
        tunnel.splice(tcp_at..tcp_at, [0; 8]);
        for (bytes, at) in [(&udp, tcp_at), (&fragment, tcp_at), (&tunnel, tcp_at + 8), (&frame, tcp_at + 1)] {
            assert_eq!(segments(bytes, at, 1_000), Vec::<Vec<u8>>::new());
        }
    }
}
