//! A scripted exchange with a sender: acknowledgements as input, segments as output, in segments and microseconds.

use crate::pipe::{Pipe, Way};
use hitless_core::wire::{Bytes, Duration, Packet, SackBlocks, TcpFlags, TcpHeader, Time, Transport};
use hitless_hosts::transport::tcp::{Congestion, RtoFormula, TcpReceiver, TcpSender, TcpSettings};
use hitless_hosts::transport::{Outgoing, Sender, SenderStatistics};
use std::cell::{Cell, RefCell};

/// Payload of a full segment.
pub const MSS: u64 = 1_000;

/// A sender, its clock and its packets.
pub struct Script {
    pub sender: TcpSender,
    sent: Vec<(u64, u64)>,
    pub headers: Vec<TcpHeader>,
}

/// Returns this time in microseconds after the start.
pub fn at(time_us: u64) -> Time {
    Time::ZERO + Duration::from_us(time_us)
}

/// Rounds up: a timer that fires within a microsecond counts at its end.
fn microseconds(time: Time) -> u64 {
    time.as_ps().div_ceil(1_000_000)
}

/// Returns the TCP header of a transport's packet.
pub fn header_of(outgoing: &Outgoing) -> TcpHeader {
    match outgoing.transport {
        Transport::Tcp(header) => header,
        other => panic!("not TCP: {other:?}"),
    }
}

/// Creates an acknowledgement of `segments` with an option for congestion control.
pub fn acknowledgement(segments: u64, congestion_option: u8) -> TcpHeader {
    TcpHeader {
        acknowledgement: segments * MSS,
        window_bytes: u32::MAX,
        flags: TcpFlags::ACK,
        congestion_option,
        ..TcpHeader::default()
    }
}

/// Returns the script's configuration: segments of 1000 bytes, RTO by RFC 6298 with a minimum of 1 ms, NewReno.
pub fn config() -> TcpSettings {
    TcpSettings {
        mss: Bytes(MSS),
        rto_min: Duration::from_ms(1),
        rto_formula: RtoFormula::Rfc6298,
        ..TcpSettings::with(Congestion::Newreno(Default::default()))
    }
}

impl Script {
    pub fn new(config: &TcpSettings) -> Self {
        Self::with_phase(config, Duration::ZERO)
    }

    pub fn with_phase(config: &TcpSettings, timer_phase: Duration) -> Self {
        Self { sender: TcpSender::new(config, timer_phase), sent: Vec::new(), headers: Vec::new() }
    }

    /// Creates a sender. The application writes `segments` segments at time zero.
    pub fn writing(config: &TcpSettings, segments: u64) -> Self {
        let mut script = Self::new(config);
        script.write(0, segments * MSS);
        script
    }

    /// Creates a sender with a known round-trip time of 40 us: one segment was acknowledged.
    pub fn warm(config: &TcpSettings) -> Self {
        let mut script = Self::new(config);
        script.write(0, MSS);
        script.acknowledge(40, 1, &[]);
        script.expect(40, &[(0, 0)]);
        script
    }

    /// Creates a warm sender that sends segments 1 to `count` at once, at 100 us.
    pub fn burst(config: &TcpSettings, count: u64) -> Self {
        let mut script = Self::warm(config);
        script.write(100, count * MSS);
        script.expect(100, &(1..=count).map(|segment| (100, segment)).collect::<Vec<_>>());
        script
    }

    fn poll(&mut self, now: Time) {
        while let Some(outgoing) = self.sender.poll_transmit(now) {
            let header = header_of(&outgoing);
            self.sent.push((microseconds(now), header.sequence / MSS));
            self.headers.push(header);
        }
    }

    /// Runs timers until `time_us`.
    fn advance(&mut self, time_us: u64) {
        while self.sender.next_timeout() <= at(time_us) {
            let now = self.sender.next_timeout();
            self.sender.handle_timeout(now);
            self.poll(now);
        }
    }

