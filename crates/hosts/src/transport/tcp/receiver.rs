//! The receiving end of a connection: reassembly, acknowledgements and ECN echoes.

use super::congestion::CongestionName;
use super::delivery::Timestamp;
use super::reassembly::Reassembly;
use super::settings::TcpSettings;
use super::ticks::TickClock;
use crate::transport::{Outgoing, Receiver, ReceiverStatistics};
use hitless_core::wire::{BoltFlags, Duration, Ecn, Packet, SackBlocks, TcpFlags, TcpHeader, Time, Transport};

/// A SYN-ACK is due.
const SYN_ACK: u8 = 1;
/// An acknowledgement with the state before the last packet is due (RFC 8257, section 3.2).
const EARLIER: u8 = 2;
/// An acknowledgement is due.
const ACK: u8 = 4;
/// A notification is due for a segment that arrived without its payload.
const LOSS: u8 = 8;

/// The content of an acknowledgement.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct Acknowledgement {
    rcv_nxt: u64,
    sack: SackBlocks,
    timestamp: u32,
    echo: bool,
}

/// The receiving end of a TCP connection. The fields from `reassembly` to `statistics` fill two cache lines; every
/// packet needs both, and no other.
#[derive(Clone, Debug, hitless_core::state::Value)]
#[repr(C, align(64))]
pub struct TcpReceiver {
    earlier: Acknowledgement,
    reassembly: Reassembly,
    /// First byte and length of a duplicate segment to report.
    duplicate: Option<(u64, u32)>,
    /// Frame lengths of acknowledgements with 0 to 3 blocks.
    ack_frame_bytes: [u32; 4],
    /// First byte not received in order (RCV.NXT).
    rcv_nxt: u64,
    /// Packets to send, as flags.
    due: u8,
    /// DCTCP.CE of RFC 8257, or the latched ECN-Echo of RFC 3168.
    ce_state: bool,
    precise_ecn: bool,
    ecn: bool,
    /// Data packets not yet acknowledged.
    unacknowledged: u32,
    /// Number of frames on the link that the packet being received was merged from.
    frames: u32,
    /// Option that the next acknowledgement echoes for congestion control.
    congestion_option: u8,
    congestion: CongestionName,
    /// TS.Recent of RFC 7323.
    recent_timestamp: u32,
    quickacks_left: u32,
    /// Packets per delayed acknowledgement.
    delayed_segments: u32,
    rcv_wnd_bytes: u32,
    /// Last acknowledgement sent (Last.ACK.sent of RFC 7323).
    last_acknowledged: u64,
    /// Time of a delayed acknowledgement, or of the application's close.
    deadline: Time,
    statistics: ReceiverStatistics,
    /// End of the data, once a FIN has arrived.
    end: Option<u64>,
    /// Time from the last byte to the application's close.
    close_delay: Duration,
    /// End of the highest data received above a gap.
    highest: u64,
    /// Sequence and timestamp of each segment without payload that the sender does not know about yet.
    trimmed: Vec<(u64, u32)>,
    clock: TickClock,
    delayed_timeout: Duration,
    sack: bool,
    reports_duplicates: bool,
    syn_frame_bytes: u32,
}

impl TcpReceiver {
    #[inline(always)]
    pub fn read_ahead(&self) -> u64 {
        self.rcv_nxt ^ self.statistics.packets_received ^ self.highest ^ u64::from(self.quickacks_left)
    }

    /// Creates an unused connection; the host's timer ticks at `timer_phase` modulo the tick of `config`.
    pub fn new(config: &TcpSettings, timer_phase: Duration) -> Self {
        config.check();
        Self {
            rcv_nxt: 0,
            due: 0,
            ce_state: false,
            precise_ecn: config.precise_ecn(),
            ecn: config.ecn,
            unacknowledged: 0,
            frames: 1,
            congestion_option: 0,
            congestion: config.congestion.name(),
            recent_timestamp: 0,
            last_acknowledged: 0,
            deadline: Time::NEVER,
            end: None,
            close_delay: Duration::ZERO,
            statistics: ReceiverStatistics::default(),
            highest: 0,
            earlier: Acknowledgement::default(),
            reassembly: Reassembly::default(),
            trimmed: Vec::new(),
            quickacks_left: config.quick_acks,
            clock: TickClock::new(config.timer_tick, timer_phase),
            delayed_segments: config.delayed_ack_segments,
            delayed_timeout: config.delayed_ack_timeout,
            sack: config.sack,
            reports_duplicates: config.sack && config.dsack_undo,
            duplicate: None,
            rcv_wnd_bytes: config.receive_window_bytes(),
            ack_frame_bytes: [0, 1, 2, 3].map(|blocks| config.ack_frame_bytes(blocks)),
            syn_frame_bytes: config.syn_frame_bytes(),
        }
    }

