//! The course of a failure: times of detection, rerouting, repair and return.

use hitless_core::wire::{Duration, Time};
use hitless_scenario::network::recovery::{Detection, RecoveryScheme};

/// Failure detection at the two ends of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Detector {
    pub detection: Detection,
    /// By end: the phase at which a probe of the other end is due within each interval.
    pub phases: [Duration; 2],
    /// Flight time of a probe.
    pub flight: Duration,
}

impl Detector {
    /// When `end` detects that the link failed at `at`.
    pub fn down(&self, end: usize, at: Time) -> Time {
        match self.detection {
            Detection::Probes(probes) => {
                let further = probes.interval.as_ps().saturating_mul(u64::from(probes.misses) - 1);
                later(self.first_due(end, at, probes.interval), Duration(further))
            }
            _ => later(at, self.detection.bound()),
        }
    }

    /// When `end` detects that the link was repaired at `at`.
    pub fn up(&self, end: usize, at: Time) -> Time {
        match self.detection {
            Detection::Probes(probes) => self.first_due(end, self.first_sign(at), probes.interval),
            _ => later(at, self.detection.bound()),
        }
    }

    /// Earliest arrival of a probe that left after the repair at `at`; other kinds of detection count from the repair
    /// itself.
    fn first_sign(&self, at: Time) -> Time {
        match self.detection {
            Detection::Probes(_) => later(at, self.flight),
            _ => at,
        }
    }

    /// The first time from `at` on when a probe is due at `end`.
    fn first_due(&self, end: usize, at: Time, interval: Duration) -> Time {
        let phase = self.phases[end];
        later(Time(at.saturating_since(Time(phase.as_ps())).as_ps()).round_up_to(interval), phase)
    }
}

/// `delay` after `at`, saturating at the end of time.
pub(super) fn later(at: Time, delay: Duration) -> Time {
    Time(at.as_ps().saturating_add(delay.as_ps()))
}

/// The times of a failure's consequences. `None` means never. Ends are in the order of the link's ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Course {
    /// When each end detects the failure.
    pub detected: [Option<Time>; 2],
    /// When each end may use another port.
    pub rerouted: [Option<Time>; 2],
    /// When the link is repaired.
    pub whole: Option<Time>,
    /// When each end detects the repair.
    pub returned: [Option<Time>; 2],
    /// When the switches at the ends have withdrawn the paths over the link.
    pub withdrawn: Option<Time>,
    /// When they have restored them.
    pub restored: Option<Time>,
}

impl Course {
    /// The course of an undetected failure at `at`.
    pub fn unnoticed(at: Time, outage: Option<Duration>) -> Self {
        Self { whole: outage.map(|outage| later(at, outage)), ..Self::default() }
    }

    /// The course of a failure at `at`. `believed_down` marks the ends that still believe the link down after the
    /// previous failure.
    pub fn new(
        at: Time,
        outage: Option<Duration>,
        detector: &Detector,
        scheme: RecoveryScheme,
        believed_down: [bool; 2],
    ) -> Self {
        let detected = [0, 1].map(|end| detector.down(end, at));
        let course = Self::after(at, outage, detector, scheme, detected, believed_down);
        for end in 0..2 {
            assert!(course.rerouted[end].is_none_or(|rerouted| Some(rerouted) >= course.detected[end]));
            assert!(course.returned[end].is_none_or(|returned| course.whole.is_some_and(|whole| whole <= returned)));
        }
        assert!(course.restored.is_none_or(|restored| course.withdrawn.is_some_and(|withdrawn| withdrawn <= restored)));
        course
    }

    fn after(
        at: Time,
        outage: Option<Duration>,
        detector: &Detector,
        scheme: RecoveryScheme,
        detected: [Time; 2],
        believed_down: [bool; 2],
    ) -> Self {
        match scheme {
            RecoveryScheme::SamePort(scheme) => {
                let replaced = later(detected[0].min(detected[1]), scheme.reconfiguration);
                let whole = outage.map_or(replaced, |outage| replaced.max(later(at, outage)));
                Self {
                    detected: detected.map(Some),
                    rerouted: [None; 2],
                    whole: Some(whole),
                    returned: detected.map(|detected| Some(whole.max(detected))),
                    ..Self::default()
                }
            }
            RecoveryScheme::LocalReroute(scheme) => {
                let course = Self::noticed(at, outage, detector, detected, believed_down);
                course.with_reroute(scheme.reconfiguration)
            }
            RecoveryScheme::Withdraw(scheme) => {
                Self::noticed(at, outage, detector, detected, believed_down).with_withdrawal(scheme.notice)
            }
            RecoveryScheme::None => Self::noticed(at, outage, detector, detected, believed_down),
        }
    }

