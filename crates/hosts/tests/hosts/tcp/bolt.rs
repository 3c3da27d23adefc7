//! Bolt from outside: the flags of its packets, the echoes of its receiver, and the effect of a notification.

use super::script::{MSS, Script, acknowledgement, at, config, header_of};
use hitless_core::wire::{BitRate, BoltFlags, CongestionNotice, Duration, Packet, TcpFlags, TcpHeader, Transport};
use hitless_hosts::transport::tcp::{Congestion, TcpReceiver, TcpSettings};
use hitless_hosts::transport::{Receiver, Sender};

fn bolt() -> TcpSettings {
    TcpSettings { congestion: Congestion::Bolt(Default::default()), ..config() }
}

fn notify(script: &mut Script, time_us: u64, segment: u64, queued: u64) {
    let notice =
        CongestionNotice { sequence: segment * MSS, rate: BitRate::from_gbps(10), queue_bytes: (queued * MSS) as u32 };
    let packet = Packet { transport: Transport::CongestionNotice(notice), ..Packet::default() };
    script.sent_until(time_us);
    script.sender.receive(at(time_us), &packet);
}

#[test]
fn packets_say_which_of_their_flow_they_are() {
    let mut script = Script::writing(&TcpSettings { initial_window: 2, ..bolt() }, 6);
    script.receive(40, acknowledgement(1, 0));
    script.receive(41, acknowledgement(2, 0));
    script.receive(80, acknowledgement(4, 0));
    script.sent_until(200);
    let said: Vec<u8> = script.headers.iter().map(|header| header.congestion_option & !BoltFlags::BOLT.0).collect();
    let (first, inc, last) = (BoltFlags::FIRST.0, BoltFlags::INC.0, BoltFlags::LAST.0);
    // A window of two before the first acknowledgement, of three after it: the last three packets fit into it. The
    // probe at the end repeats the last packet and requests nothing.
    assert_eq!(said, [first | inc, first | inc, inc, last, last, last, 0]);
    assert!(script.headers.iter().all(|header| BoltFlags(header.congestion_option).contains(BoltFlags::BOLT)));
}

#[test]
fn the_receiver_answers_how_many_packets_kept_their_wish() {
    let mut receiver = TcpReceiver::new(&TcpSettings { delayed_ack_segments: 3, ..bolt() }, Duration::ZERO);
    let mut answers = Vec::new();
    let flags = [BoltFlags::INC, BoltFlags::DEC, BoltFlags::INC, BoltFlags::DEC, BoltFlags::LAST, BoltFlags::DEC];
    for (number, flags) in flags.into_iter().enumerate() {
        let data = TcpHeader {
            sequence: number as u64 * MSS,
            payload_bytes: MSS as u16,
            flags: TcpFlags::ACK,
            congestion_option: BoltFlags::BOLT.with(flags).0,
            ..TcpHeader::default()
        };
        receiver.receive(at(10), &Packet { transport: Transport::Tcp(data), ..Packet::default() });
        answers.extend(receiver.poll_transmit(at(10)).map(|answer| header_of(&answer).congestion_option));
    }
    assert_eq!(answers, [2, 0]);
}

#[test]
fn a_notice_takes_a_segment_off_the_window_before_any_acknowledgement() {
    let mut script = Script::writing(&bolt(), 40);
    script.sent_until(1);
    notify(&mut script, 5, 3, 8);
    assert_eq!(script.sender.cwnd_bytes(), 9 * MSS);
    // A notification about a packet no longer in flight is ignored.
    script.receive(40, acknowledgement(5, 0));
    let before = script.sender.cwnd_bytes();
    notify(&mut script, 45, 3, 8);
    assert_eq!(script.sender.cwnd_bytes(), before);
    notify(&mut script, 45, 7, 8);
    assert_eq!(script.sender.cwnd_bytes(), before - MSS);
}

#[test]
fn increases_that_come_back_send_more_at_once() {
    let mut script = Script::writing(&bolt(), 40);
    script.sent_until(39);
    // One segment for the acknowledged one, one for the round trip, and two granted by switches.
    script.receive(40, acknowledgement(1, 2));
    let sent = script.sent_until(41);
    assert_eq!(sent, (10..14).map(|segment| (40, segment)).collect::<Vec<_>>());
}

#[test]
fn notices_to_a_control_that_knows_none_mean_nothing() {
    let mut script = Script::writing(&config(), 40);
    script.sent_until(1);
    notify(&mut script, 5, 3, 8);
    assert_eq!(script.sender.cwnd_bytes(), 10 * MSS);
}