    pub fn closing_after(self, close_delay: Duration) -> Self {
        Self { close_delay, ..self }
    }

    pub fn out_of_order_bytes(&self) -> u64 {
        self.reassembly.bytes()
    }

    /// Updates the option for congestion control.
    #[inline]
    fn note_option(&mut self, time_to_live: u8, header: &TcpHeader) {
        match self.congestion {
            // Swift, section 3.5: the receiver reflects the TTL, and the sender counts hops by it.
            CongestionName::Swift => self.congestion_option = time_to_live,
            // Number of packets that kept INC.
            CongestionName::Bolt => {
                let asks = BoltFlags(header.congestion_option).contains(BoltFlags::INC);
                self.congestion_option = self.congestion_option.saturating_add(u8::from(asks));
            }
            CongestionName::Newreno
            | CongestionName::Cubic
            | CongestionName::Dctcp
            | CongestionName::Bbr
            | CongestionName::Own => {}
        }
    }

    /// Counts a data packet and updates the timestamp echo.
    #[inline]
    fn count(&mut self, header: &TcpHeader, marked: bool) {
        let frames = u64::from(self.frames);
        self.statistics.packets_received += frames;
        self.statistics.marked_packets += if marked { frames } else { 0 };
        // RFC 7323, section 4.3, step 2: the echo belongs to the packet that the acknowledgement is due to.
        let newer = !Timestamp(header.timestamp).is_before(Timestamp(self.recent_timestamp));
        if header.sequence <= self.last_acknowledged && newer {
            self.recent_timestamp = header.timestamp;
        }
    }

    /// Handles everything except the next data with unchanged marking.
    #[cold]
    #[inline(never)]
    fn receive_slow(&mut self, now: Time, header: &TcpHeader, marked: bool) {
        if header.flags.contains(TcpFlags::SYN) {
            self.recent_timestamp = header.timestamp;
            self.due |= SYN_ACK;
            return;
        }
        if header.payload_bytes == 0 {
            return;
        }
        if self.ecn {
            self.note_congestion(marked, header.flags);
        }
        self.count(header, marked);
        let (start, end) = (header.sequence, header.sequence + u64::from(header.payload_bytes));
        if header.flags.contains(TcpFlags::FIN) {
            self.end = Some(end);
        }
        if start == self.rcv_nxt && self.reassembly.is_empty() {
            self.rcv_nxt = end;
            // The last segment arrives alone, so the application's FIN acknowledges it.
            if self.end == Some(end) && self.unacknowledged + self.frames == 1 {
                self.unacknowledged = 1;
                self.deadline = now + self.close_delay;
                return;
            }
        } else {
            self.take_out_of_order(start, end);
        }
        self.schedule_ack(now);
    }

    /// Updates the ECN state, before the payload is processed.
    fn note_congestion(&mut self, marked: bool, flags: TcpFlags) {
        if self.precise_ecn {
            if marked != self.ce_state {
                self.change_ce_state(marked);
            }
            return;
        }
        // RFC 3168, section 6.1.3: echo until the sender says that it reduced its window.
        self.ce_state = (self.ce_state && !flags.contains(TcpFlags::CWR)) || marked;
    }

    /// Changes the CE state (RFC 8257, section 3.2): earlier data is acknowledged with the old echo, this packet at
    /// once with the new one.
    fn change_ce_state(&mut self, marked: bool) {
        if self.unacknowledged > 0 {
            self.earlier = self.acknowledgement(self.blocks());
            self.due |= EARLIER;
            self.last_acknowledged = self.rcv_nxt;
            self.unacknowledged = 0;
        }
        self.ce_state = marked;
        self.due |= ACK;
    }

    /// Takes data that does not simply extend the stream: reordered, duplicate, or filling a gap.
    fn take_out_of_order(&mut self, start: u64, end: u64) {
        // RFC 5681, section 4.2: acknowledged at once, so that the sender sees gaps and duplicates early.
        self.due |= ACK;
        if end <= self.rcv_nxt || self.reassembly.contains(start, end) {
            self.statistics.duplicate_packets += u64::from(self.frames);
            self.duplicate = self.reports_duplicates.then_some((start, (end - start) as u32));
            return;
        }
        // Data below the highest received is late; data above a gap is not reordered.
        self.statistics.reordered_packets += if start < self.highest { u64::from(self.frames) } else { 0 };
        self.highest = self.highest.max(end);
        if start > self.rcv_nxt {
            self.reassembly.insert(start, end);
        } else {
            self.rcv_nxt = self.reassembly.advance(end);
        }
    }

