//! A TCP header with its options.

use crate::wire::transport::{TcpFlags, TcpHeader};

pub const CHECKSUM_AT: usize = 16;
const FIXED_BYTES: u32 = 20;
const OPTIONS_BYTES_MAX: usize = 40;
/// The window scale of every connection (RFC 7323): 14, the maximum.
const WINDOW_SCALE: u8 = 14;
/// Kind and identifier of experimental options (RFC 6994). The identifiers are not registered.
const EXPERIMENT: u8 = 253;
const LOSS_EXPERIMENT: u16 = 0x484c;
const CONGESTION_EXPERIMENT: u16 = 0x4843;
const TIMESTAMPS: [u8; 4] = [1, 1, 8, 10];

/// The flags of the simulator and those of the wire.
const FLAGS: [(TcpFlags, u8); 6] = [
    (TcpFlags::FIN, 0x01),
    (TcpFlags::SYN, 0x02),
    (TcpFlags::PSH, 0x08),
    (TcpFlags::ACK, 0x10),
    (TcpFlags::ECE, 0x40),
    (TcpFlags::CWR, 0x80),
];

/// A segment, with the facts of its flow.
pub struct Segment<'a> {
    pub header: &'a TcpHeader,
    pub ports: [u16; 2],
    pub is_from_client: bool,
    pub request_bytes: u32,
    pub mss_bytes: u16,
    pub payload_bytes: u32,
}

impl Segment<'_> {
    /// Writes the header with a checksum of 0. Both ends start at sequence number 0, which the SYN takes.
    ///
    /// `room_bytes` is the length that the simulator counts for it; timestamps are left out if they do not fit.
    pub fn bytes(&self, room_bytes: u32) -> Vec<u8> {
        let options = self.options(room_bytes.saturating_sub(FIXED_BYTES));
        let (sequence, acknowledgement) = self.numbers();
        let flags = FLAGS.iter().filter(|(flag, _)| self.has(*flag)).fold(0, |all, (_, bit)| all | bit);
        let mut out = Vec::with_capacity(FIXED_BYTES as usize + options.len());
        self.ports.iter().for_each(|port| out.extend(port.to_be_bytes()));
        out.extend(sequence.to_be_bytes());
        out.extend(acknowledgement.to_be_bytes());
        out.push((5 + options.len() / 4) as u8 * 16);
        out.push(flags);
        out.extend(self.window().to_be_bytes());
        out.extend([0; 4]);
        out.extend(options);
        out
    }

    fn has(&self, flag: TcpFlags) -> bool {
        self.header.flags.contains(flag)
    }

    /// Whether the header describes a segment of data or a SYN, instead of an acknowledgement.
    fn is_data(&self) -> bool {
        self.header.payload_bytes > 0 || (self.has(TcpFlags::SYN) && !self.has(TcpFlags::ACK))
    }

    /// The sequence number and the acknowledgement. A descriptor has only one of them; the other follows from the
    /// request, which is the only data that flows in the opposite direction.
    fn numbers(&self) -> (u32, u32) {
        let header = self.header;
        let on_wire = |offset: u64| offset.wrapping_add(1) as u32;
        let request = on_wire(self.request_bytes.into());
        if self.has(TcpFlags::SYN) {
            return (0, u32::from(self.has(TcpFlags::ACK)));
        }
        match (self.is_data(), self.is_from_client) {
            (true, true) => (on_wire(header.sequence), 1),
            (true, false) => (on_wire(header.sequence), request),
            (false, true) => (request, on_wire(header.acknowledgement)),
            (false, false) => (1, on_wire(header.acknowledgement)),
        }
    }

    /// The window field. Senders of data have no receive window in the simulator; they announce the maximum.
    fn window(&self) -> u16 {
        let window_bytes = if self.is_data() { u32::MAX } else { self.header.window_bytes };
        let scale = if self.has(TcpFlags::SYN) { 0 } else { WINDOW_SCALE };
        let rounded_up = window_bytes.saturating_add((1 << scale) - 1) >> scale;
        rounded_up.min(u16::MAX.into()) as u16
    }

    fn options(&self, room_bytes: u32) -> Vec<u8> {
        let mut out = Vec::with_capacity(OPTIONS_BYTES_MAX);
        let has_timestamps = room_bytes >= 12;
        if self.has(TcpFlags::SYN) {
            out.extend([2, 4]);
            out.extend(self.mss_bytes.to_be_bytes());
            // SACK permitted (RFC 2018) fills the place of the padding before the timestamps.
            out.extend(if has_timestamps { [4, 2, 8, 10] } else { [1, 1, 4, 2] });
        } else if has_timestamps {
            out.extend(TIMESTAMPS);
        }
        if has_timestamps {
            let is_report = self.has(TcpFlags::LOSS) || self.has(TcpFlags::DSACK);
            let value = if is_report { 0 } else { self.header.timestamp };
            out.extend(value.to_be_bytes());
            out.extend(self.header.timestamp_echo.to_be_bytes());
        }
        if self.has(TcpFlags::SYN) {
            out.extend([1, 3, 3, WINDOW_SCALE]);
        }
        self.put_sack(&mut out);
        self.put_experiments(&mut out);
        out
    }

    /// Writes SACK blocks (RFC 2018); a duplicate comes first (RFC 2883).
    fn put_sack(&self, out: &mut Vec<u8>) {
        let header = self.header;
        let duplicate = (header.sequence, header.sequence + u64::from(header.timestamp));
        let duplicate = self.has(TcpFlags::DSACK).then_some(duplicate);
        let room = (OPTIONS_BYTES_MAX - out.len()).saturating_sub(4) / 8;
        let blocks: Vec<_> =
            duplicate.into_iter().chain(header.sack.absolute(header.acknowledgement)).take(room).collect();
        if blocks.is_empty() {
            return;
        }
        out.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
        for number in blocks.into_iter().flat_map(|(start, end)| [start, end]) {
            out.extend((number.wrapping_add(1) as u32).to_be_bytes());
        }
    }

    /// Writes the report of a trimmed segment, and the byte of a congestion control if there is room for it.
    fn put_experiments(&self, out: &mut Vec<u8>) {
        let header = self.header;
        if self.has(TcpFlags::LOSS) {
            out.extend([EXPERIMENT, TcpFlags::LOSS_OPTION_BYTES as u8]);
            out.extend(LOSS_EXPERIMENT.to_be_bytes());
            out.extend((header.sequence.wrapping_add(1) as u32).to_be_bytes());
            out.extend(header.timestamp.to_be_bytes());
        }
        if header.congestion_option != 0 && out.len() + 8 <= OPTIONS_BYTES_MAX {
            out.extend([1, 1, 1, EXPERIMENT, 5]);
            out.extend(CONGESTION_EXPERIMENT.to_be_bytes());
            out.push(header.congestion_option);
        }
    }
}
