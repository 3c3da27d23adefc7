//! Pacing of a window-based control.

use super::script::{MSS, Script, config};
use hitless_hosts::transport::tcp::TcpSettings;

#[test]
fn a_paced_window_leaves_at_twice_its_rate_in_slow_start() {
    let mut script = Script::warm(&TcpSettings { pacing: true, ..config() });
    // The first ten segments of the connection are sent at once; one of them was sent before.
    script.write(100, 40 * MSS);
    let unpaced = (1..=9).map(|segment| (100, segment));
    // Twice a window of 10 segments per round trip of 40 us: 2 us per segment after the tenth, which is not late.
    let expected: Vec<(u64, u64)> = unpaced.chain([(103, 10)]).collect();
    assert_eq!(script.sent_until(139), expected);
    // With 20 segments: one per microsecond, although the window has room for 20 - 1 at once.
    script.acknowledge(140, 11, &[]);
    let sent = script.sent_until(159);
    assert_eq!(sent, (0..20).map(|index| (140 + index, 11 + index)).collect::<Vec<_>>());
}

#[test]
fn a_window_that_is_not_paced_leaves_at_once() {
    let mut script = Script::warm(&config());
    script.write(100, 40 * MSS);
    let expected: Vec<(u64, u64)> = (1..=10).map(|segment| (100, segment)).collect();
    assert_eq!(script.sent_until(139), expected);
}

#[test]
fn retransmissions_are_paced_too() {
    let mut script = Script::warm(&TcpSettings { pacing: true, ..config() });
    script.write(100, 11 * MSS);
    script.sent_until(139);
    script.acknowledge(140, 1, &[(6, 12)]);
    let sent = script.sent_until(179);
    assert_eq!(sent.iter().map(|&(_, segment)| segment).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert!(sent.windows(2).all(|pair| pair[1].0 > pair[0].0), "{sent:?}");
}

/// A whole flight except its end is lost, and acknowledgements arrive in pairs, as from a receiver that merges packets.
/// Data that the first of a pair allows is not forgotten if the second arrives before pacing has released it.
#[test]
fn a_paced_recovery_grows_with_each_acknowledgement() {
    const LOST: u64 = 200;
    let mut script = Script::warm(&TcpSettings { pacing: true, initial_window: 256, ..config() });
    script.write(100, LOST * MSS);
    assert_eq!(script.sent_until(149).len() as u64, LOST);
    script.acknowledge(150, 1, &[(LOST, LOST + 1)]);
    let (mut acknowledged, mut now, mut rounds) = (1, 150, 0);
    loop {
        (now, rounds) = (now + 40, rounds + 1);
        let sent = script.sent_until(now - 2);
        let last = sent.iter().map(|&(_, segment)| segment).max().expect("nothing was sent for a round trip");
        if last == LOST - 1 {
            break;
        }
        let half = acknowledged + (last + 1 - acknowledged).div_ceil(2);
        script.acknowledge(now - 1, half, &[(LOST, LOST + 1)]);
        script.acknowledge(now, last + 1, &[(LOST, LOST + 1)]);
        acknowledged = last + 1;
        assert!(rounds < 16, "{acknowledged} of {LOST} after {rounds} round trips");
    }
}
