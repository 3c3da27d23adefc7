use super::state::Mode;
use super::*;
use crate::transport::tcp::congestion::{AckSample, CongestionControl, CongestionSign, CongestionState, Window};
use crate::transport::tcp::delivery_rate::RateSample;
use crate::transport::tcp::{Congestion, TcpSettings};
use hitless_core::wire::{Bytes, Duration, Time};
use proptest::prelude::*;

const SEGMENT: u64 = 1_000;
const RTT: Duration = Duration::from_us(100);
/// Two segments per round-trip time of 100 us, in bytes per second.
const SLOW: u64 = 20_000_000;

fn at(time_us: u64) -> Time {
    Time::ZERO + Duration::from_us(time_us)
}

/// BBR and its window, with one acknowledgement per round trip.
struct Bench {
    bbr: Bbr,
    window: Window,
    now_us: u64,
    delivered_bytes: u64,
}

impl Bench {
    fn new() -> Self {
        let config = TcpSettings { mss: Bytes(SEGMENT), ..TcpSettings::with(Congestion::Bbr(Default::default())) };
        let window = config.window();
        Self { bbr: Bbr::new(BbrSettings::default(), None, &window), window, now_us: 0, delivered_bytes: 0 }
    }

    /// Creates the acknowledgement of a round trip: one segment, a sample of `rate`, and `flight` segments in flight.
    fn event(&mut self, rate: u64, flight: u64) -> AckSample {
        self.now_us += 101;
        let prior = self.delivered_bytes;
        self.delivered_bytes += SEGMENT;
        AckSample {
            now: at(self.now_us),
            delivered_bytes: SEGMENT,
            total_delivered_bytes: self.delivered_bytes,
            prior_flight_bytes: flight * SEGMENT,
            flight_bytes: flight * SEGMENT,
            rtt: RTT,
            smoothed_rtt: Some(RTT),
            sample: Some(RateSample {
                delivered_bytes: rate,
                interval: Duration::from_seconds(1),
                prior_delivered_bytes: prior,
                app_limited: false,
            }),
            cwnd_limited: true,
            ..AckSample::default()
        }
    }

    fn follow(&mut self, event: &AckSample) {
        self.bbr.on_ack_sample(&mut self.window, event);
    }

    fn round(&mut self, rate: u64, flight: u64) {
        let event = self.event(rate, flight);
        self.follow(&event);
    }

    fn state(&self) -> &str {
        match self.bbr.mode {
            Mode::Startup => "startup",
            Mode::Drain => "drain",
            Mode::ProbeBandwidth { .. } => "probe bandwidth",
            Mode::ProbeRtt { .. } => "probe RTT",
        }
    }

    /// Creates a bench in the cycle of gains, at the phase drawn from the stream.
    fn cruising() -> Self {
        let mut bench = Self::new();
        (0..4).for_each(|_| bench.round(SLOW, 100));
        bench.round(SLOW, 0);
        assert_eq!(bench.state(), "probe bandwidth");
        bench
    }
}

#[test]
fn states_follow_the_rate_and_the_flight() {
    let mut bench = Bench::new();
    // (rate in the round trip, segments in flight, state after it, pacing gain)
    let table = [
        (SLOW, 4, "startup", 2.885),
        // A quarter more each time: still growing.
        (SLOW * 5 / 4, 5, "startup", 2.885),
        (SLOW * 25 / 16, 7, "startup", 2.885),
        // Three round trips with less than a quarter more: full, with more in flight than the path holds.
        (SLOW * 16 / 10, 16, "startup", 2.885),
        (SLOW * 17 / 10, 16, "startup", 2.885),
        (SLOW * 17 / 10, 16, "drain", 1.0 / 2.885),
        (SLOW * 17 / 10, 12, "drain", 1.0 / 2.885),
        // The product is 3.4 segments; with room for three bursts of one segment, rounded up to even: 8.
        (SLOW * 17 / 10, 8, "probe bandwidth", 1.0),
    ];
    for (round, (rate, flight, state, gain)) in table.into_iter().enumerate() {
        bench.round(rate, flight);
        assert_eq!(bench.state(), state, "round trip {round}");
        if state != "probe bandwidth" {
            assert_eq!(bench.bbr.pacing_gain(), gain, "round trip {round}");
        }
    }
}