    /// Handles a segment without its payload: notifies the sender at once, unless all of it had arrived before.
    #[cold]
    fn receive_trimmed(&mut self, header: &TcpHeader) {
        let (start, end) = (header.sequence, header.sequence + u64::from(header.payload_bytes));
        if end <= self.rcv_nxt || self.reassembly.contains(start, end) {
            self.due |= ACK;
            return;
        }
        self.statistics.trimmed_packets += 1;
        self.trimmed.push((start, header.timestamp));
        self.due |= LOSS;
    }

    /// Returns the acknowledgement for the first of [`Self::trimmed`]. It has room for only one SACK block: with
    /// timestamps and the notification that makes 36 of the 40 bytes of options.
    fn loss_notice(&mut self) -> Outgoing {
        // The timestamp identifies the trimmed transmission, because other copies can be in flight.
        let (sequence, timestamp) = self.trimmed.remove(0);
        if self.trimmed.is_empty() {
            self.due &= !LOSS;
        }
        let SackBlocks([first, ..]) = self.blocks();
        let sack = SackBlocks([first, (0, 0), (0, 0)]);
        let outgoing = self.current(sack, self.frame_bytes(&sack) + TcpFlags::LOSS_OPTION_BYTES);
        let Transport::Tcp(header) = outgoing.transport else { unreachable!("acknowledgements are TCP") };
        let header = TcpHeader { sequence, timestamp, flags: header.flags.with(TcpFlags::LOSS), ..header };
        Outgoing { transport: Transport::Tcp(header), ..outgoing }
    }

    /// Acknowledges now, or waits for more data.
    #[inline]
    fn schedule_ack(&mut self, now: Time) {
        let is_first = self.unacknowledged == 0;
        self.unacknowledged += self.frames;
        // RFC 5681, section 4.2: an acknowledgement for at least every second full segment, and within a time limit.
        if self.unacknowledged >= self.delayed_segments {
            self.due |= ACK;
        } else if self.quickacks_left > 0 {
            self.quickacks_left -= 1;
            self.due |= ACK;
        } else if is_first {
            self.deadline = self.clock.deadline(now, self.delayed_timeout);
        }
    }

    #[inline]
    fn packet(&self, acknowledgement: &Acknowledgement, flags: TcpFlags, frame_bytes: u32) -> Outgoing {
        let echo = if acknowledgement.echo { TcpFlags::ECE } else { TcpFlags::default() };
        let header = TcpHeader {
            acknowledgement: acknowledgement.rcv_nxt,
            sack: acknowledgement.sack,
            window_bytes: self.rcv_wnd_bytes,
            timestamp_echo: acknowledgement.timestamp,
            flags: flags.with(echo),
            congestion_option: self.congestion_option,
            ..TcpHeader::default()
        };
        // Linux sends ECN-capable acknowledgements if the algorithm needs ECN; RFC 3168, section 6.1.4, never does.
        let ecn = if self.precise_ecn { Ecn::Capable } else { Ecn::NotCapable };
        Outgoing { transport: Transport::Tcp(header), frame_bytes, ecn }
    }

    /// Returns the acknowledgement of everything received.
    #[inline]
    fn current(&mut self, sack: SackBlocks, frame_bytes: u32) -> Outgoing {
        self.due &= !ACK;
        self.unacknowledged = 0;
        self.deadline = Time::NEVER;
        self.last_acknowledged = self.rcv_nxt;
        let packet = self.packet(&self.acknowledgement(sack), TcpFlags::ACK, frame_bytes);
        if self.congestion == CongestionName::Bolt {
            self.congestion_option = 0;
        }
        packet
    }

    #[inline]
    fn acknowledgement(&self, sack: SackBlocks) -> Acknowledgement {
        Acknowledgement { rcv_nxt: self.rcv_nxt, sack, timestamp: self.recent_timestamp, echo: self.ce_state }
    }

