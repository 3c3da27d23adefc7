//! Packets without their payload.

use super::*;

/// Trims the packets named in `cut`.
fn trimmed(mut packets: Vec<Packet>, cut: &[&str]) -> Vec<Packet> {
    packets
        .iter_mut()
        .filter(|packet| cut.contains(&name(packet).as_str()))
        .for_each(|packet| assert!(packet.trim(64)));
    packets
}

#[test]
fn a_trimmed_packet_is_named_at_once_and_only_it_goes_again_without_a_timeout() {
    // Even the last packet, and the first repetition.
    let rows = [
        (["W2"].as_slice(), "T2+2 N2+3 N2+4 N2+5", "W2"),
        (&["W5."], "T5+5", "W5."),
        (&["W2", "W4"], "T2+2 N2+3 T2+4 N2+5", "W2 W4"),
        (&["W0", "W1", "W2", "W3", "W4", "W5."], "T0+0 T0+1 T0+2 T0+3 T0+4 T0+5", "W0 W1 W2 W3 W4 W5."),
    ];
    for (cut, answers, again) in rows {
        let mut exchange = Exchange::new(selective());
        exchange.write_packets(6);
        let sent = trimmed(exchange.sent(), cut);
        let given = exchange.arrive(&sent, &[]);
        // `+0` is not shown.
        assert_eq!(names(&given), answers.replace("+0", ""), "{cut:?}");
        exchange.answer(&given);
        let sent = exchange.sent();
        assert_eq!(names(&sent), again, "{cut:?}");
        let given = exchange.arrive(&trimmed(sent, &cut[..1]), &[]);
        exchange.answer(&given);
        let sent = exchange.sent();
        assert_eq!(names(&sent), cut[0], "the repetition was trimmed too: {cut:?}");
        let given = exchange.arrive(&sent, &[]);
        exchange.answer(&given);
        assert_eq!(exchange.requester.acknowledged_bytes(), 6 * 1_024, "{cut:?}");
        assert_eq!(exchange.responder.delivered_bytes(), 6 * 1_024, "{cut:?}");
        assert_eq!(exchange.responder.statistics().trimmed_packets, cut.len() as u64 + 1, "{cut:?}");
        assert_eq!(exchange.requester.statistics().timeouts, 0, "{cut:?}");
    }
}

#[test]
fn go_back_n_goes_back_for_each_trimmed_copy_of_the_expected_packet() {
    let mut exchange = Exchange::new(config());
    exchange.write_packets(5);
    let sent = trimmed(exchange.sent(), &["W1", "W3"]);
    assert_eq!(exchange.pass(&sent, &[]), "N1", "packets behind the gap are not reported");
    let again = trimmed(exchange.sent(), &["W1"]);
    assert_eq!(names(&again), "W1 W2 W3 W4.");
    assert_eq!(exchange.pass(&again, &[]), "N1", "a lost copy would wait for the timeout");
    let again = exchange.sent();
    exchange.pass(&again, &[]);
    assert_eq!(exchange.requester.acknowledged_bytes(), 5 * 1_024);
    assert_eq!(exchange.requester.statistics().timeouts, 0);
}

#[test]
fn a_trimmed_duplicate_is_acknowledged_and_a_lost_repetition_waits_for_the_timeout() {
    let (mut exchange, sent) = started(selective(), 3);
    exchange.arrive(&sent[..1], &[]);
    let duplicate = trimmed(sent[..1].to_vec(), &["W0"]);
    assert_eq!(names(&exchange.arrive(&duplicate, &[])), "A0");
    exchange.pass(&trimmed(sent[1..].to_vec(), &["W1"]), &[]);
    let again = exchange.sent();
    assert_eq!(names(&again), "W1", "its recovery does not repeat it a second time");
    exchange.time_out();
    assert_eq!(names(&exchange.sent()), "W1", "the repetition was lost");
}

#[test]
fn a_trimmed_packet_counts_as_marked_for_dcqcn() {
    let mut exchange = Exchange::new(RoceSettings { recovery: RoceRecovery::SelectiveRepeat, ..with_dcqcn() });
    exchange.write_packets(1);
    let sent = trimmed(exchange.sent(), &["W0."]);
    assert_eq!(names(&exchange.arrive(&sent, &[])), "C0 T0");
}
