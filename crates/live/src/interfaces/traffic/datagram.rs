//! The frames of a stream: UDP over IPv4 with stream number, frame number and time of sending.

use hitless_core::wire::checksum::ones_complement_sum;

use crate::interfaces::frame::HEADER_BYTES;

const IP_BYTES: usize = 20;
const UDP_BYTES: usize = 8;
const PAYLOAD_AT: usize = HEADER_BYTES + IP_BYTES + UDP_BYTES;
/// Stream, sequence number, time.
const STAMP_BYTES: usize = 4 + 6 + 8;

/// Minimum length of a frame, without check sequence: 64 bytes on the wire.
pub const FRAME_BYTES_MIN: usize = 60;

/// Unused station addresses of receiver and sender: the kernels at the ends discard such frames early.
const STATIONS: [[u8; 6]; 2] = [[2, 0x68, 0x6c, 0, 0, 2], [2, 0x68, 0x6c, 0, 0, 1]];
/// IPv4 addresses of sender and receiver, in the range for benchmarks (RFC 2544, appendix C.2.2).
const HOSTS: [[u8; 4]; 2] = [[198, 18, 0, 1], [198, 18, 0, 2]];

/// A frame in which only sequence number and time change.
#[derive(Clone, Debug)]
pub struct Template(Vec<u8>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub stream: u32,
    /// Number of the frame, counted from 0.
    pub sequence: u64,
    /// Monotonic time of sending.
    pub sent_ns: u64,
}

/// Destination port of streams: in the dynamic range, which is never assigned to a service (RFC 6335, section 6), so
/// that hosts discard the frames.
const PORT: u16 = 49_999;

impl Template {
    /// Makes a template of `frame_bytes` without check sequence, at least [`FRAME_BYTES_MIN`].
    pub fn new(frame_bytes: usize) -> Self {
        let length = frame_bytes.max(FRAME_BYTES_MIN);
        let mut frame = vec![0; length];
        frame[..12].copy_from_slice(STATIONS.as_flattened());
        frame[12..14].copy_from_slice(&0x0800_u16.to_be_bytes());
        write_ip(&mut frame[HEADER_BYTES..]);
        let udp = &mut frame[HEADER_BYTES + IP_BYTES..];
        let udp_bytes = u16::try_from(udp.len()).unwrap_or(u16::MAX);
        udp[..2].copy_from_slice(&PORT.to_be_bytes());
        udp[2..4].copy_from_slice(&PORT.to_be_bytes());
        udp[4..6].copy_from_slice(&udp_bytes.to_be_bytes());
        // Checksum 0: none was computed (RFC 768).
        Self(frame)
    }

    pub fn stamped(&mut self, stamp: Stamp) -> &[u8] {
        let place = &mut self.0[PAYLOAD_AT..PAYLOAD_AT + STAMP_BYTES];
        place[..4].copy_from_slice(&stamp.stream.to_be_bytes());
        place[4..10].copy_from_slice(&stamp.sequence.to_be_bytes()[2..]);
        place[10..].copy_from_slice(&stamp.sent_ns.to_be_bytes());
        &self.0
    }
}

impl Stamp {
    /// Reads the stamp of `frame`; `None` if it does not belong to a stream.
    pub fn read(frame: &[u8]) -> Option<Self> {
        let is_stream = frame.get(12..14)? == [8, 0]
            && frame.get(HEADER_BYTES + 9)? == &17
            && frame.get(HEADER_BYTES + IP_BYTES + 2..HEADER_BYTES + IP_BYTES + 4)? == PORT.to_be_bytes();
        let place = frame.get(PAYLOAD_AT..PAYLOAD_AT + STAMP_BYTES).filter(|_| is_stream)?;
        let number = |bytes: &[u8]| bytes.iter().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        let stream = u32::try_from(number(&place[..4])).ok()?;
        Some(Self { stream, sequence: number(&place[4..10]), sent_ns: number(&place[10..]) })
    }
}

fn write_ip(header: &mut [u8]) {
    let total = u16::try_from(header.len()).unwrap_or(u16::MAX);
    header[0] = 0x45;
    header[2..4].copy_from_slice(&total.to_be_bytes());
    header[8] = 64;
    header[9] = 17;
    header[12..20].copy_from_slice(HOSTS.as_flattened());
    let sum = !ones_complement_sum(&header[..IP_BYTES]);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_stamp_is_read_as_it_was_written() {
        let stamp = Stamp { stream: 7, sequence: (1 << 48) - 1, sent_ns: u64::MAX };
        for length in [0, 60, 1514] {
            let mut template = Template::new(length);
            let frame = template.stamped(stamp);
            assert_eq!(frame.len(), length.max(60));
            assert_eq!(Stamp::read(frame), Some(stamp));
            assert_eq!(ones_complement_sum(&frame[14..34]), 0xffff, "checksum of IPv4");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = Stamp::read(&bytes);
        }

        #[test]
        fn a_frame_that_was_cut_has_no_stamp(length in 0_usize..60) {
            let mut template = Template::new(60);
            let frame = template.stamped(Stamp { stream: 1, sequence: 2, sent_ns: 3 });
            prop_assert_eq!(Stamp::read(&frame[..length]), None);
        }
    }
}
