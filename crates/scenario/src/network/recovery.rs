//! `[recovery]`: how failures of links are detected and repaired.

use hitless_core::settings::quantity::Text;
use hitless_core::wire::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Detection and repair of `[[failure]]`s. Left out: failures are neither detected nor repaired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RecoverySettings {
    /// Method of detecting, at the two ends of a link, that it has failed and that it is repaired.
    #[serde(default)]
    pub detection: Detection,
    /// Reaction to a failure.
    pub scheme: RecoveryScheme,
}

/// Method of detecting the state of a link at its ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Detection {
    /// Detection after a fixed time at both ends (F10, NSDI 2013: 30 us).
    Fixed(FixedDetection),
    /// Detection by the loss of the signal in hardware (SQR, section VI: 2.755 us).
    SignalLoss(SignalLossDetection),
    /// Detection by probes that each end sends to the other; several missing probes in a row mean a failure.
    Probes(ProbeDetection),
}

/// Detection after a fixed time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedDetection {
    /// Time from the change to its detection.
    #[serde(default = "f10_delay", with = "Text::<Duration>")]
    pub delay: Duration,
}

/// Detection by hardware.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalLossDetection {
    /// Time from the change to its detection.
    #[serde(default = "signal_loss_delay", with = "Text::<Duration>")]
    pub delay: Duration,
}

/// Detection by probes. Each end starts its probes at a random time, and a probe takes the link's flight time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProbeDetection {
    /// Time between two probes of an end.
    #[serde(default = "probe_interval", with = "Text::<Duration>")]
    pub interval: Duration,
    /// Number of missing probes in a row that mean a failure. The first probe that arrives shows that the link is
    /// repaired.
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
    /// Returns the maximum time from a failure to its detection at either end.
    pub fn bound(&self) -> Duration {
        match *self {
            Detection::Fixed(FixedDetection { delay }) | Detection::SignalLoss(SignalLossDetection { delay }) => delay,
            Detection::Probes(probes) => Duration(probes.interval.as_ps().saturating_mul(u64::from(probes.misses))),
        }
    }

    /// Returns the minimum time from a failure to its detection.
    pub fn least(&self) -> Duration {
        match *self {
            Detection::Probes(probes) => {
                Duration(probes.interval.as_ps().saturating_mul(u64::from(probes.misses.saturating_sub(1))))
            }
            _ => self.bound(),
        }
    }

    /// Returns the maximum time from the repair of a link with this flight time to the detection of the repair.
    pub fn return_bound(&self, flight: Duration) -> Duration {
        match *self {
            Detection::Probes(probes) => Duration(probes.interval.as_ps().saturating_add(flight.as_ps())),
            _ => self.bound(),
        }
    }
}

/// Reaction to a detected failure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum RecoveryScheme {
    /// Replace the link, and use the same ports again (ShareBackup, SIGCOMM 2018).
    SamePort(SamePortScheme),
    /// At each end, send the link's packets through another port until the link is repaired.
    LocalReroute(LocalRerouteScheme),
    /// Withdraw the paths over the link from the equal-cost sets of all switches, and restore them after the repair, as
    /// a routing protocol does when it converges.
    Withdraw(WithdrawScheme),
    /// Only detect failures.
    None,
}

/// Withdrawn paths. A destination without another shortest path is unreachable.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WithdrawScheme {
    /// Time from the detection at the first end until the switches at the ends have withdrawn the paths, and from the
    /// detection of the repair at both ends until they have restored them.
    #[serde(with = "Text::<Duration>")]
    pub notice: Duration,
    /// Additional time for each link between a switch and the nearer end of the failed link. With zero all switches
    /// change at once. Otherwise packets can go in circles until the news has reached all switches; their time to live
    /// ends them.
    #[serde(default, with = "Text::<Duration>")]
    pub notice_per_hop: Duration,
}

/// A replaced link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SamePortScheme {
    /// Time from the first detection at either end to the completed repair (ShareBackup: 730 us).
    #[serde(default = "sharebackup_delay", with = "Text::<Duration>")]
    pub reconfiguration: Duration,
}

fn sharebackup_delay() -> Duration {
    Duration::from_us(730)
}

/// Another port as a backup. A port can be a backup of another if all redirected packets reach their destination
/// without coming back. One of the ports with the shortest path is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LocalRerouteScheme {
    /// Time from the detection at an end to the use of the other port at that end.
    #[serde(default, with = "Text::<Duration>")]
    pub reconfiguration: Duration,
    /// Choice among several ports.
    #[serde(default)]
    pub backup: BackupChoice,
    /// Period of the control plane's reads of the ports' counters, for the choice "probed".
    #[serde(default = "probe_period", with = "Text::<Duration>")]
    pub probe_period: Duration,
}

fn probe_period() -> Duration {
    Duration::from_us(100)
}

/// Choice among several possible backup ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BackupChoice {
    /// The port that sent the fewest bytes in the last probe_period; of several a random one, the same in all of a run.
    #[default]
    Probed,
    /// The port with the lowest number.
    First,
}

impl RecoverySettings {
    /// Returns the time from the detection of a failure to a new path.
    pub fn reconfiguration(&self) -> Duration {
        match self.scheme {
            RecoveryScheme::SamePort(SamePortScheme { reconfiguration }) => reconfiguration,
            RecoveryScheme::LocalReroute(scheme) => scheme.reconfiguration,
            RecoveryScheme::Withdraw(scheme) => scheme.notice,
            RecoveryScheme::None => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first missing probe was due between zero and one interval after the failure.
    #[test]
    fn probes_detect_a_failure_within_an_interval() {
        for (misses, least_us, bound_us) in [(1, 0, 10), (3, 20, 30)] {
            let detection = Detection::Probes(ProbeDetection { interval: Duration::from_us(10), misses });
            assert_eq!(detection.least(), Duration::from_us(least_us), "{misses} misses");
            assert_eq!(detection.bound(), Duration::from_us(bound_us), "{misses} misses");
        }
    }
}