    pub fn write(&mut self, time_us: u64, bytes: u64) {
        self.advance(time_us);
        self.sender.write(at(time_us), bytes);
        self.poll(at(time_us));
    }

    /// Receives an acknowledgement of `segments` with SACK blocks, for segments sent 40 us before.
    pub fn acknowledge(&mut self, time_us: u64, segments: u64, blocks: &[(u64, u64)]) {
        self.acknowledge_echoing(time_us, segments, blocks, time_us.saturating_sub(40), TcpFlags::ACK);
    }

    pub fn acknowledge_echoing(
        &mut self,
        time_us: u64,
        segments: u64,
        blocks: &[(u64, u64)],
        echo_us: u64,
        flags: TcpFlags,
    ) {
        let mut sack = SackBlocks::default();
        for (slot, (start, end)) in sack.0.iter_mut().zip(blocks) {
            *slot = (((start - segments) * MSS) as u32, ((end - segments) * MSS) as u32);
        }
        let timestamp_echo = (at(echo_us).as_ps() >> 20) as u32;
        let acknowledgement = segments * MSS;
        let header =
            TcpHeader { acknowledgement, sack, window_bytes: u32::MAX, timestamp_echo, flags, ..TcpHeader::default() };
        self.receive(time_us, header);
    }

    pub fn receive(&mut self, time_us: u64, header: TcpHeader) {
        self.advance(time_us);
        let packet = Packet { transport: Transport::Tcp(header), ..Packet::default() };
        self.sender.receive(at(time_us), &packet);
        self.poll(at(time_us));
    }

    /// Checks the segments sent since the last call, up to `time_us`: (time, segment).
    #[track_caller]
    pub fn expect(&mut self, time_us: u64, expected: &[(u64, u64)]) {
        assert_eq!(self.sent_until(time_us), expected);
    }

    /// Returns these segments.
    pub fn sent_until(&mut self, time_us: u64) -> Vec<(u64, u64)> {
        self.advance(time_us);
        std::mem::take(&mut self.sent)
    }
}

/// A flow through a pipe that has a round trip of 100 us and loses chosen segments.
pub struct Flow {
    /// Segments in order of transmission.
    pub sent: Vec<u64>,
    pub statistics: SenderStatistics,
    pub done_us: u64,
}

impl Flow {
    /// Sends `segments` segments and loses each of those in `lost` as often as it is listed. With `keeps_headers` their
    /// headers arrive.
    pub fn run(config: &TcpSettings, segments: u64, lost: &[u64], keeps_headers: bool) -> Self {
        let (left, sent, arrived) = (RefCell::new(lost.to_vec()), RefCell::new(Vec::new()), Cell::new(0));
        let fate = |way, packet: &mut Packet| {
            let Transport::Tcp(header) = packet.transport else { panic!("TCP only") };
            let segment = header.sequence / MSS;
            if way == Way::Data {
                sent.borrow_mut().push(segment);
            }
            let found = left.borrow().iter().position(|&lost| way == Way::Data && lost == segment);
            if let Some(index) = found {
                left.borrow_mut().remove(index);
                if !keeps_headers {
                    return [None, None];
                }
                assert!(packet.trim(64));
            }
            arrived.set(arrived.get() + 1);
            // Each packet arrives slightly later than the previous one, so that arrivals are separate.
            [Some(Duration::from_us(50) + Duration::from_ns(10 * arrived.get())), None]
        };
        let (sender, receiver) = (TcpSender::new(config, Duration::ZERO), TcpReceiver::new(config, Duration::ZERO));
        let mut pipe = Pipe::new(sender, receiver, fate);
        pipe.deliver(&[segments * MSS]);
        let (statistics, done_us) = (pipe.sender.statistics(), pipe.now.as_ps() / 1_000_000);
        drop(pipe);
        Self { sent: sent.into_inner(), statistics, done_us }
    }
}
