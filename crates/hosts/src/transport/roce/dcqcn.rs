//! DCQCN: the rate of a connection under congestion notifications (Zhu et al., "Congestion Control for Large-Scale
//! RDMA Deployments", SIGCOMM 2015, sections 3 and 5; names of parameters as there).
//!
//! The receiving card answers marked packets with notifications (CNPs), at most one in an interval. Each cuts the
//! sending card's rate by a share that grows with how often they come; without them the rate climbs back, first half
//! the way to where it was, then by a step, then by a larger one. Before the first cut a connection sends at line rate.
//!
//! Nothing here sets a timer: what timers would have done by now is done when the rate is asked for.

use hitless_settings::quantity::Text;
use hitless_wire::{BitRate, Bytes, Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of DCQCN, by the paper's names; defaults are those of its section 5.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, hitless_state::Value)]
#[serde(deny_unknown_fields, default)]
pub struct DcqcnSettings {
    /// N: the receiver sends at most one notification of a connection in this time.
    #[serde(with = "Text::<Duration>")]
    pub cnp_interval: Duration,
    /// g: weight of a notification in the estimate alpha, by which the rate is cut.
    #[schemars(range(min = 0.000001, max = 1.0))]
    pub g: f64,
    /// K: alpha decays when there was no notification for so long; above `cnp_interval`.
    #[serde(with = "Text::<Duration>")]
    pub alpha_timer: Duration,
    /// T: the rate is raised once in this time.
    #[serde(with = "Text::<Duration>")]
    pub rate_timer: Duration,
    /// B: and once for so many bytes sent.
    #[serde(with = "Text::<Bytes>")]
    pub byte_counter: Bytes,
    /// F: raises of either kind that only recover the rate from before the cut.
    #[schemars(range(min = 1, max = 1000))]
    pub fast_recovery_steps: u32,
    /// R_AI: step of the additive increase.
    #[serde(with = "Text::<BitRate>")]
    pub additive_increase: BitRate,
    /// R_HAI: step of the hyper increase. The paper gives no value: five steps of the additive one.
    #[serde(with = "Text::<BitRate>")]
    pub hyper_increase: BitRate,
    /// No cut goes below this. The paper gives none.
    #[serde(with = "Text::<BitRate>")]
    pub minimum_rate: BitRate,
}

const MEGABIT: u64 = 1_000_000;

const fn megabits_per_second(count: u64) -> BitRate {
    match BitRate::from_bps(count * MEGABIT) {
        Some(rate) => rate,
        None => panic!("a rate of zero"),
    }
}

impl Default for DcqcnSettings {
    fn default() -> Self {
        Self {
            cnp_interval: Duration::from_us(50),
            g: 1.0 / 256.0,
            alpha_timer: Duration::from_us(55),
            rate_timer: Duration::from_us(55),
            byte_counter: Bytes(10_000_000),
            fast_recovery_steps: 5,
            additive_increase: megabits_per_second(40),
            hyper_increase: megabits_per_second(200),
            minimum_rate: megabits_per_second(10),
        }
    }
}

/// The reaction point: rate, target and what raises them.
#[derive(Clone, Copy, Debug, hitless_state::Value)]
pub(super) struct ReactionPoint {
    config: DcqcnSettings,
    line_bps: f64,
    /// R_C.
    rate_bps: f64,
    /// R_T.
    target_bps: f64,
    /// alpha.
    alpha: f64,
    /// When alpha decays next; [`Time::NEVER`] before the first notification.
    alpha_decays_at: Time,
    /// When the timer raises the rate next.
    timer_ends_at: Time,
    /// T of algorithm 1: raises by the timer since the last cut.
    timer_raises: u32,
    /// BC: raises by the byte counter.
    byte_raises: u32,
    /// Bytes until the byte counter raises the rate next.
    bytes_left: u64,
}

impl ReactionPoint {
    /// A connection of a card that sends at `line_rate`.
    pub fn new(config: DcqcnSettings, line_rate: BitRate) -> Self {
        let line_bps = line_rate.as_bps() as f64;
        Self {
            config,
            line_bps,
            rate_bps: line_bps,
            target_bps: line_bps,
            // Section 3.1: the first notification halves the rate.
            alpha: 1.0,
            alpha_decays_at: Time::NEVER,
            timer_ends_at: Time::NEVER,
            timer_raises: 0,
            byte_raises: 0,
            bytes_left: config.byte_counter.0,
        }
    }

    /// The rate at `now`, in bits per second on the wire; `None` at line rate.
    pub fn rate(&mut self, now: Time) -> Option<BitRate> {
        self.advance(now);
        if self.rate_bps >= self.line_bps { None } else { BitRate::from_bps(self.rate_bps as u64) }
    }

    /// When the rate will rise by the timer; [`Time::NEVER`] at line rate.
    pub fn rises_at(&self) -> Time {
        if self.is_at_line_rate() { Time::NEVER } else { self.timer_ends_at }
    }

    /// The rate is never above the target.
    fn is_at_line_rate(&self) -> bool {
        self.rate_bps >= self.line_bps
    }

    /// A notification has come (section 3.1, equation 1).
    pub fn cut(&mut self, now: Time) {
        self.advance(now);
        self.target_bps = self.rate_bps;
        let least_bps = self.config.minimum_rate.as_bps() as f64;
        self.rate_bps = (self.rate_bps * (1.0 - self.alpha / 2.0)).max(least_bps.min(self.line_bps));
        self.alpha = (1.0 - self.config.g) * self.alpha + self.config.g;
        self.alpha_decays_at = now + self.config.alpha_timer;
        self.timer_ends_at = now + self.config.rate_timer;
        (self.timer_raises, self.byte_raises) = (0, 0);
        self.bytes_left = self.config.byte_counter.0;
    }

    /// `bytes` were sent.
    pub fn sent(&mut self, now: Time, bytes: u64) {
        self.advance(now);
        if self.is_at_line_rate() {
            return;
        }
        let mut bytes = bytes;
        while bytes >= self.bytes_left {
            bytes -= self.bytes_left;
            self.bytes_left = self.config.byte_counter.0;
            self.byte_raises += 1;
            self.raise();
        }
        self.bytes_left -= bytes;
    }

    /// Does what the timers have done by `now`.
    fn advance(&mut self, now: Time) {
        while self.alpha_decays_at <= now && self.alpha > 0.0 {
            // Section 3.1, equation 2.
            self.alpha *= 1.0 - self.config.g;
            self.alpha_decays_at += self.config.alpha_timer;
        }
        while self.timer_ends_at <= now && !self.is_at_line_rate() {
            self.timer_ends_at += self.config.rate_timer;
            self.timer_raises += 1;
            self.raise();
        }
    }

    /// Section 3.1, algorithm 1.
    fn raise(&mut self) {
        let steps = self.config.fast_recovery_steps;
        let step = if self.timer_raises.max(self.byte_raises) < steps {
            0
        } else if self.timer_raises.min(self.byte_raises) > steps {
            self.config.hyper_increase.as_bps()
        } else {
            self.config.additive_increase.as_bps()
        };
        self.target_bps = (self.target_bps + step as f64).min(self.line_bps);
        self.rate_bps = (self.rate_bps + self.target_bps) / 2.0;
        // Halving the way for ever never arrives: less than a bit per second is none.
        if self.target_bps - self.rate_bps < 1.0 {
            self.rate_bps = self.target_bps;
        }
    }
}

/// The notification point: at most one notification an interval, if any packet of the interval was marked (section
/// 3.1).
#[derive(Clone, Copy, Debug, hitless_state::Value)]
pub(super) struct NotificationPoint {
    interval: Duration,
    /// No notification before this.
    next_at: Time,
    /// A packet was marked since the last one.
    is_owed: bool,
}

impl NotificationPoint {
    /// A connection that has notified of nothing.
    pub fn new(config: &DcqcnSettings) -> Self {
        Self { interval: config.cnp_interval, next_at: Time::ZERO, is_owed: false }
    }

    /// A marked packet has come; returns whether to send a notification now.
    pub fn marked(&mut self, now: Time) -> bool {
        self.is_owed = true;
        self.is_due(now)
    }

    /// Whether to send a notification now.
    pub fn is_due(&mut self, now: Time) -> bool {
        let is_due = self.is_owed && now >= self.next_at;
        if is_due {
            (self.is_owed, self.next_at) = (false, now + self.interval);
        }
        is_due
    }

    /// When the next one is due; never as long as nothing is marked.
    pub fn due_at(&self) -> Time {
        if self.is_owed { self.next_at } else { Time::NEVER }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINE: BitRate = BitRate::from_gbps(40);

    fn at(time_us: u64) -> Time {
        Time::ZERO + Duration::from_us(time_us)
    }

    fn gbps(point: &mut ReactionPoint, time_us: u64) -> f64 {
        point.rate(at(time_us)).unwrap_or(LINE).as_bps() as f64 / 1e9
    }

    #[test]
    fn the_rate_follows_the_paper_step_by_step() {
        let mut point = ReactionPoint::new(DcqcnSettings::default(), LINE);
        assert_eq!(point.rate(at(1_000)), None);
        point.cut(at(1_000));
        // Half at the first notification. Then half the way to 40 Gb/s every 55 us, five times but one.
        let table = [(1_000, 20.0), (1_054, 20.0), (1_055, 30.0), (1_110, 35.0), (1_165, 37.5), (1_220, 38.75)];
        for (time_us, rate) in table {
            assert!((gbps(&mut point, time_us) - rate).abs() < 1e-6, "{time_us} us: {}", gbps(&mut point, time_us));
        }
        // A second cut: alpha is 1, decayed four times by 1/256.
        let alpha = (255.0_f64 / 256.0).powi(4);
        point.cut(at(1_221));
        assert!((gbps(&mut point, 1_221) - 38.75 * (1.0 - alpha / 2.0)).abs() < 1e-6);
        // It recovers towards 38.75, not 40; the fifth raise adds 40 Mb/s to that.
        let mut expected = 38.75 * (1.0 - alpha / 2.0);
        for raise in 1..=4 {
            expected = (expected + 38.75) / 2.0;
            assert!((gbps(&mut point, 1_221 + 55 * raise) - expected).abs() < 1e-6, "raise {raise}");
        }
        expected = (expected + 38.79) / 2.0;
        assert!((gbps(&mut point, 1_221 + 55 * 5) - expected).abs() < 1e-6);
    }

    #[test]
    fn hyper_increase_needs_both_the_timer_and_the_bytes() {
        let config = DcqcnSettings { byte_counter: Bytes(1_000), ..DcqcnSettings::default() };
        // (raises by the timer, by bytes, Gb/s added to the target)
        let table = [(6, 0, 0.08), (0, 6, 0.08), (6, 5, 0.08 + 5.0 * 0.04), (6, 6, 0.08 + 5.0 * 0.04 + 0.2)];
        for (timer, bytes, added) in table {
            let mut point = ReactionPoint::new(config, LINE);
            point.cut(at(0));
            point.target_bps = 20e9;
            let end = at(55 * timer);
            point.rate(end);
            (0..bytes).for_each(|_| point.sent(end, 1_000));
            let target = point.target_bps / 1e9 - 20.0;
            assert!((target - added).abs() < 1e-9, "{timer} by the timer, {bytes} by bytes: {target}");
        }
    }

    /// 20 Gb/s halved 35 times is less than a bit per second.
    #[test]
    fn the_line_rate_is_reached_after_so_many_raises_as_halve_the_way_to_a_bit_per_second() {
        let mut point = ReactionPoint::new(DcqcnSettings::default(), LINE);
        point.cut(at(0));
        assert!(point.rate(at(55 * 30)).is_some());
        assert_eq!((point.rate(at(55 * 36)), point.rises_at()), (None, Time::NEVER));
    }

    #[test]
    fn notifications_keep_their_distance() {
        let mut point = NotificationPoint::new(&DcqcnSettings::default());
        let table = [(0, true), (1, false), (49, false), (50, true), (99, false), (300, true), (349, false)];
        for (time_us, is_due) in table {
            assert_eq!(point.marked(at(time_us)), is_due, "at {time_us} us");
        }
    }

    /// The paper's rules as they stand: one thing after the other, each timer by itself.
    struct Oracle {
        config: DcqcnSettings,
        line: f64,
        current: f64,
        target: f64,
        alpha: f64,
        alpha_at: u64,
        timer_at: u64,
        counted: u64,
        timer_count: u32,
        byte_count: u32,
        cut_once: bool,
    }

    impl Oracle {
        fn new(config: DcqcnSettings, line: f64) -> Self {
            let never = u64::MAX;
            Self {
                config,
                line,
                current: line,
                target: line,
                alpha: 1.0,
                alpha_at: never,
                timer_at: never,
                counted: 0,
                timer_count: 0,
                byte_count: 0,
                cut_once: false,
            }
        }

        fn run_until(&mut self, now: u64) {
            while self.alpha_at.min(self.timer_at) <= now {
                if self.alpha_at <= self.timer_at {
                    self.alpha *= 1.0 - self.config.g;
                    self.alpha_at += self.config.alpha_timer.as_ps();
                } else {
                    self.timer_at += self.config.rate_timer.as_ps();
                    self.timer_count += 1;
                    self.increase();
                }
            }
        }

        fn increase(&mut self) {
            let f = self.config.fast_recovery_steps;
            if self.timer_count.max(self.byte_count) < f {
                // Fast recovery: the target stays.
            } else if self.timer_count.min(self.byte_count) > f {
                self.target += self.config.hyper_increase.as_bps() as f64;
            } else {
                self.target += self.config.additive_increase.as_bps() as f64;
            }
            self.target = self.target.min(self.line);
            self.current = (self.current + self.target) / 2.0;
        }

        fn cut(&mut self, now: u64) {
            self.target = self.current;
            self.current *= 1.0 - self.alpha / 2.0;
            self.current = self.current.max(self.config.minimum_rate.as_bps() as f64);
            self.alpha = (1.0 - self.config.g) * self.alpha + self.config.g;
            self.alpha_at = now + self.config.alpha_timer.as_ps();
            self.timer_at = now + self.config.rate_timer.as_ps();
            (self.counted, self.timer_count, self.byte_count, self.cut_once) = (0, 0, 0, true);
        }

        fn send(&mut self, bytes: u64) {
            if !self.cut_once {
                return;
            }
            for _ in 0..bytes {
                self.counted += 1;
                if self.counted == self.config.byte_counter.0 {
                    self.counted = 0;
                    self.byte_count += 1;
                    self.increase();
                }
            }
        }
    }

    proptest! {
        #[test]
        fn the_rate_is_that_of_the_rules_taken_one_by_one(
            steps in prop::collection::vec((0u64..300_000_000, 0u64..3_000, any::<bool>()), 1..150),
            g in 0.001..0.5f64,
            byte_counter in 1u64..5_000,
            fast_recovery_steps in 1u32..8,
        ) {
            let byte_counter = Bytes(byte_counter);
            let config = DcqcnSettings { g, byte_counter, fast_recovery_steps, ..DcqcnSettings::default() };
            let (mut point, mut oracle) = (ReactionPoint::new(config, LINE), Oracle::new(config, 40e9));
            let mut now = 0;
            for (gap_ps, bytes, is_notified) in steps {
                now += gap_ps;
                oracle.run_until(now);
                oracle.send(bytes);
                point.sent(Time(now), bytes);
                if is_notified {
                    oracle.cut(now);
                    point.cut(Time(now));
                }
                let rate = point.rate(Time(now)).unwrap_or(LINE).as_bps() as f64;
                // A bit per second is where the machine stops halving.
                prop_assert!((rate - oracle.current).abs() < 4.0, "{} against {}", rate, oracle.current);
                prop_assert!((point.alpha - oracle.alpha).abs() < 1e-12);
            }
        }
    }
}
