//! Parameters of BBR, and what it tells of itself.

use hitless_wire::Duration;

/// Parameters of BBR.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BbrConfig {
    /// Gain of rate and window while the bottleneck's rate is sought: 2 / ln 2, which doubles the rate in each round
    /// trip (draft, section 4.3.2.1: BBRHighGain).
    pub startup_gain: f64,
    /// Gain of the window once the rate is known (draft, section 4.2.3.2: 2).
    pub window_gain: f64,
    /// How long the smallest round-trip time is believed, and so how often the flight is drained to measure it (draft,
    /// section 4.1.2.1: RTpropFilterLen, 10 s).
    pub rtprop_window: Duration,
    /// How long the flight stays drained at least (draft, section 4.3.5: ProbeRTTDuration, 200 ms).
    pub probe_rtt_duration: Duration,
    /// By how much of the estimate the pace stays below it, so that a queue drains (Linux: 1 %; the draft has none).
    pub pacing_margin: f64,
    /// Whether the window makes room for acknowledgements that come in bunches (Linux since 5.1; the draft has none).
    pub ack_aggregation: bool,
}

hitless_state::value!(BbrConfig {
    startup_gain,
    window_gain,
    rtprop_window,
    probe_rtt_duration,
    pacing_margin,
    ack_aggregation
});

impl Default for BbrConfig {
    fn default() -> Self {
        Self {
            startup_gain: 2.885,
            window_gain: 2.0,
            rtprop_window: Duration::from_seconds(10),
            probe_rtt_duration: Duration::from_ms(200),
            pacing_margin: 0.01,
            ack_aggregation: true,
        }
    }
}

/// What BBR does at the moment (BBR.state).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BbrState {
    /// It looks for the bottleneck's rate.
    Startup,
    /// It drains the queue that this made.
    Drain,
    /// It cycles around the rate.
    ProbeBandwidth,
    /// It drains the flight to measure the round-trip time.
    ProbeRtt,
}

/// What BBR believes of the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathModel {
    /// What it does about it.
    pub state: BbrState,
    /// Payload per second that the bottleneck delivers; zero before the first sample (BBR.BtlBw).
    pub bytes_per_second: f64,
    /// Round-trip time without queues; [`Duration::MAX`] before the first sample (BBR.RTprop).
    pub rtprop: Duration,
}
