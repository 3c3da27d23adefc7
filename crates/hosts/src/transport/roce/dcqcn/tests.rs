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
    // Half at the first notification. Then half of the distance to 40 Gb/s every 55 us, four times.
    let table = [(1_000, 20.0), (1_054, 20.0), (1_055, 30.0), (1_110, 35.0), (1_165, 37.5), (1_220, 38.75)];
    for (time_us, rate) in table {
        assert!((gbps(&mut point, time_us) - rate).abs() < 1e-6, "{time_us} us: {}", gbps(&mut point, time_us));
    }
    // A second cut: alpha is 1, decayed four times by 1/256.
    let alpha = (255.0_f64 / 256.0).powi(4);
    point.cut(at(1_221));
    assert!((gbps(&mut point, 1_221) - 38.75 * (1.0 - alpha / 2.0)).abs() < 1e-6);
    // It recovers towards 38.75 instead of 40; the fifth increase adds 40 Mb/s to the target.
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
    // (increases by the timer, by bytes, Gb/s added to the target)
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

/// Computed by hand from the rules of HPCC: alpha is updated every microsecond, a cut happens at most every 4 us, the
/// target follows only after an increase by the timer, and the steps are 5 and 50 Mb/s times 100 / 25.
#[test]
fn the_vendors_rate_follows_its_rules_step_by_step() {
    const LINE: BitRate = BitRate::from_gbps(100);
    let mut point = ReactionPoint::new(DcqcnSettings::of(DcqcnPreset::Vendor), LINE);
    let gbps = |point: &mut ReactionPoint, us: u64| point.rate(at(us)).unwrap_or(LINE).as_bps() as f64 / 1e9;
    point.cut(at(100));
    assert!((gbps(&mut point, 100) - 50.0).abs() < 1e-6, "alpha is 1 at the first notification");
    // Notifications arrive in the first and the third microsecond; the second cut is delayed until 104 us.
    point.cut(at(100) + Duration::from_ns(500));
    point.cut(at(102) + Duration::from_ns(500));
    assert!((gbps(&mut point, 103) - 50.0).abs() < 1e-6);
    let (up, down) = (|alpha: f64| alpha * 255.0 / 256.0 + 1.0 / 256.0, |alpha: f64| alpha * 255.0 / 256.0);
    let alpha = down(up(down(up(1.0))));
    let after_cut = 50.0 * (1.0 - alpha / 2.0);
    assert!((gbps(&mut point, 104) - after_cut).abs() < 1e-6, "{} at 104 us", gbps(&mut point, 104));
    // The target is still the line rate. One increase recovers, and the second adds nothing to the line rate.
    let first = (after_cut + 100.0) / 2.0;
    assert!((gbps(&mut point, 403) - after_cut).abs() < 1e-6);
    assert!((gbps(&mut point, 404) - first).abs() < 1e-6);
    assert!((gbps(&mut point, 704) - (first + 100.0) / 2.0).abs() < 1e-6);
    // A cut after increases lowers the target too: recovery, 20 Mb/s more, 200 Mb/s more. Alpha is nearly zero.
    point.cut(at(705));
    let rate = gbps(&mut point, 705);
    let target = (first + 100.0) / 2.0;
    assert!(rate < target && rate > target * 0.8, "{rate} of {target}");
    let raised = [(target, 1), (target + 0.02, 2), (target + 0.22, 3), (target + 0.42, 4)];
    let mut expected = rate;
    for (towards, number) in raised {
        expected = (expected + towards) / 2.0;
        assert!((gbps(&mut point, 705 + 300 * number) - expected).abs() < 1e-6, "raise {number}");
    }
}

#[test]
fn the_vendors_alpha_does_not_count_down_for_ever() {
    let mut point = ReactionPoint::new(DcqcnSettings::of(DcqcnPreset::Vendor), LINE);
    point.cut(at(0));
    point.rate(at(1_000_000_000));
    assert_eq!(point.alpha_moves_at, Time::NEVER);
    point.cut(at(1_000_000_000));
    assert_eq!(point.alpha_moves_at, at(1_000_000_001));
}

#[test]
fn notifications_keep_their_distance() {
    let mut point = NotificationPoint::new(&DcqcnSettings::default());
    let table = [(0, true), (1, false), (49, false), (50, true), (99, false), (300, true), (349, false)];
    for (time_us, is_due) in table {
        assert_eq!(point.marked(at(time_us)), is_due, "at {time_us} us");
    }
}

/// A literal implementation of the paper's rules, with separate timers.
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
            // Fast recovery does not change the target.
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
            // The implementation stops halving at one bit per second.
            prop_assert!((rate - oracle.current).abs() < 4.0, "{} against {}", rate, oracle.current);
            prop_assert!((point.alpha - oracle.alpha).abs() < 1e-12);
        }
    }
}
