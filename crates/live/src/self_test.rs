//! Measures the machine before a run, and compares it with the demands of the scenario.

use hitless_core::wire::packet::{ETHERNET_OVERHEAD_BYTES, MTU_FRAME_BYTES};
use hitless_core::wire::{Duration, Time};
use hitless_scenario::Scenario;
use serde::Serialize;

use crate::clock::{Clock, Lateness, LatenessStatus};
use crate::fabric::{LiveFabric, LiveSettings};
use crate::interfaces::MonotonicTime;

#[derive(Clone, Debug, Serialize)]
pub struct SelfTest {
    /// Lateness of wake-ups from a sleep.
    pub wake_up: LatenessStatus,
    /// Interruptions of a loop that does not sleep.
    pub taken_away: LatenessStatus,
    /// Frames per second that the fabric forwards on this processor, without interfaces.
    pub forwarded_per_s: f64,
    /// Maximum rate of 1,518-byte frames of the fastest point, per second.
    pub asked_per_s: f64,
    /// Demands of the scenario that the machine cannot meet.
    pub warnings: Vec<String>,
}

const SLEEPS: u64 = 50;
const SLEEP_NS: u64 = 200_000;
const AWAKE_NS: u64 = 10_000_000;
/// Number of frames forwarded in the measurement.
const FRAMES: u64 = 2_000;

/// Measures, in about 50 ms.
pub fn measure<C: Clock>(
    clock: &mut C,
    scenario: &Scenario,
    settings: &LiveSettings,
    slack_ns: u64,
) -> Result<SelfTest, String> {
    let wake_up = sleep(clock, slack_ns);
    let taken_away = stay_awake(clock, slack_ns);
    let mut fabric = LiveFabric::new(scenario.clone(), settings)?;
    let forwarded_per_s = FRAMES as f64 * 1e9 / forward(clock, &mut fabric).max(1) as f64;
    let fastest = fabric.rates().max_by_key(|(_, rate)| rate.as_bps());
    let line_bytes = u64::from(MTU_FRAME_BYTES + ETHERNET_OVERHEAD_BYTES);
    let asked_per_s = fastest.as_ref().map_or(0.0, |(_, rate)| 1e12 / rate.time_for(line_bytes).as_ps() as f64);
    let mut warnings = Vec::new();
    if let Some((name, _)) = fastest.filter(|_| asked_per_s > forwarded_per_s) {
        warnings.push(format!(
            "{name} may bring {asked_per_s:.0} frames of {MTU_FRAME_BYTES} bytes per second, and this processor \
             forwards {forwarded_per_s:.0}"
        ));
    }
    for (what, interval) in fabric.intervals_over_real_links() {
        let needed_ns = 2 * wake_up.worst_ns;
        if interval.as_ps() / 1_000 < needed_ns {
            warnings.push(format!(
                "{what} is {interval}, and crosses a real link twice; this machine wakes up to {} us late, so take at \
                 least {} us",
                wake_up.worst_ns / 1_000,
                needed_ns.div_ceil(1_000)
            ));
        }
    }
    Ok(SelfTest { wake_up, taken_away, forwarded_per_s, asked_per_s, warnings })
}

fn sleep<C: Clock>(clock: &mut C, slack_ns: u64) -> LatenessStatus {
    let mut lateness = Lateness::new(slack_ns);
    for _ in 0..SLEEPS {
        let due = clock.now().0 + SLEEP_NS;
        clock.wait(&[], MonotonicTime(due));
        lateness.record(due, clock.now().0);
    }
    lateness.status()
}

fn stay_awake<C: Clock>(clock: &C, slack_ns: u64) -> LatenessStatus {
    let mut lateness = Lateness::new(slack_ns);
    let start = clock.now().0;
    let mut last = start;
    // The loop is bounded because a test's clock does not move.
    for _ in 0..10_000_000 {
        let now = clock.now().0;
        lateness.record(last, now);
        last = now;
        if now >= start + AWAKE_NS {
            break;
        }
    }
    lateness.status()
}

/// Measures the time to forward [`FRAMES`] short frames between the first two points.
fn forward<C: Clock>(clock: &C, fabric: &mut LiveFabric) -> u64 {
    let mut frame = [0x02; 60];
    frame[..6].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
    let gap = Duration::from_us(20);
    let mut at = Time::ZERO + gap;
    let begin = clock.now().0;
    for _ in 0..FRAMES {
        fabric.receive(0, at, &frame);
        fabric.advance(at);
        fabric.departures(|_, _| {});
        at += gap;
    }
    clock.now().0 - begin
}