    /// The course of a failure that lasts for `outage` regardless of the recovery. If it ends before its detection, it
    /// stays undetected.
    fn noticed(
        at: Time,
        outage: Option<Duration>,
        detector: &Detector,
        detected: [Time; 2],
        believed_down: [bool; 2],
    ) -> Self {
        let mut course = Self::unnoticed(at, outage);
        let over = course.whole.map(|whole| detector.first_sign(whole));
        for end in 0..2 {
            if believed_down[end] || over.is_none_or(|over| detected[end] < over) {
                course.detected[end] = Some(detected[end]);
                course.returned[end] = course.whole.map(|whole| detector.up(end, whole));
            }
        }
        course
    }

    /// Adds the withdrawal of the paths, by the end that detects the failure first, and their return, by the end that
    /// detects the repair last.
    pub fn with_withdrawal(mut self, notice: Duration) -> Self {
        self.withdrawn = self.detected.into_iter().flatten().min().map(|detected| later(detected, notice));
        self.restored = self.returned.into_iter().flatten().max().map(|returned| later(returned, notice));
        self
    }

    /// Adds rerouting. An end that detects the repair first does not reroute.
    fn with_reroute(mut self, reconfiguration: Duration) -> Self {
        for end in 0..2 {
            let rerouted = self.detected[end].map(|detected| later(detected, reconfiguration));
            self.rerouted[end] =
                rerouted.filter(|&rerouted| self.returned[end].is_none_or(|returned| rerouted < returned));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use hitless_scenario::network::recovery::{
        BackupChoice, FixedDetection, LocalRerouteScheme, ProbeDetection, SamePortScheme, WithdrawScheme,
    };

    fn us(count: u64) -> Time {
        Time(Duration::from_us(count).as_ps())
    }

    fn some(times: [u64; 2]) -> [Option<Time>; 2] {
        times.map(|time| Some(us(time)))
    }

    const FIXED: Detection = Detection::Fixed(FixedDetection { delay: Duration::from_us(30) });
    const PROBES: Detection = Detection::Probes(ProbeDetection { interval: Duration::from_us(10), misses: 3 });

    fn detector(detection: Detection) -> Detector {
        let phases = [Duration::from_us(2), Duration::from_us(7)];
        Detector { detection, phases, flight: Duration::from_us(1) }
    }

    fn same_port() -> RecoveryScheme {
        RecoveryScheme::SamePort(SamePortScheme { reconfiguration: Duration::from_us(730) })
    }

    fn reroute(reconfiguration_us: u64) -> RecoveryScheme {
        RecoveryScheme::LocalReroute(LocalRerouteScheme {
            reconfiguration: Duration::from_us(reconfiguration_us),
            backup: BackupChoice::First,
            probe_period: Duration::from_us(100),
        })
    }

    #[test]
    fn probes_that_do_not_come_are_missed_when_they_are_due() {
        let detector = detector(PROBES);
        // Probes are due at the first end at 2, 12, 22, ... us, at the second at 7, 17, 27, ... us.
        let downs = [(100, [122, 127]), (102, [122, 127]), (103, [132, 127]), (107, [132, 127]), (108, [132, 137])];
        for (at, expected) in downs {
            assert_eq!([0, 1].map(|end| detector.down(end, us(at))), expected.map(us), "{at}");
        }
        // The first probe to arrive must have left after the repair.
        let ups = [(100, [102, 107]), (101, [102, 107]), (102, [112, 107]), (106, [112, 107]), (107, [112, 117])];
        for (at, expected) in ups {
            assert_eq!([0, 1].map(|end| detector.up(end, us(at))), expected.map(us), "{at}");
        }
    }

    #[test]
    fn courses() {
        let outage = |us| Some(Duration::from_us(us));
        let none = [None; 2];
        let (both, unrepaired) = (|us| some([us; 2]), RecoveryScheme::None);
        let table = [
            ("ShareBackup'", FIXED, same_port(), None, both(130), none, Some(860), both(860)),
            ("a longer repair", FIXED, same_port(), outage(5_000), both(130), none, Some(5_100), both(5_100)),
            ("probes", PROBES, same_port(), None, some([122, 127]), none, Some(852), both(852)),
            ("local rerouting", FIXED, reroute(0), outage(5_000), both(130), both(130), Some(5_100), both(5_130)),
            ("F10", FIXED, reroute(970), outage(5_000), both(130), both(1_100), Some(5_100), both(5_130)),
            ("slow rerouting", FIXED, reroute(970), outage(500), both(130), none, Some(600), both(630)),
            ("for ever", FIXED, reroute(970), None, both(130), both(1_100), None, none),
            ("no repair", PROBES, unrepaired, outage(500), some([122, 127]), none, Some(600), some([602, 607])),
            ("too short", FIXED, reroute(0), outage(30), none, none, Some(130), none),
            ("a moment longer", FIXED, reroute(0), outage(31), both(130), both(130), Some(131), both(161)),
        ];
        for (name, detection, scheme, outage, detected, rerouted, whole, returned) in table {
            let course = Course::new(us(100), outage, &detector(detection), scheme, [false; 2]);
            let expected = Course { detected, rerouted, whole: whole.map(us), returned, ..Course::default() };
            assert_eq!(course, expected, "{name}");
        }
    }

    #[test]
    fn paths_are_withdrawn_after_the_first_detection_and_restored_after_the_last() {
        let scheme =
            RecoveryScheme::Withdraw(WithdrawScheme { notice: Duration::from_us(200), notice_per_hop: Duration::ZERO });
        let course = |outage: Option<u64>| {
            let outage = outage.map(Duration::from_us);
            let course = Course::new(us(100), outage, &detector(PROBES), scheme, [false; 2]);
            (course.withdrawn, course.restored)
        };
        // The ends detect the failure at 122 and 127 us, and the repair at 602 and 607 us.
        assert_eq!(course(Some(500)), (Some(us(322)), Some(us(807))));
        assert_eq!(course(None), (Some(us(322)), None));
        assert_eq!(course(Some(5)), (None, None), "nobody notices");
    }

    #[test]
    fn an_end_that_has_not_heard_of_the_return_notices_even_a_short_failure() {
        let course =
            Course::new(us(100), Some(Duration::from_us(5)), &detector(FIXED), RecoveryScheme::None, [true, false]);
        assert_eq!(course.detected, [Some(us(130)), None]);
        assert_eq!(course.returned, [Some(us(135)), None]);
    }

    #[test]
    fn the_second_end_may_hear_of_both_at_once() {
        let scheme = RecoveryScheme::SamePort(SamePortScheme { reconfiguration: Duration::from_us(1) });
        let course = Course::new(us(100), None, &detector(PROBES), scheme, [false; 2]);
        assert_eq!((course.whole, course.returned), (Some(us(123)), some([123, 127])));
    }

    proptest! {
        #[test]
        fn every_course_is_in_order_and_within_the_bounds(
            at in 0u64..1 << 40,
            phases in [0u64..10_000_000, 0u64..10_000_000],
            misses in 1u32..10,
            kind in 0..3,
            reconfiguration in 0u64..1 << 32,
            outage in proptest::option::of(1u64..1 << 36),
        ) {
            let detection = Detection::Probes(ProbeDetection { interval: Duration::from_us(10), misses });
            let detector = Detector { detection, phases: phases.map(Duration), flight: Duration::from_us(3) };
            let scheme = match (kind, reroute(0)) {
                (0, RecoveryScheme::LocalReroute(scheme)) =>
                    RecoveryScheme::LocalReroute(LocalRerouteScheme {
                        reconfiguration: Duration(reconfiguration), ..scheme
                    }),
                (1, _) => RecoveryScheme::SamePort(SamePortScheme { reconfiguration: Duration(reconfiguration) }),
                _ => RecoveryScheme::None,
            };
            let course = Course::new(Time(at), outage.map(Duration), &detector, scheme, [false; 2]);
            for end in 0..2 {
                if let Some(detected) = course.detected[end] {
                    prop_assert!(detected >= Time(at) + detection.least() && detected <= Time(at) + detection.bound());
                }
                if let Some(rerouted) = course.rerouted[end] {
                    prop_assert!(Some(rerouted) >= course.detected[end]);
                    prop_assert!(course.returned[end].is_none_or(|returned| rerouted < returned));
                }
                if let Some(returned) = course.returned[end] {
                    prop_assert!(course.whole.is_some_and(|whole| whole <= returned));
                    prop_assert!(course.detected[end].is_some_and(|detected| detected <= returned));
                }
            }
        }
    }
}
