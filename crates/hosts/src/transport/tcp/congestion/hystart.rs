//! HyStart++ (RFC 9406): leaves slow start when the round-trip time rises, before packets are lost.

use super::api::AckEvent;
use hitless_wire::Duration;

/// Parameters of HyStart++ (RFC 9406, section 4.3, whose values are for the Internet).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HystartConfig {
    /// The rise of the round-trip time that counts is at least this (MIN_RTT_THRESH: 4 ms).
    pub rise_min: Duration,
    /// And at most this (MAX_RTT_THRESH: 16 ms).
    pub rise_max: Duration,
    /// Between the two, the round-trip time divided by this (MIN_RTT_DIVISOR: 8).
    pub rise_divisor: u64,
    /// Samples a round needs to count (N_RTT_SAMPLE: 8).
    pub samples: u32,
    /// How much slower the window grows while in doubt (CSS_GROWTH_DIVISOR: 4).
    pub growth_divisor: u64,
    /// Rounds in doubt before slow start ends (CSS_ROUNDS: 5).
    pub rounds: u32,
}

hitless_state::value!(HystartConfig { rise_min, rise_max, rise_divisor, samples, growth_divisor, rounds });

impl Default for HystartConfig {
    fn default() -> Self {
        Self {
            rise_min: Duration::from_ms(4),
            rise_max: Duration::from_ms(16),
            rise_divisor: 8,
            samples: 8,
            growth_divisor: 4,
            rounds: 5,
        }
    }
}

/// Where slow start stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Standard slow start.
    Standard,
    /// Conservative slow start since this many rounds; the baseline is the round-trip time that raised doubt.
    Conservative { rounds: u32, baseline: Duration },
}

hitless_state::value!(enum Phase { Standard, Conservative { rounds, baseline } });

/// HyStart++'s state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hystart {
    config: HystartConfig,
    phase: Phase,
    /// The round ends when this is acknowledged (windowEnd).
    round_end: u64,
    /// Smallest round-trip time of the last round and of this one.
    last_round: Duration,
    this_round: Duration,
    samples: u32,
}

hitless_state::value!(Hystart { config, phase, round_end, last_round, this_round, samples });

impl Hystart {
    /// At the start of a connection.
    pub fn new(config: HystartConfig) -> Self {
        Self {
            config,
            phase: Phase::Standard,
            round_end: 0,
            last_round: Duration::MAX,
            this_round: Duration::MAX,
            samples: 0,
        }
    }

    /// An acknowledgement in slow start: by how many bytes to grow, or `None` to leave slow start.
    pub fn growth_bytes(&mut self, event: &AckEvent) -> Option<u64> {
        if event.rtt > Duration::ZERO {
            self.this_round = self.this_round.min(event.rtt);
            self.samples += 1;
        }
        if self.samples >= self.config.samples {
            self.compare_rounds();
        }
        let done = event.snd_una > self.round_end && self.end_round(event.snd_nxt);
        match self.phase {
            _ if done => None,
            Phase::Standard => Some(event.delivered_bytes),
            Phase::Conservative { .. } => Some(event.delivered_bytes / self.config.growth_divisor),
        }
    }

    /// RFC 9406, section 4.2: enters conservative slow start on a rise, and leaves it if the rise was spurious.
    fn compare_rounds(&mut self) {
        match self.phase {
            Phase::Standard if self.last_round != Duration::MAX => {
                let rise =
                    (self.last_round / self.config.rise_divisor).clamp(self.config.rise_min, self.config.rise_max);
                if self.this_round >= self.last_round + rise {
                    self.phase = Phase::Conservative { rounds: 0, baseline: self.this_round };
                }
            }
            Phase::Conservative { baseline, .. } if self.this_round < baseline => self.phase = Phase::Standard,
            _ => {}
        }
    }

    /// Whether the rounds in doubt are over.
    fn end_round(&mut self, next: u64) -> bool {
        self.round_end = next;
        self.last_round = self.this_round;
        self.this_round = Duration::MAX;
        self.samples = 0;
        let Phase::Conservative { rounds, .. } = &mut self.phase else { return false };
        *rounds += 1;
        *rounds >= self.config.rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hitless_wire::Time;

    fn round(hystart: &mut Hystart, number: u64, rtt: Duration) -> Vec<Option<u64>> {
        let event = |packet: u64| {
            let acknowledged = number * 100 + packet;
            AckEvent {
                now: Time(1),
                delivered_bytes: 8,
                snd_una: acknowledged,
                snd_nxt: (number + 1) * 100,
                rtt,
                ece: false,
            }
        };
        (1..=20).map(|packet| hystart.growth_bytes(&event(packet))).collect()
    }

    #[test]
    fn a_rising_round_trip_time_slows_and_then_ends_slow_start() {
        let mut hystart = Hystart::new(HystartConfig { rounds: 2, ..HystartConfig::default() });
        assert!(round(&mut hystart, 0, Duration::from_ms(20)).iter().all(|&growth| growth == Some(8)));
        let rising = round(&mut hystart, 1, Duration::from_ms(30));
        assert_eq!((rising[0], rising[19]), (Some(8), Some(2)));
        let growth = round(&mut hystart, 2, Duration::from_ms(30));
        assert_eq!(growth[1], Some(2));
        assert_eq!(round(&mut hystart, 3, Duration::from_ms(30))[0], None);
    }

    #[test]
    fn a_spurious_rise_resumes_slow_start() {
        let mut hystart = Hystart::new(HystartConfig::default());
        round(&mut hystart, 0, Duration::from_ms(20));
        round(&mut hystart, 1, Duration::from_ms(30));
        let on_restart = round(&mut hystart, 2, Duration::from_ms(20));
        assert_eq!(on_restart[19], Some(8));
    }
}
