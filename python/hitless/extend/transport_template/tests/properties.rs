//! Invariants of Short Queue for any acknowledgements.

use hitless_core::wire::{Duration, Time};
use hitless_hosts::transport::tcp::TcpSettings;
use hitless_hosts::transport::tcp::congestion::{AckSample, CongestionControl, CongestionSign, OwnCongestion, Window};
use proptest::prelude::*;
use short_queue::{ShortQueue, ShortQueueSettings};

/// A connection with the default settings, and its window.
fn connection() -> (ShortQueue, Window) {
    let window = TcpSettings::default().window();
    (ShortQueue::new(&ShortQueueSettings::default(), &window), window)
}

/// The acknowledgement of a full segment after a round trip of `rtt_us`.
fn acknowledgement(now_us: u64, rtt_us: u64) -> AckSample {
    AckSample {
        now: Time(now_us * 1_000_000),
        rtt: Duration::from_us(rtt_us),
        delivered_bytes: 1_448,
        cwnd_limited: true,
        ..AckSample::default()
    }
}

proptest! {
    /// The window is never below a segment, and never above its maximum.
    #[test]
    fn the_window_keeps_its_bounds(steps in prop::collection::vec((0_u64..200, 0_u64..500, 0_u8..8), 1..300)) {
        let (mut control, mut window) = connection();
        window.max_cwnd_bytes = 100_000;
        let mut now_us = 0;
        for (gap_us, rtt_us, event) in steps {
            now_us += gap_us;
            match event {
                0 => control.on_recovery(&mut window, CongestionSign::Loss, Time(now_us * 1_000_000)),
                1 => control.on_recovery(&mut window, CongestionSign::Rto, Time(now_us * 1_000_000)),
                _ => control.on_ack_sample(&mut window, &acknowledgement(now_us, rtt_us)),
            }
            prop_assert!((window.mss_bytes..=100_000).contains(&window.cwnd_bytes), "{}", window.cwnd_bytes);
        }
    }
}

/// The window grows while the delay is below the target of 20 us, and shrinks once per round trip above.
#[test]
fn the_window_goes_by_the_delay() {
    let (mut control, mut window) = connection();
    let first_bytes = window.cwnd_bytes;
    (0..10).for_each(|step| control.on_ack_sample(&mut window, &acknowledgement(step, 30)));
    assert_eq!(window.cwnd_bytes, 2 * first_bytes, "it doubles in the first round trips");
    (0..10).for_each(|step| control.on_ack_sample(&mut window, &acknowledgement(100 + step, 80)));
    assert_eq!(window.cwnd_bytes, 2 * first_bytes * 8 / 10, "it shrinks once in a round trip");
    (0..16).for_each(|step| control.on_ack_sample(&mut window, &acknowledgement(200 + step, 49)));
    let grown_bytes = window.cwnd_bytes - 2 * first_bytes * 8 / 10;
    assert!((1_400..1_500).contains(&grown_bytes), "{grown_bytes} bytes in a round trip");
}