#[test]
fn a_rate_that_the_application_limits_does_not_end_startup() {
    let mut bench = Bench::new();
    for _ in 0..10 {
        let mut event = bench.event(SLOW, 4);
        event.sample = event.sample.map(|sample| RateSample { app_limited: true, ..sample });
        bench.follow(&event);
    }
    assert_eq!(bench.state(), "startup");
}

#[test]
fn the_cycle_goes_round_in_phases_of_a_round_trip() {
    let mut bench = Bench::cruising();
    while !bench.bbr.probes_up() {
        bench.round(SLOW, 0);
    }
    // (segments in flight before the acknowledgement, gain after it): probing continues until it fills 1.25 times the
    // product of two segments with room, 3 + 3 = 6 plus two; draining ends early when the flight has fallen to a gain
    // of 1.
    let table =
        [(6, 1.25), (6, 1.25), (8, 0.75), (9, 1.0), (9, 1.0), (9, 1.0), (9, 1.0), (9, 1.0), (9, 1.0), (9, 1.25)];
    for (step, (flight, gain)) in table.into_iter().enumerate() {
        bench.round(SLOW, flight);
        assert_eq!(bench.bbr.pacing_gain(), gain, "step {step}");
    }
    let mut loses = bench.event(SLOW, 5);
    loses.lost_bytes = SEGMENT;
    bench.follow(&loses);
    assert_eq!(bench.bbr.pacing_gain(), 0.75, "a loss ends the probing");
}

#[test]
fn a_phase_lasts_longer_than_the_round_trip_time() {
    let mut bench = Bench::cruising();
    while bench.bbr.pacing_gain() != 1.0 {
        bench.round(SLOW, 0);
    }
    let Mode::ProbeBandwidth { phase, .. } = bench.bbr.mode else { unreachable!("it cruises") };
    // After 99, 100 and 101 us: a phase must last longer than the round-trip time of 100 us.
    for (later_us, goes_on) in [(99, false), (100, false), (101, true)] {
        let mut bench = Bench { bbr: bench.bbr.clone(), ..bench };
        let mut event = bench.event(SLOW, 9);
        event.now = at(bench.now_us - 101 + later_us);
        bench.follow(&event);
        let changed = !matches!(bench.bbr.mode, Mode::ProbeBandwidth { phase: now, .. } if now == phase);
        assert_eq!(changed, goes_on, "{later_us} us later");
    }
}

#[test]
fn the_first_round_trip_of_a_recovery_conserves_packets_and_the_window_comes_back() {
    let mut bench = Bench::cruising();
    // Six phases without probing follow.
    while !matches!(bench.bbr.mode, Mode::ProbeBandwidth { phase: 2, .. }) {
        bench.round(SLOW, 9);
    }
    bench.window.cwnd_bytes = 20 * SEGMENT;
    assert_eq!(bench.bbr.ssthresh(&bench.window, CongestionSign::Loss), u64::MAX, "the threshold means nothing");
    // (state, in flight, lost, of the same round trip, window in segments after it)
    use CongestionState::{Open, Recovery};
    let table = [
        (Recovery, 9, 1, true, 10),
        (Recovery, 9, 0, true, 10),
        (Recovery, 10, 0, true, 11),
        // The next round trip: towards the target of 2 x 2 segments with room for three, rounded up to even.
        (Recovery, 6, 0, false, 8),
        // Over: back to the old window, and from there to the target as usual.
        (Open, 6, 0, true, 8),
    ];
    for (step, (state, flight, lost, same_round, window)) in table.into_iter().enumerate() {
        let mut event = bench.event(SLOW, flight);
        (event.state, event.lost_bytes) = (state, lost * SEGMENT);
        if same_round {
            event.sample = event.sample.map(|sample| RateSample { prior_delivered_bytes: 0, ..sample });
        }
        bench.follow(&event);
        assert_eq!(bench.window.cwnd_bytes / SEGMENT, window, "step {step}");
    }
    assert_eq!(bench.bbr.saved_window_bytes, 20 * SEGMENT);
}