    /// Sends everything except a plain acknowledgement without gaps.
    #[cold]
    #[inline(never)]
    fn transmit_slow(&mut self) -> Outgoing {
        if self.due & SYN_ACK != 0 {
            self.due &= !SYN_ACK;
            let flags = TcpFlags::SYN.with(TcpFlags::ACK);
            return self.packet(&self.acknowledgement(SackBlocks::default()), flags, self.syn_frame_bytes);
        }
        // It precedes the acknowledgement with the new echo: the order tells the sender which bytes were marked.
        if self.due & EARLIER != 0 {
            self.due &= !EARLIER;
            return self.packet(&self.earlier, TcpFlags::ACK, self.frame_bytes(&self.earlier.sack));
        }
        if self.due & LOSS != 0 {
            return self.loss_notice();
        }
        let sack = self.blocks();
        match self.duplicate.take() {
            Some(duplicate) => self.duplicate_report(duplicate, sack),
            None => self.current(sack, self.frame_bytes(&sack)),
        }
    }

    /// Reports a duplicate segment (RFC 2883, section 4): its block is the first. With timestamps there is room for two
    /// others.
    fn duplicate_report(&mut self, (sequence, bytes): (u64, u32), sack: SackBlocks) -> Outgoing {
        let SackBlocks([first, second, _]) = sack;
        let sack = SackBlocks([first, second, (0, 0)]);
        let blocks = sack.absolute(0).count() + 1;
        let outgoing = self.current(sack, self.ack_frame_bytes[blocks]);
        let Transport::Tcp(header) = outgoing.transport else { unreachable!("acknowledgements are TCP") };
        let header = TcpHeader { sequence, timestamp: bytes, flags: header.flags.with(TcpFlags::DSACK), ..header };
        Outgoing { transport: Transport::Tcp(header), ..outgoing }
    }

    fn blocks(&self) -> SackBlocks {
        if self.sack { self.reassembly.blocks(self.rcv_nxt) } else { SackBlocks::default() }
    }

    fn frame_bytes(&self, sack: &SackBlocks) -> u32 {
        self.ack_frame_bytes[sack.absolute(0).count()]
    }
}

impl TcpReceiver {
    /// Takes a segment, with Congestion Experienced if `marked`.
    #[inline(always)]
    pub(in crate::transport) fn take(&mut self, now: Time, header: &TcpHeader, marked: bool) {
        let in_order = header.sequence == self.rcv_nxt && self.reassembly.is_empty() && header.payload_bytes > 0;
        // Header prediction, as in the sender: the next data, without gaps and with unchanged marking.
        let opens_or_ends = header.flags.contains(TcpFlags::SYN) || header.flags.contains(TcpFlags::FIN);
        if in_order && marked == self.ce_state && !opens_or_ends {
            self.count(header, marked);
            self.rcv_nxt += u64::from(header.payload_bytes);
            self.schedule_ack(now);
        } else {
            self.receive_slow(now, header, marked);
        }
    }

    /// Acknowledges the received data without waiting for more.
    #[inline]
    pub(in crate::transport) fn acknowledge_now(&mut self) {
        self.due |= ACK;
    }
}

impl Receiver for TcpReceiver {
    #[inline]
    fn receive(&mut self, now: Time, packet: &Packet) {
        self.receive_merged(now, packet, 1);
    }

    /// Takes a packet merged from `frames`. Linux acknowledges at once data longer than one full segment (tcp_input.c,
    /// the check before an ACK is sent). Here the frames count as if they had arrived one by one, which gives the same
    /// result for all settings of delayed acknowledgements with up to two segments.
    #[inline(always)]
    fn receive_merged(&mut self, now: Time, packet: &Packet, frames: u32) {
        self.frames = frames;
        let Transport::Tcp(header) = &packet.transport else { return };
        if packet.is_trimmed() {
            return self.receive_trimmed(header);
        }
        self.note_option(packet.ttl, header);
        self.take(now, header, packet.ecn == Ecn::CongestionExperienced);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        self.transmit_into(now, |outgoing| *outgoing)
    }

    #[inline(always)]
    fn transmit_into<T>(&mut self, _now: Time, put: impl FnOnce(&Outgoing) -> T) -> Option<T> {
        if self.due == 0 {
            return None;
        }
        if self.due == ACK && self.reassembly.is_empty() && self.duplicate.is_none() {
            return Some(put(&self.current(SackBlocks::default(), self.ack_frame_bytes[0])));
        }
        Some(put(&self.transmit_slow()))
    }

    #[inline]
    fn next_timeout(&self) -> Time {
        self.deadline
    }

    fn handle_timeout(&mut self, now: Time) {
        if now >= self.deadline {
            self.deadline = Time::NEVER;
            self.due |= ACK;
        }
    }

    #[inline]
    fn delivered_bytes(&self) -> u64 {
        self.rcv_nxt
    }

    fn statistics(&self) -> ReceiverStatistics {
        self.statistics
    }
}
