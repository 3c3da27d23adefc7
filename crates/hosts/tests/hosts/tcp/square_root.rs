//! The square-root law: with loss probability p the mean window of Reno is sqrt(3 / (2p)) segments (Mathis, Semke,
//! Mahdavi, Ott, "The macroscopic behavior of the TCP congestion avoidance algorithm", 1997).
//!
//! The law assumes losses at equal distances. At random distances the factor is 1.31 instead of 1.22 (Ott, Kemperman,
//! Mathis, "The stationary behavior of ideal TCP congestion avoidance", 1996): 7 % more, as observed here.

use crate::pipe::{Pipe, Way};
use hitless_core::wire::Duration;
use hitless_hosts::transport::Sender;
use hitless_hosts::transport::tcp::{Congestion, TcpReceiver, TcpSender, TcpSettings};
use rand::{RngExt, SeedableRng};

const ONE_WAY: Duration = Duration::from_us(500);

/// Returns the mean window in segments over time with loss probability `loss`, and the rate in segments per round trip.
fn mean_window(config: &TcpSettings, loss: f64, losses: u64) -> (f64, f64) {
    let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(7);
    let (sender, receiver) = (TcpSender::new(config, Duration::ZERO), TcpReceiver::new(config, Duration::ZERO));
    let mut pipe = Pipe::new(sender, receiver, move |way, _| {
        let lost = way == Way::Data && random.random_bool(loss);
        [(!lost).then_some(ONE_WAY), None]
    });
    pipe.write(u64::MAX / 2);
    let segments = |sender: &TcpSender| sender.cwnd_bytes() as f64 / config.mss.0 as f64;
    let (mut area, mut start, mut first) = (0.0, None, 0);
    while pipe.sender.statistics().packets_retransmitted < losses {
        let (before, window) = (pipe.now, segments(&pipe.sender));
        assert!(pipe.step());
        if pipe.sender.statistics().packets_retransmitted < losses / 20 {
            continue;
        }
        if start.is_none() {
            (start, first) = (Some(before), pipe.sender.acknowledged_bytes());
        }
        area += window * pipe.now.saturating_since(before).as_seconds();
    }
    let span_s = pipe.now.saturating_since(start.unwrap_or_default()).as_seconds();
    let sent = (pipe.sender.acknowledged_bytes() - first) as f64 / config.mss.0 as f64;
    (area / span_s, sent / (span_s / (2.0 * ONE_WAY.as_seconds())))
}

#[test]
fn the_mean_window_of_new_reno_follows_the_square_root_law() {
    for sack in [true, false] {
        let config = TcpSettings {
            sack,
            rto_min: Duration::from_ms(10),
            ..TcpSettings::with(Congestion::Newreno(Default::default()))
        };
        for (loss, losses) in [(1e-4, 1_000), (3e-4, 2_000), (1e-3, 4_000), (3e-3, 4_000), (1e-2, 4_000)] {
            let (window, rate) = mean_window(&config, loss, losses);
            let law = (1.5 / loss).sqrt();
            let ratio = window / law;
            println!(
                "sack {sack}, p {loss:.0e}: window {window:.1}, per round trip {rate:.1}, law {law:.1}, {ratio:.3}"
            );
            assert!((ratio - 1.0).abs() < 0.15, "sack {sack}, p {loss}: {window} against {law}");
        }
    }
}
