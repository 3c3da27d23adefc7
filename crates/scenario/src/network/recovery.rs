//! `[recovery]`: how failures of links are detected and repaired.

use hitless_core::settings::quantity::Text;
use hitless_core::wire::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Detection and repair of `[[failure]]`s. Left out: nobody detects them, nobody repairs them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecoverySettings {
    /// How the two ends of a link learn that it has failed, and that it is whole again.
    #[serde(default)]
    pub detection: Detection,
    /// What is done about it.
    pub scheme: RecoveryScheme,
}

/// How the ends of a link learn of its state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Detection {
    /// After a fixed time at both ends (F10, NSDI 2013: 30 us).
    Fixed(FixedDetection),
    /// By the loss of the signal in the hardware (SQR, section VI: 2.755 us).
    SignalLoss(SignalLossDetection),
    /// By probes that each end sends to the other; a failure is detected when several in a row are missing.
    Probes(ProbeDetection),
}

/// Detection after a fixed time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedDetection {
    /// From the change to its detection.
    #[serde(default = "f10_delay", with = "Text::<Duration>")]
    pub delay: Duration,
}

/// Detection by hardware.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalLossDetection {
    /// From the change to its detection.
    #[serde(default = "signal_loss_delay", with = "Text::<Duration>")]
    pub delay: Duration,
}

/// Detection by probes. Each end starts its probes at a random moment, and a probe takes the link's flight time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbeDetection {
    /// Time between two probes of an end.
    #[serde(default = "probe_interval", with = "Text::<Duration>")]
    pub interval: Duration,
    /// Probes missing in a row that mean a failure. The link is whole again with the first that arrives.
    #[serde(default = "probe_misses")]
    #[schemars(range(min = 1, max = 1000))]
    pub misses: u32,
}

fn f10_delay() -> Duration {
    Duration::from_us(30)
}

fn signal_loss_delay() -> Duration {
    Duration::from_ns(2_755)
}

fn probe_interval() -> Duration {
    Duration::from_us(10)
}

fn probe_misses() -> u32 {
    3
}

impl Default for Detection {
    fn default() -> Self {
        Detection::Fixed(FixedDetection { delay: f10_delay() })
    }
}

impl Detection {
    /// The longest time from a failure to its detection at either end.
    pub fn bound(&self) -> Duration {
        match *self {
            Detection::Fixed(FixedDetection { delay }) | Detection::SignalLoss(SignalLossDetection { delay }) => delay,
            Detection::Probes(probes) => Duration(probes.interval.as_ps().saturating_mul(u64::from(probes.misses))),
        }
    }

    /// The shortest time from a failure to its detection.
    pub fn least(&self) -> Duration {
        match *self {
            Detection::Probes(probes) => {
                Duration(probes.interval.as_ps().saturating_mul(u64::from(probes.misses.saturating_sub(1))))
            }
            _ => self.bound(),
        }
    }

    /// The longest time from the moment at which a link of that flight time is whole again to its detection.
    pub fn return_bound(&self, flight: Duration) -> Duration {
        match *self {
            Detection::Probes(probes) => Duration(probes.interval.as_ps().saturating_add(flight.as_ps())),
            _ => self.bound(),
        }
    }
}

/// What is done about a failure that has been detected.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RecoveryScheme {
    /// The link is replaced, and the same ports are used again (ShareBackup, SIGCOMM 2018).
    SamePort(SamePortScheme),
    /// Each end sends what it would send over the link by another port, until the link is back.
    LocalReroute(LocalRerouteScheme),
    /// Nothing: a failure is detected, and not repaired.
    None,
}

/// A replaced link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SamePortScheme {
    /// From the first detection at one of the two ends to the moment at which the link is whole (ShareBackup: 730 us).
    #[serde(default = "sharebackup_delay", with = "Text::<Duration>")]
    pub reconfiguration: Duration,
}

fn sharebackup_delay() -> Duration {
    Duration::from_us(730)
}

/// Another port. A port can be the backup of another if everything that is sent by it instead gets to its destination
/// without coming back. Of those with the shortest way one is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LocalRerouteScheme {
    /// From the detection at an end to the moment at which that end uses the other port.
    #[serde(default, with = "Text::<Duration>")]
    pub reconfiguration: Duration,
    /// Which of several ports.
    #[serde(default)]
    pub backup: BackupChoice,
    /// How often the control plane reads the ports' counters for the choice "probed".
    #[serde(default = "probe_period", with = "Text::<Duration>")]
    pub probe_period: Duration,
}

fn probe_period() -> Duration {
    Duration::from_us(100)
}

/// Which of several possible backup ports is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BackupChoice {
    /// The one that sent the fewest bytes in the last probe_period.
    #[default]
    Probed,
    /// The first by number.
    First,
}

impl RecoverySettings {
    /// From the detection of a failure to the moment at which there is a way again.
    pub fn reconfiguration(&self) -> Duration {
        match self.scheme {
            RecoveryScheme::SamePort(SamePortScheme { reconfiguration }) => reconfiguration,
            RecoveryScheme::LocalReroute(scheme) => scheme.reconfiguration,
            RecoveryScheme::None => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first probe that is missing may have been due just after the failure, or an interval later.
    #[test]
    fn probes_detect_a_failure_within_an_interval() {
        for (misses, least_us, bound_us) in [(1, 0, 10), (3, 20, 30)] {
            let detection = Detection::Probes(ProbeDetection { interval: Duration::from_us(10), misses });
            assert_eq!(detection.least(), Duration::from_us(least_us), "{misses} misses");
            assert_eq!(detection.bound(), Duration::from_us(bound_us), "{misses} misses");
        }
    }
}