#[test]
fn a_recovery_in_startup_gives_the_window_back_as_it_was() {
    let mut bench = Bench::new();
    bench.round(SLOW, 4);
    bench.window.cwnd_bytes = 20 * SEGMENT;
    bench.bbr.ssthresh(&bench.window, CongestionSign::Loss);
    // (state, window in segments after it): 9 in flight and one delivered; then the old window, without growth beyond
    // the target of 2.885 x 2 segments with room.
    for (state, window) in [(CongestionState::Recovery, 10), (CongestionState::Open, 20)] {
        let event = AckSample { state, ..bench.event(SLOW, 9) };
        bench.follow(&AckSample { total_delivered_bytes: 20 * SEGMENT, ..event });
        assert_eq!(bench.window.cwnd_bytes / SEGMENT, window, "{state:?}");
    }
}

#[test]
fn the_pace_is_the_rate_less_a_margin_of_a_hundredth() {
    let mut bench = Bench::cruising();
    while bench.bbr.pacing_gain() != 1.0 {
        bench.round(SLOW, 0);
    }
    bench.round(SLOW, 9);
    let gain = bench.bbr.pacing_gain();
    let expected = gain * SLOW as f64 * 8.0 * 0.99;
    let rate = bench.bbr.pacing_rate().expect("BBR paces").as_bps() as f64;
    assert!((rate / expected - 1.0).abs() < 1e-6, "{rate} against {expected}");
}

#[test]
fn before_the_first_round_trip_the_pace_is_the_window_in_a_millisecond() {
    let bench = Bench::new();
    let expected = 2.885 * 10.0 * SEGMENT as f64 * 8.0 / 1e-3;
    let rate = bench.bbr.pacing_rate().expect("BBR paces").as_bps() as f64;
    assert!((rate / expected - 1.0).abs() < 1e-6, "{rate} against {expected}");
}

#[test]
fn a_stale_round_trip_time_is_measured_anew_with_four_segments_in_flight() {
    let mut bench = Bench::cruising();
    bench.window.cwnd_bytes = 20 * SEGMENT;
    bench.now_us += 10_000_000;
    let mut late = bench.event(SLOW, 20);
    late.rtt = RTT * 3;
    bench.follow(&late);
    assert_eq!((bench.state(), bench.bbr.rtprop), ("probe RTT", RTT * 3));
    assert_eq!(bench.window.cwnd_bytes, 4 * SEGMENT);
    assert!(bench.bbr.is_app_limited());
    // The 200 ms start when the flight is small.
    bench.now_us += 300_000;
    bench.round(SLOW, 5);
    bench.round(SLOW, 4);
    bench.now_us += 199_000;
    bench.round(SLOW, 4);
    assert_eq!(bench.state(), "probe RTT");
    bench.now_us += 1_000;
    bench.round(SLOW, 4);
    assert_eq!(bench.state(), "probe bandwidth");
    assert!(bench.window.cwnd_bytes > 4 * SEGMENT, "{}", bench.window.cwnd_bytes);
}

#[test]
fn a_pause_does_not_drain_the_flight_and_the_pace_is_the_rate_after_it() {
    let mut bench = Bench::cruising();
    while !bench.bbr.probes_up() {
        bench.round(SLOW, 0);
    }
    bench.now_us += 20_000_000;
    let Bench { bbr, window, now_us, .. } = &mut bench;
    bbr.on_restart(window, at(*now_us), Duration::from_seconds(20));
    let rate = bench.bbr.pacing_rate().expect("BBR paces").as_bps() as f64;
    assert!((rate / (SLOW as f64 * 8.0 * 0.99) - 1.0).abs() < 1e-6, "{rate}");
    bench.round(SLOW, 1);
    assert_eq!(bench.state(), "probe bandwidth", "what is stale was measured anew at once");
}

proptest! {
    #[test]
    fn whatever_is_acknowledged_the_window_and_the_pace_stay_sane(
        rounds in prop::collection::vec((1u64..1_000_000_000, 0u64..200, 0u64..5, 0usize..4, 1u64..20_000_000), 1..200),
    ) {
        use CongestionState::{Cwr, Loss, Open, Recovery};
        let mut bench = Bench::new();
        for (rate, flight, lost, state, gap_us) in rounds {
            bench.now_us += gap_us;
            let mut event = bench.event(rate, flight);
            (event.state, event.lost_bytes) = ([Open, Cwr, Recovery, Loss][state], lost * SEGMENT);
            bench.follow(&event);
            prop_assert!(bench.window.cwnd_bytes >= SEGMENT);
            prop_assert!(bench.bbr.pacing_rate().is_some());
            prop_assert!(bench.bbr.rtprop <= RTT);
        }
    }
}
